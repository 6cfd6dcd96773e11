"""What is looked at when monitoring asks: how this process stands, the org's allowance, fairness, and the queue."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final, TypeAlias

from lead_router import __version__
from lead_router.core.fairness import off_fair, on_duty_now
from lead_router.core.model import Configuration, Group, Mode
from lead_router.loops.breaker import Breaker
from lead_router.loops.vitals import Vitals
from lead_router.ports import Usage
from lead_router.ports.depths import Depths, Heard
from lead_router.ports.meter import Figure, Kind

Told: TypeAlias = tuple[Figure, float, tuple[str, ...]]
"""A figure, its value, and its labels' values."""

_SHARED: Final = " Each process on one database says the same: take max() over them."


def _gauge(name: str, told: str, *labels: str) -> Figure:
    return Figure(name, Kind.GAUGE, told, labels)


BUILD = _gauge("lead_router_build_info", "1, with the program's version and Python's.", "version", "python")
LIVE = _gauge("lead_router_live", "1 where /healthz says yes.")
READY = _gauge("lead_router_ready", "1 where /readyz says yes.")
SUBSCRIBED = _gauge(
    "lead_router_stream_subscribed", "1 where this process hears the stream, and the org has acknowledged it."
)
BREAKER = _gauge("lead_router_breaker_open", "1 while a breaker keeps this process from asking.", "breaker")
CALLS = Figure("lead_router_api_calls_total", Kind.COUNTER, "Calls of Salesforce's API that this process made.")
USED = _gauge("lead_router_api_used", "Calls that the whole org has used in 24 hours, as Salesforce last told.")
ALLOWED = _gauge("lead_router_api_allowed", "Calls that the org is allowed in 24 hours, as Salesforce last told.")
LEFT = _gauge("lead_router_api_left", "Calls that are left to the org, as Salesforce last told.")
GAP = _gauge(
    "lead_router_fairness_gap_leads",
    "Of a live group's members on duty that take every lead, by how many leads the one furthest from its fair share is "
    "off, as the rotation was last read. Below 1 by the rules of the rotation.",
    "group",
)
ON_DUTY = _gauge("lead_router_members_on_duty", "Members of a live group who may take leads now.", "group")
DATABASE_UP = _gauge("lead_router_database_up", "1 where the job database answered; with 0 what it holds is not told.")
JOBS = _gauge(
    "lead_router_queue_jobs",
    "Jobs by status; due and held are parts of queued: ready now, and nobody may have them." + _SHARED,
    "status",
)
OLDEST = _gauge(
    "lead_router_oldest_open_seconds",
    "Age of the oldest job that is open; held=yes: of those whose lead nobody may have now; 0 where there is none."
    + _SHARED,
    "held",
)
QUARANTINED = _gauge("lead_router_quarantined_events", "Events that could not be read, and are kept." + _SHARED)
SWEEP_AGE = _gauge("lead_router_last_sweep_age_seconds", "Since the last sweep began." + _SHARED)
LISTENS = _gauge(
    "lead_router_listener_up", "1 where a router listens to the channel, whichever it is." + _SHARED, "channel"
)
HEARS = _gauge(
    "lead_router_listener_subscribed",
    "1 where the org has acknowledged that router's subscription." + _SHARED,
    "channel",
)
SILENT = _gauge(
    "lead_router_stream_silent", "1 while leads come that the subscribed stream does not tell of." + _SHARED, "channel"
)
QUIET = _gauge(
    "lead_router_stream_quiet_seconds", "Since the last event or the acknowledgement after it." + _SHARED, "channel"
)
POSITION = _gauge(
    "lead_router_stream_position_age_seconds", "Since the stored position moved or was confirmed." + _SHARED, "channel"
)

SCRAPED: Final = (
    *(BUILD, LIVE, READY, SUBSCRIBED, BREAKER, CALLS, USED, ALLOWED, LEFT, GAP, ON_DUTY),
    *(DATABASE_UP, JOBS, OLDEST, QUARANTINED, SWEEP_AGE, LISTENS, HEARS, SILENT, QUIET, POSITION),
)
"""All that is looked at; who adds one names it here."""


def of_process(vitals: Vitals) -> Iterator[Told]:
    """How the process is, from its start on."""
    health = vitals.health()
    yield BUILD, 1, (__version__, platform.python_version())
    yield LIVE, health.live, ()
    yield READY, health.ready, ()
    yield SUBSCRIBED, health.stream in {"subscribed", "silent"}, ()


def of_breakers(breakers: Mapping[str, Breaker]) -> Iterator[Told]:
    """By the names under which they are given."""
    for name, breaker in tuple(breakers.items()):
        yield BREAKER, breaker.open_s() > 0, (name,)


def of_usage(usage: Usage) -> Iterator[Told]:
    """The org's allowance; nothing of it before the first answer that told it."""
    yield CALLS, usage.calls, ()
    if usage.used is not None and usage.allowed is not None:
        yield USED, usage.used, ()
        yield ALLOWED, usage.allowed, ()
        yield LEFT, usage.allowed - usage.used, ()


def of_groups(groups: Mapping[str, Group], configuration: Configuration, at: datetime) -> Iterator[Told]:
    """Live groups as they were last read, and who of them is on duty now; caps on open leads are not counted."""
    for group in groups.values():
        if group.mode is Mode.LIVE:
            yield ON_DUTY, len(on_duty_now(group, configuration, at)), (group.key,)
            yield GAP, max(map(abs, off_fair(group, configuration, at).values()), default=0.0), (group.key,)


def of_queue(look: Callable[[], Depths | None], listens_to: str) -> Iterator[Told]:
    """The queue as the database holds it; where it does not answer, that alone.

    Of who listens, only about the channel that this process listens to or would: one that was given up is in the
    database still, and nobody is to listen to it.
    """
    depths = look()
    yield DATABASE_UP, depths is not None, ()
    if depths is None:
        return
    for status in ("queued", "due", "held", "working", "dead"):
        yield JOBS, getattr(depths, status), (status,)
    yield OLDEST, depths.oldest_s or 0.0, ("no",)
    yield OLDEST, depths.oldest_held_s or 0.0, ("yes",)
    yield QUARANTINED, depths.quarantined, ()
    if depths.last_sweep_s is not None:
        yield SWEEP_AGE, depths.last_sweep_s, ()
    for one in depths.heard:
        if one.channel == listens_to:
            yield from _of_channel(one)
    for channel, age_s in depths.positions:
        yield POSITION, age_s, (channel,)


def _of_channel(one: Heard) -> Iterator[Told]:
    yield LISTENS, one.listens, (one.channel,)
    yield HEARS, one.subscribed, (one.channel,)
    yield SILENT, one.silent, (one.channel,)
    if one.quiet_s is not None:
        yield QUIET, one.quiet_s, (one.channel,)
