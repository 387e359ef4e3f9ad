"""The role of every column of a table that is to be published.

>>> roles = Roles.of(["name", "age", "zip", "disease"], quasi=["age", "zip"], sensitive="disease", identifying="name")
>>> roles.role_of("zip")
<Role.QUASI_IDENTIFYING: 'quasi-identifying'>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["Role", "Roles", "refuse_duplicate_names"]


class Role(Enum):
    """What a column says about a person, and to whom."""

    IDENTIFYING = "identifying"
    """Names a person on its own; it is never released."""
    QUASI_IDENTIFYING = "quasi-identifying"
    """Known to others, so that several together single a person out."""
    SENSITIVE = "sensitive"
    """What nobody should learn about a person."""
    INSENSITIVE = "insensitive"
    """Neither known to others nor worth hiding; it is released as it is."""


@dataclass(frozen=True)
class Roles:
    """The columns by role. Every column of the table has exactly one."""

    quasi: tuple[str, ...]
    """The quasi-identifiers, in the order in which they were named."""
    sensitive: tuple[str, ...] = ()
    """The sensitive columns."""
    identifying: tuple[str, ...] = ()
    """The columns that are dropped."""
    insensitive: tuple[str, ...] = ()
    """The columns that are released as they are."""

    def __post_init__(self) -> None:
        named = [(name, role) for role in Role for name in self.named(role)]
        _refuse_two_roles(named)
        if not self.quasi:
            raise InvalidValue("a table must have a quasi-identifier", list(self.quasi), "name what others may know")

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        *,
        quasi: str | Sequence[str],
        sensitive: str | Sequence[str] = (),
        identifying: str | Sequence[str] = (),
        insensitive: str | Sequence[str] = (),
    ) -> Roles:
        """The roles of ``columns``. A column that is not named is insensitive."""
        known = tuple(columns)
        refuse_duplicate_names(known)
        given = [_names(part) for part in (quasi, sensitive, identifying, insensitive)]
        named = [name for part in given for name in part]
        _refuse_unknown(named, known)
        rest = tuple(name for name in known if name not in set(named))
        return cls(given[0], given[1], given[2], given[3] + rest)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column, by role."""
        return self.identifying + self.quasi + self.sensitive + self.insensitive

    def named(self, role: Role) -> tuple[str, ...]:
        """The columns of one role."""
        match role:
            case Role.IDENTIFYING:
                return self.identifying
            case Role.QUASI_IDENTIFYING:
                return self.quasi
            case Role.SENSITIVE:
                return self.sensitive
            case Role.INSENSITIVE:
                return self.insensitive

    def role_of(self, column: str) -> Role:
        """The role of one column."""
        for role in Role:
            if column in self.named(role):
                return role
        raise InvalidValue("a column must be in the table", column, suggestion(column, self.columns))


def refuse_duplicate_names(names: Sequence[str]) -> None:
    """Refuse a table in which two columns share a name, because roles are given by name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise InvalidValue("every column must have a name of its own", twice, "rename one of each pair")


def _names(part: str | Sequence[str]) -> tuple[str, ...]:
    names = (part,) if isinstance(part, str) else tuple(part)
    for name in names:
        if not isinstance(name, str):
            raise InvalidType("the name of a column must be text", name)
    return names


def _refuse_unknown(named: Iterable[str], known: Sequence[str]) -> None:
    for name in named:
        if name not in known:
            raise InvalidValue("a column must be in the table", name, suggestion(name, known))


def _refuse_two_roles(named: Sequence[tuple[str, Role]]) -> None:
    seen: dict[str, Role] = {}
    for name, role in named:
        if name in seen:
            both = " and ".join(dict.fromkeys([seen[name].value, role.value]))
            raise InvalidValue("a column must have one role", name, f"it is named as {both}; keep one")
        seen[name] = role
