"""The policy files of a curator: read when they change, and changed by one owner at a time.

Several processes may serve one folder. Whoever changes a policy does so under a lock between processes; the others
see from names, times and sizes of the files that something changed, and read them again.

A policy stated in Python: names and types from the source's schema, the rest from the owner, nothing from rows.

What is plain is taken as it is meant: a number for a budget, a pair for bounds, a word for a type. What could mean two
things is refused, such as a list of two numbers, which could be bounds or keys.

>>> import pyarrow as pa
>>> table = stated_policy(pa.table({"id": [1], "age": [30], "ward": ["A"]}), table="people", unit="id", budget=1,
...                       columns={"age": (0, 110), "ward": {"keys": ["A", "B"]}})
>>> table.budget.epsilon, table.columns[1].bounds, table.columns[2].keys
(Fraction(1, 1), (0, 110), ('A', 'B'))

Who may ask about a table, and up to which cap of their own: in its policy, and in the ledger.

What analysts spent stays counted, whatever is changed: their account is never closed, and its cap never falls below
what was spent. The table's own budget stays as it was granted, and holds over all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import quote

import pyarrow as pa

from discreet.catalog.budget import Budget, BudgetStated
from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType, parse_literal
from discreet.catalog.names import suggestion
from discreet.catalog.period import TimeColumn
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.read import read as read_policy
from discreet.catalog.policy.read import read_folder
from discreet.catalog.policy.read import write as write_policy
from discreet.catalog.policy.write import Schema, find_type, read_schema, schema_of_arrow, write_policy_text
from discreet.catalog.policy.yaml import LARGEST_FILE
from discreet.catalog.table import ForeignKey, Table
from discreet.curator.charge import find_account
from discreet.curator.preconditions import grant, partitions_per_neighbour
from discreet.engines.duckdb.store import FileLock
from discreet.errors import InvalidType, InvalidValue, StoreError
from discreet.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = [
    "BudgetPerStated",
    "CapsStated",
    "ColumnStated",
    "KeyStated",
    "Policies",
    "Stamp",
    "StatedColumn",
    "TimeStated",
    "UnitStated",
    "allow",
    "check_length",
    "disallow",
    "read_analysts",
    "read_stated_policy",
    "stated_policy",
]


_LONGEST_NAME = 240
"""Letters of a file's name, so that those around it while it is written fit the 255 of most file systems."""

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, inode, time and size of every policy file: another one whenever a file was changed."""


class Policies:
    """The folder ``policies`` of a curator."""

    def __init__(self, folder: Path) -> None:
        """Below the curator's ``folder``; made where it is missing."""
        self.folder = folder / "policies"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = folder / "policies.lock"

    def stamp(self) -> Stamp:
        """Cheap enough to look at before every question."""
        with os.scandir(self.folder) as found:
            facts = [(entry.name, entry.stat()) for entry in found if not entry.name.startswith(".")]
        return tuple(sorted((name, fact.st_ino, fact.st_mtime_ns, fact.st_size) for name, fact in facts))

    def read(self) -> Catalog:
        """The tables as the files describe them now."""
        return read_folder(self.folder)

    def digest(self) -> str:
        """A hash of the names and bytes of all files."""
        total = sha256()
        for file in sorted(self.folder.glob("*.y*ml")):
            total.update(sha256(file.name.encode()).digest() + sha256(file.read_bytes()).digest())
        return total.hexdigest()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Be the only one who changes policies, in this process and in others."""
        lock = FileLock(self._lock)
        try:
            lock.acquire(wait=True)
        except OSError:
            raise StoreError("the curator's folder must be writable", str(self._lock.parent)) from None
        try:
            yield
        finally:
            lock.release()

    def write(self, table: Table) -> None:
        """Write the policy of a table; only for who is `changing`."""
        # A power cut does not bring the old policy back, and with it who may ask.
        write_policy(table, self.folder / f"{_file_name(table)}.yaml")


def check_length(table: Table) -> None:
    """Refuse a policy whose file would be too long to be read again."""
    length = len(write_policy_text(table).encode())
    if length > LARGEST_FILE:
        remedy = "put long lists of keys into a public table, and name its column: keys_from: icd10.code"
        raise InvalidValue("a policy file must be at most 1 MiB", f"<{length:,} bytes>", remedy)


def _file_name(table: Table) -> str:
    """A file of the policies' own folder, whatever the table is called; a colon is in no name that is spelled out."""
    name = quote(table.name, safe="").replace(".", "%2E")
    return name if len(name) <= _LONGEST_NAME else f"sha256:{sha256(table.name.encode()).hexdigest()}"


