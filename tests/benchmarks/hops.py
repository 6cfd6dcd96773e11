"""`python -m benchmarks.hops` (with tests on the path): hours in which a provider is well, and in which it is not.

The production loops, client and SQLite store, an org without sockets, a provider on loopback; time is simulated.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import percentile
from benchmarks.report import HERE, machine, rewritten, table
from lead_router.log import quiet
from support.hop_rig import HopRig
from support.provider import provider

HOUR_S = 3_600.0
AROUND_S = 600.0  # of a well provider before the hour and after it
SETTLED_S = 3_600.0  # after the last lead, for what is asked again
LEADS = 300  # in the hour
STEP_S = 0.05
REST_S = 5.0  # between looks while no lead waits
MEDIAN_S, SIGMA = 0.3, 0.7  # of a call while the provider is well: 95 of 100 take less than a second
LATE_S = 4.0  # of a call that is answered after the lead's deadline, and before its own
RATIO_MAX = 2.0
ANSWER = {"company": {"industry": "Steel", "size": 900}, "rating": "Hot"}


@dataclass(frozen=True, slots=True)
class Way:
    """How the provider is in the hour: what it answers, and after how long where that is not as ever."""

    told: str
    mode: str
    took_s: float | None = None
    wants: bool = True


WELL = Way("well", "ok")
WAYS = (
    WELL,
    Way("none is asked", "ok", wants=False),
    Way("status 500", "500"),
    Way("hangs", "hang"),
    Way("answers with a page", "html"),
    Way(f"takes {LATE_S:g} s", "ok", LATE_S),
)


@dataclass(frozen=True, slots=True)
class Hour:
    """What became of the hour's leads: waits in seconds, ascending; counts of leads and calls."""

    way: Way
    waits_s: tuple[float, ...]
    lost: int
    before: int
    afterwards: int
    calls: int

    @property
    def p95_s(self) -> float:
        """What 95 of 100 leads waited at most."""
        return percentile(self.waits_s, 95)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a lead was lost, not enriched in the end, or waited longer than RATIO_MAX allows."""
    parser = argparse.ArgumentParser("python -m benchmarks.hops", description="A provider's hour, well and not.")
    parser.add_argument("--leads", type=int, default=LEADS, help="that come in the hour")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--record", action="store_true", help="write its section of REPORT.md")
    options = parser.parse_args(words)
    started = machine()
    hours = []
    with quiet():
        for way in WAYS:
            hours.append(played(way, leads=options.leads, seed=options.seed))
            sys.stderr.write(f"{way.told}: p95 {hours[-1].p95_s:.2f} s\n")
    told = _table(hours)
    sys.stdout.write(f"{told}\n{started}\n")
    if options.record:
        page = HERE / "REPORT.md"
        page.write_text(rewritten(page.read_text(encoding="utf-8"), _section(told, started)), encoding="utf-8")
    return int(any(_broken(hour, hours[0]) for hour in hours))


def played(
    way: Way,
    *,
    leads: int,
    seed: int,
    hour_s: float = HOUR_S,
    around_s: float = AROUND_S,
    settled_s: float = SETTLED_S,
    step_s: float = STEP_S,
) -> Hour:
    """One hour of it, between two times in which the provider is well; looked at every `step_s` while a lead waits."""
    dice = random.Random(seed)
    with provider() as outside, tempfile.TemporaryDirectory(prefix="lead-router-hops-") as folder:
        outside.answer = ANSWER
        hops = HopRig(Path(folder), outside, latency_s=lambda: dice.lognormvariate(0.0, SIGMA) * MEDIAN_S)
        well_s = hops.latency_s
        try:
            many = round(leads * around_s / hour_s)
            _come(hops, dice, many, around_s, step_s)
            outside.mode, hops.wants = way.mode, way.wants
            hops.latency_s = well_s if way.took_s is None else lambda: float(way.took_s or 0)
            calls = hops.calls()
            came = _come(hops, dice, leads, hour_s, step_s)
            calls = hops.calls() - calls
            outside.mode, hops.latency_s, hops.wants = "ok", well_s, True
            _come(hops, dice, many, around_s, step_s)
            hops.play(settled_s, step_s=REST_S)
            return _judged(way, hops, came, calls)
        finally:
            hops.close()


def _come(hops: HopRig, dice: random.Random, leads: int, within_s: float, step_s: float) -> dict[str, float]:
    """Leads that come at random times; what each waited for its owner, in seconds of the simulated clock."""
    start = hops.clock.monotonic()
    moments = sorted(start + dice.uniform(0, within_s) for _ in range(leads))
    came: dict[str, float] = {}
    open_: set[str] = set()
    waits: dict[str, float] = {}
    while moments or open_ or hops.clock.monotonic() < start + within_s:
        now = hops.clock.monotonic()
        while moments and moments[0] <= now:
            moments.pop(0)
            (lead,) = hops.leads(1)
            came[lead] = now
            open_.add(lead)
        hops.turn()
        for lead in [one for one in open_ if hops.owned(one)]:
            waits[lead] = now - came[lead]
            open_.discard(lead)
        rest = step_s if open_ else min(REST_S, max(step_s, (moments[0] if moments else now + REST_S) - now))
        hops.clock.advance(rest)
    return waits


def _judged(way: Way, hops: HopRig, waits: dict[str, float], calls: int) -> Hour:
    told = {row["Lead__c"]: str(row["Explanation__c"]) for row in hops.rig.ledger()}
    rows = [hops.lead(lead) for lead in waits]
    return Hour(
        way,
        tuple(sorted(waits.values())),
        lost=sum(1 for lead in waits if lead not in told) + len(told) - len(hops.rig.rest_org.rows("Lead")),
        before=sum(1 for lead in waits if told.get(lead, "").startswith("Enriched")),
        afterwards=sum(1 for row in rows if row["Industry"] == "Steel" and row["NumberOfEmployees"] == 900),
        calls=calls,
    )


def _broken(hour: Hour, well: Hour) -> bool:
    late = hour.p95_s > RATIO_MAX * well.p95_s
    return bool(hour.lost) or late or hour.afterwards < len(hour.waits_s) * hour.way.wants


def _table(hours: Sequence[Hour]) -> str:
    well = hours[0].p95_s
    heads = (
        "the provider",
        "leads",
        "p50 s",
        "p95 s",
        "max s",
        "p95 ratio",
        "lost",
        "enriched first",
        "in the end",
        "calls",
    )
    rows = [heads]
    rows += [
        (
            hour.way.told,
            f"{len(hour.waits_s):,}",
            f"{percentile(hour.waits_s, 50):.2f}",
            f"{hour.p95_s:.2f}",
            f"{hour.waits_s[-1]:.2f}",
            f"{hour.p95_s / well:.2f}",
            str(hour.lost),
            f"{hour.before:,}",
            f"{hour.afterwards:,}",
            f"{hour.calls:,}",
        )
        for hour in hours
    ]
    return table(rows)


def _section(told: str, started: str) -> str:
    return f"""# An hour without the provider of enrichment

Written by `PYTHONPATH=tests python -m benchmarks.hops --record`.
Machine: {started}; no figure depends on it, as time is simulated.

{told}

*What happens.* Leads come at random times, one in {HOUR_S / LEADS:.0f} s; each is asked about at a provider on
loopback by the production loops. While it is well a call takes {MEDIAN_S} s in the median, and 95 of 100 less than a
second. For one hour it is as the first column says; before and after it is well. A lead waits two seconds for its
answer at most.

*Waits* are from a lead's recording to its owner, by a clock that the org's answers take no time of: so the ratio is of
what enrichment alone adds, and beside a real org's calls it is nearer to 1. It is 0 where hardly a lead waited, as the
provider was known to be at fault, or late; the first three or so had waited for two seconds.

*Enriched first* are leads whose rules saw the answer, *in the end* those that bear it an hour later, each with one row
of the ledger. *Calls* are those of that hour.
"""


if __name__ == "__main__":
    sys.exit(main())
