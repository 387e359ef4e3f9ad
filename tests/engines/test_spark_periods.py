"""Tables of Spark that grow by periods: the same integers as in a folder, and no other row is read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.period import Every
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import BudgetExceeded, InvalidValue
from discreet.privacy.loss import Pure
from tests.engines.same_periods import check_same, close_all, embedded, growing, questions, rows
from tests.servers.spark import spark_session as spark_session  # noqa: PLC0414

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
TYPES = {"date": pa.date32(), "ntz": pa.timestamp("us"), "zoned": pa.timestamp("us", "UTC"), "text": pa.string()}
LAST = 2**62
FAR = {
    "date": [-800_000, 2_932_897, 20_454 - 719_163 * 2],
    "ntz": [-LAST, LAST // 16, -62_135_596_800_000_001],
    "zoned": [-LAST // 16, LAST // 16, -62_135_596_800_000_001],
    "text": ["2026-02-30", "2026-01", "today", "infinity", "", "-2026-01-15", "2026-01-15 BC", "20260115"],
}
"""Dates that are in no closed period, or are none."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rows that are set aside
        yield


def with_far(given: pa.Table, native: str) -> pa.Table:
    """The same rows, their dates as Spark is to find them, and more rows that are in no period."""
    kind, far = TYPES[native], FAR[native]
    number = {"date": pa.int32(), "text": pa.string()}.get(native, pa.int64())
    dates = pa.array(far, number) if native == "text" else pa.array(far, number).cast(kind)
    given = given.set_column(2, "admitted", given.column(2).cast(kind))
    count = len(far)
    arrays = [pa.array(["1"] * count), pa.array(["A"] * count), dates, pa.array([50] * count)]
    more = pa.table(arrays, names=given.column_names)
    nobody = pa.table([[None], ["A"], given.column(2).drop_null()[:1], [50]], schema=given.schema)
    return pa.concat_tables([given, more.cast(given.schema), nobody])


def served(folder: Path, table: Table, given: pa.Table) -> Curator:
    """A curator for rows in Spark, with the periods closed."""
    file = folder / "visits.parquet"
    pq.write_table(given, file)
    curator = Curator(folder / "curator", engine=SparkEngine(folder / "curator"))
    curator.protect(str(file), table)
    close_all(curator, table)
    return curator


@pytest.mark.parametrize("every", [Every.WEEK, Every.QUARTER])
@pytest.mark.some(1)
def test_periods_have_the_same_integers_as_in_a_folder(tmp_path: Path, spark_session: Any, every: Every) -> None:
    table = growing("date", every)
    given = rows(table)
    here, there = embedded(tmp_path / "here", table, given), served(tmp_path, table, given)
    check_same(there, here, table, [questions(table)[one] for one in (1, 6)])


@pytest.mark.parametrize(
    ("kind", "native"), [("date", "date"), ("date", "text"), ("timestamp", "ntz"), ("timestamp", "zoned")]
)
@pytest.mark.some(1)
def test_rows_that_are_in_no_period_are_not_read_and_make_nothing_fail(
    tmp_path: Path, spark_session: Any, kind: str, native: str
) -> None:
    table = growing(kind, person="text")
    given = rows(table)
    here = embedded(tmp_path / "here", table, given)
    check_same(served(tmp_path, table, with_far(given, native)), here, table, [questions(table)[one] for one in (0, 2)])


@pytest.mark.thorough
def test_periods_share_the_price_and_wards_of_one_period_do_not(tmp_path: Path, spark_session: Any) -> None:
    table = growing()
    there = served(tmp_path, table, rows(table))
    january = "SELECT COUNT(*) FROM visits WHERE admitted >= '2026-01-01' AND admitted < '2026-02-01' AND ward = '{}'"
    there.ask(january.format("A"), epsilon="0.6")
    assert [one.spent for one in there.periods("visits")][:3] == [Pure(0), Pure("0.6"), Pure(0)]
    with pytest.raises(BudgetExceeded, match="visits in 2026-01"):
        there.ask(january.format("B"), epsilon="0.6")
    there.ask("SELECT COUNT(*) FROM visits WHERE admitted < '2026-01-01'", epsilon=1)


def test_rows_as_units_are_refused_with_what_works(tmp_path: Path, spark_session: Any) -> None:
    table = growing(unit=None, unit_per=None, budget=1, rows_per_unit=1)
    with pytest.raises(InvalidValue, match=r"a row can be moved to another period.*per: month"):
        served(tmp_path, table, rows(table))