StatedValue = int | float | str | bool | Fraction | Decimal | date
"""A value that an owner states; dates and timestamps may be written as text, 2024-12-31."""


class StatedColumn(TypedDict, total=False):
    """What is public about a column, in the words of policy files; what is left out is unknown."""

    type: ColumnType | str
    """integer, real, text, boolean, date or timestamp; needed for CSV files, which state none."""
    lower: StatedValue
    """The least value that counts."""
    upper: StatedValue
    """The greatest value that counts."""
    keys: Iterable[StatedValue | None]
    """Every value that may appear as a group; None among them lists the group of missing values."""
    keys_from: str
    """A public table and its column that hold these values: ``icd10.code``."""
    nullable: bool
    """Whether values may be missing."""
    default: StatedValue
    """What stands in for a missing value."""
    constant_per_unit: bool
    """Whether all rows of a unit hold the same value."""
    rows_per_key: int
    """How many rows of a unit with one value count in full."""
    description: str
    """A sentence for analysts."""


ColumnStated = StatedColumn | tuple[StatedValue, StatedValue] | ColumnType | str
"""What can be written about a column: its facts, a pair of bounds, or its type."""
UnitStated = str | Mapping[str, Any]
"""A column, or ``row``; ``{"column": "row"}`` and ``{"each": "row"}`` where a column has that name. With ``name`` and
``budget``, what its people are called, and what they may lose in all; with ``per``, how long the period is that a unit
is in."""
BudgetPerStated = BudgetStated | Mapping[str, Any]
"""A budget, and beside it ``per``, the period it is for, and ``lifetime``, the budget of a person over all periods:
``{"epsilon": 1, "per": "month", "lifetime": 8}``."""
TimeStated = TimeColumn | Mapping[str, Any]
"""How a table grows: ``{"column": "admitted", "every": "week", "from": "2026-01-05"}``, perhaps ``zone`` and ``grace``.
"""
CapsStated = Mapping[str, BudgetStated | None]
"""Per analyst a cap; None, or the word all, for all that the table has."""
KeyStated = ForeignKey | Mapping[str, str]
"""A foreign key: ``{"column": "order_id", "table": "orders", "other_column": "id"}``."""

_EACH_ROW = "row"
_COLUMN_FORM = '(0, 110) for bounds, {"keys": ["A", "B"]} for keys, "integer" for a type'


def read_stated_policy(source: Any, policy: Table | str | os.PathLike[str] | None, stated: Mapping[str, Any]) -> Table:
    """A policy that was passed whole, or as its file, or stated in words; what is None was not stated."""
    given = {name: fact for name, fact in stated.items() if fact is not None}
    if policy is None:
        return stated_policy(source, **given)
    if given:
        rule = "a policy is passed whole or stated in words, not both"
        raise InvalidValue(rule, min(given), "put it into the policy")
    if isinstance(policy, (Table, str, os.PathLike)):
        return policy if isinstance(policy, Table) else read_policy(policy)
    rule = "a policy must be a Table or the path of a policy file"
    raise InvalidType(rule, policy, "state it in words: unit=, budget=, columns=")


def stated_policy(
    source: Any,
    *,
    table: str | None = None,
    unit: UnitStated | None = None,
    time: TimeStated | None = None,
    columns: Mapping[str, ColumnStated] | None = None,
    budget: BudgetPerStated | None = None,
    rows_per_unit: int | None = None,
    groups_per_unit: int | None = None,
    rows_after_joins: int | None = None,
    neighbours: Neighbours | str | None = None,
    analysts: CapsStated | None = None,
    foreign_keys: Sequence[KeyStated] | None = None,
    csv: CSVFormat | Mapping[str, Any] | None = None,
    public: bool | None = None,
    description: str | None = None,
) -> Table:
    """The policy of ``source`` in the words of policy files.

    ``unit`` names the column of the person, or is ``"row"`` where every row is a person. ``columns`` states what is
    public about some columns, such as ``{"age": (0, 110), "ward": {"keys": ["A", "B"]}}``; the others are known by
    their type.
    """
    name = _name(source) if table is None else table
    if unit is None and not public and not foreign_keys:
        rule = f"{name}: whose privacy is protected must be said"
        raise InvalidValue(rule, "<no unit>", 'pass unit="patient_id", or unit="row", or a policy')
    schema = _schema(source, None if csv is None else CSVFormat.of(csv))
    more: dict[str, Any] = {
        "time": time,
        "budget": budget,
        "rows_per_unit": rows_per_unit,
        "groups_per_unit": groups_per_unit,
        "rows_after_joins": rows_after_joins,
        "neighbours": neighbours,
        "analysts": analysts,
        "foreign_keys": foreign_keys,
        "csv": csv,
        "public": public,
        "description": description,
    }
    given = {field: fact for field, fact in more.items() if fact is not None}
    return Table(name, _columns(name, schema, columns), **_unit(name, unit, schema), **given)


