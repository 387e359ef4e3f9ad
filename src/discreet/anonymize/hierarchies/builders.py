"""Hierarchies from a few words: masks, dates, ordered values, taxonomies, descriptions, and files of ARX.

Masks hide characters: ``13053``, ``1305*``, ``130**`` and so on, from the end or from the start.

>>> masked(["13053", "13068"], hidden=[2, 5]).labels
(('13053', '13068'), ('130**',), ('*',))

Dates have the day, the month, the year, the decade.

>>> from datetime import date
>>> born = dates([date(1984, 3, 9), date(1984, 5, 1), date(1991, 5, 1)])
>>> born.labels[1:]
(('1984-03', '1984-05', '1991-05'), ('1984', '1991'), ('1980s', '1990s'), ('*',))

Ordered values become groups of neighbours, such as ``low – middle``.

>>> ordered(["low", "middle", "high", "extreme"], [2]).labels
(('low', 'middle', 'high', 'extreme'), ('low – middle', 'high – extreme'), ('*',))

Taxonomies are trees of names, as nested dicts or as a dict from every child to its parent.

>>> jobs = taxonomy({"Medical": {"Doctor": ["Surgeon", "GP"], "Nurse": []}, "Office": ["Clerk"]})
>>> jobs.values, jobs.labels[1]
(('Surgeon', 'GP', 'Nurse', 'Clerk'), ('Doctor', 'Nurse', 'Clerk'))

A description is a word and some numbers: ``mask``, ``mask:prefix``, ``dates``, ``intervals:5,10``, ``ordered:3,9``.

>>> described_hierarchy([21, 24, 38], "intervals", "10,20").labels[1:]
(('[20, 30)', '[30, 40)'), ('[20, 40)',), ('*',))

Files of ARX have one line per value, the value first, then its group at every level, with ``;``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from typing import Any, Literal

from discreet.anonymize.hierarchies.hierarchy import SUPPRESSED, Hierarchy, Values, completed, present_values
from discreet.anonymize.hierarchies.intervals import intervals
from discreet.anonymize.table import MISSING, label_of
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = [
    "KINDS",
    "dates",
    "described_hierarchy",
    "masked",
    "ordered",
    "read_arx_csv",
    "taxonomy",
    "taxonomy_of_parents",
    "write_arx_csv",
]


def masked(
    values: Values,
    *,
    side: Literal["suffix", "prefix"] = "suffix",
    hidden: Sequence[int] | None = None,
) -> Hierarchy:
    """The hierarchy that hides ``hidden[0]`` characters at level 1, ``hidden[1]`` at level 2, up to all of them.

    Without ``hidden`` it hides one more at every level. A suffix is counted as if shorter values were filled up at
    the end, a prefix as if they were filled up at the start. Numbers are masked as they are written.
    """
    present, has_missing = present_values(values)
    written = [label_of(value) for value in present]
    length = max(map(len, written), default=1)
    if side not in ("suffix", "prefix"):
        raise InvalidValue("a mask must hide a suffix or a prefix", side)
    levels = [[_mask(text, length - hide, hide, side) for text in written] for hide in _steps(hidden, length)]
    return completed(Hierarchy.of(present, levels), has_missing)


def _steps(hidden: Sequence[int] | None, length: int) -> list[int]:
    """How many characters are hidden at each level; all of them at the last one."""
    steps = list(range(1, length + 1)) if hidden is None else list(hidden)
    if any(low >= high for low, high in pairwise([0, *steps])) or any(step > length for step in steps):
        rule = f"the hidden characters must grow from level to level, from 1 to at most {length}"
        raise InvalidValue(rule, steps)
    return steps if steps and steps[-1] == length else [*steps, length]


def _mask(text: str, keep: int, hide: int, side: str) -> str:
    if keep == 0:
        return SUPPRESSED
    return text[:keep] + SUPPRESSED * hide if side == "suffix" else SUPPRESSED * hide + text[-keep:]


_WRITTEN: dict[str, Callable[[date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}


def dates(values: Values, levels: Sequence[str] | None = None) -> Hierarchy:
    """The hierarchy of dates, or of dates with a time, with ``*`` on top.

    The levels may be ``day``, ``month``, ``quarter``, ``year`` and ``decade``; by default dates go by month, year and
    decade, and dates with a time by day before that.
    """
    present, has_missing = present_values(values)
    for value in present:
        if not isinstance(value, date):
            raise InvalidType("a hierarchy of dates must be made of dates", value, "read them as dates first")
    timed = any(isinstance(value, datetime) for value in present)
    chosen = levels if levels is not None else [*(["day"] if timed else []), "month", "year", "decade"]
    written = [_level(present, name) for name in chosen]
    return completed(Hierarchy.of(present, [*written, [SUPPRESSED] * len(present)]), has_missing)


def _level(days: Sequence[date], name: str) -> list[str]:
    if name not in _WRITTEN:
        raise InvalidValue("a level of dates must be known", name, suggestion(name, _WRITTEN))
    return [_WRITTEN[name](day) for day in days]


def ordered(values: Values, sizes: Sequence[int | Sequence[int]]) -> Hierarchy:
    """The hierarchy of values in the order given, with one level per size, and ``*`` on top.

    A size is how many values each group takes, or a list with the size of every group. A last group may be smaller.
    """
    present, has_missing = present_values(values)
    levels = [_ordered_level(present, size) for size in sizes]
    return completed(Hierarchy.of(present, [*levels, [SUPPRESSED] * len(present)]), has_missing)


def _ordered_level(values: Sequence[Any], size: int | Sequence[int]) -> list[str]:
    written = []
    start = 0
    for end in accumulate(_sizes(len(values), size)):
        group = values[start:end]
        label = label_of(group[0]) if len(group) == 1 else f"{label_of(group[0])} – {label_of(group[-1])}"
        written += [label] * len(group)
        start = end
    return written


def _sizes(count: int, size: int | Sequence[int]) -> list[int]:
    """The sizes of the groups, which sum to ``count``."""
    wrong = [one for one in ([size] if isinstance(size, int) else size) if one < 1]
    if wrong:
        raise InvalidValue("a group must take at least one value", wrong[0])
    if isinstance(size, int):
        full, rest = divmod(count, size)
        return [*repeat(size, full), *([rest] if rest else [])]
    if sum(size) != count:
        raise InvalidValue(f"the sizes of the groups must sum to the {count} values", list(size))
    return list(size)


Ancestors = tuple[Any, ...]


def taxonomy(tree: Mapping[Any, Any]) -> Hierarchy:
    """The hierarchy of nested dicts whose innermost parts are lists of values; a name without parts is a value.

    Everything joins at the top as ``*``, unless the tree has one root of its own.
    """
    return _from_paths([_rooted(path, len(tree)) for path in _paths(tree, ())])


def taxonomy_of_parents(parents: Mapping[Any, Any]) -> Hierarchy:
    """The hierarchy of a dict that names the parent of every name but the roots; names without children are values.

    >>> taxonomy_of_parents({"Surgeon": "Doctor", "GP": "Doctor", "Clerk": "Office"}).labels[1]
    ('Doctor', 'Office')
    """
    inner = set(parents.values())
    roots = inner - set(parents)
    leaves = [name for name in parents if name not in inner]
    return _from_paths([_rooted(_climb(leaf, parents), len(roots)) for leaf in leaves])


def _paths(tree: Any, above: Ancestors) -> Iterator[Ancestors]:
    """From every value up to the top."""
    if isinstance(tree, Mapping):
        for name, part in tree.items():
            yield from _paths(part, (name, *above))
    elif isinstance(tree, Iterable) and not isinstance(tree, (str, bytes)):
        parts = list(tree)
        yield from ([(part, *above) for part in parts] if parts else [above])
    elif tree is None:
        yield above
    else:
        raise InvalidType("the parts of a taxonomy must be a dict or a list", tree, f"[{tree!r}]")


def _climb(leaf: Any, parents: Mapping[Any, Any]) -> Ancestors:
    path = [leaf]
    while path[-1] in parents:
        above = parents[path[-1]]
        if above in path:
            raise InvalidValue("a taxonomy must not run in a circle", [*path, above])
        path.append(above)
    return tuple(path)


def _rooted(path: Ancestors, roots: int) -> Ancestors:
    return path if roots == 1 and len(path) > 1 else (*path, SUPPRESSED)


def _from_paths(paths: Sequence[Ancestors]) -> Hierarchy:
    """Short branches are lengthened at the bottom: a value stays itself until its parent's level comes."""
    if not paths:
        raise InvalidValue("a taxonomy must end in values", None, "its names run in a circle, or there are none")
    depth = max(map(len, paths))
    full = [(path[0],) * (depth - len(path)) + path for path in paths]
    return Hierarchy.of([path[0] for path in full], [[label_of(path[at]) for path in full] for at in range(1, depth)])


