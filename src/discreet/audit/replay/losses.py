"""What two lives of a history tell apart, and what the one who differs lost, against what accounts counted.

Claim. Where a finding is missing, the losses of x in all releases of the history, computed from the exact integers and
the laws of noise, add up to at most what each account has counted that promises something to x. In ε that sum is of
pure losses. In ρ a pure loss e is min(e²/2, e/α) at the order α of the account, as the ledger has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.audit.replay.compare import Difference, measured_losses, too_far, wrong_within
from discreet.audit.replay.history import Ask, Lived, Moment, WorldHistory
from discreet.audit.replay.watch import RecordedQuestion, Watched
from discreet.catalog.catalog import Catalog
from discreet.curator.ledger.account_names import AccountKind, split_name
from discreet.curator.ledger.chain import Account
from discreet.curator.ledger.units import DELTA_UNITS, LOSS_UNITS, BudgetMeasure
from discreet.privacy.loss import Pure

__all__ = ["ReleaseLoss", "compare_lives", "list_losses"]


_ROUNDING = 1e-6
"""The part by which a loss that floats were used for may exceed what was counted."""


@dataclass(frozen=True)
class ReleaseLoss:
    """What one release cost the unit in which two worlds differ."""

    analyst: str | None
    """Who asked."""
    tables: frozenset[str]
    """The protected tables that it read."""
    amount: float
    """Its exact loss, in ε or in ρ."""
    is_pure: bool
    """Whether that is in ε."""
    delta: Fraction
    """The δ that was declared for keys that nobody listed."""
    periods: frozenset[str]
    """The periods that it read."""

    def rho(self, order: Fraction | None) -> float:
        """The loss in ρ, for an account of this order."""
        if not self.is_pure:
            return self.amount
        least = self.amount**2 / 2
        return least if order is None else min(least, self.amount / float(order))


def compare_lives(history: WorldHistory, here: Lived, there: Lived) -> list[Difference]:
    """Everything that tells two worlds apart, or cost x more than was counted."""
    found: list[Difference] = []
    for one, other in zip(here.moments, there.moments, strict=True):
        found += _differences(one, other)
        for asked in (one.asked, other.asked):
            found += [] if asked is None else wrong_within(asked)
        if one.asked is not None and other.asked is not None and _is_one_unit(history):
            found += too_far(one.asked, other.asked)
    losses = list_losses(here, there)
    for lived in (here, there):
        for account in lived.accounts.values():
            found += _uncounted(history, lived.catalog, account, losses)
    counted = {split_name(name)[2] for name in here.accounts}
    if history.period is not None and history.period not in counted and any(one.amount for one in losses):
        found.append(Difference("", "rows of a period that is not closed are read", history.period))
    return list(dict.fromkeys(found))


def list_losses(here: Lived, there: Lived) -> list[ReleaseLoss]:
    """The losses of x in all releases, in order."""
    found = []
    for one, other in zip(here.moments, there.moments, strict=True):
        if one.asked is not None and other.asked is not None and isinstance(one.step, Ask):
            found += list(_released(one.step.terms.get("analyst"), one.asked, other.asked))
    return found


def _released(analyst: str | None, one: RecordedQuestion, other: RecordedQuestion) -> Iterator[ReleaseLoss]:
    for watched, losses in measured_losses(one, other):
        plan = watched.plan
        yield ReleaseLoss(
            analyst,
            _tables(watched),
            sum(losses.values()),
            isinstance(plan.loss, Pure),
            plan.delta,
            plan.periods,
        )


def _tables(watched: Watched) -> frozenset[str]:
    privacy = watched.plan.block.rows.privacy
    return frozenset() if privacy is None else frozenset(privacy.tables)


def _is_one_unit(history: WorldHistory) -> bool:
    """Whether x is a unit, and not a person who is several."""
    return history.period is not None or all(table.unit_per is None for table, _ in history.tables)


def _differences(one: Moment, other: Moment) -> Iterator[Difference]:
    where = one.step.sql if isinstance(one.step, Ask) else type(one.step).__name__
    for name in dict.fromkeys([*one.seen, *other.seen]):
        first, second = one.seen.get(name, "nothing"), other.seen.get(name, "nothing")
        if first != second:
            place = next((k for k, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), 0)
            told = f"…{first[max(0, place - 80) : place + 160]} against …{second[max(0, place - 80) : place + 160]}"
            yield Difference(where, f"what is seen depends on the rows: {name}", told)


# What accounts count.


def _uncounted(
    history: WorldHistory, catalog: Catalog, account: Account, losses: list[ReleaseLoss]
) -> Iterator[Difference]:
    """Where x lost more in all releases than an account that promises something to x has counted."""
    theirs = [one for one in losses if _concerns(history, catalog, account, one)]
    felt = [one for one in theirs if one.amount]
    rho, epsilon = sum(one.rho(account.allowance.order) for one in felt), sum(one.amount for one in felt)
    is_pure, measure = all(one.is_pure for one in felt), account.allowance.measure
    spent, spent_pure = account.spent / LOSS_UNITS, account.spent_pure / LOSS_UNITS
    if measure is BudgetMeasure.PURE and (not is_pure or _is_more(epsilon, spent)):
        yield _describe_excess(account, f"ε = {epsilon:.6g} was lost, and {spent:.6g} counted")
    if measure is not BudgetMeasure.PURE and _is_more(rho, spent):
        yield _describe_excess(account, f"ρ = {rho:.6g} was lost, and {spent:.6g} counted")
    if measure is BudgetMeasure.EITHER and not account.impure and (not is_pure or _is_more(epsilon, spent_pure)):
        yield _describe_excess(account, f"ε = {epsilon:.6g} was lost, and {spent_pure:.6g} counted")
    _, _, period = split_name(account.name)
    delta = sum((one.delta for one in theirs if period is None or period in one.periods), Fraction(0))
    if delta * DELTA_UNITS > account.delta_spent:
        was = account.delta_spent / DELTA_UNITS
        yield _describe_excess(account, f"δ = {float(delta):.6g} was declared, and {was:.6g} counted")


def _is_more(lost: float, counted: float) -> bool:
    return lost > counted * (1 + _ROUNDING) + 1e-12


def _describe_excess(account: Account, words: str) -> Difference:
    return Difference("", "one unit lost more than its account counted", f"{account.name}: {words}")


def _concerns(history: WorldHistory, catalog: Catalog, account: Account, loss: ReleaseLoss) -> bool:
    """Whether an account must count a loss of x."""
    table, whose, period = split_name(account.name)
    if period not in (None, history.period):
        return False
    if AccountKind.of(account.name) is AccountKind.UNIT:
        find_domain = catalog.person_domain if period is None else catalog.unit_domain
        return whose in map(find_domain, loss.tables)
    is_paid_there = catalog.table(table).is_by_period == (period is not None)
    return is_paid_there and table in loss.tables and whose in (None, loss.analyst)
