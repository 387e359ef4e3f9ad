"""Libraries that not everybody needs: loaded when they are used, missed in words that say what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from discreet.errors import MissingExtra

__all__ = ["extra"]


def extra(module: str, name: str) -> Any:
    """The module, or an error that says which extra of Discreet brings it."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtra(f"this needs {library}", "<not installed>", f"pip install 'discreet[{name}]'") from None
