"""Signed heads that leave the host, and a ledger that is behind them, which is not served."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.curator.ledger.maintenance import last_mark
from discreet.errors import LedgerError
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.maintenance.restore import RestoreStatement, restore
from discreet.service.operations import ask as asking
from discreet.service.state import ServiceState
from tests.service.hospital import Hospital
from tests.service.test_backup import closed

ANA = Principal("ana", MemberRole.ANALYST, "token")


def ask(service: ServiceState, number: int) -> None:
    asking.ask(service, ANA, AskRequest(f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}", "0.1"), f"r{number}")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    found = tmp_path / "elsewhere"
    found.mkdir()
    return found


def test_a_head_goes_to_the_folder_whenever_it_is_another_one(hospital: Hospital, elsewhere: Path) -> None:
    service = hospital.service(head_folder=elsewhere)
    service.heads.send()
    service.heads.send()
    assert len(list(elsewhere.iterdir())) == 1
    ask(service, 30)
    service.heads.send()
    first, second = sorted(elsewhere.iterdir())
    assert json.loads(second.read_text())["ledger"]["position"] > json.loads(first.read_text())["ledger"]["position"]
    mark = last_mark(service.curator.ledger)
    assert mark is not None
    assert mark.position == service.trail.head()[0]  # the ledger heard of the trail, too
    closed(service)
    for file in (first, second):
        result = CliRunner().invoke(app, ["ledger", "check-head", str(file), "-c", str(hospital.folder)])
        assert (result.exit_code, result.output[:6]) == (0, "sound:"), result.output


def test_a_copy_of_everything_from_before_is_not_served(hospital: Hospital, elsewhere: Path, tmp_path: Path) -> None:
    closed(hospital.service())
    shutil.copytree(hospital.folder, tmp_path / "copy")
    service = hospital.service(head_folder=elsewhere)
    ask(service, 30)
    service.heads.send()
    closed(service)
    copy = Hospital(tmp_path / "copy", hospital.tokens)
    closed(copy.service())  # without the folder, nobody notices
    with pytest.raises(LedgerError, match="must have what the saved head saw"):
        copy.service(head_folder=elsewhere)
    (head,) = elsewhere.iterdir()
    result = CliRunner().invoke(app, ["ledger", "check-head", str(head), "-c", str(copy.folder)])
    assert result.exit_code == 1
    assert "rolled back" in result.output


def test_a_restore_on_record_is_served_with_the_heads_from_before(
    hospital: Hospital, elsewhere: Path, tmp_path: Path
) -> None:
    from discreet.service.maintenance.backup import back_up

    back_up(hospital.folder, tmp_path / "backup")
    service = hospital.service(head_folder=elsewhere)
    ask(service, 30)
    service.heads.send()
    closed(service)
    (head,) = elsewhere.iterdir()
    restore(tmp_path / "backup", tmp_path / "new", old=hospital.folder, heads=[head], said=RestoreStatement.NOTHING)
    again = Hospital(tmp_path / "new", hospital.tokens).service(head_folder=elsewhere)
    ask(again, 40)
    closed(again)


def test_a_trail_that_was_replaced_is_seen_by_the_head(hospital: Hospital, tmp_path: Path) -> None:
    service = hospital.service()
    service.trail.write("x", "ana")
    closed(service)
    out = tmp_path / "head.json"
    CliRunner().invoke(app, ["ledger", "head", "-c", str(hospital.folder), "--out", str(out)])
    for file in hospital.folder.glob("service.db*"):
        file.unlink()
    other = hospital.service()
    closed(other)
    result = CliRunner().invoke(app, ["ledger", "check-head", str(out), "-c", str(hospital.folder)])
    assert result.exit_code == 1
    assert "audit trail is not the one that the head saw" in result.output


def test_a_curator_without_a_service_has_a_head(hospital: Hospital, tmp_path: Path) -> None:
    for file in hospital.folder.glob("service.db*"):
        file.unlink()
    out = tmp_path / "head.json"
    assert CliRunner().invoke(app, ["ledger", "head", "-c", str(hospital.folder), "--out", str(out)]).exit_code == 0
    assert not (hospital.folder / "service.db").exists()
    assert CliRunner().invoke(app, ["ledger", "check-head", str(out), "-c", str(hospital.folder)]).exit_code == 0


def test_a_head_is_posted_and_sent_again_after_a_failure(hospital: Hospital) -> None:
    heard: list[dict[str, Any]] = []
    answers = [500, 200]

    class Hearing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(answers[min(len(heard), 2) - 1])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Hearing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        service = hospital.service(head_url=f"http://127.0.0.1:{server.server_port}/heads")
        with pytest.raises(OSError, match="500"):
            service.heads.send()
        service.heads.send()
        service.heads.send()
        server.shutdown()
    assert [one["kind"] for one in heard] == ["head", "head"]
    closed(service)


def test_one_process_of_a_folder_sends(hospital: Hospital, elsewhere: Path) -> None:
    first, second = hospital.service(head_folder=elsewhere), hospital.service(head_folder=elsewhere)
    first.heads.send()
    second.heads.send()
    assert len(list(elsewhere.iterdir())) == 1
    closed(first)
    closed(second)


def test_the_thread_sends_the_last_head_at_the_end(hospital: Hospital, elsewhere: Path) -> None:
    service = hospital.service(head_folder=elsewhere, head_seconds=3600)
    service.heads.start()
    assert list(elsewhere.iterdir()) == []
    closed(service)
    assert len(list(elsewhere.iterdir())) == 1
