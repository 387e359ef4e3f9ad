"""The bounds of a join: what is left out of its sides, what one unit can become, and the refusal of what is too much.

A question that makes a million rows of one person who meets a condition, and none of anybody else, would tell by its
running time, its memory or its failure whether there is such a person. So what a unit becomes has a limit.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.catalog.catalog import fold_name
from discreet.query.bind.contribution import (
    ContributionBound,
    as_often,
    bound_referencing_rows,
    needing_truncation,
    pair_bounds,
)
from discreet.query.bind.relation import Names, Privacy, Relation, RowCounts
from discreet.query.bind.truncation import limit_rows_per_key, one_per_key, truncate_rows
from discreet.query.expressions.expression import Field
from discreet.query.parse.refusal import refuse

__all__ = ["bound_sides", "check_rows"]


_REMEDY = "join fewer tables, or GROUP BY the person in a subquery before; the owner's limit is rows_after_joins"

Pairs = list[tuple[Field, Field]]


def bound_sides(
    node: exp.Join, left: Relation, right: Relation, kind: str, pairs: Pairs, names: Names, *, at_rest: bool
) -> tuple[Relation, Relation, ContributionBound]:
    """The sides of a join, of which one at least is private, as they are joined; and the rows of a unit afterwards."""
    if left.privacy is not None and right.privacy is not None:
        found = _along_key(left, right, kind, pairs, names)
        return found or _of_two(node, left, right, kind, left.privacy, right.privacy, names)
    if left.privacy is not None:
        private, public, keys = left, right, [theirs for _, theirs in pairs]
    else:
        private, public, keys = right, left, [mine for mine, _ in pairs]
    private, public, contribution = _of_one(node, private, public, keys, names, at_rest=at_rest)
    return (private, public, contribution) if left.privacy is not None else (public, private, contribution)


def _along_key(
    left: Relation, right: Relation, kind: str, pairs: Pairs, names: Names
) -> tuple[Relation, Relation, ContributionBound] | None:
    """The sides of a join along a foreign key; None where it is another join.

    A foreign key leads to one row, so one row for each of its values is kept: that nothing is multiplied does not hang
    on what the tables hold. A key that names people is none here, and rows that were joined may hold it several times.
    """
    for mine, theirs in pairs:
        if _leads(left, mine, right, theirs):
            keeps_key = kind in ("RIGHT", "FULL")
            return left, one_per_key(right, theirs, names), _led(left, right, keeps_key=keeps_key)
        if _leads(right, theirs, left, mine):
            keeps_key = kind in ("LEFT", "FULL")
            return one_per_key(left, mine, names), right, _led(right, left, keeps_key=keeps_key)
    return None


def _leads(rows: Relation, column: Field, others: Relation, key: Field) -> bool:
    if rows.privacy is None or column.column is None or key.column is None:
        return False
    named = tuple(fold_name(name) for name in (*column.column[:2], *key.column[:2]))
    is_plain = others.tallied is not RowCounts.NOTHING and not key.is_unit and not key.is_clamped
    return is_plain and named in rows.privacy.foreign_keys


def _led(rows: Relation, others: Relation, *, keeps_key: bool) -> ContributionBound:
    if rows.privacy is None or others.privacy is None:
        raise AssertionError("rows of two protected tables")
    return bound_referencing_rows(rows.privacy.contribution, others.privacy.contribution, keeps_key=keeps_key)


def _of_two(
    node: exp.Join, left: Relation, right: Relation, kind: str, mine: Privacy, theirs: Privacy, names: Names
) -> tuple[Relation, Relation, ContributionBound]:
    spare_left = not _names_people(mine) or _names_people(theirs)
    is_left, is_right = needing_truncation(mine.contribution, theirs.contribution, spare_left=spare_left)
    one = mine.contribution.truncated if is_left else mine.contribution
    two = theirs.contribution.truncated if is_right else theirs.contribution
    found = pair_bounds(one, two, is_full=kind == "FULL")
    _check(node, found, min(mine.most_rows, theirs.most_rows), f"{one.plus:,} × {two.plus:,}")
    return truncate_rows(left, names) if is_left else left, truncate_rows(right, names) if is_right else right, found


def _names_people(privacy: Privacy) -> bool:
    """Whether the rows are of the table that gives people their names, and so has one row for each."""
    return privacy.tables == {privacy.unit.rpartition(".")[0]}


def _of_one(
    node: exp.Join, private: Relation, public: Relation, keys: list[Field], names: Names, *, at_rest: bool
) -> tuple[Relation, Relation, ContributionBound]:
    if private.privacy is None or public.alike is None:
        raise AssertionError("one side is private and the other public")
    privacy, most = private.privacy, public.alike(frozenset(key.name for key in keys))
    is_private_truncated = most > 1 and privacy.contribution.most is None
    rows = privacy.contribution.truncated if is_private_truncated else privacy.contribution
    found = as_often(rows, most)
    _check(node, found, privacy.most_rows, f"{rows.plus:,} × {most:,}")
    private = truncate_rows(private, names) if is_private_truncated else private
    return private, public if at_rest else limit_rows_per_key(public, keys, most, names), found


def _check(node: exp.Expr, found: ContributionBound, most: int, product: str) -> None:
    if found.plus > most:
        rule = f"joins may make at most {most:,} rows of one person, and here {product} = {found.plus:,} are possible"
        raise refuse(node, rule, _REMEDY)


def check_rows(node: exp.SetOperation, rows: Relation) -> None:
    """Refuse rows that were joined and put together if a unit can become too many by it."""
    if rows.privacy is not None and rows.privacy.contribution.plus > rows.privacy.most_rows:
        most, found = rows.privacy.most_rows, rows.privacy.contribution.plus
        rule = f"joins may make at most {most:,} rows of one person, and together {found:,} are possible"
        raise refuse(node, rule, _REMEDY)
