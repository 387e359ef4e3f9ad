"""Can the ledger be believed? Replay it from the first record and compare with everything that is stored beside it.

`verify` looks at all of it. It fails when a byte was flipped, a record deleted, reordered or cut off, when the accounts
or answers disagree with the records, when an older copy of the file was put back (the witness remembers), when the
history is another one than a signed checkpoint says, when the signing key is not the one that was recorded, and when a
table, a check, an index or a trigger is not as it was made. Its memory does not grow with the records.

`verify_since` looks at what came after a checkpoint, so that opening a ledger costs the same at any length. It proves
that the record at the checkpoint is the one that was signed, that all records behind it follow from it and say what
is stored of the accounts, and of the requests and portions that they touch; that what the witnesses saw since is
there, and that the tables are as they were made. It does not look again at records before the checkpoint, at requests
and portions that nobody touched since, nor at the pages of the file: a change there is for `verify` to find.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from discreet.curator.ledger.chain import GENESIS, RECORDS, link
from discreet.curator.ledger.checkpoint import Checkpoint, distrust, trust
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.replay import Replay
from discreet.curator.ledger.schema import schema_problems
from discreet.curator.ledger.signing import KEY_FILE, Signer
from discreet.curator.ledger.signing_keys import key_problem
from discreet.curator.ledger.witness import Witness
from discreet.errors import DiscreetError, LedgerError
from discreet.storage.database import Database

__all__ = ["WORTH_A_CHECKPOINT", "Verification", "verify", "verify_since"]


WORTH_A_CHECKPOINT = 5000
"""Records from which on a checkpoint saves time; a shorter ledger is verified as a whole whenever it is opened."""
_DAMAGE = (apsw.CorruptError, apsw.NotADBError)


@dataclass
class Verification:
    """What a check of a ledger found."""

    entries: int = 0
    """The position of the last record."""
    head: bytes = GENESIS
    """Hash of the last one."""
    problems: list[str] = field(default_factory=list)
    """What is wrong, in plain words; empty when the ledger can be believed."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(folder: Path, *, gently: bool = False) -> Verification:
    """Check the ledger of ``folder`` as a whole; ``gently`` leaves half of the time to others.

    What it finds counts for all who use the folder: a ledger that is wrong answers no question until it is sound, and
    one that is sound gets a checkpoint, where the folder takes one.
    """
    result = Verification()
    try:
        ledger = Ledger(folder)
        try:
            _check(ledger, result, _pause() if gently else None)
        finally:
            ledger.close()
    except DiscreetError as refusal:
        result.problems.append(str(refusal))
        if isinstance(refusal.__cause__, _DAMAGE):
            distrust(folder, result.problems)
    except (apsw.Error, OSError, ValueError, KeyError, TypeError) as fault:
        result.problems.append(f"the ledger cannot be read: {type(fault).__name__}")
        if not isinstance(fault, OSError):
            distrust(folder, result.problems)
    return result


def _pause() -> Callable[[], None]:
    """Between pages, as long as the page took."""
    last = time.monotonic()

    def pause() -> None:
        nonlocal last
        time.sleep(time.monotonic() - last)
        last = time.monotonic()

    return pause


def _check(ledger: Ledger, result: Verification, between: Callable[[], None] | None) -> None:
    # Before the records, which by then hold whatever was attested and signed.
    sizes, signer = _sizes(ledger.witness.path), _signer(ledger.folder)
    checkpoint = None if signer is None else Checkpoint.read(ledger, signer.public_key)
    with ledger.storage.reading() as database:  # one moment of the ledger, whoever writes meanwhile
        damage = ledger.storage.damage()
        replay = Replay(database)
        replay.run(between)
        result.entries, result.head = replay.position, replay.head
        result.problems += [] if damage is None else [damage]
        result.problems += [*replay.problems, *replay.differences(), *_rolled_back(database, ledger, {}, sizes)]
        result.problems += _rewritten(database, checkpoint)
    result.problems += [*schema_problems(ledger.storage), *_key_problems(ledger)]
    if result.problems:
        distrust(ledger.folder, result.problems)
        return
    trust(ledger.folder)
    if signer is not None and result.entries >= WORTH_A_CHECKPOINT:
        Checkpoint(result.entries, result.head.hex(), replay.accounts(), sizes).write(ledger, signer)


