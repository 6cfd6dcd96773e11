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
from itertools import count

from benchmarks import core_report as page
from benchmarks.core_plain import compiled, first, function
from benchmarks.core_report import BATCH, CHECK_MS, REPEATS, SHARE_MS, TRIPS_MS, Timed
from benchmarks.named import Named, put, told
from benchmarks.report import HERE, machine, rewritten
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
TARGET_MS = 0.15
TURNS = 2_000
READS = 20
FEW_REPEATS = 3
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
    """So many rules, each of another shape than the one before: milliseconds a lead, and to compile them all.

    `plain` and `plain_some` are the same conditions as Python functions, `compiled_plain` Python's compiler. Each
    compiling is of other rules, as texts that were seen before are not compiled again.
    """

    rules: int
    none: tuple[float, ...]
    some: tuple[float, ...]
    compiled: tuple[float, ...]
    plain: tuple[float, ...] = ()
    plain_some: tuple[float, ...] = ()
    compiled_plain: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rotated:
    """A group of so many members on duty: turns and decided leads a second, and what reading it costs.

    `plain_turns` are those of the plainest rotation. `read_ms` is from the answer's bytes to a snapshot's nouns, for a
    batch of 200 leads; `parsed_ms` to plain lists and texts; `read_kb` are those bytes.
    """

    members: int
    turns: tuple[float, ...]
    decided: tuple[float, ...]
    read_ms: tuple[float, ...]
    plain_turns: tuple[float, ...]
    parsed_ms: tuple[float, ...]
    read_kb: float


def main(words: Sequence[str] | None = None) -> int:
    """Print the table and the named figure."""
    parser = argparse.ArgumentParser("python -m benchmarks.core", description="What decisions cost by themselves.")
    parser.add_argument("--quick", action="store_true", help="fewer leads and turns, in a second or two")
    parser.add_argument("--record", action="store_true", help="write its section of REPORT.md and its named figure")
    options = parser.parse_args(words)
    if options.quick and options.record:
        parser.error("a quick run is nothing to record")
    started, leads = machine(), FEW if options.quick else LEADS
    matched = [matching(count, leads) for count in RULES]
    rotated = [rotating(count, FEW if options.quick else TURNS) for count in ROSTERS]
    figures, several = named(matched), timed(matched, rotated)
    sys.stdout.write("\n".join((page.table(several), "", told(figures), started)) + "\n")
    if options.record:
        document = HERE / "REPORT.md"
        section = page.section(several, leads, started)
        document.write_text(rewritten(document.read_text("utf-8"), section), encoding="utf-8")
        put(figures)
    return 0


def timed(matched: Sequence[Matched], rotated: Sequence[Rotated]) -> list[Timed]:
    """Every figure with its baseline and its bound."""
    return [
        *(one for several in matched for one in _matched(several)),
        *(one for several in rotated for one in _rotated(several)),
        Timed(f"{ASKED} rules looked through for ones out of reach", "ms", shadows(), "", (), f"<={CHECK_MS:g}"),
    ]


def _matched(one: Matched) -> Iterator[Timed]:
    rules, asked = f"{one.rules:,} rules", one.rules == ASKED
    bound = f"<={TARGET_MS if asked else SHARE_MS:g}"
    yield Timed(f"{rules}, none met", "ms a lead", one.none, "Python functions", one.plain, bound, asked)
    yield Timed(f"{rules}, one met", "ms a lead", one.some, "Python functions", one.plain_some, f"<={SHARE_MS:g}")
    yield Timed(f"{rules} compiled", "ms", one.compiled, "Python's compiler", one.compiled_plain, f"<={CHECK_MS:g}")


def _rotated(one: Rotated) -> Iterator[Timed]:
    members, least = f"{one.members} members", f">={1000 / SHARE_MS:.0f}"
    yield Timed(f"{members}: turns", "a second", one.turns, "the same on plain lists", one.plain_turns, least)
    yield Timed(f"{members}: leads decided", "a second", one.decided, "turns alone", one.turns, least)
    read = f"{members}: snapshot of {BATCH} leads read ({one.read_kb:,.0f} KB)"
    yield Timed(read, "ms", one.read_ms, "json.loads alone", one.parsed_ms, f"<={TRIPS_MS:g}")


