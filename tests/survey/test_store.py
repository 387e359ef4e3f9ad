"""The store: reports once, durably, and nothing else about anybody."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
from pathlib import Path
from threading import Thread

import apsw
import pytest

from discreet.errors import InvalidInput, InvalidValue, StoreError
from discreet.survey.app import Submission
from discreet.survey.store import Outcome, Records, SurveyStore, fresh_token, hash_of
from tests.survey.serving import Made, made


@pytest.fixture
def here(tmp_path: Path) -> Made:
    return made(tmp_path / "survey", invitations=30)


def reports_for(store: SurveyStore, answers: tuple[object, ...] = ("yes", "car", 7)) -> dict[str, object]:
    questions = zip(store.survey.questions, answers, strict=True)
    made_noisy = {one.name: one.randomizer.privatize([answer]) for one, answer in questions}
    return {name: json.loads(reports.to_json(with_terms=False)) for name, reports in made_noisy.items()}


def test_the_same_record_again_changes_nothing_and_another_is_refused(here: Made) -> None:
    store = here.store()
    token = here.tokens[0]
    first, second = b"a" * 4, b"b" * 4
    assert store.take(token, first) is Outcome.STORED
    assert store.take(token, first) is Outcome.KNOWN
    assert store.take(token, second) is Outcome.ANOTHER
    assert store.take(fresh_token(), second) is Outcome.UNINVITED
    assert (store.records(), store.answered(), store.invited()) == (first, 1, 30)


def test_a_flood_with_one_token_is_one_report(here: Made) -> None:
    store = here.store()
    outcomes = [store.take(here.tokens[0], k.to_bytes(4, "little")) for k in range(500)]
    assert outcomes.count(Outcome.STORED) == 1
    assert store.answered() == 1


def test_threads_and_connections_share_a_store(here: Made) -> None:
    stores = [here.store(), here.store()]
    seen: list[Outcome] = []
    work = [
        Thread(target=lambda store=store, k=k: seen.append(store.take(here.tokens[k % 10], bytes([k % 10]))))
        for store in stores
        for k in range(40)
    ]
    for one in work:
        one.start()
    for one in work:
        one.join()
    assert seen.count(Outcome.STORED) == 10
    assert seen.count(Outcome.KNOWN) == 70


def _store_and_die(folder: str, token: str) -> None:
    SurveyStore(Path(folder)).take(token, b"kept")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_record_survives_a_kill_right_after_it_was_taken(here: Made) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_store_and_die, args=(str(here.folder), here.tokens[0]))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    store = here.store()
    assert store.records() == b"kept"
    assert store.take(here.tokens[0], b"kept") is Outcome.KNOWN


def test_secrets_are_not_stored_and_neither_is_when_or_where_from(here: Made) -> None:
    store = here.store()
    store.take(here.tokens[0], b"record")
    store.close()
    content = b"".join(file.read_bytes() for file in here.folder.iterdir())
    assert here.owner.encode() not in content
    assert here.tokens[0].encode() not in content
    assert hash_of(here.tokens[0]) in content
    database = apsw.Connection(str(here.folder / "survey.db"))
    columns = {
        table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
    assert columns == {"survey": ["only", "text", "owner"], "invitation": ["hash"], "answer": ["invitation", "record"]}


def places(folder: Path, tokens: list[str], which: int) -> list[int]:
    """Where the hashes of these tokens lie in the file, for the first time or for the last."""
    content = (folder / "survey.db").read_bytes()
    assert not any((folder / f"survey.db-{name}").exists() for name in ("wal", "journal"))
    return [[found.start() for found in re.finditer(re.escape(hash_of(token)), content)][which] for token in tokens]


def test_the_file_does_not_show_who_came_first(tmp_path: Path) -> None:
    """SQLite puts each new row of a page before the older ones, whatever its key; the order of hashes says nothing."""
    here = made(tmp_path / "ordered", invitations=20)
    by_hash = sorted(here.tokens, key=hash_of)
    invited = places(here.folder, by_hash, 0)
    assert invited == sorted(invited, reverse=True)  # not in the order of the file of links
    store = here.store()
    for token in here.tokens:
        store.take(token, b"record")
    store.forget_order()
    assert (store.answered(), store.records()) == (20, b"record" * 20)
    store.close()
    answered = places(here.folder, by_hash, -1)
    assert answered in (sorted(answered), sorted(answered, reverse=True))


@pytest.mark.parametrize(
    "statement", ["UPDATE answer SET record = x'00'", "DELETE FROM answer", "UPDATE survey SET text = ''"]
)
def test_the_database_itself_refuses_to_change_answers(here: Made, statement: str) -> None:
    here.store().take(here.tokens[0], b"record")
    with pytest.raises(apsw.ConstraintError):
        apsw.Connection(str(here.folder / "survey.db")).execute(statement)


def test_the_store_is_for_the_owner_of_the_folder_alone(here: Made) -> None:
    assert (here.folder / "survey.db").stat().st_mode & 0o077 == 0


def test_only_the_owners_token_is_the_owners(here: Made) -> None:
    store = here.store()
    assert store.is_owner(here.owner)
    for other in (here.tokens[0], "", None, here.owner.upper() + "x", "é" * 32):
        assert not store.is_owner(other)


def test_more_people_can_be_invited(here: Made) -> None:
    store, token = here.store(), fresh_token()
    store.invite([token])
    assert store.take(token, b"record") is Outcome.STORED
    assert store.invited() == 31


def test_a_folder_without_a_survey_and_one_with_a_survey_are_refused(tmp_path: Path, here: Made) -> None:
    with pytest.raises(InvalidValue, match="there must be a survey in the folder"):
        SurveyStore(tmp_path)
    with pytest.raises(InvalidValue, match="must not hold a survey yet"):
        SurveyStore.create(here.folder, here.store().survey, here.owner)


def test_a_damaged_store_is_refused_in_words(here: Made) -> None:
    (here.folder / "survey.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="readable and writable"):
        here.store()


# What is let in ---------------------------------------------------------------------------------------------------


def test_records_give_the_reports_back(here: Made) -> None:
    store = here.store()
    records = Records(store.survey)
    sent = [reports_for(store) for _ in range(20)]
    found = records.read(b"".join(map(records.written, sent)))
    for question in store.survey.questions:
        assert len(found[question.name]) == 20
        again = json.loads(found[question.name].to_json(with_terms=False))["reports"]
        for name, values in again.items():
            assert values == [one[question.name]["reports"][name][0] for one in sent]  # type: ignore[index]


def body(store: SurveyStore, **changes: object) -> dict[str, object]:
    return {
        "survey": store.survey.fingerprint,
        "invitation": "0" * 32,
        "reports": reports_for(store),
    } | changes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"survey": "0" * 16}, "the reports must be for the survey"),
        ({"invitation": "short"}, "32 hexadecimal digits"),
        ({"invitation": None}, "32 hexadecimal digits"),
        ({"truth": "yes"}, "and nothing else"),
        ({"reports": {}}, "one report for each question"),
        ({"reports": [1]}, "one report for each question"),
        ({"reports": {"smokes": 1, "commute": 1, "sleep": 1}}, "a fingerprint and reports"),
    ],
)
def test_other_submissions_are_refused(here: Made, changes: dict[str, object], said: str) -> None:
    store = here.store()
    with pytest.raises(InvalidInput, match=said):
        Submission.read(json.dumps(body(store, **changes)).encode(), Records(store.survey))


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({"fingerprint": "0" * 16, "reports": {"position": [1]}}, "another question, another ε or another version"),
        ({"reports": {"position": [4]}}, "one that the randomizer can send"),
        ({"reports": {"position": [-1]}}, "position must be whole numbers"),
        ({"reports": {"position": [1.5]}}, "position must be whole numbers"),
        ({"reports": {"position": [True]}}, "position must be whole numbers"),
        ({"reports": {"position": [1, 1]}}, "commute must have one report"),
        ({"reports": {"position": []}}, "commute must have one report"),
        ({"reports": {"answer": [1]}}, "reports must have position"),
        ({"reports": {"position": [1]}, "truth": "car"}, "a fingerprint and reports"),
    ],
)
def test_reports_that_no_page_sends_are_refused(here: Made, report: dict[str, object], said: str) -> None:
    store = here.store()
    reports = reports_for(store)
    reports["commute"] = {"fingerprint": store.survey.questions[1].terms.fingerprint} | report
    with pytest.raises(InvalidInput, match=said):
        Submission.read(json.dumps(body(store, reports=reports)).encode(), Records(store.survey))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"nonsense", b"\xff", b"[" * 100_000, b'{"survey": 1}'])
def test_what_is_no_submission_is_refused(here: Made, content: bytes) -> None:
    with pytest.raises(InvalidInput):
        Submission.read(content, Records(here.store().survey))


def test_every_cut_of_a_submission_is_refused(here: Made) -> None:
    store = here.store()
    whole = json.dumps(body(store)).encode()
    for end in range(len(whole)):
        with pytest.raises(InvalidInput):
            Submission.read(whole[:end], Records(store.survey))
