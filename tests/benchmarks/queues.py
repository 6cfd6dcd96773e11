"""`python -m benchmarks.queues` (with tests on the path): routing_job beside procrastinate and pgqueuer.

Jobs handed in one by one and by the hundred, and worked off by one, two and four processes, with and without an order
per key. All PostgreSQL ways are on one server that syncs to disk; the ways take turns, and each turn begins with empty
tables. 1 if a way lost a job, ran one twice, or ran two of a key in the wrong order.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg

from benchmarks import queues_floor as floor
from benchmarks import queues_report as report
from benchmarks.named import put, told
from benchmarks.queues_report import EMBEDDED, Figure, Runs
from benchmarks.queues_ways import WAYS, Seen, Work, missing, works
from benchmarks.report import HERE, machine
from support.postgres import Server, serving

RUNS = 3
WORKERS = (1, 2, 4)
PER_KEY = 4
DRAINED = 4_000
GIVEN = {1: 400, 100: 4_000}  # jobs handed in for each figure, where so many are worked off
TURNS = 10
SLOW_PART = {
    "procrastinate": 8,
    "procrastinate, no sync": 8,
}  # it is given this part of the jobs to work off; its fetch is no faster among more
JOIN_S = 30.0
SETTLE = "SELECT format('VACUUM ANALYZE %I', tablename) FROM pg_tables WHERE schemaname = 'public'"


class WrongWork(Exception):
    """A way did not do what its row says: its figures say nothing."""


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a way did not do its work."""
    options = _options(words)
    before = machine()
    for name in missing():
        sys.stderr.write(f"{name} is not installed: its rows are left out\n")
    try:
        runs = measured(options.jobs, options.runs)
    except WrongWork as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    figures = report.named(runs)
    rows = {f"{figure.name} by {way}": rates for (way, figure), rates in runs.items()}
    options.json.write_text(
        json.dumps({"machine": before, "jobs": options.jobs, "per second": rows}, indent=1) + "\n", encoding="utf-8"
    )
    sys.stdout.write(f"{report.table(runs)}\n{told(figures)}\n{before}; all figures are in {options.json}\n")
    if options.record and missing():
        sys.stderr.write("nothing is recorded, as ways are left out\n")
    elif options.record:
        put(figures)
        command = f"python -m benchmarks.queues --jobs {options.jobs} --runs {options.runs} --record"
        report.record(runs, sizes(options.jobs), command, before)
    return 0


