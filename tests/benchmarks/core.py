"""`python -m benchmarks.core` (with tests on the path): what the decisions cost by themselves, without an org.

Rules before one lead, compiling them, turns and decisions by size of the roster, and reading a snapshot's answer.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from benchmarks.figures import percentile
from benchmarks.named import Named, put, told
from benchmarks.report import HERE, machine, rewritten, table
from lead_router.core.decide import decide
from lead_router.core.duty import on_duty
from lead_router.core.ids import to18
from lead_router.core.model import Ask, Mode, Rule
from lead_router.core.rotation import take_turn
from lead_router.core.rules import first_match, rulebook
from lead_router.rulefiles.broader import reach, takers
from lead_router.salesforce import records
from support.decide_scene import configuration, lead, pool, rep, rule, snapshot
from support.rest_org import RestOrg, best

RULES = (10, 200, 1_000)
ASKED = 200  # rules of the named figure
ROSTERS = (5, 50, 500)
LEADS = 1_000
FEW = 100
BATCH = 200
TURNS = 2_000
READS = 20
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


@dataclass(frozen=True, slots=True)
class Matched:
    """So many rules, each of another shape than the one before: milliseconds a lead, and to compile them all."""

    rules: int
    none: tuple[float, ...]
    some: tuple[float, ...]
    compiled_ms: float


@dataclass(frozen=True, slots=True)
class Rotated:
    """A group of so many members on duty: turns and decided leads a second, and what reading it costs.

    `read_ms` is from the answer's bytes to a snapshot's nouns, for a batch of 200 leads; `read_kb` are those bytes.
    """

    members: int
    turns: float
    decided: float
    read_ms: float
    read_kb: float


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables and the named figure."""
    parser = argparse.ArgumentParser("python -m benchmarks.core", description="What decisions cost by themselves.")
    parser.add_argument("--quick", action="store_true", help="fewer leads and turns, in a second or two")
    parser.add_argument("--record", action="store_true", help="write its section of REPORT.md and its named figure")
    options = parser.parse_args(words)
    if options.quick and options.record:
        parser.error("a quick run is nothing to record")
    started, leads = machine(), FEW if options.quick else LEADS
    matched = [matching(count, leads) for count in RULES]
    rotated = [rotating(count, FEW if options.quick else TURNS) for count in ROSTERS]
    figures = named(matched)
    lines = (matched_table(matched), "", rotated_table(rotated), "", shadows(), "", told(figures), started)
    sys.stdout.write("\n".join(lines) + "\n")
    if options.record:
        page = HERE / "REPORT.md"
        tables = {"matched": matched_table(matched), "rotated": rotated_table(rotated), "shadows": shadows()}
        section = SECTION.format(machine=started, leads=leads, **tables)
        page.write_text(rewritten(page.read_text("utf-8"), section), encoding="utf-8")
        put(figures)
    return 0


def matching(rules: int, leads: int) -> Matched:
    """For leads that meet none, so that every rule is asked, and for leads of which nearly all meet some rule.

    Raises ValueError if one meets a rule that was to meet none.
    """
    dice = random.Random(5)
    start = time.perf_counter()
    book = rulebook(configuration(*_rules(rules), field_types=TYPES))
    compiled_ms = (time.perf_counter() - start) * 1000
    none = [_lead(dice, 0) for _ in range(leads)]
    some = [_lead(dice, dice.randrange(1, rules)) for _ in range(leads)]
    if any(first_match(book, one, AT) for one in none):
        raise ValueError("a lead that was to meet no rule meets one")
    took = [tuple(sorted(_ms(lambda one=one: first_match(book, one, AT)) for one in each)) for each in (none, some)]
    return Matched(rules, took[0], took[1], compiled_ms)


def rotating(members: int, turns: int) -> Rotated:
    """A group whose members have weights from 1 to 5, all on duty and able."""
    group = pool(
        "emea",
        [rep("A", id=f"{n:04}", user_id=to18(f"005{n:012d}"), sort_order=n, weight=1 + n % 5) for n in range(members)],
        mode=Mode.LIVE,
    )
    duty = on_duty(group, None)

    def rotate() -> None:
        now = group
        for _ in range(turns):
            turn = take_turn(now, duty, duty)
            if turn is None:
                raise ValueError("nobody is on duty")
            now = turn.group

    leads = [lead(n, f"b{n}@x.example") for n in range(BATCH)]
    asks = [Ask(n, f"job-{n}", one.id, AT) for n, one in enumerate(leads)]
    plain, seen = configuration(), snapshot(leads, [group])
    answer = _answer(members)
    return Rotated(
        members,
        turns * 1000 / _ms(rotate),
        BATCH * 1000 / statistics.median(_ms(lambda: decide(plain, seen, asks)) for _ in range(3)),
        statistics.median(_ms(lambda: _read(answer)) for _ in range(READS)),
        len(answer) / 1024,
    )


