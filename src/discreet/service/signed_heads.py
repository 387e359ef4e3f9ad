"""Signed heads leave the host: after each interval the head of ledger and audit trail goes where the settings say.

What was sent cannot be taken back by whoever holds the host, so it shows that an older copy was put back. A folder is
looked into when the service starts: a ledger that is behind the newest head there is not served.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

from discreet.curator.certificates.certificate import read_certificate
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.signed_head import HeadVerdict, check_head, sign_head
from discreet.curator.ledger.signing import Signer
from discreet.engines.duckdb.store import FileLock
from discreet.errors import DiscreetError, LedgerError
from discreet.service.logs import log_event
from discreet.service.settings import Settings
from discreet.time_limits import HEAD_SENT

if TYPE_CHECKING:
    from discreet.service.state import ServiceState

__all__ = ["Heads", "check_saved"]


def check_saved(settings: Settings, ledger: Ledger) -> None:
    """Refuse a ledger that is behind, or another one than, the newest head in the folder of the settings."""
    if settings.head_folder is None:
        return
    key = Signer(settings.folder).public_key.hex()
    newest = max(settings.head_folder.glob(f"head-{key[:16]}-*.json"), default=None)
    if newest is None:
        return
    try:
        found = check_head(ledger, read_certificate(newest.read_bytes()), key)
    except (OSError, DiscreetError, KeyError, ValueError, TypeError):
        log_event("a saved head cannot be read", logging.ERROR)
        return
    if found.verdict in (HeadVerdict.ROLLED_BACK, HeadVerdict.FORKED):
        remedy = f"put the newer ledger back, or restore a backup with --head {newest}"
        raise LedgerError("the ledger must have what the saved head saw", f"<{found.words}>", remedy)


class Heads:
    """Sends the heads of a service, from one of its processes."""

    def __init__(self, service: ServiceState) -> None:
        """Of ``service``; nothing is sent before `start`."""
        self._service = service
        self._ending = Event()
        self._thread: Thread | None = None
        self._lock = FileLock(service.settings.folder / "heads.lock")
        self._is_ours = False
        self._sent: tuple[int, int] | None = None

    def start(self) -> None:
        """Send one now and then, on a thread."""
        self._thread = Thread(target=self._run, name="heads", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send the last one, if `start` was called."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join(2 * HEAD_SENT)
            self._thread = None
            self._lock.release()

    def _run(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._ending.wait(self._service.settings.head_seconds)
            try:
                self.send()
            except (DiscreetError, OSError) as fault:  # the next round tries again
                log_event("a head could not be sent", logging.ERROR, error=type(fault).__name__)

    def send(self) -> None:
        """Write what was counted, let the ledger know of the trail, and send the head where it is another one."""
        self._service.tally.flush()
        self._is_ours = self._is_ours or self._lock.acquire(wait=False)
        if not self._is_ours:
            return  # another process of this folder does it
        self._service.record_trail()
        settings, ledger, trail = self._service.settings, self._service.curator.ledger, self._service.trail.head()
        document = sign_head(ledger, Signer(settings.folder), trail)
        place = document["ledger"]["position"], trail[0]
        if place == self._sent or (settings.head_folder is None and settings.head_url is None):
            return
        if settings.head_folder is not None:
            _drop(document, settings.head_folder, place)
        if settings.head_url is not None:
            _post(document, settings.head_url)
        self._sent = place


def _drop(document: dict[str, Any], folder: Path, place: tuple[int, int]) -> None:
    """A new file, there as a whole or not at all; one of the same name says the same."""
    name = f"head-{document['public_key'][:16]}-{place[0]:012d}-{place[1]:012d}.json"
    draft = folder / f".{name}.{os.getpid()}"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(draft, folder / name)
    draft.unlink()


def _post(document: dict[str, Any], url: str) -> None:
    body = json.dumps(document).encode()
    request = Request(url, body, {"Content-Type": "application/json"}, method="POST")  # noqa: S310  settings: http alone
    with urlopen(request, timeout=HEAD_SENT):  # noqa: S310
        pass
