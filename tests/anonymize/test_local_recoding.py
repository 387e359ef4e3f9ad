"""Local recoding releases every row that it can, and whatever it releases checks again."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.check import check
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.recode.local import RoundsRecoding, local_recoding
from discreet.anonymize.recode.optimal import optimal
from discreet.anonymize.recode.recoding import Recoded
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidValue, OutOfReach
from tests.anonymize.publishing import Request, best_loss, requests
from tests.thoroughness import many

LETTERS = Hierarchy.of(["a", "b", "c", "d"], [["a or b", "a or b", "c or d", "c or d"], ["*"] * 4])
ROLES = Roles.of(["x", "y"], quasi=["x", "y"])
TABLE = pa.table({"x": list("aaabbcd"), "y": [1, 1, 1, 2, 2, 3, 4]})


def found_for(request: Request) -> Recoded:
    return local_recoding(
        request.table, request.roles, request.hierarchies, request.models, suppression=request.suppression
    )


@settings(max_examples=many(80, 200), deadline=None)
@given(requests())
def test_what_is_released_checks_again_and_is_within_the_limit(request: Request) -> None:
    try:
        found = found_for(request)
    except OutOfReach:
        assert best_loss(request, "normalised") == math.inf  # what rounds cannot release, no full-domain recoding can
        return
    report = check(found.table, request.roles, request.models, reference=request.table)
    assert all(verdict.holds for verdict in report.verdicts)
    assert found.suppressed == request.rows - found.table.num_rows <= request.limit
    assert found.recoding.transform(request.table).equals(found.table)


@settings(max_examples=many(20, 50), deadline=None)
@given(requests(), st.randoms(use_true_random=False))
def test_the_order_of_the_source_leaves_no_trace(request: Request, shuffled: object) -> None:
    order = list(range(request.rows))
    shuffled.shuffle(order)  # type: ignore[attr-defined]
    other = Request(request.table.take(order), request.roles, request.hierarchies, request.models, request.suppression)
    try:
        found = found_for(request)
    except OutOfReach:
        return
    assert found_for(other).table.equals(found.table)


def test_rows_keep_what_others_must_lose() -> None:
    found = local_recoding(TABLE, ROLES, {"x": LETTERS}, KAnonymity(2))
    released = list(zip(found.table["x"].to_pylist(), found.table["y"].to_pylist(), strict=True))
    assert released == [("a", "1")] * 3 + [("b", "2")] * 2 + [("c or d", "*")] * 2
    assert found.suppressed == 0
    assert found.loss < optimal(TABLE, ROLES, {"x": LETTERS}, KAnonymity(2), suppression=0.1).loss


def test_columns_that_no_round_touches_keep_their_type() -> None:
    table = pa.table({"x": list("aabbcd"), "y": [1] * 6})
    assert local_recoding(table, ROLES, {"x": LETTERS}, KAnonymity(2)).table.schema.field("y").type == pa.int64()


def test_rows_that_cannot_be_released_alone_join_the_last_round() -> None:
    table = pa.table({"x": list("aaaad"), "y": [1] * 5})
    found = local_recoding(table, ROLES, {"x": LETTERS}, KAnonymity(2))
    assert set(found.table["x"].to_pylist()) == {"*"}
    assert found.suppressed == 0
    alone = local_recoding(table, ROLES, {"x": LETTERS}, KAnonymity(2), suppression=0.2)
    assert (alone.table["x"].to_pylist(), alone.suppressed) == (["a"] * 4, 1)


def test_the_same_rounds_are_applied_to_new_rows_and_checked_again() -> None:
    recoding = local_recoding(TABLE, ROLES, {"x": LETTERS}, KAnonymity(2)).recoding
    new = pa.table({"x": list("aabcd"), "y": [1, 1, 2, 9, 9]})
    released = recoding.transform(new)
    assert released["x"].to_pylist() == ["a", "a", "c or d", "c or d"]  # b is alone, and left out
    assert released["y"].to_pylist() == ["1", "1", "*", "*"]


def test_new_missing_cells_are_left_out_where_no_class_is_theirs() -> None:
    recoding = local_recoding(TABLE, ROLES, {"x": LETTERS}, KAnonymity(2)).recoding
    released = recoding.transform(pa.table({"x": ["a", "a", None], "y": [1, 1, 1]}))
    assert released.num_rows == 2


def test_rounds_are_counted_while_they_run() -> None:
    told: list[tuple[int, int]] = []
    found = local_recoding(TABLE, ROLES, {"x": LETTERS}, KAnonymity(2), progress=lambda *now: told.append(now))
    assert isinstance(found.recoding, RoundsRecoding)
    assert told == [(5, 7), (7, 7)]
    assert len(found.recoding.rounds) == 2


def test_what_is_out_of_reach_is_refused_in_words() -> None:
    with pytest.raises(OutOfReach, match=r"8-anonymity fails for 7 rows"):
        local_recoding(TABLE, ROLES, {"x": LETTERS}, KAnonymity(8))
    with pytest.raises(InvalidValue, match="step must be a share"):
        local_recoding(TABLE, ROLES, {"x": LETTERS}, KAnonymity(2), step=0)
