"""``discreet audit``, as people type it. False alarms: 1e-6 for each audit of a mechanism that keeps its claim."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.audit import gallery
from discreet.cli.main import app

service_module = import_module("discreet.audit.builtin")

MINE = """
from numpy.random import default_rng
from discreet.audit import Batched, Case
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.loss import Pure

chance = default_rng(1)
no_function = 5

def honest(value):
    return value if chance.random() < 0.7 else 1 - value

def without_noise(value):
    return value

def many(value, size):
    return value + chance.integers(0, 2, size)

def broken(value):
    raise RuntimeError("out of order")

laplace = Laplace(2)
case = Case("mine", Batched(many), 0, 5, Pure(1))
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "mine_to_audit.py"
    file.write_text(MINE)
    (tmp_path / "exits.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    return file


def run(*words: str):
    found = CliRunner().invoke(app, ["audit", *map(str, words)])
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found


def test_a_mechanism_of_ours_is_audited_by_name(tmp_path: Path):
    page = tmp_path / "page.html"
    found = run("laplace", "--epsilon", "0.5", "--draws", "20000", "--html", page)
    assert found.exit_code == 0
    assert "consistent" in found.output
    assert "Pure(ε=0.5)" in found.output
    assert page.read_text().startswith("<!doctype html>")
    data = run("laplace", "--epsilon", "0.5", "--draws", "20000", "--json")
    assert json.loads(data.stdout)["draws"] == 20000
    again = run("laplace", "--draws", "2000", "--html", page)
    assert again.exit_code == 2
    assert "nothing is overwritten unasked" in again.stderr


@pytest.mark.parametrize("place", ["mine_to_audit", "mine_to_audit.py"])
def test_a_function_of_ones_own_is_audited(mine: Path, place: str):
    inputs = ["--first", "0", "--second", "1", "--draws", "20000"]
    assert run(f"{place}:honest", "--epsilon", "1", *inputs).exit_code == 0
    guilty = run(f"{place}:without_noise", "--epsilon", "1", "--delta", "0.01", *inputs)
    assert guilty.exit_code == 1
    assert "violation" in guilty.output
    batched = run(f"{place}:many", "--batched", "--epsilon", "1", "--json", *inputs)
    assert batched.exit_code == 1
    assert json.loads(batched.stdout)["verdict"] == "violation"


def test_a_measurement_or_a_case_of_ones_own_brings_what_it_knows(mine: Path):
    found = run("mine_to_audit:laplace", "--first", "0", "--second", "1", "--draws", "2000", "--json")
    assert json.loads(found.stdout)["claim"] == "Pure(ε=2)"
    assert run("mine_to_audit:case", "--draws", "2000").exit_code == 1


def test_the_whole_service_is_one_table(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service_module, "NAMES", service_module.NAMES[:4])
    found = run("--draws", "2000", "--epsilon", "2")
    assert found.exit_code == 0
    assert "4 of 4 mechanisms show nothing against their claim." in found.output


def test_a_mechanism_of_the_service_that_is_broken_has_exit_code_1(monkeypatch: pytest.MonkeyPatch):
    def claims_too_little(epsilon, delta):
        return (service_module.Laplace(2 * epsilon), 0, 2, None)

    monkeypatch.setitem(service_module._BUILDERS, "laplace", ("planted", claims_too_little))
    monkeypatch.setattr(service_module, "NAMES", ("laplace",))
    found = run("--draws", "2000")
    assert found.exit_code == 1
    assert "not as it should be" in " ".join(found.output.split())


def test_the_gallery_shows_that_broken_ones_are_found_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gallery, "BROKEN", gallery.BROKEN[:2])
    found = run("gallery")
    assert found.exit_code == 0
    assert "2 of 2 broken mechanisms were found out." in found.output
    few = run("gallery", "--draws", "64")
    assert few.exit_code == 1
    assert run(gallery.BROKEN[0].name).exit_code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "there must be a mechanism of this name"),
        (["nowhere:function", "--epsilon", "1"], "the module must load"),
        (["nowhere.py:function", "--epsilon", "1"], "there must be such a file"),
        (["mine_to_audit:nobody", "--epsilon", "1"], "must define what is audited"),
        (["mine_to_audit:honest", "--first", "0", "--second", "1"], "a function's claim must be said"),
        (["mine_to_audit:honest", "--epsilon", "1"], "an audit needs two neighbouring inputs"),
        (["mine_to_audit:broken", "--epsilon", "1", "--first", "0", "--second", "1"], "RuntimeError: out of order"),
        (["mine_to_audit:no_function", "--epsilon", "1", "--first", "0", "--second", "1"], "must be callable"),
        (["exits.py:f", "--epsilon", "1", "--first", "0", "--second", "1"], "exits.py: SystemExit: 0"),
        (["mine_to_audit:honest", "--epsilon", "1", "--first", "[1,", "--second", "1"], "a value as Python writes it"),
        (["laplace", "--seconds", "nan"], "seconds must be a positive number"),
        (["laplace", "--delta", "0.1"], "laplace needs no δ"),
        (["gallery", "--epsilon", "3"], "broken mechanisms have claims of their own"),
        (["laplace", "--epsilon", "-1"], "epsilon must be positive"),
        (["laplace", "--epsilon", "x"], "epsilon must be a decimal or a fraction"),
        (["laplace", "--first", "'a'"], "values must be"),
        (["laplace", "--draws", "3"], "draws must be at least 64"),
        (["laplace", "--false-alarm", "2"], "false_alarm must lie strictly between 0 and 1"),
    ],
)
@pytest.mark.some(6)
def test_bad_input_is_one_sentence_and_exit_code_2(mine: Path, words: list[str], said: str):
    found = run(*words)
    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())
    assert "Traceback" not in found.output + found.stderr
