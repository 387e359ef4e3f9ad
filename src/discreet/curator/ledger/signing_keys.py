"""The signing keys of a ledger: which one signs now, which ones did before, and how the next one takes over.

Promise. Every key that signs has its public half and its fingerprint in the ledger, from a record that is older than
whatever it signs. A key file that holds another key than the last one recorded, because a bit of it was flipped, it was
put back from elsewhere, or is gone, is refused when the curator is opened. A ledger that was started before keys were
recorded takes the key that it has, at the first opening that can write.

A rotation writes the new key beside the old one, records it, and puts it in the old one's place. Whoever opens the
folder after a rotation that was cut off finishes it. The private half of the old key is gone then; its public half
stays in the ledger, where old certificates are held against it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from discreet.curator.ledger.checkpoint import Checkpoint
from discreet.curator.ledger.ledger import Ledger, LedgerKey
from discreet.curator.ledger.signing import KEY_FILE, Signer, write_new_key
from discreet.errors import LedgerError

__all__ = ["check_signer", "key_problem", "rotate_key"]


_NEXT = f"{KEY_FILE}.next"
_PAUSES = (0.0, 0.05, 0.2)
"""Seconds."""


def check_signer(folder: Path, ledger: Ledger) -> Signer:
    """The key that signs now; refused where the file holds another one than the ledger recorded last."""
    _finish_rotation(folder, ledger)
    if not ledger.signing_keys():
        signer = Signer(folder)
        with suppress(LedgerError):  # a ledger that cannot be written to now is asked again at the next opening
            ledger.record_key(signer.public_key)
        return signer
    problem = key_problem(folder, ledger)
    if problem is not None:
        remedy = "put the key back from a backup, or begin a new one with discreet ledger rotate-key"
        raise LedgerError("the signing key must be the one that the ledger recorded", f"<{problem}>", remedy)
    return Signer(folder)


def key_problem(folder: Path, ledger: Ledger) -> str | None:
    """What is wrong with the file of the signing key; None where nothing is, or where no key was recorded yet."""
    problem = None
    for pause in _PAUSES:  # file and ledger are not read at one moment, and another process may rotate the key now
        time.sleep(pause)
        problem = _difference(folder, ledger.signing_keys())
        if problem is None:
            break
    return problem


def _difference(folder: Path, keys: list[LedgerKey]) -> str | None:
    if not keys:
        return None
    if not (folder / KEY_FILE).exists():
        return "it is gone"
    found = Signer(folder).fingerprint
    return (
        None if found == keys[-1].fingerprint else f"fingerprint {found[:16]}… instead of {keys[-1].fingerprint[:16]}…"
    )


def rotate_key(folder: Path, by: str | None = None) -> LedgerKey:
    """Begin to use a new key; the one before is retired, and certificates that it signed stay genuine."""
    ledger = Ledger(folder)
    try:
        _finish_rotation(folder, ledger)
        if not ledger.signing_keys():
            check_signer(folder, ledger)
        before = Checkpoint.read(ledger, _old_key(folder, ledger))
        (folder / _NEXT).unlink(missing_ok=True)
        write_new_key(folder / _NEXT)
        ledger.record_key(Signer(folder, _NEXT).public_key, by)
        _finish_rotation(folder, ledger)
        if before is not None:
            before.write(ledger, Signer(folder))
        return ledger.signing_keys()[-1]
    finally:
        ledger.close()


def _old_key(folder: Path, ledger: Ledger) -> bytes | None:
    """The public key of the file, if it is the one that the ledger recorded: a key that is lost is retired as well."""
    return None if key_problem(folder, ledger) else Signer(folder).public_key


def _finish_rotation(folder: Path, ledger: Ledger) -> None:
    """Put a new key in its place once the ledger has it."""
    fresh = folder / _NEXT
    if not fresh.exists():
        return
    keys = ledger.signing_keys()
    if keys and Signer(folder, _NEXT).fingerprint == keys[-1].fingerprint:
        with suppress(FileNotFoundError):  # another process was faster
            fresh.replace(folder / KEY_FILE)
