"""Bad input, as people meet it on the command line: one line that says what to do, and nothing half done.

Each kind has one type of error, which `test_every_kind_has_its_own_error` lists.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from discreet.curator.curator import Curator
from discreet.engines.duckdb.store import FileLock
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InvalidInput,
    InvalidValue,
    LedgerError,
    PolicyError,
    QueryRefused,
    UnreadableSource,
)
from tests.cli.hospital import COUNT, POLICY, protected, run, write_files

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def first_kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The curator that all others are copies of; leave it as it is."""
    folder = tmp_path_factory.mktemp("first")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        protected()
        assert run("ask", COUNT, "-e", "0.5").exit_code == 0
    return folder / "curator"


@pytest.fixture
def kept(place: Path, first_kept: Path) -> Path:
    """A folder in which visits are protected and a question was asked."""
    shutil.copytree(first_kept, place / "curator")
    return place


def refused(*arguments: str, code: int = 2) -> str:
    """What is said about bad input; ``code`` 1 is for what failed though the input was good."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("refused  ")
    return str(result.stderr)


def balance() -> str:
    return str(run("budget").output)


# Questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELEC COUNT(*) FROM visits", "line 1, column 1: this is not SQL that can be read, got SELEC"),
        ("SELECT COUNT(* FROM visits", "line 1, column 16"),
        ("DROP TABLE visits", "a question is one SELECT"),
        ("SELECT COUNT(*) FROM vists", "did you mean 'visits'?"),
        ("SELECT AVG(agee) FROM visits", "did you mean 'age'?"),
        ("SELECT SUM(patient_id) FROM visits", "the owner adds lower and upper to patient_id"),
        ("SELECT * FROM visits", "ask about the crowd"),
        ("SELECT note, COUNT(*) FROM visits GROUP BY note", "the groups are not public"),
    ],
)
@pytest.mark.some(3)
def test_a_question_that_cannot_be_asked_is_refused_in_one_line_and_is_free(kept: Path, sql: str, words: str) -> None:
    before = balance()
    for command in ("ask", "explain"):
        said = refused(command, sql, "-e", "0.5")
        assert words in said
        assert said.count("\n") == 1
    assert balance() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-e", "2.6"], "the price of ε 2.6 must fit what is left for visits, ε 2.5; nothing was spent"),
        (["-e", "1.5", "--analyst", "ann"], "the price of ε 1.5 must fit what is left for visits/ann, ε 1"),
        (["-e", "0.5", "--analyst", "eve"], "who asks must be named in the policy"),
        (["-e", "0"], "epsilon must be positive"),
        (["-e", "0.5", "--confidence", "1"], "confidence must lie strictly between 0 and 1"),
        (["-e", "0.5", "--plot", "n.bmp"], "a picture is a .png, .svg or .pdf file"),
        (["--within", "-1"], "the wanted error must be positive"),
    ],
)
@pytest.mark.some(3)
def test_a_price_or_setting_that_does_not_fit_is_refused_before_anything_is_spent(
    kept: Path, options: list[str], words: str
) -> None:
    before = balance()
    code = 1 if "must fit what is left" in words else 2
    assert words in refused("ask", "SELECT SUM(age) FROM visits", *options, code=code)
    assert balance() == before


# Policies and data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("lower: 0, upper: 100", "lower: 100, upper: 0"), "line 9"),
        (("unit: patient_id", "unit: patientid"), "did you mean 'patient_id'?"),
        (("budget: {epsilon: 3}", "budget: {epsilon: 0}"), "line 3"),
        (("ann: {epsilon: 1}", "ann: {epsilon: 9}"), "within the table's budget"),
        (("type: text, keys", "type: words, keys"), "type must be one of"),
        (("  age: {type: integer", "  cost: {type: integer"), "declared columns, got 'cost'"),
        (("patient_id", "person"), "declared columns, got 'person'"),
        (("age: {type: integer", "age: {nullable: false, type: date"), "line 9"),
    ],
)
def test_a_policy_that_contradicts_itself_or_the_file_is_refused_and_nothing_is_left_behind(
    place: Path, change: tuple[str, str], words: str
) -> None:
    Path("visits.yaml").write_text(POLICY.replace(*change))
    assert words in refused("protect", "visits.csv", "visits.yaml")
    assert not Path("curator").exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "declared columns"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b'patient_id,ward,age,note\n1,"a,2,x\n2,b,3,y\n', "quotes closed"),
        (None, "a source must be there"),
    ],
)
def test_a_file_that_cannot_be_taken_in_leaves_nothing_behind(place: Path, body: bytes | None, words: str) -> None:
    Path("visits.csv").unlink()
    if body is not None:
        Path("visits.csv").write_bytes(body)
    assert words in refused("protect", "visits.csv", "visits.yaml")
    assert not Path("curator").exists()


def test_a_changed_schema_is_refused_and_the_old_data_stays(kept: Path) -> None:
    Path("visits.csv").write_text("patient_id,ward\n1,a\n")
    assert "declared columns, got 'age'" in refused("protect", "visits.csv", "visits.yaml")
    assert "asked before, free now" in run("ask", COUNT, "-e", "0.5").output
    Path("visits.yaml").write_text(POLICY.replace("unit: patient_id", "unit: note"))
    assert "unit must stay as it was" in refused("protect", "visits.csv", "visits.yaml")


def test_rows_without_a_unit_are_people_of_their_own_and_the_owner_is_told(place: Path) -> None:
    Path("visits.csv").write_text("patient_id,ward,age,note\n,a,1,x\n,a,2,x\nsomebody,b,3,x\n7,b,old,x\n")
    said = run("protect", "visits.csv", "visits.yaml").output
    assert "patient_id: 1 value could not be read as integer; each such row counts as a person of its own" in said
    assert "age: 1 value could not be read as integer; they count as missing" in said
    units = Curator("curator").engine.run("SELECT DISTINCT _unit FROM visits").num_rows
    assert units == 4


def test_data_taken_in_again_is_announced(kept: Path) -> None:
    said = run("protect", "visits.csv", "visits.yaml").output
    assert "a question that was asked before costs again" in said
    assert "cost ε 0.5" in run("ask", COUNT, "-e", "0.5").output


# Broken folders ---------------------------------------------------------------------------------------------------


def _damage_ledger() -> None:
    data = bytearray(Path("curator/ledger.db").read_bytes())
    data[data.rindex(b'"kind":"account"')] = 0
    Path("curator/ledger.db").write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_damage_ledger, "the ledger must be sound"),
        (lambda: Path("curator/ledger.db").write_bytes(b""), "the ledger must be sound"),
        (lambda: Path("curator/ledger.db").unlink(), "there must be a ledger in the folder"),
        (lambda: Path("curator/ledger.witness").write_bytes(b""), "the witness is empty"),
        (lambda: Path("curator/signing.key").write_bytes(b"x"), "the signing key must be whole"),
        (lambda: Path("curator/policies/visits.yaml").write_text(": ["), "a policy must be valid YAML"),
    ],
    ids=["damaged", "empty", "gone", "no witness", "key", "policy"],
)
def test_a_damaged_curator_answers_nothing_and_says_why(kept: Path, damage: Callable[[], object], words: str) -> None:
    damage()
    for command in (["ask", COUNT, "-e", "0.5"], ["budget"], ["protect", "visits.csv", "visits.yaml"]):
        assert words in refused(*command, code=2 if "valid YAML" in words else 1)


def test_a_damaged_ledger_can_be_looked_at_without_a_traceback(kept: Path) -> None:
    Path("curator/ledger.db").write_bytes(b"")
    assert "see discreet ledger verify" in refused("ledger", "show", code=1)
    assert run("ledger", "verify").exit_code == 1


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda: Path("curator/store/manifest.json").write_text("{"), "manifest must be whole"),
        (
            lambda: [file.unlink() for file in Path("curator/store").glob("rows-*")],
            "files of the store must be readable",
        ),
    ],
    ids=["manifest", "rows"],
)
def test_a_damaged_store_is_refused_before_the_charge(kept: Path, damage: Callable[[], object], words: str) -> None:
    before = balance()
    damage()
    assert words in refused("ask", "SELECT SUM(age) FROM visits", "-e", "0.5", code=1)
    assert balance() == before


SCRIPT = """
import os, resource, sys
from discreet.cli.main import app
import discreet.cli.ingest, discreet.cli.output  # while the files of Python can still be read
{before}
sys.argv[0] = "discreet"
app()
"""


def as_process(before: str, *arguments: str) -> subprocess.Popen[str]:
    code = SCRIPT.format(before=before)
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def read_only(kept: Path) -> Iterator[Path]:
    """The curator where nobody may write; below a folder that other users may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp()) / "curator"
    shutil.copytree(kept / "curator", folder)
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder.parent)


