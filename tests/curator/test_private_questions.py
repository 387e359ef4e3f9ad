"""Analysts who must not learn from each other: whether a question was asked before shows nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.certificates.certificate import is_genuine, is_in_ledger
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, DiscreetError, RequestConflict
from discreet.privacy.loss import Pure

SUM = "SELECT SUM(age) AS s FROM visits"
COUNT = "SELECT COUNT(*) AS n FROM visits"


def opened(folder: Path, *, shared: bool, caps: Budget | None = None) -> Curator:
    columns = (Column("age", ColumnType.INTEGER, lower=0, upper=10**6),)
    curator = Curator(folder, shared_answers=shared)
    table = Table("visits", columns, budget=Budget(3), analysts=dict.fromkeys(("ann", "bob"), caps))
    curator.protect(pa.table({"age": list(range(50))}), table)
    return curator


def told(answer: Any) -> tuple[Any, ...]:
    """What an analyst sees of an answer besides its values and its place in the ledger."""
    own = {name: left for name, left in answer.left.items() if name != "visits"}
    return answer.price, answer.charged, own, answer.notes, answer.error.keys(), answer.certificate["charged"]


def test_each_analyst_pays_for_their_own_question_and_gets_their_own_noise(tmp_path: Path) -> None:
    """Noise of the sum has a scale of 10^6 and more, so two draws are equal once in a million at most."""
    curator = opened(tmp_path, shared=False, caps=Budget(1))
    answers = {who: curator.ask(SUM, epsilon="0.5", analyst=who) for who in ("ann", "bob", None)}
    assert all(answer.charged for answer in answers.values())
    assert len({answer.to_rows()[0]["s"] for answer in answers.values()}) == 3
    assert curator.budget()["visits"]["spent"] == Pure("1.5")
    for who, answer in answers.items():
        again = curator.ask(SUM, epsilon="0.5", analyst=who)
        assert not again.charged
        assert again.to_rows() == answer.to_rows()
        assert is_genuine(answer.certificate)
        assert is_in_ledger(answer.certificate, curator.ledger)
    assert curator.budget()["visits"]["spent"] == Pure("1.5")
    assert verify(tmp_path).is_sound


def test_shared_answers_are_free_for_everybody(tmp_path: Path) -> None:
    curator = opened(tmp_path, shared=True)
    first = curator.ask(SUM, epsilon="0.5", analyst="ann")
    again = curator.ask(SUM, epsilon="0.5", analyst="bob")
    assert not again.charged
    assert again.to_rows() == first.to_rows()


def test_whether_another_asked_the_same_or_something_else_looks_the_same(tmp_path: Path) -> None:
    seen = []
    for name, asked in (("same", SUM), ("other", COUNT)):
        curator = opened(tmp_path / name, shared=False, caps=Budget(2))
        curator.ask(asked, epsilon="0.5", analyst="ann", request="r1")
        explained = curator.explain(SUM, epsilon="0.5", analyst="bob")
        answer = curator.ask(SUM, epsilon="0.5", analyst="bob", request="r1")
        seen.append((explained, told(answer), answer.left, answer.entry, curator.budget().keys()))
    assert seen[0] == seen[1]


def test_whether_another_asked_the_same_does_not_show_when_the_table_is_dry(tmp_path: Path) -> None:
    seen = []
    for name, asked in (("same", SUM), ("other", COUNT)):
        curator = opened(tmp_path / name, shared=False)
        curator.ask(asked, epsilon=3, analyst="ann", request="r1")
        found = curator.explain(SUM, epsilon=3, analyst="bob")
        assert (found.is_known, found.affordable) == (False, False)
        with pytest.raises(BudgetExceeded) as refusal:
            curator.ask(SUM, epsilon=3, analyst="bob", request="r1")
        seen.append(str(refusal.value))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("question", [SUM, COUNT])
def test_another_analysts_request_id_is_not_met(tmp_path: Path, question: str) -> None:
    curator = opened(tmp_path, shared=False)
    for who in ("ann", "bob", None):
        curator.ask(SUM if who == "ann" else question, epsilon="0.5", analyst=who, request="r1")
    with pytest.raises(RequestConflict):
        curator.ask("SELECT COUNT(age) FROM visits WHERE age > 3", epsilon="0.5", analyst="bob", request="r1")


def test_no_two_analysts_and_ids_are_taken_for_each_other(tmp_path: Path) -> None:
    curator = opened(tmp_path, shared=False)
    for name in ('a", "b', "a"):
        curator.allow("visits", name)
    curator.ask(SUM, epsilon="0.5", analyst='a", "b', request="c")
    curator.ask(COUNT, epsilon="0.5", analyst="a", request='b", "c')
    curator.ask(COUNT, epsilon="0.5", request='["a", "b\\", \\"c"]')


def test_the_tables_cap_holds_over_all_who_ask_the_same(tmp_path: Path) -> None:
    curator = opened(tmp_path, shared=False)
    curator.ask(SUM, epsilon="1.5", analyst="ann")
    curator.ask(SUM, epsilon="1.5", analyst="bob")
    with pytest.raises(DiscreetError, match="nothing was spent"):
        curator.ask(SUM, epsilon="1.5")
    assert curator.budget()["visits"]["left"] == Pure(0)
