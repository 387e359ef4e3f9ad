"""What a device and a server must agree on before a report means anything, and a fingerprint of it.

>>> from discreet.local.terms import ReportField
>>> terms = Terms("grr", Fraction(1, 2), ("no", "yes"), (ReportField("position", "u1"),))
>>> terms.to_json()
'{"domain":["no","yes"],"epsilon":"1/2","kind":"grr","layout":[["position","u1",1]],"parameters":{},"version":1}'
>>> len(terms.fingerprint), Terms.from_json(terms.to_json()) == terms
(16, True)

A report is laid out in named fields of fixed size, so that a million reports are a few arrays.

>>> ReportField("bits", "u1", 13).bytes_each, smallest_unsigned(300)
(13, 'u2')

The possible answers are fixed before anybody answers, and each has a position among them.

>>> Categories.named(["red", "green", "blue"]).positions(["blue", "red"]).tolist()
[2, 0]
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import islice
from operator import length_hint
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.grid import Integers
from discreet.exact.rational import integer, positive, rational
from discreet.mechanisms.selection import named_once

__all__ = [
    "MOST_CATEGORIES",
    "Bounds",
    "Categories",
    "Category",
    "ReportField",
    "Terms",
    "fields_from",
    "is_many",
    "smallest_unsigned",
]


_TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")
_WIDEST = 2**24


@dataclass(frozen=True)
class ReportField:
    """One number of a report, or several bytes of it."""

    name: str
    """What it is."""
    type: str
    """u1 to u8 or i1 to i8: without or with a sign, and how many bytes."""
    width: int = 1
    """How many of them; more than one only for bytes (u1)."""

    def __post_init__(self) -> None:
        if not str(self.name).isidentifier():
            raise InvalidValue("a field needs a name", self.name)
        if self.type not in _TYPES:
            raise InvalidValue(f"a field must be one of {', '.join(_TYPES)}", self.type)
        integer(self.width, "width", least=1, most=_WIDEST)
        if self.width > 1 and self.type != "u1":
            raise InvalidValue("a field of several numbers must be one of bytes, u1", self.type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its array, little endian."""
        return np.dtype("<" + self.type)

    @property
    def bytes_each(self) -> int:
        """Bytes that one report needs for it."""
        return self.dtype.itemsize * self.width

    def shape(self, n: int) -> tuple[int, ...]:
        """The shape of the array of ``n`` reports."""
        return (n,) if self.width == 1 else (n, self.width)


def fields_from(listed: Any) -> tuple[ReportField, ...]:
    """The layout that was written as [[name, type, width], …]."""
    if not isinstance(listed, Sequence) or not listed or not all(_is_written_field(one) for one in listed):
        raise InvalidType("a layout must list [name, type, width]", listed)
    return tuple(ReportField(*one) for one in listed)


