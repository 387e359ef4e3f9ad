"""Tables that grow, in two worlds that differ in one unit: random histories, and bugs that are planted in them.

Random ones are drawn by number, so that a finding can be looked at again. Each planted bug has a short history that
finds it, and that finds nothing without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.audit.replay.history import Append, Ask, Close, Forget, Reopen, Step, WorldHistory
from discreet.catalog.column import Column
from discreet.catalog.table import Table
from discreet.curator import charge, periods, prepare
from discreet.curator.curator import Curator
from discreet.curator.ledger import closes
from discreet.engines.duckdb import append as appending
from discreet.engines.duckdb import close_period, period_ids
from discreet.engines.duckdb.growing import Growing
from discreet.query.bind import periods as finding
from tests.audit.histories import make_history, play
from tests.thoroughness import IS_THOROUGH, many

pytestmark = pytest.mark.filterwarnings("ignore")
HISTORIES = many(5, 60)
FIRST = date(2026, 1, 5)
X = 7
Row = tuple[int, str, date | None, int]
Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_what_a_unit_loses_in_a_history_is_within_every_account(tmp_path: Path, seed: int) -> None:
    assert play(make_history(seed), tmp_path).found == []


def test_random_histories_lose_something_and_are_refused_at_times() -> None:
    kinds = {make_history(seed).period is None for seed in range(20)}
    steps = {type(step) for seed in range(20) for step in make_history(seed).steps}
    assert kinds == {True, False}
    assert {Append, Ask, Close, Forget, Reopen} <= steps


# Planted bugs.


def day(week: int, of_week: int = 0) -> date:
    return FIRST + timedelta(days=7 * week + of_week)


def visits(unit: str | None = None, **stated: Any) -> Table:
    columns = (
        Column("p", "integer"),
        Column("ward", "text", keys=("A", "B")),
        Column("t", "date"),
        Column("age", "integer", lower=0, upper=10),
        Column("tag", "text"),
    )
    time = {"column": "t", "every": "week", "from": str(FIRST)}
    return Table("visits", columns, unit=unit, time=time, **{"budget": 4, **stated})


BY_ROW = visits()
BY_WEEK = visits("p", unit_per="week", rows_per_unit=2, budget={"epsilon": 4, "per": "week"})
BY_PERSON = visits("p", rows_per_unit=2, budget=20)


def rows(found: Iterable[Row]) -> pa.Table:
    listed = list(found)
    types = {"p": pa.int64(), "ward": pa.string(), "t": pa.date32(), "age": pa.int64()}
    columns = {name: pa.array([row[k] for row in listed], kind) for k, (name, kind) in enumerate(types.items())}
    return pa.table({**columns, "tag": pa.array([f"tag {row[0]}" for row in listed], pa.string())})


def come(name: str, others: Iterable[Row], x: Iterable[Row] = ()) -> Append:
    return Append("visits", rows(others), rows(x), rows([]), name)


def week(number: int, x: Iterable[Row] = ()) -> list[Step]:
    """A week in which four people come, and x, and which closes."""
    others = [(person, "AB"[person % 2], day(number, person), 5) for person in range(1, 5)]
    return [come(f"week {number}", others, x), close(number)]


def close(number: int, crash: str | None = None) -> Close:
    return Close("visits", f"2026-W{number + 2:02d}", crash)


def ask(sql: str, **terms: Any) -> Ask:
    return Ask(sql, {"epsilon": 1} | terms)


def history(table: Table, steps: Sequence[Step], of_x: int | None) -> WorldHistory:
    """A history in which x is in one week, or is a whole person."""
    return WorldHistory([(table, rows([]))], steps, None if of_x is None else f"2026-W{of_x + 2:02d}")


def check(told: WorldHistory, folder: Path, plant: Plant) -> None:
    """The history finds what is planted, and finds nothing where it is not."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        assert play(told, folder).found
    if IS_THOROUGH:
        honest = play(told, folder)
        assert honest.found == []
        assert honest.answered


COUNT = "SELECT COUNT(*) AS n FROM visits"
WEEKLY = "SELECT date_trunc('week', t) AS w, COUNT(*) AS n FROM visits GROUP BY 1"


def _borders_are_misread(patch: pytest.MonkeyPatch) -> None:
    """`<=` is `<`, and statements read all periods, those that nobody pays for among them."""
    patch.setitem(finding._COMPARED, "{0} <= {1}", finding._COMPARED["{0} < {1}"])
    _all_periods_are_read(patch)


