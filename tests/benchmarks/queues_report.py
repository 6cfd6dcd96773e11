"""What the queues showed: as a table, as a chart, as named figures and as a section of REPORT.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.chart import Bars, bars
from benchmarks.named import Named
from benchmarks.report import HERE, rewritten


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured: jobs handed in, so many together, or worked off by so many workers, in order or not."""

    name: str
    together: int = 0
    workers: int = 0
    ordered: bool = False


SINGLE = Figure("handed in one by one", together=1)
HUNDRED = Figure("handed in by the hundred", together=100)
FREE = tuple(Figure(f"worked off, workers: {n}", workers=n) for n in (1, 2, 4))
ORDERED = tuple(Figure(f"worked off in order, workers: {n}", workers=n, ordered=True) for n in (1, 2, 4))
FIGURES = (SINGLE, HUNDRED, *FREE, *ORDERED)

Runs: TypeAlias = Mapping[tuple[str, Figure], Sequence[float]]
"""Jobs per second of each run, by the way's name and the figure."""

CHART = HERE / "queues.svg"
SHARED, EMBEDDED = "PostgreSQL", "SQLite"
NO_SYNC = ", no sync"


def table(runs: Runs) -> str:
    """A Markdown table that can be read as plain text: medians, and least to most."""
    names = list(dict.fromkeys(name for name, _ in runs))
    rows = [("jobs per second", *names)]
    rows += [
        (figure.name, *(_cell(runs.get((name, figure), ()), name, figure) for name in names)) for figure in FIGURES
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(_placed(row, widths)) + " |" for row in rows]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([lines[0], "| " + " | ".join(rule) + " |", *lines[1:]])


def named(runs: Runs) -> dict[str, Named]:
    """The ratios that have a target: ours on the server that the other one uses, at the worst number of workers.

    Jobs are worked off without a sync to disk by both.
    """
    locked, batched = "procrastinate with lock, workers without sync", "pgqueuer, batches of 100, workers without sync"
    against = (
        ("queue_drain_ordered_vs_procrastinate", SHARED, "procrastinate, no sync", ORDERED, ">=10", locked),
        ("queue_drain_unordered_vs_pgqueuer_batched", SHARED, "pgqueuer, no sync", FREE, ">=1.5", batched),
        ("queue_enqueue_single_vs_procrastinate", SHARED, "procrastinate", (SINGLE,), ">=3", "procrastinate"),
        ("queue_enqueue_single_vs_pgqueuer", SHARED, "pgqueuer", (SINGLE,), ">=3", "pgqueuer"),
        ("queue_enqueue_single_sqlite_vs_procrastinate", EMBEDDED, "procrastinate", (SINGLE,), ">=3", "procrastinate"),
        ("queue_enqueue_single_sqlite_vs_pgqueuer", EMBEDDED, "pgqueuer", (SINGLE,), ">=3", "pgqueuer"),
    )
    return {
        name: Named(ratio, "times", target, f"{told}; ours on {ours}")
        for name, ours, theirs, figures, target, told in against
        if (ratio := _ratio(runs, ours, theirs, figures)) is not None
    }


def chart(runs: Runs) -> str:
    """Every figure with a bar for each way."""
    names = list(dict.fromkeys(name for name, _ in runs))
    return bars(
        "Jobs per second",
        [
            Bars(
                figure.name,
                [
                    (name, rate, f"{rate:,.0f}")
                    for name in names
                    if (name, figure) in runs
                    for rate in (statistics.median(runs[name, figure]),)
                ],
            )
            for figure in FIGURES
        ],
    )


def record(runs: Runs, machine: str) -> None:
    """Write the chart and the section of REPORT.md anew."""
    CHART.write_text(chart(runs), encoding="utf-8")
    page = HERE / "REPORT.md"
    text = SECTION.format(runs=max(map(len, runs.values())), machine=machine, table=table(runs), chart=CHART.name)
    page.write_text(rewritten(page.read_text(encoding="utf-8"), text), encoding="utf-8")


def _ratio(runs: Runs, ours: str, theirs: str, figures: Sequence[Figure]) -> float | None:
    """The least of the figures' ratios of medians; None where the other way was not run."""
    if any((name, figure) not in runs for name in (ours, theirs) for figure in figures):
        return None
    return min(statistics.median(runs[ours, one]) / statistics.median(runs[theirs, one]) for one in figures)


def _cell(rates: Sequence[float], name: str, figure: Figure) -> str:
    if not figure.workers and name.endswith(NO_SYNC):
        return "as synced"
    return f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})" if rates else "not offered"


def _placed(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]


SECTION = """# The queue beside procrastinate and pgqueuer

Written by `PYTHONPATH=tests python -m benchmarks.queues --record`. Medians of {runs} runs (least to most), in turns.
Machine: {machine}; workers, and the PostgreSQL server of all but SQLite, share it.

{table}

![jobs per second, by figure and way]({chart})

*SQLite* and *PostgreSQL* are the production job store through the verbs that the router uses: `record`, `claim` (up to
200 jobs), `end`. It always keeps the order of a key; without an order means that each job has a key of its own.
*procrastinate* runs ten jobs at a time in each worker, with psycopg, and with its `lock` where there is an order.
*pgqueuer* takes a hundred at a time, with asyncpg and uvloop, all its tables logged; it offers no order by key.

*Same for all.* The same content of a job; a job does nothing but note that it ran; what hands jobs in is synced to disk
(`fsync`, `synchronous_commit`, SQLite's `synchronous=FULL`). Ours does not sync claims and plain ends: after a loss of
power those jobs run again, and the ledger in the org makes that a no-op. A queue that knows nothing of its jobs cannot
count on that, and the others sync all they do as they come; where they are called *no sync* the connections of their
workers have `synchronous_commit=off`, which takes the syncs of claims and ends from them too. The named ratios of jobs
worked off are against those, the same durability as ours. Empty tables each time, with fresh statistics before jobs are
worked off. Each job must have run once, and those of a key in their order, or nothing is told. Ours counts a job
as done when its end is committed, the others when it ran, which is the sooner. Procrastinate is given a quarter of the
jobs to work off.

*What bounds it.* Handed in one by one, each job is a transaction with its sync to disk, whatever the queue: on a busy
disk all come near each other, and none can be three times another one. Beyond that a single job costs PostgreSQL a
row with its four constraints and eight index entries, planned anew each time, in a transaction that bounds its waits
and lines up with the org's other recorders: twice the processor time of pgqueuer's prepared statement of two plain
rows. A quarter of that is parsing and planning, which prepared statements would save; they are not used, as a pool
that lends a connection by the transaction need not keep them. SQLite has no round trip and no server. Worked off, a
job is two updates of a row that moves in eight indexes and then in three; that and the log of it are three quarters
of the processor time, the Python side a quarter.
"""