def _is_written_field(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 3 and isinstance(one[0], str)


def smallest_unsigned(count: int) -> str:
    """The smallest type that holds 0, 1, …, count - 1."""
    return next(f"u{size}" for size in (1, 2, 4, 8) if count <= 2 ** (8 * size))


Category: TypeAlias = str | int
"""What can be written in JSON and read back as the same thing; True and False are integers."""

MOST_CATEGORIES = 2**24
"""Every estimate needs a number for each of them."""


@dataclass(frozen=True)
class Categories:
    """Different names in a fixed order."""

    names: tuple[Category, ...]
    """Every possible answer."""

    @classmethod
    def named(cls, names: Iterable[Hashable]) -> Categories:
        """At least two texts or whole numbers, each once."""
        if isinstance(names, Categories):
            return names
        listed = named_once(map(_plain, _not_too_many(names)), "categories", least=2)
        return cls(tuple(_checked_category(name) for name in listed))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Category]:
        return iter(self.names)

    def positions(self, values: Any) -> Integers:
        """Where each value stands; one value counts as a list of one. Any other value is refused, and not shown."""
        listed = _flat(values) if is_many(values) else [values]
        if isinstance(listed, np.ndarray) and listed.dtype.kind in "biu" and self._counts_up:
            return self._counted(listed)
        entries = listed.tolist() if isinstance(listed, np.ndarray) else listed
        try:
            return np.fromiter(map(self._position.__getitem__, entries), np.int64, len(entries))
        except (KeyError, TypeError):
            raise _another_answer() from None

    def _counted(self, numbers: np.ndarray[Any, Any]) -> Integers:
        if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(self):
            raise _another_answer()
        return numbers.astype(np.int64)

    @cached_property
    def _position(self) -> dict[Category, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _counts_up(self) -> bool:
        return self.names == tuple(range(len(self)))


def is_many(values: Any) -> bool:
    """Whether these are several values; a text, a number or a truth value is one."""
    return isinstance(values, (list, tuple, range)) or getattr(values, "ndim", 0) > 0


def _flat(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType("values must not be masked", "<a masked array>", "fill or drop what is masked first")
    if not hasattr(values, "ndim"):
        return values
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidType("several values must form a flat list or array", f"<shape {array.shape}>")
    return array


def _not_too_many(names: Iterable[Hashable]) -> list[Hashable]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise InvalidType("categories must be a list of names", names, "['yes', 'no'], for example")
    if length_hint(names) <= MOST_CATEGORIES:
        first = list(islice(names, MOST_CATEGORIES + 1))
        if len(first) <= MOST_CATEGORIES:
            return first
    rule, remedy = f"categories must be at most {MOST_CATEGORIES}", "find the frequent ones by prefixes"
    raise InvalidValue(rule, "<more>", remedy)


def _plain(name: Hashable) -> Hashable:
    return name.item() if isinstance(name, np.generic) else name


def _checked_category(name: Hashable) -> Category:
    if not isinstance(name, (str, int)):
        raise InvalidType("categories must be texts or whole numbers", name, "write it as a text")
    if isinstance(name, str) and any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InvalidValue("categories must be texts that can be written", name)
    return name


def _another_answer() -> InvalidValue:
    rule = "each answer must be one of the categories"
    return InvalidValue(rule, "<another answer>", "add a category such as 'other' before collecting")


_VERSION = 1
_NAMES = {"domain", "epsilon", "kind", "layout", "parameters", "version"}


@dataclass(frozen=True)
class Bounds:
    """All numbers from ``lower`` to ``upper``."""

    lower: Fraction
    """The least."""
    upper: Fraction
    """The greatest."""

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise InvalidValue("lower must be below upper", f"<{self.lower} and {self.upper}>")


Domain: TypeAlias = tuple[Category, ...] | Bounds


@dataclass(frozen=True)
class Terms:
    """The public parameters of a randomizer, and how its reports are written."""

    kind: str
    """Which randomizer: "grr", "oue", …"""
    epsilon: Fraction
    """What one report costs."""
    domain: Domain
    """The categories in their order, or the bounds of a number."""
    layout: tuple[ReportField, ...]
    """How a report is written."""
    parameters: tuple[tuple[str, str | int], ...] = field(default=())
    """Whatever else must agree, by name."""
    version: int = _VERSION
    """The version of all of this."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(sorted(self.parameters)))
        if self.version != _VERSION:
            rule, remedy = f"terms must be of version {_VERSION}", "use the release of discreet that wrote them"
            raise InvalidValue(rule, self.version, remedy)

    @property
    def bytes_each(self) -> int:
        """Bytes of one report."""
        return sum(one.bytes_each for one in self.layout)

    def to_json(self) -> str:
        """The one way to write these terms: keys in order, no spaces, UTF-8."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes."""
        return {
            "kind": self.kind,
            "version": self.version,
            "epsilon": str(self.epsilon),
            "domain": _written_domain(self.domain),
            "layout": [[one.name, one.type, one.width] for one in self.layout],
            "parameters": dict(self.parameters),
        }

    @classmethod
    def from_json(cls, text: str | bytes) -> Terms:
        """The terms that `to_json` wrote."""
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, RecursionError) as problem:
            if isinstance(problem, InvalidValue):
                raise
            raise InvalidValue("terms must be JSON", "<another text>") from None

    @classmethod
    def from_dict(cls, found: Any) -> Terms:
        """The terms that `to_dict` wrote; anything missing or unknown is refused."""
        if not isinstance(found, dict) or set(found) != _NAMES:
            raise InvalidType(f"terms must have {', '.join(sorted(_NAMES))}", "<others>")
        if not isinstance(found["kind"], str):
            raise InvalidType("the kind of a randomizer must be a text", found["kind"])
        return cls(
            kind=found["kind"],
            epsilon=positive(found["epsilon"], "epsilon"),
            domain=_read(found["domain"]),
            layout=fields_from(found["layout"]),
            parameters=_parameters(found["parameters"]),
            version=integer(found["version"], "version"),
        )

    @cached_property
    def fingerprint(self) -> str:
        """The first 64 bits of the SHA-256 of `to_json`, in hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def parameter(self, name: str) -> str | int:
        """One of the parameters."""
        found = dict(self.parameters)
        if name not in found:
            raise InvalidValue(f"these terms must have a parameter {name}", f"<{', '.join(found) or 'none'}>")
        return found[name]

    def check_same(self, other: Terms) -> None:
        """Refuse reports under ``other`` terms than these, and say what differs."""
        if self != other:
            rule = "the reports must have been made under the same terms"
            raise InvalidValue(
                rule, f"<{'; '.join(self.differences(other))}>", "collect them again, or read them apart"
            )

    def differences(self, other: Terms) -> Iterator[str]:
        """What differs, these terms first."""
        if self.kind != other.kind:
            yield f"{self.kind} against {other.kind}"
        if self.epsilon != other.epsilon:
            yield f"ε {float(self.epsilon):.6g} against {float(other.epsilon):.6g}"
        if self.domain != other.domain:
            yield _domain_difference(self.domain, other.domain)
        if self.parameters != other.parameters:
            ours, theirs = dict(self.parameters), dict(other.parameters)
            names = sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))
            yield ", ".join(f"{name} {ours.get(name, 'none')} against {theirs.get(name, 'none')}" for name in names)
        if self.layout != other.layout:
            yield "another layout"


def _written_domain(domain: Domain) -> Any:
    return {"lower": str(domain.lower), "upper": str(domain.upper)} if isinstance(domain, Bounds) else list(domain)


def _read(found: Any) -> Domain:
    if isinstance(found, dict) and set(found) == {"lower", "upper"}:
        return Bounds(rational(found["lower"], "lower"), rational(found["upper"], "upper"))
    if isinstance(found, list):
        return Categories.named(found).names if found else ()
    raise InvalidType("a domain must be a list of categories, or lower and upper", "<another>")


def _parameters(found: Any) -> tuple[tuple[str, str | int], ...]:
    if not isinstance(found, dict) or not all(isinstance(value, (str, int)) for value in found.values()):
        raise InvalidType("parameters must be texts and whole numbers by name", "<others>")
    return tuple(found.items())


def _domain_difference(ours: Domain, theirs: Domain) -> str:
    if isinstance(ours, Bounds) or isinstance(theirs, Bounds):
        return f"{_domain_words(ours)} against {_domain_words(theirs)}"
    if len(ours) != len(theirs):
        return f"{len(ours)} categories against {len(theirs)}"
    place = next(k for k in range(len(ours)) if ours[k] != theirs[k])
    return f"category {place + 1} is {ours[place]!r:.30} against {theirs[place]!r:.30}"


def _domain_words(domain: Domain) -> str:
    if isinstance(domain, Bounds):
        return f"numbers from {float(domain.lower):g} to {float(domain.upper):g}"
    return f"{len(domain)} categories"
