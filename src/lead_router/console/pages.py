"""Pages: what a person looks at. Each is whole without a script, and tells what it could not look at."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from lead_router.app import Departed, Explained
from lead_router.app.finding import lead_id_of
from lead_router.app.recent import Recent
from lead_router.app.shares import Shares
from lead_router.app.worded import job_state, match_told, standing, target_told, verdict, whole_decision
from lead_router.console.charts import curves, latencies
from lead_router.console.desk import CONFIGURATION_FRESH_S, ROOM, Room
from lead_router.console.gate import moved, visitor
from lead_router.console.looks import Sight
from lead_router.console.verdicts import alarms, longest_waiting, named, waited_s
from lead_router.core.hidden import scrub
from lead_router.core.model import Configuration
from lead_router.errors import LeadRouterError, Misconfigured

NOW_FRESH_S, GROUPS_FRESH_S = 20.0, 20.0
"""How often the org is asked at most, however many look."""
NOW_EVERY_S, GROUPS_EVERY_S = 5, 20
"""How often a page that is open shows itself anew."""
APART_S = 30.0
"""How far the org's and the job database's clocks may be apart, and a job's end behind its lead's owner."""
GIVEN_SHOWN = 12
DEAD_SHOWN, DEAD_SHOWN_MAX = 100, 1000
NAMES_S = 2.0
"""How long dead jobs are shown later for the names of their leads, of the first DEAD_SHOWN."""
DAYS, DAYS_FIRST = (1, 7, 30), 7
UNMET_SHOWN = 20
SIZES = {"wide": (860, 240), "narrow": (340, 220)}
"""Of one chart, by the class that shows it on a screen or a phone: text keeps its size."""


def shown(request: web.Request, page: str, **more: Any) -> dict[str, Any]:
    """What every template needs beside its own."""
    room, visit = request.app[ROOM], visitor()
    return {
        "page": page,
        "slip": room.seals.slip(visit),
        "signs_out": room.place.token is not None,
        "whereabouts": room.whereabouts,
        **more,
    }


async def now(request: web.Request) -> web.Response:
    """Whether leads flow, and what needs a person."""
    room = request.app[ROOM]
    sight = await _recent(room)
    glance, fault = None, None
    waiting = () if sight.value is None else sight.value.waiting
    try:
        glance = await room.looks.store(lambda: room.desk.glance(waiting, (sight.age_s or 0.0) + APART_S))
    except LeadRouterError as refused:
        fault = scrub(str(refused))
    oldest = None if sight.value is None else longest_waiting(sight.value, glance)
    given = () if sight.value is None else sight.value.given
    waits = [one.latency_ms for one in given if one.latency_ms is not None]
    told = shown(
        request,
        "now",
        alarms=alarms(glance, fault, sight),
        queue=None if glance is None else glance.queue,
        let_lie=() if glance is None else glance.let_lie,
        named=named,
        sight=sight,
        oldest=oldest,
        waits_s=None if oldest is None or sight.value is None else waited_s(oldest.since, sight.value.at),
        given=given[:GIVEN_SHOWN],
        figures=latencies(waits),
        charts=[(name, curves(waits, width=width, height=height)) for name, (width, height) in SIZES.items()],
        every=0 if _paused(request) else NOW_EVERY_S,
        looked_at=datetime.now(UTC),
    )
    return room.paper.page("now.html", **told)


async def groups(request: web.Request) -> web.Response:
    """Who is next, and whether everybody has had a fair share."""
    room = request.app[ROOM]
    asked = request.query.get("days", "")
    days = int(asked) if asked in {str(one) for one in DAYS} else DAYS_FIRST
    told = shown(
        request,
        "groups",
        sight=await _shares(room, days),
        days=days,
        choices=DAYS,
        every=0 if _paused(request) else GROUPS_EVERY_S,
        looked_at=datetime.now(UTC),
    )
    return room.paper.page("groups.html", **told)


async def lead(request: web.Request) -> web.StreamResponse:
    """Where a lead is looked for; the story of one that is named."""
    lead_id = lead_id_of(request.query.get("lead", "").strip())
    if lead_id is not None:
        return moved(f"/lead/{lead_id}")
    return request.app[ROOM].paper.page("lead.html", **shown(request, "lead", sought="", found=None, fault=None))


async def story(request: web.Request) -> web.Response:
    """A lead from its event to its owner."""
    room = request.app[ROOM]
    lead_id = lead_id_of(request.match_info["lead"])
    if lead_id is None:
        raise web.HTTPNotFound(text="That is no id of a lead: 15 or 18 characters that begin with 00Q.")
    try:
        found = await room.looks.asked(lambda: room.desk.story(lead_id))
    except Misconfigured as fault:
        raise web.HTTPNotFound(text=scrub(str(fault))) from None
    told, at = found.told, datetime.now(UTC)
    more = {} if isinstance(told, Departed) else _account(told)
    jobs = [(job, job_state(job, at)) for job in told.jobs or ()]
    departed = isinstance(told, Departed)
    shows = shown(request, "lead", story=found, told=told, jobs=jobs, departed=departed, **more)
    return room.paper.page("story.html", **shows)


def _account(told: Explained) -> dict[str, Any]:
    rules = told.account.rules
    decided = next((one.rule.precedence for one in rules if one.decided), None)
    hidden = {one.rule.id for one in [one for one in rules if not one.met][UNMET_SHOWN:]}
    told_of = [one for one in rules if one.rule.id not in hidden]
    return {
        "decision": whole_decision(told),
        "rules": [(one, verdict(one, decided), target_told(one, told)) for one in told_of],
        "hidden": len(hidden),
        "matches": [match_told(one) for one in told.account.matches],
        "standing": standing,
    }


async def dead(request: web.Request) -> web.Response:
    """Jobs that wait for a person."""
    room = request.app[ROOM]
    limit = DEAD_SHOWN_MAX if request.query.get("all") else DEAD_SHOWN
    queue, jobs = await room.looks.store(lambda: room.desk.dead(limit))
    leads = tuple(sorted({one.lead_id for one in jobs[:DEAD_SHOWN]}))
    names = await room.looks.org("dead", lambda: room.desk.named(leads), fresh_s=NOW_FRESH_S, within_s=NAMES_S)
    told = shown(request, "dead", queue=queue, jobs=jobs, names=names.value or {}, most=DEAD_SHOWN_MAX)
    return room.paper.page("dead.html", **told)


async def job(request: web.Request) -> web.Response:
    """One job's whole story, and what a person can do about it."""
    number = request.match_info["job"]
    return await job_page(request, int(number))