def described_hierarchy(values: Values, kind: str, details: str = "") -> Hierarchy:
    """The hierarchy of ``values`` that is of some kind, with the details that the kind takes."""
    if kind not in KINDS:
        raise InvalidValue("the kind of a hierarchy must be known", kind, f"one of {', '.join(KINDS)}")
    return KINDS[kind](values, details)


def _masked_as_described(values: Values, details: str) -> Hierarchy:
    return masked(values, side="prefix" if details == "prefix" else "suffix")


def _dates(values: Values, details: str) -> Hierarchy:
    return dates(values, _list(details) or None)


def _intervals(values: Values, details: str) -> Hierarchy:
    return intervals(values, _numbers(details, "5,10,20"))


def _order(values: Values, details: str) -> Hierarchy:
    return ordered(values, [int(one) for one in _numbers(details, "3,9")])


KINDS: Mapping[str, Callable[[Values, str], Hierarchy]] = {
    "mask": _masked_as_described,
    "dates": _dates,
    "intervals": _intervals,
    "ordered": _order,
}
"""The kinds by name."""


def _list(details: str) -> list[str]:
    return [part.strip() for part in details.split(",") if part.strip()]


def _numbers(details: str, example: str) -> list[float]:
    try:
        found = [float(one) for one in _list(details)]
        return [int(one) if one == int(one) else one for one in found or [float("nan")]]
    except (ValueError, OverflowError):
        raise InvalidValue("the steps of a hierarchy must be numbers with commas", details, example) from None