NOBODY = """
from typer.testing import CliRunner
CliRunner().invoke(app, [*sys.argv[1:-1], {writable!r}])  # so that every module is loaded
os.geteuid() or os.setuid(65534)  # root writes anywhere
"""


def test_a_read_only_folder_is_refused_in_one_line(kept: Path, read_only: Path) -> None:
    source, policy = read_only.parent / "visits.csv", read_only.parent / "visits.yaml"
    for arguments in (["ask", "SELECT SUM(age) FROM visits", "-e", "0.5"], ["protect", str(source), str(policy)]):
        read_only.parent.chmod(0o755)
        write_files(read_only.parent)
        asked = as_process(NOBODY.format(writable=str(kept / "curator")), *arguments, "-c", str(read_only))
        _, errors = asked.communicate(timeout=60)
        assert asked.returncode == 1, errors
        assert errors.startswith("refused  ")
        assert errors.count("\n") == 1
        assert "read-only" in errors or "cannot be opened or written" in errors


SMALL_FILES = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""


@pytest.mark.parametrize("size", [2_000, 100_000])
@pytest.mark.some(1)
def test_a_disk_without_room_is_refused_and_leaves_nothing_behind(place: Path, size: int) -> None:
    write_files(place, rows=60_000)
    taken = as_process(SMALL_FILES.format(size=size), "protect", "visits.csv", "visits.yaml")
    _, errors = taken.communicate(timeout=60)
    assert taken.returncode == 1, errors
    assert errors.startswith("refused  ")
    assert errors.count("\n") == 1
    assert not Path("curator").exists()


