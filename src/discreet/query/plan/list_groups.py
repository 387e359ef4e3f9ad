"""Listing: every group that a block can have, from the text, the policy and public tables alone.

The keys of a block are made of parts: columns with finitely many public values, and columns of public tables, whose
values go together as they do in the rows there. The conditions that all rows of the block meet (WHERE, and ON of joins
that leave unmatched rows out) are tried on the values of these parts. Combinations that fail cannot occur.

Claim. A row of the block that has a value of its domain in every key is in a listed group, whatever the rows are.

Proof. The row gives a value to each part, which is among the part's values: those of one public table are those of one
of its rows, or all missing where an outer join found none; an interval holds all values of what it is of; and a column
whose listed keys need not be all its values is a part only where it is a key itself, so that the row has one of them. A
condition that the row meets is true of these values. What a condition says about anything else is taken to be true, or
false below NOT: AND, OR and NOT never fall when what they are made of rises, so a condition that is true stays so.

What is missing is a group where the policy says so (`keys: [a, b, null]` or `nullable: true`), where an outer join or a
public table brings it, or where an expression makes it of values that are there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from discreet.engines.duckdb.closed_database import open_closed_database
from discreet.errors import QueryRefused
from discreet.exact.grid import Integers
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.expressions.expression import (
    Call,
    Constant,
    Expression,
    Field,
    Origin,
    Statement,
    collect_fields,
    type_name,
)
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.logic import AND, NOT, OR
from discreet.query.expressions.public_values import (
    MOST_GROUPS,
    MOST_ROWS,
    Key,
    KnownRows,
    ListRows,
    arrow_type,
    collect_parts,
    find_domain,
    find_values_through,
    is_missing_listed,
    order_keys,
    plain,
    replace_values,
    with_values,
)
from discreet.query.parse.places import quote, refuse
from discreet.query.plan.coarse_tests import coarsen, find_coarse_parts

__all__ = [
    "Listing",
    "list_groups",
]


_MOST_ROWS = MOST_ROWS
"""How many combinations are tried; conditions that would need more are not tried."""

Lists = tuple[tuple[tuple[int, ...], tuple[tuple[Key, ...], ...]], ...]
"""Which keys, by their places, go together, and the values that they have together."""
Scan = tuple[tuple[str, ...], KnownRows, bool]
"""The names of a public table's columns, its rows, and whether an outer join may find none of them."""


@dataclass(frozen=True)
class Listing:
    """The groups of a block."""

    domains: list[tuple[Key, ...]]
    """For every key, every value that it has in a group."""
    codes: Integers
    """Per group, the places of its values as one number, in order."""
    without: tuple[int, ...] = ()
    """The keys, by their places, that rows can miss without being in a group."""

    def __len__(self) -> int:
        return len(self.codes)

    def tuples(self) -> list[tuple[Key, ...]]:
        """The keys of every group."""
        columns, rest = [], self.codes
        for domain in reversed(self.domains):
            columns.append([domain[place] for place in rest % max(len(domain), 1)])
            rest = rest // max(len(domain), 1)
        return list(zip(*columns[::-1], strict=True)) if columns else [()] * len(self)


def list_groups(block: PrivateAggregation, read: ListRows | None = None) -> Listing | None:
    """The groups of a block; None where they are not public.

    ``read`` tells what public tables hold; without it, their columns need keys or bounds as well.
    """
    if not block.keys:
        return Listing([], np.zeros(1, np.int64))
    keys = [_rooted(key) for key in block.keys]
    tests = [_rooted(test) for condition in block.rows.conditions for test in _conjuncts(condition)]
    filled = [with_values(key, place, read) for key, place in zip(keys, block.places, strict=True)]
    if any(find_domain(key) is None for key in filled):
        return None
    lists, without = _found(tuple(filled), *_with_scans(filled, tests, read))
    return replace(_combine(block, lists), without=without)


