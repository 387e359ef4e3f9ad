"""What people call a mechanism: one of ours by name, or their own as ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.audit.house import NAMES
from discreet.errors import InvalidValue

__all__ = ["load"]


def load(what: str) -> Any:
    """The function or mechanism that ``module:function`` or ``file.py:function`` names."""
    place, _, name = what.rpartition(":")
    if not place or not name:
        remedy = f"write module:function or file.py:function, or one of {', '.join(NAMES)}"
        raise InvalidValue("there must be a mechanism of this name", what, remedy)
    module = _from_file(Path(place)) if place.endswith(".py") else _from_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidValue(f"{place} must define what is audited", name)
        found = getattr(found, part)
    return found


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidValue("there must be such a file", str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidValue("the file must be a Python module", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    _run(str(path), partial(spec.loader.exec_module, module))
    return module


def _from_module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: ModuleType = _run(name, partial(importlib.import_module, name))
    finally:
        sys.path.remove(str(Path.cwd()))
    return found


def _run(place: str, work: Any) -> Any:
    """A module of others may fail in any way; what it says goes into one sentence."""
    try:
        return work()
    except (Exception, SystemExit) as error:  # a script that exits must not decide what an audit says
        raise InvalidValue("the module must load", f"<{place}: {type(error).__name__}: {error}>") from None
