"""The body of a request, up to a size and within a time: a sender can keep the server neither full nor waiting."""

from __future__ import annotations

import asyncio

from fastapi import HTTPException, Request

__all__ = ["body_within"]

_SECONDS = 20.0


async def body_within(request: Request, most: int, seconds: float = _SECONDS) -> bytes:
    """The whole body; one that is longer than ``most`` bytes or takes too long is refused before it is all here."""
    stated = request.headers.get("content-length", "0")
    if not stated.isdigit() or int(stated) > most:
        raise HTTPException(413, f"a submission must have at most {most} bytes")
    try:
        async with asyncio.timeout(seconds):
            return await _read(request, most)
    except TimeoutError:
        raise HTTPException(408, f"a submission must arrive within {seconds:g} seconds") from None


async def _read(request: Request, most: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, f"a submission must have at most {most} bytes")
    return bytes(body)