_DELIMITER = ";"


def read_arx_csv(path: str | os.PathLike[str], *, delimiter: str = _DELIMITER) -> Hierarchy:
    """The hierarchy of a file. Its values are text; a column of numbers is matched by how its values are written."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as text:
            lines = [line for line in csv.reader(text, delimiter=delimiter) if line]
    except OSError:
        raise InvalidValue("the file of a hierarchy must be readable", str(path)) from None
    except UnicodeDecodeError:
        raise InvalidValue("the file of a hierarchy must be text in UTF-8", str(path), "save it as UTF-8") from None
    _refuse_ragged(lines, str(path))
    columns = list(zip(*lines, strict=True))
    return Hierarchy.of([None if value == MISSING else value for value in columns[0]], columns[1:])


def write_arx_csv(hierarchy: Hierarchy, path: str | os.PathLike[str], *, delimiter: str = _DELIMITER) -> None:
    """Write a hierarchy so that ARX and ``read_arx_csv`` read it."""
    written = [hierarchy.written(level) for level in range(hierarchy.height + 1)]
    with Path(path).open("w", encoding="utf-8", newline="") as text:
        # The writer puts a cell in quotes if it holds a character that ends lines, so both must.
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(zip(*written, strict=True))


def _refuse_ragged(lines: Sequence[Sequence[str]], path: str) -> None:
    if not lines:
        raise InvalidValue("the file of a hierarchy must have a line for every value", path, "it is empty")
    wrong = [number for number, line in enumerate(lines, start=1) if len(line) != len(lines[0])]
    if wrong:
        places = ", ".join(map(str, wrong[:10])) + ("" if len(wrong) <= 10 else f" and {len(wrong) - 10} more")
        rule = f"every line of a hierarchy must have {len(lines[0])} cells, as the first has; lines {places} have not"
        raise InvalidValue(rule, path)
