"""The CometD endpoint on aiohttp: headers, cookies, sizes, and the bridge from committing threads to the event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from aiohttp import web

from org_simulator.cometd import protocol
from org_simulator.cometd.server import Answer, Caller, Server
from org_simulator.cometd.sessions import Terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from org_simulator.clock import Clock
    from org_simulator.org import Org

TICK_S = 1.0
SERVER: web.AppKey[Server] = web.AppKey("cometd", Server)
_SCHEMES = frozenset({"bearer", "oauth"})


def add_routes(app: web.Application, org: Org, terms: Terms | None = None) -> None:
    """Serve the org's event stream at `/cometd/<version>`; call before the app starts."""
    server = Server(org, terms or Terms())
    app[SERVER] = server
    app.router.add_post("/cometd{tail:.*}", _post)
    bell = _Bell(org, server)
    app.on_startup.append(bell.start)
    app.on_shutdown.append(bell.stop)


def build_app(org: Org, terms: Terms | None = None) -> web.Application:
    """An app that serves the stream alone."""
    app = web.Application()
    add_routes(app, org, terms)
    return app


async def _post(request: web.Request) -> web.StreamResponse:
    server = request.app[SERVER]
    match server.log.faults.first(("cut", "http")):
        case ("cut", _):
            return _cut(request)
        case ("http", status):
            page = "<html><body>Server Error</body></html>"
            return web.Response(status=int(status or 503), text=page, content_type="text/html")
        case _:
            pass
    if (request.content_length or 0) > protocol.REQUEST_BYTES_MAX:
        return _too_large()
    content = await request.read()
    if len(content) > protocol.REQUEST_BYTES_MAX:
        return _too_large()
    try:
        calls = protocol.parse(content)
    except protocol.Malformed as fault:
        return web.Response(status=400, text=str(fault))
    return await _respond(request, await _answer(request, server, calls))


async def _answer(request: web.Request, server: Server, calls: list[protocol.Json]) -> Answer:
    # Clients append the kind of message: /cometd/68.0/connect
    version = request.match_info["tail"].strip("/").partition("/")[0]
    if (error := protocol.version_fault(version)) is not None:
        return Answer([protocol.refused(call, error) for call in calls])
    return await server.answer(calls, _caller(request))


def _caller(request: web.Request) -> Caller:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() in _SCHEMES and token.strip() else None

    def listening() -> bool:
        return request.transport is not None and not request.transport.is_closing()

    return Caller(bearer, request.cookies.get(protocol.BROWSER_COOKIE), listening)


async def _respond(request: web.Request, answer: Answer) -> web.StreamResponse:
    content = json.dumps(answer.replies).encode()
    if answer.lost:
        broken = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(content))})
        await broken.prepare(request)
        await broken.write(content[: len(content) // 2])
        return _cut(request)
    response = web.Response(body=content, content_type="application/json", charset="utf-8")
    if answer.browser is not None:
        response.set_cookie(protocol.BROWSER_COOKIE, answer.browser, path="/cometd/", httponly=True)
    return response


def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()
    return web.Response()


def _too_large() -> web.Response:
    return web.json_response([{"successful": False, "error": protocol.REQUEST_TOO_LARGE}], status=413)


class _Bell:
    """Wakes the held polls from other threads: at a commit, at a revocation, and as the org's clock goes on."""

    def __init__(self, org: Org, server: Server) -> None:
        self._org = org
        self._clock: Clock = org.clock
        self._server = server
        self._condition = threading.Condition()
        self._stopped = False
        self._tick_s = min(TICK_S, server.terms.poll_s / 4, server.terms.reconnect_s / 4)
        self._ring: Callable[[], None] = lambda: None

    async def start(self, _app: web.Application) -> None:
        loop = asyncio.get_running_loop()

        def ring() -> None:
            with suppress(RuntimeError):  # the loop may be closed between our look and our call
                loop.call_soon_threadsafe(self._server.wake)

        self._ring = ring
        self._server.log.wakers.append(ring)
        self._org.sessions.on_revoke.append(self._revoked)
        threading.Thread(target=self._follow_clock, name="cometd-clock", daemon=True).start()

    async def stop(self, _app: web.Application) -> None:
        self._server.log.wakers.remove(self._ring)
        self._org.sessions.on_revoke.remove(self._revoked)
        self._server.close()
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def _revoked(self, _token: str) -> None:
        self._ring()

    def _follow_clock(self) -> None:
        while not self._stopped:
            with self._condition:
                self._clock.wait(self._condition, self._tick_s)
            self._ring()
