"""What the queues showed: as a table, as a chart, as named figures and as a section of REPORT.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks import queues_floor as floor
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
FLOOR = "the floor: one bare row, synced"
SINGLE_TARGET = 3.0  # times both others


def table(runs: Runs) -> str:
    """A Markdown table that can be read as plain text: medians, and least to most."""
    names = _ways(runs)
    rows = [("jobs per second", *names)]
    rows += [
        (figure.name, *(_cell(runs.get((name, figure), ()), name, figure) for name in names)) for figure in FIGURES
    ]
    floors = {way: runs.get((name, SINGLE), ()) for name, way in ((floor.SHARED, SHARED), (floor.EMBEDDED, EMBEDDED))}
    if any(floors.values()):
        rows.append((FLOOR, *(_spread(floors[name]) if floors.get(name) else "" for name in names)))
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
        (
            "queue_enqueue_single_vs_procrastinate",
            SHARED,
            "procrastinate",
            (SINGLE,),
            f">={SINGLE_TARGET:g}",
            "procrastinate",
        ),
        ("queue_enqueue_single_vs_pgqueuer", SHARED, "pgqueuer", (SINGLE,), f">={SINGLE_TARGET:g}", "pgqueuer"),
        (
            "queue_enqueue_single_sqlite_vs_procrastinate",
            EMBEDDED,
            "procrastinate",
            (SINGLE,),
            f">={SINGLE_TARGET:g}",
            "procrastinate",
        ),
        (
            "queue_enqueue_single_sqlite_vs_pgqueuer",
            EMBEDDED,
            "pgqueuer",
            (SINGLE,),
            f">={SINGLE_TARGET:g}",
            "pgqueuer",
        ),
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


def beneath(runs: Runs) -> str:
    """What the commit alone leaves for any queue, in words."""
    rates = {name: statistics.median(runs[name, SINGLE]) for name, one in runs if one == SINGLE}
    floors = {name: rates[name] for name in floor.FLOORS if name in rates}
    others = {name: rates[name] for name in ("procrastinate", "pgqueuer") if name in rates}
    return floor.told(floors, others, SINGLE_TARGET)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many jobs each figure is of: handed in one by one, by the hundred, and worked off, in each run."""

    single: int
    hundreds: int
    drained: int
    fewer: int
    """Jobs that the slow ones are given to work off."""


def section(runs: Runs, sizes: Sizes, command: str, machine: str) -> str:
    """Its part of REPORT.md; `command` is what measured it."""
    found = {"runs": max(map(len, runs.values())), "machine": machine, "table": table(runs), "chart": CHART.name}
    counts = {
        "single": f"{sizes.single:,}",
        "hundreds": f"{sizes.hundreds:,}",
        "drained": f"{sizes.drained:,}",
        "fewer": f"{sizes.fewer:,}",
    }
    return SECTION.format(**found, **counts, command=command, floor=beneath(runs), bounds=BOUNDS)


def record(runs: Runs, sizes: Sizes, command: str, machine: str) -> None:
    """Write the chart and the section of REPORT.md anew."""
    CHART.write_text(chart(runs), encoding="utf-8")
    page = HERE / "REPORT.md"
    text = section(runs, sizes, command, machine)
    page.write_text(rewritten(page.read_text(encoding="utf-8"), text), encoding="utf-8")


def _ways(runs: Runs) -> list[str]:
    """Floors are no ways."""
    return [name for name in dict.fromkeys(name for name, _ in runs) if name not in floor.FLOORS]


def _ratio(runs: Runs, ours: str, theirs: str, figures: Sequence[Figure]) -> float | None:
    """The least of the figures' ratios of medians; None where the other way was not run."""
    if any((name, figure) not in runs for name in (ours, theirs) for figure in figures):
        return None
    return min(statistics.median(runs[ours, one]) / statistics.median(runs[theirs, one]) for one in figures)


def _cell(rates: Sequence[float], name: str, figure: Figure) -> str:
    if not figure.workers and name.endswith(NO_SYNC):
        return "as synced"
    return _spread(rates) if rates else "not offered"


def _spread(rates: Sequence[float]) -> str:
    return f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})"


def _placed(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]


