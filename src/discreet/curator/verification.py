"""Can the ledger be believed? Replay it from the first record and compare with everything that is stored beside it.

It fails when a byte was flipped, a record deleted, reordered or cut off, when the accounts or answers disagree with the
records, and when an older copy of the file was put back (the witness remembers).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from discreet.books.book import Database
from discreet.curator.chain import GENESIS, link
from discreet.curator.index_key import index_key
from discreet.curator.ledger import Ledger, publication_id
from discreet.curator.spending import total
from discreet.curator.witness import Witness
from discreet.errors import DiscreetError

__all__ = ["Verification", "verify"]


@dataclass
class Verification:
    """What a check of a ledger found."""

    entries: int = 0
    """Records that were replayed."""
    head: bytes = GENESIS
    """Hash of the last one."""
    problems: list[str] = field(default_factory=list)
    """What is wrong, in plain words; empty when the ledger can be believed."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(folder: Path) -> Verification:
    """Check the ledger of ``folder`` as a whole."""
    result = Verification()
    try:
        ledger = Ledger(folder)
        try:
            _check(ledger, result)
        finally:
            ledger.close()
    except DiscreetError as refusal:
        result.problems.append(str(refusal))
    except (apsw.Error, OSError, ValueError, KeyError, TypeError) as fault:
        result.problems.append(f"the ledger cannot be read: {type(fault).__name__}")
    return result


def _check(ledger: Ledger, result: Verification) -> None:
    attested = _attested(ledger.witness.path)  # before the records, which by then hold whatever was attested
    with ledger.book.reading() as database:  # one moment of the ledger, whoever writes meanwhile
        _check_moment(ledger, database, attested, result)


def _attested(own: Path) -> list[tuple[int, bytes]]:
    """What this host's witness saw, and those of the others that share the folder."""
    found = {own, *own.parent.glob("ledger.witness.*")} if own.name != "ledger.witness" else {own}
    return [one for path in sorted(found) for one in Witness(path).attested().items()]


def _check_moment(ledger: Ledger, database: Database, attested: list[tuple[int, bytes]], result: Verification) -> None:
    damage = ledger.book.damage()
    if damage is not None:
        result.problems.append(damage)
    replay = _Replay()
    hashes = {0: GENESIS}
    for position, body, digest in database.execute("SELECT position, body, hash FROM entry ORDER BY position"):
        if position != result.entries + 1:
            result.problems.append(f"record {result.entries + 1} is missing")
        if link(result.head, bytes(body)) != digest:
            result.problems.append(f"record {position} does not follow from the one before it")
        result.entries, result.head = position, digest
        hashes[position] = digest
        replay.apply(position, json.loads(body))
    result.problems += [*replay.problems, *replay.differences(ledger, database)]
    result.problems += _rolled_back(attested, hashes)


def _rolled_back(attested: list[tuple[int, bytes]], hashes: dict[int, bytes]) -> list[str]:
    found = [f"record {p} is not the one the witness saw" for p, head in attested if hashes.get(p) != head]
    return found if attested else ["the witness is empty"]


class _Replay:
    """Accounts and requests as the records alone describe them."""

    def __init__(self) -> None:
        self._measures: dict[str, str] = {}
        self._accounts: dict[str, list[int]] = {}
        self._apart: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
        self._requests: dict[str, dict[str, Any]] = defaultdict(dict)
        self.problems: list[str] = []
        self._kinds = {"start": self._nothing, "account": self._account, "cap": self._cap, "analyst": self._nothing}
        self._kinds |= {"charge": self._charge, "answer": self._answer, "publication": self._publication}

    def apply(self, position: int, record: dict[str, Any]) -> None:
        read = self._kinds.get(record["kind"])
        if read is None:
            self.problems.append(f"record {position} is of a kind that this version does not know")
        else:
            read(position, record)

    def _nothing(self, position: int, record: dict[str, Any]) -> None:
        """Records that are there to be read, and move nothing."""

    def _account(self, position: int, record: dict[str, Any]) -> None:
        self._measures[record["name"]] = record["measure"]
        self._accounts[record["name"]] = [record["cap"], record["delta_cap"], record["places"], 0, 0]

    def _cap(self, position: int, record: dict[str, Any]) -> None:
        name = record["name"]
        account = self._accounts[name]
        account[0], account[1] = record["cap"], record["delta_cap"]
        is_spent = self._spent(name) > account[0] or account[4] > account[1]
        if is_spent or "/" not in name:
            self.problems.append(f"record {position} changes a cap that it must not")

    def _charge(self, position: int, record: dict[str, Any]) -> None:
        for name, (loss, delta) in record["prices"].items():
            self._accounts[name][3] += loss
            self._accounts[name][4] += delta
        for name, portions in record.get("portions", {}).items():
            for part, key, loss in portions:
                self._apart[name][index_key(part)][index_key(key)] += loss
        self._requests[index_key(record["request"])] |= {"charge": position, "body": record["body"]}

    def _answer(self, position: int, record: dict[str, Any]) -> None:
        self._requests[index_key(record["request"])] |= {"answer": position, "digest": record["answer"]}

    def _publication(self, position: int, record: dict[str, Any]) -> None:
        is_one = record["request"] == publication_id(record["name"], record["sha256"])
        if (
            record["loss"] != "infinite"
            or not record["approved_by"]
            or not is_one
            or record["request"] in self._requests
        ):
            self.problems.append(f"record {position} is not a publication as they are recorded")
        self._requests[record["request"]] |= {"charge": position, "body": record["body"]}

    def _spent(self, name: str) -> int:
        _, _, places, common, _ = self._accounts[name]
        return total(common, self._apart[name], places)

    def differences(self, ledger: Ledger, database: Database) -> list[str]:
        return [*self._account_differences(ledger, database), *self._request_differences(database)]

    def _account_differences(self, ledger: Ledger, database: Database) -> list[str]:
        stored = {
            name: [a.allowance.measure.value, a.allowance.cap, a.allowance.delta_cap, a.places, a.spent, a.delta_spent]
            for name, a in ledger.accounts().items()
        }
        replayed = {
            name: [self._measures[name], cap, delta_cap, places, self._spent(name), delta]
            for name, (cap, delta_cap, places, _, delta) in self._accounts.items()
        }
        names = stored.keys() | replayed.keys()
        found = [f"account {n} is not what the records say" for n in sorted(names) if stored.get(n) != replayed.get(n)]
        rows: Counter[tuple[str, str, str]] = Counter()
        for name, part, key, spent in database.execute("SELECT account, part, key, spent FROM portion"):
            rows[name, index_key(part), index_key(key)] += spent
        apart = {
            (n, part, key): loss
            for n, parts in self._apart.items()
            for part, k in parts.items()
            for key, loss in k.items()
        }
        if dict(rows) != apart:
            found.append("the portions are not what the records say")
        return found

    def _request_differences(self, database: Database) -> list[str]:
        rows = database.execute("SELECT id, body_hash, charge, answer, bytes FROM request")
        found, seen = [], set()
        for name, body, charge, answer, data in rows:
            request = index_key(name)
            seen.add(request)
            known = self._requests.get(request, {})
            digest = None if data is None else hashlib.sha256(data).hexdigest()
            stored = (body.hex(), charge, answer, digest)
            if stored != (known.get("body"), known.get("charge"), known.get("answer"), known.get("digest")):
                found.append(f"request {request} is not what the records say")
        return found + [f"request {request} is missing" for request in self._requests.keys() - seen]
