"""What an answer says about itself in plain words: what was clamped, weighted, left out or chosen by noise."""

from __future__ import annotations

from discreet.curator.suggestions import offer
from discreet.query.block import AggregateKind
from discreet.query.choice import QuantileChoice
from discreet.query.intervals_above import choice_notes
from discreet.query.parts import People, Values
from discreet.query.plan import BlockPlan
from discreet.query.question import Question
from discreet.query.rank_error import rank_error

__all__ = ["notes_of"]


def notes_of(question: Question, confidence: float) -> tuple[str, ...]:
    """Every sentence once, in the order of the query."""
    notes: list[str] = []
    for plan in question.plans:
        notes += [*_about_rows(plan, question), *_about_groups(plan, confidence), *_about_choices(plan, confidence)]
    return tuple(dict.fromkeys([*notes, *choice_notes(question)]))


def _about_rows(plan: BlockPlan, question: Question) -> list[str]:
    notes = []
    if plan.weight > 1 and any(not isinstance(priced.part, (People, Values)) for priced in plan.parts):
        notes.append(f"People with more than {plan.rows_per_unit} rows count as {plan.rows_per_unit}.")
        notes.append(offer(question.tables))
    for priced in plan.parts:
        if isinstance(priced.part, People) and priced.weight > 1:
            notes.append(f"People who are in more than {priced.most} groups count as {priced.most} of them together.")
        if isinstance(priced.part, Values) and plan.weight > 1:
            notes.append(f"A person adds at most {priced.most} different values to a count of them.")
    return notes


def _about_groups(plan: BlockPlan, confidence: float) -> list[str]:
    if plan.top is not None:
        behind = rank_error(plan.top.points, plan.top.factor, 1 - (1 - confidence) / plan.top.picks) / plan.weight
        bad = f"none of them is more than {behind:,.0f} rows behind one that was left out, {confidence:.0%} of the time"
        return [f"The {plan.top.picks} largest groups were chosen one after the other, without counts; {bad}."]
    if plan.rule is not None:
        many = "" if plan.rule.per_unit == 1 and plan.weight == 1 else f"; a person is in {plan.rule.per_unit} of them"
        shown = f"A group is shown when about {plan.rule.threshold} people or more are in it{many}."
        return [shown, f"The group of one person alone is shown with probability at most {float(plan.rule.delta):.1g}."]
    if plan.block.keys:
        return ["Every public group is listed, also the empty ones; rows whose key is not listed are in none."]
    return []


def _about_choices(plan: BlockPlan, confidence: float) -> list[str]:
    notes = []
    for choice in plan.choices:
        if isinstance(choice, QuantileChoice):
            ranks = (rank_error(choice.points, choice.factor, confidence) + choice.inward) / plan.weight
            name = choice.aggregate.kind.value.upper()
            notes.append(f"{name}: off by at most {ranks:,.0f} rows in rank, {confidence:.0%} of the time.")
        elif choice.aggregate.kind is AggregateKind.MODE:
            behind = rank_error(choice.points, choice.factor, confidence) / plan.weight
            notes.append(
                f"MODE: at most {behind:,.0f} rows behind the most frequent value, {confidence:.0%} of the time."
            )
    return notes
