"""Signing keys: each is in the ledger before it signs, a file that holds another is refused, and a new one follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.certificates.certificate import is_by_curator, is_genuine, is_in_ledger, issue
from discreet.curator.curator import Curator
from discreet.curator.ledger import ledger as ledger_module
from discreet.curator.ledger import open as opening
from discreet.curator.ledger import signing_keys as keys
from discreet.curator.ledger import verify as verification
from discreet.curator.ledger.chain import canonical
from discreet.curator.ledger.checkpoint import Checkpoint
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.open import OpenedLedger
from discreet.curator.ledger.signing import KEY_FILE, Signer, fingerprint_key
from discreet.curator.ledger.signing_keys import rotate_key
from discreet.curator.ledger.units import Allowance, LedgerPrice
from discreet.curator.ledger.verify import verify
from discreet.errors import LedgerError
from discreet.privacy.loss import Pure
from tests.servers.fixtures import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

VISITS = Table("visits", (Column("ward", ColumnType.TEXT, keys=("A",)),), budget=Budget(100))
COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    made = Curator(tmp_path)
    made.protect(pa.table({"ward": ["A", "A"]}), VISITS)
    return made


@pytest.fixture
def of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger that was started before keys were recorded."""
    with monkeypatch.context() as before:
        before.setattr(ledger_module, "_key_in_words", lambda _: {})
        ledger = Ledger.create(tmp_path)
    assert "public_key" not in ledger.entry(1).body  # type: ignore[union-attr]
    ledger.close()
    return tmp_path


def paper(curator: Curator, epsilon: Any = 1) -> dict[str, Any]:
    return dict(curator.ask(COUNT, epsilon).certificate)


def test_the_key_is_in_the_ledger_before_it_signs_and_certificates_name_it(curator: Curator) -> None:
    (key,) = curator.ledger.signing_keys()
    found = paper(curator)
    assert key.position < found["ledger"]["position"]
    assert found["key_fingerprint"] == key.fingerprint == fingerprint_key(bytes.fromhex(found["public_key"]))
    assert is_by_curator(found, curator.ledger)


def test_a_certificate_that_names_another_fingerprint_is_not_genuine(curator: Curator) -> None:
    facts = {name: value for name, value in paper(curator).items() if name != "signature"}

    class Lying(Signer):
        fingerprint = "00" * 32  # type: ignore[assignment]

    assert is_genuine(issue(facts, Signer(curator.folder)))
    assert not is_genuine(issue(facts, Lying(curator.folder)))


