"""The first rows of a unit: the SQL by which a series about people counts them in the order of periods.

A unit with ``before`` rows in earlier periods and ``n`` in this one, of whom k count in all, weighs here

    W                        for each row, where before + n <= k
    (k - before) * W // n    where before < k < before + n
    0                        where before >= k

So its rows of all periods together weigh k * W at most. That looks at rows of the unit itself up to this period, and
at no order inside one. Where people are counted, the same is done with the groups that they are in. Proof:
``discreet/curator/series/series.md``.
"""

from __future__ import annotations

__all__ = ["count_first", "count_reached", "weigh_first"]


def count_first(source: str, earlier: str | None) -> str:
    """``_first``: per unit of ``source``, how many rows it has there as ``n``, and had ``earlier`` as ``before``."""
    now = f"_counted AS (SELECT _unit, COUNT(*) AS n FROM {source} GROUP BY _unit)"
    if earlier is None:
        return f"{now}, _first AS (SELECT _unit, n, 0 AS before FROM _counted)"
    then = f"_earlier AS (SELECT _unit, COUNT(*) AS b FROM ({earlier}) e GROUP BY _unit)"
    joined = "SELECT _unit, n, COALESCE(b, 0) AS before FROM _counted LEFT JOIN _earlier USING (_unit)"
    return f"{now}, {then}, _first AS ({joined})"


def weigh_first(source: str, most: int, weight: int) -> str:
    """``_weighted``: the rows of ``source`` with their weight ``w``, where ``most`` of a unit count in all."""
    part = f"WHEN before < {most} THEN ({most} - before) * {weight} // n"
    each = f"CASE WHEN before + n <= {most} THEN {weight} {part} ELSE 0 END AS w"
    return f"_weighted AS (SELECT {source}.*, {each} FROM {source} JOIN _first USING (_unit))"


def count_reached(most: int) -> str:
    """How many units have their last row that counts in this period, as ``s``."""
    return f"SELECT COUNT(*) AS s FROM _first WHERE before < {most} AND before + n >= {most}"