def matching(rules: int, leads: int) -> Matched:
    """For leads that meet none, so that every rule is asked, and for leads of which nearly all meet some rule.

    Raises ValueError if one meets a rule that was to meet none.
    """
    dice = random.Random(5)
    book = rulebook(configuration(*_rules(rules), field_types=TYPES))
    plain = [function(n) for n in range(1, rules + 1)]
    none = [_lead(dice, 0) for _ in range(leads)]
    some = [_lead(dice, dice.randrange(1, rules)) for _ in range(leads)]
    if any(first_match(book, one, AT) for one in none):
        raise ValueError("a lead that was to meet no rule meets one")
    ours = [tuple(sorted(_ms(lambda one=one: first_match(book, one, AT)) for one in each)) for each in (none, some)]
    theirs = [tuple(sorted(_ms(lambda one=one: first(plain, one.fields)) for one in each)) for each in (none, some)]
    firsts, others = (count(rules + 1, rules) for _ in range(2))
    return Matched(
        rules,
        *ours,
        _several(lambda: rulebook(configuration(*_rules(rules, next(firsts)), field_types=TYPES))),
        *theirs,
        _several(lambda: compiled(rules, next(others))),
    )


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
        for _ in range(turns // REPEATS):
            turn = take_turn(now, duty, duty)
            if turn is None:
                raise ValueError("nobody is on duty")
            now = turn.group

    def rotate_plain() -> None:
        weights = [1 + n % 5 for n in range(members)]
        owed, whole = [0] * members, sum(weights)
        for _ in range(turns // REPEATS):
            owed = [due + weight for due, weight in zip(owed, weights, strict=True)]
            owed[owed.index(max(owed))] -= whole

    leads = [lead(n, f"b{n}@x.example") for n in range(BATCH)]
    asks = [Ask(n, f"job-{n}", one.id, AT) for n, one in enumerate(leads)]
    plain, seen = configuration(), snapshot(leads, [group])
    answer = _answer(members)

    def rates(work: Callable[[], object], each: int) -> tuple[float, ...]:
        return tuple(each * 1000 / took for took in _several(work))

    return Rotated(
        members,
        rates(rotate, turns // REPEATS),
        rates(lambda: decide(plain, seen, asks), BATCH),
        _several(lambda: _read(answer), READS),
        rates(rotate_plain, turns // REPEATS),
        _several(lambda: json.loads(answer), READS),
        len(answer) / 1024,
    )


def named(several: Sequence[Matched]) -> dict[str, Named]:
    """The one figure that was asked for."""
    (one,) = (one for one in several if one.rules == ASKED)
    baseline = f"a lead that meets none of {ASKED} rules, so that each is asked; median"
    return {"match_200_rules_ms": Named(statistics.median(one.none), "ms", f"<={TARGET_MS:g}", baseline)}


def shadows() -> tuple[float, ...]:
    """Milliseconds to look for rules out of reach among those of the named figure, as a check of rule files does."""

    def look() -> None:
        above = []
        for n in range(1, ASKED + 1):
            one = reach(f"r{n}", SHAPES[n % len(SHAPES)].format(n=n), TYPES)
            takers(one, above)
            above.append(one)

    return _several(look, FEW_REPEATS)


def _several(work: Callable[[], object], times: int | None = None) -> tuple[float, ...]:
    """Milliseconds of each run of the same work."""
    return tuple(sorted(_ms(work) for _ in range(REPEATS if times is None else times)))


def _rules(rules: int, first: int = 1) -> Iterator[Rule]:
    return (rule(f"r{n}", n, SHAPES[n % len(SHAPES)].format(n=n)) for n in range(first, first + rules))


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


if __name__ == "__main__":
    sys.exit(main())
