"""Joins: rows of protected tables meet within one person; public tables may be joined to them on equal columns.

INNER, LEFT, RIGHT and FULL joins are answered, with ON or USING, and FROM a, b WHERE a.x = b.y. Protected tables of one
kind of person are joined on the person, or along a declared foreign key. Rows of a public table that match nobody
belong to nobody, so an outer join may keep the protected side alone. A column named by USING needs no table before it.
WHERE x IN (SELECT … FROM a public table) keeps each row once. Where an outer join finds no row of a person, their
identifier is missing there: COUNT(DISTINCT …) of it leaves them out. Before a join that can make several rows of one, a
person keeps rows_per_unit of them; what could become more than rows_after_joins is refused. Of the rows that it makes
of a person rows_per_unit count, and a note says so: aggregate per person in a subquery first, where all of them should.

A question that makes a million rows of one person who meets a condition, and none of anybody else, would tell by its
running time, its memory or its failure whether there is such a person. So what a unit becomes has a limit: before a
join rows are left out of its sides, and what is still too much is refused.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.catalog.catalog import fold_name
from discreet.catalog.column import ColumnType
from discreet.query.bind.contribution import (
    ContributionBound,
    as_often,
    bound_referencing_rows,
    needing_truncation,
    pair_bounds,
)
from discreet.query.bind.multiplicity import of_pairs
from discreet.query.bind.names import Aliased, Shared, Visible, find_owner
from discreet.query.bind.relation import Names, Privacy, Relation, RowCounts, join_rows, project
from discreet.query.bind.truncation import limit_rows_per_key, one_per_key, truncate_rows
from discreet.query.expressions.expression import Call, Expression, Field, Statement
from discreet.query.expressions.logic import LOGIC_RULES
from discreet.query.expressions.read import LookUp, read, read_condition
from discreet.query.expressions.types import as_type, common_type
from discreet.query.parse.places import refuse

__all__ = [
    "bound_sides",
    "check_rows",
    "filter_in_public",
    "find_shared_columns",
    "join",
    "list_tests",
    "split_conditions",
    "split_in_predicates",
]


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


_SIDES = ("", "LEFT", "RIGHT", "FULL")
_KINDS = ("", "INNER", "OUTER", "CROSS")
_INNER = ("", "INNER", "CROSS")
_WORDS = {"this", "side", "kind", "on", "using"}


def split_conditions(
    joins: list[exp.Join], tests: list[exp.Expr], sources: list[Aliased]
) -> tuple[list[exp.Expr | None], list[exp.Expr]]:
    """What says for each join which rows belong together, and the other tests of WHERE.

    FROM a, b WHERE a.x = b.y is a JOIN b ON a.x = b.y. Tests move only past inner joins, and only where each of their
    columns can be of one table alone.
    """
    found: list[exp.Expr | None] = [each.args.get("on") for each in joins]
    if any(each.side or each.kind not in _INNER for each in joins):
        return found, tests
    for number, each in enumerate(joins, start=1):
        if found[number - 1] is None and not each.args.get("using") and each.args.get("method") is None:
            moved = [test for test in tests if _last_of(test, sources) == number]
            tests = [test for test in tests if not any(test is one for one in moved)]
            found[number - 1] = exp.and_(*moved) if moved else None
    return found, tests


def _last_of(test: exp.Expr, sources: list[Aliased]) -> int | None:
    """The last of the tables that a test is about; None where that is not sure."""
    if test.find(exp.Query) is not None:
        return None
    owners = [find_owner(column, sources) for column in test.find_all(exp.Column)]
    return max((owner for owner in owners if owner is not None), default=None) if None not in owners else None


def join(
    node: exp.Join,
    left: Relation,
    right: Relation,
    look_up: Visible,
    names: Names,
    *,
    on: exp.Expr | None,
    at_rest: bool = True,
) -> Relation:
    """The pairs of rows that a JOIN makes where ``on`` holds, from rows that stay as they are or not."""
    kind = _kind(node)
    _check_sides(node, kind, left, right)
    condition = _condition(node, on, left, right, look_up)
    pairs = _equal_pairs(condition, left, right)
    if not pairs:
        rule = "a join needs a column on the left that equals a column on the right"
        raise refuse(on or node, rule, "write ON a.x = b.y, and other conditions after AND")
    if left.privacy is not None and right.privacy is not None:
        _check_units(node, left.privacy, right.privacy, pairs)
    if left.alike is not None and right.alike is not None:
        mine = frozenset(field.name for _, field in left.columns)
        alike = of_pairs(left.alike, right.alike, pairs, mine, kind)
        return join_rows(left, right, kind, condition, names, contribution=None, alike=alike)
    left, right = _with_rows_per_key(left, right, pairs)
    left, right, contribution = bound_sides(node, left, right, kind, pairs, names, at_rest=at_rest)
    return join_rows(left, right, kind, condition, names, contribution=contribution)


def _with_rows_per_key(left: Relation, right: Relation, pairs: list[tuple[Field, Field]]) -> tuple[Relation, Relation]:
    """The sides, where what a public table tells about a key counts as many rows of a unit in one group as the key."""
    if left.privacy is not None and right.privacy is not None:
        return left, right
    # Names were read before the joins on the left, which may have told more about their columns.
    known = {field.name: field.rows_per_key for rows in (left, right) for _, field in rows.columns}
    stated = [most for pair in pairs for field in pair if (most := known.get(field.name)) is not None]
    if not stated:
        return left, right
    return _looked_up(left, min(stated)), _looked_up(right, min(stated))


def _looked_up(rows: Relation, most: int) -> Relation:
    if rows.privacy is not None:
        return rows
    return replace(rows, columns=tuple((name, replace(field, rows_per_key=most)) for name, field in rows.columns))


def find_shared_columns(node: exp.Join, left: Relation, right: Relation, shared: Shared) -> Shared:
    """The columns that USING makes one, with those that earlier joins made one."""
    found = dict(shared)
    for identifier in node.args.get("using") or []:
        name = identifier.name.casefold()
        mine, theirs = _left_of(name, left, shared), tuple(right.find(name))
        found[name] = {"RIGHT": theirs, "FULL": mine + theirs}.get(_kind(node), mine)
    return found


def _left_of(name: str, left: Relation, shared: Shared) -> tuple[Field, ...]:
    return shared.get(name.casefold()) or tuple(left.find(name))


def _kind(node: exp.Join) -> str:
    if node.args.get("method") == "NATURAL":
        raise refuse(node, "NATURAL JOIN joins on whatever names agree", "name the columns: JOIN … USING (x)")
    side, kind = (node.side or "").upper(), (node.kind or "").upper()
    unknown = {key for key, value in node.args.items() if value} - _WORDS
    if side not in _SIDES or kind not in _KINDS or unknown:
        rule = "tables are joined with JOIN, LEFT JOIN, RIGHT JOIN or FULL JOIN"
        raise refuse(node, rule, "write JOIN … ON …")
    return side or "INNER"


def _check_sides(node: exp.Join, kind: str, left: Relation, right: Relation) -> None:
    keeps_left = kind in ("LEFT", "FULL") and left.privacy is None and right.privacy is not None
    keeps_right = kind in ("RIGHT", "FULL") and right.privacy is None and left.privacy is not None
    if keeps_left or keeps_right:
        raise refuse(node, "rows of a public table that match nobody belong to nobody", "use an inner JOIN")


def _check_units(node: exp.Join, left: Privacy, right: Privacy, pairs: list[tuple[Field, Field]]) -> None:
    if left.unit != right.unit:
        rule = f"the tables protect different people ({left.unit} and {right.unit})"
        raise refuse(node, rule, "ask one question about each")
    if left.neighbours is not right.neighbours:
        raise refuse(node, "the tables hide different things", "give both the same neighbours")
    # The engine adds the equality of units in any case, so this is about meaning, not about privacy: where rows meet by
    # something else, SQL would pair rows of different people, and the added equality would leave these out in silence.
    keys = left.foreign_keys | right.foreign_keys
    if not any((a.is_unit and b.is_unit) or _is_along_key(a, b, keys) for a, b in pairs):
        rule = "protected tables are joined on the person, or along a declared foreign key"
        raise refuse(node, rule, "add the equality of the unit columns")


def _is_along_key(a: Field, b: Field, keys: frozenset[tuple[str, str, str, str]]) -> bool:
    """Whether one of two columns leads to the other by a declared foreign key, or both lead to the same one."""
    if a.column is None or b.column is None:
        return False
    mine, theirs = (tuple(fold_name(name) for name in field.column[:2]) for field in (a, b) if field.column is not None)
    of_mine, of_theirs = ({key[2:] for key in keys if key[:2] == one} for one in (mine, theirs))
    return theirs in of_mine or mine in of_theirs or not of_mine.isdisjoint(of_theirs)


def _condition(node: exp.Join, on: exp.Expr | None, left: Relation, right: Relation, look_up: Visible) -> Expression:
    using = node.args.get("using")
    if using:
        condition, *others = (_same_name(node, name.name, left, right, look_up.shared) for name in using)
        for test in others:
            condition = Call(ColumnType.BOOLEAN, condition.interval, True, "{0} AND {1}", (condition, test))
        return condition
    if on is None:
        rule = "neither ON nor WHERE says which rows of the two tables belong together"
        raise refuse(node, rule, "write JOIN … ON a.x = b.y")
    return read_condition(on, look_up)


def _same_name(node: exp.Join, name: str, left: Relation, right: Relation, shared: Shared) -> Expression:
    mine, theirs = _left_of(name, left, shared), right.find(name)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].type != theirs[0].type:
        raise refuse(node, f"USING needs one column {name} of one type on each side", "write JOIN … ON …")
    return Call(ColumnType.BOOLEAN, mine[0].interval, True, "{0} = {1}", (mine[0], theirs[0]))


def _equal_pairs(condition: Expression, left: Relation, right: Relation) -> list[tuple[Field, Field]]:
    """Fields of the two sides that the condition requires to be equal."""
    if not isinstance(condition, Call):
        return []
    if condition.template == "{0} AND {1}":
        return [pair for part in condition.arguments for pair in _equal_pairs(part, left, right)]
    sides = [argument for argument in condition.arguments if isinstance(argument, Field)]
    if condition.template != "{0} = {1}" or len(sides) != 2:
        return []
    mine, theirs = ({field.name for _, field in side.columns} for side in (left, right))
    first, second = sides
    if first.name in mine and second.name in theirs:
        return [(first, second)]
    return [(second, first)] if second.name in mine and first.name in theirs else []


def list_tests(where: exp.Expr | None) -> list[exp.Expr]:
    """The tests that WHERE joins with AND."""
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def split_in_predicates(tests: list[exp.Expr]) -> tuple[list[exp.In], list[exp.Expr]]:
    """The tests for membership in a subquery, and the others."""
    members = [test for test in tests if isinstance(test, exp.In) and test.args.get("query") is not None]
    return members, [test for test in tests if not any(test is member for member in members)]


def filter_in_public(rows: Relation, node: exp.In, listed: object, look_up: LookUp, names: Names) -> Relation:
    """The rows whose value is listed by a public table."""
    if not isinstance(listed, Relation) or listed.privacy is not None or len(listed.columns) != 1:
        rule = "IN takes a list, or one column of a public table as it is"
        raise refuse(node, rule, "join the table, or ask two questions")
    value, ((visible, column),) = read(node.this, look_up), listed.columns
    # as it is compared, and then each once: different integers can be one real number
    compared = project(listed, [(visible, as_type(column, common_type(node, [value, column])))], names)
    equal = LOGIC_RULES[exp.EQ](node, [value, compared.columns[0][1]])
    contribution = None if rows.privacy is None else rows.privacy.contribution  # a value meets itself alone
    once = _once(compared, names)
    kept = join_rows(rows, once, "INNER", equal, names, contribution=contribution, alike=rows.alike)
    one_row_each = rows.privacy is not None and rows.privacy.one_row_each
    privacy = kept.privacy and replace(kept.privacy, one_row_each=one_row_each)
    return replace(kept, columns=rows.columns, privacy=privacy)


def _once(listed: Relation, names: Names) -> Relation:
    alias = names.new("r")

    def write(statement: Statement) -> str:
        return f"SELECT DISTINCT * FROM ({listed.write(statement)}) {alias}"

    return replace(listed, write=write)
