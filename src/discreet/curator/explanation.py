"""An explanation: what a question would cost and how good its answer would be, found without reading a row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.curator.answers.formats import html_grid
from discreet.curator.ledger.units import amount, as_json
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import ExpectedError

__all__ = ["Explanation"]


_LARGE = 1000


@dataclass(frozen=True)
class Explanation:
    """What a question would cost and how good its answer would be."""

    price: Pure | ZeroConcentrated | None
    """The price of the whole question."""
    affordable: bool
    """Whether it fits what is left, or is free."""
    groups: int | None
    """How many rows the noisy table has, before HAVING and LIMIT; None where only the answer can tell."""
    errors: tuple[ExpectedError, ...]
    """The expected error of each aggregate, under the name of the output that shows it."""
    shares: tuple[tuple[str, Pure | ZeroConcentrated], ...]
    """How the price is divided so that the errors together are least: what each share answers, and the share."""
    notes: tuple[str, ...]
    """What will be clamped, weighted or left out."""
    epsilon: Fraction | None = None
    """The ε that was named, or the least one for the wanted error."""
    accounts: tuple[str, ...] = ()
    """The accounts of the ledger that would pay: of each table, and of the analyst for it."""
    is_known: bool = False
    """Whether the same was asked before about the same data: then the answer of that time is free."""

    def __str__(self) -> str:
        return "\n".join([*(f"{name:<8} {words}" for name, words in self.lines()), *self.notes])

    def _repr_html_(self) -> str:
        return html_grid((), self.lines(), self.notes)

    def to_dict(self) -> dict[str, Any]:
        """The same for programs: prices exact and as numbers."""
        return {
            "price": None if self.price is None else as_json(self.price),
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "affordable": self.affordable,
            "asked_before": self.is_known,
            "groups": self.groups,
            "errors": [{"column": one.column, "within": one.within} for one in self.errors],
            "shares": [{"part": part, "price": as_json(share)} for part, share in self.shares],
            "accounts": list(self.accounts),
            "notes": list(self.notes),
        }

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say beside the notes, each by its name."""
        price = "free: public tables alone" if self.price is None else str(self.price)
        afforded = "yes: asked before, free now" if self.is_known else "yes" if self.affordable else "no"
        groups = "those with enough people" if self.groups is None else f"{self.groups:,}"
        lines = [("price", price), ("afforded", afforded), ("groups", groups)]
        for error in self.errors:
            reach = "depends on the answer" if error.within is None else f"± {_rounded(error.within)}"
            lines.append(("error", f"{error.column}: {reach}"))
        shares = [("share", f"{what}: {amount(share)}") for what, share in self.shares]
        return [*lines, *(shares if len(shares) > 1 else [])]

    @property
    def due(self) -> Pure | ZeroConcentrated | None:
        """What would be charged now; None where the answer is free."""
        return None if self.is_known else self.price


def _rounded(reach: float) -> str:
    return f"{reach:,.0f}" if reach >= _LARGE else f"{reach:.4g}"
