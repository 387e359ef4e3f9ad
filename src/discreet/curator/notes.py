"""What an answer says about itself in plain words: what was clamped, weighted, left out or chosen by noise."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.curator.advice.histogram import Offers, offer, offer_of_groups
from discreet.privacy.format import shown
from discreet.query.aggregates.statistics import DistinctUnits, DistinctValues
from discreet.query.answer.intervals import count_moved_cells, find_count_beside
from discreet.query.answer.notes import notes_above
from discreet.query.answer.rank_error import rank_error
from discreet.query.expressions.expression import Call, Expression, Field
from discreet.query.expressions.narrowing import usual_bounds
from discreet.query.parse.places import quote
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion
from discreet.query.run.measure import Measured

__all__ = ["is_on_noise", "notes_on_moved_cells", "notes_on_new_periods", "write_notes"]


_MOST_NAMED = 3
_SHOWN_AS_ZERO = "shown as 0, measured below; sums, means and shares over groups are of what was measured."
_ASK_COUNT = "with COUNT(*) beside it, it is missing where the group may be empty."
_SHOWN_NEAREST = "measured outside what is possible, and shown at the nearest value that is."


def write_notes(question: PlannedQuestion, confidence: float, *, offers: Offers = Offers.PYTHON) -> tuple[str, ...]:
    """Every sentence once, in the order of the query; with ``offers`` also which paid question says more."""
    offered = [] if offers is Offers.NONE else [offer(question.tables, offers)]
    notes: list[str] = [*_about_clock(question), *_about_periods(question)]
    for plan in question.plans:
        notes += [
            *_about_joins(plan),
            *_about_rows(plan, offered),
            *_about_counts(plan),
            *_about_extremes(plan),
            *_about_groups(plan, confidence, offers=offers),
            *_about_choices(plan, confidence),
        ]
    return tuple(dict.fromkeys([*notes, *notes_above(question)]))


def notes_on_new_periods(question: PlannedQuestion, new: Sequence[PlannedQuestion]) -> tuple[str, ...]:
    """What a divided question is charged for: the periods that nobody asked the same about before."""
    if len(question.pieces) < 2:
        return ()
    if not new:
        return ("The same was asked about each of them before, so all of it is free.",)
    names = sorted({name for one in new for plan in one.plans for name in plan.periods})
    which = "one of them is new" if len(names) == 1 else f"{len(names)} of them are new"
    named = ", ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} to {names[-1]}"
    return (f"The price is that of one period, and {which}: {named}.",)


def _about_clock(question: PlannedQuestion) -> list[str]:
    clock = question.split.clock
    return [] if clock is None else [f"CURRENT_DATE is {clock}, the end of the last closed period."]


def _about_periods(question: PlannedQuestion) -> list[str]:
    """Which periods of a table that grows are read, and how that is charged."""
    names = sorted({name for one in question.asked for plan in one.plans for name in plan.periods})
    if not names:
        return []
    span = names[0] if len(names) == 1 else f"{len(names)} periods, {names[0]} to {names[-1]}"
    if len(question.pieces) > 1:
        return [f"It is asked about each period by itself: {span}."]
    units = {plan.block.rows.privacy.unit for plan in question.plans if plan.block.rows.privacy is not None}
    notes = [f"It reads {span}."]
    if len(names) > 1 and any(" per " in unit for unit in units):
        times = f"{len(names)} times the ε, or {len(names) ** 2} times the ρ"
        notes.append(f"Somebody who is in all of them pays {times}; grouped by the period, {len(names)} times either.")
    return notes


def notes_on_moved_cells(question: PlannedQuestion, measured: Sequence[Measured], confidence: float) -> tuple[str, ...]:
    """What to say where noise took values to where none can be: they are shown at the nearest that is possible."""
    pairs = zip(question.split.blocks, measured, strict=True)
    found = [count_moved_cells(one, block, confidence) for block, one in pairs]
    counts, others = (sum(kind) for kind in zip(*found, strict=True)) if found else (0, 0)
    notes = []
    if counts:
        few = "1 count is" if counts == 1 else f"{counts:,} counts are"
        notes.append(f"{few} {_SHOWN_AS_ZERO}")
    if others:
        few = "1 value was" if others == 1 else f"{others:,} values were"
        notes.append(f"{few} {_SHOWN_NEAREST}")
    return tuple(notes)


def is_on_noise(note: str) -> bool:
    """Whether a note is about what noise made of the values, and so differs from run to run."""
    return note.endswith((_SHOWN_AS_ZERO, _SHOWN_NEAREST))


def _about_joins(plan: AggregationPlan) -> list[str]:
    """What was left out so that joins make no more than so many rows of one person."""
    privacy = plan.block.rows.privacy
    notes = []
    for one in () if privacy is None else privacy.truncated:
        rows = f"{one.most} {'row' if one.most == 1 else 'rows'} of {' and '.join(sorted(one.tables))}"
        if one.key:
            notes.append(f"Before a join, people kept {rows} for each value of {one.key}.")
        else:
            notes.append(f"Before a join, people with more than {rows} kept {one.most} of them.")
    return notes


def _about_rows(plan: AggregationPlan, offered: list[str]) -> list[str]:
    notes = []
    weighs_rows = [priced for priced in plan.parts if not isinstance(priced.part, (DistinctUnits, DistinctValues))]
    if plan.earlier is not None and weighs_rows:
        notes.append(f"The first {plan.rows_per_unit} rows of a person count, over all periods of the series.")
    elif plan.weight > 1 and (weighs_rows or plan.choices or plan.top):
        notes += [*_about_weights(plan), *offered]
    for priced in plan.parts:
        if isinstance(priced.part, DistinctUnits) and priced.weight > 1 and plan.earlier is not None:
            notes.append(f"The first {priced.max_contribution} groups of a person count, in the order of periods.")
        elif isinstance(priced.part, DistinctUnits) and priced.weight > 1:
            notes.append(
                f"People who are in more than {priced.max_contribution} groups count as "
                f"{priced.max_contribution} of them together."
            )
        if isinstance(priced.part, DistinctValues) and plan.weight > 1:
            notes.append(f"A person adds at most {priced.max_contribution} different values to a count of them.")
    return notes


def _about_weights(plan: AggregationPlan) -> list[str]:
    """Who counts for less than all their rows."""
    most, privacy = plan.rows_per_unit, plan.block.rows.privacy
    can_have = None if privacy is None else privacy.contribution.most
    notes = []
    if can_have is None or can_have > most:
        rows = "1 row" if most == 1 else f"{most} rows"
        notes.append(f"A person with more than {rows} counts as {rows}.")
    if privacy is not None and privacy.contribution.usual > most:
        notes.append(
            f"Joins or UNION ALL can make {privacy.contribution.usual:,} rows here of somebody whose stored rows all "
            f"count, and {most:,} of them count: counts and sums may be too small, and no estimate of who is affected "
            "shows it. Aggregate per person in a subquery first, or ask about each table."
        )
    if plan.rows_per_group is not None:
        notes.append(f"In one group a person counts as at most {plan.rows_per_group}.")
    return notes


def _about_counts(plan: AggregationPlan) -> list[str]:
    """Counts of a person's rows that are taken for less, because no more rows count."""
    arguments = [aggregate.argument for aggregate in plan.block.aggregates if aggregate.argument is not None]
    found = dict.fromkeys(most for argument in arguments for most in usual_bounds(argument))
    return [f"A person's count above {most:,} is taken as {most:,}, because no more rows count." for most in found]


