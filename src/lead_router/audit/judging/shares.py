"""Shares: what each rep of a pool got, beside an even share of the leads that came while the rep was there.

Chi-square is no measure of chance where few are expected: reps with an even share below EVEN_MIN, Cochran's bound of
1954, are left out of it. Pools have pools.LEADS_MIN leads at least.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lead_router.audit.judging.figures import SURE, chi_square_tail, run_tail
from lead_router.audit.judging.pools import Pool

AWAY_ROUNDS = 5  # rounds of the pool without a lead, and
AWAY_S = 3 * 86_400.0  # so many seconds of them, mean that the rep was not there
OFF_PART_MIN = 0.2  # of the even share
OFF_LEADS_MIN = 10
RUN_MIN = 4
EVEN_MIN = 5.0  # leads

RULE = (
    "The even share of a rep is the sum of 1/k over the leads of the pool that came while the rep was there, k being "
    f"how many reps were there then; who got no lead for {AWAY_ROUNDS} rounds and {AWAY_S / 86_400:.0f} days was not. "
    "Chance is told by chi-square, X² = Σ (got - even)² / even with k - 1 degrees of freedom, over reps with an even "
    f"share of {EVEN_MIN:.0f} or more; a skew is told where "
    f"chance alone brings it about less than once in {1 / SURE:,.0f} times and a rep is off by {OFF_PART_MIN:.0%} and "
    f"{OFF_LEADS_MIN} leads. A run of L leads in a row among k reps has the chance 1 - exp(-n (1 - 1/k) k^(1-L)) "
    "under even draws; a rotation allows 1."
)


@dataclass(frozen=True, slots=True)
class Share:
    """How many leads a rep got, and how many an even share would be."""

    rep: str
    got: int
    even: float


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of a pool, the largest surplus first; `chance` of such a skew, and the longest run with its chance."""

    writer: str
    sources: tuple[str, ...]
    leads: int
    reps: tuple[Share, ...]
    chance: float
    run: int
    run_rep: str
    run_at: float
    run_chance: float

    @property
    def skewed(self) -> bool:
        """Whether the skew is more than chance, and large enough to matter."""
        off = any(
            abs(one.got - one.even) >= max(OFF_LEADS_MIN, OFF_PART_MIN * one.even)
            for one in self.reps
            if one.even >= EVEN_MIN
        )
        return self.chance < SURE and off

    @property
    def runs(self) -> bool:
        """Whether a run is longer than even draws would bring about."""
        return self.run >= RUN_MIN and self.run_chance < SURE


def shares(pool: Pool) -> Shares:
    """What each rep of the pool got."""
    owners = [one.owner for one in pool.given]
    even, company = _even(_there([one.at for one in pool.given], owners), len(owners))
    got = Counter(owners)
    told = {rep: share for rep, share in even.items() if share >= EVEN_MIN}
    chi = sum((got[rep] - share) ** 2 / share for rep, share in told.items())
    run, place = _longest(owners, company)
    rows = sorted((Share(rep, got[rep], even[rep]) for rep in even), key=lambda one: (one.even - one.got, one.rep))
    usual = round(len(owners) / max(even.values(), default=1.0))
    return Shares(
        writer=pool.writer,
        sources=pool.sources,
        leads=len(owners),
        reps=tuple(rows),
        chance=chi_square_tail(chi, len(told) - 1),
        run=run,
        run_rep=owners[place],
        run_at=pool.given[place].at,
        run_chance=run_tail(run, len(owners), max(1, usual)),
    )


def _even(there: Mapping[str, Sequence[tuple[int, int]]], leads: int) -> tuple[dict[str, float], list[int]]:
    """By rep the even share, and by lead how many reps were there."""
    edges: dict[int, list[tuple[str, bool]]] = defaultdict(list)
    for rep, spans in there.items():
        for start, end in spans:
            edges[start].append((rep, True))
            edges[end + 1].append((rep, False))
    even = dict.fromkeys(there, 0.0)
    company: list[int] = []
    present: set[str] = set()
    for mark, following in pairwise([*sorted(edges), leads]):
        for rep, comes in edges[mark]:
            (present.add if comes else present.discard)(rep)
        for rep in present:
            even[rep] += (following - mark) / len(present)
        company += [len(present)] * (following - mark)
    return even, company


def _there(times: Sequence[float], owners: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """By rep the spans, in places of the pool, in which the rep was there; its ends belong to whoever is near."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, owner in enumerate(owners):
        places[owner].append(at)
    gap = AWAY_ROUNDS * len(places)
    found: dict[str, list[tuple[int, int]]] = {}
    for rep, had in places.items():
        spans = [[had[0], had[0]]]
        for before, after in pairwise(had):
            if after - before > gap and times[after] - times[before] > AWAY_S:
                spans.append([after, after])
            spans[-1][1] = after
        if had[0] <= gap:
            spans[0][0] = 0
        if len(owners) - had[-1] <= gap:
            spans[-1][1] = len(owners) - 1
        found[rep] = [(start, end) for start, end in spans]
    return found


def _longest(owners: Sequence[str], company: Sequence[int]) -> tuple[int, int]:
    """The longest run of a rep who was not alone, and the place where it starts."""
    best, best_at, start = 1, 0, 0
    for at in range(1, len(owners) + 1):
        if at == len(owners) or owners[at] != owners[start] or company[at] < 2:  # noqa: PLR2004 - alone
            if at - start > best:
                best, best_at = at - start, start
            start = at
    return best, best_at
