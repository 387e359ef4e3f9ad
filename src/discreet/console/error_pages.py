"""Pages that are not there, or failed: they say so, and nothing of why.

NiceGUI's own show the words of the error, which can hold anything.
"""

from __future__ import annotations

from html import escape
from http import HTTPStatus

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from nicegui import App

from discreet.console.look import stylesheet
from discreet.web.problem import problem

__all__ = ["replace_error_pages", "too_many"]

_FRAME = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>{title} · Discreet</title><style>{style}{more}</style></head>"
    '<body class="d-system"><main><h1>{title}</h1><p>{words}</p><p><a href="/">To the first page</a></p></main></body>'
    "</html>\n"
)
_MORE = (
    "body{font-family:Roboto,system-ui,sans-serif;line-height:1.5}"
    "main{max-width:32rem;margin:20vh auto;padding:0 1.5rem}"
)


def replace_error_pages(pages: App) -> None:
    """Let NiceGUI's application answer with pages of our own where there is none, or one failed."""
    pages.add_exception_handler(HTTPStatus.NOT_FOUND, _missing)
    pages.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _wrong_way)
    pages.add_exception_handler(Exception, _failed)


async def _missing(_: Request, __: Exception) -> Response:
    return _page(HTTPStatus.NOT_FOUND, "There is no such page", "The link may be old, or a letter of it is missing.")


async def _wrong_way(request: Request, _: Exception) -> Response:
    return problem(HTTPStatus.METHOD_NOT_ALLOWED, f"A page must be asked for with GET, got {request.method}.")


async def _failed(_: Request, __: Exception) -> Response:
    words = "Nothing more was spent than the ledger says. Try again; if it fails again, tell the owner."
    return _page(HTTPStatus.INTERNAL_SERVER_ERROR, "This page failed", words)


def too_many() -> Response:
    """To somebody who loads more pages than one can look at."""
    words = "You asked for more pages than one visitor may have in a minute. Wait a little, then load it again."
    return _page(HTTPStatus.TOO_MANY_REQUESTS, "Too many requests", words)


def _page(status: HTTPStatus, title: str, words: str) -> Response:
    filled = {"title": escape(title), "words": escape(words), "style": stylesheet(), "more": _MORE}
    return HTMLResponse(_FRAME.format(**filled), status)
