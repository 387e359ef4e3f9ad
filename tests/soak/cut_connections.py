"""Remote askers, proxies that cut their connections at random, and two servers on one folder that are killed at random.

Whoever got an answer asks for it once more at the other server. The same answer must come, and the ledger must have
charged each question once.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import discreet
from discreet.curator.answers.answer import Answer
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from tests.client.forwarding import Forwarder, forwarding
from tests.service.hospital import Hospital, founded
from tests.service.served import free_port, served

__all__ = ["ask_through_cuts"]

PRICE = Fraction(1, 1000)
MEMBERS = ("ana", "ben", "owner")
CUTS = (0, 50, 900, 3000, 10**6)
"""After how many bytes an answer may be cut."""


def ask_through_cuts(folder: Path, questions: int, kills: int, tick: Callable[[], None]) -> str:
    """Ask, cut and kill; what was found."""
    hospital = founded(folder / "hospital")
    ports, done = (free_port(), free_port()), threading.Event()
    servers = [threading.Thread(target=_keep_killing, args=(hospital, port, kills, done)) for port in ports]
    with ExitStack() as stack:
        proxies = [stack.enter_context(forwarding(port, [])) for port in ports]
        for server in servers:
            server.start()
        try:
            found = _asked_twice(hospital, proxies, questions, tick)
        finally:
            done.set()
            for server in servers:
                server.join()
    assert verify(hospital.folder).is_sound
    return found


def _keep_killing(hospital: Hospital, port: int, kills: int, done: threading.Event) -> None:
    """A server that is killed and started again, until everything is answered."""
    for _ in range(kills):
        with served(hospital, port):
            done.wait(random.uniform(1, 6))
        if done.is_set():
            return
    with served(hospital, port):
        done.wait()


def _asked_twice(hospital: Hospital, proxies: list[Forwarder], questions: int, tick: Callable[[], None]) -> str:
    def ask(number: int, proxy: Forwarder) -> Answer:
        curator = discreet.connect(proxy.url, hospital.tokens[MEMBERS[number % 3]], patience=300)
        proxy.cuts.append(random.choice(CUTS))
        sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE age > -{number + 1} GROUP BY ward"
        answer = curator.ask(sql, PRICE, request=f"r{number}")
        tick()
        return answer

    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(lambda number: ask(number, proxies[number % 2]), range(questions)))
        again = list(pool.map(lambda number: ask(number, proxies[(number + 1) % 2]), range(questions)))
    assert first == again
    spent = Curator(hospital.folder).budget()["visits"]["spent"].epsilon
    assert spent == questions * PRICE, f"charged {spent}"
    more = sum(proxy.connections for proxy in proxies) - 2 * questions
    return f"{questions} questions charged once, {more} connections lost"
