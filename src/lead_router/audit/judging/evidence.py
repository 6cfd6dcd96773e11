"""Evidence: on which questions too little is known to say anything, with what there is and what it takes.

A double, two records of one buyer, a lead that nobody had and one whose owner is gone are seen, not inferred: one is
enough for it to be counted. What is inferred has a minimum, each with its reason where it is judged: WAITS_MIN leads
(of fewer, the slowest twentieth is no lead), roles.WRITES_MIN changes of owner, pools.LEADS_MIN leads,
polling.ROUNDS_MIN rounds on polling.DAYS_MIN days. A year is reckoned from RATE_DAYS_MIN days, four weeks, so that each
weekday counts four times, and from RATE_LEADS_MIN leads, of which chance alone makes a third more or less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lead_router.audit.judging import polling, pools, roles
from lead_router.audit.judging.answers import Thin
from lead_router.audit.judging.roles import Given, Roles
from lead_router.audit.past import Past
from lead_router.core.counted import counted

WAITS_MIN = 20
PART_MIN = 5  # leads of an hour, a weekday or a source; of fewer, one lead is a quarter of them
RATE_DAYS_MIN, RATE_LEADS_MIN = 28, 10
DAY_S = 86_400


def thin(past: Past, known: Roles, firsts: Sequence[Given], by_machine: Sequence[Given]) -> tuple[Thin, ...]:
    """The questions, in the order of the report."""
    return tuple(one for one in _asked(past, known, firsts, by_machine) if one.have < one.need)


def _asked(past: Past, known: Roles, firsts: Sequence[Given], by_machine: Sequence[Given]) -> Iterator[Thin]:
    given = Counter(one.by for one in by_machine)
    if past.history:
        yield Thin("how long leads wait", len(firsts), WAITS_MIN, "lead with a rep")
        if not known.machines:
            writes = Counter(step.by for story in past.stories for step in story.steps if step.by)
            most = max(writes.values(), default=0)
            yield Thin("who is a machine, and doubles", most, roles.WRITES_MIN, "change of owner by one writer")
        rounds, days = polling.evidence(by_machine)
        yield Thin("pollers", rounds, polling.ROUNDS_MIN, "round of one writer and source")
        if rounds >= polling.ROUNDS_MIN:
            yield Thin("pollers", days, polling.DAYS_MIN, "day of such rounds")
    most = max(given.values(), default=0)
    yield Thin("shares, runs and lost turns", most, pools.LEADS_MIN, "lead that one machine gave out")
    yield Thin("costs by the year", int((past.until - past.since) / DAY_S), RATE_DAYS_MIN, "day")


def said(one: Thin) -> str:
    """`pollers: too little to say (12 of 60 rounds needed)`."""
    return f"{one.question}: too little to say ({one.have:,} of {counted(one.need, *_plural(one.what))} needed)"


def _plural(what: str) -> tuple[str, str]:
    first, space, more = what.partition(" ")
    return what, f"{first}s{space}{more}"
