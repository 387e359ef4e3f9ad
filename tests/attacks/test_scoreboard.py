"""The scoreboard: every attack against every defence, told in the terminal, as data and as a page."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

import discreet as dp
from discreet.attacks.attack import Goal, Guesses
from discreet.attacks.board import Scoreboard, held_against, scoreboard
from discreet.attacks.catalogue import chosen_attacks, chosen_defences, every_attack, every_defence
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import ExactView, RawStatistics
from discreet.attacks.methods.queries import DirectQuestion
from discreet.attacks.methods.releases import Linkage
from discreet.attacks.people import QUASI, SECRET, People, patients
from discreet.attacks.release import release_scoreboard
from discreet.attacks.score import DefenceVerdict
from discreet.errors import InvalidValue, OutOfReach
from discreet.privacy.loss import Pure
from discreet.reports.terminal import document_text
from tests.reports.parsed import assert_standalone

PEOPLE = People.of(patients(600), QUASI, SECRET)


class Impossible(RawStatistics):
    name = "impossible"
    says = "It cannot be set up."

    def defend(self, people, everybody, chance):
        raise OutOfReach("a table must be large enough", people.size)


class Idle(DirectQuestion):
    name = "idle"

    def does_not_apply(self, view):
        return "There is nothing to work on."


class NoNoise(CuratorDefence):
    """Promises what the curator does, and adds no noise."""

    def __init__(self, epsilon):
        super().__init__(epsilon)
        self.name = "no noise"

    def defend(self, people, everybody, chance):
        return ExactView(people)


class Average(DirectQuestion):
    """Learns of the crowd alone: what is most frequent among people of the same sex."""

    name = "average"
    goal = Goal.VALUE
    most_targets = 1000

    def guess(self, views, known, chance):
        sex = known.quasi["sex"].codes[known.targets]
        return Guesses(np.where(sex == 0, known.values.index("illness of women"), -1))


@pytest.fixture(scope="module")
def board() -> Scoreboard:
    defences = [RawStatistics(), Impossible(), NoNoise("0.1"), CuratorDefence("0.1")]
    return held_against(PEOPLE, [DirectQuestion(), Linkage(), Idle()], defences, name="a hospital")


def test_every_attack_meets_every_defence(board):
    assert len(board.cells) == 12
    for attack in board.attacks:
        assert [cell.defence for cell in board.of(attack)] == [defence.name for defence in board.defences]
        assert {cell.attack for cell in board.of(attack)} == {attack.name}
    for cell in board.cells:
        assert (cell.score is None) == bool(cell.reason)
        assert (cell.score is None) == (cell.verdict is None)


def test_exact_answers_are_red_and_a_budget_is_not(board):
    """False alarms: at ε = 0.1 a bit is told with probability 0.53 at most, and 1e-3 is the alarm of a fair coin.

    Guesses of 200 bits are right so often that a sign test with that alarm is set off with probability 3e-3 at most. So
    the test does not ask for it: it asks that no promise is seen as broken, which is wrong with probability 1e-6.
    """
    direct, raw, _, broken, private = board.attacks[0], *board.defences
    assert board.cell(direct, raw).verdict is DefenceVerdict.LEAK
    assert board.cell(direct, raw).ceiling is None
    assert board.cell(direct, broken).verdict is DefenceVerdict.BROKEN
    assert board.cell(direct, private).verdict is not DefenceVerdict.BROKEN
    assert board.cell(direct, private).ceiling < 0.6


def test_a_defence_that_cannot_be_set_up_and_an_attack_that_does_not_apply_say_so(board):
    direct, _, idle = board.attacks
    _, impossible, _, _ = board.defences
    reason = "It could not be run: a table must be large enough, got 480."
    assert board.cell(direct, impossible).reason == reason
    assert board.cell(idle, board.defences[0]).reason == "There is nothing to work on."


def test_what_holds_of_the_crowd_is_no_leak():
    """All chance here comes from fixed seeds, so it passes always or never."""
    chance = np.random.default_rng(3)
    sex = chance.integers(0, 2, 2000)
    ill = np.where((sex == 0) & (chance.random(2000) < 0.6), "illness of women", chance.choice(["a", "b", "c"], 2000))
    people = People.of(pa.table({"sex": sex, "ill": ill}), ["sex"], "ill")
    (cell,) = held_against(people, [Average()], [RawStatistics()]).cells
    assert cell.verdict is DefenceVerdict.CROWD
    assert abs(cell.score.right.rate - cell.score.control.rate) < 0.1


@pytest.mark.parametrize("attack", ["direct", "averaging"])
def test_what_a_table_tells_of_the_crowd_is_no_leak_of_one_bit_either(attack):
    """The illness of the old: known of everybody whose age is known. All chance comes from fixed seeds."""
    chance = np.random.default_rng(3)
    age = chance.integers(20, 80, 2000)
    ill = np.where(chance.random(2000) < np.where(age < 50, 0.1, 0.9), "yes", "no")
    people = People.of(pa.table({"age": age, "ill": ill}), ["age"], "ill")
    for cell in held_against(people, chosen_attacks([attack]), chosen_defences(["5-anon"], [1])).cells:
        assert cell.score.right.rate > cell.score.baseline.rate + 0.2
        assert cell.verdict is DefenceVerdict.CROWD


def test_tables_too_small_for_a_verdict_say_so():
    people = People.of(pa.table({"age": [1, 2, 3], "ill": ["a", "b", "a"]}), ["age"], "ill")
    tiny = held_against(people, [DirectQuestion()], [RawStatistics()])
    assert tiny.cells[0].score.right.rate == 1
    assert "Of fewer than 11 people, all guesses may be right by chance" in " ".join(str(tiny).split())
    large = held_against(PEOPLE, [DirectQuestion()], [RawStatistics()])
    assert "may be right by chance" not in " ".join(str(large).split())


def test_attacks_that_are_not_tried_on_strangers_are_named():
    boards = [held_against(PEOPLE, [attack], [RawStatistics()]) for attack in chosen_attacks(["direct", "refusals"])]
    told = ["Not tried on people who are not in the table" in " ".join(str(one).split()) for one in boards]
    assert told == [False, True]


def test_data_survive_json(board):
    found = json.loads(board.to_json())
    assert found == board.to_dict()
    assert [cell["verdict"] for cell in found["cells"]].count("broken") >= 1
    assert found["seed"] == 0
    scores = [cell["score"] for cell in found["cells"] if cell["score"]]
    assert all(score["right"]["low"] <= score["right"]["rate"] <= score["right"]["high"] for score in scores)


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_every_score_within_its_width(board, width):
    console = Console(file=io.StringIO(), width=width)
    console.print(board)
    console.print(document_text(board.details()))
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for name in ("direct", "linkage", "idle", "exact answers", "impossible", "no noise", "Discreet, ε = 0.1"):
        assert name in text
    assert "100 % ✗" in text
    assert "100 % ‼" in text
    assert "Seed 0" in text.replace("\n", " ")


def test_it_prints_without_colours(board):
    assert "\x1b" not in str(board)
    assert "guessing" in str(board)


def test_the_page_stands_alone_and_says_everything(board):
    page = assert_standalone(board.to_html())
    for cell in board.cells:
        assert cell.reason in page.words
    for attack in board.attacks:
        assert attack.needs in page.words
    assert "100 % ‼" in page.words
    assert board._repr_html_().startswith("<iframe")


def test_names_are_escaped_on_the_page():
    table = pa.table({"<b>": ["1", "2"] * 30, "<i>": ["<u>", "</main>", "x"] * 20})
    board = scoreboard(table, quasi=["<b>"], secret="<i>", attacks=["direct"], defences=["exact"], name="<script>")
    page = assert_standalone(board.to_html())
    assert "<script>" in page.words


def test_parts_of_names_choose(board):
    assert [one.name for one in chosen_attacks(["DIRECT", "linkage"])] == ["direct question", "linkage"]
    assert [one.promise for one in chosen_defences(["discreet"], [1, "0.5"])] == [Pure(1), Pure("0.5")]
    mine = NoNoise(1)
    assert chosen_defences([mine], [1]) == (mine,)
    assert chosen_attacks(None)[0].name == every_attack()[0].name
    for nothing in (["nonsense"], [""], []):
        with pytest.raises(InvalidValue, match="must be"):
            chosen_defences(nothing, [1])


def test_names_are_names_of_one():
    for names in ([one.name for one in every_attack()], [one.name for one in every_defence(["0.1", 1, 10])]):
        assert len(set(names)) == len(names)


def test_progress_is_told_and_ends():
    heard: list[float] = []
    people = patients(100)
    scoreboard(
        people, quasi=QUASI, secret=SECRET, attacks=["direct"], defences=["exact"],
        progress=lambda share, words: heard.append(share),
    )  # fmt: skip
    assert heard == [0.0, 1.0]


def test_every_cell_is_shown_as_soon_as_it_is_there():
    seen: list[object] = []
    board = scoreboard(
        patients(100), quasi=QUASI, secret=SECRET, attacks=["direct"], defences=["exact", "sticky"], seen=seen.append,
        progress=lambda share, words: seen.append(share),
    )  # fmt: skip
    assert seen == [0.0, board.cells[0], 0.5, board.cells[1], 1.0]


def test_two_people_are_too_few_for_attacks_that_need_others():
    board = scoreboard(
        pa.table({"a": [1, 2], "s": ["x", "y"]}),
        quasi=["a"],
        secret="s",
        attacks=["intersection", "tracing", "linkage"],
        defences=["names", "5-anonymity"],
    )
    assert board.cells[0].reason == "There are too few people to attack."
    assert all("\n" not in cell.reason for cell in board.cells)
    assert_standalone(board.to_html())


@pytest.mark.parametrize("name", ["person", "_hidden"])
def test_a_column_that_the_curator_cannot_take_costs_its_cells_alone(name):
    table = pa.table({name: [1, 2, 3] * 10, "s": ["x", "y"] * 15})
    board = scoreboard(
        table, quasi=[name], secret="s", attacks=["direct"], defences=["exact", "discreet"], epsilons=[1]
    )
    exact, private = board.cells
    assert exact.score is not None
    assert private.reason.startswith("It could not be run: ")
    assert "\n" not in private.reason


@pytest.mark.parametrize(
    ("table", "quasi", "secret", "words"),
    [
        ({"a": [1, 2], "s": ["x", "y"]}, [], "s", "quasi"),
        ({"a": [1, 2], "s": ["x", "y"]}, ["b"], "s", "'a'|a, s|b"),
        ({"a": [1], "s": ["x"]}, ["a"], "s", "at least two people"),
        ({"a": [1, 2], "s": ["x", "x"]}, ["a"], "s", "differ between people"),
    ],
)
def test_tables_that_cannot_be_attacked_are_refused(table, quasi, secret, words):
    with pytest.raises(dp.InvalidInput, match=words):
        scoreboard(pa.table(table), quasi=quasi, secret=secret)


# A release that is there already.


def test_a_given_release_is_attacked_as_it_is():
    table = patients(600)
    raw = release_scoreboard(table, table, quasi=QUASI, secret=SECRET)
    assert {attack.name for attack in raw.attacks} >= {"linkage", "homogeneity", "background knowledge"}
    assert all(cell.verdict is DefenceVerdict.LEAK for cell in raw.cells if cell.attack in ("linkage", "homogeneity"))
    coarse = table.set_column(0, "age", pa.array(["*"] * 600)).set_column(1, "zip", pa.array(["*"] * 600))
    hidden = release_scoreboard(table, coarse, quasi=QUASI, secret=SECRET)
    assert all(
        cell.verdict is DefenceVerdict.GUESSING for cell in hidden.cells if cell.attack in ("linkage", "homogeneity")
    )


def test_a_release_must_fit_the_table():
    table = patients(50)
    with pytest.raises(InvalidValue, match="without zip"):
        release_scoreboard(table, table.drop_columns(["zip"]), quasi=QUASI, secret=SECRET)
    strange = table.set_column(3, SECRET, pa.array(["plague"] * 50))
    with pytest.raises(InvalidValue, match="write secrets as the table does"):
        release_scoreboard(table, strange, quasi=QUASI, secret=SECRET)
    with pytest.raises(InvalidValue, match="one table tells a secret"):
        release_scoreboard(table, table, quasi=QUASI, secret=SECRET, attacks=["direct"])


def test_numbers_of_many_values_are_read_as_the_ranges_that_are_attacked():
    table = pa.table({"age": [k % 40 for k in range(400)], "income": list(range(400))})
    board = release_scoreboard(table, table, quasi=["age"], secret="income", attacks=["linkage"])
    assert board.cells[0].score is not None


# The made-up hospital.


def test_the_hospital_is_the_same_everywhere():
    assert patients(5).to_pylist() == patients(5).to_pylist()
    assert patients().num_rows == 3000
    men = {row["diagnosis"] for row in patients().to_pylist() if row["sex"] == "m"}
    assert "pregnancy" not in men


def test_a_release_keeps_a_missing_secret_apart_from_a_text_that_says_so():
    table = pa.table({"age": list(range(40)), "ill": [[None, "(missing)"][place % 2] for place in range(40)]})
    (cell,) = release_scoreboard(table, table, quasi=["age"], secret="ill", attacks=["linkage"]).cells
    assert cell.score.right.rate == 1
