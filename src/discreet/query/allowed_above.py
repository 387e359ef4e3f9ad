"""What post-processing may use: operators, and functions from a list that is closed.

It runs where there is nothing private. The list keeps out what reads files, settings or the clock, what differs from
call to call, and what fills memory.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.query.date_spellings import CLOCKS, DATE_SPELLINGS
from discreet.query.functions import RULES
from discreet.query.instead import not_answered
from discreet.query.reading import check_complete
from discreet.query.refusal import refuse

__all__ = ["ALLOWED_ABOVE", "check_all", "check_node"]

_MORE = (
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Quantile, exp.PercentileCont,
    exp.PercentileDisc, exp.ApproxQuantile, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop,
    exp.Corr, exp.CovarPop, exp.CovarSamp, exp.First, exp.Last, exp.ArgMax, exp.ArgMin, exp.LogicalAnd, exp.LogicalOr,
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead,
    exp.FirstValue, exp.LastValue, exp.NthValue,
    exp.Case, exp.If, exp.Nvl2, exp.Cast, exp.TryCast, exp.Exists, exp.Any, exp.And, exp.Or, exp.Xor,
)  # fmt: skip
ALLOWED_ABOVE = frozenset({*RULES, *DATE_SPELLINGS, *_MORE} - {*CLOCKS, exp.AtTimeZone})
"""Functions that may be used on noisy and public values."""
_CLOSED = (
    exp.Command, exp.Placeholder, exp.Parameter, exp.SessionParameter, exp.Into, exp.TableSample, exp.Pivot, exp.Lock,
    exp.Lateral, exp.Unnest, exp.UDTF, exp.MatchRecognize, exp.Lambda, exp.Kwarg, exp.PropertyEQ, exp.Hint, exp.Struct,
    exp.Dot, exp.Bracket,
)  # fmt: skip


def check_all(node: exp.Expr) -> None:
    """Refuse whatever is not allowed anywhere inside ``node``."""
    for part in node.walk():
        check_node(part)


def check_node(node: exp.Expr) -> None:
    """Refuse ``node`` itself when it is not allowed."""
    is_unknown = isinstance(node, exp.Func) and type(node) not in ALLOWED_ABOVE
    if is_unknown or isinstance(node, _CLOSED):
        raise not_answered(node, "here", ALLOWED_ABOVE)
    if isinstance(node, exp.Func):
        check_complete(node)
    if isinstance(node, exp.LimitOptions) and (node.args.get("percent") or node.args.get("with_ties")):
        raise refuse(node, "rows are limited by their number, without PERCENT and WITH TIES", "write LIMIT 10")
