"""`python -m benchmarks.rules` (with tests on the path): 200 rules before one lead, and 10,000 leads through a plan."""

from __future__ import annotations

import random
import statistics
import string
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from benchmarks.figures import percentile
from benchmarks.report import machine
from lead_router.core.decide import decide
from lead_router.core.model import Ask, Mode
from lead_router.core.rules import first_match, rulebook
from lead_router.rulefiles.broader import reach, takers
from support.decide_scene import configuration, lead, pool, rep, rule, snapshot

RULES = 200
LEADS = 1_000
BATCH = 10_000
REPS = 40
AT = datetime(2026, 3, 4, 12, tzinfo=UTC)
TYPES = {
    "Country": "picklist",
    "State": "picklist",
    "LeadSource": "picklist",
    "AnnualRevenue": "currency",
    "NumberOfEmployees": "int",
    "Email": "email",
    "Industry": "picklist",
    "CreatedDate": "datetime",
    "OwnerId": "reference",
}
SHAPES = (
    "Country = 'C{n}' AND AnnualRevenue >= {n}000",
    "Country IN ('C{n}', 'D{n}', 'E{n}') AND LeadSource != 'Partner'",
    "Email LIKE '%@company{n}.example'",
    "(Industry = 'I{n}' OR Industry = 'J{n}') AND NumberOfEmployees > {n}",
    "State = 'S{n}' AND CreatedDate = LAST_N_DAYS:{n}",
)


def main() -> int:
    """Print the figures; none is asserted."""
    sys.stdout.write("\n".join((*evaluation(), *planning(), *shadows(), machine())) + "\n")
    return 0


def evaluation() -> list[str]:
    """Milliseconds for a lead that meets none of 200 rules, so that every one is asked, and for one that meets some."""
    rules = [rule(f"r{n}", n, SHAPES[n % len(SHAPES)].format(n=n)) for n in range(1, RULES + 1)]
    book = rulebook(configuration(*rules, field_types=TYPES))
    dice = random.Random(5)
    none = [_lead(dice, 0) for _ in range(LEADS)]
    some = [_lead(dice, dice.randrange(1, RULES)) for _ in range(LEADS)]
    told = []
    for name, leads in (("no rule met", none), ("a rule met", some)):
        took = sorted(_ms(lambda one=one: first_match(book, one, AT)) for one in leads)
        p50, p95 = statistics.median(took), percentile(took, 95)
        told.append(f"{RULES} rules x 1 lead, {name}: median {p50:.3f} ms, p95 {p95:.3f} ms")
    return told


def planning() -> list[str]:
    """Seconds to decide a batch in one group of 40 reps."""
    group = pool("emea", [rep(letter) for letter in string.ascii_letters[:REPS]], mode=Mode.LIVE)
    leads = [lead(n, f"b{n}@x.example") for n in range(BATCH)]
    asks = [Ask(n, f"job-{n}", one.id, AT) for n, one in enumerate(leads)]
    took = _ms(lambda: decide(configuration(), snapshot(leads, [group]), asks)) / 1000
    return [f"{BATCH:,} leads decided at once among {REPS} reps: {took:.1f} s"]


def shadows() -> list[str]:
    """Seconds to look for rules out of reach among 200."""

    def look() -> None:
        above = []
        for n in range(1, RULES + 1):
            one = reach(f"r{n}", SHAPES[n % len(SHAPES)].format(n=n), TYPES)
            takers(one, above)
            above.append(one)

    return [f"{RULES} rules looked through for rules out of reach: {_ms(look) / 1000:.2f} s"]


def _lead(dice: random.Random, number: int):
    fields = {
        "Country": f"C{number}",
        "LeadSource": "Web",
        "AnnualRevenue": dice.randrange(10**6),
        "NumberOfEmployees": dice.randrange(10**4),
        "Industry": f"I{number}",
        "State": f"S{number}",
    }
    return lead(1, f"buyer@company{number}.example", **fields)


def _ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
