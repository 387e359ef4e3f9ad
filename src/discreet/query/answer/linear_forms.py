"""Linear forms above the aggregates: of which noisy cells a value is made, and how often each is in it.

A linear form is a list of pairs, a cell's number and its factor, in a column that stands beside the value's own. The
database computes it along with the value: sums put lists together, public factors multiply them, LAG and LEAD look at
the list of another row, and a window's list has what the window sees. So a cell that was used twice is there twice, and
cancels or adds up exactly. A number that is public has the cell `PUBLIC`, which is always 1.

A value has a form where nothing but public values decides what is added: the rows, the order and frame of a window, the
branch of a CASE. Anything else has none. A list is NULL where its value is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp

from discreet.query.answer.interval_columns import has_public_rows
from discreet.query.answer.noisy_columns import NoisyQuery, QuerySource, TableSource, read_column, read_view

__all__ = ["FORM", "PUBLIC", "Linear", "Quotient", "append_once", "find_linear_form", "find_quotient", "rows_read"]


FORM = "_form"
"""The ending of the column of a noisy table with the form of an aggregate."""
PUBLIC = -1
"""The cell that is always 1."""
_MOST_ROWS = 1000
"""How many rows a query may read for lists over many of them: a list for each row grows with the square."""
_REAL = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
_OTHER_ROW = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)

Write = Callable[[], exp.Expr]


@dataclass(frozen=True)
class Linear:
    """A value that is a linear form of noisy cells."""

    write: Write
    """Adds to the query what the form is made of, and gives the expression with its list."""
    is_plain: bool = True
    """Whether the value is NULL where a public value says so, and never because of noise."""


@dataclass(frozen=True)
class Quotient:
    """A value that is one linear form divided by another."""

    above: Linear
    below: Linear
    divisor: exp.Expr
    """The divisor as the query says it: what is divided by the same can be added."""


def find_linear_form(node: exp.Expr, view: NoisyQuery, *, is_inside: bool = False) -> Linear | None:
    """The form of an expression of a query, inside or outside of an aggregate; None where it has none."""
    if not view.is_noisy(node):
        return Linear(lambda: _template("[{'i': CAST(-1 AS INT), 'c': TRY_CAST(x AS DOUBLE)}]", x=node))
    rule = _RULES.get(type(node))
    return None if rule is None else rule(node, _FormPlace(view, is_inside))


def find_quotient(node: exp.Expr, view: NoisyQuery) -> Quotient | None:
    """The two forms of an expression that is a quotient of them, up to public numbers; None where it is none."""
    place, kind = _FormPlace(view), type(node)
    if isinstance(node, (exp.Paren, exp.Nullif)) or (isinstance(node, exp.Cast) and node.to.is_type(*_REAL)):
        return find_quotient(node.this, view)
    if isinstance(node, exp.Column):
        return _column_quotient(node, view)
    if kind is exp.Div:
        return _divide(node, place)
    if kind is exp.Mul:
        return _scaled_quotient(node, place)
    return _added_quotients(node, place) if kind in (exp.Add, exp.Sub) else None


def append_once(query: exp.Query, name: str, write: Write) -> str:
    """Add a column behind those of a query, unless it is there."""
    if name not in [each.alias for each in query.selects]:
        query.append("expressions", exp.alias_(write(), name, quoted=True))
    return name


@dataclass(frozen=True)
class _FormPlace:
    """Where an expression stands."""

    view: NoisyQuery
    is_inside: bool = False

    def linear(self, node: exp.Expr) -> Linear | None:
        return find_linear_form(node, self.view, is_inside=self.is_inside)

    def is_public(self, node: exp.Expr) -> bool:
        return not self.view.is_noisy(node)


Rule = Callable[[exp.Expr, _FormPlace], Linear | None]


def _template(text: str, **parts: exp.Expr) -> exp.Expr:
    """SQL with expressions put in the place of names."""
    found = sqlglot.parse_one(text, read="duckdb")
    for column in list(found.find_all(exp.Column)):
        if not column.table and column.name in parts:
            column.replace(exp.Paren(this=parts[column.name].copy()))
    return found


def _times(form: Linear, factor: exp.Expr, *, divides: bool = False) -> Linear | None:
    """The form times a public number, or divided by it."""
    if factor.find(exp.Query, exp.Subquery):  # which the database does not allow there
        return None
    sign = "/" if divides else "*"
    text = f"LIST_TRANSFORM(f, LAMBDA __t : {{'i': __t.i, 'c': __t.c {sign} TRY_CAST(k AS DOUBLE)}})"
    return replace(form, write=lambda: _template(text, f=form.write(), k=factor))


def _plus(one: Linear | None, other: Linear | None, *, minus: bool = False) -> Linear | None:
    if one is not None and other is not None and minus:
        other = _times(other, exp.Neg(this=exp.Literal.number(1)))
    if one is None or other is None:
        return None
    first, second = one, other
    # A list that is NULL makes the sum NULL, as a missing summand does.
    both = lambda: _template("f || g", f=first.write(), g=second.write())  # noqa: E731
    return Linear(both, one.is_plain and other.is_plain)


# Arithmetic.


def _same(node: exp.Expr, place: _FormPlace) -> Linear | None:
    return place.linear(node.this)


def _negate(node: exp.Expr, place: _FormPlace) -> Linear | None:
    form = place.linear(node.this)
    return None if form is None else _times(form, exp.Neg(this=exp.Literal.number(1)))


def _add(node: exp.Expr, place: _FormPlace) -> Linear | None:
    one, other = place.linear(node.this), place.linear(node.expression)
    return _plus(one, other, minus=isinstance(node, exp.Sub))


def _multiply(node: exp.Expr, place: _FormPlace) -> Linear | None:
    for factor, rest in ((node.this, node.expression), (node.expression, node.this)):
        form = place.linear(rest) if place.is_public(factor) else None
        if form is not None:
            return _times(form, factor)
    return None


def _divided_by_number(node: exp.Expr, place: _FormPlace) -> Linear | None:
    if _cuts_off(node) or not place.is_public(node.expression):
        return None
    form = place.linear(node.this)
    return None if form is None else _times(form, node.expression, divides=True)


def _cuts_off(node: exp.Expr) -> bool:
    """Whether a quotient is made whole, as dialects do that divide whole numbers."""
    sides = (node.this, node.expression)
    return bool(node.args.get("typed")) and all(side.is_type(*exp.DataType.INTEGER_TYPES) for side in sides)


def _cast(node: exp.Expr, place: _FormPlace) -> Linear | None:
    return place.linear(node.this) if node.args["to"].is_type(*_REAL) else None


def _null_if(node: exp.Expr, place: _FormPlace) -> Linear | None:
    form = place.linear(node.this)
    return None if form is None else replace(form, is_plain=False)


def _coalesce(node: exp.Expr, place: _FormPlace) -> Linear | None:
    """The first list that is not NULL belongs to the first value that is not, where noise makes none NULL."""
    forms = _all([node.this, *node.expressions], place)
    if forms is None or not all(form.is_plain for form in forms):
        return None
    return Linear(lambda: exp.Coalesce(this=forms[0].write(), expressions=[form.write() for form in forms[1:]]))


def _choose(node: exp.Expr, place: _FormPlace) -> Linear | None:
    """The branch of a CASE whose conditions are public."""
    is_case = isinstance(node, exp.Case)
    ifs = node.args["ifs"] if is_case else [node]
    otherwise = node.args.get("default" if is_case else "false")
    subject = node.this if is_case else None
    if not all(place.is_public(each) for each in [*[one.this for one in ifs], *([subject] if subject else [])]):
        return None
    branches = [one.args["true"] for one in ifs] + ([] if otherwise is None else [otherwise])
    forms = [None if isinstance(each, exp.Null) else place.linear(each) for each in branches]
    if any(form is None and not isinstance(each, exp.Null) for form, each in zip(forms, branches, strict=True)):
        return None

    def write() -> exp.Expr:
        lists = [exp.Null() if form is None else form.write() for form in forms]
        pairs = [exp.If(this=one.this.copy(), true=each) for one, each in zip(ifs, lists, strict=False)]
        default = lists[len(ifs)] if len(lists) > len(ifs) else None
        return exp.Case(this=None if subject is None else subject.copy(), ifs=pairs, default=default)

    return Linear(write, all(form is None or form.is_plain for form in forms))


def _all(nodes: list[exp.Expr], place: _FormPlace) -> list[Linear] | None:
    forms = [place.linear(node) for node in nodes]
    return None if None in forms else [form for form in forms if form is not None]


# Columns.


def _column(node: exp.Expr, place: _FormPlace) -> Linear | None:
    if not isinstance(node, exp.Column):
        return None
    found = place.view.found(node)
    if not found:
        return place.view.unfolded(node, place.linear, unknown=None)
    if len(found) > 1 or (place.view.is_grouped and not place.is_inside):
        return None
    (source,) = found
    form = _table_column(source, node.name) if isinstance(source, TableSource) else _query_column(source, node.name)
    return None if form is None else replace(form, is_plain=form.is_plain and not place.view.noise_joined_rows)


def _table_column(source: TableSource, name: str) -> Linear | None:
    is_formed = name in source.shape.formed
    return Linear(lambda: read_column(source.alias, name + FORM)) if is_formed else None


def _query_column(source: QuerySource, name: str) -> Linear | None:
    positions = source.view.positions(name)
    form = _shown(source.view, positions[0]) if len(positions) == 1 else None
    if form is None:
        return None
    inner = form

    def write() -> exp.Expr:
        added = inner.write()
        return read_column(source.alias, added.name)

    return Linear(write, form.is_plain)


def _shown(view: NoisyQuery, position: int) -> Linear | None:
    """The form of a column that a query shows, as a column that is added to the query."""
    name = f"__form_{position}"
    if view.is_united:
        sides = [_shown(side, position) for side in view.sides if position < len(side.names)]
        known = [side for side in sides if side is not None]
        if len(known) < len(view.sides):
            return None
        return Linear(lambda: _write(known)[0], all(side.is_plain for side in known))
    form = find_linear_form(view.projections[position].unalias(), view) if view.is_open else None
    if form is None:
        return None
    return Linear(lambda: read_column("", append_once(view.query, name, form.write)), form.is_plain)


def _write(sides: list[Linear]) -> list[exp.Expr]:
    return [side.write() for side in sides]


def _subquery(node: exp.Expr, place: _FormPlace) -> Linear | None:
    """One value from a query of its own, whose rows noise did not choose."""
    if not isinstance(node, exp.Subquery):
        return None
    view = read_view(node, place.view.tables)
    is_one = len(view.names) == 1 and not view.is_chosen and view.shows_noise(0)
    form = _shown(view, 0) if is_one else None
    if form is None:
        return None

    def write() -> exp.Expr:
        inner = read_view(node.copy(), place.view.tables)
        again = _shown(inner, 0)
        if again is None:
            raise AssertionError("a copy has the form of what was copied")
        column = again.write()
        alias = exp.TableAlias(this=exp.to_identifier("__one", quoted=True))
        return exp.select(column).from_(exp.Subquery(this=inner.query.copy(), alias=alias)).subquery()

    return Linear(write, form.is_plain)


# Many rows.


def rows_read(view: NoisyQuery) -> int:
    """About how many rows a query reads: a join on something has as many as its larger side, any other all pairs."""
    if view.is_united:
        return sum(rows_read(side) for side in view.sides)
    counts = [
        (source.shape.rows or 0) if isinstance(source, TableSource) else rows_read(source.view)
        for source in view.sources
    ]
    joins = view.query.args.get("joins") or []
    is_paired = any(not (join.args.get("on") or join.args.get("using") or join.method) for join in joins)
    return math.prod(counts) if is_paired else max(counts, default=1)


def _collect(node: exp.Expr, place: _FormPlace) -> Linear | None:
    """A sum or mean over rows that noise did not choose: the list of their lists."""
    is_seen = not place.is_inside and not place.view.noise_chose_rows
    return _over_rows(node, place, inside=True, around=lambda each: each) if is_seen else None


def _window(node: exp.Expr, place: _FormPlace) -> Linear | None:
    """A function over the rows of a window that noise decided nothing about."""
    if not isinstance(node, exp.Window) or place.is_inside or not has_public_rows(node, place.view):
        return None

    def around(function: exp.Expr) -> exp.Expr:
        window = node.copy()
        window.set("this", function)
        return window

    if isinstance(node.this, _OTHER_ROW):
        return _of_other_row(node.this, place, around)
    return _over_rows(node.this, place, inside=False, around=around)


def _of_other_row(call: exp.Expr, place: _FormPlace, around: Callable[[exp.Expr], exp.Expr]) -> Linear | None:
    """LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE: the list of that row; else that of the default."""
    form, given = place.linear(call.this), call.args.get("default")
    default = place.linear(given) if given is not None else None
    offset = call.args.get("offset")
    is_known = form is not None and form.is_plain and (given is None or default is not None)
    if form is None or not is_known or (offset is not None and not place.is_public(offset)):
        return None
    if {key for key, value in call.args.items() if value} - {"this", "offset", "default"}:
        return None

    def write() -> exp.Expr:
        moved = call.copy()
        moved.set("this", form.write())
        if default is not None:
            moved.set("default", default.write())
        return around(moved)

    return Linear(write, default is None or default.is_plain)


def _over_rows(
    node: exp.Expr, place: _FormPlace, *, inside: bool, around: Callable[[exp.Expr], exp.Expr]
) -> Linear | None:
    call = node.this if isinstance(node, exp.Filter) else node
    is_filtered = isinstance(node, exp.Filter)
    is_plain = [key for key, value in call.args.items() if value] == ["this"]
    is_read = is_plain and isinstance(call, (exp.Sum, exp.Avg)) and not isinstance(call.this, (exp.Distinct, exp.Order))
    if not is_read or (is_filtered and not place.is_public(node.expression)):
        return None
    form = find_linear_form(call.this, place.view, is_inside=inside) if rows_read(place.view) <= _MOST_ROWS else None
    if form is None or not form.is_plain:
        return None

    def over(name: str) -> exp.Expr:
        """An aggregate of the lists that are not NULL: a sum passes over missing values."""
        is_there = exp.Not(this=exp.Is(this=form.write(), expression=exp.Null()))
        where = exp.and_(node.expression.this.copy(), is_there) if is_filtered else is_there
        aggregate = exp.Anonymous(this=name, expressions=[form.write()])
        return around(exp.Filter(this=aggregate, expression=exp.Where(this=where)))

    def write() -> exp.Expr:
        together = _template("FLATTEN(f)", f=over("LIST"))
        if isinstance(call, exp.Sum):
            return together
        count = over("COUNT")
        text = "LIST_TRANSFORM(f, LAMBDA __t : {'i': __t.i, 'c': __t.c / k})"
        return _template(text, f=together, k=count)

    return Linear(write)


# Quotients.


def _divide(node: exp.Expr, place: _FormPlace) -> Quotient | None:
    if _cuts_off(node):
        return None
    if place.is_public(node.expression):
        quotient = find_quotient(node.this, place.view)
        above = None if quotient is None else _times(quotient.above, node.expression, divides=True)
        return None if quotient is None or above is None else replace(quotient, above=above)
    above, below = place.linear(node.this), place.linear(node.expression)
    return None if above is None or below is None else Quotient(above, below, _bare(node.expression))


def _bare(node: exp.Expr) -> exp.Expr:
    return _bare(node.this) if isinstance(node, (exp.Paren, exp.Nullif)) else node


def _scaled_quotient(node: exp.Expr, place: _FormPlace) -> Quotient | None:
    for factor, rest in ((node.this, node.expression), (node.expression, node.this)):
        quotient = find_quotient(rest, place.view) if place.is_public(factor) else None
        above = None if quotient is None else _times(quotient.above, factor)
        if quotient is not None and above is not None:
            return replace(quotient, above=above)
    return None


def _added_quotients(node: exp.Expr, place: _FormPlace) -> Quotient | None:
    """A sum or difference of quotients with one divisor, or of a quotient and a public number."""
    is_minus, sides = isinstance(node, exp.Sub), (node.this, node.expression)
    found = [find_quotient(side, place.view) if not place.is_public(side) else None for side in sides]
    divisor = next((each for each in found if each is not None), None)
    if divisor is None:
        return None
    above: list[Linear | None] = []
    for side, quotient in zip(sides, found, strict=True):
        if quotient is None:
            above.append(_times(divisor.below, side) if place.is_public(side) else None)
        else:
            above.append(quotient.above if quotient.divisor == divisor.divisor else None)
    total = _plus(above[0], above[1], minus=is_minus)
    return None if total is None else replace(divisor, above=total)


def _column_quotient(node: exp.Column, view: NoisyQuery) -> Quotient | None:
    """A quotient that a subquery computes, row by row; or another column of this query."""
    found = view.found(node)
    if not found:
        return view.unfolded(node, lambda meant: find_quotient(meant, view), unknown=None)
    if len(found) > 1 or view.is_grouped or isinstance(found[0], TableSource):
        return None
    source = found[0]
    positions = source.view.positions(node.name)
    if len(positions) != 1 or not source.view.is_open:
        return None
    quotient = find_quotient(source.view.projections[positions[0]].unalias(), source.view)
    if quotient is None:
        return None

    def carried(form: Linear, name: str) -> Linear:
        at = f"__{name}_{positions[0]}"
        return replace(form, write=lambda: read_column(source.alias, append_once(source.view.query, at, form.write)))

    return Quotient(carried(quotient.above, "above"), carried(quotient.below, "below"), node)


_RULES: dict[type[exp.Expr], Rule] = {
    exp.Paren: _same,
    exp.Neg: _negate,
    exp.Add: _add,
    exp.Sub: _add,
    exp.Mul: _multiply,
    exp.Div: _divided_by_number,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Nullif: _null_if,
    exp.Coalesce: _coalesce,
    exp.Case: _choose,
    exp.If: _choose,
    exp.Column: _column,
    exp.Subquery: _subquery,
    exp.Sum: _collect,
    exp.Avg: _collect,
    exp.Filter: _collect,
    exp.Window: _window,
}
