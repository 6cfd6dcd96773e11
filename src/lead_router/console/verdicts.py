"""Verdicts: what needs a person now, the worst first, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lead_router.app.looking import START_ROUTER, no_router
from lead_router.app.lying import Glance
from lead_router.app.recent import Recent, Unassigned
from lead_router.console.looks import Sight
from lead_router.core.ages import age
from lead_router.ports import ListenerView, QueueView

WAITS_S = 300.0
"""An unassigned lead older than this is told of: within five minutes, by the published odds, nothing is lost."""
CONNECTS_S = 60.0
"""A stream that is not subscribed for longer than this is told of."""
JOBLESS_S = 60.0
"""An unassigned lead of no open job that is older than this is told of: its event should have come."""
NEXT_SWEEP = "no event told the router of it; while one runs, its next sweep does."
NAMED_MAX = 5
"""Leads that one line names."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that needs a person: what is so, what to do, and the page (a path of the console) that shows it.

    Not `grave`: leads still get their owners, later than they could.
    """

    text: str
    remedy: str = ""
    page: str = ""
    grave: bool = True


def alarms(glance: Glance | None, store_fault: str | None, sight: Sight[Recent]) -> tuple[Alarm, ...]:
    """All that is to be told, what is grave first; empty where leads flow."""
    found: list[Alarm] = []
    if store_fault is not None:
        found.append(Alarm(f"The job database cannot be looked at: {store_fault}"))
    if glance is not None:
        found += _router(glance.queue)
        found += _dead(glance.queue)
    if sight.fault is not None:
        why = "Salesforce does not answer" if sight.away else "Salesforce or its records are at fault"
        found.append(Alarm(f"{why}: {sight.fault}", "`lead-router doctor` tells more; leads wait, none is lost."))
    elif sight.value is not None:
        found += _waiting(sight.value, glance)
    if sight.value is not None and glance is not None:
        found += _no_job(sight.value, glance)
        found += _off(sight.value, glance)
    return tuple(sorted(found, key=lambda one: not one.grave))


def longest_waiting(recent: Recent, glance: Glance | None) -> Unassigned | None:
    """The oldest unassigned lead that nobody let lie, of those that were read."""
    lying = () if glance is None else glance.let_lie
    return next((one for one in recent.waiting if one not in lying), None)


def named(leads: Sequence[Unassigned]) -> str:
    """Their ids, in a line."""
    more = len(leads) - NAMED_MAX
    return ", ".join(one.lead for one in leads[:NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")


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
    if not one.subscribed and (one.turned_age_s or 0.0) > CONNECTS_S:
        return [Alarm(f"The stream is not subscribed, for {age(one.turned_age_s)}", "The router's log says why.")]
    return []


def _dead(queue: QueueView) -> list[Alarm]:
    if not queue.dead:
        return []
    jobs = "1 job is dead: its lead waits" if queue.dead == 1 else f"{queue.dead:,} jobs are dead: their leads wait"
    return [Alarm(f"{jobs} for a person", "See why, mend the cause, retry.", "/dead")]


def _waiting(recent: Recent, glance: Glance | None) -> list[Alarm]:
    oldest = longest_waiting(recent, glance)
    waits_s = waited_s(None if oldest is None else oldest.since, recent.at)
    if oldest is None or waits_s is None or waits_s < WAITS_S:
        return []
    told = f"The oldest unassigned lead, {oldest.lead}, waits for {age(waits_s)}"
    if glance is not None and oldest in glance.no_job:
        return [Alarm(told, f"It has no open job: {NEXT_SWEEP}")]
    held = 0 if glance is None else glance.queue.held
    return [Alarm(told, f"{held:,} held: see who is off duty." if held else "", "/groups" if held else "")]


def _no_job(recent: Recent, glance: Glance) -> list[Alarm]:
    """A dead job is told of by itself, and so is the oldest lead, once it waits for long."""
    told_of = longest_waiting(recent, glance)
    found = [
        one
        for one in glance.no_job
        if (waits_s := waited_s(one.since, recent.at) or 0.0) > JOBLESS_S and (one != told_of or waits_s < WAITS_S)
    ]
    if not found:
        return []
    leads = "1 lead waits" if len(found) == 1 else f"{len(found):,} leads wait"
    told = f"{leads} for more than a minute without an open job: {named(found)}"
    return [Alarm(told, NEXT_SWEEP[:1].upper() + NEXT_SWEEP[1:], grave=False)]


def _off(recent: Recent, glance: Glance) -> list[Alarm]:
    return [
        Alarm(
            f"Group {name} is off: {'1 lead is' if held == 1 else f'{held:,} leads are'} held",
            "They wait until it is Live.",
            "/groups",
            grave=False,
        )
        for group_id, name in recent.off.items()
        if (held := glance.held.get(group_id, 0))
    ]


def waited_s(since: datetime | None, at: datetime) -> float | None:
    """Seconds from then to that moment, never less than none."""
    return None if since is None else max((at - since) / timedelta(seconds=1), 0.0)
