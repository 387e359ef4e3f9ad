"""Joins make no more of one person than a policy allows: what could is refused before it costs or reads anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import dumps, loads
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.errors import PolicyError, QueryRefused
from discreet.query.bind.contribution import ContributionBound
from discreet.query.expressions.expression import Statement
from discreet.query.run.measure import exact_sums, public_groups

INTEGER, TEXT = ColumnType.INTEGER, ColumnType.TEXT
VISITS = Table(
    "visits",
    (
        Column("person", INTEGER),
        Column("dept", TEXT, keys=("a", "b")),
        Column("age", INTEGER, lower=0, upper=100),
    ),
    unit="person",
    budget=Budget(10),
    rows_per_unit=2,
)
DEPTS = Table("depts", (Column("dept", TEXT), Column("floor", INTEGER, lower=0, upper=3)), public=True)
SAME = pa.table({"dept": ["a", "a"], "floor": [1, 1]})
EACH = pa.table({"dept": ["a", "b"], "floor": [1, 2]})


def _rows(*each: tuple[int, str, int]) -> pa.Table:
    return pa.table({name: [row[k] for row in each] for k, name in enumerate(("person", "dept", "age"))})


PEOPLE = [(person, "ab"[person % 2], 20 + person + k) for person in range(40, 50) for k in range(1 + person % 2)]


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    curator = Curator(tmp_path)
    curator.protect(_rows(*PEOPLE), VISITS)
    curator.protect(SAME, DEPTS)
    yield curator
    curator.engine.close()


PUBLIC_ROWS = " ".join(f"JOIN depts d{k} ON v.dept = d{k}.dept" for k in range(40))
OWN_ROWS = " ".join(f"JOIN visits v{k} ON v.person = v{k}.person" for k in range(1, 39))


@pytest.mark.parametrize("joins", [PUBLIC_ROWS, OWN_ROWS, PUBLIC_ROWS.replace("JOIN", "LEFT JOIN")])
def test_joins_that_multiply_one_persons_rows_without_an_end_are_refused_before_they_cost(
    joins: str, curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time, the memory or the failure of such a question would tell whether the condition holds for one person."""
    read, granted = list[str](), curator.budget()
    engine = type(curator.engine)
    run = engine._run

    def seen(self: Any, text: str, values: Any) -> Any:
        read.append(text)
        return run(self, text, values)

    monkeypatch.setattr(engine, "_run", seen)
    for person in (42, 43, 99):
        with pytest.raises(QueryRefused, match="joins may make at most 10,000 rows of one person") as refusal:
            curator.ask(f"SELECT COUNT(*) FROM visits v {joins} WHERE v.person = {person} AND v.dept = 'a'", "0.000001")
        assert refusal.value.column > 30
    assert curator.budget() == granted
    assert [text for text in read if '"visits"' in text] == []


def test_a_join_within_the_limit_is_plain_sql_where_nobody_has_more_rows_than_count(curator: Curator) -> None:
    for sql, wanted in {
        "SELECT COUNT(*) FROM visits a JOIN visits b USING (person)": 5 * 1 + 5 * 2,  # of four pairs two rows count
        "SELECT COUNT(*) FROM visits a JOIN visits b USING (person) WHERE a.age < b.age": 5,
        "SELECT COUNT(*) FROM visits JOIN depts USING (dept)": 5 * 2,
        "SELECT COUNT(DISTINCT person) FROM visits LEFT JOIN depts USING (dept) WHERE floor IS NULL": 5,
    }.items():
        (plan,) = curator._planner.question(sql, 1).plans
        (priced,) = plan.parts
        ((found,),) = exact_sums(plan, public_groups(plan), curator.engine.snapshot().run)
        assert int(found[0]) * priced.unit == wanted, sql


