"""What owners send: tables are kept until they are taken in, and everything else is refused and leaves nothing."""

from __future__ import annotations

import gzip
import io
import os
import resource
import signal
import socket
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import InvalidInput, InvalidValue, NotAllowed, NotFound, StoreError
from discreet.service.app import application, guard_app
from discreet.service.operations.uploads import discard, receive, receiving, upload
from discreet.service.state import ServiceState
from tests.service.on_a_socket import on_a_socket
from tests.service.visiting import ANA, AUDITOR, OWNER

CSV = b"patient,age\n1,30\n2,40\n"


@pytest.fixture
def small(hospital: Any) -> Iterator[ServiceState]:
    """A service that takes small uploads."""
    service = hospital.service(largest_upload=100_000)
    yield service
    service.close()


def packed(table: pa.Table, **settings: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, **settings)
    return sink.getvalue()


def kept(service: ServiceState) -> list[Path]:
    """Every file that is there because somebody sent it."""
    return [path for path in (service.settings.folder / "uploads").rglob("*") if path.is_file()]


# Tables are kept.


@pytest.mark.parametrize(
    ("file", "content", "columns"),
    [
        ("visits.csv", CSV, {"patient": "VARCHAR", "age": "VARCHAR"}),
        ("VISITS.CSV", CSV, {"patient": "VARCHAR", "age": "VARCHAR"}),
        ("visits.csv.gz", gzip.compress(CSV, mtime=0), {"patient": "VARCHAR", "age": "VARCHAR"}),
        (
            "visits.csv.gz",
            gzip.compress(CSV[:5], mtime=0) + gzip.compress(CSV[5:], mtime=0),
            {"patient": "VARCHAR", "age": "VARCHAR"},
        ),
        ("visits.tsv", CSV.replace(b",", b"\t"), {"patient": "VARCHAR", "age": "VARCHAR"}),
        ("visits.csv", b"\xef\xbb\xbfstra\xc3\x9fe\nx\n", {"straße": "VARCHAR"}),
        ("visits.csv", b"only_names\n", {"only_names": "VARCHAR"}),
        ("visits.parquet", packed(pa.table({"age": [1], "ward": ["A"]})), {"age": "BIGINT", "ward": "VARCHAR"}),
    ],
)
def test_a_table_is_kept_with_its_schema_until_it_is_discarded(
    small: ServiceState, file: str, content: bytes, columns: dict[str, str]
) -> None:
    found = receive(small, OWNER, file, [content[:3], b"", content[3:]])
    assert found.schema.columns == columns
    assert found.name == "visits"
    assert found.path.stat().st_size == found.size
    assert kept(small) == [found.path]
    assert upload(small, OWNER, found.id) == found
    discard(small, OWNER, found.id)
    assert not kept(small)
    for use in (upload, discard):
        with pytest.raises(NotFound):
            use(small, OWNER, found.id)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_how_the_bytes_are_cut_does_not_matter(small: ServiceState, size: int) -> None:
    rows = b"".join(b"%d,stra\xc3\x9fe\n" % k for k in range(500))
    for file, content in (("t.csv", b"k,s\n" + rows), ("t.csv.gz", gzip.compress(b"k,s\n" + rows, mtime=0))):
        parts = [content[at : at + size] for at in range(0, len(content), size)]
        assert receive(small, OWNER, file, parts).path.read_bytes() == b"k,s\n" + rows


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("../../ledger.db.csv", "ledger_db"),
        ("/etc/passwd.csv", "passwd"),
        ("..\\..\\windows\\visits.csv", "visits"),
        ("C:\\visits 2025 (final).csv", "visits_2025_final"),
        ("a\0b.csv", "a_b"),
        ("größe.csv", "gr_e"),
        ("....csv", "table"),
        (".csv", "table"),
        ("x" * 5000 + ".csv", "x" * 60),
        ("$(rm -rf ~);'\"<b>.csv", "rm_rf_b"),
    ],
)
def test_a_files_name_leads_nowhere(small: ServiceState, file: str, name: str) -> None:
    before = sorted(small.settings.folder.parent.rglob("*"))
    found = receive(small, OWNER, file, [CSV])
    assert found.name == name
    inside = small.settings.folder / "uploads" / found.id
    assert found.path.parent == inside
    assert {path for path in small.settings.folder.parent.rglob("*") if path not in before} <= {
        inside.parent,
        inside,
        found.path,
    }