def verify_since(ledger: Ledger, checkpoint: Checkpoint) -> tuple[Verification, Checkpoint]:
    """Check what was written since a checkpoint; what was found, and a checkpoint of how it is now."""
    sizes = _sizes(ledger.witness.path)
    with ledger.storage.reading() as database:
        result = Verification(checkpoint.position, bytes.fromhex(checkpoint.head))
        result.problems += _rewritten(database, checkpoint)
        if result.is_sound:
            replay = Replay(database, (checkpoint.position, result.head), checkpoint.accounts)
            replay.run()
            result.entries, result.head = replay.position, replay.head
            result.problems += [*replay.problems, *replay.differences()]
            result.problems += _rolled_back(database, ledger, checkpoint.witnesses, sizes)
            accounts = replay.accounts()
    result.problems += schema_problems(ledger.storage)
    now = Checkpoint(result.entries, result.head.hex(), accounts, sizes) if result.is_sound else checkpoint
    return result, now


def _signer(folder: Path) -> Signer | None:
    """Who signs here; None where there is no key, as in a copy for an auditor, or none that can be read."""
    try:
        return Signer(folder) if (folder / KEY_FILE).exists() else None
    except LedgerError:
        return None


def _key_problems(ledger: Ledger) -> list[str]:
    """What is wrong with the key that is here; a copy for an auditor has none."""
    try:
        problem = key_problem(ledger.folder, ledger) if (ledger.folder / KEY_FILE).exists() else None
    except LedgerError as refusal:
        return [str(refusal)]
    return [] if problem is None else [f"the signing key is not the one that the ledger recorded: {problem}"]


def _rewritten(database: Database, checkpoint: Checkpoint | None) -> list[str]:
    """Whether the history is another one than was signed; a ledger that is too short is one, too."""
    if checkpoint is None:
        return []
    where, values = f"{RECORDS} WHERE position IN (?, ?)", (checkpoint.position - 1, checkpoint.position)
    rows = {position: (body, digest) for position, body, digest in database.execute(where, values)}
    body, digest = rows.get(checkpoint.position, (b"", b""))
    before = rows.get(checkpoint.position - 1, (b"", GENESIS))[1]
    if digest.hex() == checkpoint.head and link(before, bytes(body)) == digest:
        return []
    return [f"record {checkpoint.position} is not the one that the signed checkpoint says"]


# What witnesses saw ---------------------------------------------------------------------------------------------------


def _sizes(own: Path) -> dict[str, int]:
    """How far this host's witness goes, and those of the others that share the folder."""
    found = {own, *own.parent.glob("ledger.witness.*")} if own.name != "ledger.witness" else {own}
    return {path.name: Witness(path).size() for path in sorted(found)}


def _rolled_back(database: Database, ledger: Ledger, known: Mapping[str, int], sizes: Mapping[str, int]) -> list[str]:
    """Which records are not the ones that a witness saw between two places in its file."""
    if not any(sizes.values()):
        return ["the witness is empty"]
    shorter = [name for name, size in known.items() if sizes.get(name, 0) < size]
    if shorter:
        return [f"{name} is shorter than it was" for name in shorter]
    folder = ledger.witness.path.parent
    return [
        f"record {position} is not the one the witness saw"
        for name, size in sizes.items()
        for page in Witness(folder / name).pages(known.get(name, 0), size)
        for position in _unknown(database, page)
    ]


def _unknown(database: Database, attested: Iterable[tuple[int, bytes]]) -> list[int]:
    seen = list(attested)
    if not seen:
        return []
    marks = ", ".join("?" for _ in seen)
    query = f"SELECT position, hash FROM entry WHERE position IN ({marks})"  # noqa: S608  marks alone
    hashes = dict(database.execute(query, [position for position, _ in seen]).fetchall())
    return [position for position, head in seen if hashes.get(position) != head]
