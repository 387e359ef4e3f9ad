"""A curator behind a service: the questions of a local one, with the same answers, prices and refusals.

What the service says about prices, budgets and past questions comes as the objects that a local curator returns.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from discreet.catalog.period import Period
from discreet.client.connection import Connection, checked_address, understood
from discreet.client.remote_periods import as_file, read_appended, read_period, read_period_state
from discreet.curator.answers.answer import Answer
from discreet.curator.answers.arrow import answer_from_arrow
from discreet.curator.balances import Balances
from discreet.curator.curator import Explanation
from discreet.curator.ledger.units import from_json
from discreet.curator.periods import PeriodState
from discreet.curator.question_terms import NoiseOption
from discreet.engines.duckdb.growing import Appended
from discreet.errors import InvalidType, InvalidValue, NotSignedIn
from discreet.exact.rational import Number, positive, rational
from discreet.http.bodies import check_request_id
from discreet.http.problems import choose_fault
from discreet.noise.law import open_probability
from discreet.noise.source import fresh_id
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.parse.clock import AsOf, AsOfStated
from discreet.query.question import ExpectedError
from discreet.time_limits import CLIENT_WAIT

__all__ = ["PastQuestion", "RemoteCurator", "asked", "budget", "connect", "explanation", "objects"]


@dataclass(frozen=True)
class PastQuestion:
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
        options=tuple(_option(one) for one in said["options"]),
        as_of=None if said["as_of"] is None else _of(str, said["as_of"]),
    )


def _option(said: Mapping[str, Any]) -> NoiseOption:
    errors = tuple(ExpectedError(_of(str, one["column"]), _number(one["within"])) for one in said["errors"])
    return NoiseOption(_of(str, said["noise"]), from_json(said["price"]), errors, _of(bool, said["affordable"]))


def budget(said: list[Any]) -> Balances:
    """Balances by account, in the shape of a local curator's."""
    return Balances({_of(str, one["account"]): _balance(one) for one in _of(list, said)})


def asked(said: Mapping[str, Any]) -> PastQuestion:
    """A past question."""
    request, sql, state = (_of(str, said[name]) for name in ("request", "sql", "state"))
    return PastQuestion(request, sql, state, _price(said["price"]), datetime.fromisoformat(said["made"]))


def objects(said: Any) -> list[dict[str, Any]]:
    """A list of objects, as it is."""
    return [_of(dict, one) for one in _of(list, said)]


def _balance(one: Mapping[str, Any]) -> dict[str, Any]:
    sums = {name: None if one[name] is None else from_json(one[name]) for name in ("cap", "spent", "left")}
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


_ARROW = "application/vnd.apache.arrow.stream"
_PAUSE = 0.1
_PAGE = 500
"""How many of a list are fetched at once."""
_LATER = 202
_TOKEN = re.compile(r"[!-~]{1,1000}\Z")


def connect(
    url: str,
    token: str | None = None,
    *,
    verify: str | os.PathLike[str] | ssl.SSLContext | bool = True,
    insecure: bool = False,
    patience: float = 60.0,
) -> RemoteCurator:
    """The curator that a service stands for, in the name of a token, or of the variable DISCREET_TOKEN.

    ``verify`` names a file of certificates where the service's is of a private authority. ``insecure`` lets the token
    travel over plain http to another computer, or to a service whose certificate is not verified. ``patience`` is for
    how many seconds a service that does not answer is tried again.
    """
    address = checked_address(url, insecure=insecure)
    return RemoteCurator(
        Connection(address, _token(token), verify=_verify(verify, insecure), patience=patience, wait=CLIENT_WAIT)
    )


def _token(given: str | None) -> str:
    found = os.environ.get("DISCREET_TOKEN", "") if given is None else given
    if not found:
        raise NotSignedIn("a service must be shown a token", "<none>", "pass token=, or set DISCREET_TOKEN")
    if not _TOKEN.match(str(found)):
        raise InvalidValue("a token is one word of plain characters", "<another>", "copy it whole")
    return found


