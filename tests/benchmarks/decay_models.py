"""Two architectures as models: a chain within the request, and a poller. What they take is in the trace's constants.

Both are kind: no lead fails by itself, turns are always right, and neither is ever short of processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.decay_trace import (
    ANSWER_LOST,
    CALL_S,
    CALLER_S,
    ENRICH_LIMIT_S,
    Trace,
    attempts,
    records,
)

POLL_CALLS = 2  # per lead: read whose turn it is, give the lead away


@dataclass(frozen=True, slots=True)
class Touched:
    """What became of the requests: seconds until the first owner by request, and those with two different owners."""

    waits: dict[int, float]
    doubles: int


def chain(day: Trace) -> Touched:
    """Enrich, write the record, give it away, all before the answer. The caller tries again, the chain begins anew.

    A caller that went away does not stop the chain: what comes after is committed all the same.
    """
    waits: dict[int, float] = {}
    doubles = 0
    for request, arrival in enumerate(day.arrivals):
        owners = 0
        for attempt, at in enumerate(attempts(arrival)):
            done = _chained(day, request, attempt, at)
            if done is None:
                continue
            owners += 1
            waits.setdefault(request, done - arrival)
            if done - at <= CALLER_S and day.chance("answer", request, attempt) >= ANSWER_LOST:
                break
        doubles += owners > 1
    return Touched(waits, doubles)


def _chained(day: Trace, request: int, attempt: int, at: float) -> float | None:
    """When the chain that began then had given the lead away; None where a part was down or too slow."""
    took = day.enrich_s(request, attempt)
    if day.down("own", at) or day.down("enrichment", at) or took > ENRICH_LIMIT_S:
        return None
    enriched = at + took
    if day.down("crm", enriched) or day.down("own", enriched):
        return None
    return enriched + 2 * CALL_S


def poller(day: Trace, every_s: float) -> Touched:
    """Every so often all leads without an owner are given away, one after the other; each record to the next rep."""
    waits: dict[int, float] = {}
    owners: dict[int, int] = {}
    coming = records(day)
    at = 0.0
    while coming:
        at += every_s
        if day.down("own", at) or day.down("crm", at):
            continue
        seen = [record for record in coming if record[0] <= at]
        now = at
        for record in seen:
            if day.down("own", now) or day.down("crm", now):
                break
            now += POLL_CALLS * CALL_S
            request = record[1]
            waits.setdefault(request, now - day.arrivals[request])
            owners[request] = owners.get(request, 0) + 1
            coming.remove(record)
        at += every_s * ((now - at) // every_s)  # one run at a time
    return Touched(waits, sum(count > 1 for count in owners.values()))
