"""A curator behind a service: the questions of a local one, with the same answers, prices and refusals."""

from __future__ import annotations

import os
import re
import ssl
import time
from typing import Any

from discreet.client.address import checked_address
from discreet.client.connection import Connection, understood
from discreet.client.received import Asked, asked, budget, explanation, objects
from discreet.curator.answer import Answer
from discreet.curator.answer_arrow import answer_from_arrow
from discreet.curator.curator import Explanation
from discreet.curator.remaining import Balances
from discreet.errors import InvalidType, InvalidValue, NotSignedIn
from discreet.exact.rational import Number, positive
from discreet.noise.law import open_probability
from discreet.noise.source import fresh_id
from discreet.web.kinds import fault_of
from discreet.web.request_id import checked_request_id

__all__ = ["RemoteCurator", "connect"]

_ARROW = "application/vnd.apache.arrow.stream"
_WAIT = 25.0
"""Seconds that the service may hold a request before it says that it takes longer; proxies cut off after 30 or 60."""
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
        Connection(address, _token(token), verify=_verified(verify, insecure), patience=patience, wait=_WAIT)
    )


def _token(given: str | None) -> str:
    found = os.environ.get("DISCREET_TOKEN", "") if given is None else given
    if not found:
        raise NotSignedIn("a service must be shown a token", "<none>", "pass token=, or set DISCREET_TOKEN")
    if not _TOKEN.match(str(found)):
        raise InvalidValue("a token is one word of plain characters", "<another>", "copy it whole")
    return found


def _verified(verify: str | os.PathLike[str] | ssl.SSLContext | bool, insecure: bool) -> ssl.SSLContext | bool:
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
    """The door of a curator on another computer; who asks is who the token stands for."""

    def __init__(self, connection: Connection) -> None:
        """Through a connection; `connect` makes one."""
        self._connection = connection

    def explain(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        confidence: Number = 0.95,
    ) -> Explanation:
        """Price, shape and expected error of a question, by its price or by its error; reads no data and is free."""
        body = _wish(sql, epsilon, within, confidence)
        return understood(explanation, self._connection.send("POST", "/explain", body=body).json())

    def ask(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        confidence: Number = 0.95,
        request: str | None = None,
        raw: bool = False,
    ) -> Answer:
        """The private answer, however long it takes. Asked again with the same ``request``, it is the same and free.

        Where connections get lost, the same request is sent again. What is raised in the end names its id.
        """
        named = fresh_id() if request is None else checked_request_id(request)
        body = {**_wish(sql, epsilon, within, confidence), "raw": raw, "request": named}
        accept = f"{_ARROW}, application/json;q=0.1"
        reply = self._connection.send("POST", "/ask", body=body, params={"wait": _WAIT}, accept=accept, request=named)
        return self._finished(named) if reply.status == _LATER else understood(answer_from_arrow, reply.data)

    def _finished(self, request: str) -> Answer:
        """The answer to a question that takes longer than a request may."""
        while True:
            reply = self._connection.send("GET", f"/jobs/{request}", params={"wait": _WAIT}, request=request)
            state, problem = understood(lambda said: (said["state"], said["problem"]), reply.json())
            if state == "refused":
                raise understood(fault_of, problem)
            if state == "answered":
                return self.answer(request)
            time.sleep(_PAUSE)

    def answer(self, request: str) -> Answer:
        """The answer to a question that was asked before, for free."""
        reply = self._connection.send("GET", f"/answers/{checked_request_id(request)}", accept=_ARROW, request=request)
        return understood(answer_from_arrow, reply.data)

    def answers(self, limit: int = 50, *, before: str | None = None) -> list[Asked]:
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
        reply = self._connection.send("GET", f"/answers/{checked_request_id(request)}/certificate")
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

    def suspensions(self, *, lifted: bool = False) -> list[dict[str, Any]]:
        """Who is suspended because a question failed, or all who ever were; for owners and auditors."""
        return self._pages("/suspensions", "record", {"lifted": lifted}, after=None)

    def lift(self, record: int, because: str) -> dict[str, Any]:
        """Let who is suspended by a record of the ledger ask again; for owners."""
        reply = self._connection.send("POST", f"/suspensions/{int(record)}/lift", body={"because": because})
        return understood(lambda said: objects([said])[0], reply.json())

    def close(self) -> None:
        """Let go of connections."""
        self._connection.close()

    def __repr__(self) -> str:
        return f"RemoteCurator({self._connection.address!r})"


def _wish(sql: str, epsilon: Number | None, within: Number | None, confidence: Number) -> dict[str, Any]:
    """A question as the service reads it; numbers travel as exact texts."""
    if not isinstance(sql, str):
        raise InvalidType("a question must be text", sql)
    numbers = {
        "epsilon": None if epsilon is None else positive(epsilon, "epsilon"),
        "within": None if within is None else positive(within, "the wanted error"),
        "confidence": open_probability(confidence, "confidence"),
    }
    return {"sql": sql, **{name: str(number) for name, number in numbers.items() if number is not None}}
