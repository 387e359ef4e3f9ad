"""Pieces of work that write, and how to see afterwards that nothing was lost, wherever they were interrupted.

``act`` does the work from a prepared folder, tells what it released, and where it is refused because the disk is full,
frees it and goes on with what it holds open. ``check`` opens all of it again, redoes the work and compares.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import apsw
import pyarrow as pa

from discreet import Budget, Curator
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.ledger.ledger import Ledger, has_ledger
from discreet.curator.ledger.signing import Signer
from discreet.curator.ledger.units import Allowance, BudgetMeasure, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.curator.ledger.witness import Witness
from discreet.curator.ledger.witness_repair import repair_witness
from discreet.errors import DiscreetError
from discreet.privacy.loss import Pure
from discreet.storage.postgres import read_server, write_server
from discreet.survey.store import Outcome, SurveyStore
from discreet.survey.survey import Survey
from tests.soak.faults import Faults
from tests.soak.losses import Kind, Loss

__all__ = ["PEOPLE", "PRICE", "ROWS", "WORKS", "Work", "check_one_charge"]

PRICE = Fraction(1, 1000)
SQL = "SELECT COUNT(*) AS n FROM people WHERE id > 3"
PEOPLE = Table(
    "people", (Column("id", ColumnType.INTEGER),), unit="id", budget=Budget(1), analysts={"ana": Budget("0.5")}
)
ROWS = pa.table({"id": list(range(50))})
Tell = Callable[[str], None]
Result = TypeVar("Result")


class Work(ABC):
    """One piece of work."""

    @abstractmethod
    def prepare(self, folder: Path) -> None: ...

    @abstractmethod
    def act(self, folder: Path, faults: Faults, tell: Tell) -> None: ...

    @abstractmethod
    def check(self, folder: Path, told: Sequence[str]) -> None: ...


def _freed(faults: Faults, work: Callable[[], Result]) -> Result:
    """Do it; where the disk is full, free it and do it again."""
    try:
        return work()
    except (DiscreetError, OSError, apsw.Error):
        faults.free()
    try:
        return work()
    except (DiscreetError, OSError) as refusal:
        raise Loss(Kind.REFUSED, repr(refusal)) from refusal


def _opened(open_it: Callable[[], Result]) -> Result:
    try:
        return open_it()
    except Exception as refusal:
        raise Loss(Kind.CLOSED, repr(refusal)) from refusal


def _check_sound(folder: Path) -> None:
    found = verify(folder)
    if not found.is_sound:
        raise Loss(Kind.UNSOUND, "; ".join(found.problems))


def check_one_charge(ask: Callable[[], str], spent: Callable[[], Fraction], told: Sequence[str], price: Any) -> None:
    """What was released was charged, is charged once, and is the answer for ever."""
    before = spent()
    if told and before != price:
        raise Loss(Kind.FREE, f"spent {before}")
    try:
        again = ask()
    except (DiscreetError, OSError) as refusal:
        raise Loss(Kind.UNANSWERED, repr(refusal)) from refusal
    if any(released != again for released in told):
        raise Loss(Kind.CHANGED, f"{told} and {again}")
    if spent() != price or ask() != again or spent() != price:
        raise Loss(Kind.DOUBLE, f"spent {before}, then {spent()}")


class Founding(Work):
    """A curator from nothing: ledger, witness, key, policy, rows; then a question."""

    def prepare(self, folder: Path) -> None: ...

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        curator = _freed(faults, lambda: Curator(folder))
        _freed(faults, lambda: curator.protect(ROWS, PEOPLE))
        tell(_freed(faults, lambda: _answer(curator)))
        _close(curator.ledger)

    def check(self, folder: Path, told: Sequence[str]) -> None:
        curator = _opened(lambda: Curator(folder))
        if told and curator.catalog.find("people") is None:
            raise Loss(Kind.FORGOTTEN, "the policy")
        if curator.catalog.find("people") is None:
            _opened(lambda: curator.protect(ROWS, PEOPLE))
        check_one_charge(lambda: _answer(curator), lambda: _spent(curator), told, PRICE)
        curator.ledger.close()
        _check_sound(folder)
        _opened(lambda: Curator(folder))


class Asking(Work):
    """One question to a curator: charge, run, settle, attest."""

    def prepare(self, folder: Path) -> None:
        curator = Curator(folder)
        curator.protect(ROWS, PEOPLE)
        curator.ledger.close()

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        curator = _freed(faults, lambda: Curator(folder))
        tell(_freed(faults, lambda: _answer(curator)))
        _close(curator.ledger)

    def check(self, folder: Path, told: Sequence[str]) -> None:
        curator = _opened(lambda: Curator(folder))
        check_one_charge(lambda: _answer(curator), lambda: _spent(curator), told, PRICE)
        curator.ledger.close()
        _check_sound(folder)


class Allowing(Asking):
    """The owner lets another analyst ask, changes a cap, and forbids one: policies and records."""

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        curator = _freed(faults, lambda: Curator(folder))
        for step, do in enumerate(self._steps(curator)):
            _freed(faults, do)
            tell(str(step))
        _close(curator.ledger)

    @staticmethod
    def _steps(curator: Curator) -> list[Callable[[], object]]:
        return [
            lambda: curator.allow("people", "ben", Budget("0.25")),
            lambda: curator.allow("people", "ana", Budget("0.75")),
            lambda: curator.disallow("people", "ben"),
        ]

    def check(self, folder: Path, told: Sequence[str]) -> None:
        curator = _opened(lambda: Curator(folder))
        analysts = curator.catalog.table("people").analysts
        if len(told) == 3 and "ben" in analysts:
            raise Loss(Kind.FORGOTTEN, "that ben may not ask any more")
        if len(told) >= 2 and analysts["ana"] != Budget("0.75"):
            raise Loss(Kind.FORGOTTEN, "the cap")
        for do in self._steps(curator):
            _opened(do)
        super().check(folder, [])


class Charging(Work):
    """A charge and its answer in a ledger, without a curator around it."""

    _price = price_in_units(Pure(PRICE), BudgetMeasure.PURE)

    def prepare(self, folder: Path) -> None:
        ledger = Ledger.create(folder)
        ledger.open_account("visits", Allowance.of(Pure(1)))
        ledger.close()

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        ledger = _freed(faults, lambda: Ledger(folder))
        tell(_freed(faults, lambda: self._answer(ledger)))
        _close(ledger)

    def _answer(self, ledger: Ledger) -> str:
        receipt = ledger.charge("one", b"", {"visits": self._price}, {})
        answer = receipt.answer or ledger.settle("one", hashlib.sha256(str(id(receipt)).encode()).digest()).answer
        assert answer is not None
        return answer.hex()

    def check(self, folder: Path, told: Sequence[str]) -> None:
        _check_sound(folder)
        ledger = _opened(lambda: Ledger(folder))

        def spent() -> Any:
            return ledger.accounts()["visits"].spent

        check_one_charge(lambda: self._answer(ledger), spent, told, self._price.loss)
        ledger.close()
        _check_sound(folder)


class Creating(Charging):
    """A ledger from nothing, and its first charge."""

    def prepare(self, folder: Path) -> None: ...

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        ledger = _freed(faults, lambda: _ledger(folder))
        _freed(faults, lambda: _with_account(ledger))
        tell(_freed(faults, lambda: self._answer(ledger)))
        _close(ledger)

    def check(self, folder: Path, told: Sequence[str]) -> None:
        ledger = _opened(lambda: _ledger(folder))
        _with_account(ledger)
        ledger.close()
        super().check(folder, told)


class Mending(Charging):
    """The repair of a witness with a piece in it."""

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        ledger = Ledger(folder)
        self._answer(ledger)
        ledger.close()
        witness = folder / "ledger.witness"
        witness.write_bytes(b"7 abc" + witness.read_bytes())

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        _freed(faults, lambda: repair_witness(folder))
        tell("mended")

    def check(self, folder: Path, told: Sequence[str]) -> None:
        if told and verify(folder).problems:
            raise Loss(Kind.FORGOTTEN, "the repair")
        repair_witness(folder)
        super().check(folder, [])


class Surveying(Work):
    """A survey from nothing, more invitations, and a report."""

    _tokens = tuple(f"{letter}" * 43 for letter in "abc")

    def prepare(self, folder: Path) -> None: ...

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        store = _freed(faults, lambda: self._store(folder))
        tell("made")
        _freed(faults, lambda: _invited(store, self._tokens[2]))
        tell("invited")
        _freed(faults, lambda: store.take(self._tokens[0], b"report"))
        tell("taken")
        _close(store)

    def _store(self, folder: Path) -> SurveyStore:
        if (folder / "survey.db").exists():
            return SurveyStore(folder)
        return SurveyStore.create(folder, _survey(), "o" * 43, self._tokens[:2])

    def check(self, folder: Path, told: Sequence[str]) -> None:
        if told and not (folder / "survey.db").exists():
            raise Loss(Kind.FORGOTTEN, "the survey")
        store = _opened(lambda: self._store(folder))
        if "invited" in told and store.invited() != 3:
            raise Loss(Kind.FORGOTTEN, "invitations")
        if "taken" in told and not store.is_used(self._tokens[0]):
            raise Loss(Kind.FORGOTTEN, "a report")
        if store.take(self._tokens[0], b"report") not in (Outcome.STORED, Outcome.KNOWN):
            raise Loss(Kind.REFUSED, "the report")
        store.close()


class Joining(Work):
    """A witness that begins in the middle, as of a host that comes to a server's ledger."""

    def prepare(self, folder: Path) -> None: ...

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        _freed(faults, lambda: self._begun(folder))
        tell("begun")

    @staticmethod
    def _begun(folder: Path) -> Witness:
        witness = Witness(folder / "ledger.witness.host")
        if not witness.path.exists():
            witness.create(7, bytes(32))
        return witness

    def check(self, folder: Path, told: Sequence[str]) -> None:
        if told and not (folder / "ledger.witness.host").exists():
            raise Loss(Kind.FORGOTTEN, "the witness")
        if _opened(lambda: self._begun(folder)).attested() != {7: bytes(32)}:
            raise Loss(Kind.UNSOUND, "the witness is empty")


