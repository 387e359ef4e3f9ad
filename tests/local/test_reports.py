"""What the contract does not ask of reports: forged JSON and Arrow, shapes, joins."""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.local.choose import randomizer_of
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.reports import Reports
from discreet.local.unary import OptimalUnary
from discreet.noise.source import ReplayableSource

COLOURS = GeneralizedResponse(1, ["red", "green", "blue"])
WIDE = OptimalUnary(1, range(20))


def some(oracle: Any) -> Reports:
    return oracle.privatize([oracle.categories.names[0]] * 5, source=ReplayableSource(1))


@pytest.mark.parametrize(
    "change",
    [
        {"position": [0, 1, 256]},
        {"position": [0, -1]},
        {"position": [0.0]},
        {"position": [True]},
        {"position": ["0"]},
        {"position": "012"},
        {"position": None},
        {"row": [0]},
        {},
        {"position": [0], "more": [0]},
    ],
)
def test_refuses_numbers_that_are_none(change: dict[str, Any]) -> None:
    written = json.loads(some(COLOURS).to_json())
    with pytest.raises(InvalidInput):
        Reports.from_json(json.dumps(written | {"reports": change}))


@pytest.mark.parametrize(
    "bits", [["00"], ["0000000"], ["zzzzzz"], [5], [None], "000000", [["00"]], ["00 000"], ["é00000"]]
)
def test_refuses_bits_that_are_none(bits: Any) -> None:
    written = json.loads(some(WIDE).to_json())
    with pytest.raises(InvalidInput):
        Reports.from_json(json.dumps(written | {"reports": {"bits": bits}}))


def test_every_truncated_json_is_refused() -> None:
    text = some(WIDE).to_json()
    for length in range(len(text)):
        with pytest.raises(InvalidInput):
            Reports.from_json(text[:length])


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"fingerprint":1,"reports":{}}', "[" * 100_000, None, 5])
def test_refuses_json_of_something_else(text: Any) -> None:
    with pytest.raises(InvalidInput):
        Reports.from_json(text, COLOURS.terms)


def test_reports_without_terms_need_them() -> None:
    for read, written in (
        (Reports.from_json, some(COLOURS).to_json(with_terms=False)),
        (Reports.from_bytes, some(COLOURS).to_bytes(with_terms=False)),
    ):
        with pytest.raises(InvalidValue, match="terms="):
            read(written)


def test_a_fingerprint_that_is_not_that_of_the_terms_is_refused() -> None:
    written = json.loads(some(COLOURS).to_json()) | {"fingerprint": "0" * 16}
    with pytest.raises(InvalidValue, match="under the terms"):
        Reports.from_json(json.dumps(written))


def test_a_short_upload_is_short() -> None:
    assert len(some(COLOURS).to_bytes(with_terms=False)) == 24 + 5 + 8


@pytest.mark.parametrize("count", [2**63, 2**64 - 1])
def test_an_upload_that_promises_more_than_memory_holds_is_refused(count: int) -> None:
    data = bytearray(some(COLOURS).to_bytes(with_terms=False))
    data[16:24] = count.to_bytes(8, "little")
    with pytest.raises(InvalidValue, match="must have"):
        Reports.from_bytes(bytes(data), COLOURS.terms)


@pytest.mark.parametrize("data", ["text", None, 5, b"", b"PK\x03\x04" * 20, b"DLR\x02" + bytes(40)])
def test_refuses_what_is_no_upload(data: Any) -> None:
    with pytest.raises(InvalidInput):
        Reports.from_bytes(data, COLOURS.terms)


@given(st.binary(max_size=60), st.integers(0, 300))
def test_whatever_bytes_come_the_refusal_is_one_of_ours(noise, place) -> None:
    """Noise spliced into an upload, with a checksum that fits, so that the reader has to look."""
    body = some(COLOURS).to_bytes()[:-8]
    spliced = body[:place] + noise + body[place + len(noise) :]
    with contextlib.suppress(InvalidInput):
        read = Reports.from_bytes(spliced + hashlib.sha256(spliced).digest()[:8])
        randomizer_of(read.terms).check(read)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    ),
    st.sampled_from(["terms", "reports", "fingerprint", "kind", "domain", "layout", "epsilon", "parameters"]),
)
def test_whatever_json_comes_the_refusal_is_one_of_ours(anything, where) -> None:
    written = json.loads(some(WIDE).to_json())
    (written if where in written else written["terms"])[where] = anything
    with contextlib.suppress(InvalidInput):
        randomizer_of(Reports.from_json(json.dumps(written)).terms)


def test_arrow_in_slices_and_batches() -> None:
    for oracle in (COLOURS, WIDE):
        sent = some(oracle)
        table = sent.to_arrow()
        assert oracle.outcomes(Reports.from_arrow(table.slice(1, 3))) == oracle.outcomes(sent)[1:4]
        joined = pa.concat_tables([table.slice(0, 2), table.slice(2)])
        assert oracle.outcomes(Reports.from_arrow(joined)) == oracle.outcomes(sent)
        assert oracle.outcomes(Reports.from_arrow(table.to_batches()[0])) == oracle.outcomes(sent)


def test_arrow_survives_a_file(tmp_path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(some(WIDE).to_arrow(), tmp_path / "reports.parquet")
    again = Reports.from_arrow(pq.read_table(tmp_path / "reports.parquet"), WIDE.terms)
    assert WIDE.outcomes(again) == WIDE.outcomes(some(WIDE))


def test_refuses_arrow_of_something_else() -> None:
    table = some(COLOURS).to_arrow()
    with pytest.raises(InvalidType, match="Arrow table"):
        Reports.from_arrow({"position": [1]})
    for bad in (
        table.replace_schema_metadata(None),
        table.rename_columns(["other"]),
        table.append_column("more", table["position"]),
        table.set_column(0, "position", pa.array([0, None, 1, 1, 2], pa.uint8())),
        table.set_column(0, "position", table["position"].cast(pa.int64())),
    ):
        with pytest.raises(InvalidValue):
            Reports.from_arrow(bad.replace_schema_metadata(bad.schema.metadata))


def test_refuses_columns_that_do_not_fit_the_layout() -> None:
    for bad in (
        {"other": np.zeros(3, np.uint8)},
        {"position": np.zeros(3, np.int64)},
        {"position": np.zeros((3, 1), np.uint8)},
    ):
        with pytest.raises(InvalidInput):
            Reports(COLOURS.terms, bad)


def test_reports_are_joined_and_cut_by_slices() -> None:
    with pytest.raises(InvalidValue, match="at least one batch"):
        Reports.together([])
    with pytest.raises(InvalidType, match="slice"):
        some(COLOURS)[0]
    assert "5 grr reports of 1 bytes" in repr(some(COLOURS))


def test_refuses_to_estimate_from_what_are_no_reports() -> None:
    with pytest.raises(InvalidType, match="must be reports"):
        COLOURS.estimate([0, 1])
