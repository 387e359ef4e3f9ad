"""The page about SQL, written from the code that reads it: what is answered, and every refusal with its remedy."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from sqlglot import exp

import discreet.query
from discreet.query.aggregates.registry import AGGREGATES
from discreet.query.bind import join as joining
from discreet.query.bind import per_unit, split
from discreet.query.bind.post_processing import ALLOWED_ABOVE
from discreet.query.expressions import calendar, dates, decimals
from discreet.query.expressions import public_values as domains
from discreet.query.expressions.date_dialects import CLOCKS, DATE_SPELLINGS
from discreet.query.expressions.functions import NUMBER_RULES
from discreet.query.expressions.logic import LOGIC_RULES
from discreet.query.expressions.read import CAST_TYPES, SPECIAL
from discreet.query.expressions.texts import TEXT_RULES
from discreet.query.parse import alternatives as instead
from discreet.query.parse import parser as parsing
from discreet.query.parse.alternatives import INSTEAD
from discreet.query.parse.dialect import QuestionDialect

HIDDEN = {
    "TS_OR_DS_ADD",
    "TS_OR_DS_TO_DATE",
    "TIME_STR_TO_TIME",
    "TIME_TO_UNIX",
    "AND",
    "OR",
    "REGEXP_I_LIKE",
    "TS_OR_DS_TO_DATE_STR",
    "STR_POSITION",
    "TIME_TO_STR",
}
"""Names that only the parser uses."""
OPERATORS: dict[type[exp.Expr], str] = {
    exp.Between: "BETWEEN",
    exp.In: "IN (…)",
    exp.Is: "IS NULL, IS TRUE, IS FALSE",
    exp.Not: "NOT",
    exp.Neg: "-x",
    exp.And: "AND",
    exp.Or: "OR",
    exp.Case: "CASE",
    exp.Cast: "CAST, ::",
    exp.TryCast: "TRY_CAST, SAFE_CAST",
    exp.Extract: "EXTRACT",
}
TITLES = {
    "parse.parser": "Reading the text",
    "bind.split": "The parts of a query",
    "bind.names": "Tables and columns",
    "bind.group_by": "Groups",
    "plan.public_groups": "Groups",
    "bind.join": "Joins",
    "bind.per_unit": "One row per person",
    "aggregates": "Aggregates",
    "bind.post_processing": "Above the aggregates",
    "expressions.read": "Expressions",
    "expressions.types": "Expressions",
    "expressions.functions": "Expressions",
    "expressions.decimals": "Expressions",
    "expressions.logic": "Expressions",
    "parse.alternatives": "Functions",
    "expressions.texts": "Text",
    "expressions.dates": "Dates",
    "parse.date_dialects": "Dates",
    "plan.question": "Prices",
    "plan.sensitivity": "Prices",
}


def sql_page() -> str:
    """The whole page."""
    lines = ["# SQL", "", "*Generated from the code by `make docs`.*", ""]
    lines += [_about(split), "", "How to ask is in [Ask in SQL](../how-to/ask-in-sql.md).", ""]
    lines += ["## The dialect", "", _about(parsing), ""]
    lines += [
        "Names are found without regard to case, in double quotes, in backticks or bare; text goes in single quotes.",
        "",
    ]
    lines += ["## Aggregates over protected rows", "", *_aggregates(), ""]
    lines += ["## Groups", "", _about(domains), ""]
    lines += ["## Joins", "", _about(joining), ""]
    lines += ["## One row per person", "", _about(per_unit), ""]
    lines += [
        "## Functions on rows",
        "",
        "They never fail on a row: what has no value gives NULL.",
        "",
        *_on_rows(),
        "",
    ]
    lines += ["## Decimals and real numbers", "", _about(decimals), ""]
    lines += ["## Dates and times", "", _about(dates), "", *_dates(), ""]
    lines += ["## Above the aggregates", "", _ABOVE, "", _list(_names(ALLOWED_ABOVE - _used_below())), ""]
    lines += ["## What to write instead", "", _about(instead), "", *_instead(), ""]
    lines += ["## Refusals", "", _REFUSALS, "", *_refusals()]
    return "\n".join(lines).rstrip() + "\n"


_NAMES = "Names are found without regard to case, in double quotes, in backticks or bare; text goes in single quotes."
_ABOVE = (
    "HAVING, QUALIFY, ORDER BY, LIMIT, DISTINCT, window functions, outer queries, set operations and joins with public "
    "tables cost nothing: they see noisy and public values alone. They may use every function above, and these:"
)
_REFUSING = ("refuse", "refuse_part")
"""What makes a refusal of a rule and a remedy, which it takes last."""
_REFUSALS = (
    "A refusal costs nothing, reads no row, and names the line, the column and the words. A gap in a rule (…) is "
    "filled with what the query says."
)


def _about(module: object) -> str:
    """What a module says about itself, without its first line."""
    text = inspect.getdoc(module) or ""
    return text.split("\n\n", 1)[1].replace("\n", " ").replace("  ", "\n\n") if "\n\n" in text else text


def _aggregates() -> list[str]:
    """What each aggregate is called, and how it is written: by its forms, and by the names of its functions."""
    forms: dict[str, dict[str, None]] = {}
    nodes: dict[str, list[type[exp.Expr]]] = {}
    for kind in AGGREGATES:
        for form, called in kind.forms.items():
            forms.setdefault(called, {})[form] = None
        for node, called in kind.spellings.items():
            nodes.setdefault(called, []).append(node)
    rows = {called: [*forms.get(called, {}), *_names(nodes.get(called, []))] for called in [*nodes, *forms] if called}
    written = [f"| {called} | {_list(names)} |" for called, names in rows.items()]
    filtered = "| some rows alone | `FILTER (WHERE …)` after any of them |"
    return ["| what | how it is written |", "| --- | --- |", *written, filtered]


def _on_rows() -> list[str]:
    parts = {
        "Numbers": NUMBER_RULES,
        "Comparison and choice": LOGIC_RULES | SPECIAL,
        "Text": TEXT_RULES,
    }
    lines = [f"**{title}.** {_list(_names(nodes))}\n" for title, nodes in parts.items()]
    lines.append(f"**Casts.** To {_list(CAST_TYPES)}.\n")
    return lines


def _dates() -> list[str]:
    functions = set(DATE_SPELLINGS) - {*CLOCKS, exp.AtTimeZone}
    return [
        f"**Functions.** `day + INTERVAL 30 DAY`, `day - 30`, `last - first`, {_list(_names(functions))}\n",
        f"**Units** of date_trunc, date_diff and INTERVAL: {_list(calendar.UNITS)}\n",
        f"**Parts** of EXTRACT and date_part: {_list(dates.DATE_PARTS)}",
    ]


def _used_below() -> set[type[exp.Expr]]:
    return {*NUMBER_RULES, *LOGIC_RULES, *TEXT_RULES, *SPECIAL, *DATE_SPELLINGS}


def _names(nodes: Iterable[type[exp.Expr]]) -> list[str]:
    found = {name for node in nodes for name in _names_of(node)}
    return sorted(found - HIDDEN, key=lambda name: (name[0].isalpha(), name))


def _spelled() -> dict[type[exp.Expr], set[str]]:
    """Which names our grammar reads as which node, found by letting it read each with one, two and three arguments."""
    found: dict[type[exp.Expr], set[str]] = {}
    for name, build in QuestionDialect.Parser.FUNCTIONS.items():
        for count in (1, 2, 3):
            node = _built(build, [exp.column(f"x{k}") for k in range(count)])
            if node is not None:
                found.setdefault(type(node), set()).add(name)
    return found


def _built(build: Callable[..., exp.Expr], arguments: list[exp.Expr]) -> exp.Expr | None:
    for further in ({}, {"dialect": QuestionDialect()}):
        with suppress(Exception):
            return build(arguments, **further)
    return None


_SPELLED = _spelled()


def _names_of(node: type[exp.Expr]) -> list[str]:
    if node in OPERATORS:
        return OPERATORS[node].split(", ")
    if issubclass(node, exp.Binary) and not issubclass(node, exp.Func):
        return [node(this=exp.Var(this=""), expression=exp.Var(this="")).sql(dialect="duckdb").strip()]
    named = set(node.sql_names()) if issubclass(node, exp.Func) else {node.__name__.upper()}
    return sorted(named | _SPELLED.get(node, set()))


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _instead() -> list[str]:
    names: dict[tuple[str, str], list[str]] = {}
    for name, one in INSTEAD.items():
        names.setdefault((one.rule.format("it"), one.sql or one.advice), []).append(name)
    rows = [f"| {_list(sorted(each))} | {_cell(rule)} | {_cell(sql)} |" for (rule, sql), each in names.items()]
    return ["| function | why it is refused | what works |", "| --- | --- | --- |", *rows]


def _refusals() -> list[str]:
    found: dict[str, dict[tuple[str, str], None]] = {}
    folder = Path(inspect.getfile(discreet.query)).parent
    files = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in sorted(folder.rglob("*.py"))}
    modules = {name: path for name, path in files.items() if name != "refusal"}
    titles = {name: title for place, title in TITLES.items() for name in modules if f"{name}.".startswith(f"{place}.")}
    for name, title in (titles | {name: "Others" for name in modules if name not in titles}).items():
        rules = _refusals_of(ast.parse(modules[name].read_text(encoding="utf-8")))
        found.setdefault(title, {}).update(dict.fromkeys(rules))
    lines = []
    for title, rules in found.items():
        if not rules:
            continue
        lines += [f"### {title}", "", "| rule | what would work |", "| --- | --- |"]
        lines += [f"| {_cell(rule)} | {_cell(remedy)} |" for rule, remedy in sorted(rules)] + [""]
    return lines


def _refusals_of(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The rules and remedies of every refusal in a module, also those that stand in its tables."""
    values = {
        target.id: _text(node.value, {})
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef):
            local = values | {
                target.id: _text(node.value, values)
                for node in ast.walk(scope)
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(scope):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _REFUSING:
                    yield from _pair(node.args[-2:], {name: text.replace("{}", "…") for name, text in local.items()})


def _pair(nodes: list[ast.expr], values: dict[str, str]) -> Iterator[tuple[str, str]]:
    texts = [_text(node, values) for node in nodes]
    if len(texts) == 2 and texts[0]:
        yield texts[0], texts[1]


def _text(node: ast.AST | None, values: dict[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id, "")
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, values) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left, values) + _text(node.right, values)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "suggestion":
        return "did you mean …?"
    return ""


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")
