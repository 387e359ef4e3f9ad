"""What a large renaming does to texts that Python makes: for a while, every class of ours has another name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum

__all__ = ["renamed"]


@contextmanager
def renamed() -> Iterator[None]:
    """While it lasts, no class and no member of an enumeration that is loaded has the name that it was given."""
    with ExitStack() as before:
        for number, kind in enumerate(_classes()):
            before.callback(_name, kind, kind.__name__, kind.__qualname__)
            _name(kind, f"Other{number}", f"Other{number}")
            if issubclass(kind, Enum):
                _name_members(kind, before)
        yield


def _classes() -> list[type]:
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("discreet.")]
    found = {thing: None for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    return [kind for kind in found if kind.__module__.startswith("discreet.")]


def _name(kind: type, name: str, qualified: str) -> None:
    kind.__name__, kind.__qualname__ = name, qualified


def _name_members(kind: type[Enum], before: ExitStack) -> None:
    """Members are hashed by their names, so that dictionaries would lose them: their hashes stay."""
    hashes = {id(member): hash(member) for member in kind}
    kind.__hash__ = lambda member: hashes[id(member)]  # type: ignore[method-assign]
    before.callback(delattr, kind, "__hash__")
    for member in kind:
        before.callback(setattr, member, "_name_", member.name)
        member._name_ = f"OTHER_{member.name}"
