"""Which version this is, in a module that imports nothing, so that every package may read it."""

from __future__ import annotations

__all__ = ["__version__"]


__version__ = "0.1.0"
