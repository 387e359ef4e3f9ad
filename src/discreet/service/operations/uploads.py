"""Uploads: tables that owners send, kept in the service's folder until they are taken in, and looked at before.

What arrives is checked as it arrives and once more when it is here: it must be a table, and no larger unpacked than an
upload may be. Whatever is refused is gone at once; whatever is forgotten is gone after a while.

Of a file that holds a table, its kind and its columns are read, and whether it unpacks to too much.
"""

from __future__ import annotations

import codecs
import csv
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import duckdb
import pyarrow as pa
from pyarrow import compute, parquet

from discreet.catalog.policy.write import Schema, read_schema
from discreet.errors import DiscreetError, InvalidValue, NotFound, StoreError
from discreet.noise.source import fresh_id
from discreet.service.auth.roles import FEEDERS, MemberRole, Principal
from discreet.service.state import ServiceState
from discreet.time_limits import UPLOAD_KEPT

__all__ = [
    "ENDINGS",
    "PARQUET",
    "Receiving",
    "Upload",
    "check_schema",
    "discard",
    "receive",
    "receiving",
    "receiving_rows",
    "upload",
]


PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
ENDINGS = (".csv", ".tsv", ".txt", *PARQUET)
"""Endings of files that hold a table."""
_LONGEST_HEADER = 2**20
_MOST_COLUMNS = 2000
_ROWS_AT_ONCE = 2**16


def check_schema(path: Path, most: int | None = None) -> Schema:
    """The names and types of the columns of a file; ``most`` is how many bytes its values may have when unpacked."""
    is_parquet = path.suffix.lower() in PARQUET
    try:
        if is_parquet and most is not None:
            _check_unpacked(path, most)
        if not is_parquet:
            _check_header(path)
        schema = read_schema(path)
    except DiscreetError as refusal:
        raise _about_the_file(refusal, path) from None
    except (duckdb.Error, pa.ArrowException, OSError, ValueError, csv.Error):
        kind = "Parquet" if is_parquet else "CSV with the names of its columns in the first line"
        raise InvalidValue(f"a table must be readable as {kind}", path.name) from None
    if len(schema.columns) > _MOST_COLUMNS:
        raise InvalidValue(f"a table must have at most {_MOST_COLUMNS:,} columns", len(schema.columns))
    return schema


def _about_the_file(refusal: DiscreetError, path: Path) -> DiscreetError:
    """The refusal with the name of the file in place of its path, which is nobody's business."""
    value = path.name if refusal.value == str(path) else refusal.value
    return InvalidValue(refusal.rule.replace(str(path), path.name), value, refusal.remedy)


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    if len(line) == _LONGEST_HEADER and not line.endswith(b"\n"):
        rule = f"the names of the columns must have at most {_LONGEST_HEADER:,} bytes"
        raise InvalidValue(rule, "<a longer first line>", "end the first line after the names")


# What a Parquet file unpacks to -----------------------------------------------------------------------------------


def _check_unpacked(path: Path, most: int) -> None:
    """Refuse by the footer first, then by the lengths of texts, of which one may stand for a million rows."""
    with parquet.ParquetFile(path) as file:
        size, texts = _stated_size(file.metadata), _texts(file.metadata)
    if size > most:
        raise _too_large(most)
    size = 0
    for length in _lengths(path, texts) if texts else ():
        size += length
        if size > most:
            raise _too_large(most)


def _stated_size(footer: parquet.FileMetaData) -> int:
    """What the columns have at least when they are unpacked, as the footer says."""
    widths = [max(footer.schema.column(c).length, 1) for c in range(footer.num_columns)]  # of values of a fixed length
    groups = [footer.row_group(g) for g in range(footer.num_row_groups)]
    chunks = [(group.column(c), width) for group in groups for c, width in enumerate(widths)]
    stated = sum(max(chunk.total_uncompressed_size, chunk.num_values * width) for chunk, width in chunks)
    return int(max(stated, footer.num_rows * footer.num_columns))


def _texts(footer: parquet.FileMetaData) -> list[str]:
    """The columns whose values have lengths of their own."""
    columns = [footer.schema.column(c) for c in range(footer.num_columns)]
    return [one.path for one in columns if one.physical_type == "BYTE_ARRAY" and one.max_repetition_level == 0]