def _name(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(source).stem
    raise InvalidValue("a table must have a name", f"<a source of type {type(source).__name__}>", 'pass table="visits"')


def _schema(source: Any, csv: CSVFormat | None) -> Schema:
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "iloc"):
        return schema_of_arrow(pa.Schema.from_pandas(source, preserve_index=False))
    if library == "polars" and hasattr(source, "collect_schema"):
        return schema_of_arrow(source.head(0).lazy().collect().to_arrow().schema)
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "schema"):
        return read_schema(source, csv)
    raise InvalidType("names and types cannot be read from this source", f"<{type(source).__name__}>", "pass a policy")


def _unit(table: str, stated: Any, schema: Schema) -> dict[str, Any]:
    """The column that names the person; None where every row is one, or a foreign key leads to the person."""
    if isinstance(stated, Mapping):
        more = {f"unit_{name}": stated.get(name) for name in ("name", "budget", "per")}
        known = {"each", "column", "name", "budget", "per"}
        is_known = stated.keys() <= known and stated.get("each") in (None, _EACH_ROW)
        if is_known and ("each" in stated) is not ("column" in stated):
            return {"unit": stated.get("column"), **more}
        raise InvalidValue(f'{table}: unit must be {{"column": NAME}} or {{"each": "row"}}', dict(stated))
    if stated == _EACH_ROW and _EACH_ROW in (name.casefold() for name in schema.columns):
        remedy = 'write unit={"column": "row"} or unit={"each": "row"}'
        raise InvalidValue(f"{table}: unit must be clear: there is a column of the name row too", stated, remedy)
    return {"unit": None if stated == _EACH_ROW else stated}


# Columns ----------------------------------------------------------------------------------------------------------


def _columns(table: str, schema: Schema, stated: Any) -> tuple[Column, ...]:
    if stated is not None and not isinstance(stated, Mapping):
        rule = f"{table}: columns must be names with what is public about them"
        raise InvalidType(rule, stated, 'write {"age": (0, 110)}')
    known, given = schema.columns, {str(name): facts for name, facts in (stated or {}).items()}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise InvalidValue(f"{table}: there is no such column", unknown[0], suggestion(unknown[0], list(known)))
    return tuple(_column(f"{table}.{name}", name, schema, _facts(f"{table}.{name}", given.get(name))) for name in known)


def _facts(label: str, stated: Any) -> dict[str, Any]:
    """What was said about a column, in the words of policy files."""
    if isinstance(stated, (str, ColumnType)):
        return {"type": stated}
    if isinstance(stated, tuple) and len(stated) == 2:
        return {"lower": stated[0], "upper": stated[1]}
    if stated is not None and not isinstance(stated, Mapping):
        raise InvalidType(f"{label}: what is public about a column must be clear", stated, f"write {_COLUMN_FORM}")
    facts = dict(stated or {})
    unknown = sorted(str(name) for name in facts.keys() - StatedColumn.__annotations__.keys())
    if unknown:
        rule = f"{label}: a column has no such fact"
        raise InvalidValue(rule, unknown[0], suggestion(unknown[0], list(StatedColumn.__annotations__)))
    return facts


