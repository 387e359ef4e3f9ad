"""Tables, and what was spent on them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, Value, write_literal
from discreet.catalog.period import TimeColumn
from discreet.catalog.table import Table
from discreet.curator.ledger.units import as_json, balance_as_json
from discreet.privacy.loss import Loss
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.operations import tables as tables_ops
from discreet.service.paging import Limit, page

__all__ = ["Amount", "router"]


router = APIRouter(tags=["tables"])
_ASKERS = frozenset({MemberRole.OWNER, MemberRole.ANALYST})
_MOST_CHARACTERS = 200
_LONGEST_ACCOUNT = 2 * _MOST_CHARACTERS + 10
_LAST_POSITION = 2**62
Anybody = Annotated[Principal, principal_with()]


class Amount(BaseModel):
    """An amount of loss: prices are rounded up, balances down."""

    amount: float = Field(description="The number, rounded.")
    unit: str = Field(description="ε, or ρ for budgets with a δ.")
    exact: str = Field(description="The number as a fraction.")
    repr: str = Field(description="As Python writes it.")

    @classmethod
    def price(cls, loss: Loss) -> Amount:
        """What was paid, rounded up."""
        return cls(**as_json(loss))

    @classmethod
    def balance(cls, loss: Loss) -> Amount:
        """What is left, rounded down."""
        return cls(**balance_as_json(loss))


class Grant(BaseModel):
    """What may be spent."""

    epsilon: str = Field(description="The ε of everything together, as a fraction.")
    delta: str = Field(description="The δ of everything together, as a fraction.")
    delta_for_keys: str = Field(description="The part of δ that is kept for groups that nobody listed.")

    @classmethod
    def of(cls, budget: Budget) -> Grant:
        """A budget as fractions."""
        named = {name: str(getattr(budget, name)) for name in ("epsilon", "delta", "delta_for_keys")}
        return cls(**named)


class ColumnFacts(BaseModel):
    """What is public about a column."""

    name: str = Field(description="As written in SQL.")
    type: str = Field(description="What its values are.")
    lower: str | None = Field(description="The least value that counts.")
    upper: str | None = Field(description="The greatest value that counts.")
    keys: list[str] | None = Field(description="Every value that may appear as a group, where that list is public.")
    keys_from: str | None = Field(description="The column of a public table whose values are the groups.")
    nullable: bool = Field(description="Whether values may be missing.")
    lists_missing: bool = Field(description="Whether rows without a value are a group of their own.")
    default: str | None = Field(description="What stands in for a missing value.")
    constant_per_unit: bool = Field(description="Whether all rows of a person hold the same value.")
    rows_per_key: int | None = Field(description="How many rows of a person count in full in each group by it.")
    description: str = Field(description="A sentence for analysts.")

    @classmethod
    def of(cls, column: Column) -> ColumnFacts:
        """A column with its values as texts."""
        return cls(
            name=column.name,
            type=column.type.value,
            lower=_text(column.lower),
            upper=_text(column.upper),
            keys=None if column.listed is None else [write_literal(key) for key in column.listed],
            keys_from=column.keys_from,
            nullable=column.may_be_missing,
            lists_missing=column.may_be_missing and column.lists_missing,
            default=_text(column.default),
            constant_per_unit=column.constant_per_unit,
            rows_per_key=column.rows_per_key,
            description=column.description,
        )


class TimeFacts(BaseModel):
    """How a table grows by periods."""

    column: str = Field(description="The column that says which period a row belongs to.")
    every: str = Field(description="How long a period is: day, week, month, quarter or year.")
    first: str = Field(description="The day on which the first period begins.")
    zone: str = Field(description="The time zone by which periods are due to close.")
    grace: int = Field(description="How many days after its end a period is due.")

    @classmethod
    def of(cls, time: TimeColumn) -> TimeFacts:
        """The facts of a time column."""
        first = time.first.isoformat()
        return cls(column=time.column, every=time.every.value, first=first, zone=time.zone, grace=time.grace)


class TableFacts(BaseModel):
    """What is public about a table: nothing here is read from its rows."""

    name: str = Field(description="As written in SQL.")
    description: str = Field(description="A sentence for analysts.")
    public: bool = Field(description="Whether everybody may know every row.")
    unit: str | None = Field(description="The column that names the person; none where every row is one.")
    neighbours: str = Field(description="What is hidden: that a person is there, or what their rows are.")
    rows_per_unit: int = Field(description="The total weight of one person's rows in an answer.")
    rows_after_joins: int = Field(description="How many rows joins may make of one person.")
    groups_per_unit: int = Field(description="How many groups with unlisted keys one person can make visible.")
    time: TimeFacts | None = Field(description="How it grows by periods; null where it is taken in whole.")
    budget: Grant | None = Field(description="What all may spend together.")
    budget_per: str | None = Field(description="How long a period is, where the budget is that of a person in one.")
    lifetime: Grant | None = Field(description="What a person may lose over all periods; null where it is counted.")
    analysts: dict[str, Grant | None] = Field(
        description="Who may ask, with their caps; an analyst sees themselves alone."
    )
    columns: list[ColumnFacts] = Field(description="What may be named in a question.")

    @classmethod
    def of(cls, table: Table) -> TableFacts:
        """The facts of a policy."""
        names = ("name", "description", "public", "unit", "rows_per_unit", "rows_after_joins")
        return cls(
            **{name: getattr(table, name) for name in names},
            groups_per_unit=table.most_groups,
            neighbours=str(table.neighbours),
            time=None if table.time is None else TimeFacts.of(table.time),
            budget=None if table.budget is None else Grant.of(table.budget),
            budget_per=None if table.budget_per is None else table.budget_per.value,
            lifetime=None if table.lifetime is None else Grant.of(table.lifetime),
            analysts={who: None if cap is None else Grant.of(cap) for who, cap in table.analysts.items()},
            columns=[ColumnFacts.of(column) for column in table.columns],
        )


class BalanceFacts(BaseModel):
    """What one account was granted, what was taken from it and what is left."""

    account: str = Field(description="Its name in the ledger.")
    kind: str = Field(description="unit for that of the people of a table, table, or analyst.")
    table: str = Field(description="The table that it pays for.")
    analyst: str | None = Field(description="Whose cap it is; none for what all may spend together.")
    period: str | None = Field(description="The period that it is for; null where it is for good.")
    cap: Amount | None = Field(description="What was granted; null where losses are counted without a cap.")
    spent: Amount = Field(description="What was taken.")
    left: Amount | None = Field(description="What is left; null where there is no cap.")
    more: int | None = Field(description="How many more questions like the last one; none while there was none.")
    delta_cap: str | None = Field(description="The δ for groups that nobody listed, as a fraction.")
    delta_spent: str | None = Field(description="What was taken of it.")
    delta_left: str | None = Field(description="What is left of it.")

    @classmethod
    def of(cls, one: tables_ops.Balance) -> BalanceFacts:
        """A balance, rounded so that it never says more than there is."""
        return cls(
            account=one.account,
            kind=one.kind.value,
            table=one.table,
            analyst=one.analyst,
            period=one.period,
            cap=None if one.cap is None else Amount.balance(one.cap),
            spent=Amount.price(one.spent),
            left=None if one.left is None else Amount.balance(one.left),
            more=one.more,
            delta_cap=_fraction(one.delta_cap),
            delta_spent=_fraction(one.delta_spent),
            delta_left=_fraction(one.delta_left),
        )


class SpentFacts(BaseModel):
    """One question, and what it took from a table's budget."""

    position: int = Field(description="Where it stands in the ledger.")
    time: str = Field(description="When, in universal time.")
    analyst: str | None = Field(description="Who asked; none for the owner.")
    step: Amount = Field(description="By how much it raised the loss of the worst-off person.")
    total: Amount = Field(description="That loss after it, of all questions that you may see.")


