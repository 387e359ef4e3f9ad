"""What a service says about prices, budgets and past questions, as the objects that a local curator returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from discreet.curator.amount import from_json
from discreet.curator.curator import Explanation
from discreet.curator.remaining import Balances
from discreet.exact.rational import rational
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import ExpectedError

__all__ = ["Asked", "asked", "budget", "explanation", "objects"]


@dataclass(frozen=True)
class Asked:
    """A question that was asked before."""

    request: str
    """The id that serves its answer again, for free."""
    sql: str
    """The question."""
    state: str
    """accepted, answered or refused."""
    price: Pure | ZeroConcentrated | None
    """What it costs; None for public tables alone."""
    made: datetime
    """When it was asked."""


def explanation(said: Mapping[str, Any]) -> Explanation:
    """An explanation, its prices exact."""
    return Explanation(
        price=_price(said["price"]),
        affordable=_of(bool, said["affordable"]),
        groups=None if said["groups"] is None else _of(int, said["groups"]),
        errors=tuple(ExpectedError(_of(str, one["column"]), _number(one["within"])) for one in said["errors"]),
        shares=tuple((_of(str, one["part"]), from_json(one["price"])) for one in said["shares"]),
        notes=tuple(_of(str, note) for note in said["notes"]),
        epsilon=None if said["epsilon"] is None else _exact(said["epsilon"]),
        accounts=tuple(_of(str, account) for account in said["accounts"]),
        is_known=_of(bool, said["asked_before"]),
    )


def budget(said: list[Any]) -> Balances:
    """Balances by account, in the shape of a local curator's."""
    return Balances({_of(str, one["account"]): _balance(one) for one in _of(list, said)})


def asked(said: Mapping[str, Any]) -> Asked:
    """A past question."""
    request, sql, state = (_of(str, said[name]) for name in ("request", "sql", "state"))
    return Asked(request, sql, state, _price(said["price"]), datetime.fromisoformat(said["made"]))


def objects(said: Any) -> list[dict[str, Any]]:
    """A list of objects, as it is."""
    return [_of(dict, one) for one in _of(list, said)]


def _balance(one: Mapping[str, Any]) -> dict[str, Any]:
    sums = {name: from_json(one[name]) for name in ("cap", "spent", "left")}
    deltas = {name: _exact(one[name]) for name in ("delta_cap", "delta_spent", "delta_left") if one[name] is not None}
    return {**sums, "more": None if one["more"] is None else _of(int, one["more"]), **deltas}


def _price(said: Any) -> Pure | ZeroConcentrated | None:
    return None if said is None else from_json(said)


def _number(said: Any) -> float | None:
    return None if said is None else float(_of(float, float(said) if type(said) is int else said))


def _exact(said: Any) -> Fraction:
    return rational(_of(str, said))


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(kind)
    return value