class KeepingLines(Work):
    """The file that says where the databases are, written anew."""

    _old, _new = "postgresql://curator@old.example/discreet", "postgresql://curator@new.example/discreet"

    def prepare(self, folder: Path) -> None:
        write_server(folder, self._old)

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        _freed(faults, lambda: write_server(folder, self._new))
        tell("written")

    def check(self, folder: Path, told: Sequence[str]) -> None:
        found = _opened(lambda: read_server(folder))
        if found != self._new and (told or found != self._old):
            raise Loss(Kind.FORGOTTEN, f"the server: {found!r}")


class KeepingKeys(Work):
    """The key that a curator signs with, made on first use."""

    def prepare(self, folder: Path) -> None: ...

    def act(self, folder: Path, faults: Faults, tell: Tell) -> None:
        tell(_freed(faults, lambda: Signer(folder)).public_key.hex())

    def check(self, folder: Path, told: Sequence[str]) -> None:
        found = _opened(lambda: Signer(folder)).public_key.hex()
        if told and told != [found]:
            raise Loss(Kind.FORGOTTEN, "the key that signed")


def _close(opened: Ledger | SurveyStore) -> None:
    """SQLite itself does not mind that a full disk keeps it from tidying up; a VFS in Python says so."""
    with suppress(apsw.Error):
        opened.close()


def _answer(curator: Curator) -> str:
    return json.dumps(curator.ask(SQL, PRICE, request="one").to_rows())


def _spent(curator: Curator) -> Fraction:
    return curator.budget()["people"]["spent"].epsilon


def _ledger(folder: Path) -> Ledger:
    return Ledger(folder) if has_ledger(folder) else Ledger.create(folder)


def _with_account(ledger: Ledger) -> None:
    if "visits" not in ledger.accounts():
        ledger.open_account("visits", Allowance.of(Pure(1)))


def _invited(store: SurveyStore, token: str) -> None:
    if store.invited() == 2:
        store.invite([token])


def _survey() -> Survey:
    from discreet.survey.questions_file import EXAMPLE, read_text

    return read_text(EXAMPLE)


WORKS: dict[str, Work] = {
    "founding": Founding(),
    "asking": Asking(),
    "allowing": Allowing(),
    "charging": Charging(),
    "creating": Creating(),
    "mending": Mending(),
    "surveying": Surveying(),
    "joining": Joining(),
    "keeping-lines": KeepingLines(),
    "keeping-keys": KeepingKeys(),
}