# Everything else is refused.

BOMB = gzip.compress(b"a\n" + b"1\n" * 5_000_000, mtime=0)
ZIP = io.BytesIO()
with zipfile.ZipFile(ZIP, "w") as archive:
    archive.writestr("visits.csv", CSV)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("visits.csv", b"", "must not be empty"),
        ("visits.csv.gz", b"", "must not be empty"),
        ("visits.csv.gz", gzip.compress(b"", mtime=0), "must not be empty"),
        ("visits.parquet", b"", "must not be empty"),
        ("visits.csv", b"\n\n\n", "must start with different names"),
        ("visits.csv", b"a,a\n1,2\n", "different names"),
        ("visits.csv", b"1,2\n3,4\n", "must start with the names of its columns"),
        ("visits.csv", b"a,b\n1,\0\n", "text in UTF-8"),
        ("visits.csv", b"a,b\n1,\xff\n", "text in UTF-8"),
        ("visits.csv", b"a,b\n1,\xc3", "text in UTF-8"),
        ("visits.csv", "a,b\n1,2\n".encode("utf-16"), "text in UTF-8"),
        ("visits.csv", ZIP.getvalue(), "text in UTF-8"),
        ("visits.csv", packed(pa.table({"a": [1]})), "text in UTF-8"),
        ("visits.csv", gzip.compress(CSV, mtime=0), "text in UTF-8"),
        ("visits.csv", b",".join(b"c%d" % k for k in range(2001)) + b"\n", "at most 2,000 columns"),
        ("visits.csv", CSV * 10_000, "at most 100,000 bytes"),
        ("visits.csv.gz", CSV, "packed by gzip"),
        ("visits.csv.gz", gzip.compress(CSV, mtime=0)[:-4], "packed by gzip"),
        ("visits.csv.gz", gzip.compress(CSV, mtime=0)[:-8] + bytes(8), "packed by gzip"),
        ("visits.csv.gz", gzip.compress(CSV, mtime=0) + b"rubbish", "packed by gzip"),
        ("visits.csv.gz", BOMB, "also when it is unpacked"),
        ("visits.csv.gz", gzip.compress(BOMB, mtime=0), "text in UTF-8"),
        ("visits.parquet", CSV, "readable as Parquet"),
        ("visits.parquet", b"PAR1" + bytes(40) + b"PAR1", "readable as Parquet"),
        ("visits.parquet", packed(pa.table({"a": [1]}))[:-10], "readable as Parquet"),
        ("visits.parquet", packed(pa.table({"a": pa.nulls(300_000, pa.int64())})), "also when it is unpacked"),
        ("visits.parquet", packed(pa.table({"a": ["x" * 20_000] * 200})), "also when it is unpacked"),
        ("visits.parquet", packed(pa.table({"a": pa.array([b"x" * 9000] * 50, pa.binary(9000))})), "unpacked"),
        ("visits.parquet", packed(pa.table({f"c{k}": [1] for k in range(2001)})), None),
        ("visits.parquet.gz", gzip.compress(packed(pa.table({"a": [1]})), mtime=0), "must be a .csv, .tsv or .parquet"),
        ("visits.xlsx", ZIP.getvalue(), "must be a .csv, .tsv or .parquet"),
        ("visits.zip", ZIP.getvalue(), "must be a .csv, .tsv or .parquet"),
        ("visits", CSV, "must be a .csv, .tsv or .parquet"),
        ("visits.csv/", CSV, "must be a .csv, .tsv or .parquet"),
        ("visits.csv\0.exe", CSV, "must be a .csv, .tsv or .parquet"),
        ("", CSV, "must be a .csv, .tsv or .parquet"),
        (".gz", CSV, "must be a .csv, .tsv or .parquet"),
    ],
)
@pytest.mark.some(12)
def test_what_is_no_table_is_refused_and_leaves_nothing(
    small: ServiceState, file: str, content: bytes, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        receive(small, OWNER, file, [content])
    assert not kept(small)
    assert not list((small.settings.folder / "uploads").glob("*"))


def test_a_first_line_without_an_end_is_refused(hospital: Any) -> None:
    service = hospital.service()
    with pytest.raises(InvalidValue, match="must have at most 1,048,576 bytes"):
        receive(service, OWNER, "visits.csv", [b"a,b," * 2**18, b"c\n1,2,3\n"])
    assert not kept(service)


def test_a_bomb_is_refused_before_it_is_unpacked_whole(small: ServiceState) -> None:
    """Ten thousand times the limit; what is written and held stays near the limit."""
    deep = gzip.compress(bytes(10**6).replace(b"\0", b"1"), 9)
    with receiving(small, OWNER, "visits.csv.gz") as sent:
        with pytest.raises(InvalidValue, match="also when it is unpacked"):
            sent.add(deep * 1000)
        [path] = kept(small)
        assert path.stat().st_size <= 100_000
    assert not kept(small)


def test_an_upload_that_breaks_off_leaves_nothing(small: ServiceState) -> None:
    def parts() -> Iterator[bytes]:
        yield CSV
        raise ConnectionError

    with pytest.raises(ConnectionError):
        receive(small, OWNER, "visits.csv", parts())
    with receiving(small, OWNER, "visits.csv") as sent:
        sent.add(CSV)
    assert not kept(small)


@pytest.mark.parametrize("times", [1, 10_000])
def test_a_disk_without_room_keeps_nothing(hospital: Any, times: int) -> None:
    service = hospital.service()
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, old[1]))
        with pytest.raises(StoreError, match="must have room"):
            receive(service, OWNER, "visits.csv", [CSV * times])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert not kept(service)
    service.close()