async def job_page(request: web.Request, number: int, *, status: int = 200, **more: Any) -> web.Response:
    """The page of one job, after an action with what came of it."""
    room = request.app[ROOM]
    found = await room.looks.store(lambda: room.desk.job(number))
    if found is None:
        raise web.HTTPNotFound(text=f"There is no job {number}.")
    told = {"done": None, "fault": None, "reason": "", **more}
    state = job_state(found, datetime.now(UTC))
    return room.paper.page("job.html", status=status, **shown(request, "dead", job=found, state=state, **told))


async def _recent(room: Room) -> Sight[Recent]:
    configured, configuration = await _configured(room)
    if configuration is None:
        return Sight(None, None, configured.fault, configured.away)
    sight = await room.looks.org("recent", lambda: room.desk.recent(configuration), fresh_s=NOW_FRESH_S)
    return replace(sight, fault=sight.fault or configured.fault, away=sight.away or configured.away)


async def _shares(room: Room, days: int) -> Sight[Shares]:
    configured, configuration = await _configured(room)
    if configuration is None:
        return Sight(None, None, configured.fault, configured.away)
    return await room.looks.org(f"shares {days}", lambda: room.desk.shares(configuration, days), fresh_s=GROUPS_FRESH_S)


async def _configured(room: Room) -> tuple[Sight[Configuration], Configuration | None]:
    sight = await room.looks.org("configuration", room.desk.configuration, fresh_s=CONFIGURATION_FRESH_S)
    return sight, sight.value


def _paused(request: web.Request) -> bool:
    return request.query.get("live") == "off"