SECTION = """# The queue beside procrastinate and pgqueuer

Written by `PYTHONPATH=tests {command}` (`make bench ARGS=--record` runs it
with 2,000 jobs and two runs): medians of {runs} runs (least to most), in turns. In each run {single} jobs are handed in
one by one, {hundreds} by the hundred, and {drained} are worked off ({fewer} by procrastinate, which fetches one by one
and is no faster among more). The floor is a transaction of one bare row without an index.
Machine: {machine}; workers, and the PostgreSQL server of all but SQLite, share it.

{table}

![jobs per second, by figure and way]({chart})

*SQLite* and *PostgreSQL* are the production job store through the verbs that the router uses: `record`, `claim` (up to
200 jobs), `end`. It always keeps the order of a key; without an order means that each job has a key of its own.
*procrastinate* runs ten jobs at a time in each worker, with psycopg, and with its `lock` where there is an order; jobs
are handed to it over one connection, as to all.
*pgqueuer* takes a hundred at a time, with asyncpg and uvloop, all its tables logged; it offers no order by key.

*Same for all.* The same content of a job; a job does nothing but note that it ran; what hands jobs in is synced to
disk (`fsync`, `synchronous_commit`, SQLite's `synchronous=FULL`). Ours does not sync claims and plain ends: after a
loss of power those jobs run again, and the ledger in the org makes that a no-op. A queue that knows nothing of its
jobs cannot count on that, and the others sync all they do as they come; where they are called *no sync* the
connections of their workers have `synchronous_commit=off`, which takes the syncs of claims and ends from them too.
The named ratios of jobs worked off are against those, the same durability as ours. Empty tables each time, with fresh
statistics before jobs are worked off. Connecting is not counted, nor the first transaction of what hands jobs in, nor
what workers do before the first job is done (pgqueuer's take some 0.2 s to start). Each job must have run once, and
those of a key in their order, or nothing is told. Ours counts a job as done when its end is committed, the others
when it ran, which is the sooner.

{floor}
{bounds}"""

BOUNDS = """
*What bounds a job handed in by itself.* By hand, on two cores and a disk that were busy otherwise; microseconds for
each, medians of 7 times 100 by turns; *client* and *server* are processor time without the sync.

| one job           |  whole | without the sync | client | server |
| ----------------- | -----: | ---------------: | -----: | -----: |
| a commit alone    |  3,818 |               67 |     24 |        |
| ours, PostgreSQL  |  3,951 |              798 |    254 |    357 |
| pgqueuer          |  3,886 |              279 |    112 |    186 |
| procrastinate     |  4,099 |            1,416 |    511 |    400 |
| a bare SQLite row |  3,640 |                  |        |        |
| ours, SQLite      |  3,839 |              258 |    117 |        |

Each queue pays one sync for a job, and so does each of the rows: none that keeps its jobs can be three times another
one whose job is mostly that sync. The faster the disk, the more of the rest is seen, and of that ours on PostgreSQL
has more than pgqueuer: text that is parsed and planned each time, in a transaction that bounds its waits (six
settings, about 60 microseconds) and lines up with the org's other recorders (about 15). What was tried, the server's
processor time for the insert alone, 333 microseconds as it is, not one of it kept:

- *Prepared*: 147. But a pool that lends a connection by the transaction need not keep it, and may have another
  program's statement by that name. Within the transaction that sets bounds and lines up, sent as a pipeline, the
  server takes 233, and the client 276 instead of 166: nothing is won.
- *Without asking for a hold*: 320; *as VALUES besides*: 273; the time as a number instead of the server's clock: 213.
  The intake records under a hold, and the database's clock is the one that all routers share.
- *The clock read once instead of twice*, *the six settings as one SELECT*: no difference, 0.94 and 0.95 of the rate.
- *Without all indexes but two* that keep promises: 365 against 375 in one run: entries are cheap for a single job.
- *SQLite, its log carried over after 4,000 pages instead of 1,000*: 3,640 against 3,839, and 3,723 against 3,678.

*What bounds jobs worked off without an order.* One worker, claims of 200, microseconds for each job, by EXPLAIN
ANALYZE and the clock: claim 95, of that 5 to pick it (2 of them to look for the head of its key, which is what order
costs where every key is another one), some 60 to write its row anew with eight index entries and 13 in Python; end
37, of that 6 in Python, the rest a row and three entries. pgqueuer writes two narrow rows for a job that is taken,
and deletes one as it is done; its row knows nothing of leads, keys and submissions that others look for. Over 500 and
4,000 jobs by turns, each job more took ours 0.30 ms and pgqueuer 0.22 on a busy machine: of two queues that neither
wait for a disk, the one that writes less is the faster. What was tried:

- *Indexes of submissions that hold queued jobs alone*, so that a claim writes six entries: 1.03 and 1.08 times the
  rate (68 against 80 microseconds of the server's in one run, no difference in the other). *Without them*: 0.83, 1.27
  and 1.38 times, in runs on the busy machine. Not kept: the target is out of reach by it, and while processes are
  replaced one by one a program of before would read all open jobs for each key.
- *Without the log* (an unlogged table): 0.72, 0.97 and 1.07 times: what is written to it is not what bounds.
- *The next claim in the transaction that ends the former*, where no order is asked for: not kept. Processor time for
  each job, medians of five times 3,000 by turns: the server's 83 microseconds apart and 80 joined, the client's 20 and
  19. A claim is of 200 jobs already, so that a way to the server and a transaction less are a few microseconds of a
  job; and between the two verbs the router asks the org. 1.5 times pgqueuer would be some 65 in all.
- *A claim's state in a narrow table of its own*: not tried. It is what would help most, since no index entry would
  move for a claim; but programs of two versions could not work on one database.
"""
