"""The service as processes: it listens, answers until it is told to end, finishes what is under way, and ends well."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing import parent_process
from threading import Thread
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess

from discreet.curator.curator import Curator
from discreet.errors import DiscreetError
from discreet.service.ending import Ending
from discreet.service.heads import check_saved
from discreet.service.house import House
from discreet.service.logs import log_event, start_logs
from discreet.service.members import Members
from discreet.service.metrics import SHARED
from discreet.service.settings import Settings
from discreet.service.store import Store
from discreet.service.trail import Trail
from discreet.service.warming import warm
from discreet.web.guarded import GUARDED, share_connections
from discreet.web.listening import QUIET, address_of, ended_by_signals, listening
from discreet.web.one_process import MeetingPlace, OneProcess, meeting_place

__all__ = ["Built", "Ready", "serve"]

Built = Callable[[House], ASGIApp]
"""What makes an application of a house; it is handed to other processes, so it has a place in a module."""
Ready = Callable[[str, Members], object]
"""What hears the address and the members, before the first request is answered."""
_PATIENCE_WITH_WORKERS = 60
"""Seconds in which a worker says that it is there; a busy machine is no reason to end one."""
_AS_A_WORD = 2
"""How much longer a text may become on its way from a page, where line ends and quotes are two characters each."""
_ANYBODYS = ("/api/", "/health/")
"""What begins so is answered by whichever process is reached; everything else belongs to pages."""
_TURN = 0.001
"""Seconds after which a thread lets others go on: who looks at a price must not wait behind who is being answered."""


def serve(settings: Settings, built: Built, ready: Ready) -> None:
    """Serve until a signal comes; requests under way are finished within the time that settings give."""
    with ended_by_signals(signal.SIGINT, signal.SIGTERM), listening(settings.host, settings.port) as listener:
        run = _by_one if settings.workers == 1 else _by_several
        run(settings, built, ready, listener)


def _by_one(settings: Settings, built: Built, ready: Ready, listener: socket.socket) -> None:
    sys.setswitchinterval(_TURN)
    house = House(settings)
    app = Ending(built(house), house)
    warm(house)
    house.heads.start()
    ready(_address(settings, listener), house.members)
    start_logs(settings.log_level)
    uvicorn.Server(_config(settings, app)).run(sockets=[listener])


def _by_several(settings: Settings, built: Built, ready: Ready, listener: socket.socket) -> None:
    """Processes that share the socket; one that dies is replaced, and all end together."""
    store, ledger = Store(settings.folder), Curator(settings.folder).ledger
    Trail(store).check(ledger)  # or each of them would say why it cannot be opened
    check_saved(settings, ledger)
    ledger.close()
    ready(_address(settings, listener), Members(store))
    with meeting_place() as place:
        counts = place.folder / "counts"
        counts.mkdir()
        os.environ[SHARED] = str(counts)
        start_logs(settings.log_level)
        config = _config(settings, partial(_worker, settings, built, place), factory=True, workers=settings.workers)
        Multiprocess(config, sockets=[listener]).run()


def _worker(settings: Settings, built: Built, place: MeetingPlace) -> ASGIApp:
    """The application of one process among several; pages live in one of them, to which the others hand on."""
    sys.setswitchinterval(_TURN)
    Thread(target=_end_with_parent, daemon=True).start()
    start_logs(settings.log_level)
    try:
        house = House(settings)
    except DiscreetError as fault:
        log_event("could not start", error=type(fault).__name__)
        sys.exit(STARTUP_FAILURE)
    app = built(house)
    if settings.console:
        share_connections(settings.workers)
        app = OneProcess(app, place, _is_anybodys)
    warm(house)
    house.heads.start()
    return Ending(app, house)


def _end_with_parent() -> None:
    """End as on SIGTERM when the process that started this one is gone: nobody would replace it, or free its port."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _is_anybodys(path: str) -> bool:
    return path.startswith(_ANYBODYS)


def _address(settings: Settings, listener: socket.socket) -> str:
    return address_of(listener, "http" if settings.certificate_file is None else "https")


def _config(settings: Settings, app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        proxy_headers=bool(settings.behind_proxy),
        forwarded_allow_ips=",".join(settings.behind_proxy),
        timeout_graceful_shutdown=settings.shutdown_seconds,
        timeout_worker_healthcheck=_PATIENCE_WITH_WORKERS,
        ws_max_size=_AS_A_WORD * settings.largest_body,
        ssl_certfile=settings.certificate_file,
        ssl_keyfile=settings.key_file,
        **QUIET,
        **GUARDED,
        **more,
    )
