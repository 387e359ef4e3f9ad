"""An explanation: what a question would cost and how good its answer would be, found without reading a row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.curator.amount import amount
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import ExpectedError

__all__ = ["Explanation"]


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
        paid = "free: asked before" if self.is_known else f"{self.price}" if self.price is not None else "free"
        lines = [f"price    {paid}", f"afforded {'yes' if self.affordable else 'no'}"]
        lines.append(f"groups   {'those with enough people' if self.groups is None else f'{self.groups:,}'}")
        for error in self.errors:
            reach = "depends on the answer" if error.within is None else f"± {error.within:,.4g}"
            lines.append(f"error    {error.column}: {reach}")
        shares = [f"share    {what}: {amount(share)}" for what, share in self.shares]
        return "\n".join([*lines, *(shares if len(shares) > 1 else []), *self.notes])

    @property
    def due(self) -> Pure | ZeroConcentrated | None:
        """What would be charged now; None where the answer is free."""
        return None if self.is_known else self.price
