"""`python -m benchmarks.growth` (with tests on the path): does a router grow with the events it has seen?

The production process against a simulated org that tells of four million events, nearly each of another lead; finished
jobs are kept for seconds instead of days. 1 if a measure of the last tenth lies above what it was after a tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from benchmarks.chart import svg
from benchmarks.growth_report import panels, section, table, took
from benchmarks.growth_watch import Judged, Sample, Sizes, judged, memory, paced, postgres_size, sqlite_size
from benchmarks.report import HERE, machine, rewritten
from support.postgres import serving
from support.router import environment, until
from support.simulator import Simulator

# So many that PostgreSQL's autovacuum, which comes once a minute, has come round before the first look.
EVENTS, EVENTS_MIN = 4_000_000, 200_000
NEW = 0.05
EVENTS_PER_KEPT_S = 100_000
LOOKS = 250
LOOK_S = 0.1
SETTLE_S = 120.0
STOP_S = 30.0
DEFAULTS = {"connect_timeout_s": "5", "read_timeout_s": "30", "lease_s": "120", "poll_s": "0.5"}
OPEN = ("queued", "working")


def main(words: Sequence[str] | None = None) -> int:
    """Print the table, write all samples and the chart; 1 unless every measure stayed flat."""
    options = _options(words)
    told = machine()
    samples = _run(options)
    found = judged(samples)
    engine = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[options.engine]
    seen = {"machine": told, "engine": engine, "samples": [asdict(one) for one in samples]}
    options.json.write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{table(found)}\n{took(samples)}; {told}; all figures are in {options.json}\n")
    if options.record:
        _record(engine, samples, found, told)
    return 0 if all(one.flat for one in found) else 1


def _record(engine: str, samples: Sequence[Sample], found: Sequence[Judged], told: str) -> None:
    chart = HERE / f"growth-{engine.lower()}.svg"
    title = f"A router on {engine} over {samples[-1].events:,} events"
    chart.write_text(svg(title, "events", panels(samples)), encoding="utf-8")
    report = HERE / "REPORT.md"
    text = section(engine, chart.name, samples, found, told)
    report.write_text(rewritten(report.read_text(encoding="utf-8"), text), encoding="utf-8")


def _run(options: argparse.Namespace) -> list[Sample]:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="lead-router-growth-")))
        if options.engine == "sqlite":
            url, size = "sqlite:///jobs.db", partial(sqlite_size, folder / "jobs.db")
        else:
            url = opened.enter_context(serving()).new_database()
            size = partial(postgres_size, url)
        org = opened.enter_context(_org(options))
        router = opened.enter_context(_router(org, url, folder, max(1.0, options.events / EVENTS_PER_KEPT_S)))
        samples = paced(list(_watched(org, router, size, options.events)))
        _refuse_unrouted(org)
        return samples


@contextmanager
def _org(options: argparse.Namespace) -> Iterator[Simulator]:
    words = ["--events", str(options.events), "--new", str(options.new)]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.growth_org", *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield Simulator(process, json.loads(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait(STOP_S)


@contextmanager
def _router(org: Simulator, url: str, folder: Path, kept_s: float) -> Iterator[subprocess.Popen[bytes]]:
    # It works in a folder of its own, where a path such as `tests` would be nowhere.
    settings = environment(org, url, **DEFAULTS) | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    words = [sys.executable, "-m", "benchmarks.growth_router", str(kept_s)]
    written = folder / "router.log"
    with written.open("wb") as log:
        process = subprocess.Popen(words, env=settings, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until(lambda: _subscribed(process, written), SETTLE_S, "a subscription")
        yield process
        process.terminate()
        if process.wait(STOP_S) != 0:
            raise RuntimeError(written.read_text(encoding="utf-8")[-2_000:])
    finally:
        process.kill()
        process.wait()


def _subscribed(router: subprocess.Popen[bytes], written: Path) -> bool:
    """Raises RuntimeError, with its last words, if it has ended instead."""
    if router.poll() is not None:
        raise RuntimeError(written.read_text(encoding="utf-8")[-2_000:])
    return b"stream_subscribed" in written.read_bytes()


def _watched(
    org: Simulator, router: subprocess.Popen[bytes], size: Callable[[], Sizes], events: int
) -> Iterator[Sample]:
    """Looks evenly over the events, and one when all is done."""
    told = partial(org.control, "stream", {})
    start = time.monotonic()

    def look(published: int) -> Sample:
        part = min(1.0, published / events)
        return Sample(time.monotonic() - start, published, part, *memory(router.pid), *size())

    due = 0
    while (published := told()["published"]) < events:
        if published >= due:
            yield (seen := look(published))
            sys.stderr.write(
                f"{seen.part:.1%} {seen.rss / 2**20:.1f} MiB, {seen.database / 2**20:.2f} MiB, {seen.rows}\n"
            )
            due = published + events // LOOKS
        if router.poll() is not None:
            raise RuntimeError(f"the router ended with {router.returncode}")
        time.sleep(LOOK_S)
    until(lambda: not any(size()[2].get(status) for status in OPEN), SETTLE_S, "no open job")
    yield look(published)


def _refuse_unrouted(org: Simulator) -> None:
    """Figures of a router that lost leads on the way would say nothing."""
    client = org.client()
    leads, rows = (
        client.call("GET", "query", params={"q": f"SELECT COUNT() FROM {name}"}).json()["totalSize"]
        for name in ("Lead", "Lead_Assignment__c")
    )
    if leads != rows:
        raise RuntimeError(f"{leads} leads were created, {rows} were routed")


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.growth", description="A router over very many events.")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--new", type=float, default=NEW, metavar="SHARE", help="of the events that create a lead")
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--json", type=Path, default=HERE / "growth.json", metavar="FILE")
    parser.add_argument("--record", action="store_true", help="write the engine's chart and section of REPORT.md anew")
    options = parser.parse_args(words)
    if options.events < EVENTS_MIN:
        parser.error(f"--events: at least {EVENTS_MIN}: fewer are the router's warm-up, in which it does grow")
    return options


if __name__ == "__main__":
    sys.exit(main())
