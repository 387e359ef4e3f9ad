"""Opening a ledger, and keeping its checkpoint near: what was verified once is not verified again at every start.

A short ledger is verified as a whole. A longer one is verified from its signed checkpoint on, and as a whole where
there is no checkpoint that can be believed, where something is wrong behind it, or where a verification found the
ledger wrong before: whatever the checkpoint is, nothing is opened that a check of the whole refuses, but for changes
before the checkpoint, which only a check of the whole can see. So whoever serves a ledger that was opened from a
checkpoint verifies the whole of it afterwards (`verify_alone`), while it answers.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread

from discreet.curator.ledger.checkpoint import Checkpoint, is_distrusted
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.signing import Signer
from discreet.curator.ledger.signing_keys import check_signer
from discreet.curator.ledger.verify import WORTH_A_CHECKPOINT, Verification, verify, verify_since
from discreet.errors import DiscreetError, LedgerError

__all__ = ["OpenedLedger", "verify_alone"]


STEP = 10_000
"""Records after which the checkpoint is moved, so that a start never has many more to verify."""


class OpenedLedger:
    """A ledger that was found sound when it was opened, and who signs for it."""

    def __init__(self, ledger: Ledger) -> None:
        """Verify what must be verified; a ledger that cannot be believed is refused."""
        self.ledger = ledger
        self.is_whole = False
        """Whether all of it was verified, and not only what came after a checkpoint."""
        self._signer = self._checked_signer()
        self._moving = Lock()
        self._seen = self._verified_since() or self._verified_whole()

    def _checked_signer(self) -> Signer:
        try:
            self.ledger.signing_keys()
        except (DiscreetError, ValueError, KeyError, TypeError):
            self._verified_whole()  # says what is wrong
        return check_signer(self.ledger.folder, self.ledger)

    @property
    def signer(self) -> Signer:
        """The key that signs now, also after another process has put a new one in its place.

        Where the file is damaged or gone, the key that was read from it and checked goes on: an answer that was paid
        for is not kept back for it, and the next opening refuses the file.
        """
        if not self._signer.is_current():
            with suppress(DiscreetError):
                self._signer = check_signer(self.ledger.folder, self.ledger)
        return self._signer

    def _verified_since(self) -> int | None:
        """The position up to which the ledger is sound, seen from its checkpoint; None where all must be verified."""
        if self.ledger.head()[0] < WORTH_A_CHECKPOINT or is_distrusted(self.ledger.folder):
            return None
        checkpoint = Checkpoint.read(self.ledger, self._signer.public_key)
        return None if checkpoint is None else self._moved(checkpoint, WORTH_A_CHECKPOINT)

    def _moved(self, checkpoint: Checkpoint, worth: int) -> int | None:
        """Move a checkpoint to the last record if that is ``worth`` it; None where something is wrong on the way."""
        try:
            found, now = verify_since(self.ledger, checkpoint)
        except (DiscreetError, OSError, ValueError, KeyError, TypeError):
            return None
        if found.is_sound and now.position - checkpoint.position >= worth:
            now.write(self.ledger, self._signer)
        return found.entries if found.is_sound else None

    def _verified_whole(self) -> int:
        found = verify(self.ledger.folder)
        if not found.is_sound:
            raise LedgerError("the ledger must be sound", f"<{found.problems[0]}>", "see discreet ledger verify")
        self.is_whole = True
        return found.entries

    def grown(self, position: int) -> None:
        """Hear that the ledger has come to a position; now and then the checkpoint is moved, while others go on."""
        if position - self._seen < STEP or not self._moving.acquire(blocking=False):
            return
        self._seen = position
        Thread(target=self._catch_up, daemon=True).start()

    def _catch_up(self) -> None:
        try:
            checkpoint = Checkpoint.read(self.ledger, self._signer.public_key)
            if checkpoint is None or self._moved(checkpoint, STEP // 2) is None:
                verify(self.ledger.folder, gently=True)
        finally:
            self._moving.release()


def verify_alone(folder: Path) -> Verification | None:
    """Verify the whole of a ledger, beside other work; None where another process of this host does so now."""
    file = os.open(folder / "ledger.verifying", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return verify(folder, gently=True)
    except BlockingIOError:
        return None
    finally:
        os.close(file)