def test_an_answer_says_that_rows_were_left_out_before_a_join(curator: Curator) -> None:
    note = "Before a join, people with more than 2 rows of visits kept 2 of them."
    assert note in curator.ask("SELECT COUNT(*) FROM visits JOIN depts USING (dept)", "0.1").notes
    assert note in curator.explain("SELECT COUNT(*) FROM visits a JOIN visits b USING (person)", "0.1").notes
    curator.protect(EACH, DEPTS)
    plain = curator.explain("SELECT COUNT(*) FROM visits JOIN depts USING (dept)", "0.1").notes
    assert [one for one in plain if "join" in one.lower()] == []


def test_an_answer_says_that_rows_which_a_join_makes_do_not_all_count(curator: Curator) -> None:
    """Of two rows of a person a self-join makes four; what `touched` estimates is about stored rows."""
    for sql, rows in {
        "SELECT COUNT(*) FROM visits a JOIN visits b USING (person)": 4,
        "SELECT SUM(floor) FROM visits JOIN depts USING (dept)": 4,  # a department stands twice there
        "SELECT COUNT(*) FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits) t": 4,
    }.items():
        note = f"can make {rows} rows here of somebody whose stored rows all count, and 2 of them count"
        assert any(note in one for one in curator.explain(sql, "0.1").notes), sql
    each = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person)"
    for sql in ("SELECT COUNT(*) FROM visits", f"SELECT SUM(a.n * b.n) FROM {each} a JOIN {each} b USING (person)"):
        assert not any("UNION ALL can make" in one for one in curator.explain(sql, "0.1").notes), sql


def test_a_public_table_that_was_taken_in_again_is_counted_again(curator: Curator) -> None:
    sql = "SELECT COUNT(*) FROM visits v " + " ".join(f"JOIN depts d{k} ON v.dept = d{k}.dept" for k in range(20))
    for rows, is_refused in ((SAME, True), (EACH, False), (SAME, True)):
        curator.protect(rows, DEPTS)
        if is_refused:
            with pytest.raises(QueryRefused, match="10,000 rows of one person"):
                curator.explain(sql, "0.1")
        else:
            assert curator.explain(sql, "0.1").affordable


def test_the_limit_is_the_policys(tmp_path: Path) -> None:
    sql = "SELECT COUNT(*) FROM visits a JOIN visits b USING (person) JOIN visits c USING (person)"
    with Curator(tmp_path).engine:
        curator = Curator(tmp_path)
        curator.protect(_rows(*PEOPLE), replace(VISITS, rows_after_joins=7))
        with pytest.raises(QueryRefused, match="at most 7 rows of one person, and here 4 × 2 = 8 are possible"):
            curator.ask(sql, "0.1")
        curator.protect(_rows(*PEOPLE), replace(VISITS, rows_after_joins=8))
        assert curator.ask(sql, "0.1").charged


# Along a foreign key.

ORDERS = Table(
    "orders",
    (Column("number", INTEGER), Column("person", INTEGER), Column("dept", TEXT, keys=("a", "b"))),
    unit="person",
    budget=Budget(10),
)
ITEMS = Table(
    "items",
    (Column("order", INTEGER), Column("person", INTEGER), Column("price", INTEGER, lower=0, upper=9)),
    unit="person",
    budget=Budget(10),
    rows_per_unit=3,
    foreign_keys=(ForeignKey("order", "orders", "number"), ForeignKey("person", "orders", "person")),
)
ALONG = 'SELECT {} FROM items i {}JOIN orders o ON i."order" = o.number'


def _shop(folder: Path, numbers: list[int]) -> Curator:
    """Two people with two orders each, of these numbers, and three items in each order."""
    curator = Curator(folder)
    people = [1, 1, 2, 2]
    curator.protect(pa.table({"number": numbers, "person": people, "dept": ["a", "b", "a", "b"]}), ORDERS)
    lines = [(number, person) for number, person in zip(numbers, people, strict=True) for _ in range(3)]
    items = {"order": [one for one, _ in lines], "person": [one for _, one in lines], "price": [1] * len(lines)}
    curator.protect(pa.table(items), ITEMS)
    return curator


