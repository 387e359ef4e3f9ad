"""What a device and a server must agree on before a report means anything, and a fingerprint of it.

>>> from discreet.local.layout import Field
>>> terms = Terms("grr", Fraction(1, 2), ("no", "yes"), (Field("position", "u1"),))
>>> terms.to_json()
'{"domain":["no","yes"],"epsilon":"1/2","kind":"grr","layout":[["position","u1",1]],"parameters":{},"version":1}'
>>> len(terms.fingerprint), Terms.from_json(terms.to_json()) == terms
(16, True)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import integer, positive, rational
from discreet.local.categories import Categories, Category
from discreet.local.layout import Field, fields_from

__all__ = ["Bounds", "Terms"]

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
    layout: tuple[Field, ...]
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
            "domain": _written(self.domain),
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


def _written(domain: Domain) -> Any:
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
