"""Random tables for property tests: awkward names, exact numbers, words that look like something else."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.period import Every, TimeColumn
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.privacy.neighbours import Neighbours

LOOKALIKES = [
    "yes",
    "no",
    "1",
    "007",
    "1e3",
    "null",
    "~",
    "true",
    "2024-01-01",
    "1:30",
    ".nan",
    "row",
    "all",
    "<<",
    "=",
    "0x1f",
]
AWKWARD = [
    "a: b",
    "#x",
    "it's",
    'say "hi"',
    "a,b",
    "{x}",
    "[x]",
    "- x",
    "&x",
    "*x",
    "!x",
    "%x",
    "@x",
    "`x`",
    "? x",
    "x:",
    "ß",
    "日本",
    "😀",
]

BREAKS = ["\x85", "a\nb", "a\r\nb ", "\n", "\u2028", "\ufeff", "\x00", "\t", " a  b ", "\u00a0"]

letters = st.characters(exclude_categories=["Cs", "Cc"])
names = st.one_of(st.sampled_from(LOOKALIKES + AWKWARD), st.text(letters, min_size=1, max_size=40)).filter(
    lambda name: name == name.strip() != "" and not name.startswith("_")
)
prose = st.one_of(
    st.sampled_from(["", *LOOKALIKES, *AWKWARD, *BREAKS]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
)
numbers = st.one_of(
    st.fractions(max_denominator=10**6),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(Fraction),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction).filter(lambda x: x.denominator < 2**100),
)
whole = st.integers(-(2**63) + 1, 2**63 - 1)

VALUES: dict[ColumnType, st.SearchStrategy[Any]] = {
    ColumnType.INTEGER: whole,
    ColumnType.REAL: numbers,
    ColumnType.TEXT: prose,
    ColumnType.BOOLEAN: st.booleans(),
    ColumnType.DATE: st.dates(),
    ColumnType.TIMESTAMP: st.datetimes(),
}


@st.composite
def columns(draw: st.DrawFn, name: str) -> Column:
    kind = draw(st.sampled_from(ColumnType))
    facts: dict[str, Any] = {"description": draw(prose), "constant_per_unit": draw(st.booleans())}
    values = draw(st.lists(VALUES[kind], min_size=2, max_size=6, unique=True))
    if kind.is_ordered and draw(st.booleans()):
        facts["lower"], *inside, facts["upper"] = sorted(values)
        values = inside or [facts["lower"]]
    if draw(st.booleans()):
        facts["keys"] = tuple(values)
    facts["nullable"] = draw(st.booleans())
    if facts["nullable"] and draw(st.booleans()):
        facts["default"] = values[0]
    return Column(name, kind, **facts)


@st.composite
def budgets(draw: st.DrawFn, most: Budget | None = None) -> Budget:
    share = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
    epsilon = draw(share) * (most.epsilon if most else draw(st.integers(1, 20)))
    delta = Fraction(0)
    if most.delta if most else draw(st.booleans()):
        delta = draw(share) * (most.delta if most else Fraction(1, 10 ** draw(st.integers(1, 30))))
    return Budget(epsilon, delta, draw(st.sampled_from([Fraction(0), delta / 3, delta * Fraction(9, 10)])))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    called = draw(st.lists(names, min_size=1, max_size=5, unique_by=str.casefold))
    made = [draw(columns(name)) for name in called]
    facts: dict[str, Any] = {"description": draw(prose)}
    if draw(st.integers(0, 4)) == 0:
        return Table(draw(names), tuple(made), public=True, **facts)
    if draw(st.booleans()):
        facts["unit"] = called[0]
        made[0] = Column(called[0], made[0].type)
        facts["rows_per_unit"] = draw(st.integers(1, 2**20))
    if draw(st.booleans()):
        others = st.tuples(st.sampled_from(called), names, names)
        facts["foreign_keys"] = tuple(ForeignKey(*key) for key in draw(st.lists(others, max_size=3, unique=True)))
    budget = draw(budgets())
    analysts = draw(st.dictionaries(names, st.one_of(st.none(), budgets(budget)), max_size=3))
    facts |= {"budget": budget, "analysts": analysts}
    facts["rows_after_joins"] = draw(st.integers(1, 2**20))
    facts["groups_per_unit"] = draw(st.none() | st.integers(1, 2**20))
    if "foreign_keys" not in facts and draw(st.booleans()):
        facts |= draw(growth(made, budget, facts))
    return Table(draw(names), tuple(made), **({"neighbours": draw(st.sampled_from(Neighbours))} | facts))


@st.composite
def growth(draw: st.DrawFn, made: list[Column], budget: Budget, facts: dict[str, Any]) -> dict[str, Any]:
    """What makes a table grow by periods, with a column more that says in which of them a row is."""
    name = draw(names.filter(lambda name: name.casefold() not in [one.name.casefold() for one in made]))
    every = draw(st.sampled_from(Every))
    first = every.start(draw(st.dates(date(1001, 1, 1), date(4999, 1, 1))))
    made.append(Column(name, draw(st.sampled_from([ColumnType.DATE, ColumnType.TIMESTAMP]))))
    zone = draw(st.sampled_from(["UTC", "Europe/Berlin"]))
    grown: dict[str, Any] = {"time": TimeColumn(name, every, first, zone, draw(st.integers(0, 3660)))}
    if "unit" not in facts:
        return grown | {"neighbours": Neighbours.ADD_REMOVE_ONE}
    if draw(st.booleans()):
        lifetime = Budget(budget.epsilon * draw(st.integers(1, 9)), budget.delta, budget.delta_for_keys)
        return grown | {"unit_per": every, "budget_per": every, "lifetime": draw(st.none() | st.just(lifetime))}
    made[:] = [replace(one, constant_per_unit=False) for one in made]
    return grown