def _combine(block: PrivateAggregation, lists: Lists) -> Listing:
    """All combinations of what was found for keys that go together."""
    size = math.prod(len(rows) for _, rows in lists)
    if size > MOST_GROUPS:
        raise _too_many(block, size, lists)
    columns = {k: [row[place] for row in rows] for keys, rows in lists for place, k in enumerate(keys)}
    domains = [order_keys(columns[k]) for k in range(len(block.keys))]
    radix = [math.prod(len(domain) for domain in domains[k + 1 :]) for k in range(len(domains))]
    codes = np.zeros(1, np.int64)
    for keys, _ in lists:
        own = sum((_places(columns[k], domains[k]) * radix[k] for k in keys), np.zeros(1, np.int64))
        codes = (codes[:, None] + own[None, :]).ravel()
    return Listing(domains, np.sort(codes))


def _places(values: list[Key], domain: tuple[Key, ...]) -> Integers:
    place_of = {value: place for place, value in enumerate(domain)}
    return np.array([place_of[value] for value in values], np.int64)


def _too_many(block: PrivateAggregation, size: int, lists: Lists) -> QueryRefused:
    def named(keys: tuple[int, ...]) -> str:
        return " and ".join(quote(block.places[k]) for k in keys)

    factors = " × ".join(f"{len(rows):,} of {named(keys)}" for keys, rows in lists)
    remedy = "group by fewer or coarser columns, or keep some of the groups with WHERE"
    return refuse(block.places[0], f"there may be at most {MOST_GROUPS:,} groups, and {factors} make {size:,}", remedy)


# Expressions in terms of the tables' columns.


def _rooted(expression: Expression) -> Expression:
    """The expression in terms of columns by the names that they had first, however they were called since."""
    return _rename(find_values_through(expression))


def _rename(expression: Expression) -> Expression:
    if isinstance(expression, Field):
        return replace(expression, name=expression.root or expression.name, root="")
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_rename(part) for part in expression.arguments))
    return expression


def _bare(expression: Expression) -> Expression:
    """What it computes, without what is known of it here and not there: equal where the same is computed."""
    if isinstance(expression, Field):
        return Field(expression.type, UNKNOWN, True, expression.name)
    if isinstance(expression, Call):
        arguments = tuple(_bare(part) for part in expression.arguments)
        return Call(expression.type, UNKNOWN, True, expression.template, arguments)
    return expression


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.template == AND:
        for part in condition.arguments:
            yield from _conjuncts(part)
    else:
        yield condition


def _relaxed(test: Expression, known: frozenset[str], *, holds: bool = True) -> Expression:
    """The test, with what is not known taken to be as the test wants it."""
    if all(field.name in known for field in collect_fields(test)):
        return test
    if isinstance(test, Call) and test.template in (AND, OR, NOT):
        wanted = holds is not (test.template == NOT)
        return replace(test, arguments=tuple(_relaxed(part, known, holds=wanted) for part in test.arguments))
    return Constant.of(holds)


def _names(expression: Expression) -> frozenset[str]:
    return frozenset(field.name for field in collect_fields(expression))


# What public tables hold.


def _with_scans(
    keys: list[Expression], tests: list[Expression], read: ListRows | None
) -> tuple[tuple[Expression, ...], tuple[Scan, ...]]:
    """The tests that can be tried, and the rows of public tables that they and the keys are about."""
    fields = [field for one in (*keys, *tests) for field in collect_fields(one)]
    origins = {field.name: field.origin for field in fields if field.origin is not None and read is not None}
    absent = {field.name for field in fields if field.origin is not None and field.origin.may_be_absent}
    own = frozenset(name for key in keys for name in _names(key) if name in origins)
    tried = [_relaxed(test, frozenset(origins) | _private_names(keys)) for test in tests]
    wanted = own | frozenset(name for test in tried for name in _names(test) if name in origins)
    scans = []
    for scan, names in _by_scan(wanted, origins).items():
        rows = None if read is None else _rows_of(scan, names, own, origins, read)
        if rows is not None:
            scans.append((*rows, bool(absent & frozenset(names))))
    known = frozenset(name for names, _, _ in scans for name in names) | _private_names(keys)
    return tuple(_relaxed(test, known) for test in tried), tuple(scans)


