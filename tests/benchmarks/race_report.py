"""The races as tables, as bars of a chart, and as a section of REPORT.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.chart import Bars
from benchmarks.race_judge import Judged

LOCKLESS = "lockless read-modify-write"
ROUTER = "the router, over HTTP"
_COUNTED = "Counts per rep are assignments: a lead given twice counts twice."
HEADS = (
    "way",
    "given",
    "assignments per rep",
    "two owners",
    "turns shared",
    "turns unused",
    "out of turn",
    "longest run",
    "apart",
    "tried again",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "leads/s",
)


def table(leads: int, by: Mapping[str, Sequence[Judged]]) -> str:
    """A Markdown table: the worst of what can go wrong, the median of what takes time."""
    rows = [HEADS, *(_row(name, several) for name, several in by.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"| {row[0].ljust(widths[0])} | {' | '.join(map(str.rjust, row[1:], widths[1:]))} |" for row in rows]
    lines.insert(1, f"| {'-' * widths[0]} | " + " | ".join("-" * (width - 1) + ":" for width in widths[1:]) + " |")
    return "\n".join([_heading(leads, max(map(len, by.values()))), "", *lines])


def _heading(leads: int, races: int) -> str:
    """How many races a row is of, and what it shows of them."""
    several = f"{races} races of each way: the worst of them in each column, but medians of times and rates"
    return f"{leads:,} leads, {'1 race of each way' if races == 1 else several}. {_COUNTED}"


def _row(name: str, several: Sequence[Judged]) -> tuple[str, ...]:
    worst = [
        max(getattr(one, what) for one in several)
        for what in ("twice", "shared", "unused", "out_of_turn", "run", "apart", "tries")
    ]
    middle = [statistics.median(getattr(one, what) for one in several) for what in ("p50_ms", "p95_ms", "p99_ms")]
    least, most = min(one.least for one in several), max(one.most for one in several)
    return (
        name,
        f"{min(one.given for one in several):,}",
        f"{least:,} to {most:,}",
        *(f"{figure:,}" for figure in worst),
        *(f"{figure:,.0f}" for figure in middle),
        f"{statistics.median(one.rate for one in several):,.0f}",
    )


def groups(by: Mapping[str, Sequence[Judged]]) -> list[Bars]:
    """What order costs, and what it earns."""
    out = {name: max(100 * one.out_of_turn / one.given for one in several) for name, several in by.items()}
    apart = {name: float(max(one.apart for one in several)) for name, several in by.items()}
    rate = {name: statistics.median(one.rate for one in several) for name, several in by.items()}
    return [
        Bars("leads that came out of turn, of 100", [(name, share, f"{share:.0f}") for name, share in out.items()]),
        Bars("leads that two reps were apart, at most", [(name, far, f"{far:.0f}") for name, far in apart.items()]),
        Bars("leads per second", [(name, speed, f"{speed:,.0f}") for name, speed in rate.items()]),
    ]


def section(tables: Sequence[str], runs: str, machine: str, disk_ms: float) -> str:
    """Its part of REPORT.md."""
    return SECTION.format(tables="\n\n".join(tables), runs=runs, machine=machine, disk_ms=disk_ms)


SECTION = """# Leads that come at once, by architecture

Written by `PYTHONPATH=tests python -m benchmarks.race --record`.
Machine: {machine}; database, simulated org and all who race share it. PostgreSQL writes each commit to the disk
(`fsync=on`), which takes {disk_ms:.1f} ms for one row alone.

{tables}

The router once more, with 100 leads on 10 reps and batches of at most 25, 50 and 200 by turns: {runs}

![out of turn, apart and leads per second, by way](race.svg)

*The race.* All leads are due at the same moment, on 10 reps of equal weight. 100 connections, each on a thread of its
own, are open before that; each carries one lead after the other. One lead in twenty is delivered twice, at the same
moment, as streams and webhooks do. What is written under a lock is one function of the server, so that no lock waits
for a client. Order is that of commits, by the database's commit timestamps and the org's change events. Where a row
has fewer leads *given* than there were, its time was over, and its figures are about those given.

*The columns.* *Given*: leads that have an owner. *Assignments per rep*: the fewest and the most that a rep got, doubles
included, so that they may add up to more than were given; of several races the fewest of any and the most of any, as
each column shows the worst that was seen. *Two owners*: leads assigned twice. *Turns shared*: numbers of the rotation
that several leads got;
*unused*: numbers that none got. *Out of turn*: leads that came to another rep than the one who had waited longest,
which in a rotation is never. *Longest run*: leads in a row for one rep. *Apart*: the most by which two reps ever
differed. *Tried again*: a version that had moved, no rep whose row was free, or a commit that was refused. Times are
from the start of all to the commit: with leads that wait for others, p50 is half the time that all take.

*The ways.* Lockless: read marker and lead, then write. SKIP LOCKED: `ORDER BY assigned_at LIMIT 1 FOR UPDATE SKIP
LOCKED` over reps. Row lock: the marker's increment holds its row to the commit. Version check: write only where the
marker has not moved, else again after a pause in [0, 2 ms x 2^tries], at most half a second. FIFO: leads are pushed
to a Redis list with `appendfsync always` (or, where there is no Redis, a queue in this process); one worker pops them
and commits each alone, or up to 200 in one transaction. Its pop is not undone by a crash: what the worker held is lost.
*Our commit as SQL alone*: the router's method with SQL in place of HTTP: jobs by unique key, claims of up to 200, the
production rotation, a commit that holds only if the turn has not moved, unique turns and leads; four workers.
*The router*: the production job store on this PostgreSQL, told of the leads by 25 connections at once, each with its
share in one transaction as an intake has it; four production workers, and commits over HTTP to a simulated
org in a process of its own, which is written in Python and bounds the figure. It is the only row that reads the org,
matches rules, keeps its jobs and writes owner, ledger, members and group to a CRM; compare its order with the others,
its speed with nothing here.

*What was published, and what was seen.*
PostgreSQL's own words for SKIP LOCKED are that it gives an inconsistent view, fit for queue-like tables, and that
ORDER BY is applied before rows are locked, so that rows may come out of order under READ COMMITTED
(https://www.postgresql.org/docs/current/sql-select.html, "The Locking Clause"). Over jobs, which any worker may take,
that is its use; Supabase's guide to PostgreSQL claims ten times the throughput of waiting there
(https://github.com/supabase/agent-skills, `lock-skip-locked.md`). Over reps it is another thing: a row that is
skipped *is* the rep whose turn it is. Public code that takes reps this way calls it an atomic round robin (seen in
two repositories whose addresses are not known here: unverified). The tables show what of it holds: no lead is
assigned twice, and with thousands of leads the shares come near each other, with a hundred they do not; the order is
no rotation, most leads come out of turn, and with more leads in flight than reps most look in vain and come again.
That it is faster than waiting for a marker reproduces with the most leads only, and by far less than tenfold; with
fewer it is slower. Batches beat both.
Oracle says of its own parallel assignment that the order within a batch as large as the number of servers is not
guaranteed (https://docs.oracle.com/en/cloud/saas/fusion-service/faiec/order-in-which-srs-are-assigned.html).
No published measurement of SKIP LOCKED over reps was found.

*What bounds each.* Row lock and version check: one commit after the other, no two of them share a write to the disk.
Lockless: the same row is updated by all, so it is hardly faster than the lock that would have made it right. FIFO by
one: a write to the disk per lead; by 200: one per batch. The router: the simulated org's CPU.
"""
