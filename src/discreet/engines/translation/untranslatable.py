"""What an engine cannot be asked."""

from __future__ import annotations

__all__ = ["Untranslatable"]


class Untranslatable(Exception):
    """The engine cannot answer this so that it means the same and cannot fail; ``str`` says what, in a few words."""
