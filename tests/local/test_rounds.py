"""Accounts of people over many rounds: sums, caps, replays."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, InvalidInput, InvalidType, InvalidValue, NoProvedPath
from discreet.local.longitudinal import PermanentResponse, Rounds, Spent
from discreet.privacy.loss import Approximate, Pure
from tests.threads import at_once


def test_reports_and_losses_of_each_person_add_up() -> None:
    rounds = Rounds(1)
    for _ in range(10):
        rounds.charge(["ann"], Pure("0.1"))
    rounds.charge(["bob"], Pure("0.3"))
    assert rounds["ann"] == Spent(10, Pure(1))
    assert rounds["bob"] == Spent(1, Pure("0.3"))
    assert rounds["eve"] == Spent(0, Pure(0))
    assert rounds.left("ann") == Pure(0)
    assert rounds.worst == Pure(1)
    assert (len(rounds), list(rounds)) == (2, ["ann", "bob"])


def test_nobody_passes_the_cap_and_a_refused_round_changes_nothing() -> None:
    rounds = Rounds(1)
    rounds.charge(["ann"], Pure("0.9"))
    with pytest.raises(BudgetExceeded, match="1 of 3 cannot; nothing was charged"):
        rounds.charge(["bob", "ann", "eve"], Pure("0.2"))
    assert (len(rounds), rounds["bob"].reports) == (1, 0)
    assert rounds.affording(["bob", "ann", "eve"], Pure("0.2")) == ["bob", "eve"]
    rounds.charge(["ann"], Pure("0.1"))
    with pytest.raises(BudgetExceeded):
        rounds.charge(["ann"], Pure(Fraction(1, 2**80)))


def test_a_memory_is_paid_once() -> None:
    response = PermanentResponse(1, 1, ["a", "b"])
    rounds = Rounds(Pure(1))
    for _ in range(5):
        rounds.charge(["ann"], response, memory="mood 2026")
    assert rounds["ann"] == Spent(5, Pure(1))
    with pytest.raises(BudgetExceeded):
        rounds.charge(["ann"], response, memory="mood 2027")
    assert rounds.affording(["ann"], response, memory="mood 2026") == ["ann"]
    assert rounds.affording(["ann"], response.total) == []
    assert rounds.affording(["ann"], response, memory="mood 2027") == []


def test_accounts_can_be_kept_between_rounds() -> None:
    rounds = Rounds("1/3")
    response = PermanentResponse("1/7", 1, ["a", "b"])
    rounds.charge(["ann", "böb"], response, memory="m")
    again = Rounds.from_json(rounds.to_json())
    assert again.to_json() == rounds.to_json()
    again.charge(["ann"], response, memory="m")
    assert again["ann"] == Spent(2, Pure("1/7"))
    with pytest.raises(InvalidValue, match="belongs to the one response"):
        again.charge(["ann"], PermanentResponse("1/8", 1, ["a", "b"]), memory="m")


def test_a_year_of_reports_about_one_memory_costs_its_total_and_not_one_report() -> None:
    daily = PermanentResponse(2, 1, ["no", "yes"])
    rounds = Rounds(10)
    with pytest.raises(InvalidType, match="pass the PermanentResponse itself"):
        rounds.charge(["ann"], daily.loss, memory="m")
    for _ in range(365):
        rounds.charge(["ann"], daily, memory="m")
    assert rounds["ann"] == Spent(365, Pure(2))


@pytest.mark.parametrize("later", [PermanentResponse(3, 1, ["no", "yes"]), PermanentResponse(2, 1, ["red", "blue"])])
def test_another_response_is_never_free_under_the_name_of_a_memory(later: PermanentResponse) -> None:
    rounds = Rounds(10)
    rounds.charge(["ann"], PermanentResponse(2, 1, ["no", "yes"]), memory="m")
    with pytest.raises(InvalidInput):
        rounds.charge(["ann"], Pure(50), memory="m")
    with pytest.raises(InvalidValue, match="another response needs another name"):
        rounds.charge(["ann"], later, memory="m")
    with pytest.raises(InvalidValue):
        rounds.affording(["ann"], later, memory="m")
    with pytest.raises(InvalidType):
        rounds.charge(["ann"], later)
    assert rounds["ann"] == Spent(1, Pure(2))


def test_accounts_that_name_no_response_open_and_forgive_nobody_who_paid_less_than_the_total() -> None:
    people = '{"ann": [1, "0.7"], "bob": [1, "2"]}'
    kept = f'{{"version": 1, "cap": "10", "people": {people}, "memories": {{"m": ["ann", "bob"]}}}}'
    rounds = Rounds.from_json(kept)
    for round_of in (["bob"], ["ann", "bob"], ["ann"]):
        rounds.charge(round_of, PermanentResponse(2, 1, ["no", "yes"]), memory="m")
    assert [rounds[person].total for person in ("ann", "bob")] == [Pure("2.7"), Pure(2)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"version": 2, "cap": "1", "people": {}, "memories": {}}',
        '{"version": 1, "cap": "1"}',
        '{"version": 1, "cap": "1", "people": {"a": [0, "1"]}, "memories": {}}',
        '{"version": 1, "cap": "1", "people": {"a": [1, "-1"]}, "memories": {}}',
        '{"version": 1, "cap": "1", "people": {"a": [1]}, "memories": {}}',
        '{"version": 1, "cap": "1", "people": {"a": [1, "1.5"]}, "memories": {}}',
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="what to_json wrote"):
        Rounds.from_json(text)


def test_replays_and_other_bad_input_are_refused() -> None:
    rounds = Rounds(1)
    with pytest.raises(InvalidValue, match="once in a round"):
        rounds.charge(["ann", "ann"], Pure("0.1"))
    for people in ("ann", 7, [7], [None]):
        with pytest.raises(InvalidType):
            rounds.charge(people, Pure("0.1"))
    with pytest.raises(NoProvedPath):
        rounds.charge(["ann"], Approximate(1, 1e-6))
    with pytest.raises(InvalidType):
        rounds.charge(["ann"], 0.1)
    for cap in (0, -1, "x"):
        with pytest.raises(InvalidInput):
            Rounds(cap)
    assert len(rounds) == 0


def test_two_askers_cannot_spend_the_same_remainder() -> None:
    rounds, people = Rounds(10), [f"person {k}" for k in range(500)]

    def ask() -> bool:
        try:
            rounds.charge(people, Pure("0.1"))
        except BudgetExceeded:
            return False
        return True

    assert sum(at_once(ask, 150)) == 100
    assert {rounds[person] for person in people} == {Spent(100, Pure(10))}
