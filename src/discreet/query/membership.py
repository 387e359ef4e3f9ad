"""WHERE x IN (SELECT … FROM a public table): each row is kept once, however often its value is listed."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.query.conversion import as_type, common_type
from discreet.query.expression import Statement
from discreet.query.logic import LOGIC_RULES
from discreet.query.reading import LookUp, read
from discreet.query.refusal import refuse
from discreet.query.relation import Names, Relation, joined, projected

__all__ = ["among", "apart", "tests_of"]


def tests_of(where: exp.Expr | None) -> list[exp.Expr]:
    """The tests that WHERE joins with AND."""
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def apart(tests: list[exp.Expr]) -> tuple[list[exp.In], list[exp.Expr]]:
    """The tests for membership in a subquery, and the others."""
    members = [test for test in tests if isinstance(test, exp.In) and test.args.get("query") is not None]
    return members, [test for test in tests if not any(test is member for member in members)]


def among(rows: Relation, node: exp.In, listed: object, look_up: LookUp, names: Names) -> Relation:
    """The rows whose value is listed by a public table."""
    if not isinstance(listed, Relation) or listed.privacy is not None or len(listed.columns) != 1:
        rule = "IN takes a list, or one column of a public table as it is"
        raise refuse(node, rule, "join the table, or ask two questions")
    value, ((visible, column),) = read(node.this, look_up), listed.columns
    # as it is compared, and then each once: different integers can be one real number
    compared = projected(listed, [(visible, as_type(column, common_type(node, [value, column])))], names)
    equal = LOGIC_RULES[exp.EQ](node, [value, compared.columns[0][1]])
    contribution = None if rows.privacy is None else rows.privacy.contribution  # a value meets itself alone
    once = _once(compared, names)
    kept = joined(rows, once, "INNER", equal, names, contribution=contribution, alike=rows.alike)
    one_row_each = rows.privacy is not None and rows.privacy.one_row_each
    privacy = kept.privacy and replace(kept.privacy, one_row_each=one_row_each)
    return replace(kept, columns=rows.columns, privacy=privacy)


def _once(listed: Relation, names: Names) -> Relation:
    alias = names.new("r")

    def write(statement: Statement) -> str:
        return f"SELECT DISTINCT * FROM ({listed.write(statement)}) {alias}"

    return replace(listed, write=write)