def _private_names(keys: list[Expression]) -> frozenset[str]:
    return frozenset(field.name for key in keys for field in collect_fields(key) if field.origin is None)


def _by_scan(names: Iterable[str], origins: dict[str, Origin]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(origins[name].scan, []).append(name)
    return found


def _rows_of(
    scan: str, names: list[str], own: frozenset[str], origins: dict[str, Origin], read: ListRows
) -> tuple[tuple[str, ...], KnownRows] | None:
    """What a public table has in these columns together; in those of keys alone, where that is too much."""
    for few in (names, [name for name in names if name in own]):
        if few:
            rows = read(origins[few[0]].table, tuple(origins[name].column for name in few), _MOST_ROWS + 1)
            if len(rows.rows) <= _MOST_ROWS and (rows.is_whole or len(few) == 1):
                return tuple(few), rows
    return None


# Combinations.


@dataclass(frozen=True)
class _Source:
    """Values that go together, each row one combination of them."""

    names: frozenset[str]
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)


@dataclass(frozen=True)
class _Part:
    """A part of a key, by the name that it has in a source."""

    name: str
    expression: Expression
    values: tuple[Key, ...]

    @property
    def may_be_unlisted(self) -> bool:
        """Whether rows can miss it without the policy listing what is missing."""
        return None in self.values and not is_missing_listed(self.expression)


class _TooMany(Exception):
    """Too many combinations to be tried."""


@lru_cache(maxsize=16)  # a question is planned for many prices, and finding its groups takes a database
def _found(
    keys: tuple[Expression, ...], tests: tuple[Expression, ...], scans: tuple[Scan, ...]
) -> tuple[Lists, tuple[int, ...]]:
    if _are_apart(keys) and not any(_names(test) for test in tests):
        return _independent(keys)
    try:
        return _Combinations(keys, tests, scans).found()
    except _TooMany:
        return _independent(keys)


def _are_apart(keys: tuple[Expression, ...]) -> bool:
    """Whether no two keys are made of the same column or of columns of one public table."""
    used = [{field.origin.scan if field.origin else field.name for field in collect_fields(key)} for key in keys]
    return sum(map(len, used)) == len(frozenset[str]().union(*used))


def _independent(keys: tuple[Expression, ...]) -> tuple[Lists, tuple[int, ...]]:
    """Every value of each key by itself."""
    domains = [find_domain(key) or () for key in keys]
    without = tuple(k for k, key in enumerate(keys) if None in domains[k] and not is_missing_listed(key))
    kept = [tuple((v,) for v in domain if v is not None or k not in without) for k, domain in enumerate(domains)]
    return tuple(((k,), rows) for k, rows in enumerate(kept)), without


