"""Planning: from SQL and a price in ε to questions priced in the terms of the tables' budgets. Nothing private is read.

Under a pure budget a price stays ε. Under an (ε, δ) budget it becomes the ρ whose conversion at the budget's δ is that
ε. Keys that are not public cost a δ of their own: the same part of the δ kept for keys as the price is of the whole
budget, so that both run dry together.

Public tables are read as anybody may see them. Plans are kept for a while, so that a question is planned once.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from threading import Lock
from weakref import WeakSet

import pyarrow as pa

from discreet.accounting.calibration import least
from discreet.accounting.filter import ConcentratedFilter
from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.curator.ledger.units import DELTA_UNITS, LOSS_UNITS
from discreet.curator.preconditions import list_beliefs, public_version
from discreet.curator.reading import Reading, ReadingPlan
from discreet.engines.engine import Engine
from discreet.engines.parameters import quote
from discreet.errors import InvalidType, QueryRefused
from discreet.exact.rational import Number, positive
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated
from discreet.query.answer.intervals import noisy_schema
from discreet.query.answer.sandbox import check_above
from discreet.query.bind.public_tables import PublicEnds, PublicMultiplicity, PublicValues
from discreet.query.bind.split import SplitQuery
from discreet.query.divide import join_pieces
from discreet.query.expressions.public_values import KnownRows, ListRows
from discreet.query.parse.clock import AsOf
from discreet.query.passes import split
from discreet.query.plan.budget_split import Price
from discreet.query.question import PlannedQuestion, list_tables, prepare_all

__all__ = ["Planner", "PublicRows", "price_epsilon", "price_part"]


class PublicRows:
    """Reads public tables and nothing else. It knows the rows of one moment and not the curator."""

    def __init__(self, catalog: Catalog, snapshot: Engine) -> None:
        self._catalog, self._snapshot = catalog, snapshot

        # Nothing of itself, or connections would be let go of in no order.
        def version(name: str) -> str:
            return public_version(catalog.table(name), snapshot)

        at_rest = snapshot.capabilities.pinned_snapshots
        self.values = PublicValues(catalog, snapshot.run, version)
        self.ends = PublicEnds(catalog, snapshot.run, version, at_rest=at_rest)
        self.count_alike = PublicMultiplicity(catalog, snapshot.run, version, at_rest=at_rest)

    def __call__(self, name: str) -> pa.Table:
        """All rows of a public table."""
        table = self._catalog.table(name)
        if not table.public:
            raise AssertionError("only public rows are shown as they are")
        public_version(table, self._snapshot)
        columns = ", ".join(quote(column.name) for column in table.columns)
        return self._snapshot.run(f"SELECT {columns} FROM {quote(name)}")  # noqa: S608


@dataclass(frozen=True)
class _PlannedTogether:
    """Questions as they were planned for one price."""

    questions: tuple[PlannedQuestion, ...]
    read: dict[tuple[str, tuple[str, ...], int], KnownRows]
    """What was read of public tables meanwhile."""
    groups: int


_MOST_PLANS, _MOST_PLANNED_GROUPS = 1024, 200_000
"""How many plans are kept, and with how many groups in all: twice as many as one question may have."""


class _RecentPlans:
    """Plans the parts of queries, and keeps the newest plans: who hears a price and then asks has one plan made."""

    def __init__(self, list_rows: ListRows) -> None:
        self._list_rows = list_rows
        self._kept: OrderedDict[tuple[tuple[SplitQuery, ...], Price, Fraction], _PlannedTogether] = OrderedDict()
        self._lock = Lock()

    def plan(self, queries: Sequence[SplitQuery], price: Price, delta: Fraction) -> list[PlannedQuestion]:
        """Plan queries together, or find the plan that was made while public tables held what they hold now."""
        key = tuple(queries), price, delta
        with self._lock:
            known = self._kept.get(key)
        if known is None or any(self._list_rows(*of) is not rows for of, rows in known.read.items()):
            known = self._plan_anew(*key)
        with self._lock:
            self._keep(key, known)
        return list(known.questions)

    def _plan_anew(self, queries: tuple[SplitQuery, ...], price: Price, delta: Fraction) -> _PlannedTogether:
        read: dict[tuple[str, tuple[str, ...], int], KnownRows] = {}

        def list_rows(table: str, columns: tuple[str, ...], most: int) -> KnownRows:
            found = read[table, columns, most] = self._list_rows(table, columns, most)
            return found

        found = tuple(prepare_all(queries, price, delta=delta, public_values=list_rows))
        return _PlannedTogether(found, read, sum(len(plan.groups) for one in found for plan in one.plans))

    def _keep(self, key: tuple[tuple[SplitQuery, ...], Price, Fraction], known: _PlannedTogether) -> None:
        self._kept[key] = known
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_PLANS or sum(one.groups for one in self._kept.values()) > _MOST_PLANNED_GROUPS:
            self._kept.popitem(last=False)


_FINEST_EPSILON = Fraction(1, 1000)


class Planner:
    """Plans questions about the tables of a catalog, as their rows were at one moment."""

    def __init__(self, stated: Catalog, snapshot: Engine) -> None:
        """For policies as they are ``stated``, and for the rows of one ``snapshot``, which questions are run on."""
        self.stated, self.snapshot = stated, snapshot
        self.catalog = catalog = list_beliefs(stated, snapshot)
        self.public_rows = PublicRows(catalog, snapshot)
        at_rest = snapshot.capabilities.pinned_snapshots
        count, ends = self.public_rows.count_alike, self.public_rows.ends

        def split_in(text: str, narrowed: Catalog, as_of: AsOf | None) -> SplitQuery:
            return split(text, narrowed, at_rest=at_rest, count_alike=count, find_ends=ends, as_of=as_of)

        def is_current(query: SplitQuery) -> bool:
            is_counted = all(count(*columns) == most for columns, most in query.multiplicities.items())
            return is_counted and all(ends(*column) == known for column, known in query.public_ends.items())

        self._reading = Reading(catalog, split_in, is_current)
        self.as_of: AsOf | None = None
        """What CURRENT_DATE means; None where nobody named a moment."""
        self._checked: WeakSet[SplitQuery] = WeakSet()
        self._plans = _RecentPlans(self.public_rows.values)

    def at(self, as_of: AsOf | None) -> Planner:
        """The same for questions about a moment."""
        if as_of == self.as_of:
            return self
        other = copy(self)
        other.as_of = as_of
        return other

    def question(self, sql: str, epsilon: Number) -> PlannedQuestion:
        """One planned question."""
        (found,) = self.questions([sql], epsilon)
        return found

    def questions(self, texts: Sequence[str], epsilon: Number, *, is_batch: bool = False) -> list[PlannedQuestion]:
        """Questions planned together, for one price; those of a batch are not divided by periods."""
        try:
            read = self._read_all(texts, is_divided=not is_batch)
            return self._prepared(read, *self._price(_list_queries(read), positive(epsilon, "epsilon")))
        except RecursionError:
            raise QueryRefused("the query is nested too deeply", "", "ask in several questions") from None

    def part_questions(self, sql: str, part: Fraction, analyst: str | None = None) -> list[PlannedQuestion]:
        """One question, planned for a part of what may be spent: for Laplace noise, and for Gaussian where δ allows."""
        try:
            texts = self._read_all([sql])
            budgets = self._budgets(_list_queries(texts), analyst)
            prices, delta = price_part(budgets, part)
            return [self._prepared(texts, price, delta)[0] for price in prices]
        except RecursionError:
            raise QueryRefused("the query is nested too deeply", "", "ask in several questions") from None

    def _budgets(self, queries: list[SplitQuery], analyst: str | None = None) -> list[Budget]:
        """What may be spent on the tables of some queries: their budgets, and the caps of who asks."""
        tables = map(self.catalog.table, sorted(frozenset[str]().union(*(list_tables(query) for query in queries))))
        found = [
            one for table in tables for one in (table.budget, None if analyst is None else table.analysts.get(analyst))
        ]
        return [budget for budget in found if budget is not None]

    def _read_all(self, texts: Sequence[str], *, is_divided: bool = True) -> list[ReadingPlan]:
        for text in texts:
            if not isinstance(text, str):
                raise InvalidType("a question must be text", text)
        return [self._reading.read(text, self.as_of, is_divided=is_divided) for text in texts]

    def _prepared(
        self, texts: list[ReadingPlan], price: Pure | ZeroConcentrated, delta: Fraction
    ) -> list[PlannedQuestion]:
        """The questions, planned together; one that is divided is planned for each period by itself."""
        if texts[0].pieces:
            return [join_pieces([self._prepare([piece], price, delta)[0] for piece in texts[0].pieces])]
        return self._prepare(_list_queries(texts), price, delta)

    def _prepare(
        self, queries: list[SplitQuery], price: Pure | ZeroConcentrated, delta: Fraction
    ) -> list[PlannedQuestion]:
        found = self._plans.plan(queries, price, delta)
        for question in found:
            self._check_above(question)
            _check_keys(question, self.catalog)
        return found

    def price(self, sql: str, epsilon: Number | None, within: Number | None, confidence: float) -> Fraction:
        """The ε that was named, or the least one at which every count and sum stays within the wanted error."""
        return positive(epsilon, "epsilon") if epsilon is not None else self._within(sql, within or 0, confidence)

    def public(self, question: PlannedQuestion) -> dict[str, pa.Table]:
        """The public tables that a question reads above its aggregates."""
        return {name: self.public_rows(name) for name in question.split.public_tables}

    def _price(self, queries: list[SplitQuery], epsilon: Fraction) -> tuple[Pure | ZeroConcentrated, Fraction]:
        return price_epsilon(self._budgets(queries), epsilon)

    def _check_above(self, question: PlannedQuestion) -> None:
        """Refuse mistakes above the aggregates before they cost anything, by names and types; once for every query."""
        if question.split in self._checked or question.split.only_picks:
            return
        pairs = zip(question.split.blocks, question.plans, strict=True)
        schemas = {block.name: noisy_schema(plan, block) for block, plan in pairs}
        schemas |= {name: table.schema for name, table in self.public(question).items()}
        check_above(question.split.above, schemas)
        self._checked.add(question.split)

    def _within(self, sql: str, within: Number, confidence: float) -> Fraction:
        wanted = positive(within, "the wanted error")

        def is_close(epsilon: Fraction) -> bool:
            read = [_last(text) for text in self._read_all([sql])]
            (question,) = self._prepared(read, *self._price(_list_queries(read), epsilon))
            errors = [e.within for e in question.errors(confidence) if e.within is not None]
            if not errors:
                raise QueryRefused("an error can be asked for counts and sums", "", "name the price ε instead")
            return max(errors) <= wanted

        return least(is_close, start=_FINEST_EPSILON, precision=7)


def price_epsilon(budgets: Sequence[Budget], epsilon: Fraction) -> tuple[Pure | ZeroConcentrated, Fraction]:
    """What an ε is in the terms of some budgets, and the δ for keys that goes with it."""
    if not budgets or any(budget.adds_up for budget in budgets):
        parts = [_delta_for_keys(budget, epsilon / budget.epsilon) for budget in budgets]
        return Pure(epsilon), min(parts, default=Fraction(0))
    rho = min(_rho(epsilon, budget.delta - budget.delta_for_keys) for budget in budgets)
    wholes = [(budget, _rho(budget.epsilon, budget.delta - budget.delta_for_keys)) for budget in budgets]
    return ZeroConcentrated(rho), min(_delta_for_keys(budget, rho / whole) for budget, whole in wholes)


def price_part(budgets: Sequence[Budget], part: Fraction) -> tuple[list[Pure | ZeroConcentrated], Fraction]:
    """What a part of some budgets is: for Laplace noise, and for Gaussian where δ allows; and the δ for keys."""
    delta = min((_delta_for_keys(budget, part) for budget in budgets), default=Fraction(0))
    least = min((budget.epsilon for budget in budgets), default=Fraction(1))
    prices: list[Pure | ZeroConcentrated] = [Pure(part * least)]
    if budgets and not any(budget.adds_up for budget in budgets):
        whole = min(_rho(budget.epsilon, budget.delta - budget.delta_for_keys) for budget in budgets)
        prices.append(ZeroConcentrated(part * whole))
    return prices, delta


def _last(text: ReadingPlan) -> ReadingPlan:
    """One of the periods alone: errors are the same in all."""
    return ReadingPlan(text.pieces[-1]) if text.pieces else text


def _list_queries(texts: Sequence[ReadingPlan]) -> list[SplitQuery]:
    return [query for text in texts for query in text.queries]


def _check_keys(question: PlannedQuestion, catalog: Catalog) -> None:
    """Refuse keys that nobody listed, where a person is several units of one release: δ would count for each."""
    for plan in question.plans:
        privacy = plan.block.rows.privacy
        tables = [] if privacy is None else [catalog.table(name) for name in sorted(privacy.tables)]
        has_several = privacy is not None and len({name for _, name in privacy.periods}) > 1
        if plan.rule is not None and has_several and any(table.unit_per is not None for table in tables):
            every = "period" if tables[0].unit_per is None else tables[0].unit_per.value
            rule = "groups that nobody listed are released for one period at a time"
            raise QueryRefused(rule, "", f"GROUP BY the {every} too, or keep one {every} with WHERE")


def _delta_for_keys(budget: Budget, part: Fraction) -> Fraction:
    """The δ for keys that goes with a part of the budget, in whole units."""
    units = math.floor(budget.delta_for_keys * min(part, Fraction(1)) * DELTA_UNITS)
    return Fraction(units, DELTA_UNITS)


@lru_cache(maxsize=1024)
def _rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The ρ that ε buys, in whole units of the ledger, so that a budget can be spent to its end."""
    rho = ConcentratedFilter(Approximate(epsilon, delta)).rho
    return Fraction(math.floor(rho * LOSS_UNITS), LOSS_UNITS) or rho