@pytest.mark.parametrize("bit", [0, 100, 255])
@pytest.mark.some(1)
def test_a_flipped_bit_in_the_key_is_told_at_opening(curator: Curator, bit: int) -> None:
    file = curator.folder / "signing.key"
    data = bytearray(file.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    file.write_bytes(data)
    with pytest.raises(LedgerError, match=r"the one that the ledger recorded, got <fingerprint .* instead of"):
        Curator(curator.folder)
    assert any("the signing key is not the one" in problem for problem in verify(curator.folder).problems)


def test_a_key_that_is_gone_is_not_replaced_unseen(curator: Curator) -> None:
    (curator.folder / "signing.key").unlink()
    with pytest.raises(LedgerError, match="it is gone"):
        Curator(curator.folder)
    assert not (curator.folder / "signing.key").exists()
    old = paper(curator)  # by who had it open
    key = rotate_key(curator.folder, "the owner")
    again = Curator(curator.folder)
    assert again.ledger.signing_keys()[-1] == key
    assert is_by_curator(old, again.ledger)


def test_a_new_key_signs_and_what_the_old_one_signed_stays_genuine(curator: Curator) -> None:
    old, before = paper(curator, "0.1"), curator.ledger.signing_keys()
    key = rotate_key(curator.folder)
    assert curator.ledger.signing_keys() == [*before, key]
    for one in (curator, Curator(curator.folder)):  # also who had it open
        new = paper(one, "0.2")
        assert new["key_fingerprint"] == key.fingerprint != old["key_fingerprint"]
        assert is_by_curator(new, one.ledger)
    assert is_by_curator(old, curator.ledger)
    assert is_in_ledger(old, curator.ledger)
    assert verify(curator.folder).problems == []


def test_a_key_that_the_ledger_never_saw_signs_nothing_that_is_believed(
    curator: Curator, tmp_path_factory: pytest.TempPathFactory
) -> None:
    facts = {name: value for name, value in paper(curator).items() if name != "signature"}
    other = issue(facts, Signer(tmp_path_factory.mktemp("other")))
    assert is_genuine(other)
    assert is_in_ledger(other, curator.ledger)
    assert not is_by_curator(other, curator.ledger)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_rotation_that_was_cut_off_is_finished_or_forgotten(
    curator: Curator, monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    (before,) = curator.ledger.signing_keys()

    replace = Path.replace

    def killed(file: object, target: object = None, *_: object) -> Path:
        if isinstance(file, Path) and isinstance(target, Path) and target != curator.folder / KEY_FILE:
            return replace(file, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(*((Path, "replace") if is_recorded else (Ledger, "record_key")), killed)
        with pytest.raises(KeyboardInterrupt):
            rotate_key(curator.folder)
    again = Curator(curator.folder)
    keys_now = again.ledger.signing_keys()
    assert len(keys_now) == 1 + is_recorded
    assert Signer(curator.folder).fingerprint == keys_now[-1].fingerprint
    assert (keys_now[-1] == before) is not is_recorded
    assert len(rotated_twice(curator.folder)) == 2 + is_recorded
    assert verify(curator.folder).problems == []


def rotated_twice(folder: Path) -> list[Any]:
    rotate_key(folder)
    ledger = Ledger(folder)
    found = ledger.signing_keys()
    ledger.close()
    return found


def test_a_ledger_of_before_records_its_key_at_the_first_opening_that_can_write(
    of_before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise LedgerError("the ledger must be writable and sound", "<a read-only file>")

    assert verify(of_before).problems == []
    with monkeypatch.context() as read_only:
        read_only.setattr(Ledger, "record_key", refused)
        assert Curator(of_before).ledger.signing_keys() == []
    for _ in range(2):
        curator = Curator(of_before)
        (key,) = curator.ledger.signing_keys()
        assert key.fingerprint == Signer(of_before).fingerprint
    assert curator.ledger.head()[0] == 2
    assert verify(of_before).problems == []


def test_certificates_of_before_stay_genuine(of_before: Path) -> None:
    ledger = Ledger(of_before)
    signer = Signer(of_before)
    body = {"question": "SELECT 1", "public_key": signer.public_key.hex()}
    old = body | {"signature": signer.sign(canonical(body)).hex()}
    assert is_by_curator(old, ledger)  # while no key was recorded
    OpenedLedger(ledger)
    assert is_by_curator(old, ledger)
    ledger.close()
    rotate_key(of_before)
    assert is_by_curator(old, Ledger(of_before))


def test_a_rotation_keeps_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (opening, verification):
        monkeypatch.setattr(module, "WORTH_A_CHECKPOINT", 10)
    ledger = Ledger.create(tmp_path)
    ledger.open_account("visits", Allowance.of(Pure(1)))
    for number in range(20):
        ledger.charge(f"plan:{number}", b"", {"visits": LedgerPrice(1)}, {})
    assert verify(tmp_path).is_sound
    rotate_key(tmp_path)
    assert not OpenedLedger(ledger).is_whole
    assert Checkpoint.read(ledger, Signer(tmp_path).public_key) is not None


def test_keys_go_to_a_server_with_the_ledger(tmp_path: Path, postgres_url: str) -> None:
    Ledger.create(tmp_path).close()
    rotate_key(tmp_path)
    before = Ledger(tmp_path).signing_keys()
    move(tmp_path, postgres_url)
    rotate_key(tmp_path)
    ledger = Ledger(tmp_path)
    assert ledger.signing_keys()[:2] == before
    assert len(ledger.signing_keys()) == 3
    assert keys.check_signer(tmp_path, ledger).fingerprint == ledger.signing_keys()[-1].fingerprint
    assert verify(tmp_path).problems == []
    ledger.close()