def _verify(verify: str | os.PathLike[str] | ssl.SSLContext | bool, insecure: bool) -> ssl.SSLContext | bool:
    if isinstance(verify, (bool, ssl.SSLContext)):
        if verify is False and not insecure:
            rule = "the certificate of a service must be verified"
            raise InvalidValue(rule, False, "name the file of a private authority, or pass insecure=True as well")
        return verify
    try:
        return ssl.create_default_context(cafile=os.fspath(verify))
    except (OSError, TypeError):
        raise InvalidValue("verify names a file of certificates that can be read", verify) from None


class RemoteCurator:
    """A curator on another computer; who asks is who the token stands for."""

    def __init__(self, connection: Connection) -> None:
        """Through a connection; `connect` makes one."""
        self._connection = connection

    def explain(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        part: Number | None = None,
        as_of: AsOfStated | None = None,
        confidence: Number = 0.95,
    ) -> Explanation:
        """Price, shape and expected error of a question, by its price, its error, or a part of the budget.

        It reads no data and is free.
        """
        body = _ask_request(sql, epsilon, within, part, confidence, as_of)
        return understood(explanation, self._connection.send("POST", "/explain", body=body).json())

    def ask(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        part: Number | None = None,
        as_of: AsOfStated | None = None,
        confidence: Number = 0.95,
        request: str | None = None,
        raw: bool = False,
    ) -> Answer:
        """The private answer, however long it takes. Asked again with the same ``request``, it is the same and free.

        Where connections get lost, the same request is sent again. What is raised in the end names its id.
        """
        named = fresh_id() if request is None else check_request_id(request)
        body = {**_ask_request(sql, epsilon, within, part, confidence, as_of), "raw": raw, "request": named}
        accept = f"{_ARROW}, application/json;q=0.1"
        reply = self._connection.send(
            "POST", "/ask", body=body, params={"wait": CLIENT_WAIT}, accept=accept, request=named
        )
        return self._finished(named) if reply.status == _LATER else understood(answer_from_arrow, reply.data)

    def _finished(self, request: str) -> Answer:
        """The answer to a question that takes longer than a request may."""
        while True:
            reply = self._connection.send("GET", f"/jobs/{request}", params={"wait": CLIENT_WAIT}, request=request)
            state, problem = understood(lambda said: (said["state"], said["problem"]), reply.json())
            if state == "refused":
                raise understood(choose_fault, problem)
            if state == "answered":
                return self.answer(request)
            time.sleep(_PAUSE)

    def answer(self, request: str) -> Answer:
        """The answer to a question that was asked before, for free."""
        reply = self._connection.send("GET", f"/answers/{check_request_id(request)}", accept=_ARROW, request=request)
        return understood(answer_from_arrow, reply.data)

    def answers(self, limit: int = 50, *, before: str | None = None) -> list[PastQuestion]:
        """What was asked in this name, newest first; ``before`` is the id of the last one that was seen."""
        said = self._pages("/answers", "request", {}, before=before, most=limit)
        return [understood(asked, one) for one in said]

    def _pages(
        self, path: str, key: str, params: dict[str, Any], *, most: int | None = None, **seen: Any
    ) -> list[dict[str, Any]]:
        """Whatever is listed at a path, page by page, ``most`` of it at most.

        The field ``key`` of the last one says where the next page begins; ``seen`` names that parameter, and where the
        first page does.
        """
        (cursor, last), found = next(iter(seen.items())), list[dict[str, Any]]()
        while True:
            limit = _PAGE if most is None else min(_PAGE, most - len(found))
            said = self._connection.send("GET", path, params={**params, "limit": limit, cursor: last}).json()
            part = understood(objects, said)
            found += part
            if len(part) < limit or len(found) == most:
                return found
            last = understood(lambda one: one[key], part[-1])

    def certificate(self, request: str) -> dict[str, Any]:
        """The signed certificate of an answer."""
        reply = self._connection.send("GET", f"/answers/{check_request_id(request)}/certificate")
        return understood(lambda said: objects([said])[0], reply.json())

    def budget(self) -> Balances:
        """Per account: what was granted, spent and left, and how many more questions like the last one that is."""
        return understood(budget, self._pages("/budget", "account", {}, after=None))

    def tables(self) -> list[dict[str, Any]]:
        """The tables that may be asked about, with what is public about them."""
        return self._pages("/tables", "name", {}, after=None)

    def ledger(self, most: int = 100, *, before: int | None = None) -> list[dict[str, Any]]:
        """The records of the ledger that may be read in this name, newest first; ``before`` a position."""
        return self._pages("/ledger", "position", {}, before=before, most=most)

    def append(self, table: str, source: Any, *, id: str | None = None) -> Appended:  # noqa: A002  as owners say it
        """Take more rows into a table that grows; for owners and feeders, who alone hear what became of them.

        ``source`` is the path of a file, or a table in memory. The same rows under the same ``id`` again change
        nothing, also where the connection was lost in between.
        """
        name, opened = as_file(source)
        params = {"file": name, "id": fresh_id() if id is None else id}
        reply = self._connection.send("POST", f"{_table(table)}/rows", file=opened, params=params, request=params["id"])
        return understood(read_appended, reply.json())

    def close(self, table: str | None = None, *, through: str | None = None) -> list[Period]:
        """Close the periods of a table up to one; for owners. Without a table, let go of connections.

        Returns the periods that were closed now.
        """
        if table is None and through is None:
            self._connection.close()
            return []
        if table is None or through is None:
            raise InvalidValue("a table is closed through a period", through or "<none>", 'through="2026-W07"')
        reply = self._connection.send("POST", f"{_table(table)}/periods/{quote(through, safe='')}/close")
        return understood(lambda said: [read_period(one) for one in said["periods"]], reply.json())

    def periods(self, table: str) -> list[PeriodState]:
        """The periods of a table that grows, and what is left of each in this name."""
        said = self._pages(f"{_table(table)}/periods", "name", {}, after=None)
        return [understood(read_period_state, one) for one in said]

    def forget(self, table: str, unit_value: object) -> None:
        """Have all rows of a person removed at the next close; for owners."""
        unit = unit_value if type(unit_value) is int else str(unit_value)
        self._connection.send("DELETE", f"{_table(table)}/units", body={"unit": unit})

    def suspensions(self, *, lifted: bool = False) -> list[dict[str, Any]]:
        """Who is suspended because a question failed, or all who ever were; for owners and auditors."""
        return self._pages("/suspensions", "record", {"lifted": lifted}, after=None)

    def lift(self, record: int, because: str) -> dict[str, Any]:
        """Let who is suspended by a record of the ledger ask again; for owners."""
        reply = self._connection.send("POST", f"/suspensions/{int(record)}/lift", body={"because": because})
        return understood(lambda said: objects([said])[0], reply.json())

    def __repr__(self) -> str:
        return f"RemoteCurator({self._connection.address!r})"


def _table(name: str) -> str:
    return f"/tables/{quote(name, safe='')}"


def _ask_request(
    sql: str,
    epsilon: Number | None,
    within: Number | None,
    part: Number | None,
    confidence: Number,
    as_of: AsOfStated | None = None,
) -> dict[str, Any]:
    """A question as the service reads it; numbers travel as exact texts."""
    if not isinstance(sql, str):
        raise InvalidType("a question must be text", sql)
    numbers = {
        "epsilon": None if epsilon is None else positive(epsilon, "epsilon"),
        "within": None if within is None else positive(within, "the wanted error"),
        "part": None if part is None else positive(part, "part"),
        "confidence": open_probability(confidence, "confidence"),
    }
    moment = {} if as_of is None else {"as_of": str(AsOf.of(as_of))}
    return {"sql": sql, **{name: str(number) for name, number in numbers.items() if number is not None}, **moment}
