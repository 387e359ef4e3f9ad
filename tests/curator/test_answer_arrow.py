"""An answer as bytes and back: the same answer, or a refusal."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.answers.answer import Answer
from discreet.curator.answers.arrow import answer_from_arrow, answer_to_arrow
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.curator import Curator
from discreet.errors import InvalidValue
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated
from tests.thoroughness import many

TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float64(), st.floats()),
    (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
    (pa.bool_(), st.booleans()),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("us", tz="UTC"), st.datetimes(timezones=st.just(UTC))),
    (pa.decimal128(38, 3), st.decimals(-(10**9), 10**9, places=3)),
    (pa.binary(), st.binary(max_size=4)),
]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LOSSES: st.SearchStrategy[Loss] = st.fractions(0, 10**6).flatmap(
    lambda x: st.sampled_from([Pure(x), ZeroConcentrated(x)])
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    rows = draw(st.integers(0, 3))
    columns = {}
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        kind, values = draw(st.sampled_from(TYPES))
        columns[name] = pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), kind)
    barred = [name for name in columns if draw(st.booleans())]
    bar = st.none() | st.tuples(st.floats(), st.floats())
    return Answer(
        pa.table(columns, metadata=draw(st.sampled_from([None, {"pandas": "{}"}]))),
        {name: draw(st.lists(bar, min_size=len(columns[name]), max_size=len(columns[name]))) for name in barred},
        draw(st.floats(0, 1)),
        draw(st.none() | LOSSES),
        draw(st.booleans()),
        tuple(draw(st.lists(st.text(), max_size=2))),
        draw(st.dictionaries(st.text(), JSON, max_size=3)),
        left=draw(st.dictionaries(st.text(), LOSSES, max_size=2)),
        entry=draw(st.none() | st.integers(1, 10**12)),
    )


def spelled(answer: Answer) -> tuple[Any, ...]:
    """Everything about an answer; as text, because nan is not equal to itself."""
    rest = (answer.error, answer.confidence, answer.price, answer.charged, answer.notes, answer.certificate)
    exact = [getattr(loss, "epsilon", getattr(loss, "rho", None)) for loss in (answer.price, *answer.left.values())]
    table = [(column.type, column.to_pylist()) for column in answer.table.columns]
    return repr((*rest, list(answer.left.items()), answer.entry, exact, table)), answer.table.schema.to_string()


@settings(max_examples=many(40, 150), deadline=None)
@given(answers())
def test_an_answer_reads_back_as_the_same_answer(answer: Answer) -> None:
    found = answer_from_arrow(answer_to_arrow(answer))
    assert spelled(found) == spelled(answer)
    assert found.table.schema.equals(answer.table.schema, check_metadata=True)


def example() -> Answer:
    columns = {"ward": ["A", None], "n": [3, 4], "day": [date(2025, 1, 2), None], "sum": [Decimal("1.50"), None]}
    columns |= {"at": [datetime(2025, 1, 2, 3, 4), None]}
    bars: dict[str, list[tuple[float, float] | None]] = {"n": [(-math.inf, math.nan), None]}
    price, left = ZeroConcentrated(Fraction(1, 3)), {"visits": ZeroConcentrated(Fraction(10**40, 7 * 10**39 + 1))}
    columns |= {"zoned": pa.array([datetime(2025, 1, 2), None], pa.timestamp("us", tz="UTC"))}
    return Answer(pa.table(columns), bars, 0.9, price, True, ("People count as 5.",), {"a": {"b": [1]}}, left, 7)


def test_bytes_that_were_cut_anywhere_are_refused() -> None:
    data = answer_to_arrow(example())
    for length in range(len(data)):
        with pytest.raises(InvalidValue, match="an answer must be a whole Arrow stream"):
            answer_from_arrow(data[:length])
    with pytest.raises(InvalidValue):
        answer_from_arrow(data + b"\0")


@settings(max_examples=many(100, 400), deadline=None)
@given(st.data())
def test_changed_bytes_are_an_answer_or_refused_and_never_another_error(data: st.DataObject) -> None:
    sent = bytearray(answer_to_arrow(example()))
    for _ in range(data.draw(st.integers(1, 3))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = answer_from_arrow(bytes(sent))
    except InvalidValue:
        return
    assert spelled(found)
    assert [str(found), found.to_json(), found.to_csv(), found._repr_html_()]


def test_values_that_nobody_can_look_at_are_refused() -> None:
    """Each of these is sound as Arrow and fails as soon as somebody prints it."""
    header = json.loads(pa.ipc.open_stream(answer_to_arrow(example())).schema.metadata[b"discreet"])
    said = json.dumps(header | {"rows": 1, "error": {}})
    odd = [
        pa.table({"day": pa.array([2**31 - 1], pa.int32()).cast(pa.date32())}),
        pa.table({"at": pa.array([2**62], pa.int64()).cast(pa.timestamp("s"))}),
        pa.table({"at": pa.array([1], pa.timestamp("us", tz="Nowhere/At all"))}),
        pa.table([pa.array([1]), pa.array([2])], names=["n", "n"]),
    ]
    for table in odd:
        with pytest.raises(InvalidValue):
            answer_from_arrow(in_stream(table, said))
    answer_from_arrow(in_stream(pa.table({"n": [1]}), said))


def sent_with(**changes: Any) -> bytes:
    """The example with another header."""
    table = pa.ipc.open_stream(answer_to_arrow(example())).read_all()
    header = json.loads(table.schema.metadata[b"discreet"]) | changes
    kept = {name: value for name, value in header.items() if value != "left out"}
    return in_stream(table, json.dumps(kept))


def in_stream(table: pa.Table, header: str) -> bytes:
    sink = pa.BufferOutputStream()
    marked = table.replace_schema_metadata({"discreet": header})
    with pa.ipc.new_stream(sink, marked.schema) as writer:
        writer.write_table(marked)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(
    "changes",
    [
        {"form": "answer 2"},
        {"rows": 3},
        {"error": []},
        {"error": {"n": [None]}},
        {"error": {"m": [None, None]}},
        {"error": {"n": [[1], None]}},
        {"error": {"n": [["Infinity", 1.0], None]}},
        {"confidence": "0.9"},
        {"price": {"unit": "μ", "exact": "1"}},
        {"price": {"unit": "ε", "exact": "1/0"}},
        {"price": {"unit": "ε", "exact": "1e999999999"}},
        {"price": {"unit": "ε", "exact": "9" * 4001}},
        {"price": {"unit": "ε", "exact": "9" * 400}},
        {"price": "1"},
        {"charged": 1},
        {"notes": "note"},
        {"notes": [1]},
        {"certificate": []},
        {"left": {"visits": "1"}},
        {"entry": "7"},
        {"entry": True},
        {"price": "left out"},
        {"form": "left out"},
    ],
)
def test_a_header_that_says_something_else_is_refused(changes: dict[str, Any]) -> None:
    answer_from_arrow(sent_with())
    with pytest.raises(InvalidValue, match="an answer must be a whole Arrow stream"):
        answer_from_arrow(sent_with(**changes))


def test_foreign_bytes_and_headers_are_refused() -> None:
    plain = pa.table({"n": [1]})
    nested = "[" * 100_000
    twice = '{"form": "answer 1", "form": "answer 1"}'
    foreign = [
        b"",
        b"hello",
        bytes(64),
        b"ARROW1\0\0",
        *(in_stream(plain, text) for text in (nested, twice, "[]", "x")),
    ]
    foreign.append(in_stream(plain, '{"form": NaN}'))
    for data in foreign:
        with pytest.raises(InvalidValue):
            answer_from_arrow(data)


def test_what_a_curator_answers_travels_with_its_certificate(tmp_path: Path) -> None:
    columns = (Column("ward", ColumnType.TEXT, keys=("A", "B")), Column("age", ColumnType.INTEGER, lower=0, upper=99))
    curator = Curator(tmp_path)
    curator.protect(pa.table({"ward": ["A", "B"], "age": [3, 4]}), Table("visits", columns, budget=Budget(3, "1e-6")))
    curator.protect(pa.table({"w": ["A"]}), Table("wards", (Column("w", ColumnType.TEXT),), public=True))
    asked = curator.ask("SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ward", epsilon=1)
    for answer in (asked, curator.ask("SELECT * FROM wards", epsilon=1)):
        found = answer_from_arrow(answer_to_arrow(answer))
        assert spelled(found) == spelled(answer)
        assert (found.receipt(), str(found)) == (answer.receipt(), str(answer))
    assert is_genuine(answer_from_arrow(answer_to_arrow(asked)).certificate)
