"""The terms of a standing series: what was fixed when it began, as the ledger keeps it.

They are the answer to the request ``series:<id>``, and the id is their SHA-256. So a policy may change later, and the
series does not: text, bounds, weights, quota, periods, price and laws of noise are those of the first day. Whoever
subscribes to the same again, before its first period closes, has the same series and pays nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.catalog.period import Period
from discreet.catalog.policy.read import dumps, loads
from discreet.catalog.table import Table
from discreet.curator.ledger.chain import canonical
from discreet.curator.ledger.units import as_json, from_json
from discreet.errors import StoreError
from discreet.privacy.loss import Pure, ZeroConcentrated

__all__ = ["AT_LIMIT_SHARE", "SeriesTerms"]


AT_LIMIT_SHARE = Fraction(1, 20)
"""What part of the price of a series about people pays for the number of people at the limit."""
_FORM = 1


@dataclass(frozen=True)
class SeriesTerms:
    """What was fixed when a series began."""

    sql: str
    """The question."""
    policy: Table
    """The policy of its table on that day, with the quota of the series as ``rows_per_unit``."""
    domain: str
    """Whose rows they are."""
    periods: tuple[Period, ...]
    """The periods that it is about, in order."""
    price: Pure | ZeroConcentrated
    """What it costs: once, or for each period."""
    delta: Fraction
    """The probability that a key of one person alone is shown, in each period; series about people have none."""
    readers: tuple[str, ...]
    """Which analysts may read it."""
    analyst: str | None
    """Who subscribed."""
    laws: str = ""
    """The grids and laws of noise of its plan, in the words of records."""

    @property
    def is_once(self) -> bool:
        """Whether it is one mechanism that is paid once, because a person is in all periods."""
        return not self.policy.is_by_period

    @property
    def table(self) -> str:
        """The table that it is about."""
        return self.policy.name

    @cached_property
    def text(self) -> bytes:
        """The same as the ledger keeps it."""
        first = self.periods[0].name
        price = as_json(self.price)
        told: dict[str, Any] = {"series": _FORM, "sql": self.sql, "policy": dumps(self.policy), "domain": self.domain}
        told |= {"first": first, "periods": len(self.periods), "price": price["exact"], "unit": price["unit"]}
        told |= {"delta": str(self.delta), "readers": list(self.readers), "analyst": self.analyst, "laws": self.laws}
        return canonical(told)

    @cached_property
    def digest(self) -> bytes:
        """The hash of that text."""
        return hashlib.sha256(self.text).digest()

    @property
    def id(self) -> str:
        """What the series is called."""
        return self.digest.hex()[:16]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> SeriesTerms:
        """What the ledger keeps, read again."""
        if told.get("series") != _FORM:
            raise StoreError("a series must be of a form that this version knows", None, "use a newer one")
        policy = loads(told["policy"])
        price = from_json({"unit": told["unit"], "exact": told["price"]})
        periods = list_periods(policy, told["first"], told["periods"])
        who = tuple(told["readers"]), told["analyst"]
        return cls(told["sql"], policy, told["domain"], periods, price, Fraction(told["delta"]), *who, told["laws"])

    def with_laws(self, laws: str) -> SeriesTerms:
        """The same with the laws of its plan."""
        return replace(self, laws=laws)


def list_periods(policy: Table, first: str, count: int) -> tuple[Period, ...]:
    """So many periods of a table, from one on."""
    if policy.time is None:
        raise AssertionError("a series is about a table that grows")
    found = [policy.time.named(first)]
    while len(found) < count:
        found.append(policy.time.after(found[-1]))
    return tuple(found)
