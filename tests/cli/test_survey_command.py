"""``discreet survey``: from an example to results, and refusals in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.survey.store import Outcome, Records, SurveyStore

runner = CliRunner()


def run(*words: object) -> str:
    found = runner.invoke(app, ["survey", *map(str, words)])
    assert found.exit_code == 0, found.output
    return found.output


def refused(*words: object) -> str:
    found = runner.invoke(app, ["survey", *map(str, words)])
    assert found.exit_code == 2, found.output
    assert "Traceback" not in found.output
    return " ".join(found.output.split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    questions = tmp_path / "questions.yaml"
    run("new", questions)
    run("new", questions, "--invitations", 7, "--address", "https://survey.example/")
    return tmp_path / "questions"


def links_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-invitations.csv")


def test_from_an_example_to_results(tmp_path: Path) -> None:
    questions = tmp_path / "questions.yaml"
    assert "Wrote an example" in run("new", questions)
    assert "3 questions" in run("new", questions, "--check")
    assert not (tmp_path / "questions").exists()
    said = run("new", questions, "--invitations", 5)
    owner = said.rpartition("#")[2].split()[0]
    store = SurveyStore(tmp_path / "questions")
    assert store.is_owner(owner)
    header, *links = (tmp_path / "questions-invitations.csv").read_text().split()
    assert header == "link"
    tokens = [link.partition("#")[2] for link in links]
    assert len(set(tokens)) == 5
    answers = zip(store.survey.questions, ("yes", "car", 7), strict=True)
    reports = {one.name: json.loads(one.randomizer.privatize([held]).to_json()) for one, held in answers}
    assert store.take(tokens[0], Records(store.survey).written(reports)) is Outcome.STORED
    assert "1 of 5 invited have answered" in " ".join(run("results", tmp_path / "questions").split())
    data = json.loads(run("results", tmp_path / "questions", "--json", "--together", "--within", "0.1"))
    assert (data["answered"], data["together"], data["within"]) == (1, True, 0.1)


def test_links_begin_with_the_address_and_are_for_the_owner_alone(folder: Path) -> None:
    links = links_of(folder).read_text().split()[1:]
    assert all(link.startswith("https://survey.example/#") for link in links)
    assert links_of(folder).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "address",
    ["survey.example", "ftp://a.example", "https://", "https://a.example/b", "https://a.example/?b", "http://a b"],
)
def test_an_address_that_makes_no_links_is_refused(folder: Path, tmp_path: Path, address: str) -> None:
    assert "http:// or https:// and a host" in refused(
        "new", folder.with_suffix(".yaml"), "other", "--address", address
    )
    assert "http:// or https:// and a host" in refused("invite", folder, tmp_path / "more.csv", "--address", address)
    assert SurveyStore(folder).invited() == 7
    assert not (tmp_path / "more.csv").exists()


def test_more_people_are_invited_into_a_new_file(folder: Path, tmp_path: Path) -> None:
    run("invite", folder, tmp_path / "more.csv", "--count", 3)
    assert SurveyStore(folder).invited() == 10
    assert "nothing is overwritten" in refused("invite", folder, tmp_path / "more.csv")
    assert SurveyStore(folder).invited() == 10


def test_links_are_never_beside_their_hashes(folder: Path, tmp_path: Path) -> None:
    tokens = [link.partition("#")[2].encode() for link in links_of(folder).read_text().split()[1:]]
    kept = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert not any(token in kept for token in tokens)
    inside = folder / "more.csv"
    assert "kept apart" in refused("invite", folder, inside)
    assert "kept apart" in refused(
        "new", folder.with_suffix(".yaml"), tmp_path / "two", "--links", tmp_path / "two" / "x"
    )
    assert SurveyStore(folder).invited() == 7
    assert not inside.exists()
    assert not (tmp_path / "two").exists()
    run("new", folder.with_suffix(".yaml"), tmp_path / "two", "--links", tmp_path / "elsewhere.csv")
    assert len((tmp_path / "elsewhere.csv").read_text().split()) == 101


def test_a_survey_is_not_made_twice(folder: Path) -> None:
    before = links_of(folder).read_text()
    assert "must not hold a survey yet" in refused("new", folder.with_suffix(".yaml"))
    assert links_of(folder).read_text() == before


def test_bad_questions_are_refused_with_their_lines(tmp_path: Path) -> None:
    questions = tmp_path / "questions.yaml"
    questions.write_text("title: T\nquestions: {q: {ask: Q, type: maybe}}\n")
    assert "questions.yaml, line 2" in refused("new", questions)
    assert not (tmp_path / "questions").exists()
    assert "No such file" in refused("new", tmp_path / "missing.yaml", "--check")


@pytest.mark.parametrize("command", ["results", "serve"])
def test_a_folder_without_a_survey_is_refused(tmp_path: Path, command: str) -> None:
    assert "there must be a survey in the folder" in refused(command, tmp_path)


def test_a_missing_server_is_named_with_what_to_install(folder: Path) -> None:
    program = "import sys; sys.modules['uvicorn'] = None; from discreet.cli.main import app; app()"
    command = [sys.executable, "-c", program, "survey", "serve", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr == "refused  this needs uvicorn, got <not installed>; pip install 'discreet[survey]'\n"


def test_odd_ask_requests_are_refused(folder: Path) -> None:
    assert "confidence" in refused("results", folder, "--confidence", "2")
    assert "within must be" in refused("results", folder, "--within", "0")
