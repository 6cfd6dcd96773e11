"""What may happen to a router, and what may not. The weather of a play is drawn from its seed.

May happen, at any point of any exchange, and most often to the very lead in flight:

| where | what |
|---|---|
| a request | lost before it arrives; carried out and its answer lost; no connection; an answer that never comes |
| Salesforce | a lock time-out; 401 for a good token; a token ended; the daily or concurrent limit for several calls |
| | 500 or 503 as an HTML page; an HTML page with 200; an answer that comes after the lease is over |
| | its own upkeep of a lead in flight, which moves SystemModstamp and nothing else |
| the stream | events twice, late, lost, merged in one, as gap or overflow; replay ids expired or renumbered; silence |
| | a session dropped, refused or ended; a subscription refused; an answer cut in the middle, or repeated |
| a platform event | that a flow publishes after each save of a lead, where that is what routers listen to: late, |
| | twice, expired or renumbered, its session lost in any way above; gaps and overflows are of changes alone |
| the database | an error at any statement of a transaction; the answer lost after the commit |
| a process | killed at any point, begun anew at any time; amid its exchanges whole steps of its other loops |
| | and of other routers: on the same database, on another host with one of its own, of another user |
| the clock | a host's clock minutes off, and jumping; pauses of any length, also past a lease; the end of a day |
| another writer | routes new leads, or those in flight, in one go at any point, as the trigger inside does |
| | or is the trigger inside, as it is shipped: off, asking outside or routing, and turned in mid play |
| people | take, give back, edit, delete, undelete, convert, merge and transfer leads; set their status back |
| | fill in a form twice, also as two leads that are saved, and routed, side by side |
| | deactivate users, take members out, change weights, caps and accepted leads, send on leave |
| | let a rep go just as a commit gives the rep a lead: deactivated, on leave, taken out or no member any more |
| | make leads that a rep owns, where a status asks for another owner; set that status, or set it away, in mid step |
| | set a lead to another group's country and back at once, where groups re-route; give on what a clock runs for |
| | turn groups off or to observing; begin a new epoch of a group |
| companies | use any of: accepted leads, caps a day and of open leads, hours, fallback groups, queues and managers, |
| | re-routing, a second intake queue, intake statuses, turns for what is taken by hand, groups not yet live |

May not happen:

| where | what |
|---|---|
| Salesforce | half a composite request; an answer to another request; an answer of an unknown shape |
| | a save past the org's rules, but for those ways that pass them by: transfer of many, conversion, merge |
| the database | a transaction forgotten or kept by half; two kept that exclude each other |
| a process | goes on after it was killed; begins an exchange while another of this thread's is not at a point |
| people | write routing fields; give out turns by hand; change a rule, or the hours themselves, in mid play |
| another writer | is cut in two: what it does is one transaction |
| all | a fault without end: after the storm comes a calm in which all works and everybody is on duty |
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from org_simulator.events import ChangeLog
from org_simulator.wire import faults as wire
from org_simulator.wire.faults import Fault

COMMIT, SWEEP = "commit", "sweep"
LIKELIER = {COMMIT: 2, SWEEP: 3}
"""What strikes a read now and then strikes these that much more often: a sweep is made once, and is seldom."""

LIMIT_CALLS_MAX = 6
_RATES = (0.0, 0.05, 0.15, 0.3)

REQUESTS: tuple[tuple[str, str | int | None], ...] = (
    (wire.DROP_BEFORE, None),
    (wire.DROP_AFTER, None),
    (wire.HANG, None),
    (wire.UNREACHABLE, None),
    (wire.STATUS, 500),
    (wire.STATUS, 503),
    (wire.HTML_200, None),
    (wire.LOCK_TIMEOUT, None),
    (wire.UNAUTHORIZED, None),
    (wire.EXPIRE_SESSION, None),
    (wire.REQUEST_LIMIT, "daily"),
    (wire.REQUEST_LIMIT, "concurrent"),
)
STREAM = (
    "lose_event",
    "gap_event",
    "overflow",
    "cut",
    "http",
    "busy",
    "drop_session",
    "disconnect",
    "lose_answer",
    "duplicate",
    "rewind",
    "refuse_handshake",
    "refuse_subscribe",
)
LOG = ("expire", "renumber", "drop_sessions", "hold", "release", "gap")
DATABASE = ("statement", "lost")


@dataclass(frozen=True, slots=True)
class Weather:
    """How likely each kind of fault is at one point, and which of its sorts occur; drawn once for a play."""

    crash: float
    request: float
    database: float
    stream: float
    meddling: float
    skew: bool
    requests: tuple[tuple[str, str | int | None], ...]
    streams: tuple[str, ...]
    logs: tuple[str, ...]


def weather(dice: random.Random) -> Weather:
    """Plays differ in kind, not only in order: in some a sort of fault reigns, in some hardly anything happens."""
    return Weather(
        crash=dice.choice((0.0, 0.0, 0.006, 0.02)),
        request=dice.choice(_RATES),
        database=dice.choice((0.0, 0.02, 0.06)),
        stream=dice.choice((0.0, 0.1, 0.3)),
        meddling=dice.choice((0.03, 0.1, 0.25)),
        skew=dice.random() < 0.3,
        requests=_some(dice, REQUESTS),
        streams=_some(dice, STREAM),
        logs=_some(dice, LOG),
    )


def _some(dice: random.Random, sorts: Sequence[object]) -> tuple:
    chosen = [sort for sort in sorts if dice.random() < 0.6]
    return tuple(chosen or sorts)


def for_request(air: Weather, dice: random.Random, what: str, *, login: bool) -> Fault | None:
    """The fault that strikes this very request; commits and sweeps are struck more often than reads."""
    likely = air.request * LIKELIER.get(what.rpartition(" ")[2], 1)
    if dice.random() >= likely:
        return None
    name, value = dice.choice(air.requests)
    if login and name in {wire.LOCK_TIMEOUT, wire.UNAUTHORIZED, wire.EXPIRE_SESSION, wire.REQUEST_LIMIT}:
        return None
    if name == wire.LOCK_TIMEOUT and "GET" in what:
        return None
    if name == wire.REQUEST_LIMIT:
        return Fault(name, path="/services/data/", count=dice.randint(1, LIMIT_CALLS_MAX), value=value)
    return Fault(name, value=value)


def on_stream(
    air: Weather, dice: random.Random, log: ChangeLog, leads: Sequence[str], placed: Callable[[], bool]
) -> str | None:
    """Something happens to the stream; the answer names it. `placed` says whether all routers stored a position."""
    if dice.random() >= air.stream:
        return None
    sorts = [*air.streams, *air.logs]
    name = dice.choice(sorts)
    match name:
        case "gap":
            log.gap("Lead", list(leads)[-2:] or ["00Q*"], "UPDATE")
        case "expire" if not placed():
            return None  # who never heard of the stream looks for everybody when it begins
        case "expire":
            log.expire()
            log.drop_sessions()  # nobody is away for 72 hours and comes back to the same session
        case _ if name in LOG:
            getattr(log, name)()
        case _:
            log.faults.arm(name, count=dice.randint(1, 2))
    return name
