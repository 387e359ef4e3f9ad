"""``discreet serve``: the curator for many, on REST and on the pages of the console."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import refusals, say, whisper

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from discreet.service.auth.members import Members
    from discreet.service.settings import Settings
    from discreet.service.state import ServiceState

__all__ = ["serve"]


_TO_CALL_OTHERS = ("aiohttp", "requests", "websocket")
"""What the console's library uses to be the client of another server, which a console never is. Loading them takes a
quarter as long as loading all the rest."""


def serve(
    folder: Annotated[Path | None, typer.Option(help="The curator's folder.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen at.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen at; 0 takes a free one.")] = None,
    config: Annotated[
        Path | None, typer.Option(envvar="DISCREET_CONFIG", help="Settings in TOML; flags and variables override it.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer; one of them draws the pages.")] = None,
    console: Annotated[bool | None, typer.Option("--console/--no-console", help="Serve the console's pages.")] = None,
    certificate_file: Annotated[Path | None, typer.Option(help="The TLS certificate.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="The key of the TLS certificate.")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a made-up hospital with an owner and two analysts.")
    ] = False,
) -> None:
    """Serve the curator to many analysts: REST under /api/v1, and a console for people.

    The first start prints a one-time token for the owner. Every setting is described in docs/reference/settings.md.

    [dim]Example:[/]  discreet serve --folder hospital --port 8000
    [dim]Example:[/]  discreet serve --demo
    """
    given = {
        "folder": folder,
        "host": host,
        "port": port,
        "workers": workers,
        "console": console,
        "certificate_file": certificate_file,
        "key_file": key_file,
    }
    with refusals("what was spent and answered is in the ledger; serve it again at any time"):
        _require("argon2", "fastapi", "prometheus_client", "pydantic_settings", "uvicorn")
        from discreet.service.server import serve as run_service

        flags = {name: value for name, value in given.items() if value is not None}
        with _readied(config, flags, demo=demo) as (settings, tokens):
            if settings.console:
                _load_console()

            def ready(address: str, members: Members) -> None:
                _tell(settings, address)
                _tell_tokens(members, tokens)

            run_service(settings, _with_console if settings.console else _rest, ready)


@contextmanager
def _readied(config: Path | None, flags: dict[str, Any], *, demo: bool) -> Iterator[tuple[Settings, dict[str, str]]]:
    """Settings that can work, and the tokens of a demonstration; its folder goes with it, unless it has a name."""
    from tempfile import TemporaryDirectory

    from discreet.service.settings import check_certificate, read_settings, with_hosts

    with TemporaryDirectory(prefix="discreet-demo-") as temporary:
        if demo and "folder" not in flags:
            flags["folder"] = Path(temporary) / "hospital"
        settings = with_hosts(read_settings(config, flags))
        check_certificate(settings)
        tokens: dict[str, str] = {}
        if demo:
            from discreet.service.demo import furnish_demo

            tokens = furnish_demo(settings.folder)
        yield settings, tokens


def _rest(service: ServiceState) -> ASGIApp:
    from discreet.service.app import application, guard_app

    return guard_app(application(service))


def _load_console() -> None:
    with _hidden(*_TO_CALL_OTHERS):
        _require("socketio")
    _require("nicegui")


def _with_console(service: ServiceState) -> ASGIApp:
    _load_console()
    from discreet.console.console import add_console
    from discreet.service.app import application, guard_app

    app = application(service)
    add_console(app, service)
    return guard_app(app)


def _tell(settings: Settings, address: str) -> None:
    from discreet.http.one_process import LOOPBACK

    say(f"serving {settings.folder} at {address}{'' if settings.console else '/api/v1'}")
    if settings.host not in LOOPBACK and not settings.encrypted:
        whisper(
            "tokens and answers travel unencrypted: pass --certificate-file and --key-file, or put a proxy that"
            " encrypts in front and name it in behind_proxy"
        )


def _tell_tokens(members: Members, demo: dict[str, str]) -> None:
    for name, token in demo.items():
        say(f"{name:6} {token}")
    if demo:
        whisper("made-up people and tokens that last: sign in as each of them")
        return
    first = members.start()
    if first is not None:
        say(f"owner's one-time token: {first.secret}")
        whisper("sign in with it once, within a day; it is kept nowhere, and discreet member token makes another")


@contextmanager
def _hidden(*modules: str) -> Iterator[None]:
    """What is not loaded yet is as good as not installed meanwhile, for libraries that do without it."""
    hidden = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None means just that
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def _require(*modules: str) -> None:
    from discreet.curator.answers.plot import extra

    for module in modules:
        extra(module, "serve")
