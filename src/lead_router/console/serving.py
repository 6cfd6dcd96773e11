"""Serving: the application, and its life from the first line it prints to the signal that ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from importlib.resources import files
from typing import Any

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from lead_router import log
from lead_router.app.wiring import Wired, wire
from lead_router.console import acts, pages, signing
from lead_router.console.desk import ROOM, Desk, Room
from lead_router.console.gate import Page, dressed, guarded
from lead_router.console.kept import KeptPlans
from lead_router.console.looks import Looks
from lead_router.console.places import Place, place_of
from lead_router.console.rendering import Paper
from lead_router.console.seals import Seals
from lead_router.errors import Misconfigured
from lead_router.jobs import whereabouts
from lead_router.settings import Settings

_log = structlog.get_logger(__name__)

READ_S = 15.0
"""How long the console waits for an answer of Salesforce at most: nobody watches longer."""
END_S = 3.0
FILES = {"/console.css": "text/css", "/console.js": "text/javascript", "/icon.svg": "image/svg+xml"}


def served(settings: Settings, address: str) -> int:
    """See `lead_router.console.serve`."""
    place = place_of(settings, address)
    log.configure(settings.log_level)
    brisk = settings.model_copy(update={"read_timeout_s": min(READ_S, settings.read_timeout_s)})
    return asyncio.run(_served(application(brisk, wire(brisk), place), place))


def application(settings: Settings, wired: Wired, place: Place) -> web.Application:
    """All pages, behind the gate."""
    made = web.Application(middlewares=[dressed, guarded], client_max_size=acts.UPLOAD_MAX_BYTES)
    room = Room(
        Desk(settings, wired), Looks(), Paper(), Seals(time.time), place, KeptPlans(), whereabouts(settings.database)
    )
    made[ROOM] = room
    made.add_routes(
        [
            web.get("/", pages.now),
            web.get("/groups", pages.groups),
            web.get("/lead", pages.lead),
            web.post("/lead", acts.find),
            web.get("/lead/{lead}", pages.story),
            web.get("/dead", pages.dead),
            web.get(r"/dead/{job:\d{1,18}}", pages.job),
            web.post(r"/dead/{job:\d{1,18}}/retry", acts.retry),
            web.post(r"/dead/{job:\d{1,18}}/discard", acts.discard),
            web.get("/plan", acts.plan_page),
            web.post("/plan", acts.plan),
            web.get("/plan/{key}", acts.planned),
            web.get("/plan/{key}/plan.csv", acts.planned_csv),
            web.get("/sign-in", signing.sign_in_page),
            web.post("/sign-in", signing.SignIn().taken),
            web.post("/sign-out", signing.sign_out),
            *(web.get(path, _static(path, kind)) for path, kind in FILES.items()),
        ]
    )

    async def close(_app: web.Application) -> None:
        room.looks.close()

    made.on_cleanup.append(close)
    return made


def runner_of(made: web.Application) -> web.AppRunner:
    """What serves the pages; not yet listening."""
    return web.AppRunner(made, access_log=None, logger=_Wire(), shutdown_timeout=END_S)


class _Wire:
    """The logger of the server under the pages: what is no HTTP can be sent by anybody, and none of it is told."""

    def debug(self, *_told: object, **_more: object) -> None:
        """Clients that go away are no fact worth a line."""

    def exception(self, _told: str, *_args: object, exc_info: Any = None) -> None:
        """A fault below the pages, or a request that is none."""
        if isinstance(exc_info, HttpProcessingError):
            _log.info("console_refused", lack="http")
        else:
            _log.error("console_page_failed", path=None, exc_info=exc_info or True)


def _static(path: str, kind: str) -> Page:
    content = (files("lead_router.console") / "static" / path.removeprefix("/")).read_bytes()

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return answer


async def _served(made: web.Application, place: Place) -> int:
    runner = runner_of(made)
    await runner.setup()
    try:
        site = web.TCPSite(runner, place.host, place.port)
        try:
            await site.start()
        except OSError as fault:
            told = f"{place.host}:{place.port} cannot be listened on: {fault.strerror}"
            raise Misconfigured(f"{told}: name another with --address") from None
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, ended.set)
        port = runner.addresses[0][1]
        host = f"[{place.host}]" if ":" in place.host else place.host
        print(f"console: http://{host}:{port}/  (Ctrl-C ends it)", flush=True)  # noqa: T201 - for whoever started it
        _log.info("console_started", host=place.host, port=port, signs_in=place.token is not None)
        await ended.wait()
        _log.info("console_stopped")
        return 0
    finally:
        await runner.cleanup()
