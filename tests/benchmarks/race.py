"""`python -m benchmarks.race` (with tests on the path): leads that come at once, by turns, by architecture.

All on one PostgreSQL that writes each commit to the disk. Exit code 1 if a race of the router was not even.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import psycopg
import structlog

from benchmarks import named
from benchmarks.chart import bars
from benchmarks.named import Named
from benchmarks.race_judge import Judged, judged
from benchmarks.race_queued import by_fifo, by_protocol, fifo
from benchmarks.race_report import LOCKLESS, ROUTER, groups, section, table
from benchmarks.race_router import Course, course
from benchmarks.race_ways import Raced, by_marker, by_skipping, by_version, lockless, raced
from benchmarks.report import HERE, machine, rewritten
from support.postgres import serving

REPS = 10
LEADS = (100, 1_000, 10_000)
ROUNDS_OF_FEW, FEW = 3, 100
RUNS = 200
RUN_LEADS = 100
BATCHES = (25, 50, 200)  # runs take turns at these: the smaller a batch, the more of them race
WITHIN_S = 12.0
SEED = 7
COMMITS = 50
TOLD_EACH = 20
SERVER = "-c fsync=on -c synchronous_commit=on -c max_connections=320"
FIGURE = "race_100_on_10_even_runs"


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables and the named figure."""
    options = _options(words)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))  # told as figures
    told = machine()
    with _stage(options.within_s) as (ways, on, disk_ms):
        refused = [
            _run(on, number, options.seed) for number in range(options.runs)
        ]  # first: the org is slower once full
        raced_by = _races(ways, on, options.leads, options.seed)
        by_race = on.given()
    sizes = on.sizes()
    ours = [judged(given, on.reps, leads) for given, leads in zip(by_race, sizes, strict=True)]
    seen = _judged(raced_by, ours, options.leads)
    runs = ours[: options.runs]
    figure = {FIGURE: measured(runs, seen)}
    fought = f"{sum(refused):,} commits were refused and decided anew in {sum(map(bool, refused))} of them"
    lines = [f"{sum(one.even for one in runs)} of {len(runs)} runs of {RUN_LEADS} were even; {fought}"]
    sys.stdout.write("\n\n".join([*(table(n, by) for n, by in seen.items()), *lines]) + "\n")
    sys.stdout.write(f"{named.told(figure)}\n{told}; a commit alone takes {disk_ms:.1f} ms\n")
    if options.record:
        named.put(figure)
        _record(seen, f"{lines[0]}.", told, disk_ms)
    return 0 if all(one.even for one in ours) else 1


Way = Callable[[int, int], Raced]


@contextmanager
def _stage(within_s: float) -> Iterator[tuple[Mapping[str, Way], Course, float]]:
    """Every way but the router's by its name, the router's course, and how long a commit takes here."""
    with serving(SERVER) as server, fifo() as (kind, line):
        url = server.new_database()
        plain = {
            LOCKLESS: lockless,
            "SKIP LOCKED over reps": by_skipping,
            "row lock on a marker": by_marker,
            "version check, retry": by_version,
        }
        ways: dict[str, Way] = {name: _way(url, give, within_s) for name, give in plain.items()}
        for batch in (1, 200):
            ways[f"FIFO, one worker, by {batch} ({kind})"] = _fifo(url, line, batch, within_s)
        ways["our commit, as SQL alone"] = lambda leads, seed: by_protocol(url, leads, REPS, seed, within_s)
        with course(server.new_database(), REPS) as on:
            yield ways, on, _commit_ms(url)


def _way(url: str, give: Callable[..., int], within_s: float) -> Way:
    return lambda leads, seed: raced(url, give, leads, REPS, seed, within_s)


def _fifo(url: str, line: object, batch: int, within_s: float) -> Way:
    return lambda leads, seed: partial(by_fifo, batch=batch)(url, line, leads, REPS, seed, within_s)


def _races(
    ways: Mapping[str, Way], on: Course, sizes: Sequence[int], seed: int
) -> dict[int, dict[str, list[Raced | int]]]:
    """By number of leads and way; the router's are its place on the course and judged later."""
    found: dict[int, dict[str, list[Raced | int]]] = {}
    for leads in sizes:
        by: dict[str, list[Raced | int]] = {name: [] for name in (*ways, ROUTER)}
        for number in range(ROUNDS_OF_FEW if leads <= FEW else 1):
            for name, way in ways.items():
                by[name].append(way(leads, seed + number))
                sys.stderr.write(f"{leads} leads, {name}\n")
            on.race(leads, seed + number, BATCHES[-1])
            by[ROUTER].append(len(on.starts) - 1)
            sys.stderr.write(f"{leads} leads, {ROUTER}\n")
        found[leads] = by
    return found


def _run(on: Course, number: int, seed: int) -> int:
    refused = on.race(RUN_LEADS, seed + number, BATCHES[number % len(BATCHES)])
    if (number + 1) % TOLD_EACH == 0:
        sys.stderr.write(f"{number + 1} runs of the router\n")
    return refused


def _judged(
    raced_by: Mapping[int, Mapping[str, Sequence[Raced | int]]], ours: Sequence[Judged], sizes: Sequence[int]
) -> dict[int, dict[str, list[Judged]]]:
    reps = [str(number) for number in range(1, REPS + 1)]
    found: dict[int, dict[str, list[Judged]]] = {}
    for leads in sizes:
        found[leads] = {
            name: [ours[one] if isinstance(one, int) else judged(one.given, reps, leads, one.tries) for one in several]
            for name, several in raced_by[leads].items()
        }
    return found


def measured(runs: Sequence[Judged], seen: Mapping[int, Mapping[str, Sequence[Judged]]]) -> Named:
    """How many of the runs were even; all of them must be, and 200 at least."""
    loose = [one for by in seen.values() for one in by[LOCKLESS]]
    baseline = f"lockless read-modify-write: {sum(one.even for one in loose)} of {len(loose)} races even"
    return Named(sum(one.even for one in runs), f"runs of {len(runs)}", f">={max(RUNS, len(runs))}", baseline)


def _commit_ms(url: str) -> float:
    """The median time of a commit of one row by one connection."""
    took = []
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE TABLE alone (id int)")
        for number in range(COMMITS):
            began = time.perf_counter()
            db.execute("INSERT INTO alone VALUES (%s)", [number])
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


def _record(seen: Mapping[int, Mapping[str, Sequence[Judged]]], runs: str, told: str, disk_ms: float) -> None:
    size = sorted(seen)[len(seen) // 2]
    (HERE / "race.svg").write_text(bars(f"{size:,} leads at once on {REPS} reps", groups(seen[size])), encoding="utf-8")
    page = HERE / "REPORT.md"
    text = section([table(n, by) for n, by in seen.items()], runs, told, disk_ms)
    page.write_text(rewritten(page.read_text("utf-8"), text), encoding="utf-8")


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.race", description="Leads that come at once, by turns.")
    parser.add_argument("--leads", type=int, nargs="+", default=LEADS)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of the router with {RUN_LEADS} leads each")
    parser.add_argument("--within-s", type=float, default=WITHIN_S, help="the others begin no lead after so long")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--quick", action="store_true", help="few leads, few runs")
    parser.add_argument("--record", action="store_true", help="write its chart, figure and section of the report anew")
    options = parser.parse_args(words)
    if options.record and (options.quick or options.runs < RUNS):
        parser.error(f"fewer than {RUNS} runs are nothing to record")
    return argparse.Namespace(**(vars(options) | ({"leads": (20,), "runs": 2} if options.quick else {})))


if __name__ == "__main__":
    sys.exit(main())
