"""An explanation: what a question would cost and how good its answer would be, found without reading a row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.curator.answers.formats import html_grid
from discreet.curator.ledger.units import amount, as_json
from discreet.curator.question_terms import NoiseOption, noise_name
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
    options: tuple[NoiseOption, ...] = ()
    """Where a part of the budget was named, the ways in which it can be paid; the others say which one is taken."""
    as_of: str | None = None
    """The end of the last closed period, where CURRENT_DATE means that; None where it is not asked, or was named."""

    @property
    def option(self) -> NoiseOption:
        """The same as one of several ways."""
        assert self.price is not None  # noqa: S101  what is free has one way
        return NoiseOption(noise_name(self.price), self.price, self.errors, self.affordable)

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
            **({} if self.as_of is None else {"as_of": self.as_of}),
            **({"options": [_option_as_json(one) for one in self.options]} if self.options else {}),
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
        lines += [("noise", _option_in_words(one, one.price == self.price)) for one in self.options]
        shares = [("share", f"{what}: {amount(share)}") for what, share in self.shares]
        return [*lines, *(shares if len(shares) > 1 else [])]

    @property
    def due(self) -> Pure | ZeroConcentrated | None:
        """What would be charged now; None where the answer is free."""
        return None if self.is_known else self.price


def _option_in_words(option: NoiseOption, is_taken: bool) -> str:
    reach = ", ".join(f"{one.column} ± {_rounded(one.within)}" for one in option.errors if one.within is not None)
    state = "taken" if is_taken else "fits as well" if option.affordable else "does not fit what is left"
    return f"{option.noise} for {amount(option.price)}: {reach or 'its error depends on the answer'} ({state})"


def _option_as_json(option: NoiseOption) -> dict[str, Any]:
    errors = [{"column": one.column, "within": one.within} for one in option.errors]
    return {"noise": option.noise, "price": as_json(option.price), "affordable": option.affordable, "errors": errors}


def _rounded(reach: float) -> str:
    return f"{reach:,.0f}" if reach >= _LARGE else f"{reach:.4g}"
