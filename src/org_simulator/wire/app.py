"""The org behind sockets: one aiohttp application; each REST request on a thread, streams in the loop."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from aiohttp import web

from org_simulator.cometd import add_routes
from org_simulator.wire.exchange import Cut, request
from org_simulator.wire.respond import respond
from org_simulator.wire.world import World

THREADS = 96  # requests at once; more wait
BODY_MAX_BYTES = 50 * 1024 * 1024
HANG_S = 3600

_LOG = logging.getLogger("org_simulator")


def build(world: World, latency_ms: float = 0.0) -> web.Application:
    """The application. `latency_ms` is added to every REST request before the org begins it."""
    app = web.Application(client_max_size=BODY_MAX_BYTES)
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="org")

    async def rest(asked: web.Request) -> web.StreamResponse:
        try:
            body = await asked.read()
        except ConnectionError:  # the client died in the middle of its request: nothing was asked, nobody listens
            return web.Response(status=400)
        if latency_ms and not asked.path.startswith("/simulator/"):
            await asyncio.sleep(latency_ms / 1000)
        parsed = request(asked.method, asked.raw_path, dict(asked.headers), body)
        try:
            answer = await asyncio.get_running_loop().run_in_executor(pool, respond, world, parsed)
        except Exception:  # noqa: BLE001 - the simulator's own fault, told as Salesforce tells its own
            _LOG.exception("the simulator failed on %s %s", asked.method, asked.path)
            content = [{"message": "An unexpected error occurred.", "errorCode": "UNKNOWN_EXCEPTION"}]
            return web.json_response(content, status=500)
        if isinstance(answer, Cut):
            return await _cut(asked, answer)
        return web.Response(status=answer.status, body=answer.body, headers=dict(answer.headers))

    async def close(_app: web.Application) -> None:
        pool.shutdown(wait=False, cancel_futures=True)

    add_routes(app, world.org)
    app.router.add_route("*", "/{path:.*}", rest)
    app.on_cleanup.append(close)
    return app


async def _cut(asked: web.Request, cut: Cut) -> web.StreamResponse:
    """End the connection without an answer; a hanging one stays open until the client leaves."""
    if cut.hangs:
        await asyncio.sleep(HANG_S)
    if asked.transport is not None:
        asked.transport.abort()
    return web.Response()
