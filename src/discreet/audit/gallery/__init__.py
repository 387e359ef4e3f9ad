"""A gallery of broken mechanisms: an auditor that has never found anything guilty has proved nothing.

Every exhibit breaks its claim on two given neighbours, and an audit must say so. Most come with an honest version,
which an audit must let pass.
"""

from __future__ import annotations

from discreet.audit.gallery.exhibit import Exhibit, HonestVersion
from discreet.audit.gallery.learning import LEARNING
from discreet.audit.gallery.noise import FLOATS, SECRECY
from discreet.audit.gallery.selection import CHOICES, SPARSE_VECTORS
from discreet.audit.gallery.slips import SLIPS

__all__ = ["BROKEN", "Exhibit", "HonestVersion"]

BROKEN: tuple[Exhibit, ...] = (*FLOATS, *LEARNING, *CHOICES, *SPARSE_VECTORS, *SECRECY, *SLIPS)
"""Every exhibit."""
