"""A crowd of analysts: each explains and asks over HTTP, thinks in between, and sends again what a crash cut off.

A request keeps its id until it is answered or refused. What came back is remembered, so that afterwards every answer
can be asked for again and every price can be added up.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import httpx

from discreet.curator.answers.arrow import answer_from_arrow
from tests.trusted import trusted

__all__ = ["Answered", "Crowd", "Seen", "ask_again", "at_work"]

ARROW = "application/vnd.apache.arrow.stream"
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds until a request that was cut off is sent again; the last goes on."""
_PATIENCE = 150
"""Tries after which a server is taken to be gone for good."""
_WAIT = 30
_TEMPLATES = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE age > {age}",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE age > {age} GROUP BY ward",
    "SELECT AVG(age) AS age FROM visits WHERE cost > {cost}",
    "SELECT ward, SUM(cost) AS cost FROM visits WHERE age < {age} GROUP BY ward ORDER BY cost DESC",
    "SELECT ward, COUNT(*) AS n, AVG(age) AS age, SUM(cost) AS cost FROM visits WHERE cost < {cost} GROUP BY ward",
    "SELECT MEDIAN(cost) AS cost FROM visits WHERE age = {age}",
    "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits WHERE cost > {cost} GROUP BY decade",
    "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits WHERE age > {age} GROUP BY month",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > {cost} ORDER BY n DESC LIMIT 3",
    "SELECT n / SUM(n) OVER () AS share FROM (SELECT ward, COUNT(*) AS n FROM visits WHERE age > {age} GROUP BY ward)",
)  # fmt: skip


@dataclass(frozen=True)
class Crowd:
    """How a crowd behaves."""

    price: str
    """The ε of a question that is asked."""
    seconds: float = math.inf
    """How long they go on, at most."""
    requests: float = math.inf
    """How many requests each of them sends, at most."""
    think: float = 1.0
    """Seconds between a response and the next request, on average; how long varies as among people."""
    asks: float = 0.25
    """The part of the requests that ask; the others explain."""


@dataclass(frozen=True)
class Answered:
    """An answer that an analyst got."""

    member: str
    token: str
    body: dict[str, Any]
    """The request that was sent, with its id."""
    digest: str
    """Of the bytes that came back."""
    charge: int | None
    """Where the ledger has the charge for it."""
    price: Fraction


@dataclass
class Seen:
    """What a part of the crowd saw."""

    statuses: dict[str, int] = field(default_factory=dict)
    """How often each kind of request got each status."""
    explains: list[float] = field(default_factory=list)
    """Seconds that explaining took, where no crash came between."""
    asks: list[float] = field(default_factory=list)
    """Seconds until an answer, likewise."""
    cut_off: int = 0
    """How often a connection was refused or lost."""
    answers: list[Answered] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """Whatever should never come back."""

    def add(self, other: Seen) -> None:
        """Put together what two parts saw."""
        for name, count in other.statuses.items():
            self.statuses[name] = self.statuses.get(name, 0) + count
        self.explains += other.explains
        self.asks += other.asks
        self.cut_off += other.cut_off
        self.answers += other.answers
        self.faults += other.faults

    @property
    def requests(self) -> int:
        """How many requests got a response."""
        return sum(self.statuses.values())


@contextmanager
def at_work(crowd: Crowd, address: str, tokens: dict[str, str], processes: int) -> Iterator[list[Future[Seen]]]:
    """The crowd at work, in processes of its own, until each of them returns what it saw."""
    members = list(tokens.items())
    parts = [dict(members[k::processes]) for k in range(processes)]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield [pool.submit(_part, crowd, address, part) for part in parts]


def ask_again(address: str, answers: Iterable[Answered]) -> list[str]:
    """Send every answered request once more; what comes back differently."""
    wrong = []
    with httpx.Client(base_url=f"{address}/api/v1", timeout=_WAIT) as client:
        for one in answers:
            headers = {"Authorization": f"Bearer {one.token}", "Accept": ARROW}
            sent = client.post("/ask", json=one.body, headers=headers)
            kept = client.get(f"/answers/{one.body['request']}", headers=headers)
            if {_digest(sent.content), _digest(kept.content)} != {one.digest}:
                wrong.append(f"{one.member} {one.body}: {sent.status_code}, {kept.status_code}")
    return wrong


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _part(crowd: Crowd, address: str, tokens: dict[str, str]) -> Seen:
    return asyncio.run(_together(crowd, address, tokens))


