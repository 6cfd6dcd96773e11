"""Signing: in by the console's token, and out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network

import structlog
from aiohttp import web

from lead_router.console.desk import ROOM
from lead_router.console.gate import give, moved, visitor
from lead_router.console.pages import shown
from lead_router.console.seals import same

_log = structlog.get_logger(__name__)

WRONG_S = 1.0
"""How long a wrong token takes to be told; those of one address are told one after another."""
WAITING_MAX = 5
"""Tokens of one address that may wait for that."""
NETWORK_BITS = 64
"""Of an address of version 6, what one host of it cannot choose."""


@dataclass(slots=True)
class _Line:
    one: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


async def sign_in_page(request: web.Request) -> web.Response:
    """Where the token is asked for."""
    room = request.app[ROOM]
    if room.place.token is None or visitor().signed_in:
        return moved("/")
    return room.paper.page("sign_in.html", **shown(request, "", wrong=False))


class SignIn:
    """Takes one token at a time of each address: guesses are not tried side by side, and hold up nobody elsewhere."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    async def taken(self, request: web.Request) -> web.StreamResponse:
        """A new visit for the right token; WRONG_S seconds for any other."""
        room = request.app[ROOM]
        given = (await request.post()).get("token")
        with self._line(whence(request.remote)) as line:
            async with line.one:
                if room.place.token is None or not isinstance(given, str) or not same(given.strip(), room.place.token):
                    await asyncio.sleep(WRONG_S)
                    _log.warning("console_sign_in_refused")
                    return room.paper.page("sign_in.html", status=403, **shown(request, "", wrong=True))
        answer = moved("/")
        give(request, answer, room.seals.new(signed_in=True))
        _log.info("console_signed_in")
        return answer

    @contextmanager
    def _line(self, place: str) -> Iterator[_Line]:
        line = self._lines.setdefault(place, _Line())
        if line.waiting >= WAITING_MAX:
            raise web.HTTPTooManyRequests(text="Tokens of your address wait to be tried: try again in some seconds.")
        line.waiting += 1
        try:
            yield line
        finally:
            line.waiting -= 1
            if not line.waiting:
                self._lines.pop(place, None)


async def sign_out(request: web.Request) -> web.StreamResponse:
    """The browser is not known any more."""
    answer = moved("/sign-in")
    give(request, answer, request.app[ROOM].seals.new())
    return answer


def whence(remote: str | None) -> str:
    """What stands for all addresses that a host may choose to come by."""
    try:
        address = ip_address((remote or "").partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((address, NETWORK_BITS), strict=False))
    return str(address)
