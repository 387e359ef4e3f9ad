"""The house: the curator and the service's own book, opened once and used by every request."""

from __future__ import annotations

from discreet.curator.curator import Curator
from discreet.service.members import Members
from discreet.service.settings import Settings
from discreet.service.store import Store

__all__ = ["House"]


class House:
    """What operations work on. All of it may be used by many threads at once."""

    def __init__(self, settings: Settings) -> None:
        """Open the curator's folder; a ledger that cannot be believed is not opened."""
        self.settings = settings
        self.curator = Curator(settings.folder)
        self.store = Store(settings.folder)
        self.members = Members(self.store)