def _most_rows(curator: Curator, sql: str) -> int:
    """The most rows that one person has in the rows of a question."""
    (plan,) = curator._planner.question(sql, 1).plans
    statement = Statement()
    text = f"SELECT _unit, COUNT(*) AS n FROM ({plan.block.rows.write(statement)}) r GROUP BY _unit"
    return max(curator.engine.run(text, statement.parameters)["n"].to_pylist())


@pytest.mark.parametrize(("kind", "rows"), [("", 6), ("LEFT ", 6), ("RIGHT ", 6), ("FULL ", 6)])
@pytest.mark.some(2)
def test_a_foreign_key_leads_to_one_row_so_that_nothing_is_left_out(kind: str, rows: int, tmp_path: Path) -> None:
    curator = _shop(tmp_path, [11, 12, 13, 14])
    sql = ALONG.format("COUNT(*)", kind)
    assert _most_rows(curator, sql) == rows
    assert "Before a join, people kept 1 row of orders for each value of number." in curator.explain(sql, 1).notes
    curator.engine.close()


def test_a_foreign_key_that_leads_to_several_rows_multiplies_nothing_all_the_same(tmp_path: Path) -> None:
    curator = _shop(tmp_path, [11, 11, 13, 13])
    joined = ALONG.format("i.person, i.price", "")
    assert curator.engine.run(joined.replace("items i", '"items" i').replace("orders o", '"orders" o')).num_rows == 24
    for sql in (ALONG.format("COUNT(*)", ""), 'SELECT COUNT(*) FROM orders o JOIN items i ON i."order" = o.number'):
        assert _most_rows(curator, sql) == 6
        (plan,) = curator._planner.question(sql, 1).plans
        assert plan.block.rows.privacy is not None
        assert plan.block.rows.privacy.contribution == ContributionBound(1, 0, 3)
    curator.engine.close()


TWO_ZEROS = (
    "(SELECT person, CASE WHEN dept = 'a' THEN (age - age) * (-1.0) ELSE (age - age) * 1.0 END AS zero FROM visits)"
)
"""Rows whose values are equal, and whose reciprocals are not."""


@pytest.mark.parametrize("first", ["a", "b"])
def test_rows_that_stand_for_each_other_before_a_join_are_spelled_alike(first: str, tmp_path: Path) -> None:
    """Which of them is kept is decided by the order in which an engine finds them, and that by who else is there."""
    curator, people = Curator(tmp_path), range(400)
    rows = [(person, dept, 30) for person in people for dept in sorted("ab", reverse=first == "b")]
    curator.protect(_rows(*rows), replace(VISITS, rows_per_unit=1, budget=Budget(6_000)))
    sql = f"SELECT COUNT(*) AS n FROM {TWO_ZEROS} a JOIN {TWO_ZEROS} b ON a.person = b.person WHERE pow(b.zero, -1) > 0"
    assert round(curator.ask(sql, 1000).table["n"][0].as_py()) == len(people)
    curator.engine.close()


# The field of a policy.


def test_a_policy_says_how_much_joins_may_make_of_one_person() -> None:
    text = dumps(replace(VISITS, rows_after_joins=500))
    assert "rows_after_joins: 500" in text
    assert loads(text).rows_after_joins == 500
    assert "rows_after_joins" not in dumps(VISITS)
    assert loads(dumps(VISITS)) == VISITS
    assert VISITS.rows_after_joins == 10_000


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", "2000000000", "true"])
def test_a_limit_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(PolicyError, match="rows_after_joins"):
        loads(dumps(VISITS).replace("rows_per_unit:", f"rows_after_joins: {value}\nrows_per_unit:"))


def test_a_public_table_has_no_such_limit() -> None:
    with pytest.raises(PolicyError, match="a public table has no rows_after_joins"):
        loads(dumps(DEPTS).replace("public: true", "public: true\nrows_after_joins: 5"))
    with pytest.raises(PolicyError, match="a public table has no rows_after_joins"):
        replace(DEPTS, rows_after_joins=5)