def _lengths(path: Path, texts: list[str]) -> Iterator[int]:
    """How many bytes the texts of each part of the file have, found from each different text once."""
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=texts):
            for column in batch.columns:
                if pa.types.is_dictionary(column.type):  # all but those inside of others, which no policy can name
                    lengths = compute.binary_length(column.dictionary)
                    yield compute.sum(lengths.take(column.indices)).as_py() or 0


def _too_large(most: int) -> InvalidValue:
    rule = f"an upload must have at most {most:,} bytes, also when it is unpacked"
    return InvalidValue(rule, "<more>", "put it on the server and protect it by its path")


_OWNERS = frozenset({MemberRole.OWNER})
_FOLDER = "uploads"
_ROWS = "rows"
"""The folder in it for what is appended."""
_ID = re.compile(r"[0-9a-f]{32}\Z")
_PACKED = ".gz"
_MOST = 16
"""How many may wait at a time."""
_AT_ONCE = 2**20
"""Bytes that are unpacked at a time, so that a few packed ones cannot fill the memory."""
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True)
class Upload:
    """A table that was sent and waits to be taken in."""

    id: str
    """By which it is named."""
    name: str
    """What it is called: the name of its file without folders and endings, in letters, digits and underscores."""
    path: Path
    """Where it is, unpacked."""
    size: int
    """Its bytes, unpacked."""
    schema: Schema
    """The names and types of its columns."""


def receive(service: ServiceState, principal: Principal, file: str, parts: Iterable[bytes]) -> Upload:
    """Keep what arrives in ``parts`` under the name of a ``file``; what is no table is refused and leaves nothing."""
    with receiving(service, principal, file) as sent:
        for part in parts:
            sent.add(part)
        return sent.whole()


def receiving(service: ServiceState, principal: Principal, file: str) -> Receiving:
    """An upload that is about to arrive, for use in a with block; it stays when `Receiving.whole` was called."""
    principal.must_be(_OWNERS)
    here = partial(service.trail.write, "upload", principal.name)
    return _receiving(service, file, service.settings.folder / _FOLDER, _MOST, here)


def receiving_rows(service: ServiceState, principal: Principal, file: str) -> Receiving:
    """Rows to append that are about to arrive; they wait for nobody, and no trail says how many bytes they have."""
    principal.must_be(FEEDERS)
    return _receiving(service, file, service.settings.folder / _FOLDER / _ROWS, None, lambda **_: None)


def _receiving(
    service: ServiceState, file: str, root: Path, most: int | None, here: Callable[..., object]
) -> Receiving:
    name, ending, is_packed = _named(file)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget(root, most)
        largest = service.settings.largest_upload
        return Receiving(root / fresh_id(), f"{name}{ending}", largest, is_packed=is_packed, here=here)
    except OSError:
        raise _unwritable() from None


def upload(service: ServiceState, principal: Principal, upload_id: str) -> Upload:
    """An upload that waits."""
    principal.must_be(_OWNERS)
    return _kept(_place(service, upload_id))


def discard(service: ServiceState, principal: Principal, upload_id: str) -> None:
    """Forget an upload."""
    principal.must_be(_OWNERS)
    shutil.rmtree(_place(service, upload_id), ignore_errors=True)


def _place(service: ServiceState, upload_id: str) -> Path:
    place = service.settings.folder / _FOLDER / upload_id if _ID.match(upload_id) else None
    if place is None or not place.is_dir():
        raise NotFound("there must be such an upload", upload_id, "send the file again: uploads wait for some hours")
    return place


def _kept(place: Path) -> Upload:
    try:
        [path] = place.iterdir()
        return Upload(place.name, path.stem, path, path.stat().st_size, check_schema(path))
    except (OSError, ValueError) as fault:
        if isinstance(fault, DiscreetError):
            raise
        raise NotFound("there must be such an upload", place.name, "send the file again") from None


def _named(file: str) -> tuple[str, str, bool]:
    """A harmless name for a file of any name, its ending, and whether it is packed."""
    bare = re.split(r"[/\\]", file)[-1].lower()
    is_packed = bare.endswith(_PACKED)
    stem, _, ending = bare.removesuffix(_PACKED).rpartition(".")
    ending = f".{ending}"
    if ending not in ENDINGS or (is_packed and ending in PARQUET):
        rule = "a table must be a .csv, .tsv or .parquet file, or a .csv.gz file"
        raise InvalidValue(rule, f"<{file[-80:]!r}>", "export it as one of these")
    return re.sub(r"[^a-z0-9]+", "_", stem).strip("_")[:60] or "table", ending, is_packed


