"""The optimum is the optimum: it equals the best of all recodings tried one by one, and the release checks again."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.check import check
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.loss.release_loss import Publication, class_losses, column_losses, mean_loss
from discreet.anonymize.loss.search_loss import LOSSES
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode import lattice_search
from discreet.anonymize.recode.optimal import OptimalResult, optimal
from discreet.anonymize.roles import Roles
from discreet.errors import DiscreetError, InvalidType, InvalidValue, OutOfReach
from tests.anonymize.publishing import Request, best_loss, requests
from tests.thoroughness import many

ZIPS = Hierarchy.of(["13053", "13068", "14850", "14853"], [["130**", "130**", "148**", "148**"], ["*"] * 4])
TABLE = pa.table(
    {
        "name": ["Ann", "Bob", "Cid", "Dan", "Eve"],
        "zip": ["13053", "14853", "13068", "14850", "13053"],
        "disease": ["flu", "flu", "cold", "cold", "cancer"],
    }
)
ROLES = Roles.of(TABLE.column_names, quasi="zip", sensitive="disease", identifying="name")


def found_for(request: Request, loss: str = "normalised", weights: dict[str, float] | None = None) -> OptimalResult:
    return optimal(
        request.table,
        request.roles,
        request.hierarchies,
        request.models,
        suppression=request.suppression,
        loss=loss,
        weights=weights,
    )


@settings(max_examples=many(45, 120), deadline=None)
@given(requests(), st.sampled_from(LOSSES), st.booleans())
def test_the_optimum_is_the_best_of_all_recodings(request: Request, loss: str, is_huge: bool) -> None:
    best = best_loss(request, loss)
    with pytest.MonkeyPatch.context() as patch:
        if is_huge:
            patch.setattr(lattice_search, "_WRITTEN_DOWN", 0)
        if best == math.inf:
            with pytest.raises(OutOfReach, match="coarsest"):
                found_for(request, loss)
            return
        found = found_for(request, loss)
    assert found.loss == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert found.certificate.is_optimal
    assert found.certificate.lower_bound == found.loss


@settings(max_examples=many(40, 100), deadline=None)
@given(requests(), st.sampled_from(["normalised", "ncp", "precision", "non-uniform entropy"]), st.data())
def test_the_optimum_respects_weights(request: Request, loss: str, data: st.DataObject) -> None:
    weights = {name: data.draw(st.sampled_from([0.5, 1, 3])) for name in request.hierarchies}
    best = best_loss(request, loss, weights)
    if best < math.inf:
        assert found_for(request, loss, weights).loss == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=many(45, 120), deadline=None)
@given(requests())
def test_the_release_checks_again(request: Request) -> None:
    try:
        found = found_for(request)
    except OutOfReach:
        return
    report = check(found.table, request.roles, request.models, reference=request.table)
    assert all(verdict.holds for verdict in report.verdicts)
    assert found.table.num_rows == request.rows - found.suppressed
    assert found.suppressed <= request.limit
    assert found.recoding.transform(request.table).equals(found.table)


@settings(max_examples=many(20, 60), deadline=None)
@given(requests(), st.sampled_from(["normalised", "ncp", "discernibility", "average class size", "ambiguity"]))
def test_what_was_minimised_is_what_is_measured_on_the_release(request: Request, loss: str) -> None:
    try:
        found = found_for(request, loss)
    except OutOfReach:
        return
    publication = Publication.of(request.table, found.table, request.roles, request.hierarchies)
    cells, classes = column_losses(publication), class_losses(publication)
    measured = {
        "normalised": mean_loss(cells, "normalised"),
        "ncp": mean_loss(cells, "certainty_penalty"),
        "discernibility": classes.discernibility,
        "average class size": classes.aecs,
        "ambiguity": classes.ambiguity / math.prod(len(one.values) for one in request.hierarchies.values()),
    }
    assert measured[loss] == pytest.approx(found.loss, rel=1e-9, abs=1e-9)


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


def test_the_release_has_no_identifying_column_and_no_index() -> None:
    frame = TABLE.to_pandas().set_index("name", drop=False)
    found = optimal(frame, ROLES, {"zip": ZIPS}, KAnonymity(2))
    assert found.table.column_names == ["zip", "disease"]
    assert found.table.schema.metadata is None
    assert found.table["zip"].to_pylist() == ["130**", "130**", "130**", "148**", "148**"]


def test_suppressed_rows_are_left_out_as_a_whole() -> None:
    found = optimal(TABLE, ROLES, {"zip": ZIPS}, KAnonymity(3), suppression=0.4)
    assert found.suppressed == 2
    assert set(found.table["zip"].to_pylist()) == {"130**"}


def test_columns_at_level_0_keep_their_type() -> None:
    ages = pa.table({"age": [30, 30, 40, 40]})
    found = optimal(ages, Roles.of(["age"], quasi="age"), None, KAnonymity(2))
    assert found.table.schema.field("age").type == pa.int64()
    assert found.recoding.described() == {"age": "as it is"}


def test_a_recoding_is_told_in_labels() -> None:
    found = optimal(TABLE, ROLES, {"zip": ZIPS}, KAnonymity(2))
    assert found.recoding.described() == {"zip": "level 1 of 2: 130**, 148**"}
    assert "optimal" in str(found.certificate)


# Other rows -------------------------------------------------------------------------------------------------------


def test_the_same_recoding_is_applied_to_new_rows_and_checked_again() -> None:
    recoding = optimal(TABLE, ROLES, {"zip": ZIPS}, KAnonymity(2), suppression=0.2).recoding
    new = pa.table({"name": list("xyz"), "zip": ["14850", "14853", "14850"], "disease": ["flu", "flu", "cold"]})
    assert recoding.transform(new)["zip"].to_pylist() == ["148**"] * 3
    lonely = pa.table({"name": list("xyz"), "zip": ["14850", "13053", "14850"], "disease": ["flu", "flu", "cold"]})
    with pytest.raises(OutOfReach, match="at most 0 of 3 rows may be left out"):
        recoding.transform(lonely)


def test_new_rows_with_a_value_that_no_hierarchy_holds_are_refused() -> None:
    recoding = optimal(TABLE, ROLES, {"zip": ZIPS}, KAnonymity(2)).recoding
    new = pa.table({"name": ["x"], "zip": ["99999"], "disease": ["flu"]})
    with pytest.raises(InvalidValue, match="99999"):
        recoding.transform(new)


# Requests that cannot be met --------------------------------------------------------------------------------------


def test_a_request_out_of_reach_names_the_model_that_fails_at_the_top() -> None:
    with pytest.raises(OutOfReach, match=r"6-anonymity fails for 5 rows \(k = 5 is reached\).*ask for less"):
        optimal(TABLE, ROLES, {"zip": ZIPS}, [KAnonymity(6), DistinctDiversity("disease", 2)])


def test_a_request_out_of_reach_names_the_hierarchies_that_end_too_early() -> None:
    zips = Hierarchy.of(ZIPS.values, [["130**", "130**", "148**", "148**"]])
    with pytest.raises(OutOfReach, match=r"4-anonymity fails for 5 rows.*end in one group \(zip\)"):
        optimal(TABLE, ROLES, {"zip": zips}, KAnonymity(4))


def test_a_release_of_nothing_is_no_release() -> None:
    with pytest.raises(OutOfReach):
        optimal(TABLE, ROLES, {"zip": ZIPS}, KAnonymity(6), suppression=1)


@pytest.mark.parametrize(
    ("error", "match", "change"),
    [
        (InvalidValue, "share from 0 to 1", {"suppression": 2}),
        (InvalidType, "suppression must be a number", {"suppression": "2 %"}),
        (InvalidValue, "loss must be one that is known", {"loss": "beauty"}),
        (InvalidValue, "weight must belong", {"weights": {"zap": 1}}),
        (InvalidValue, "at least 0", {"weights": {"zip": -1}}),
        (InvalidValue, "at least 0", {"weights": {"zip": math.nan}}),
        (InvalidType, "must be a number", {"weights": {"zip": "much"}}),
        (InvalidValue, "weight above 0", {"weights": {"zip": 0}}),
        (InvalidValue, "adds up over columns", {"weights": {"zip": 1}, "loss": "discernibility"}),
        (InvalidValue, "seconds must be at least 0", {"seconds": -1}),
        (InvalidType, "seconds must be a number", {"seconds": "soon"}),
        (InvalidValue, "published under a model", {"models": []}),
        (InvalidType, "model must be one of", {"models": [5]}),
        (InvalidValue, "sensitive column", {"models": [Closeness("diseas", 0.2)]}),
        (InvalidValue, "must belong to a quasi-identifier", {"hierarchies": {"zap": ZIPS}}),
        (InvalidValue, "must hold every value", {"hierarchies": {"zip": Hierarchy.of(["13053"], [["*"]])}}),
        (InvalidValue, "must have rows", {"source": TABLE.slice(0, 0)}),
        (InvalidValue, "must have a role", {"source": TABLE.append_column("new", [[1, 2, 3, 4, 5]])}),
        (InvalidValue, "must be in the table", {"source": TABLE.drop(["name"])}),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(
    error: type[DiscreetError], match: str, change: dict[str, object]
) -> None:
    given = {"source": TABLE, "roles": ROLES, "hierarchies": {"zip": ZIPS}, "models": [KAnonymity(2)]} | change
    with pytest.raises(error, match=match):
        optimal(**given)  # type: ignore[arg-type]


def test_what_costs_nothing_is_not_hidden() -> None:
    table = pa.table({"a": ["x"] * 4, "b": [1, 2, 3, 4]})
    found = optimal(table, Roles.of(["a", "b"], quasi=["a", "b"]), None, KAnonymity(2), suppression=0)
    assert found.table.to_pydict() == {"a": ["x"] * 4, "b": ["*"] * 4}


def test_constant_and_missing_columns_are_columns() -> None:
    table = pa.table({"a": ["x"] * 4, "b": pa.array([None] * 4, pa.string()), "c": [1, 1, None, None]})
    found = optimal(table, Roles.of(table.column_names, quasi=["a", "b", "c"]), None, KAnonymity(2), suppression=0)
    assert found.loss == 0
    assert found.table.to_pydict() == {"a": ["x"] * 4, "b": [None] * 4, "c": [1, 1, None, None]}


# Time -------------------------------------------------------------------------------------------------------------


def wide(columns: int, rows: int = 64) -> tuple[pa.Table, Roles]:
    """A table with many columns of yes and no."""
    table = pa.table({f"c{number}": [f"{(row >> number % 6) & 1}" for row in range(rows)] for number in range(columns)})
    return table, Roles.of(table.column_names, quasi=table.column_names)


def test_sixty_columns_are_refused_before_the_search_with_what_would_work() -> None:
    table, roles = wide(60)
    with pytest.raises(OutOfReach, match=r"60 columns with 1,152,921,504,606,846,976 recodings.*seconds=60"):
        optimal(table, roles, None, KAnonymity(2))


def test_sixty_columns_are_searched_in_the_time_there_is_and_the_gap_is_told() -> None:
    table, roles = wide(60)
    found = optimal(table, roles, None, KAnonymity(2), seconds=0.3)
    assert not found.certificate.is_optimal
    assert found.certificate.lower_bound <= 1 / 6 <= found.loss  # ten equal columns must go, and that is enough
    assert found.certificate.gap == pytest.approx(found.loss - found.certificate.lower_bound)
    assert "not proved optimal" in str(found.certificate)


@settings(max_examples=many(40, 100), deadline=None)
@given(requests(), st.sampled_from(LOSSES))
def test_without_time_the_bound_still_holds(request: Request, loss: str) -> None:
    best = best_loss(request, loss)
    if best == math.inf:
        return
    try:
        found = optimal(
            request.table,
            request.roles,
            request.hierarchies,
            request.models,
            suppression=request.suppression,
            loss=loss,
            seconds=0,
        )
    except OutOfReach:
        return  # a chain was looked at, and nothing on it is feasible
    assert found.certificate.lower_bound <= best + 1e-9
    assert found.loss >= best - 1e-9


def test_progress_is_told_and_bounds_close_in() -> None:
    told: list[tuple[float, float]] = []
    optimal(
        TABLE,
        ROLES,
        {"zip": ZIPS},
        KAnonymity(2),
        progress=lambda now: told.append((now.lower_bound, now.loss)),
    )
    assert told[-1][0] == told[-1][1]
    assert [low for low, _ in told] == sorted(low for low, _ in told)
    assert [loss for _, loss in told] == sorted((loss for _, loss in told), reverse=True)