class _Combinations:
    """The combinations of parts that meet all tests."""

    def __init__(self, keys: tuple[Expression, ...], tests: tuple[Expression, ...], scans: tuple[Scan, ...]) -> None:
        in_scans = frozenset(name for names, _, _ in scans for name in names)
        self._parts: dict[Expression, _Part] = {}
        self._keys = [self._in_parts(key, frozenset(keys)) for key in keys]
        own = [part for part in self._parts.values() if part.name not in in_scans]
        self._sources = [_of_part(part) for part in own]
        types = {field.name: field for key in (*keys, *tests) for field in collect_fields(key)}
        allowed = {part.name: frozenset(part.values) for part in self._parts.values()}
        self._sources += [_of_scan(scan, types, allowed) for scan in scans]
        known = frozenset(name for source in self._sources for name in source.names)
        bare = {_bare(part.expression): _named(part) for part in self._parts.values()}
        coarse = find_coarse_parts(bare)
        about_parts = (coarsen(replace_values(_bare(test), bare), coarse, known) for test in tests)
        self._tests = [_relaxed(test, known) for test in about_parts]

    def _in_parts(self, key: Expression, keys: frozenset[Expression]) -> tuple[Expression, list[_Part]]:
        """The key over its parts, and these."""
        found: dict[Expression, list[Key]] = {}
        is_of_parts = (
            isinstance(key, Call)
            and collect_parts(key, found)
            and math.prod(map(len, found.values())) <= MOST_GROUPS
            and all(_has_all_values(part) or part in keys for part in found)
        )
        values = {part: tuple(each) for part, each in found.items()} if is_of_parts else {key: find_domain(key) or ()}
        for part, each in values.items():
            name = part.name if isinstance(part, Field) else f"part{len(self._parts)}"
            self._parts.setdefault(part, _Part(name, part, each))
        parts = [self._parts[part] for part in values]
        return replace_values(key, {part.expression: _named(part) for part in parts}), parts

    def found(self) -> tuple[Lists, tuple[int, ...]]:
        """Which keys go together in which combinations, and which can be missing without being listed."""
        for test in self._tests:
            if len(self._touched(_names(test))) == 1:
                self._keep(test)
        for is_tried in (_is_equality, lambda _: True):
            for test in self._tests:
                if is_tried(test) and len(self._touched(_names(test))) > 1:
                    self._try(test)
        wanted = frozenset(part.name for _, parts in self._keys for part in parts)
        self._sources = [_distinct(source, wanted) for source in self._sources if source.names & wanted]
        for key, _ in self._keys:
            self._join(self._touched(_names(key)))
        return self._read()

    def _touched(self, names: frozenset[str]) -> list[_Source]:
        return [source for source in self._sources if source.names & names]

    def _keep(self, test: Expression) -> None:
        (source,) = self._touched(_names(test))
        statement = Statement()
        text = f"SELECT * FROM a WHERE {test.write(statement)}"
        self._put([source], _Source(source.names, _run({"a": source.table}, text, statement)))

    def _try(self, test: Expression) -> None:
        """Keep what meets a test about several sources, unless that takes too many combinations."""
        touched = self._touched(_names(test))
        sides = _sides(test, touched)
        if sides is not None:
            if _count_equal(sides) <= _MOST_ROWS:
                self._put(touched, _joined_equal(sides))
        elif math.prod(map(len, touched)) <= _MOST_ROWS:
            self._join(touched)
            self._keep(test)

    def _join(self, sources: list[_Source]) -> None:
        if len(sources) < 2:
            return
        if math.prod(map(len, sources)) > _MOST_ROWS:
            raise _TooMany
        tables = {f"t{k}": source.table for k, source in enumerate(sources)}
        names = frozenset(name for source in sources for name in source.names)
        self._put(sources, _Source(names, _run(tables, f"SELECT * FROM {', '.join(tables)}", Statement())))

    def _put(self, old: list[_Source], new: _Source) -> None:
        self._sources = [one for one in self._sources if not any(one is other for other in old)] + [new]

    def _read(self) -> tuple[Lists, tuple[int, ...]]:
        lists, without = [], set[int]()
        for source in self._sources:
            places = [k for k, (key, _) in enumerate(self._keys) if _names(key) <= source.names and _names(key)]
            lists.append(self._listed(source, places, without))
        constant = [k for k, (key, _) in enumerate(self._keys) if not _names(key)]
        if constant:
            lists.append(self._listed(_Source(frozenset(), pa.table({"one": [1]})), constant, without))
        return tuple(one for one in lists if one[0]), tuple(sorted(without))

    def _listed(
        self, source: _Source, places: list[int], without: set[int]
    ) -> tuple[tuple[int, ...], tuple[tuple[Key, ...], ...]]:
        statement = Statement()
        columns = [f"{self._keys[k][0].write(statement)} AS k{k}" for k in places]
        unlisted = {k: [part.name for part in self._keys[k][1] if part.may_be_unlisted] for k in places}
        columns += [
            f"k{k} IS NULL AND ({' OR '.join(f'{name} IS NULL' for name in names) or 'FALSE'}) AS u{k}"
            for k, names in unlisted.items()
        ]
        rows = _run({"a": source.table}, f"SELECT DISTINCT {', '.join(columns)} FROM a", statement) if places else None
        kept = []
        for row in [] if rows is None else rows.to_pylist():
            unnamed = {k for k in places if row[f"u{k}"]}
            without |= unnamed
            if not unnamed and all(row[f"k{k}"] == row[f"k{k}"] for k in places):  # NaN is in no group
                kept.append(tuple(_zero(row[f"k{k}"]) for k in places))
        return tuple(places), tuple(dict.fromkeys(kept))


