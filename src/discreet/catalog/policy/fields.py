"""The fields of one mapping in a file, read one by one; what cannot be read is noted, and comes back as None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from discreet.catalog.names import suggestion
from discreet.catalog.policy.yaml import Mapping, Node, Scalar, Sequence
from discreet.catalog.problems import Complaints, Path
from discreet.errors import Problem

__all__ = ["Fields", "is_filled", "scalar_text"]


Read = TypeVar("Read")
_FILL_IN = "write a value after it; put quotes around the word null to mean the word"


class Fields:
    """The fields of one mapping, at ``path``."""

    def __init__(self, node: Mapping, path: Path, found: Complaints) -> None:
        self.node, self.path, self.found = node, path, found

    def __contains__(self, name: str) -> bool:
        return name in self.node.entries

    def refuse_unknown(self, known: Iterable[str], what: str) -> None:
        """Note every field that has no meaning here: what is not understood is refused, never ignored."""
        known = tuple(known)
        for name, (key, _) in self.node.entries.items():
            if name not in known:
                rule, remedy = f"{what} has no such field", suggestion(name, known)
                path, place = (*self.path, name), key.place
                self.found.problems.append(Problem(rule, name, remedy, path, "", place.line, place.column))

    def require(self, name: str, what: str, remedy: str) -> bool:
        """Whether the field is there; note it where it is not."""
        if name not in self:
            self.found.say(self.path, f"{what} must have the field {name}", None, remedy)
        return name in self

    def text(self, name: str) -> str | None:
        """The text of a scalar field."""
        node = self.node.get(name)
        return None if node is None else scalar_text(node, (*self.path, name), name, self.found)

    def read(self, name: str, reader: Callable[[str, str], Read], label: str = "") -> Read | None:
        """What ``reader`` makes of the text of a field."""
        text = self.text(name)
        return None if text is None else self.found.checked((*self.path, name), reader, text, label or name)

    def mapping(self, name: str, form: str) -> Fields | None:
        """The fields inside a field."""
        node = self.node.get(name)
        if node is None or not is_filled(node, (*self.path, name), name, self.found):
            return None
        if isinstance(node, Mapping):
            return Fields(node, (*self.path, name), self.found)
        self.found.say((*self.path, name), f"{name} must have fields of its own", _shape(node), f"write {form}")
        return None

    def sequence(self, name: str, form: str) -> list[Node] | None:
        """The items of a field that is a list."""
        node = self.node.get(name)
        if node is None or not is_filled(node, (*self.path, name), name, self.found):
            return None
        if isinstance(node, Sequence):
            return node.items
        self.found.say((*self.path, name), f"{name} must be a list", _shape(node), f"write {form}")
        return None


def is_filled(node: Node, path: Path, name: str, found: Complaints) -> bool:
    """Whether something was written; note it where a field was left blank."""
    if isinstance(node, Scalar) and node.is_blank:
        found.say(path, f"{name} must be filled in", None, _FILL_IN)
        return False
    return True


def scalar_text(node: Node, path: Path, name: str, found: Complaints) -> str | None:
    """The text of a scalar; note it where it is blank, a list or a mapping."""
    if not is_filled(node, path, name, found):
        return None
    if isinstance(node, Scalar):
        return node.text
    found.say(path, f"{name} must be one value", _shape(node))
    return None


def _shape(node: Node) -> str:
    if isinstance(node, Scalar):
        return node.text
    return "<a list>" if isinstance(node, Sequence) else "<fields>"