def named(several: Sequence[Matched]) -> dict[str, Named]:
    """The one figure that was asked for."""
    (one,) = (one for one in several if one.rules == ASKED)
    baseline = f"a lead that meets none of {ASKED} rules, so that each is asked; median"
    return {"match_200_rules_ms": Named(statistics.median(one.none), "ms", "<=0.15", baseline)}


def matched_table(several: Sequence[Matched]) -> str:
    """A row for each number of rules."""
    heads = ("rules", "no rule met: median ms", "p95 ms", "a rule met: median ms", "p95 ms", "compiled in ms")
    return table([heads, *map(_matched, several)], names=0)


def rotated_table(several: Sequence[Rotated]) -> str:
    """A row for each roster."""
    heads = ("members", "turns a second", "leads decided a second", f"snapshot of {BATCH} leads read in ms", "of KB")
    rows = (
        (f"{one.members}", f"{one.turns:,.0f}", f"{one.decided:,.0f}", f"{one.read_ms:,.1f}", f"{one.read_kb:,.0f}")
        for one in several
    )
    return table([heads, *rows], names=0)


def shadows() -> str:
    """Seconds to look for rules out of reach among those of the named figure."""

    def look() -> None:
        above = []
        for n in range(1, ASKED + 1):
            one = reach(f"r{n}", SHAPES[n % len(SHAPES)].format(n=n), TYPES)
            takers(one, above)
            above.append(one)

    return f"{ASKED} rules looked through for rules out of reach, as a check of rule files does: {_ms(look):,.0f} ms."


def _matched(one: Matched) -> tuple[str, ...]:
    told_ms = [
        f"{value:.3f}" for took in (one.none, one.some) for value in (statistics.median(took), percentile(took, 95))
    ]
    return (f"{one.rules:,}", *told_ms, f"{one.compiled_ms:,.1f}")


def _rules(count: int) -> Iterator[Rule]:
    return (rule(f"r{n}", n, SHAPES[n % len(SHAPES)].format(n=n)) for n in range(1, count + 1))


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


def _answer(members: int) -> bytes:
    """What the simulated org answers to a batch's first read, where its one group has so many members."""
    org = RestOrg(best())
    for n in range(members - 2):
        user = org.insert("User", Username=f"rep{n}@sim.example", LastName=f"Rep {n}")
        org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=user, Sort_Order__c=n + 3)
    leads = [org.lead(f"b{n}@x.example") for n in range(BATCH)]
    kept: list[bytes] = []
    _, rest, client = org.connect()
    plain = client.configuration()
    rest._session.hooks["response"].append(lambda answer, **_: kept.append(answer.content))
    client.snapshot(plain, leads, [])
    return kept[0]


def _read(answer: bytes) -> None:
    """The same steps as `SalesforceOrg.snapshot`, without the wire."""
    parts = json.loads(answer)["compositeResponse"]
    rows = {part["referenceId"]: part["body"]["records"] for part in parts}
    records.groups(rows["groups"], rows["members"])
    for row in rows["leads"]:
        records.lead(row)


def _ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


SECTION = """# The decisions by themselves

Written by `PYTHONPATH=tests python -m benchmarks.core --record` (`make bench` runs it too).
Machine: {machine}. One thread, no org and no network; {leads:,} leads for each number of rules.

{matched}

{rotated}

{shadows}

*Rules* are of five shapes by turns: a comparison of two fields, a list, a LIKE, an OR with a comparison, a date
literal. A lead that meets none has every rule asked, and nearly each answered by its first comparison, as the rules are
told apart by it; rules whose first comparison holds for most leads cost more. Of 200 rules "a rule met" is so for 97
leads of 100, of 1,000 for 87: large sums that a rule asks for are rare.

*Decided* is a batch of 200 leads of other buyers, with rules, duty, rotation and explanation. *Read* is from the bytes
of the org's answer to groups, members and leads as the decision sees them.
"""


if __name__ == "__main__":
    sys.exit(main())
