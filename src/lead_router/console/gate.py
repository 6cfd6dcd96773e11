"""The gate: what a request must show before any page is asked, and what every answer bears."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Final

import structlog
from aiohttp import web

from lead_router.console.desk import ROOM, Room
from lead_router.console.places import is_known, is_own
from lead_router.console.seals import SIGNED_IN_S, Visit, same
from lead_router.core.hidden import scrub
from lead_router.errors import LeadRouterError

_log = structlog.get_logger(__name__)

Page = Callable[[web.Request], Awaitable[web.StreamResponse]]

_VISIT: Final[ContextVar[Visit]] = ContextVar("visit")
SLIP: Final = "slip"
OPEN_PATHS: Final = frozenset({"/sign-in", "/console.css", "/console.js", "/icon.svg"})
READS: Final = frozenset({"GET", "HEAD"})
FORM_MAX_BYTES: Final = 64 * 1024
"""Of a form without a file; one of FILE_PATH may have as much as the application lets in."""
FILE_PATH: Final = "/plan"
FORM_S: Final = 30.0
_LACKS: Final[Mapping[str, str]] = {
    "host": "This console is not known by that name: LEAD_ROUTER_CONSOLE_HOSTS names those it has.",
    "origin": "That form is of another site: nothing was done.",
    "slip": "That form is out of date, as after a restart of the console: go back, reload it, and send it again.",
}
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # no-referrer would take the origin from our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "lead-router",  # whoever knocks need not know which versions stand behind it
}


@web.middleware
async def dressed(request: web.Request, handler: Page) -> web.StreamResponse:
    """Every answer bears the headers that keep its page to itself; faults become pages."""
    try:
        answer = await handler(request)
    except web.HTTPException as refused:
        answer = _told(request, refused.status, refused.reason, refused.text or "")
    except LeadRouterError as fault:
        answer = _told(request, 503, "This cannot be shown now", scrub(str(fault)))
    except Exception:  # noqa: BLE001 - a page's fault ends no other page
        _log.exception("console_page_failed", path=request.path)
        answer = _told(request, 500, "The console is at fault", "Its log has the fault. The router goes on.")
    answer.headers.update(HEADERS)
    return answer


@web.middleware
async def guarded(request: web.Request, handler: Page) -> web.StreamResponse:
    """Foreign hosts, browsers that have not signed in, and forms that are not ours come no further.

    Who follows a link of another site brings no cookie (SameSite=Strict), and it is not known whether they have one:
    the page asks once more, from here, and no cookie is overwritten.
    """
    room = request.app[ROOM]
    if not is_known(request.headers.get("Host", ""), room.place.names):
        raise web.HTTPMisdirectedRequest(text=_refused("host"))
    cookie = cookie_name(room)
    visit = room.seals.opened(request.cookies.get(cookie))
    if visit is None and request.method in READS and request.headers.get("Sec-Fetch-Site") == "cross-site":
        return room.paper.page("arriving.html")
    fresh = visit is None
    visit = visit or room.seals.new()
    _VISIT.set(visit)
    answer = await _let_in(request, handler, room, visit)
    if fresh and cookie not in answer.cookies and request.path not in OPEN_PATHS - {"/sign-in"}:
        give(request, answer, visit)
    return answer


async def _let_in(request: web.Request, handler: Page, room: Room, visit: Visit) -> web.StreamResponse:
    reads = request.method in READS
    if room.place.token is not None and not visit.signed_in and request.path not in OPEN_PATHS:
        if not reads:
            raise web.HTTPForbidden(text="Sign in first: nothing was done.")
        return moved("/sign-in")
    if not reads:
        await _ours(request, room, visit)
    return await handler(request)


def visitor() -> Visit:
    """Who asks, as the gate has seen before any page is asked."""
    return _VISIT.get()


def moved(path: str) -> web.Response:
    """The answer to a form that was acted on: look there, and reload that as often as you like."""
    return web.Response(status=web.HTTPSeeOther.status_code, headers={"Location": path})


def give(request: web.Request, answer: web.StreamResponse, visit: Visit) -> None:
    """Let the browser be known by this visit from now on."""
    room = request.app[ROOM]
    over_tls = request.secure or request.headers.get("X-Forwarded-Proto", "").lower() == "https"
    answer.set_cookie(
        cookie_name(room),
        room.seals.sealed(visit),
        max_age=SIGNED_IN_S,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=over_tls,
    )


def cookie_name(room: Room) -> str:
    """Browsers do not tell ports apart: two consoles of one machine have a cookie each."""
    return f"lead_router_console_{room.place.port}"


async def _ours(request: web.Request, room: Room, visit: Visit) -> None:
    """Raises where the form did not come from a page of this console, shown to this browser."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site", "same-origin")
    if (origin is not None and not is_own(origin, request.headers["Host"])) or site not in {"same-origin", "none"}:
        raise web.HTTPForbidden(text=_refused("origin"))
    size = request.content_length
    if request.path != FILE_PATH and (size is None or size > FORM_MAX_BYTES):
        raise web.HTTPRequestEntityTooLarge(FORM_MAX_BYTES, size or 0)
    try:
        form = await asyncio.wait_for(request.post(), FORM_S)
    except (ValueError, TypeError, AssertionError, KeyError, LookupError):
        raise web.HTTPBadRequest(text="That form cannot be read: nothing was done.") from None
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="The form did not come whole: nothing was done.") from None
    slip = form.get(SLIP)
    if not isinstance(slip, str) or not same(slip, room.seals.slip(visit)):
        raise web.HTTPForbidden(text=_refused("slip"))


def _refused(what: str) -> str:
    """Note what a request lacked; its text for whoever sent it."""
    _log.info("console_refused", lack=what)
    return _LACKS[what]


def _told(request: web.Request, status: int, head: str, text: str) -> web.Response:
    room = request.app[ROOM]
    return room.paper.page("fault.html", status=status, page="", head=head, text=text, slip="", signs_out=False)
