"""The passes of a question, in the order of `PASSES`: from SQL text to plans and their statements.

Every pass adds one thing to a draft, made from what the passes before it added. The first three look at each text
alone, and what they make is kept for other prices; the others plan questions together. None looks at a private row:
what a draft becomes follows from the text, the policy, the price and public tables. What comes after them is the
curator's: check, charge, run, settle, answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.query.bind import split as cuts
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.multiplicity import CountAlike, count_of_nothing
from discreet.query.bind.relation import FindEnds
from discreet.query.bind.split import SplitQuery
from discreet.query.expressions.public_values import ListRows
from discreet.query.parse import clock, parser
from discreet.query.parse.clock import AsOf
from discreet.query.plan import budget_split, sensitivity
from discreet.query.plan import budget_split as merging
from discreet.query.plan import list_groups as listings
from discreet.query.plan.budget_split import Price
from discreet.query.plan.list_groups import Listing
from discreet.query.plan.sensitivity import AggregationPlan, UnpricedPlan
from discreet.query.run import contribution_bounds

__all__ = ["PASSES", "PLANNING", "READING", "QuestionDraft", "split", "walk"]


@dataclass(frozen=True)
class QuestionDraft:
    """Questions on their way to plans: what is known of them before the first pass, and what each pass adds."""

    texts: Sequence[str] = ()
    """The questions, in SQL."""
    dialect: str = "duckdb"
    """Which dialect they are in."""
    catalog: Catalog | None = None
    """The policies."""
    at_rest: bool = True
    """Whether rows stay as they are between two readings."""
    count_alike: CountAlike = count_of_nothing
    """How many rows of a public table one private row can meet."""
    find_ends: FindEnds | None = None
    """Between which values a column of a public table lies."""
    as_of: AsOf | None = None
    """The moment that CURRENT_DATE means; None where nobody named one."""
    price: Price | None = None
    """What all of them together cost."""
    delta: Fraction = Fraction(0)
    """The probability that a key of one person alone is shown, in all of them together."""
    public_values: ListRows | None = None
    """What columns of public tables hold."""

    trees: Sequence[exp.Query] = ()
    """`parse`, `set_clock`, `expand_shorthands`: one parsed SELECT for each text."""
    queries: Sequence[SplitQuery] = ()
    """`cut_at_aggregates`: private rows below and post-processing above, for each text."""
    blocks: Sequence[PrivateAggregation] = ()
    """`merge_blocks`: what is measured, once for all questions."""
    homes: Sequence[int] = ()
    """`merge_blocks`: which of these each block of each query became."""
    listings: Sequence[Listing | None] = ()
    """`list_groups`: the groups of each block; None where they are not public."""
    layouts: Sequence[UnpricedPlan] = ()
    """`share_statistics`: the statistics and choices that answer each block."""
    prices: Sequence[tuple[Price, Fraction]] = ()
    """`divide_price`: what each block may cost, and its δ."""
    plans: Sequence[AggregationPlan] = ()
    """`derive_sensitivity`: the plan of each block; `write_statements`: with its statements."""


Pass = Callable[[QuestionDraft], QuestionDraft]


def parse(draft: QuestionDraft) -> QuestionDraft:
    """Read each text as one SELECT (`parse/parser.py`)."""
    return replace(draft, trees=[parser.parse(text, draft.dialect) for text in draft.texts])


def set_clock(draft: QuestionDraft) -> QuestionDraft:
    """Write the moment that was named for CURRENT_DATE and its kin (`parse/clock.py`)."""
    return replace(draft, trees=[clock.set_clock(tree, draft.as_of) for tree in draft.trees])


def expand_shorthands(draft: QuestionDraft) -> QuestionDraft:
    """Write out GROUP BY ALL and the like, so that later passes know one form alone (`parse/parser.py`)."""
    return replace(draft, trees=[parser.expand_shorthands(tree) for tree in draft.trees])


def cut_at_aggregates(draft: QuestionDraft) -> QuestionDraft:
    """Resolve names, build the private rows, and cut each query at its aggregates (`bind/split.py`)."""
    if draft.catalog is None:
        raise AssertionError("names are resolved in a catalog")
    found = [
        cuts.cut_at_aggregates(
            tree, draft.catalog, at_rest=draft.at_rest, count_alike=draft.count_alike, find_ends=draft.find_ends
        )
        for tree in draft.trees
    ]
    return replace(draft, queries=found)


def merge_blocks(draft: QuestionDraft) -> QuestionDraft:
    """Measure what is over the same rows and groups once (`plan/budget_split.py`)."""
    homes, blocks = merging.merge_blocks(draft.queries)
    return replace(draft, homes=homes, blocks=blocks)


def list_groups(draft: QuestionDraft) -> QuestionDraft:
    """List every group from the text, the policy and public tables (`plan/list_groups.py`)."""
    return replace(draft, listings=[listings.list_groups(block, draft.public_values) for block in draft.blocks])


def share_statistics(draft: QuestionDraft) -> QuestionDraft:
    """Find the statistics and choices that answer each block, shared where they can be (`plan/layout.py`)."""
    pairs = zip(draft.blocks, draft.listings, strict=True)
    found = [sensitivity.lay_out(block, known, _price(draft), draft.public_values) for block, known in pairs]
    return replace(draft, layouts=found)


def divide_price(draft: QuestionDraft) -> QuestionDraft:
    """Divide the price between the blocks, and δ between those whose keys are not public (`plan/budget_split.py`)."""
    unlisted = sum(layout.listing is None for layout in draft.layouts)
    importances = [layout.importances for layout in draft.layouts]
    shares = budget_split.block_shares(draft.blocks, importances, _price(draft))
    each = draft.delta / unlisted if unlisted else Fraction(0)
    return replace(draft, prices=[(budget_split.with_magnitude(_price(draft), share), each) for share in shares])


def derive_sensitivity(draft: QuestionDraft) -> QuestionDraft:
    """Bound how far one unit moves each statistic, and choose the mechanism that hides it (`plan/sensitivity.py`)."""
    pairs = zip(draft.layouts, draft.prices, strict=True)
    return replace(draft, plans=[sensitivity.plan_block(layout, *price) for layout, price in pairs])


def write_statements(draft: QuestionDraft) -> QuestionDraft:
    """Write the SQL of each plan; what is too large, or too much work, is refused (`run/contribution_bounds.py`)."""
    for plan in draft.plans:
        contribution_bounds.write_statements(plan)  # the plan keeps them
    return draft


READING: tuple[Pass, ...] = (parse, set_clock, expand_shorthands, cut_at_aggregates)
PLANNING: tuple[Pass, ...] = (
    merge_blocks,
    list_groups,
    share_statistics,
    divide_price,
    derive_sensitivity,
    write_statements,
)
PASSES: tuple[Pass, ...] = (*READING, *PLANNING)


def walk(draft: QuestionDraft, passes: Sequence[Pass]) -> QuestionDraft:
    """What a draft becomes."""
    for one in passes:
        draft = one(draft)
    return draft


def split(
    text: str,
    catalog: Catalog,
    dialect: str = "duckdb",
    *,
    at_rest: bool = True,
    count_alike: CountAlike = count_of_nothing,
    find_ends: FindEnds | None = None,
    as_of: AsOf | None = None,
) -> SplitQuery:
    """Read ``text`` and cut it at its aggregates, or refuse it with the place and the reason.

    Where rows are not ``at_rest`` between two readings, a person can be in two parts of a column, one after the other.
    ``count_alike`` tells how many rows of a public table one private row can meet; it is asked where they are joined.
    ``find_ends`` tells between which values a column of a public table lies. ``as_of`` is what CURRENT_DATE means.
    """
    (query,) = walk(QuestionDraft([text], dialect, catalog, at_rest, count_alike, find_ends, as_of), READING).queries
    return query


def _price(draft: QuestionDraft) -> Price:
    if draft.price is None:
        raise AssertionError("what is measured has a price")
    return draft.price
