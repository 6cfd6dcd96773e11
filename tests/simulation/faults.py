"""What may happen to a router, and what may not. The weather of a play is drawn from its seed.

May happen, between any two exchanges, most often to the very lead in flight
| where | what |
|---|---|
| a request | lost before it arrives; carried out and the answer lost; no connection; an answer that never comes |
| Salesforce | lock time-out, 401 for a good token, token ended, daily or concurrent limit for several calls, 500 or 503 as an HTML page, an HTML page with 200, an answer that comes after the lease |
| the stream | events twice, late, lost, merged into one, as gap or overflow; replay id expired or renumbered; session dropped, refused, cut in mid answer; silence |
| the database | an error at any statement of a transaction; the answer lost after the commit |
| a process | killed at any point, started again at any time; another of its loops, or another router on the same or on another host with a database of its own, does whole steps in between |
| the clock | stands apart from Salesforce's by minutes and jumps; pauses of any length |
| people | take, give back, edit, delete, undelete, convert, merge, transfer leads; deactivate users and members, change weights, turn a group off or to observing, send members on leave; reset a group's epoch |

May not happen
| where | what |
|---|---|
| Salesforce | half a composite request; an answer to another request; an unknown body in an answer; a record changed past its rules, but by the transfer of many, which passes validation by |
| the database | a committed transaction forgotten; half of one kept; two that exclude each other both kept |
| a process | goes on after it was killed; two of its loops inside one exchange of a third at the same instant |
| people | write the routing fields; give out a turn number that is behind (the org's own rules refuse it) |
| all | a fault that never ends: after the storm comes a calm in which everything works and everybody is on duty |
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from org_simulator.events import ChangeLog
from org_simulator.wire import faults as wire
from org_simulator.wire.faults import Fault

COMMIT = "commit"
LIMIT_CALLS_MAX = 6
_RATES = (0.0, 0.02, 0.08, 0.2)

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
        database=dice.choice((0.0, 0.0, 0.02, 0.06)),
        stream=dice.choice((0.0, 0.1, 0.4)),
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
    """The fault that strikes this very request; commits are struck three times as often as reads."""
    likely = air.request * (3 if COMMIT in what else 1)
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


def on_stream(air: Weather, dice: random.Random, log: ChangeLog, leads: Sequence[str]) -> str | None:
    """Something happens to the stream; the answer names it."""
    if dice.random() >= air.stream:
        return None
    sorts = [*air.streams, *air.logs]
    name = dice.choice(sorts)
    match name:
        case "gap":
            log.gap("Lead", list(leads)[-2:] or ["00Q*"], "UPDATE")
        case _ if name in LOG:
            getattr(log, name)()
        case _:
            log.faults.arm(name, count=dice.randint(1, 2))
    return name
