"""Which version this is, for rooms that must not look up to the roof to know."""

from __future__ import annotations

__all__ = ["__version__"]


__version__ = "0.1.0"
