"""All questions asked of one past, and the findings among the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lead_router.audit.judging import (
    doubles,
    evidence,
    findings,
    keeping,
    polling,
    pools,
    resets,
    roles,
    shares,
    waits,
    writers,
)
from lead_router.audit.judging.answers import Assumed, Audit
from lead_router.audit.judging.opening import Opening
from lead_router.audit.judging.pools import Pool
from lead_router.audit.judging.roles import Given, Roles
from lead_router.audit.past import Past
from lead_router.core.counted import counted

GIVER = "whoever gave these leads out"


def judge(past: Past, assumed: Assumed) -> Audit:
    """The audit of a past."""
    known = roles.roles(past)
    given = [roles.handovers(story, known) for story in past.stories]
    opening = Opening(past.hours, past.since, past.until)
    firsts = [each[0] for each in given if each]
    without = [story for story, each in zip(past.stories, given, strict=True) if not each]
    by_machine = _by_machine(past, firsts, known)
    found_pools = pools.pools(by_machine)
    owners = ((story, each[0].owner if each else "") for story, each in zip(past.stories, given, strict=True))
    changes = past.history
    audit = Audit(
        since=past.since,
        until=past.until,
        zone=past.hours.zone,
        hours=past.hours.name,
        leads=len(past.stories),
        owned=len(firsts),
        changes=sum(len(story.steps) for story in past.stories),
        history=past.history,
        findings=(),
        waits=waits.waits(firsts if changes else [], without, opening, known, past.until),
        shares=tuple(shares.shares(pool) for pool in found_pools),
        cycles=tuple(pool.cycle for pool in found_pools),
        resets=tuple(reset for pool in found_pools for reset in resets.resets(pool)),
        restarts=tuple(one for pool in found_pools if (one := resets.restarts(pool)) is not None),
        doubles=tuple(doubles.doubles(given, known)),
        twins=tuple(doubles.twins(owners)),
        polls=tuple(polling.polls(by_machine)),
        writers=writers.written(past, given, known) if changes else (),
        rivals=tuple(writers.rivals(firsts, known)) if changes else (),
        left=tuple(keeping.left(past, known)),
        off=keeping.off_hours(firsts if changes else [], opening),
        told=(*past.told, *_unsure(past, found_pools)),
        thin=evidence.thin(past, known, firsts, by_machine),
        assumed=assumed,
        placed=past.placed,
    )
    named = replace(audit, names=_names(past))
    return replace(named, findings=findings.found(named, past))


def _by_machine(past: Past, firsts: Sequence[Given], known: Roles) -> list[Given]:
    """Without a history it is known who created a lead, not who gave it to the owner that it has now."""
    found = pools.first_by_machine(firsts, known)
    return found if past.history else [replace(one, by="") for one in found]


def _unsure(past: Past, found: Sequence[Pool]) -> Iterator[str]:
    for pool in found:
        if resets.is_unsure(pool):
            giver = past.name(pool.writer) if past.history else GIVER
            often = f"{counted(resets.skips(pool), 'time')} in {counted(len(pool.given), 'lead')}"
            yield (
                f"single resets of the rotation of {giver} cannot be told: it passed over a rep "
                f"{often}, and chance alone passes over two at once"
            )


def _names(past: Past) -> dict[str, str]:
    """Of all who are told of, by id."""
    named = {name for story in past.stories for step in story.steps for name in (step.old, step.new, step.by)}
    named |= {name for story in past.stories for name in (story.first, story.owner, story.creator)}
    giver = {} if past.history else {"": GIVER}
    return giver | {one: past.people[one].name for one in sorted(named & past.people.keys()) if past.people[one].name}
