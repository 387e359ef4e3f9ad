"""The page of scores tells of the attacks and defences that there are, no more and no fewer."""

from __future__ import annotations

from pathlib import Path

from tools.lab_page import page

from discreet.attacks.board import EPSILONS, held_against
from discreet.attacks.catalogue import every_attack, every_defence
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.queries import DirectQuestion
from discreet.attacks.people import QUASI, SECRET, People, patients

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "scoreboard.md"
ATTACKS = [one.name for one in every_attack()]
DEFENCES = [one.name for one in every_defence(EPSILONS)]
TABLES = 2


def tables(text: str) -> list[list[list[str]]]:
    """The cells of every table of a page."""
    found: list[list[list[str]]] = []
    previous = ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not previous.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        previous = line
    return found


def headed(name: str, second: str) -> list[list[list[str]]]:
    """The tables whose first two columns are called so, without their heads."""
    return [table[2:] for table in tables(PAGE.read_text()) if table[0][:2] == [name, second]]


def test_the_scores_are_of_every_attack_and_every_defence():
    boards = [table for table in tables(PAGE.read_text()) if table[0][1:] == ATTACKS]
    assert len(boards) == TABLES
    for board in boards:
        assert [row[0] for row in board[2:]] == ["guessing", *DEFENCES]
        assert all(len(row) == len(ATTACKS) + 1 and all(row) for row in board[2:])


def test_every_attack_and_every_defence_is_described():
    ((attacks), (defences)) = headed("attack", "needs")[0], headed("defence", "what the owner does")[0]
    assert [row[:3] for row in attacks] == [[one.name, one.needs, one.claims] for one in every_attack()]
    assert [row[:2] for row in defences] == [[one.name, one.says] for one in every_defence(EPSILONS)]


def test_no_promise_is_seen_as_broken():
    assert "‼" not in PAGE.read_text()


def test_the_page_is_written_from_scoreboards():
    people = People.of(patients(200), QUASI, SECRET)
    board = held_against(people, [DirectQuestion()], [RawStatistics(), CuratorDefence(1)], name="a hospital")
    text = page([board], "About it.")
    first, second, *_ = tables(text)
    assert [row[0] for row in first[2:]] == ["guessing", "exact answers", "Discreet, ε = 1"]
    assert "**100 % (98–100) ✗**" in first[3][1]
    assert second[2][:2] == ["direct question", "Discreet, ε = 1"]
    assert text.endswith("About it.\n")