def _forget(root: Path, most: int | None) -> None:
    """Remove what nobody came back for; the oldest first where more than ``most`` would wait."""
    waiting = []
    for place in (one for one in root.iterdir() if one.name != _ROWS):
        with suppress(FileNotFoundError):  # another process forgets it too
            waiting.append((place.stat().st_mtime, place))
    waiting.sort()
    late = time.time() - UPLOAD_KEPT
    for rank, (since, place) in enumerate(reversed(waiting), start=1):
        if since < late or (most is not None and rank >= most):
            shutil.rmtree(place, ignore_errors=True)


def _unwritable() -> StoreError:
    return StoreError(
        "the service's disk must have room for what is sent", "<a disk that takes no more>", "nothing was kept"
    )


class Receiving:
    """A file on its way into a folder of its own, which is gone again unless the file arrives whole and is a table."""

    def __init__(
        self, place: Path, name: str, most: int, *, is_packed: bool, here: Callable[..., object] = lambda **_: None
    ) -> None:
        """Into ``place``, of ``most`` bytes at most, packed or not; ``here`` hears of it once it is here."""
        place.mkdir(mode=0o700)
        self._place = place
        self._path = place / name
        self._most = most
        self._unpacking = _Unpacking() if is_packed else None
        self._text = None if self._path.suffix in PARQUET else _Text()
        self._size = 0
        self._is_whole = False
        self._here = here
        self._file: BinaryIO = self._path.open("xb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it; what is not whole by then is gone."""
        with suppress(OSError):  # on a full disk, what it still holds cannot be written
            self._file.close()
        if not self._is_whole:
            shutil.rmtree(self._place, ignore_errors=True)

    def add(self, part: bytes) -> None:
        """The next bytes."""
        if self._unpacking is None:
            self._write(part)
        else:
            for unpacked in self._unpacking.of(part):
                self._write(unpacked)

    def whole(self) -> Upload:
        """The upload, after its last bytes; what is no table is refused."""
        if self._unpacking is not None:
            self._unpacking.check_end()
        if self._text is not None:
            self._text.check(b"", is_last=True)
        if not self._size:
            raise InvalidValue("a table must not be empty", "<0 bytes>")
        try:
            self._file.flush()
        except OSError:
            raise _unwritable() from None
        schema = check_schema(self._path, self._most)
        self._here(file=self._path.name, size=self._size, upload=self._place.name)
        self._is_whole = True
        return Upload(self._place.name, self._path.stem, self._path, self._size, schema)

    def _write(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            rule = f"an upload must have at most {self._most:,} bytes, also when it is unpacked"
            raise InvalidValue(rule, "<more>", "put it on the server and protect it by its path")
        if self._text is not None:
            self._text.check(part)
        try:
            self._file.write(part)
        except OSError:
            raise _unwritable() from None


class _Text:
    """What a CSV file must be: text in UTF-8 without NUL."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def check(self, part: bytes, *, is_last: bool = False) -> None:
        try:
            self._decoder.decode(part, is_last)
            is_text = b"\0" not in part
        except UnicodeDecodeError:
            is_text = False
        if not is_text:
            raise InvalidValue("a CSV file must be text in UTF-8", "<other bytes>", "save it as CSV UTF-8")


class _Unpacking:
    """A gzip file, unpacked a little at a time."""

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(_GZIP)
        self._is_begun = False

    def of(self, part: bytes) -> Iterable[bytes]:
        """What the next packed bytes hold; a file may be made of several, one after the other."""
        while part:
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(_GZIP)
            self._is_begun = True
            try:
                unpacked = self._unpacker.decompress(part, _AT_ONCE)
            except zlib.error:
                raise self._refusal() from None
            yield unpacked
            part = self._unpacker.unconsumed_tail or self._unpacker.unused_data

    def check_end(self) -> None:
        """Refuse a file that ended too early."""
        if self._is_begun and not self._unpacker.eof:
            raise self._refusal()

    @staticmethod
    def _refusal() -> InvalidValue:
        return InvalidValue("a .gz file must be whole and packed by gzip", "<other bytes>", "pack it again")