def _about_extremes(plan: AggregationPlan) -> list[str]:
    """What to say where LEAST or GREATEST may meet a missing value: SQL passes over it, and few expect that."""
    arguments = [aggregate.argument for aggregate in plan.block.aggregates if aggregate.argument is not None]
    if any(_passes_over_missing(argument) for argument in arguments):
        return ["LEAST and GREATEST ignore missing values. CLAMP(x, 0, 100) keeps them missing."]
    return []


def _passes_over_missing(expression: Expression) -> bool:
    if isinstance(expression, Field) and expression.computed is not None:
        return _passes_over_missing(expression.computed)
    if not isinstance(expression, Call):
        return False
    is_extreme = expression.template.startswith(("greatest(", "least("))
    mixed = {argument.nullable for argument in expression.arguments} == {True, False}
    return (is_extreme and mixed) or any(_passes_over_missing(argument) for argument in expression.arguments)


def _about_groups(plan: AggregationPlan, confidence: float, *, offers: Offers) -> list[str]:
    if plan.top is not None:
        behind = rank_error(plan.top.points, plan.top.factor, 1 - (1 - confidence) / plan.top.picks) / plan.weight
        which = "The largest group was" if plan.top.picks == 1 else f"The {plan.top.picks} largest groups were"
        behind_others = f"at most {behind:,.0f} rows behind one that was left out, {confidence:.0%} of the time"
        return [f"{which} chosen without counting: {behind_others}."]
    if plan.rule is not None:
        when = f"A group is shown when about {plan.rule.threshold} people or more are in it."
        return [
            when,
            *_about_left_out(plan, plan.rule.per_unit, offers=offers),
            f"The group of one person alone is shown with probability at most {shown(plan.rule.delta, 2)}.",
        ]
    if plan.block.keys and not plan.groups:
        return ["No row can be in a group that is asked for, whatever the rows are, so none is listed."]
    if plan.block.keys:
        listed = "All listed groups are shown, even empty ones; rows with any other key are left out."
        return [listed, *_about_missing(plan)]
    return []


def _about_missing(plan: AggregationPlan) -> list[str]:
    """Which keys rows can miss, so that they are in no group."""
    without = () if plan.listing is None else plan.listing.without
    names = [quote(plan.block.places[k]) for k in without]
    return [f"Rows where {name} is missing are left out: the policy does not list null as a key." for name in names]


def _about_left_out(plan: AggregationPlan, most: int, *, offers: Offers) -> list[str]:
    """What to say where people can be in more groups than count."""
    if plan.weight == 1:
        return []
    groups = "1 group counts in 1 of them" if most == 1 else f"{most} groups counts in {most} of them"
    half = f"somebody in {2 * most} is missing from each with probability 1/2"
    drawn = f"A person in more than {groups}, drawn at random for each person: {half}."
    note = f"{drawn} All groups lose about the same share."
    columns = [key.column for key in plan.block.keys if isinstance(key, Field) and key.column is not None]
    tables = {table for table, _, _ in columns}
    if offers is Offers.NONE or len(columns) < len(plan.block.keys) or len(tables) != 1:
        return [note]
    return [note, offer_of_groups(tables.pop(), [name for _, name, _ in columns], offers)]


def _about_choices(plan: AggregationPlan, confidence: float) -> list[str]:
    notes = []
    for choice in plan.choices:
        label = choice.aggregate.label
        if plan.block.keys and plan.rule is None and not find_count_beside(plan, choice.aggregate):
            notes.append(f"{label}: an empty group has one too, which means nothing; {_ASK_COUNT}")
        rows = (rank_error(choice.points, choice.factor, confidence) + choice.inward) / plan.weight
        notes.append(f"{label}: {choice.error.format(rows)}, {confidence:.0%} of the time.")
    return notes