def sizes(jobs: int) -> report.Sizes:
    """What is timed of each figure where so many jobs are worked off."""
    single, hundreds = (_handed(jobs * GIVEN[together] // DRAINED, together)[1] for together in (1, 100))
    return report.Sizes(single, hundreds, jobs, max(PER_KEY, jobs // max(SLOW_PART.values())))


def _handed(count: int, together: int) -> tuple[int, int]:
    """Jobs handed in, and those of them that are timed: the first transaction of each turn is not counted."""
    given = max(count, 2 * TURNS * together)
    return given, given - TURNS * together


def measured(jobs: int, runs: int) -> Runs:
    """Jobs per second of each run, by way and figure; the ways take turns within each figure."""
    found: dict[tuple[str, Figure], list[float]] = defaultdict(list)
    with ExitStack() as opened:
        server = opened.enter_context(serving("-c fsync=on")) if {*WAYS} - {EMBEDDED} else None
        crews = {name: opened.enter_context(_crew(name)) for name in WAYS if name not in missing()}
        for run in range(1, runs + 1):
            for figure in report.FIGURES:
                took = _rates(figure, jobs, crews, server)
                for name, rate in took.items():
                    found[name, figure].append(rate)
                told = ", ".join(f"{name} {rate:,.0f}" for name, rate in took.items())
                sys.stderr.write(f"run {run} of {runs}: {figure.name}: {told}\n")
    return found


def _rates(
    figure: Figure, jobs: int, crews: Mapping[str, Sequence[Connection]], server: Server | None
) -> dict[str, float]:
    if not figure.workers:
        return _handed_in(figure, jobs * GIVEN[figure.together] // DRAINED, crews, server)
    found = {}
    for name, crew in crews.items():
        if WAYS[name].ordered or not figure.ordered:
            with _empty(name, server) as url:
                found[name] = _worked_off(name, figure, url, jobs, crew)
    return found


def _handed_in(figure: Figure, count: int, known: Iterable[str], server: Server | None) -> dict[str, float]:
    """In short turns: a disk that others use answers ten times later from one second to the next."""
    took: dict[str, float] = defaultdict(float)
    count, timed = _handed(count, figure.together)
    names = [name for name in known if WAYS[name].synced]
    with ExitStack() as opened:
        urls = {name: opened.enter_context(_empty(name, server)) for name in names}
        places = (
            {floor.EMBEDDED: EMBEDDED} if server is None else {floor.SHARED: report.SHARED, floor.EMBEDDED: EMBEDDED}
        )
        bare = {name: opened.enter_context(_empty(place, server)) for name, place in places.items()}
        for name, url in urls.items():
            WAYS[name].install(url)
        for turn in range(TURNS):
            given = works(count, count)[turn::TURNS]
            for name, url in urls.items():
                took[name] += WAYS[name].enqueue(url, given, figure.together, ordered=True)
            for name, url in bare.items() if figure.together == 1 else ():
                took[name] += floor.bare(url, given)
    return {name: timed / seconds for name, seconds in took.items()}


def _worked_off(name: str, figure: Figure, url: str, jobs: int, crew: Sequence[Connection]) -> float:
    way = WAYS[name]
    way.install(url)
    count = max(PER_KEY, jobs // SLOW_PART.get(name, 1))
    given = works(count, count // PER_KEY if figure.ordered else count)
    way.enqueue(url, given, 100, ordered=figure.ordered)
    if not url.startswith("sqlite"):
        with psycopg.connect(url, autocommit=True) as session:
            for (vacuum,) in session.execute(SETTLE).fetchall():  # as the server does by itself within minutes
                session.execute(vacuum)
    start, seen = _drained(url, crew[: figure.workers])
    judge(given, seen, f"{figure.name} by {name}")
    return rate(start, seen)


def rate(start: int, seen: Seen) -> float:
    """Jobs per second from the first that was done to the last, so that no worker's own start is counted.

    Where all were done at one moment, from the word to go (`start`, nanoseconds).
    """
    times = [at for _, at in seen]
    first, last = min(times), max(times)
    begun = first if last > first else start
    return sum(at > begun for at in times) * 1e9 / (last - begun)


def _drained(url: str, crew: Sequence[Connection]) -> tuple[int, Seen]:
    """When the word was given to go, and all that was run."""
    for pipe in crew:
        pipe.send(url)
    for pipe in crew:
        pipe.recv()
    start = time.monotonic_ns()
    for pipe in crew:
        pipe.send("go")
    return start, [one for pipe in crew for one in pipe.recv()]


def judge(given: Sequence[Work], seen: Seen, what: str) -> None:
    """WrongWork unless each job was run once, and those of one key in the order in which they were handed in."""
    if sorted(number for number, _ in seen) != list(range(len(given))):
        ran = len({number for number, _ in seen})
        raise WrongWork(f"{what}: {len(given)} jobs were handed in, {ran} of them were run, {len(seen)} times in all")
    at = dict(seen)
    last: dict[str, int] = {}
    for job in given:
        if at[job.number] < last.get(job.key, 0):
            raise WrongWork(f"{what}: job {job.number} was run before an earlier one of its key")
        last[job.key] = at[job.number]


def _worker(name: str, pipe: Connection) -> None:
    """Work at one address after the other."""
    while True:
        WAYS[name].work(pipe.recv(), pipe)


@contextmanager
def _crew(name: str) -> Iterator[list[Connection]]:
    """Processes that work off a way's jobs, as many as ever work at a time."""
    context = multiprocessing.get_context("spawn")
    pipes, running = [], []
    try:
        for _ in range(max(WORKERS)):
            ours, theirs = context.Pipe()
            child = context.Process(target=_worker, args=(name, theirs), daemon=True)
            child.start()
            theirs.close()
            pipes.append(ours)
            running.append(child)
        yield pipes
    finally:
        for child in running:
            child.kill()
            child.join(JOIN_S)


@contextmanager
def _empty(name: str, server: Server | None) -> Iterator[str]:
    """The address of an empty database."""
    if server is None or name == EMBEDDED:
        with tempfile.TemporaryDirectory(prefix="lead-router-queue-") as folder:
            yield f"sqlite:///{folder}/jobs.db"
    else:
        url = server.new_database()
        yield url
        server.drop_database(url)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.queues", description="Queues on this machine.")
    parser.add_argument("--jobs", type=int, default=DRAINED, help="worked off per figure")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each figure; medians are told")
    parser.add_argument("--json", type=Path, default=HERE / "queues.json", metavar="FILE")
    parser.add_argument("--record", action="store_true", help="write its section of REPORT.md and its figures anew")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