async def _together(crowd: Crowd, address: str, tokens: dict[str, str]) -> Seen:
    seen = Seen()
    analysts = [_Analyst(crowd, address, member, token, seen) for member, token in tokens.items()]
    await asyncio.gather(*(analyst.work() for analyst in analysts))
    return seen


class _Analyst:
    """One analyst, with a connection of their own."""

    def __init__(self, crowd: Crowd, address: str, member: str, token: str, seen: Seen) -> None:
        self._crowd, self._member, self._token, self._seen = crowd, member, token, seen
        self._chance = random.Random(member)
        self._sends = 0
        headers = {"Authorization": f"Bearer {token}", "Accept": ARROW}
        base = f"{address}/api/v1"
        self._client = httpx.AsyncClient(base_url=base, headers=headers, timeout=2 * _WAIT, verify=trusted())

    async def work(self) -> None:
        end = time.monotonic() + self._crowd.seconds
        async with self._client:
            await asyncio.sleep(self._chance.uniform(0, self._crowd.think))
            while time.monotonic() < end and self._sends < self._crowd.requests:
                self._sends += 1
                await (self._ask() if self._chance.random() < self._crowd.asks else self._explain())
                await asyncio.sleep(self._chance.expovariate(1 / self._crowd.think))

    def _question(self) -> str:
        facts = {"age": self._chance.randrange(18, 90), "cost": self._chance.randrange(0, 4000, 10)}
        return self._chance.choice(_TEMPLATES).format(**facts)

    async def _explain(self) -> None:
        body = {"sql": self._question(), "epsilon": self._chance.choice(("0.1", "0.5", "1"))}
        response, seconds = await self._sent("POST", "/explain", json=body)
        self._count("explain", response, (200,))
        if seconds is not None:
            self._seen.explains.append(seconds)

    async def _ask(self) -> None:
        body = {"sql": self._question(), "epsilon": self._crowd.price, "request": f"question-{self._sends}"}
        response, seconds = await self._sent("POST", "/ask", json=body, params={"wait": _WAIT})
        self._count("ask", response, (200, 202, 402))
        while response.status_code == 202:
            await self._sent("GET", f"/jobs/{body['request']}", params={"wait": _WAIT})
            response, _ = await self._sent("POST", "/ask", json=body, params={"wait": _WAIT})
            seconds = None
        if response.status_code == 200:
            self._seen.answers.append(self._answered(body, response.content))
            if seconds is not None:
                self._seen.asks.append(seconds)

    def _answered(self, body: dict[str, Any], content: bytes) -> Answered:
        answer = answer_from_arrow(content)
        charge = answer.certificate["ledger"]["charge"]
        price = Fraction(answer.price.epsilon) if answer.price is not None else Fraction(0)  # type: ignore[attr-defined]
        return Answered(self._member, self._token, body, _digest(content), charge, price)

    async def _sent(self, method: str, path: str, **more: Any) -> tuple[httpx.Response, float | None]:
        """The response, however often it takes; and the seconds, where it took one try."""
        tries = 0
        while True:
            began = time.perf_counter()
            try:
                response = await self._client.request(method, path, **more)
            except httpx.TransportError:
                if tries == _PATIENCE:
                    raise
                self._seen.cut_off += 1
                await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
                tries += 1
            else:
                return response, None if tries else time.perf_counter() - began

    def _count(self, kind: str, response: httpx.Response, expected: tuple[int, ...]) -> None:
        name = f"{kind} {response.status_code}"
        self._seen.statuses[name] = self._seen.statuses.get(name, 0) + 1
        if response.status_code not in expected:
            self._seen.faults.append(f"{name}: {response.text[:300]}")
