"""What an answer says about itself in plain words: what was clamped, weighted, left out or chosen by noise."""

from __future__ import annotations

from fractions import Fraction

from discreet.curator.suggestions import offer
from discreet.privacy.shown import shown
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.choice import QuantileChoice
from discreet.query.intervals_above import choice_notes
from discreet.query.parts import People, Values
from discreet.query.plan import BlockPlan
from discreet.query.question import Question
from discreet.query.rank_error import rank_error

__all__ = ["notes_of"]


def notes_of(question: Question, confidence: float, *, offers: bool = True) -> tuple[str, ...]:
    """Every sentence once, in the order of the query; with ``offers`` also which paid question says more."""
    offered = [offer(question.tables)] if offers else []
    notes: list[str] = []
    for plan in question.plans:
        notes += [*_about_rows(plan, offered), *_about_groups(plan, confidence), *_about_choices(plan, confidence)]
    return tuple(dict.fromkeys([*notes, *choice_notes(question)]))


def _about_rows(plan: BlockPlan, offered: list[str]) -> list[str]:
    notes = []
    weighs_rows = [priced for priced in plan.parts if not isinstance(priced.part, (People, Values))]
    if plan.weight > 1 and (weighs_rows or plan.choices or plan.top):
        most = plan.rows_per_unit
        notes.append(f"People with more than {most} {'row' if most == 1 else 'rows'} count as {most}.")
        if plan.rows_per_group is not None:
            notes.append(f"In one group they count as {plan.rows_per_group} at most.")
        notes += offered
    for priced in plan.parts:
        if isinstance(priced.part, People) and priced.weight > 1:
            notes.append(f"People who are in more than {priced.most} groups count as {priced.most} of them together.")
        if isinstance(priced.part, Values) and plan.weight > 1:
            notes.append(f"A person adds at most {priced.most} different values to a count of them.")
    return notes


def _about_groups(plan: BlockPlan, confidence: float) -> list[str]:
    if plan.top is not None:
        behind = rank_error(plan.top.points, plan.top.factor, 1 - (1 - confidence) / plan.top.picks) / plan.weight
        which = "The largest group was" if plan.top.picks == 1 else f"The {plan.top.picks} largest groups were"
        behind_others = f"at most {behind:,.0f} rows behind one that was left out, {confidence:.0%} of the time"
        return [f"{which} chosen without counting: {behind_others}."]
    if plan.rule is not None:
        most = plan.rule.per_unit
        many = f"; a person is counted in {most} at most" if plan.weight > 1 else ""
        when = f"A group is shown when about {plan.rule.threshold} people or more are in it{many}."
        return [when, f"The group of one person alone is shown with probability at most {shown(plan.rule.delta, 2)}."]
    if plan.block.keys:
        return ["Every public group is listed, also the empty ones; rows whose key is not listed are in none."]
    return []


def _name(aggregate: Aggregate) -> str:
    if aggregate.kind is not AggregateKind.QUANTILE:
        return str(aggregate.kind.value).capitalize()
    return "Median" if aggregate.quantile == Fraction(1, 2) else f"Quantile {float(aggregate.quantile):g}"


def _about_choices(plan: BlockPlan, confidence: float) -> list[str]:
    notes = []
    for choice in plan.choices:
        if isinstance(choice, QuantileChoice):
            ranks = (rank_error(choice.points, choice.factor, confidence) + choice.inward) / plan.weight
            often = f"{confidence:.0%} of the time"
            notes.append(f"{_name(choice.aggregate)}: off by at most {ranks:,.0f} rows in rank, {often}.")
        elif choice.aggregate.kind is AggregateKind.MODE:
            behind = rank_error(choice.points, choice.factor, confidence) / plan.weight
            notes.append(
                f"Mode: at most {behind:,.0f} rows behind the most frequent value, {confidence:.0%} of the time."
            )
    return notes