def _or_is_and(patch: pytest.MonkeyPatch) -> None:
    made = finding.list_outcomes

    def outcomes(condition: Any) -> Any:
        is_or = getattr(condition, "template", None) == finding.OR
        return made(replace(condition, template=finding.AND) if is_or else condition)

    patch.setattr(finding, "list_outcomes", outcomes)
    _all_periods_are_read(patch)


def _all_periods_are_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("discreet.curator.preconditions.find_stored", lambda name, plan, snapshot: snapshot.stored(name))


@pytest.mark.parametrize(
    ("plant", "condition"),
    [
        (_borders_are_misread, "t <= '2026-01-12'"),
        (_or_is_and, "t < '2026-01-12' OR age > 3"),
    ],
)
def test_a_condition_that_is_misread_while_all_rows_are_read_is_found(
    tmp_path: Path, plant: Plant, condition: str
) -> None:
    steps = [*week(0), *week(1, [(X, "A", day(1), 5)]), ask(f"{COUNT} WHERE {condition}")]
    check(history(BY_ROW, steps, of_x=1), tmp_path, plant)


def test_rows_of_the_open_period_that_are_read_are_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = close_period._gather
        patch.setattr(
            close_period,
            "_gather",
            lambda build, growing, period, *more: made(
                build, growing, replace(period, end=period.end + timedelta(days=7)), *more
            ),
        )

    early = come("early", [], [(X, "A", day(1), 5)])
    check(history(BY_ROW, [early, *week(0), ask(COUNT)], of_x=1), tmp_path, plant)


def test_a_row_that_closes_a_period_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = Curator.append

        def closing(self: Curator, table: str, source: pa.Table, **how: Any) -> Any:
            done = made(self, table, source, **how)
            if any(when is not None and when >= day(1) for when in source["t"].to_pylist()):
                self.close(table, through="2026-W02")
            return done

        patch.setattr(Curator, "append", closing)

    steps = [*week(0)[:1], come("later", [], [(X, "A", day(1), 5)]), close(0), ask(COUNT)]
    check(history(BY_ROW, steps, of_x=1), tmp_path, plant)


def test_an_append_that_fails_because_of_one_row_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = appending._sift

        def strict(*given: Any) -> Any:
            done, first = made(*given)
            if done.set_aside:
                raise AssertionError("rows must be of open periods")
            return done, first

        patch.setattr(appending, "_sift", strict)

    steps = [*week(0), *week(1, [(X, "A", day(0), 5)]), ask(COUNT)]
    check(history(BY_ROW, steps, of_x=0), tmp_path, plant)


def test_a_late_row_that_enters_a_closed_period_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(Growing, "closed_until", property(lambda growing: None))
        made = close_period._gather
        patch.setattr(
            close_period,
            "_gather",
            lambda build, growing, period, *more: made(build, growing, replace(period, start=FIRST_MOMENT), *more),
        )

    steps = [*week(0), *week(1, [(X, "A", day(0), 5)]), ask(f"{COUNT} WHERE t >= '2026-01-12'"), ask(WEEKLY)]
    check(history(BY_ROW, steps, of_x=0), tmp_path, plant)


FIRST_MOMENT = BY_ROW.time.after(None).start if BY_ROW.time is not None else None


def test_a_number_of_rows_in_the_ledger_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = closes.chain.append

        def counting(database: Any, record: Any, *more: Any) -> Any:
            return made(database, {**record, "rows": record["root"][:6]} if "root" in record else record, *more)

        patch.setattr(closes.chain, "append", counting)
        patch.setattr(close_period, "root_of", lambda salt, stored: f"{_count(stored):064x}")
        patch.setattr(Growing, "root", lambda growing: f"{_count(growing.periods):064x}" if growing.periods else None)

    def _count(stored: Any) -> int:
        return sum(int(next(iter(one.rows.digests.values()), "0").split("-")[0]) for one in stored) << 240

    check(history(BY_ROW, [*week(0, [(X, "A", day(0), 5)]), ask(COUNT)], of_x=0), tmp_path, plant)


def test_an_erasure_that_changes_a_version_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = close_period.erase_from_periods

        def anew(*given: Any) -> Any:
            erased, fresh = made(*given)
            again = {
                name: replace(one, rows=replace(one.rows, version=f"9-{'e' * 32}")) for name, one in erased.items()
            }
            return again, fresh

        patch.setattr(close_period, "erase_from_periods", anew)

    steps = [*week(0, [(X, "A", day(0), 5)]), ask(WEEKLY), Forget("visits", X), *week(1), ask(WEEKLY)]
    check(history(BY_WEEK, steps, of_x=0), tmp_path, plant)


