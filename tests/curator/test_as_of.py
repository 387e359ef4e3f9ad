"""The clock of a question: a moment that whoever asks has named, and never that of the machine."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.curator.curator import Curator
from discreet.errors import InvalidInput, QueryRefused, RequestConflict
from discreet.query.parse.alternatives import INSTEAD, is_clock
from discreet.query.parse.clock import AsOf

DAYS = [date(2026, 1, 1) + timedelta(days=k % 60) for k in range(600)]
RECENT = "SELECT COUNT(*) AS n FROM visits WHERE day > CURRENT_DATE - 30"


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    made = Curator(tmp_path)
    columns: Any = {"day": ("2026-01-01", "2026-12-31")}
    made.protect(pa.table({"id": range(600), "day": DAYS}), table="visits", unit="id", budget=1000, columns=columns)
    return made


def test_current_date_is_the_day_that_was_named(curator: Curator) -> None:
    for day, wanted in (("2026-02-16", 430), ("2026-03-31", 0), (date(2026, 1, 15), 600)):
        answer = curator.ask(RECENT, 50, as_of=day)
        assert abs(answer.table["n"][0].as_py() - wanted) <= 2  # by chance once in e^100 questions
        assert answer.certificate["as_of"] == str(day)
        assert answer.notes[0] == f"CURRENT_DATE is {day}, as it was asked."
    with pytest.raises(QueryRefused, match=r"the clock cannot be asked.*as_of"):
        curator.ask(RECENT, 1)


def test_the_same_day_is_free_and_another_is_not(curator: Curator) -> None:
    first = curator.ask(RECENT, 1, as_of="2026-02-16")
    again = curator.ask(RECENT, 1, as_of="2026-02-16 00:00")
    written = curator.ask("SELECT COUNT(*) AS n FROM visits WHERE day > DATE '2026-02-16' - 30", 1)
    assert (first.charged, again.charged, written.charged) == (True, False, False)
    assert curator.ask(RECENT, 1, as_of="2026-02-17").charged
    assert curator.explain(RECENT, 1, as_of="2026-02-17").is_known
    entry = curator.ledger.entry(first.certificate["ledger"]["charge"])
    assert entry is not None
    assert entry.body["note"]["as_of"] == "2026-02-16"


def test_a_request_stands_for_one_day(curator: Curator) -> None:
    curator.ask(RECENT, 1, as_of="2026-02-16", request="mine")
    assert not curator.ask(RECENT, 1, as_of="2026-02-16", request="mine").charged
    with pytest.raises(RequestConflict):
        curator.ask(RECENT, 1, as_of="2026-02-17", request="mine")


@pytest.mark.parametrize("clock", sorted(name for name in INSTEAD if is_clock(name)))
def test_every_clock_means_the_moment_or_stays_refused(curator: Curator, clock: str) -> None:
    for written in (clock, f"{clock}()"):
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE day <= {written}"
        try:
            answer = curator.ask(sql, 50, as_of="2026-01-31 12:00")
        except QueryRefused:
            continue
        assert abs(answer.table["n"][0].as_py() - 310) <= 2, sql


def test_days_and_moments_are_told_apart() -> None:
    there = timezone(timedelta(hours=2))
    moment = datetime(2026, 2, 16, 1, tzinfo=there)
    assert str(AsOf.of(moment)) == "2026-02-15 23:00:00"
    assert str(AsOf.of(datetime(2026, 2, 16, tzinfo=UTC))) == "2026-02-16"
    for wrong in ("tomorrow", "", "2026-02-30", 7, None):
        with pytest.raises(InvalidInput, match="must be a day or a moment"):
            AsOf.of(wrong)  # type: ignore[arg-type]
