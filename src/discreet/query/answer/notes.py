"""What an answer says about the error bars of what is computed above its aggregates: where they say less, or are not.

Every sentence follows from the query alone, so it is known before anything is asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.query.answer.interval_columns import has_public_rows
from discreet.query.answer.interval_propagation import describe_shape, with_intervals
from discreet.query.answer.noisy_columns import NoisyQuery, NoisyTable, TableSource, read_view
from discreet.query.question import PlannedQuestion

__all__ = ["note_on_lost_bars", "notes_above"]


_CHOSEN = (
    "Rows were chosen by their noisy values; their error bars may cover less often than stated, and say nothing about "
    "the rows that were left out."
)
_DIVISOR = "A quotient has no error bar where its divisor may be zero; where the divisor is a count, it is missing."
_LOST = "The error bars could not be computed: join or group fewer rows above the aggregates."
_BY_NOISE = "noise decides which rows go in, or in which order"
_MERGED = "rows that are alike were put together"
_COMPARED = "ranks, comparisons and texts of noisy values have none"
_NO_RULE = "no rule bounds the error of such a value"
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
_COMPARES = (exp.Predicate, exp.Connector, exp.Not)


def notes_above(question: PlannedQuestion) -> list[str]:
    """Sentences about error bars; none where all columns are those of the aggregates, and noise chose no row."""
    tables = _shapes(question)
    if question.split.only_picks:
        return [_CHOSEN] if any(shape.rows is None for shape in tables.values()) else []
    parts = list(question.split.above.copy().find_all(exp.Select, exp.SetOperation))
    notes = [_CHOSEN] if any(read_view(part, tables).is_chosen for part in parts) else []
    return notes + _about_missing(question.split.above, tables)


def note_on_lost_bars(question: PlannedQuestion, bars: Mapping[str, object]) -> list[str]:
    """What to say where error bars are known in principle, and the database could not compute them."""
    is_lost = not bars and not question.split.only_picks and bool(question.plans)
    return [_LOST] if is_lost and with_intervals(question.split.above, _shapes(question)).followed else []


def _shapes(question: PlannedQuestion) -> dict[str, NoisyTable]:
    pairs = zip(question.split.blocks, question.plans, strict=True)
    tables = {block.name: describe_shape(block, plan) for block, plan in pairs}
    return tables | {name: NoisyTable((), 0, is_noisy=False) for name in question.split.public_tables}


def _about_missing(query: exp.Query, tables: dict[str, NoisyTable]) -> list[str]:
    """Which columns have no error bar, and why."""
    extended, view = with_intervals(query, tables), read_view(query.copy(), tables)
    known = {each.position for each in extended.followed}
    reasons: dict[str, list[str]] = {}
    for position, name in enumerate(view.names):
        if position not in known and view.shows_noise(position):
            reasons.setdefault(_reason(view, position), []).append(name or f"column {position + 1}")
    notes = [f"No error bar for {', '.join(names)}: {reason}." for reason, names in reasons.items()]
    is_divided = any(part.below is not None for each in extended.followed for part in each.parts)
    return notes + ([_DIVISOR] if is_divided else [])


def _reason(view: NoisyQuery, position: int) -> str:
    """Why a column has no ends."""
    if view.is_united:
        sides = [side for side in view.sides if side.shows_noise(position)]
        return next((reason for reason in (_reason(side, position) for side in sides) if reason != _NO_RULE), _NO_RULE)
    if not view.is_open:
        return _MERGED
    return _reason_in(view, view.projections[position].unalias())


def _reason_in(view: NoisyQuery, node: exp.Expr) -> str:
    parts = list(node.walk(prune=lambda part: isinstance(part, (exp.Query, exp.Subquery))))
    if any(isinstance(part, exp.Window) and not has_public_rows(part, view) for part in parts):
        ranks = any(isinstance(part, _RANKS) for part in parts)
        return _COMPARED if ranks and not view.noise_chose_groups else _BY_NOISE
    if any(isinstance(part, exp.AggFunc) for part in parts) and view.noise_chose_rows:
        return _BY_NOISE
    if any(isinstance(part, _COMPARES) and view.is_noisy(part) for part in parts):
        return _COMPARED
    inner = [_reason_of(view, part) for part in parts if isinstance(part, exp.Column) and view.is_noisy(part)]
    return next((reason for reason in inner if reason != _NO_RULE), _NO_RULE)


def _reason_of(view: NoisyQuery, column: exp.Column) -> str:
    """Why a column of a subquery has none."""
    found = view.found(column)
    if len(found) != 1 or isinstance(found[0], TableSource):
        return _NO_RULE
    positions = found[0].view.positions(column.name)
    return _reason(found[0].view, positions[0]) if len(positions) == 1 else _NO_RULE
