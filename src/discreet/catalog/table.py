"""A table's policy: whose rows they are, what may be spent on them, and what is public about its columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.catalog.column import Column
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["Budget", "ForeignKey", "Table"]


@dataclass(frozen=True)
class Budget:
    """An allowance in the terms people use: ε, and perhaps δ."""

    epsilon: Fraction
    """The ε of everything together."""
    delta: Fraction = Fraction(0)
    """The δ of everything together; zero for a pure budget."""
    delta_for_keys: Fraction = Fraction(0)
    """The part of δ kept for groups that are shown only past a threshold; the rest pays for composition."""

    def __init__(self, epsilon: Number, delta: Number = 0, delta_for_keys: Number | None = None) -> None:
        stated = Approximate(epsilon, delta)
        if stated.epsilon == 0:
            raise InvalidValue("a budget must be positive", epsilon)
        keys = stated.delta / 2 if delta_for_keys is None else Approximate(0, delta_for_keys).delta
        if keys > stated.delta or (stated.delta and keys == stated.delta):
            raise InvalidValue("delta_for_keys must be below delta", delta_for_keys)
        object.__setattr__(self, "epsilon", stated.epsilon)
        object.__setattr__(self, "delta", stated.delta)
        object.__setattr__(self, "delta_for_keys", keys)

    @property
    def loss(self) -> Pure | Approximate:
        """The same as a loss."""
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)


@dataclass(frozen=True)
class ForeignKey:
    """Rows of this table belong to rows of another: ``column`` equals ``other_column`` there."""

    column: str
    table: str
    other_column: str


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
    """The column whose value names the person; None when every row is a person of its own."""
    neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE
    """What is hidden: whether a person is there, or what the person's rows are."""
    budget: Budget | None = None
    """What all analysts together may spend."""
    analysts: dict[str, Budget | None] = field(default_factory=dict)
    """Who may ask, and up to which cap of their own; empty when only the owner may."""
    rows_per_unit: int = 1
    """The total weight of one person's rows in an answer."""
    groups_per_unit: int = 1
    """How many groups with unlisted keys one person can make visible."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    """How rows belong to rows of other tables, and through them to people."""
    description: str = ""
    """A sentence for analysts."""

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith("_"):
            raise InvalidValue("a table's name must not be empty or start with an underscore", self.name)
        folded = [column.name.casefold() for column in self.columns]
        if not folded or len(set(folded)) != len(folded):
            raise InvalidValue(f"{self.name}: columns must have different names, at least one", folded)
        integer(self.rows_per_unit, "rows_per_unit", least=1, most=2**20)
        integer(self.groups_per_unit, "groups_per_unit", least=1, most=2**20)
        self._check_unit()
        self._check_who()

    def _check_unit(self) -> None:
        if self.unit is not None and self.column(self.unit) is None:
            raise InvalidValue(f"{self.name}: the unit must be one of the columns", self.unit)
        for key in self.foreign_keys:
            if self.column(key.column) is None:
                raise InvalidValue(f"{self.name}: a foreign key must start at one of the columns", key.column)
        if self.unit is None and not self.foreign_keys and self.rows_per_unit != 1:
            raise InvalidValue(f"{self.name}: a row is one row, so rows_per_unit must be 1", self.rows_per_unit)

    def _check_who(self) -> None:
        if self.public:
            if self.budget is not None or self.analysts or self.unit is not None:
                raise InvalidValue(f"{self.name}: a public table has no unit, budget or analysts", "<one of them>")
            return
        if self.budget is None:
            raise InvalidValue(f"{self.name}: a protected table must have a budget", "<none>", "or say public: true")
        for analyst, cap in self.analysts.items():
            if cap is not None and (cap.epsilon > self.budget.epsilon or bool(cap.delta) is not bool(self.budget.delta)):
                rule = f"{self.name}: the cap of {analyst} must be within the table's budget and of its kind"
                raise InvalidValue(rule, str(cap.loss))

    def column(self, name: str) -> Column | None:
        """The column with this name, without regard to case."""
        wanted = name.casefold()
        return next((column for column in self.columns if column.name.casefold() == wanted), None)
