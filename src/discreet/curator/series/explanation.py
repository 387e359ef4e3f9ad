"""What a series would cost and how good its figures would be, found without reading a row or charging anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.curator.answers.formats import html_grid
from discreet.curator.ledger.units import amount, as_json
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import ExpectedError

__all__ = ["SeriesExplanation"]


@dataclass(frozen=True)
class SeriesExplanation:
    """What a series would cost and how good its figures would be."""

    price: Pure | ZeroConcentrated
    """The price: of all periods together where it is paid once, else of each."""
    is_once: bool
    """Whether it is paid once, on the first day."""
    affordable: bool
    """Whether it fits what is left; of what is paid for each period, nothing is set aside."""
    accounts: tuple[str, ...]
    """Who would pay, by the names in the ledger."""
    first: str
    """The first period."""
    periods: int
    """How many there are."""
    rows_per_unit: int
    """How many rows of a person count, over all periods where it is paid once, else in each."""
    groups: int | None
    """How many figures of each aggregate a period has; None where only the answer can tell."""
    errors: tuple[ExpectedError, ...]
    """The expected error of every figure."""
    at_limit: float | None
    """How far the number of people who reach the limit in a period may be off; None where nobody has a limit."""
    notes: tuple[str, ...]
    """What will be clamped, weighted or left out."""

    def __str__(self) -> str:
        return "\n".join([*(f"{name:<8} {words}" for name, words in self.lines()), *self.notes])

    def _repr_html_(self) -> str:
        return html_grid((), self.lines(), self.notes)

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "price": as_json(self.price),
            "paid": "once" if self.is_once else "for each period",
            "affordable": self.affordable,
            "accounts": list(self.accounts),
            "first": self.first,
            "periods": self.periods,
            "rows_per_unit": self.rows_per_unit,
            "groups": self.groups,
            "errors": [{"column": one.column, "within": one.within} for one in self.errors],
            "at_limit_within": self.at_limit,
            "notes": list(self.notes),
        }

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say beside the notes, each by its name."""
        when = f"once, for all {self.periods:,} periods" if self.is_once else "for each period, when it closes"
        whose = ", over all periods" if self.is_once else ", in each period"
        lines = [
            ("price", f"{amount(self.price)}, {when}"),
            ("afforded", "yes" if self.affordable else "no"),
            ("periods", f"{self.periods:,}, from {self.first} on"),
            ("people", f"{self.rows_per_unit:,} rows of a person count{whose}"),
            ("groups", "those with enough people" if self.groups is None else f"{self.groups:,} in each period"),
        ]
        for error in self.errors:
            reach = "depends on the answer" if error.within is None else f"± {error.within:,.4g}"
            lines.append(("error", f"{error.column}: {reach}"))
        return lines + ([] if self.at_limit is None else [("error", f"people at the limit: ± {self.at_limit:,.4g}")])
