"""A witness on a full disk: what could not be written whole is no obstacle later, and nothing is proved less."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.cli.main import app
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.curator.ledger.witness import Witness, attestation
from discreet.curator.ledger.witness_repair import repair_witness
from discreet.errors import LedgerError
from tests.full_disk import files_of_at_most

PEOPLE = Table("people", (Column("id", ColumnType.INTEGER),), unit="id", budget=Budget(100))
QUESTION = "SELECT COUNT(*) FROM people WHERE id > {}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"id": [1, 2, 3]}), PEOPLE)
    curator.ask(QUESTION.format(0), 1)
    curator.ledger.close()
    return tmp_path


LINE = len(attestation(2, bytes(32)))


@pytest.mark.parametrize("room", range(LINE))
@pytest.mark.some(12)
def test_a_short_write_leaves_no_piece(tmp_path: Path, room: int) -> None:
    witness = Witness(tmp_path / "ledger.witness")
    witness.create(1, bytes(32))
    before = witness.path.read_bytes()
    with files_of_at_most(len(before) + room), pytest.raises(OSError, match=r"in full|too large"):
        witness.attest(2, bytes(32))
    assert witness.path.read_bytes() == before
    witness.attest(3, bytes(32))
    assert list(witness.attested()) == [1, 3]


@pytest.mark.parametrize("piece", [attestation(2, bytes(32))[:length] for length in range(LINE)] + [b"2 abc"])
@pytest.mark.some(12)
def test_a_piece_that_a_crash_left_is_cut_off_by_the_next_line(tmp_path: Path, piece: bytes) -> None:
    witness = Witness(tmp_path / "ledger.witness")
    witness.create(1, bytes(32))
    with witness.path.open("ab") as file:
        file.write(piece)
    assert list(witness.attested()) == [1]
    witness.attest(3, bytes(32))
    assert list(witness.attested()) == [1, 3]


def damage(folder: Path, piece: bytes, line: int = -1) -> bytes:
    """What versions before left: a piece, and a whole line behind it."""
    witness = folder / "ledger.witness"
    lines = witness.read_bytes().splitlines(keepends=True)
    lines[line] = piece + lines[line]
    witness.write_bytes(b"".join(lines))
    return witness.read_bytes()


@pytest.mark.parametrize("piece", [b"7", b"7 ", b"7 abc", b"7 abc1", b"7 " + b"9" * 63, b"7 0", b"7 10"])
@pytest.mark.parametrize("line", [0, -1])
@pytest.mark.some(2)
def test_a_line_behind_a_piece_is_mended_and_the_ledger_opens_again(folder: Path, piece: bytes, line: int) -> None:
    before = Witness(folder / "ledger.witness").attested()
    damaged = damage(folder, piece, line)
    assert not verify(folder).is_sound
    with pytest.raises(LedgerError):
        Curator(folder)
    found = repair_witness(folder, by="the owner")
    assert (len(found.mended), found.left) == (1, ())
    assert found.kept is not None
    assert found.kept.read_bytes() == damaged
    assert Witness(folder / "ledger.witness").attested().items() >= before.items()
    assert verify(folder).is_sound
    assert Curator(folder).ask(QUESTION.format(1), 1).to_rows()
    entry = Curator(folder).ledger.entry(found.record or 0)
    assert entry is not None
    assert entry.body["kind"] == "repair"


def test_nothing_is_mended_that_the_ledger_does_not_have(folder: Path) -> None:
    """A ledger that was put back does not become sound by a repair."""
    witness = folder / "ledger.witness"
    with witness.open("ab") as file:
        file.write(b"7 abc99 " + b"ab" * 32 + b"\n")
    found = repair_witness(folder)
    assert (found.mended, found.kept) == ((), None)
    assert len(found.left) == 1
    assert not verify(folder).is_sound
    ran = CliRunner().invoke(app, ["ledger", "repair", "--curator", str(folder)])
    assert ran.exit_code == 1
    assert "it stays" in ran.output


def test_the_command_says_what_it_did(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["ledger", "repair", "--curator", str(folder)])
    assert (ran.exit_code, "nothing to mend" in ran.output) == (0, True)
    damage(folder, b"7 abc")
    ran = CliRunner().invoke(app, ["ledger", "repair", "--curator", str(folder)])
    assert ran.exit_code == 0
    assert "mended lines" in ran.output
    assert "mended lines" in CliRunner().invoke(app, ["ledger", "show", "--curator", str(folder)]).output


def test_a_curator_on_a_full_disk_goes_on_when_there_is_room(folder: Path) -> None:
    """Asked until refused, freed, asked again, opened again."""
    curator = Curator(folder)
    witness = folder / "ledger.witness"
    refused = 0
    for room in range(0, 68, 3):
        attest = curator.ledger.witness.attest

        def short(position: int, head: bytes, room: int = room, attest: object = attest) -> None:
            # The ledger itself is larger than its witness, so the limit is set where the witness is written.
            with files_of_at_most(witness.stat().st_size + room):
                attest(position, head)  # type: ignore[operator]

        curator.ledger.witness.attest = short  # type: ignore[method-assign]
        try:
            curator.ask(QUESTION.format(room), "0.01")
        except LedgerError:
            refused += 1
        finally:
            curator.ledger.witness.attest = attest  # type: ignore[method-assign]
        assert curator.ask(QUESTION.format(room), "0.01").to_rows()
    assert refused > 10
    curator.ledger.close()
    assert verify(folder).is_sound
    assert Curator(folder).ask(QUESTION.format(1000), "0.01").to_rows()
