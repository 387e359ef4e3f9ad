"""What follows from the text, the policies and public tables is used: fewer groups, less noise, and a word on it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet as dp
from discreet.catalog.policy.read import loads
from discreet.curator.curator import Curator
from discreet.errors import DiscreetError

_PEOPLE = 60


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Curator:
    curator = dp.Curator(tmp_path_factory.mktemp("groups"))
    codes = {"code": [f"c{k}" for k in range(40)], "chapter": [f"h{k % 4}" for k in range(40)]}
    policy = "{table: codes, public: true, columns: {code: {type: text}, chapter: {type: text}}}"
    curator.protect(pa.table(codes), loads(policy))
    curator.protect(
        pa.table(
            {
                "person": [k % _PEOPLE for k in range(240)],
                "code": [f"c{k % 7}" for k in range(240)],
                "ward": [None if k % 5 == 0 else "ab"[k % 2] for k in range(240)],
                "cost": [float(k % 100) for k in range(240)],
            }
        ),
        loads(
            """
table: visits
unit: person
budget: {epsilon: 1000, delta: 1e-6}
rows_per_unit: 9
columns:
  person: {type: integer}
  code: {type: text, keys_from: codes.code, rows_per_key: 1}
  ward: {type: text, keys: [a, b]}
  cost: {type: real, lower: 0, upper: 100}
"""
        ),
    )
    return curator


def _within(curator: Curator, sql: str) -> float:
    found = curator.explain(sql, epsilon=1).errors[0].within
    assert found is not None
    return found


def test_an_answer_lists_the_keys_of_a_public_table_that_where_leaves(curator: Curator) -> None:
    answer = curator.ask("SELECT code, COUNT(*) AS n FROM visits GROUP BY code ORDER BY code", epsilon=5)
    assert answer.table.num_rows == 40
    few = curator.ask("SELECT code, COUNT(*) AS n FROM visits WHERE code IN ('c1', 'c2') GROUP BY code", epsilon=5)
    assert sorted(few.table["code"].to_pylist()) == ["c1", "c2"]
    unknown = "SELECT code, COUNT(*) AS n, SUM(cost) FROM visits WHERE code = 'zz' GROUP BY code"
    none = curator.ask(unknown, epsilon=5)
    assert none.table.num_rows == curator.explain(unknown, epsilon=5).groups == 0
    assert "No row can be in a group that is asked for, whatever the rows are, so none is listed." in none.notes
    join = "FROM visits AS v JOIN codes AS c ON v.code = c.code"
    pairs = curator.explain(f"SELECT c.code, c.chapter, COUNT(*) {join} GROUP BY c.code, c.chapter", epsilon=1)
    assert pairs.groups == 40


def test_rows_without_a_key_are_in_no_group_and_the_answer_says_so(curator: Curator) -> None:
    answer = curator.ask("SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward ORDER BY m DESC LIMIT 1", epsilon=5)
    assert answer.table["ward"].to_pylist()[0] in ("a", "b")
    assert any("Rows where ward is missing are left out" in note for note in answer.notes)
    asked = curator.ask("SELECT coalesce(ward, 'none') AS w, COUNT(*) AS n FROM visits GROUP BY w", epsilon=5)
    assert sorted(asked.table["w"].to_pylist()) == ["a", "b", "none"]
    assert not any("in no group:" in note for note in asked.notes)


@pytest.mark.parametrize(
    ("groups", "named"),
    [("GROUP BY 1", "lower(ward)"), ("GROUP BY w", "w"), ("GROUP BY lower(ward)", "lower(ward)")],
)
def test_a_note_about_a_group_has_the_words_of_the_question_and_no_position(
    curator: Curator, groups: str, named: str
) -> None:
    answer = curator.ask(f"SELECT lower(ward) AS w, COUNT(*) AS n FROM visits {groups}", epsilon=5)
    assert any(note.startswith(f"Rows where {named} is missing are left out") for note in answer.notes)


def test_rows_per_key_holds_through_a_public_table(curator: Curator) -> None:
    sql = "SELECT c.chapter, COUNT(*) FROM visits AS v JOIN codes AS c ON v.code = c.code GROUP BY c.chapter"
    wide = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    assert _within(curator, wide) / _within(curator, sql) == pytest.approx(3, rel=0.05)
    assert "In one group a person counts as at most 1." in curator.explain(sql, epsilon=1).notes


def test_filters_that_exclude_each_other_cost_as_one(curator: Curator) -> None:
    tests = ("cost < 10", "cost BETWEEN 10 AND 19", "cost > 30")
    three = ", ".join(f"COUNT(*) FILTER (WHERE {test})" for test in tests)
    one = _within(curator, "SELECT COUNT(*) FROM visits")
    assert _within(curator, f"SELECT {three} FROM visits") == one
    overlapping = "SELECT COUNT(*) FILTER (WHERE cost < 10), COUNT(*) FILTER (WHERE cost < 20) FROM visits"
    assert _within(curator, overlapping) > one
    answer = curator.ask(f"SELECT {three} FROM visits", epsilon=20)
    assert answer.table.num_rows == 1


def test_a_join_of_one_row_per_person_costs_as_one_row(curator: Curator) -> None:
    each = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person)"
    joined = f"SELECT COUNT(*) FROM {each} AS a JOIN {each} AS b ON a.person = b.person"
    looked_up = (
        "SELECT COUNT(*) FROM (SELECT person, MAX(code) AS code FROM visits GROUP BY person) AS a"
        " JOIN codes AS c ON a.code = c.code"
    )
    one = _within(curator, f"SELECT COUNT(*) FROM {each} AS a")
    assert _within(curator, joined) == one
    assert _within(curator, looked_up) == pytest.approx(one, rel=0.03)  # on a finer grid
    assert 8 < _within(curator, "SELECT COUNT(*) FROM visits") / one < 10


def test_a_person_s_count_has_the_bound_of_the_policy_and_the_answer_says_so(curator: Curator) -> None:
    sql = "SELECT AVG(n) AS m FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS t"
    answer = curator.ask(sql, epsilon=100)
    assert answer.table["m"].to_pylist()[0] == pytest.approx(4, abs=1)
    assert "A person's count above 9 is taken as 9, because no more rows count." in answer.notes


def test_a_list_of_keys_stays_while_a_policy_names_it(curator: Curator) -> None:
    with pytest.raises(DiscreetError, match="keys_from must name a public table"):
        curator.catalog.without("codes")