def _zero(value: Key) -> Key:
    return value + 0 if isinstance(value, float) else value  # a negative zero is the zero that it equals


def _has_all_values(part: Expression) -> bool:
    """Whether no row has a value that is not among a part's: listed keys of a protected table need not be all."""
    return not isinstance(part, Field) or part.keys is None or part.origin is not None


def _named(part: _Part) -> Field:
    return Field(part.expression.type, UNKNOWN, True, part.name)


def _of_part(part: _Part) -> _Source:
    return _typed({part.name: part.expression}, {part.name: list(part.values)})


def _of_scan(scan: Scan, types: dict[str, Field], allowed: dict[str, frozenset[Key]]) -> _Source:
    """The rows of a public table, with listed keys alone where its policy lists them."""
    names, known, may_be_absent = scan
    rows = [tuple(map(plain, row)) for row in [*known.rows, *([(None,) * len(names)] if may_be_absent else [])]]
    limits = [(k, allowed[name]) for k, name in enumerate(names) if name in allowed]
    rows = [row for row in rows if all(row[k] in values for k, values in limits)]
    columns: dict[str, list[Key]] = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return _typed({name: types[name] for name in names}, columns)


def _typed(kinds: Mapping[str, Expression], columns: Mapping[str, list[Key]]) -> _Source:
    fields = {name: pa.array(values, arrow_type(kinds[name])) for name, values in columns.items()}
    casts = ", ".join(f"CAST({name} AS {type_name(kinds[name].type)}) AS {name}" for name in kinds)
    return _Source(frozenset(kinds), _run({"a": pa.table(fields)}, f"SELECT {casts} FROM a", Statement()))


def _distinct(source: _Source, wanted: frozenset[str]) -> _Source:
    names = source.names & wanted
    return _Source(names, _run({"a": source.table}, f"SELECT DISTINCT {', '.join(sorted(names))} FROM a", Statement()))


def _is_equality(test: Expression) -> bool:
    return isinstance(test, Call) and test.template == "{0} = {1}"


def _sides(test: Expression, touched: Sequence[_Source]) -> list[tuple[_Source, Expression]] | None:
    """The two sources whose values an equality compares."""
    if not isinstance(test, Call) or not _is_equality(test) or len(touched) != 2:
        return None
    found = [(source, side) for side in test.arguments for source in touched if _names(side) & source.names]
    return found if len(found) == 2 and found[0][0] is not found[1][0] else None


def _count_equal(sides: list[tuple[_Source, Expression]]) -> int:
    statement = Statement()
    counts = [
        f"(SELECT {side.write(statement)} AS x, COUNT(*) AS n FROM t{k} GROUP BY x) c{k}"
        for k, (_, side) in enumerate(sides)
    ]
    text = f"SELECT COALESCE(SUM(c0.n * c1.n), 0) AS n FROM {counts[0]} JOIN {counts[1]} ON c0.x = c1.x"
    return int(_run(_tables(sides), text, statement)["n"][0].as_py())


def _joined_equal(sides: list[tuple[_Source, Expression]]) -> _Source:
    statement = Statement()
    test = " = ".join(side.write(statement) for _, side in sides)
    table = _run(_tables(sides), f"SELECT * FROM t0 JOIN t1 ON {test}", statement)
    return _Source(sides[0][0].names | sides[1][0].names, table)


def _tables(sides: list[tuple[_Source, Expression]]) -> dict[str, pa.Table]:
    return {f"t{k}": source.table for k, (source, _) in enumerate(sides)}


def _run(tables: dict[str, pa.Table], text: str, statement: Statement) -> pa.Table:
    with open_closed_database(tables) as database:
        found = database.sql(text, params=statement.parameters) if statement.parameters else database.sql(text)
        return found.to_arrow_table()