class TypicalFacts(BaseModel):
    """A question that people often ask, and its price."""

    title: str = Field(description="What it asks, in words.")
    sql: str = Field(description="The question.")
    epsilon: str = Field(description="The ε to ask it with, as a fraction.")
    price: Amount = Field(description="What that takes from the budget.")
    within: float | None = Field(description="Its error; none where it depends on the answer.")
    more: int = Field(description="How many times the budget pays for it still.")


After = Annotated[str | None, Query(max_length=_MOST_CHARACTERS, description="The last name that was seen.")]
Named = Annotated[str, Query(max_length=_MOST_CHARACTERS, description="The name of a table.")]


@router.get("/tables", summary="The tables that you may know of")
def tables(service: ServiceHere, principal: Anybody, after: After = None, limit: Limit = 100) -> list[TableFacts]:
    """What their policies say, by name."""
    found = tables_ops.tables(service, principal)
    return [TableFacts.of(one) for one in page(found, lambda one: one.name, after, limit=limit)]


@router.get("/tables/{name}", summary="One table")
def table(service: ServiceHere, principal: Anybody, name: str) -> TableFacts:
    """What its policy says."""
    return TableFacts.of(tables_ops.table(service, principal, name))


@router.get("/budget", summary="What was granted, spent and left")
def budget(
    service: ServiceHere,
    principal: Anybody,
    after: Annotated[
        str | None, Query(max_length=_LONGEST_ACCOUNT, description="The last account that was seen.")
    ] = None,
    limit: Limit = 100,
) -> list[BalanceFacts]:
    """Every account that the principal may see, by its name."""
    known = {one.account: one for one in tables_ops.budget(service, principal)}  # people pay for several tables
    found = [known[name] for name in sorted(known)]
    return [BalanceFacts.of(one) for one in page(found, lambda one: one.account, after, limit=limit)]


@router.get("/spending", summary="What was spent on a table, question by question")
def spending(
    service: ServiceHere,
    principal: Anybody,
    table: Named,
    period: Annotated[
        str | None, Query(max_length=20, description="A period, where each has a budget of its own.")
    ] = None,
    after: Annotated[int | None, Query(ge=1, le=_LAST_POSITION, description="The last position that was seen.")] = None,
    limit: Limit = 100,
) -> list[SpentFacts]:
    """Oldest first; an analyst sees their own questions alone."""
    found = tables_ops.spending(service, principal, table, period)
    return [
        SpentFacts(
            position=one.position,
            time=one.time,
            analyst=one.analyst,
            step=Amount.price(one.step),
            total=Amount.price(one.total),
        )
        for one in page(found, lambda one: one.position, after, limit=limit)
    ]


@router.get("/typical-questions", summary="What typical questions would still cost")
def typical_questions(
    service: ServiceHere,
    principal: Annotated[Principal, principal_with(_ASKERS)],
    table: Named,
    within: Annotated[float, Query(description="How far off a count may be.", gt=0)] = 10.0,
) -> list[TypicalFacts]:
    """A count, a count in groups and an average; nothing is spent."""
    return [
        TypicalFacts(
            title=one.title,
            sql=one.sql,
            epsilon=str(one.epsilon),
            price=Amount.price(one.price),
            within=one.within,
            more=one.more,
        )
        for one in tables_ops.typical_questions(service, principal, table, within)
    ]


def _fraction(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _text(value: Value | None) -> str | None:
    return None if value is None else write_literal(value)
