"""What large stocks cost: as tables, as a chart, as a named figure and as a section of REPORT.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.chart import Bars, bars
from benchmarks.named import Named
from benchmarks.report import HERE, rewritten
from benchmarks.stock_jobs import Cost
from benchmarks.stock_org import Routed, Swept

CHART = HERE / "stock.svg"
MIB = 1024 * 1024
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Seen:
    """All that one run showed."""

    costs: Sequence[Cost]
    sweeps: Sequence[Swept]
    ledgers: Sequence[Routed]


def named(found: Sequence[Cost]) -> dict[str, Named]:
    """The claim behind a million finished jobs, in claims of an empty table; of the worse engine."""
    claims = {(one.engine, one.rows): one.claim for one in found}
    ratios = {engine: claims[engine, MILLION] / claims[engine, 0] for engine, rows in claims if rows == MILLION}
    if not ratios:
        return {}
    worse = max(ratios, key=lambda engine: ratios[engine])
    told = f"the same database engine with an empty table; {worse}, the worse one"
    return {"claim_cost_at_1m_vs_empty": Named(ratios[worse], "times", "<=1.3", told)}


def tables(seen: Seen) -> str:
    """Markdown tables that can be read as plain text."""
    jobs = [("database", "finished jobs", "record us/job", "claim us/job", "end us/job", "table MiB", "indexes MiB")]
    jobs += [
        (one.engine, f"{one.rows:,}", *(f"{us:.0f}" for us in (one.record, one.claim, one.end)), *_sizes(one))
        for one in seen.costs
    ]
    sweeps = [
        (
            "unassigned leads",
            "API calls",
            "seconds",
            "leads/s",
            "grew by MiB",
            "to RSS MiB",
            "jobs",
            "again, nothing new, s",
        )
    ]
    sweeps += [
        (
            f"{one.leads:,}",
            f"{one.calls:,}",
            f"{one.seconds:.1f}",
            f"{one.leads / one.seconds:,.0f}",
            f"{one.grown / MIB:.0f}",
            f"{one.resident / MIB:.0f}",
            f"{one.jobs:,}",
            f"{one.again_s:.1f}",
        )
        for one in seen.sweeps
    ]
    ledgers = [("ledger rows", "API calls for 200 leads", "seconds, simulated org included")]
    ledgers += [(f"{one.ledger:,}", f"{one.calls:,}", f"{one.seconds:.2f}") for one in seen.ledgers]
    return "\n\n".join(map(_table, (jobs, sweeps, ledgers, [("index", "MiB", "database"), *_largest(seen.costs)])))


def chart(found: Sequence[Cost]) -> str:
    """A bar for each stock, by engine."""
    engines = dict.fromkeys(one.engine for one in found)
    groups = [
        Bars(
            f"{engine}: microseconds to claim a job",
            [(f"{one.rows:,} finished jobs", one.claim, f"{one.claim:.0f}") for one in found if one.engine == engine],
        )
        for engine in engines
    ]
    return bars("What a claim costs behind finished jobs", groups)


def record(seen: Seen, machine: str) -> None:
    """Write the chart and the section of REPORT.md anew; that of a long run stays as it is."""
    CHART.write_text(chart(seen.costs), encoding="utf-8")
    _put(SECTION.format(machine=machine, tables=tables(seen), chart=CHART.name))


def record_long(seen: Seen, machine: str, command: str, day: str) -> None:
    """Write the section of the long runs anew, which no other run touches."""
    _put(LONG.format(machine=machine, command=command, day=day, tables=tables(seen)))


def _put(section: str) -> None:
    page = HERE / "REPORT.md"
    page.write_text(rewritten(page.read_text(encoding="utf-8"), section), encoding="utf-8")


def _sizes(one: Cost) -> tuple[str, str]:
    return f"{one.table / MIB:.1f}", f"{sum(one.indexes.values()) / MIB:.1f}" if one.indexes else "not told"


def _largest(found: Sequence[Cost]) -> list[tuple[str, str, str]]:
    """The indexes behind the largest stock of each engine, those of no size together."""
    most = max(one.rows for one in found)
    rows = []
    for one in found:
        if one.rows == most:
            large = {name: size for name, size in one.indexes.items() if size >= MIB / 10}
            rest = sum(one.indexes.values()) - sum(large.values())
            named_sizes = [*sorted(large.items(), key=lambda pair: -pair[1]), ("all others", rest)]
            rows += [(name, f"{size / MIB:.1f}", one.engine) for name, size in named_sizes]
    return rows


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return "\n".join([lines[0], "| " + " | ".join("-" * (width - 1) + ":" for width in widths) + " |", *lines[1:]])


SECTION = """# What a lead costs behind many others

Written by `PYTHONPATH=tests python -m benchmarks.stock --record`.
Machine: {machine}; the PostgreSQL server shares it.

{tables}

![microseconds to claim a job]({chart})

*Finished jobs* lie in the table, with fresh statistics, while 200 jobs at a time are recorded, claimed and ended
through the production store; medians, the stocks in turns. The PostgreSQL server does not sync to disk here, so
that the cost of reading is not hidden behind the disk's; SQLite syncs what is recorded. The stock called 0 grows by
the jobs of the turns. A claim goes by two indexes that hold open jobs alone, whatever the statistics say:
`integration/test_job_store_plans.py` takes either of them away and sees it. The index that grows with all that was
ever recorded, `routing_job_once`, is the promise that an event makes one job; the router keeps finished jobs for
days, not for ever.

*A sweep* reads 2,000 leads a call, oldest first. Only a page that is not full is known to be the last, so that behind
full ones stands a call that finds none; and one call more asks for leads that show Queued, whoever owns them: three
calls for 2,000 leads, where 1,999 take two. Here the production client and
upkeep with SQLite are answered by a crowd made up page by page, so its seconds are the router's own, and without
what Salesforce takes for a page; memory is what the process grew by at the most, and to which size. A sweep holds one
page, and of the leads that no event brought the latest 20,000 moments, by which a silent stream is told. A sweep of a
million leads is in the section of the long runs.

*The ledger* is the simulated org's. It says that the router makes two calls for 200 leads, however long the ledger
is, since it asks by unique keys alone; the seconds are the simulated org's more than the router's, and nothing is
said by them about Salesforce, whose indexes these are. 10,000 rows are enough for that, as no answer grows with the
ledger; a million are in the section of the long runs.
"""

LONG = """# A million leads that wait, a ledger of a million rows

Written on {day} by `PYTHONPATH=tests {command}`, which takes minutes and is
no part of `make bench`: a shorter run leaves this section as it is.
Machine: {machine}; the PostgreSQL server shares it.

{tables}

What the columns are stands in the section before. A sweep goes page by page by the place where the last one ended
(creation and id), so that its seconds grow with the leads and its memory does not; the second sweep finds a job for
each of them. The simulated org holds the whole ledger in memory and finds a lead's row by unique keys, as it is asked.
"""
