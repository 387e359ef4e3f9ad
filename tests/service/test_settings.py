"""Settings: what wins over what, and what is said about those that cannot be."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InvalidValue, PolicyError
from discreet.service.settings import Settings, check_certificate, read_settings, with_hosts
from tests.service.certificates import made_certificate


def file(folder: Path, text: str) -> Path:
    written = folder / "discreet.toml"
    written.write_text(text)
    return written


def refused(settings: Path | None = None, flags: dict[str, Any] | None = None, **variables: str) -> str:
    with pytest.raises(PolicyError) as refusal:
        read_settings(settings, flags or {}, variables)
    return str(refusal.value)


def test_flags_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    written = file(tmp_path, 'port = 1\nhost = "1.1.1.1"\nworkers = 3\nconsole = false\n')
    variables = {"DISCREET_PORT": "2", "DISCREET_HOST": "2.2.2.2", "discreet_workers": "4", "PORT": "9"}
    found = read_settings(written, {"port": 3}, variables)
    assert (found.port, found.host, found.workers, found.console) == (3, "2.2.2.2", 4, False)
    assert read_settings(None, {}, {}) == Settings()


def test_lists_are_lists_in_the_file_and_one_text_in_a_variable(tmp_path: Path) -> None:
    written = file(tmp_path, 'hosts = ["a.example", "b.example"]\ndata_folders = ["/srv/a"]\n')
    variables = {"DISCREET_BEHIND_PROXY": "127.0.0.1,10.0.0.1", "DISCREET_DATA_FOLDERS": "/srv/b:/srv/c"}
    found = read_settings(written, {}, variables)
    assert found.hosts == ("a.example", "b.example")
    assert found.behind_proxy == ("127.0.0.1", "10.0.0.1")
    assert found.data_folders == (Path("/srv/b"), Path("/srv/c"))
    assert found.encrypted


def test_unknown_names_are_refused_with_a_suggestion_and_where_they_stand(tmp_path: Path) -> None:
    written = file(tmp_path, "prot = 8000\n")
    said = refused(written, {}, DISCREET_HOTS="a", DISCREET_CURATOR="for other commands", DISCREET_CONFIG="this file")
    assert f"{written}: there must be a setting of that name, got 'prot'; did you mean 'port'?" in said
    assert "environment: there must be a setting of that name, got 'DISCREET_HOTS'; did you mean 'hosts'?" in said
    assert said.startswith("2 problems:")


def test_a_wrong_value_says_which_setting_where_it_stands_and_what_is_allowed(tmp_path: Path) -> None:
    written = file(tmp_path, 'release_quantum = -1\nlog_level = "loud"\nport = "8000x"\n')
    said = refused(written, {"workers": 0}, DISCREET_PORT="seventy")
    assert "environment: DISCREET_PORT: input should be a valid integer" in said
    assert "got 'seventy'" in said
    assert "8000x" not in said
    assert f"{written}: release_quantum: input should be greater than or equal to 0, got -1" in said
    assert f"{written}: log_level: input should be 'debug', 'info', 'warning' or 'error', got 'loud'" in said
    assert "flags: workers: input should be greater than or equal to 1, got 0" in said
    assert "pydantic" not in said


@pytest.mark.parametrize("name", ["token_days", "longest_run", "release_quantum", "shutdown_seconds"])
@pytest.mark.parametrize("value", ["5e-324", "-1", "nan", "inf", "-inf", "1e308"])
def test_times_that_nobody_can_mean_are_refused(name: str, value: str) -> None:
    assert f"DISCREET_{name.upper()}: " in refused(None, {}, **{f"DISCREET_{name.upper()}": value})


def test_counts_that_no_machine_has_are_refused() -> None:
    for name in ("requests_per_minute", "largest_body", "largest_upload"):
        assert f"DISCREET_{name.upper()}: " in refused(None, {}, **{f"DISCREET_{name.upper()}": "9" * 400})


def test_settings_that_exclude_each_other_are_refused() -> None:
    assert "go together" in refused(None, {"key_file": Path("key.pem")})


@pytest.mark.parametrize("text", ["port = ", "port: 1", "\x00"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would not be repeated in full
    with pytest.raises(InvalidValue, match="must be TOML"):
        read_settings(file(tmp_path, text), {}, {})
    with pytest.raises(InvalidValue, match=r"must be readable, got 'none.toml'; No such file"):
        read_settings(Path("none.toml"), {}, {})


def test_a_service_that_only_this_computer_reaches_answers_to_its_names_alone() -> None:
    assert set(with_hosts(Settings()).hosts) == {"127.0.0.1", "::1", "localhost"}
    others: list[dict[str, Any]] = [{"host": "0.0.0.0"}, {"hosts": ("a.example",)}, {"behind_proxy": ("127.0.0.1",)}]
    for given in others:
        settings = Settings(**given)
        assert with_hosts(settings) == settings


def test_settings_travel_to_other_processes() -> None:
    settings = Settings(hosts=("a.example",), workers=2, console=False)
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_certificates_and_keys_that_cannot_work_are_refused(tmp_path: Path) -> None:
    certificate, key = made_certificate(tmp_path, "one")
    _, other = made_certificate(tmp_path, "two")
    _, locked = made_certificate(tmp_path, "three", password="secret")
    check_certificate(Settings(certificate_file=certificate, key_file=key))
    for wrong in (other, locked, certificate):
        with pytest.raises(InvalidValue, match="PEM files that belong together"):
            check_certificate(Settings(certificate_file=certificate, key_file=wrong))
    for missing in (tmp_path / "none.pem", tmp_path):
        with pytest.raises(InvalidValue, match="files that can be read"):
            check_certificate(Settings(certificate_file=missing, key_file=key))
