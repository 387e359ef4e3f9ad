"""Signed heads: a ledger that was rolled back or replaced is seen by what was kept elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.maintenance import record_restore, restores_in
from discreet.curator.ledger.signed_head import HeadVerdict, check_head, sign_head
from discreet.curator.ledger.signing import Signer
from discreet.curator.ledger.units import Allowance, LedgerPrice
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "curator"
    found.mkdir()
    ledger = Ledger.create(found)
    ledger.open_account("visits", Allowance.of(Pure(1)))
    ledger.close()
    return found


def spend(ledger: Ledger, name: str, units: int = 1000) -> None:
    ledger.charge(name, name.encode(), {"visits": LedgerPrice(units)}, {"sql": name})
    ledger.settle(name, b"answer")


def key_of(folder: Path) -> str:
    return Signer(folder).public_key.hex()


def test_a_ledger_that_went_on_has_what_the_head_saw(folder: Path) -> None:
    ledger = Ledger(folder)
    spend(ledger, "one")
    head = sign_head(ledger, Signer(folder))
    spend(ledger, "two")
    assert check_head(ledger, head, key_of(folder)).verdict is HeadVerdict.SOUND
    assert head["accounts"]["visits"]["spent"] == 1000


def test_a_copy_of_ledger_and_witness_from_before_is_rolled_back(folder: Path, tmp_path: Path) -> None:
    Ledger(folder).close()
    shutil.copytree(folder, tmp_path / "copy")
    ledger = Ledger(folder)
    spend(ledger, "one")
    head = sign_head(ledger, Signer(folder))
    copy = Ledger(tmp_path / "copy")
    assert verify(tmp_path / "copy").is_sound  # in itself it is: only the head tells
    assert check_head(copy, head, key_of(folder)).verdict is HeadVerdict.ROLLED_BACK
    spend(copy, "another")
    spend(copy, "and another")
    assert check_head(copy, head, key_of(folder)).verdict is HeadVerdict.FORKED


@pytest.mark.parametrize("change", [{"made": "2020"}, {"accounts": {}}, {"signature": "00"}, {"kind": "certificate"}])
def test_a_head_that_was_changed_is_nobodys(folder: Path, change: dict[str, object]) -> None:
    ledger = Ledger(folder)
    head = sign_head(ledger, Signer(folder)) | change
    assert check_head(ledger, head, key_of(folder)).verdict is HeadVerdict.NOT_OURS


def test_a_head_of_another_curator_is_not_ours(folder: Path, tmp_path: Path) -> None:
    ledger = Ledger(folder)
    head = sign_head(ledger, Signer(tmp_path))
    assert check_head(ledger, head, key_of(folder)).verdict is HeadVerdict.NOT_OURS


def test_a_head_that_a_restore_has_paid_for_is_restored_and_a_later_one_is_not(folder: Path, tmp_path: Path) -> None:
    Ledger(folder).close()
    shutil.copytree(folder, tmp_path / "copy")
    ledger, copy = Ledger(folder), Ledger(tmp_path / "copy")
    spend(ledger, "one")
    paid = sign_head(ledger, Signer(folder))
    spend(ledger, "two")
    late = sign_head(ledger, Signer(folder))
    record_restore(copy, copy.head(), paid["ledger"]["position"], paid["accounts"], "")
    assert check_head(copy, paid, key_of(folder)).verdict is HeadVerdict.RESTORED
    assert check_head(copy, late, key_of(folder)).verdict is HeadVerdict.ROLLED_BACK
    assert copy.accounts()["visits"].spent == 1000
    assert verify(tmp_path / "copy").problems == []
    record_restore(copy, copy.head(), None, {}, "")
    assert check_head(copy, late, key_of(folder)).verdict is HeadVerdict.RESTORED  # nothing is left to hand back
    assert copy.accounts()["visits"].left == Pure(0)
    assert len(restores_in(copy)) == 2


def test_a_restore_raises_every_unit_to_the_total_of_the_head(folder: Path) -> None:
    """Portions are told apart no more: the people with another key may be those who were charged."""
    from discreet.curator.ledger.units import Portion

    ledger = Ledger(folder)
    ledger.charge("one", b"one", {"visits": LedgerPrice(0, 0, (Portion("ward", "A", 700),))}, {"sql": ""})
    total = {"visits": {"spent": 700, "delta_spent": 0}}
    record_restore(ledger, ledger.head(), 99, total, "")
    # Whoever has key B may have lost 700 by then, so 700 are charged to all.
    assert ledger.accounts()["visits"].spent == 1400
    assert verify(folder).problems == []


def test_an_account_that_was_opened_after_the_backup_is_opened_again_as_far_as_it_was_spent(folder: Path) -> None:
    ledger = Ledger(folder)
    late = {"measure": "pure", "places": 1, "cap": 5000, "delta_cap": 0, "spent": 4000, "delta_spent": 0}
    record_restore(ledger, ledger.head(), 99, {"late": late}, "")
    late = ledger.accounts()["late"]
    assert late.allowance.cap - late.spent == 1000
    assert verify(folder).problems == []


def test_a_restore_that_gives_something_back_does_not_verify(folder: Path) -> None:
    from discreet.curator.ledger import chain as records

    ledger = Ledger(folder)
    spend(ledger, "one")
    record = {"kind": "restore", "backup": {"position": 1, "head": ""}, "lost": 1, "prices": {"visits": [-500, 0]}}
    ledger.storage.write(lambda database: records.append(database, record, records.head(database)))
    assert any("gives something back" in problem for problem in verify(folder).problems)
