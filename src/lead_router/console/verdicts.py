"""Verdicts: what needs a person now, the worst first, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from lead_router.app.looking import START_ROUTER, no_router
from lead_router.app.recent import Recent
from lead_router.console.looks import Sight
from lead_router.core.ages import age
from lead_router.ports import ListenerView, QueueView

WAITS_S = 300.0
"""An unassigned lead older than this is told of: within five minutes, by the published odds, nothing is lost."""
CONNECTS_S = 60.0
"""A stream that is not subscribed for longer than this is told of."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that needs a person: what is so, what to do, and the page (a path of the console) that shows it."""

    text: str
    remedy: str = ""
    page: str = ""


def alarms(queue: QueueView | None, store_fault: str | None, sight: Sight[Recent]) -> tuple[Alarm, ...]:
    """All that is to be told; empty where leads flow."""
    found: list[Alarm] = []
    if store_fault is not None:
        found.append(Alarm(f"The job database cannot be looked at: {store_fault}"))
    if queue is not None:
        found += _router(queue)
        found += _dead(queue)
    if sight.fault is not None:
        why = "Salesforce does not answer" if sight.away else "Salesforce or its records are at fault"
        found.append(Alarm(f"{why}: {sight.fault}", "`lead-router doctor` tells more; leads wait, none is lost."))
    elif sight.value is not None:
        found += _waiting(sight.value, 0 if queue is None else queue.held)
    return tuple(found)


def _router(queue: QueueView) -> list[Alarm]:
    gone = no_router(queue)
    if gone is not None:
        return [Alarm(f"No router runs: {gone}", START_ROUTER[:1].upper() + START_ROUTER[1:] + ".")]
    return [alarm for one in queue.listeners if one.listens for alarm in _stream(one)]


def _stream(one: ListenerView) -> list[Alarm]:
    if one.silent_since is not None:
        leads = "1 lead" if one.silent_leads == 1 else f"{one.silent_leads} leads"
        text = f"The stream is silent since {one.silent_since:%H:%M:%SZ}: {leads} came without an event"
        return [Alarm(text, "The sweep finds them meanwhile; `lead-router doctor` says whether events are selected.")]
    if not one.subscribed and one.age_s > CONNECTS_S:
        return [Alarm(f"The stream is not subscribed, for {age(one.age_s)}", "The router's log says why.")]
    return []


def _dead(queue: QueueView) -> list[Alarm]:
    if not queue.dead:
        return []
    jobs = "1 job is dead: its lead waits" if queue.dead == 1 else f"{queue.dead:,} jobs are dead: their leads wait"
    return [Alarm(f"{jobs} for a person", "See why, mend the cause, retry.", "/dead")]


def _waiting(recent: Recent, held: int) -> list[Alarm]:
    waits_s = waited_s(recent.oldest_at, recent.at)
    if waits_s is None or waits_s < WAITS_S:
        return []
    told = f"The oldest unassigned lead waits for {age(waits_s)}"
    return [Alarm(told, f"{held:,} held: see who is off duty." if held else "", "/groups" if held else "")]


def waited_s(since: datetime | None, at: datetime) -> float | None:
    """Seconds from then to that moment, never less than none."""
    return None if since is None else max((at - since) / timedelta(seconds=1), 0.0)