@pytest.mark.parametrize("principal", [ANA, AUDITOR])
def test_uploads_are_for_owners(small: ServiceState, principal: Any) -> None:
    found = receive(small, OWNER, "visits.csv", [CSV])
    for use in (
        lambda: receive(small, principal, "visits.csv", [CSV]),
        lambda: receiving(small, principal, "visits.csv"),
        lambda: upload(small, principal, found.id),
        lambda: discard(small, principal, found.id),
    ):
        with pytest.raises(NotAllowed):
            use()
    assert kept(small) == [found.path]


@pytest.mark.parametrize("wrong", ["", ".", "..", "../policies", "0" * 31, "0" * 32, "0" * 32 + "\n", "a/b", "\0" * 32])
def test_an_id_leads_nowhere_else(small: ServiceState, wrong: str) -> None:
    receive(small, OWNER, "visits.csv", [CSV])
    before = sorted(small.settings.folder.rglob("*"))
    for use in (upload, discard):
        with pytest.raises(NotFound):
            use(small, OWNER, wrong)
    assert sorted(small.settings.folder.rglob("*")) == before


def test_what_is_forgotten_is_gone_after_a_while_and_few_wait_at_a_time(small: ServiceState) -> None:
    old = receive(small, OWNER, "old.csv", [CSV])
    long_ago = time.time() - 7 * 3600
    os.utime(old.path.parent, (long_ago, long_ago))
    new = [receive(small, OWNER, "new.csv", [CSV]) for _ in range(20)]
    assert not old.path.exists()
    assert len(kept(small)) == 16
    assert upload(small, OWNER, new[-1].id) == new[-1]
    with pytest.raises(NotFound):
        upload(small, OWNER, new[0].id)


def test_a_connection_that_is_lost_in_the_middle_of_an_upload_leaves_nothing(hospital: Any) -> None:
    service = hospital.service()
    head = (
        f"POST /api/v1/uploads?file=t.csv HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hospital.tokens['owner']}\r\n"
    )
    with on_a_socket(guard_app(application(service))) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
            connection.sendall(head.encode() + b"Content-Length: 1000000\r\n\r\n" + CSV)
            until(lambda: bool(kept(service)))
        until(lambda: not kept(service))
    service.close()


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that is bound to happen."""
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")
