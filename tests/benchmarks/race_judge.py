"""What a race showed: who got how many leads, in which order, and how long each waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchmarks.figures import percentile


@dataclass(frozen=True, slots=True)
class Given:
    """One owner of one lead: `turn` as the way itself counted it, `at_s` from the start to the commit."""

    lead: str
    rep: str
    turn: int | None
    at_s: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One race. `given` is in order of commit; times are milliseconds from the start of all.

    `twice` are leads with two owners, `shared` turns that went to several leads, `unused` turns in between that went to
    none. `out_of_turn` are leads that came to another rep than the one who had waited longest, `run` is the longest row
    of leads for one rep, `apart` the most that two reps ever differed by. `tries` were made again.
    """

    reps: int
    leads: int
    given: int
    least: int
    most: int
    twice: int
    shared: int
    unused: int
    out_of_turn: int
    run: int
    apart: int
    tries: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    rate: float

    @property
    def even(self) -> bool:
        """Whether each lead has one owner, each turn one lead, and reps differ by what is left over at most."""
        once = self.given == self.leads and not (self.twice or self.shared or self.unused)
        return once and self.most - self.least <= (self.leads % self.reps > 0)


def judged(given: Sequence[Given], reps: Collection[str], leads: int, tries: int = 0) -> Judged:
    """Judge a race by its rows in order of commit; `leads` is how many there were to give."""
    counts = Counter(one.rep for one in given)
    shares = [counts[rep] for rep in reps]
    owners = Counter(one.lead for one in given)
    turns = Counter(one.turn for one in given if one.turn is not None)
    first_waits = _first_waits(given)
    out, run, apart = _order(given, reps)
    return Judged(
        reps=len(reps),
        leads=leads,
        given=len(owners),
        least=min(shares),
        most=max(shares),
        twice=sum(count > 1 for count in owners.values()),
        shared=sum(count > 1 for count in turns.values()),
        unused=max(turns) - min(turns) + 1 - len(turns) if turns else 0,
        out_of_turn=out,
        run=run,
        apart=apart,
        tries=tries,
        p50_ms=percentile(first_waits, 50) * 1000,
        p95_ms=percentile(first_waits, 95) * 1000,
        p99_ms=percentile(first_waits, 99) * 1000,
        rate=len(owners) / first_waits[-1],
    )


def _first_waits(given: Sequence[Given]) -> list[float]:
    """Ascending: of each lead, until its first owner."""
    first: dict[str, float] = {}
    for one in given:
        first[one.lead] = min(one.at_s, first.get(one.lead, one.at_s))
    return sorted(first.values())


def _order(given: Sequence[Given], reps: Collection[str]) -> tuple[int, int, int]:
    """Leads out of turn, the longest row for one rep, and how far two reps ever were apart."""
    last = dict.fromkeys(reps, -1)
    counts = dict.fromkeys(reps, 0)
    out = run = longest = apart = 0
    before = ""
    for place, one in enumerate(given):
        out += last[one.rep] > min(last.values())
        last[one.rep] = place
        counts[one.rep] += 1
        run = run + 1 if one.rep == before else 1
        before, longest = one.rep, max(longest, run)
        apart = max(apart, max(counts.values()) - min(counts.values()))
    return out, longest, apart
