"""A peer that does not install or does not run says why, and stops nobody else."""

import shutil
import sys

import pytest
from bench import environments
from bench.environments import PeerFailed, run_side


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(environments, "SIDES", tmp_path)
    return tmp_path


@pytest.mark.thorough
def test_a_package_that_nobody_has_is_told_with_the_words_of_the_installer(home, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for _ in range(2):
        with pytest.raises(PeerFailed, match=r"does not install: .*No matching distribution"):
            run_side(["no-such-package"], "side.py")
    assert not (home / "no-such-package" / ".ready").exists()


@pytest.fixture
def installed(home):
    folder = home / "peer" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(shutil.which("python3") or sys.executable)
    (home / "peer" / ".ready").touch()
    return home


def test_a_peer_that_raises_is_told_with_its_last_words(installed):
    (installed / "side.py").write_text("raise ValueError('no Java here')")
    with pytest.raises(PeerFailed, match="does not run: ValueError: no Java here"):
        run_side(["peer"], "side.py")


def test_a_peer_that_runs_is_heard(installed):
    (installed / "side.py").write_text("print('{\"all\": 1}')")
    assert run_side(["peer"], "side.py") == {"all": 1}


def test_discreet_itself_may_not_fail(home):
    (home / "side.py").write_text("raise ValueError('broken')")
    with pytest.raises(SystemExit, match="broken"):
        run_side(None, "side.py")
