"""The service as processes: it listens, answers until it is told to end, finishes what is under way, and ends well.

At the end, questions that read rows are finished within a limit, and the rest waits for the next start. Before it
listens, whatever the first principals would wait for is done once, on made-up rows: the first question loads libraries
and compiles statements. And what is in memory once all of it is there stays until the end, so the garbage collector
need not look through it every few seconds, while everybody waits.
"""

from __future__ import annotations

import atexit
import gc
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
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.supervisors.multiprocess import Multiprocess

from discreet.curator.curator import Curator
from discreet.engines.parameters import quote
from discreet.errors import DiscreetError
from discreet.http.guard import GUARDED, share_connections
from discreet.http.one_process import (
    QUIET,
    MeetingPlace,
    OneProcess,
    end_by_signals,
    format_address,
    listening,
    meeting_place,
)
from discreet.service.audit_trail import Trail
from discreet.service.auth.members import Members
from discreet.service.logs import log_event, start_logs
from discreet.service.monitoring import SHARED
from discreet.service.settings import Settings
from discreet.service.signed_heads import check_saved
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore
from discreet.time_limits import WORKER_LOOK

__all__ = ["Built", "Ending", "Ready", "serve", "warm"]


class Ending:
    """Closes the service once its application has answered everything that was under way."""

    def __init__(self, app: ASGIApp, service: ServiceState) -> None:
        """Around an application of ``service``."""
        self.app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; before the end is reported, close the service."""

        async def send_after_closing(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                await run_in_threadpool(self._close)
            await send(message)

        await self.app(scope, receive, send_after_closing if scope["type"] == "lifespan" else send)

    def _close(self) -> None:
        """Close the service; a question that takes too long was charged, and is answered after the next start."""
        closing = Thread(target=self._service.close, daemon=True)
        closing.start()
        closing.join(self._service.settings.shutdown_seconds)
        if closing.is_alive():
            log_event("ended while a question was read; it is answered after the next start")
            os._exit(0)  # Python would wait for its threads
        log_event("ended")


_ROWS = 10


def warm(service: ServiceState) -> None:
    """Rehearse a question about one protected table, where there is one; nothing is read, charged or kept."""
    protected = next((table for table in service.curator.catalog if not table.public), None)
    if protected is not None:
        source = ".".join(map(quote, protected.name.split(".")))
        sql = f"SELECT COUNT(*) AS n FROM {source}"  # noqa: S608
        analyst = next(iter(protected.analysts), None)
        try:
            service.curator.explain(sql, 1, analyst=analyst)
            service.curator.rehearse(sql, 1, analyst=analyst, rows=_ROWS)
        except DiscreetError:  # whatever is wrong is said to who asks
            pass
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # or what is left at the end would be reported as lost


Built = Callable[[ServiceState], ASGIApp]
"""What makes an application of a service; it is handed to other processes, so it has a place in a module."""
Ready = Callable[[str, Members], object]
"""What hears the address and the members, before the first request is answered."""
_AS_A_WORD = 2
"""How much longer a text may become on its way from a page, where line ends and quotes are two characters each."""
_ANYBODYS = ("/api/", "/health/")
"""What begins so is answered by whichever process is reached; everything else belongs to pages."""
_STARTUP_FAILURE = 3
"""How a process ends that cannot start; the parent, which is uvicorn's, starts no other instead of it."""
_TURN = 0.001
"""Seconds after which a thread lets others go on: who looks at a price must not wait behind who is being answered."""


def serve(settings: Settings, built: Built, ready: Ready) -> None:
    """Serve until a signal comes; requests under way are finished within the time that settings give."""
    with end_by_signals(signal.SIGINT, signal.SIGTERM), listening(settings.host, settings.port) as listener:
        run = _by_one if settings.workers == 1 else _by_several
        run(settings, built, ready, listener)


def _by_one(settings: Settings, built: Built, ready: Ready, listener: socket.socket) -> None:
    sys.setswitchinterval(_TURN)
    service = ServiceState(settings)
    app = Ending(built(service), service)
    warm(service)
    service.heads.start()
    service.closes.start()
    ready(_address(settings, listener), service.members)
    start_logs(settings.log_level)
    uvicorn.Server(_config(settings, app)).run(sockets=[listener])


def _by_several(settings: Settings, built: Built, ready: Ready, listener: socket.socket) -> None:
    """Processes that share the socket; one that dies is replaced, and all end together."""
    store, ledger = ServiceStore(settings.folder), Curator(settings.folder).ledger
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
        service = ServiceState(settings)
    except DiscreetError as fault:
        log_event("could not start", error=type(fault).__name__)
        sys.exit(_STARTUP_FAILURE)
    app = built(service)
    if settings.console:
        share_connections(settings.workers)
        app = OneProcess(app, place, _is_anybodys)
    warm(service)
    service.heads.start()
    service.closes.start()
    return Ending(app, service)


def _end_with_parent() -> None:
    """End as on SIGTERM when the process that started this one is gone: nobody would replace it, or free its port."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _is_anybodys(path: str) -> bool:
    return path.startswith(_ANYBODYS)


def _address(settings: Settings, listener: socket.socket) -> str:
    return format_address(listener, "http" if settings.certificate_file is None else "https")


def _config(settings: Settings, app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        proxy_headers=bool(settings.behind_proxy),
        forwarded_allow_ips=",".join(settings.behind_proxy),
        timeout_graceful_shutdown=settings.shutdown_seconds,
        timeout_worker_healthcheck=WORKER_LOOK,
        ws_max_size=_AS_A_WORD * settings.largest_body,
        ssl_certfile=settings.certificate_file,
        ssl_keyfile=settings.key_file,
        **QUIET,
        **GUARDED,
        **more,
    )
