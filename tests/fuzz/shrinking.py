"""Making a finding short: parts of the question and rows of the world are left out while the same rule stays broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import sqlglot
from sqlglot import exp

from tests.fuzz.finding import Finding
from tests.fuzz.fuzzer import Case
from tests.fuzz.oracle import Oracle
from tests.fuzz.places import Places
from tests.fuzz.worlds import FuzzWorld, without_row

__all__ = ["shrunk"]

_OPTIONAL = ("where", "having", "order", "limit", "with_", "joins")
_LISTS = ("expressions", "joins", "ifs")


def shrunk(case: Case, places: Places, tries: int = 400) -> Case:
    """The same rule, broken by a shorter question about fewer rows."""
    case = _with_shorter_text(case, places, tries)
    return _with_fewer_rows(case, places, tries // 4)


def _with_shorter_text(case: Case, places: Places, tries: int) -> Case:
    with places.taken_in(case.world) as pair:

        def found(sql: str) -> Finding | None:
            oracle = Oracle(pair, sql, case.epsilon)
            oracle.check()
            return next((one for one in oracle.found if one.broken is case.finding.broken), None)

        finding = case.finding
        while tries > 0:
            shorter = None
            for text in _shorter(finding.sql):
                tries -= 1
                if tries <= 0 or (shorter := found(text)) is not None:
                    break
            if shorter is None:
                break
            finding = shorter
    return replace(case, finding=finding)


def _shorter(sql: str) -> Iterator[str]:
    """Texts with a part left out, those that lose most first."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    texts = {_written(change) for change in _changes(tree)}
    yield from sorted((text for text in texts if text and len(text) < len(sql)), key=len)


def _written(tree: exp.Expr) -> str | None:
    """The text of a tree; None where too much was left out for there to be one."""
    try:
        return tree.sql(dialect="duckdb")
    except (ValueError, AttributeError, TypeError):
        return None


def _changes(tree: exp.Expr) -> Iterator[exp.Expr]:
    count = sum(1 for _ in tree.walk())
    for place in range(count):
        for change in _changes_of(list(tree.walk())[place]):
            copy = tree.copy()
            node = next(one for k, one in enumerate(copy.walk()) if k == place)
            found = change(node)
            yield copy if found is None else found


def _changes_of(node: exp.Expr) -> Iterator[Callable[[exp.Expr], exp.Expr | None]]:
    for name in _OPTIONAL:
        if node.args.get(name):
            yield partial(_set, name=name, value=None)
    for name in _LISTS:
        value = node.args.get(name)
        for k in range(len(value) if isinstance(value, list) and len(value) > 1 else 0):
            yield partial(_without, name=name, place=k)
    if isinstance(node, exp.Condition) and node.parent is not None:
        children = enumerate(_children(node))
        yield from (partial(_lifted, place=k) for k, child in children if isinstance(child, exp.Condition))


def _children(node: exp.Expr) -> list[exp.Expr]:
    return [child for child in node.iter_expressions() if not isinstance(child, (exp.Identifier, exp.DataType))]


def _set(node: exp.Expr, name: str, value: object) -> None:
    node.set(name, value)


def _without(node: exp.Expr, name: str, place: int) -> None:
    node.set(name, [*node.args[name][:place], *node.args[name][place + 1 :]])


def _lifted(node: exp.Expr, place: int) -> None:
    node.replace(_children(node)[place].copy())


def _with_fewer_rows(case: Case, places: Places, tries: int) -> Case:
    place = 0
    while tries > 0 and (fewer := without_row(case.world, place)) is not None:
        tries -= 1
        finding = _found(case, fewer, places)
        if finding is None:
            place += 1
        else:
            case = replace(case, world=fewer, finding=finding)
    return case


def _found(case: Case, world: FuzzWorld, places: Places) -> Finding | None:
    with places.taken_in(world) as pair:
        oracle = Oracle(pair, case.finding.sql, case.epsilon)
        oracle.check()
        return next((one for one in oracle.found if one.broken is case.finding.broken), None)