def test_a_disk_without_room_for_the_ledger_gives_no_answer(kept: Path) -> None:
    before = balance()
    asked = as_process(SMALL_FILES.format(size=1_000), "ask", "SELECT SUM(age) FROM visits", "-e", "0.5")
    out, errors = asked.communicate(timeout=60)
    assert asked.returncode == 1
    assert "±" not in out
    assert "the ledger must be writable" in errors
    assert balance() == before


# At the same time, and in the middle ------------------------------------------------------------------------------


def test_a_second_ingest_at_the_same_time_is_refused(kept: Path) -> None:
    lock = FileLock(Path("curator/store/ingest.lock"))
    assert lock.acquire(wait=False)
    try:
        assert "one ingest at a time" in refused("protect", "visits.csv", "visits.yaml", code=1)
        assert "asked before, free now" in run("ask", COUNT, "-e", "0.5").output
    finally:
        lock.release()


def test_two_processes_pay_once_for_one_question(kept: Path) -> None:
    asked = [as_process("", "ask", "SELECT SUM(age) FROM visits", "-e", "0.5", "--csv") for _ in range(3)]
    answers = {process.communicate(timeout=60)[0] for process in asked}
    assert len(answers) == 1
    assert "ε 2 " in balance()


@pytest.mark.parametrize("first", [True, False], ids=["first table", "new data"])
@pytest.mark.some(1)
def test_ctrl_c_during_an_ingest_leaves_everything_as_it_was(place: Path, first: bool) -> None:
    if not first:
        protected()
        assert run("ask", COUNT, "-e", "0.5").exit_code == 0
    write_files(place, rows=2_000_000)
    taken = as_process("", "protect", "visits.csv", "visits.yaml")
    scratch, deadline = Path("curator/store/scratch"), time.monotonic() + 60
    while not list(scratch.glob("*/stage.duckdb")):
        assert time.monotonic() < deadline
        assert taken.poll() is None
        time.sleep(0.01)
    taken.send_signal(signal.SIGINT)
    _, errors = taken.communicate(timeout=60)
    assert taken.returncode == 130, errors
    assert errors == "stopped  nothing was taken in; what was there before is as it was\n"
    assert Path("curator").exists() is not first
    if not first:
        gc.collect()  # the curators of this process let go of their own folders when they are gone
        assert os.listdir(scratch) == ["gate.lock"]
        assert "asked before, free now" in run("ask", COUNT, "-e", "0.5").output


# Kinds ------------------------------------------------------------------------------------------------------------


def test_every_kind_has_its_own_error(place: Path) -> None:
    curator = Curator("curator")
    curator.protect("visits.csv", "visits.yaml")

    def kind(call: Callable[[], object]) -> type[DiscreetError]:
        with pytest.raises(DiscreetError) as caught:
            call()
        return caught.type

    assert kind(lambda: curator.ask("SELEC", epsilon=1)) is QueryRefused
    assert kind(lambda: curator.ask("SELECT COUNT(*) FROM nobody", epsilon=1)) is QueryRefused
    assert kind(lambda: curator.ask("SELECT SUM(patient_id) FROM visits", epsilon=1)) is QueryRefused
    assert kind(lambda: curator.ask(COUNT, epsilon=4)) is BudgetExceeded
    assert kind(lambda: curator.ask(COUNT, epsilon=-1)) is InvalidValue
    Path("visits.yaml").write_text(POLICY.replace("lower: 0", "lower: 200"))
    assert kind(lambda: curator.protect("visits.csv", "visits.yaml")) is PolicyError
    Path("visits.yaml").write_text(POLICY)
    Path("visits.csv").write_text("patient_id\n1\n")
    assert issubclass(kind(lambda: curator.protect("visits.csv", "visits.yaml")), InvalidInput)
    Path("visits.csv").write_bytes(b"\xff\xfe\x00")
    assert kind(lambda: curator.protect("visits.csv", "visits.yaml")) is UnreadableSource
    curator.ledger.close()
    Path("curator/ledger.db").write_bytes(b"")
    assert kind(lambda: Curator("curator")) is LedgerError
