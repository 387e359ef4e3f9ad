"""Mondrian as a textbook tells it: one node at a time, recursive, over lists. It shares no code with the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

Rows = tuple[int, ...]
Meets = Callable[[Sequence[int]], bool]


def strict(codes: Sequence[Sequence[int]], scales: Sequence[Sequence[float]], meets: Meets) -> set[frozenset[int]]:
    """The parts that strict cuts leave."""

    def parts(rows: Rows) -> list[Rows]:
        for axis in _by_width(codes, scales, rows):
            values = sorted(codes[axis][row] for row in rows)
            median = values[(len(values) - 1) // 2]
            sides = [
                tuple(tuple(row for row in rows if (codes[axis][row] <= limit) is lower) for lower in (True, False))
                for limit in (median, median - 1)
            ]
            for below, above in sorted(sides, key=lambda pair: -min(map(len, pair))):
                if below and above and meets(below) and meets(above):
                    return parts(below) + parts(above)
        return [rows]

    return set(map(frozenset, parts(tuple(range(len(codes[0]))))))


def relaxed(codes: Sequence[Sequence[int]], scales: Sequence[Sequence[float]], meets: Meets) -> set[frozenset[int]]:
    """The parts that cuts into halves leave; ties are broken by all codes, and then by the order of the rows."""

    def parts(rows: Rows) -> list[Rows]:
        for axis in _by_width(codes, scales, rows):
            order = sorted(rows, key=lambda row: (codes[axis][row], [column[row] for column in codes], row))
            below, above = tuple(order[: len(order) // 2]), tuple(order[len(order) // 2 :])
            if below and meets(below) and meets(above):
                return parts(below) + parts(above)
        return [rows]

    return set(map(frozenset, parts(tuple(range(len(codes[0]))))))


def _by_width(codes: Sequence[Sequence[int]], scales: Sequence[Sequence[float]], rows: Rows) -> list[int]:
    """The axes on which rows differ, the widest first."""
    ends = [(min(column[row] for row in rows), max(column[row] for row in rows)) for column in codes]
    widths = [scale[high] - scale[low] for scale, (low, high) in zip(scales, ends, strict=True)]
    return sorted((axis for axis, width in enumerate(widths) if width > 0), key=lambda axis: -widths[axis])


def along_hierarchies(
    codes: Sequence[Sequence[int]], levels: Sequence[Sequence[Sequence[int]]], meets: Meets
) -> set[frozenset[int]]:
    """The parts that are left when hierarchies are followed down; ``levels[j][l][c]`` is the group of a code."""

    def leaves(axis: int, level: int, code: int) -> int:
        groups = levels[axis][level]
        return sum(1 for group in groups if group == groups[code])

    def split(axis: int, rows: Rows) -> tuple[Fraction, list[Rows]]:
        own = [codes[axis][row] for row in rows]
        shared = next(one for one, groups in enumerate(levels[axis]) if len({groups[code] for code in own}) == 1)
        tried = (split_at(axis, rows, shared, level) for level in range(shared - 1, -1, -1))
        return next((found for found in tried if found[0] > 0), (Fraction(0), []))

    def split_at(axis: int, rows: Rows, shared: int, level: int) -> tuple[Fraction, list[Rows]]:
        groups: dict[int, list[int]] = {}
        for row in rows:
            groups.setdefault(levels[axis][level][codes[axis][row]], []).append(row)
        alone = {group: members for group, members in sorted(groups.items()) if meets(members)}
        rest = [row for group, members in groups.items() if group not in alone for row in members]
        while alone and rest and not meets(rest):
            smallest = min(alone, key=lambda group: len(alone[group]))
            rest += alone.pop(smallest)
        saved = sum(
            (leaves(axis, shared, codes[axis][rows[0]]) - leaves(axis, level, codes[axis][members[0]])) * len(members)
            for members in alone.values()
        )
        return Fraction(saved, len(levels[axis][0])), [tuple(members) for members in [*alone.values(), rest] if members]

    def parts(rows: Rows) -> list[Rows]:
        gain, children = max((split(axis, rows) for axis in range(len(codes))), key=lambda found: found[0])
        return [part for child in children for part in parts(child)] if gain > 0 else [rows]

    return set(map(frozenset, parts(tuple(range(len(codes[0]))))))
