"""Acts: what a person does. Each is a form of ours, seen by the gate; what it did is told, and what it could not."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath

import structlog
from aiohttp import web

from lead_router.app import Plan
from lead_router.app.finding import lead_id_of
from lead_router.console.desk import ROOM, Desk
from lead_router.console.gate import moved, visitor
from lead_router.console.kept import as_csv
from lead_router.console.pages import job_page, shown
from lead_router.core.hidden import scrub
from lead_router.errors import LeadRouterError

_log = structlog.get_logger(__name__)

REASON_MAX = 500
UPLOAD_MAX_BYTES = 5_000_000
PLANNED_SHOWN = 500
LINES_MAX = 5_000
"""Below the first of a file that is planned here: more would outlast ASKED_S, and hold up whoever looks meanwhile."""


async def find(request: web.Request) -> web.StreamResponse:
    """The lead's page, or the list of those that may be meant."""
    room = request.app[ROOM]
    sought = _text(await request.post(), "sought")
    lead_id = lead_id_of(sought)
    if lead_id is not None:
        return moved(f"/lead/{lead_id}")
    found, fault = None, None
    try:
        found = await room.looks.asked(lambda: room.desk.find(sought))
    except LeadRouterError as refused:
        fault = scrub(str(refused))
    return room.paper.page("lead.html", **shown(request, "lead", sought=sought, found=found, fault=fault))


async def retry(request: web.Request) -> web.StreamResponse:
    """Queue a dead job again."""
    room, number = request.app[ROOM], int(request.match_info["job"])
    if not await room.looks.store(lambda: room.desk.retry(number)):
        return await job_page(request, number, status=409, fault=_NOT_DEAD)
    _log.info("console_job_retried", job=number)
    return await job_page(request, number, done="Queued again, with fresh attempts.")


async def discard(request: web.Request) -> web.StreamResponse:
    """End a dead job for good, for a reason."""
    room, number = request.app[ROOM], int(request.match_info["job"])
    reason = " ".join(_text(await request.post(), "reason").split())
    if not reason or len(reason) > REASON_MAX:
        fault = "Say why, for whoever asks later." if not reason else f"At most {REASON_MAX} characters."
        return await job_page(request, number, status=422, fault=fault, reason=reason[:REASON_MAX])
    if not await room.looks.store(lambda: room.desk.discard(number, reason)):
        return await job_page(request, number, status=409, fault=_NOT_DEAD)
    _log.info("console_job_discarded", job=number)
    return await job_page(request, number, done="Ended for good; its lead is left as it is.")


_NOT_DEAD = "It is not dead any more: somebody or something was faster. Nothing was changed."


async def plan_page(request: web.Request) -> web.Response:
    """Where a file of leads is given."""
    return request.app[ROOM].paper.page("plan.html", **shown(request, "plan", fault=None))


async def plan(request: web.Request) -> web.StreamResponse:
    """What would become of a file's leads; nothing is written."""
    room, form = request.app[ROOM], await request.post()
    file = form.get("leads")
    if not isinstance(file, web.FileField):
        return room.paper.page("plan.html", status=422, **shown(request, "plan", fault="Choose a file first."))
    content, name = file.file.read(), _base(file.filename)
    if max(content.count(end) for end in (b"\n", b"\r")) > LINES_MAX + 1:
        fault = f"More than {LINES_MAX:,} lines: give a part of it, or plan the whole by `lead-router plan --csv FILE`."
        return room.paper.page("plan.html", status=422, **shown(request, "plan", fault=fault))
    try:
        made = await room.looks.asked(lambda: _planned(room.desk, name, content, anew=bool(form.get("anew"))))
    except LeadRouterError as refused:
        fault = scrub(str(refused))
        return room.paper.page("plan.html", status=422, **shown(request, "plan", fault=fault))
    return moved(f"/plan/{room.plans.keep(visitor().id, name, made)}")


async def planned(request: web.Request) -> web.Response:
    """The plan of a file."""
    name, made = _kept(request)
    key, rows = request.match_info["key"], made.leads[:PLANNED_SHOWN]
    clocked = any(one.touch_by is not None for one in made.leads)
    told = shown(request, "plan", name=name, plan=made, key=key, rows=rows, clocked=clocked)
    return request.app[ROOM].paper.page("planned.html", **told)


async def planned_csv(request: web.Request) -> web.Response:
    """The same for a spreadsheet, whole."""
    _, made = _kept(request)
    heads = {"Content-Disposition": 'attachment; filename="plan.csv"'}
    return web.Response(text=as_csv(made), content_type="text/csv", charset="utf-8", headers=heads)


def _kept(request: web.Request) -> tuple[str, Plan]:
    found = request.app[ROOM].plans.found(visitor().id, request.match_info["key"])
    if found is None:
        raise web.HTTPNotFound(text="That plan is not kept any more: give the file again.")
    return found


def _planned(desk: Desk, name: str, content: bytes, *, anew: bool) -> Plan:
    with tempfile.TemporaryDirectory(prefix="lead-router-plan-") as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        return desk.plan(file, anew=anew)


def _base(name: str) -> str:
    """A file name without folders, short and printable; what a browser says of it may be anything."""
    bare = PureWindowsPath(PurePosixPath(name).name).name
    kept = "".join(sign for sign in bare if sign.isprintable() and sign not in "/\\\0")[:80].strip(". ")
    return kept or "leads.csv"


def _text(form: object, name: str) -> str:
    found = form.get(name) if hasattr(form, "get") else None
    return found.strip() if isinstance(found, str) else ""