def _column(label: str, name: str, schema: Schema, facts: dict[str, Any]) -> Column:
    words = schema.columns[name]
    kind = ColumnType.of(facts.pop("type")) if "type" in facts else _type(label, words, schema, facts)
    if kind is None:
        raise InvalidValue(f"{label}: its type must be said", f"<{words}>", 'columns={…: "text"}')
    given = {fact: _value(kind, value, f"{label}: {fact}") for fact, value in facts.items() if fact in _VALUES}
    if "keys" in facts:
        given["keys"] = _keys(kind, facts["keys"], label)
    return Column(name, kind, **{**facts, **given})


_VALUES = ("lower", "upper", "default")


def _type(label: str, words: str, schema: Schema, facts: Mapping[str, Any]) -> ColumnType | None:
    if not schema.types_are_stated and facts.keys() & {"lower", "upper"}:
        example = ", ".join(f'"{end}": {facts[end]!r}' for end in ("lower", "upper") if end in facts)
        remedy = f'write {{"type": "integer", {example}}}, or "real", "date", "timestamp"'
        raise InvalidValue(f"{label}: a CSV file states no types, and bounds need one", "<no type>", remedy)
    return find_type(words)


def _value(kind: ColumnType, value: Any, label: str) -> Any:
    """A value as a policy takes it: numbers of NumPy are numbers, and dates may be written as text."""
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "item"):
        value = value.item()
    return parse_literal(kind, value, label) if isinstance(value, str) and kind.is_ordered else value


def _keys(kind: ColumnType, stated: Any, label: str) -> tuple[Any, ...]:
    if isinstance(stated, (str, bytes, Mapping)) or not isinstance(stated, Iterable):
        raise InvalidType(f"{label}: keys must be a list of values", stated, 'write ["A", "B"]')
    return tuple(_value(kind, key, f"{label}: a key") for key in stated)


def allow(curator: Curator, table: str, analyst: str, cap: BudgetStated | None, by: str | None) -> Table:
    """Let somebody ask. The ledger knows it before the policy does, so that no question goes uncounted."""
    with curator.changing_policies():
        before = _protected(curator, table)
        allowed = None if cap is None else Budget.of(cap, f"the cap of {analyst}")
        after = replace(before, analysts={**before.analysts, analyst: allowed})  # checks the name and the cap
        _grant(curator, after, analyst, by)
        if analyst not in before.analysts:
            curator.ledger.record_analyst(before.name, analyst, may_ask=True, by=by)
        curator.write_policy(after)
    return after


def _grant(curator: Curator, table: Table, analyst: str, by: str | None) -> None:
    """An account with the cap; who has no cap of their own has one as large as the table's.

    Where every period has a budget of its own, so has the cap, for periods that are closed and for those to come.
    """
    budget = table.analysts[analyst] or table.budget
    if budget is None:
        raise AssertionError("a protected table has a budget")
    closed = [one.name for one in curator.ledger.closes(table.name)] if table.is_by_period else []
    names = [find_account(table, analyst, period) for period in (*closed, None)]
    known = curator.ledger.accounts(names)
    for name in names:
        account = known.get(name)
        allowance = grant(budget, account if account is not None and account.spent else None)
        if account is not None:
            curator.ledger.change_cap(name, allowance, by)
        else:
            curator.ledger.open_account(name, allowance, partitions_per_neighbour(table))


def disallow(curator: Curator, table: str, analyst: str, by: str | None) -> Table:
    """Let somebody ask no more. The policy knows it before the ledger does, so that it holds from then on."""
    with curator.changing_policies():
        before = _protected(curator, table)
        if analyst not in before.analysts:
            return before
        after = replace(before, analysts={who: cap for who, cap in before.analysts.items() if who != analyst})
        curator.write_policy(after)
        curator.ledger.record_analyst(before.name, analyst, may_ask=False, by=by)
    return after


def _protected(curator: Curator, name: str) -> Table:
    table = curator.catalog.table(name)
    if table.public:
        raise InvalidValue(f"{table.name}: everybody may ask about a public table", "<a public table>")
    return table


def read_analysts(before: Table | None, now: Table | None, after: Table) -> Table:
    """The policy ``after`` with what was changed about analysts from ``before`` to ``now``, while rows were read."""
    if before is None or now is None or before.analysts == now.analysts:
        return after
    stay = {who: cap for who, cap in after.analysts.items() if who not in before.analysts or who in now.analysts}
    changed = {who: cap for who, cap in now.analysts.items() if before.analysts.get(who, "nobody") != cap}
    return replace(after, analysts={**stay, **changed})
