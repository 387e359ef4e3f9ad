"""Hierarchies from taxonomies: trees of names, as nested dicts or as a dict from every child to its parent.

>>> jobs = taxonomy({"Medical": {"Doctor": ["Surgeon", "GP"], "Nurse": []}, "Office": ["Clerk"]})
>>> jobs.values, jobs.labels[1]
(('Surgeon', 'GP', 'Nurse', 'Clerk'), ('Doctor', 'Nurse', 'Clerk'))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet.anonymize.coded import label_of
from discreet.anonymize.hierarchy import SUPPRESSED, Hierarchy
from discreet.errors import InvalidType, InvalidValue

__all__ = ["taxonomy", "taxonomy_of_parents"]

Path = tuple[Any, ...]


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
    return _from_paths([_rooted(_climbed(leaf, parents), len(roots)) for leaf in leaves])


def _paths(tree: Any, above: Path) -> Iterator[Path]:
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


def _climbed(leaf: Any, parents: Mapping[Any, Any]) -> Path:
    path = [leaf]
    while path[-1] in parents:
        above = parents[path[-1]]
        if above in path:
            raise InvalidValue("a taxonomy must not run in a circle", [*path, above])
        path.append(above)
    return tuple(path)


def _rooted(path: Path, roots: int) -> Path:
    return path if roots == 1 and len(path) > 1 else (*path, SUPPRESSED)


def _from_paths(paths: Sequence[Path]) -> Hierarchy:
    """Short branches are lengthened at the bottom: a value stays itself until its parent's level comes."""
    if not paths:
        raise InvalidValue("a taxonomy must end in values", None, "its names run in a circle, or there are none")
    depth = max(map(len, paths))
    full = [(path[0],) * (depth - len(path)) + path for path in paths]
    return Hierarchy.of([path[0] for path in full], [[label_of(path[at]) for path in full] for at in range(1, depth)])
