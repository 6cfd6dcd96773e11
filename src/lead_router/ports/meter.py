"""The meter: what loops count, time and gauge. Only an operator's monitoring reads it; no decision rests on it.

Labels are bounded: group keys, outcomes, stages, names of loops. A lead's or user's id or name is never one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

STAGE_BOUNDS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600)


class Kind(StrEnum):
    """What a figure does: it grows, it stands somewhere, or it is a distribution."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A figure under the name that monitoring knows it by, its unit at the end; `told` says what it is.

    Its labels' values are given in the order of `labels`; `bounds` are the upper ones of a histogram's buckets. Those
    of `known` are there from the start, at 0: what first appears as 1 has not grown as far as monitoring can tell.
    """

    name: str
    kind: Kind
    told: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    known: tuple[tuple[str, ...], ...] = ()


class Meter(Protocol):
    """Takes figures from any thread, at once and without I/O; raises nothing that a loop would have to outlive."""

    def count(self, figure: Figure, *labels: str, by: float = 1.0) -> None:
        """A counter grows."""
        ...

    def observe(self, figure: Figure, value: float, *labels: str) -> None:
        """A histogram has one more."""
        ...

    def set(self, figure: Figure, value: float, *labels: str) -> None:
        """A gauge stands there now."""
        ...


class NoMeter:
    """Nobody reads it."""

    def count(self, figure: Figure, *labels: str, by: float = 1.0) -> None:
        """Nothing."""

    def observe(self, figure: Figure, value: float, *labels: str) -> None:
        """Nothing."""

    def set(self, figure: Figure, value: float, *labels: str) -> None:
        """Nothing."""


NO_METER: Final[Meter] = NoMeter()

LEADS: Final = Figure(
    "lead_router_leads_total",
    Kind.COUNTER,
    "What became of leads in this process, each time something did. group is empty where none was asked.",
    ("outcome", "group"),
    known=(("dead", ""),),
)

STAGE: Final = Figure(
    "lead_router_stage_seconds",
    Kind.HISTOGRAM,
    "How long a lead that was given an owner took: event_recorded, recorded_claimed, claimed_committed, and all of it, "
    "event_owner. held: whether it was held before, as over night, or while no rule matched.",
    ("stage", "held"),
    STAGE_BOUNDS_S,
)

EVENTS: Final = Figure(
    "lead_router_events_total", Kind.COUNTER, "Changes of records that the stream told of, our own too."
)

STREAM_LAG: Final = Figure(
    "lead_router_stream_lag_seconds",
    Kind.GAUGE,
    "From the commit in Salesforce to the record here, of the newest event, by the two clocks.",
)

SWEEP_REASONS: Final = ("interval", "start", "configuration", "returned", "again", "clock", "gap")

SWEPT: Final = Figure("lead_router_sweeps_total", Kind.COUNTER, "Sweeps that ended, by why they were due.", ("reason",))

SWEEP_FINDS: Final = Figure(
    "lead_router_sweep_finds_total",
    Kind.COUNTER,
    "Jobs for leads that no event brought within a minute; those that somebody mended do not count. Reason interval: "
    "found by a sweep that nothing had asked for.",
    ("reason",),
    known=tuple((reason,) for reason in SWEEP_REASONS),
)

LOOP_FAULTS: Final = Figure(
    "lead_router_loop_faults_total",
    Kind.COUNTER,
    "Steps of a loop that failed, by an outage (it is waited for) or by a fault of the program.",
    ("loop", "kind"),
)

LOGGED: Final = Figure(
    "lead_router_log_events_total",
    Kind.COUNTER,
    "Warnings and errors of the log, by event: each has its row in the runbook.",
    ("event", "level"),
    known=(
        ("clock_set_back", "warning"),
        ("configuration_refused", "error"),
        ("first_touch_blind", "error"),
        ("first_touch_failed", "error"),
        ("first_touch_failed", "warning"),
        ("login_refused", "error"),
        ("notice_failed", "error"),
        ("provider_faulted", "warning"),
        ("rotation_drifted", "warning"),
    ),
)

NOTICES: Final = Figure(
    "lead_router_notices_total",
    Kind.COUNTER,
    "What came of notices, each time something did: sent, unsent (it is tried again), givenup, unknown, dropped.",
    ("channel", "ending"),
)

ENRICHMENTS: Final = Figure(
    "lead_router_enrichments_total",
    Kind.COUNTER,
    "Answers of the provider: answered, nothingknown, pending, unfit, faulted; known: it was not asked again.",
    ("outcome",),
    known=(("answered",), ("nothingknown",), ("pending",), ("unfit",), ("faulted",), ("known",)),
)

ENRICHMENT_S: Final = Figure(
    "lead_router_enrichment_seconds",
    Kind.HISTOGRAM,
    "How long the provider took for an answer, or was waited for.",
    bounds=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)

DRIFTED: Final = Figure(
    "lead_router_drifted_groups",
    Kind.GAUGE,
    "Groups whose rotation was not as the ledger has it when this process last looked; which, the log tells.",
)

FIGURES: Final = (
    *(LEADS, STAGE, EVENTS, STREAM_LAG, SWEPT, SWEEP_FINDS, LOOP_FAULTS, LOGGED),
    *(NOTICES, ENRICHMENTS, ENRICHMENT_S, DRIFTED),
)
"""All that loops tell; who adds one names it here."""
