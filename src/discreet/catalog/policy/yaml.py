"""YAML as a tree of texts with places: the few parts of YAML that a policy needs, and a refusal of the rest.

PyYAML reads the grammar and reports events with their marks; the tree is built from the events, so that no object is
ever constructed from a tag, no depth of nesting exhausts the stack, and every scalar keeps the text its owner wrote:
``0.1`` stays exact, and ``no`` stays a word. Anchors, aliases, tags, directives and several documents are refused,
because a policy must mean what it looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.reader import Reader

from discreet.catalog.problems import Path
from discreet.errors import PolicyError, Problem

__all__ = [
    "LARGEST_FILE",
    "FilePosition",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "Tree",
    "find_position",
    "parse_yaml",
]


LARGEST_FILE = 2**20
_DEEPEST = 8
# The parser in C is twenty times faster than the one in Python and reads the same language; both are tested.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class FilePosition:
    """A spot in a file, both numbers from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Scalar:
    """One word, number or text, as it was written."""

    text: str
    is_quoted: bool
    place: FilePosition

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written, or YAML's word for nothing."""
        return not self.is_quoted and self.text in ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True)
class Sequence:
    """A list."""

    place: FilePosition
    items: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Mapping:
    """Names and what they stand for, in the order of the file."""

    place: FilePosition
    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)

    def get(self, name: str) -> Node | None:
        """What stands under this name."""
        entry = self.entries.get(name)
        return None if entry is None else entry[1]


Node = Scalar | Sequence | Mapping


@dataclass(frozen=True)
class Tree:
    """What a file holds, and what is wrong with its form."""

    root: Mapping
    problems: list[Problem]


def parse_yaml(content: bytes) -> Tree:
    """The fields of a file; a file whose form cannot be read at all is refused with the place where reading stopped."""
    text = _decoded(content)
    builder = _Builder()
    try:
        builder.take_all(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as wrong:
        raise PolicyError([*builder.problems, _syntax(wrong)]) from None
    if not isinstance(builder.root, Mapping):
        builder.say(
            "a policy must be a list of fields and their values", FilePosition(1, 1), "start with 'table: NAME'"
        )
        raise PolicyError(builder.problems)
    return Tree(builder.root, builder.problems)


def find_position(node: Node, path: Path) -> FilePosition:
    """Where the value at ``path`` stands, or the nearest thing around it that exists."""
    place = node.place
    for step in path:
        if isinstance(node, Mapping) and step in node.entries:
            key, node = node.entries[str(step)]
            place = node.place if isinstance(node, Scalar) else key.place
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            place = node.place
        else:
            break
    return place


# From bytes to text -----------------------------------------------------------------------------------------------


def _decoded(content: bytes) -> str:
    if len(content) > LARGEST_FILE:
        remedy = "shorten it; long lists of keys can stand in a public table (keys_from: icd10.code)"
        raise PolicyError([_problem("a policy file must be at most 1 MiB", FilePosition(1, 1), remedy)])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        # Positions count from after the byte order mark, which the codec takes off first.
        place = _spot(content.removeprefix(b"\xef\xbb\xbf")[: wrong.start].decode("utf-8", "replace"))
        raise PolicyError([_problem("a policy file must be text in UTF-8", place, "save it as UTF-8")]) from None
    odd = Reader.NON_PRINTABLE.search(text)
    if odd is not None:
        rule, remedy = "a policy file must not hold control characters", 'write "\\u0007" in double quotes, for example'
        raise PolicyError([_problem(rule, _spot(text[: odd.start()]), remedy, odd.group())])
    return text


def _spot(before: str) -> FilePosition:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return FilePosition(len(lines), len(lines[-1]) + 1)


# From events to a tree --------------------------------------------------------------------------------------------


@dataclass
class _Open:
    """A list or mapping whose end was not seen yet, and the name that waits for its value."""

    node: Sequence | Mapping
    name: Scalar | None = None


class _Builder:
    """The tree that events describe, with a stack of its own instead of the interpreter's."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.root: Node | None = None
        self.open: list[_Open] = []
        self.documents = 0

    def say(self, rule: str, place: FilePosition, remedy: str, value: object = None) -> None:
        self.problems.append(_problem(rule, place, remedy, value))

    def take_all(self, events: Iterable[Any]) -> None:
        for event in events:
            self._take(event, FilePosition(event.start_mark.line + 1, event.start_mark.column + 1))

    def _take(self, event: Any, place: FilePosition) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._begin_document(event, place)
        elif isinstance(event, (yaml.AliasEvent, yaml.ScalarEvent, yaml.CollectionStartEvent)):
            self._refuse_magic(event, place)
            self._place(self._node(event, place))
        elif isinstance(event, yaml.CollectionEndEvent):
            self.open.pop()

    def _begin_document(self, event: Any, place: FilePosition) -> None:
        self.documents += 1
        if self.documents > 1:
            self.say("a policy file must hold one table", place, "write one file per table, without a line of '---'")
        if event.version or event.tags:
            self.say("a policy must not use directives", place, "delete the line that starts with %")

    def _refuse_magic(self, event: Any, place: FilePosition) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.say("a policy must not use anchors or aliases", place, "write the value out", event.anchor)
        elif event.tag is not None:
            self.say(
                "a policy must not use tags", place, "write the value without one; its field says its type", event.tag
            )

    def _node(self, event: Any, place: FilePosition) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(event.value, event.style not in (None, ""), place)
        if isinstance(event, yaml.AliasEvent):
            return Scalar("", True, place)
        return Mapping(place) if isinstance(event, yaml.MappingStartEvent) else Sequence(place)

    def _place(self, node: Node) -> None:
        if self.open:
            self._put_into(self.open[-1], node)
        elif self.root is None:
            self.root = node
        if not isinstance(node, Scalar):
            self.open.append(_Open(node))
            if len(self.open) > _DEEPEST:
                self.say(f"a policy must be nested at most {_DEEPEST} deep", node.place, "close a bracket")
                raise PolicyError(self.problems)

    def _put_into(self, parent: _Open, node: Node) -> None:
        if isinstance(parent.node, Sequence):
            parent.node.items.append(node)
        elif parent.name is None:
            parent.name = self._name(node)
        else:
            self._enter(parent.node, parent.name, node)
            parent.name = None

    def _name(self, node: Node) -> Scalar:
        if isinstance(node, Scalar):
            return node
        self.say("a field's name must be a word", node.place, "a name is a text, not a list")
        return Scalar("", True, node.place)

    def _enter(self, mapping: Mapping, name: Scalar, node: Node) -> None:
        if name.text in mapping.entries:
            first = mapping.entries[name.text][0].place.line
            self.say("a name must be given once", name.place, f"it is given on line {first} already", name.text)
        else:
            mapping.entries[name.text] = (name, node)


def _syntax(wrong: yaml.MarkedYAMLError) -> Problem:
    mark: Any = wrong.problem_mark or wrong.context_mark
    context = f" {wrong.context}" if wrong.context else ""
    remedy = f"{wrong.problem}{context}"
    if "cannot start any token" in remedy:
        remedy += "; indent with spaces, not tabs, and put quotes around words that start with a sign"
    return _problem("a policy must be valid YAML", FilePosition(mark.line + 1, mark.column + 1), remedy)


def _problem(rule: str, place: FilePosition, remedy: str, value: object = None) -> Problem:
    return Problem(rule, value, remedy, line=place.line, column=place.column)