def test_an_empty_period_that_is_skipped_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = periods._close

        def unless_empty(curator: Curator, table: Table, period: Any) -> None:
            growing = curator.engine.store.manifest().growing[table.name]
            if growing.open:
                made(curator, table, period)

        patch.setattr(periods, "_close", unless_empty)

    steps = [come("alone", [], [(X, "A", day(0), 5)]), close(0), ask(COUNT)]
    check(history(BY_ROW, steps, of_x=0), tmp_path, plant)


def _prices(patch: pytest.MonkeyPatch, changed: Callable[[str, Any], Any]) -> None:
    made = charge.list_prices

    def list_prices(*given: Any, **named: Any) -> Any:
        return {name: changed(name, price) for name, price in made(*given, **named).items()}

    patch.setattr(prepare, "list_prices", list_prices)


@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"part": "1/4"}], ids=["pure", "part"])
def test_a_person_who_is_charged_for_one_of_many_periods_is_found(tmp_path: Path, terms: dict[str, Any]) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = charge.price_for_periods
        patch.setattr(charge, "price_for_periods", lambda loss, number, *more, **how: made(loss, 1, *more, **how))

    table = visits("p", unit_per="week", rows_per_unit=1, budget={"epsilon": 4, "delta": "1e-6", "per": "week"})
    x = [[(X, "A", day(k), 5)] for k in range(3)]
    steps = [*week(0, x[0]), *week(1, x[1]), *week(2, x[2]), Ask(COUNT, terms)]
    check(history(table, steps, of_x=None), tmp_path, plant)


def test_a_delta_for_keys_that_its_period_does_not_pay_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        _prices(patch, lambda name, price: replace(price, delta=0) if "2026" in name else price)

    table = visits(budget={"epsilon": 4, "delta": "1e-6", "delta_for_keys": "5e-7"})
    steps = [*week(0, [(X, "A", day(0), 5)]), ask("SELECT tag, COUNT(*) AS n FROM visits GROUP BY tag")]
    check(history(table, steps, of_x=0), tmp_path, plant)


def test_a_question_that_is_charged_to_one_of_its_periods_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        _prices(patch, lambda name, price: replace(price, loss=0, pure=None) if "W02" in name else price)

    steps = [*week(0, [(X, "A", day(0), 5)]), *week(1), ask(COUNT)]
    check(history(BY_ROW, steps, of_x=0), tmp_path, plant)


def test_an_append_that_is_taken_in_twice_is_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        made = appending._append

        def again(engine: Any, growing: Growing, *more: Any) -> Any:
            return made(engine, replace(growing, appends={}), *more)

        patch.setattr(appending, "_append", again)

    first = come("one night", [], [(X, "A", day(0), 5)])
    check(history(BY_ROW, [first, first, close(0), ask(COUNT)], of_x=0), tmp_path, plant)


def test_ids_of_two_periods_that_meet_are_found(tmp_path: Path) -> None:
    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(period_ids, "last_id", lambda build, domain: 0)

    table = visits("p", unit_per="week", rows_per_unit=1, budget={"epsilon": 4, "per": "week"})
    wards = Table("wards", (Column("ward", "text"), Column("floor", "integer")), public=True)
    many_rows = [(X, "A", day(0, k), 5) for k in range(7)]
    steps = [come("0", [], many_rows), close(0), come("1", [(8, "B", day(1), 5)]), close(1)]
    sql = "SELECT ward, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY ward"
    told = history(table, [*steps, ask(sql)], of_x=0)
    floors = pa.table({"ward": ["A", "B"], "floor": [1, 2]})
    check(replace(told, tables=[(wards, floors), *told.tables]), tmp_path, plant)


@pytest.mark.parametrize("crash", ["prepared", "recorded", "shown"])
@pytest.mark.some(1)
def test_a_close_that_is_cut_off_tells_nobody_apart(tmp_path: Path, crash: str) -> None:
    steps = [*week(0, [(X, "A", day(0), 5)]), Forget("visits", X), *week(1)[:1], close(1, crash), close(1), ask(WEEKLY)]
    found = play(history(BY_WEEK, steps, of_x=0), tmp_path)
    assert found.found == []
    assert (found.answered, found.refused) == (1, 0)
