"""What is left of a budget, also in questions: how many more like the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from threading import Lock
from typing import Any

from discreet.catalog.budget import add_up
from discreet.catalog.catalog import Catalog, fold_name
from discreet.catalog.table import Table
from discreet.curator.answers.formats import html_grid
from discreet.curator.ledger.ledger import Account, Entry, Ledger
from discreet.curator.ledger.units import DELTA_UNITS, LedgerPrice, amount, as_json, balance, balance_as_json
from discreet.privacy.format import shown

__all__ = ["Balances", "LastPrices", "charged_by", "compute_balance", "questions_left", "sum_linked_budgets"]


class Balances(dict[str, dict[str, Any]]):
    """Per account what was granted, spent and left. Printed, and in a notebook, it is a table."""

    HEADS = ("account", "granted", "spent", "left", "in questions")
    granted_together: tuple[str, ...] = ()
    """What people who are in several tables were granted by all of them, in sentences."""

    def lines(self) -> list[tuple[str, ...]]:
        """A line for each account, a table before its analysts; one more where δ was set aside for keys."""
        lines: list[tuple[str, ...]] = []
        for name, sums in sorted(self.items()):
            cap, spent, left = balance(sums["cap"]), amount(sums["spent"]), balance(sums["left"])
            lines.append((_account(name), cap, spent, left, _more(sums["more"])))
            if "delta_cap" in sums:
                deltas = (f"δ {shown(sums[f'delta_{key}'])}" for key in ("cap", "spent", "left"))
                lines.append(("  δ for keys", *deltas, ""))
        return lines

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The same for programs: amounts exact and as numbers, what is granted and left rounded down."""
        kinds = {"cap": balance_as_json, "spent": as_json, "left": balance_as_json}
        return {
            name: {key: kinds[key](value) if key in kinds else _exact(value) for key, value in sums.items()}
            for name, sums in sorted(self.items())
        }

    def notes(self) -> list[str]:
        """What to say below."""
        has_deltas = any("delta_cap" in sums for sums in self.values())
        return [*self.granted_together, *(["δ for keys pays for groups that nobody listed."] if has_deltas else [])]

    def __str__(self) -> str:
        grid = [self.HEADS, *self.lines()]
        widths = [max(len(line[k]) for line in grid) for k in range(len(self.HEADS))]
        lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in grid)
        return "\n".join([*lines, *self.notes()])

    def _repr_html_(self) -> str:
        return html_grid(self.HEADS, self.lines(), self.notes())


def sum_linked_budgets(catalog: Catalog, accounts: Iterable[str]) -> tuple[str, ...]:
    """What tables about the same people grant together, what all tables do, and which accounts have no policy by now.

    An account stays when its policy is taken away, and what was spent from it was spent.
    """
    kinds = catalog.tables_by_unit()
    told = [
        f"Budgets of linked tables add up: {' and '.join(table.name for table in tables)} granted "
        f"{_sum_budgets(tables)} for everything about one of {domain}."
        for domain, tables in kinds.items()
        if len(tables) > 1
    ]
    everything = [table for tables in kinds.values() for table in tables]
    if len(kinds) > 1:
        told.append(f"All {len(everything)} tables granted {_sum_budgets(everything)} for whoever has rows in each.")
    held = {fold_name(table.name) for table in everything}
    gone = sorted({_account(name) for name in accounts if "/" not in name and fold_name(_account(name)) not in held})
    if gone:
        told.append(f"No policy says whose rows these were: {', '.join(gone)}. What was spent there counts as well.")
    return tuple(told)


def _sum_budgets(tables: Sequence[Table]) -> str:
    budgets = [table.budget for table in tables if table.budget is not None]
    epsilon, delta = add_up(budgets)
    each = " + ".join(shown(one.epsilon) for one in budgets)
    return f"ε {each} = {shown(epsilon)}" + (f" and δ {shown(delta)}" if delta else "")


def _exact(value: Fraction | int | None) -> str | int | None:
    return str(value) if isinstance(value, Fraction) else value


def _account(name: str) -> str:
    """A table, or an analyst below the table; see the curator's names of accounts."""
    table, slash, analyst = name.partition("/")
    spelled = analyst if slash else table
    return ("  " if slash else "") + spelled.replace("%2F", "/").replace("%25", "%")


def _more(count: int | None) -> str:
    if count is None:
        return "nothing asked yet"
    return f"about {count:,} more like the last one" if count else "none like the last one"


PricesOf = Callable[[Entry], Mapping[str, LedgerPrice]]
_CHARGE = b'"kind":"charge"'


class LastPrices:
    """Per account, the last price that was charged to it.

    It is looked for from the end of the ledger on, as far back as an account needs that was ever charged, and then read
    as the ledger grows: no record is read twice, and few are read at all.
    """

    def __init__(self, ledger: Ledger, prices_of: PricesOf | None = None) -> None:
        """Of ``ledger``; ``prices_of`` a charge are per account, by default the most that it can take from one."""
        self._ledger = ledger
        self._prices_of = charged_by if prices_of is None else prices_of
        self._found: dict[str, LedgerPrice] = {}
        self._next: int | None = None
        self._lock = Lock()

    def now(self) -> dict[str, LedgerPrice]:
        """The prices; accounts that nobody charged are not listed."""
        with self._lock:
            if self._next is None:
                self._look_back()
            for entry in self._ledger.entries(self._next or 1):
                self._found |= self._told(entry)
                self._next = entry.position + 1
            return dict(self._found)

    def _look_back(self) -> None:
        end = self._ledger.head()[0] + 1
        accounts = self._ledger.accounts().items()
        missing = {name for name, account in accounts if account.spent or account.delta_spent}
        for entry in self._ledger.entries_back(end, _CHARGE) if missing else ():
            self._found |= {name: price for name, price in self._told(entry).items() if name not in self._found}
            missing -= self._found.keys()
            if not missing:
                break
        self._next = end

    def _told(self, entry: Entry) -> dict[str, LedgerPrice]:
        if entry.body["kind"] != "charge":
            return {}
        found = self._prices_of(entry).items()
        return {name: price for name, price in found if price.loss or price.delta or price.portions}


def charged_by(entry: Entry) -> dict[str, LedgerPrice]:
    """Per account, what a charge can take at most: what all people are charged, and the largest portions."""
    portions = entry.body.get("portions", {})
    largest = {name: max((loss for _, _, loss in portions.get(name, [])), default=0) for name in entry.body["prices"]}
    return {name: LedgerPrice(loss + largest[name], delta) for name, (loss, delta) in entry.body["prices"].items()}


def questions_left(account: Account, price: LedgerPrice | None) -> int | None:
    """How many more questions at this price the account can pay; None while nothing was charged."""
    if price is None:
        return None
    left = [(account.left, price.loss), (account.allowance.delta_cap - account.delta_spent, price.delta)]
    return min(have // each for have, each in left if each > 0)


def compute_balance(account: Account, price: LedgerPrice | None) -> dict[str, Any]:
    """What was granted to an account, spent and left, and how many more questions at this price that is."""
    allowance = account.allowance
    return {
        "cap": allowance.loss(allowance.cap),
        "spent": allowance.loss(account.spent),
        "left": allowance.loss(account.left),
        "more": questions_left(account, price),
        **_delta_for_keys(account),
    }


def _delta_for_keys(account: Account) -> dict[str, Fraction]:
    cap, spent = account.allowance.delta_cap, account.delta_spent
    named = {"delta_cap": cap, "delta_spent": spent, "delta_left": cap - spent}
    return {name: Fraction(units, DELTA_UNITS) for name, units in named.items()} if cap else {}
