"""A table's policy: whose rows they are, what may be spent on them, and what is public about its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column
from discreet.catalog.names import check_name, check_text, suggestion
from discreet.catalog.period import Every, Period, TimeColumn
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.problems import Complaints
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import integer
from discreet.privacy.neighbours import Neighbours

__all__ = ["ROWS_AFTER_JOINS", "Budget", "ForeignKey", "Table"]


_MOST_PER_UNIT = 2**20
_KEY_FORM = 'write [{"column": "order_id", "table": "orders", "other_column": "id"}]'
ROWS_AFTER_JOINS = 10_000
"""What joins may make of one person where a policy says nothing else."""


@dataclass(frozen=True)
class ForeignKey:
    """Rows of this table belong to rows of another: ``column`` equals ``other_column`` there."""

    column: str
    """The column of this table."""
    table: str
    """The other table."""
    other_column: str
    """The column of the other table, whose values differ from row to row or name its unit."""

    def __post_init__(self) -> None:
        found = Complaints()
        for name in ("column", "table", "other_column"):
            found.checked((name,), check_name, getattr(self, name), f"the {name} of a foreign key")
        found.refuse_any()

    @classmethod
    def of(cls, stated: ForeignKey | Mapping[str, str]) -> ForeignKey:
        """The foreign key that somebody wrote down: its three fields, or a `ForeignKey`."""
        if isinstance(stated, ForeignKey):
            return stated
        if not isinstance(stated, Mapping):
            raise InvalidType("a foreign key must have three fields", stated, _KEY_FORM)
        if stated.keys() != {"column", "table", "other_column"}:
            rule = "a foreign key has the fields column, table and other_column"
            raise InvalidValue(rule, ", ".join(map(str, stated)), _KEY_FORM)
        return cls(**stated)


@dataclass(frozen=True)
class Table:
    """One table and its policy."""

    name: str
    """As written in SQL; matched without regard to case."""
    columns: tuple[Column, ...]
    """What analysts may name."""
    public: bool = False
    """Whether everybody may know every row; a public table needs no budget."""
    unit: str | None = None
    """The column whose value names the person; None when every row is a person of its own, or when a foreign
    key leads to the person."""
    unit_name: str | None = None
    """What its people are called, in any case, where tables without a foreign key between them are about the same."""
    unit_budget: Budget | None = None
    """What its people may lose in all, over all their tables; as much as their first table grants, if it is not said.
    """
    unit_per: Every | None = None
    """How long a period is, where the unit is a person in one period and no more; None where it is the whole person."""
    time: TimeColumn | None = None
    """How it grows by periods that close; None where its rows are taken in whole."""
    neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE
    """What is hidden: whether a person is there, or what the person's rows are."""
    budget: Budget | None = None
    """What all analysts together may spend; on every period by itself, where a unit is in one period alone."""
    budget_per: Every | None = None
    """The same as ``unit_per``: who reads the budget shall see that it comes back with new periods, for new rows."""
    lifetime: Budget | None = None
    """What a person may lose over all periods, where the unit is a person in one of them; None where it is counted
    without a limit."""
    analysts: dict[str, Budget | None] = field(default_factory=dict, hash=False)
    """Who may ask, and up to which cap of their own; empty when only the owner may."""
    rows_per_unit: int = 1
    """The total weight of one person's rows in an answer."""
    groups_per_unit: int | None = None
    """How many groups with unlisted keys one person can make visible; as many as rows_per_unit where it is not said."""
    rows_after_joins: int = ROWS_AFTER_JOINS
    """How many rows joins may make of one person's; a question that could make more is refused."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    """How rows belong to rows of other tables, and through them to people."""
    csv: CSVFormat | None = None
    """How values of CSV files are spelled, where that is not as programs spell them."""
    description: str = ""
    """A sentence for analysts."""
    closed: tuple[Period, ...] = ()
    """Not stated but seen: the periods that a question about it may read, in order."""

    def __post_init__(self) -> None:
        found = Complaints()
        found.checked(("table",), check_name, self.name, "a table's name")
        self._read_stated(found)
        found.checked(("description",), check_text, self.description, f"{self.name}: description")
        self._check_columns(found)
        self._check_unit(found)
        self._check_foreign_keys(found)
        self._check_contributions(found)
        self._check_time(found)  # last, because it compares what the others have read
        if self.public:
            self._check_public(found)
        else:
            self._check_spending(found)
        found.refuse_any()

    @property
    def most_groups(self) -> int:
        """The groups with unlisted keys that one person can make visible.

        By default nobody whose rows all count loses a key: more groups add nothing to the noise on sums over rows, and
        the threshold stays a few times the error of a count of rows.
        """
        return self.rows_per_unit if self.groups_per_unit is None else self.groups_per_unit

    def _read_stated(self, found: Complaints) -> None:
        """Take what is plain, such as 3 for a budget; what is of no kind that has a meaning is refused first."""
        self._set("columns", found.checked(("columns",), _columns, self.columns, self.name))
        self._set("foreign_keys", found.checked(("foreign_keys",), _foreign_keys, self.foreign_keys, self.name))
        self._set("analysts", found.checked(("analysts",), _caps, self.analysts, self.name))
        self._read_periods(found)
        if self.budget is not None:
            self._set("budget", found.checked(("budget",), Budget.of, self.budget, f"{self.name}: a budget"))
        if self.unit_budget is not None:
            label = f"{self.name}: the budget of its people"
            self._set("unit_budget", found.checked(("unit", "budget"), Budget.of, self.unit_budget, label))
        if self.csv is not None:
            self._set("csv", found.checked(("csv",), CSVFormat.of, self.csv))
        if not isinstance(self.public, bool):
            found.say(("public",), f"{self.name}: public must be true or false", self.public)
        if self.unit is not None and not isinstance(self.unit, str):
            rule = f"{self.name}: the unit must be the name of a column"
            found.say(("unit",), rule, self.unit, 'write "patient_id", or "row" where every row is a person')
        found.refuse_any()

    def _read_periods(self, found: Complaints) -> None:
        """Take apart what is said of periods within a budget: ``{"epsilon": 1, "per": "month", "lifetime": 8}``."""
        if isinstance(self.budget, Mapping) and self.budget.keys() & {"per", "lifetime"}:
            stated = dict(self.budget)
            self._set("budget_per", stated.pop("per", None))
            self._set("lifetime", stated.pop("lifetime", None))
            self._set("budget", stated)
        if self.time is not None:
            self._set("time", found.checked(("time",), TimeColumn.of, self.time))
        if self.unit_per is not None:
            self._set("unit_per", found.checked(("unit", "per"), Every.of, self.unit_per))
        if self.budget_per is not None:
            self._set("budget_per", found.checked(("budget", "per"), Every.of, self.budget_per))
        if self.lifetime is not None:
            label = f"{self.name}: what a person may lose over all periods"
            self._set("lifetime", found.checked(("budget", "lifetime"), Budget.of, self.lifetime, label))

    @property
    def is_by_period(self) -> bool:
        """Whether a unit is in one period for good, so that every period has a budget of its own."""
        return self.time is not None and (self.unit is None or self.unit_per is not None)

    def column(self, name: str) -> Column | None:
        """The column with this name, without regard to case."""
        wanted = name.casefold()
        return next((column for column in self.columns if column.name.casefold() == wanted), None)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_columns(self, found: Complaints) -> None:
        if not self.columns:
            found.say(("columns",), f"{self.name}: a table must have at least one column", "<none>")
        times = Counter(column.name.casefold() for column in self.columns)
        for column in self.columns:
            if times[column.name.casefold()] > 1:
                rule = f"{self.name}: columns must have different names, also without regard to case"
                found.say(("columns", column.name), rule, column.name)

    def _check_unit_name(self, found: Complaints) -> None:
        if self.unit_name is None:
            return
        name = found.checked(("unit", "name"), check_name, self.unit_name, f"{self.name}: the name of its unit")
        if name is not None and (self.unit is None or not self.unit_name.isidentifier()):
            rule = f"{self.name}: the name of a unit is one word, and its column is named beside it"
            found.say(("unit", "name"), rule, self.unit_name, "write {name: patient, column: patient_id}")

    def _check_unit(self, found: Complaints) -> None:
        self._check_unit_name(found)
        if self.unit is None:
            return
        column = self.column(self.unit)
        if column is None:
            found.say(("unit",), f"{self.name}: the unit must be one of the columns", self.unit, self._near(self.unit))
        elif any(stated is not None for stated in (column.bounds, column.keys, column.keys_from, column.default)):
            # Moving ids to a bound or a default would turn several people into one, who could then change in part.
            rule = f"{self.name}: the unit column names people, so it has no bounds, keys or default"
            found.say(("columns", column.name), rule, column.name)

    def _check_time(self, found: Complaints) -> None:
        """Periods come from a date or a timestamp about which nothing else is said, and a unit is in one or in all."""
        self._check_units_of_periods(found)
        if self.time is None:
            return
        column = self.column(self.time.column)
        if column is None:
            rule = f"{self.name}: time must name one of the columns"
            found.say(("time", "column"), rule, self.time.column, self._near(self.time.column))
            return
        if not column.type.is_temporal:
            rule = f"{self.name}: the time column must be a date or a timestamp"
            found.say(("time", "column"), rule, column.type.value, "name another column, or state its type")
        facts = (None if self.closed else column.bounds, column.keys, column.keys_from, column.default)
        if any(fact is not None for fact in facts):
            rule = f"{self.name}: the time column has no bounds, keys or default: they would move rows to other periods"
            found.say(("columns", column.name), rule, column.name, "drop them; its values are those of closed periods")
        if self.public:
            rule = f"{self.name}: a public table is taken in whole"
            found.say(("time",), rule, "<time>", "drop time, or drop public")
        if self.unit is not None and self.unit_per is None:
            self._check_constant(found)
        if self.unit is None and self.neighbours is Neighbours.REPLACE_ONE:
            rule = f"{self.name}: a row that is replaced by another could lie in another period"
            found.say(("neighbours",), rule, "replace-one", "use add-remove-one, or drop time")

    def _check_constant(self, found: Complaints) -> None:
        for column in self.columns:
            if column.constant_per_unit:
                rule = f"{self.name}: rows to come could hold another {column.name}, so it is not constant for a person"
                found.say(("columns", column.name), rule, "constant_per_unit", "drop it, or state per: in unit")

    def _check_units_of_periods(self, found: Complaints) -> None:
        if self.unit_per is not None and (self.time is None or self.unit is None):
            rule = f"{self.name}: a unit per {self.unit_per.value} needs a column of the person, and time"
            found.say(("unit", "per"), rule, self.unit_per.value, "state both, or drop per")
        elif self.unit_per is not None and self.time is not None and self.unit_per is not self.time.every:
            rule = f"{self.name}: a unit has the length of a period, {self.time.every.value}"
            found.say(("unit", "per"), rule, self.unit_per.value, f"write {self.time.every.value} in both")
        if self.budget_per is not self.unit_per:
            wanted = "none" if self.unit_per is None else self.unit_per.value
            rule = f"{self.name}: the budget must say for which period it is, as the unit does: {wanted}"
            got = "<none>" if self.budget_per is None else self.budget_per.value
            remedy = "drop per" if self.unit_per is None else f"write {{epsilon: 1, per: {wanted}}}"
            found.say(("budget",), rule, got, remedy)
        if self.unit_per is not None and self.unit_budget is not None:
            rule = f"{self.name}: what a person may lose over all periods is the lifetime of the budget"
            found.say(("unit", "budget"), rule, f"<{self.unit_budget.loss!r}>", "write it as lifetime: in budget")
        if self.lifetime is not None and self.unit_per is None:
            rule = f"{self.name}: a lifetime is for units per period; this budget is for good already"
            found.say(("budget", "lifetime"), rule, f"<{self.lifetime.loss!r}>", "drop it")
        if self.lifetime is not None and self.budget is not None and not self._holds(self.lifetime, self.budget):
            rule = f"{self.name}: the budget of a period must be within that of all periods, and pure when it is pure"
            found.say(("budget", "lifetime"), rule, f"<{self.lifetime.loss!r}>", f"state {self.budget.loss!r} or more")

    def _near(self, name: str) -> str:
        return suggestion(name, [column.name for column in self.columns])

    def _check_foreign_keys(self, found: Complaints) -> None:
        for place, key in enumerate(self.foreign_keys):
            if self.column(key.column) is None:
                rule = f"{self.name}: a foreign key must start at one of the columns"
                found.say(("foreign_keys", place, "column"), rule, key.column, self._near(key.column))
            if key in self.foreign_keys[:place]:
                found.say(("foreign_keys", place), f"{self.name}: foreign keys must differ", key.column, "list it once")

    def _check_contributions(self, found: Complaints) -> None:
        relation = found.checked(("neighbours",), Neighbours.of, self.neighbours)
        if relation is not None:
            self._set("neighbours", relation)
        rows = found.checked(("rows_per_unit",), _per_unit, self.rows_per_unit, "rows_per_unit")
        found.checked(("rows_after_joins",), _per_unit, self.rows_after_joins, "rows_after_joins")
        if self.groups_per_unit is not None:
            found.checked(("groups_per_unit",), _per_unit, self.groups_per_unit, "groups_per_unit")
        if self.unit is None and not self.foreign_keys and rows is not None and rows > 1 and not self.public:
            rule = f"{self.name}: every row is a person of its own, so rows_per_unit must be 1"
            found.say(("rows_per_unit",), rule, rows, "name the column of the person as unit")
        self._check_rows_per_key(found)

    def _check_rows_per_key(self, found: Complaints) -> None:
        """Where nobody has several rows, fewer of them cannot count: what would be ignored is refused."""
        if not self.public and (self.unit is not None or self.foreign_keys):
            return
        kind = "a public table protects nobody" if self.public else "every row is a person of its own"
        for column in self.columns:
            if column.rows_per_key is not None:
                rule = f"{self.name}: {kind}, so {column.name} has no rows_per_key"
                found.say(("columns", column.name, "rows_per_key"), rule, column.rows_per_key, "drop it")

    def _check_public(self, found: Complaints) -> None:
        unit = self.unit or self.unit_name or self.unit_budget
        stated: dict[str, Any] = {"unit": unit, "budget": self.budget, "analysts": self.analysts}
        plain = {"rows_per_unit": self.rows_per_unit != 1, "groups_per_unit": self.groups_per_unit is not None}
        plain["rows_after_joins"] = self.rows_after_joins != ROWS_AFTER_JOINS
        for name, value in (stated | plain).items():
            if value:
                found.say((name,), f"{self.name}: a public table has no {name}", "<one>", "drop it, or drop public")

    def _check_spending(self, found: Complaints) -> None:
        if self.budget is None:
            remedy = "state one, or say public: true when everybody may see every row"
            found.say(("budget",), f"{self.name}: a protected table must have a budget", "<none>", remedy)
            return
        for analyst, cap in self.analysts.items():
            found.checked(("analysts", analyst), check_name, analyst, "an analyst's name")
            if cap is not None and not self._holds(self.budget, cap):
                rule = f"{self.name}: the cap of {analyst} must be within the table's budget, and pure when it is pure"
                found.say(("analysts", analyst), rule, f"<{cap.loss!r}>", f"the budget is {self.budget.loss!r}")

    @staticmethod
    def _holds(budget: Budget, cap: Budget) -> bool:
        same_kind = cap.adds_up is budget.adds_up  # the two are held by filters that must speak one language
        return same_kind and cap.epsilon <= budget.epsilon and cap.delta <= budget.delta


def _columns(stated: Any, table: str) -> tuple[Column, ...]:
    listed = tuple(stated) if isinstance(stated, Iterable) else (stated,)
    if not all(isinstance(column, Column) for column in listed):
        raise InvalidType(f"{table}: columns must be a list of Column", stated, 'write [Column("age", "integer")]')
    return listed


def _foreign_keys(stated: Any, table: str) -> tuple[ForeignKey, ...]:
    if isinstance(stated, (str, Mapping)) or not isinstance(stated, Iterable):
        raise InvalidType(f"{table}: foreign_keys must be a list", stated, _KEY_FORM)
    return tuple(ForeignKey.of(key) for key in stated)


def _caps(stated: Any, table: str) -> dict[str, Budget | None]:
    """Per analyst the cap; None, or the word of policy files, lets them spend what the table has."""
    if not isinstance(stated, Mapping):
        remedy = 'write {"ann": 0.5, "bob": "all"}'
        raise InvalidType(f"{table}: analysts must be names with their caps", stated, remedy)
    return {
        name: None if cap is None or cap == "all" else Budget.of(cap, f"{table}: the cap of {name}")
        for name, cap in stated.items()
    }


def _per_unit(value: Any, name: str) -> int:
    return integer(value, name, least=1, most=_MOST_PER_UNIT)
