"""What the code says about itself: examples run, mechanisms have proof sheets, names are documented."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import discreet
from discreet.audit.builtin import builtin_mechanisms
from discreet.errors import DiscreetError
from discreet.mechanisms.measurement import Measurement

ROOT = Path(__file__).parents[2]
MODULES = sorted(m.name for m in pkgutil.walk_packages(discreet.__path__, "discreet."))
SECTIONS = ["Claim", "What the caller must ensure", "Pseudocode", "Proof", "References"]


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def file_of(name: str) -> Path:
    plain = ROOT.joinpath("src", *name.split("."))
    return plain / "__init__.py" if plain.is_dir() else plain.with_suffix(".py")


@pytest.mark.parametrize("name", [name for name in ("discreet", *MODULES) if ">>>" in file_of(name).read_text("utf-8")])
def test_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(load(name)).failed == 0


def mechanism_files() -> list[Path]:
    found = {}
    for name in MODULES:
        for _, member in inspect.getmembers(load(name), inspect.isclass):
            if issubclass(member, Measurement) and not inspect.isabstract(member) and member.__module__ == name:
                found[name] = Path(inspect.getfile(member))
    return sorted(found.values())


@pytest.mark.parametrize("file", mechanism_files(), ids=lambda file: file.stem)
def test_every_mechanism_has_a_proof_sheet_beside_it(file: Path) -> None:
    sheet = file.with_suffix(".md").read_text()
    headings = [line[3:].strip() for line in sheet.splitlines() if line.startswith("## ")]
    assert headings == SECTIONS


@pytest.mark.parametrize("file", mechanism_files(), ids=lambda file: file.stem)
def test_every_mechanism_has_a_test_file_of_its_own(file: Path) -> None:
    assert (ROOT / "tests" / "mechanisms" / f"test_{file.stem}.py").exists()


def test_every_public_mechanism_can_be_audited_by_name() -> None:
    public = [getattr(discreet, name) for name in discreet.__all__]
    audited = {type(case.mechanism) for case in builtin_mechanisms()}
    assert {one for one in public if inspect.isclass(one) and issubclass(one, Measurement)} <= audited


def test_every_public_name_is_documented_and_loads() -> None:
    for name in discreet.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(discreet, name)), name


def test_type_checkers_see_the_names_that_load_lazily() -> None:
    source = (ROOT / "src" / "discreet" / "__init__.py").read_text()
    missing = [n for n in discreet.__all__ if n != "__version__" and f"import {n} as {n}" not in source]
    assert not missing


def test_unknown_names_are_refused_and_known_ones_listed() -> None:
    with pytest.raises(AttributeError, match="Laplas"):
        _ = discreet.Laplas
    assert "Laplace" in dir(discreet)


def test_import_is_light() -> None:
    code = "import discreet, sys; print(sorted({'numpy', 'scipy', 'flint', 'cryptography', 'rich'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_laplace_loads_without_scipy() -> None:
    code = "import discreet, sys; discreet.Laplace(1).release(1); print('scipy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize("module", ["discreet.curator.curator", "discreet.anonymize", "discreet.service.app"])
@pytest.mark.some(1)
def test_a_server_starts_without_scipy(module: str) -> None:
    code = f"import {module}, sys; print('scipy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawing = inspect.getdoc(load("discreet.errors")) or ""
    names = [
        name
        for name, member in inspect.getmembers(load("discreet.errors"), inspect.isclass)
        if issubclass(member, DiscreetError)
    ]
    assert all(name in drawing for name in names)


def test_one_meaning_per_file_no_drawers() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert not [name for name in MODULES if drawers & set(name.split("."))]
