"""`python -m benchmarks.takeover` (with tests on the path): how soon another router listens when the listener ends.

Two `lead-router run` on one PostgreSQL database, of one simulated org, all processes; from the signal until the other
router logs that the org acknowledged its subscription.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.report import machine
from support import company
from support.postgres import serving
from support.router import Router, environment, routers
from support.simulator import simulator
from support.standby import listening, taken_over_s

TRIALS = 20
WAYS: dict[str, Callable[[Router], object]] = {"kill -9": Router.kill, "SIGTERM": Router.terminate}


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.takeover", description="A listener ends, another goes on.")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each way to end")
    options = parser.parse_args(words)
    started = machine()
    rows = [_row(way, seen(end, options.trials)) for way, end in WAYS.items()]
    sys.stdout.write("\n".join(("end      trials     p50     max", *rows, started)) + "\n")
    return 0


def seen(end: Callable[[Router], object], trials: int) -> list[float]:
    """Seconds of each trial; whoever ended is started again and waits for its turn."""
    took: list[float] = []
    with (
        serving() as server,
        simulator(scenario=company.scenario()) as org,
        tempfile.TemporaryDirectory(prefix="lead-router-takeover-") as folder,
    ):
        settings = environment(org, server.new_database())
        made = [Router(Path(folder) / name, settings) for name in ("one", "two")]
        with routers(*made):
            for number in range(trials):
                former = listening(made)
                took.append(taken_over_s(made, end))
                former.wait()
                waits = len(former.events("listener_waits"))
                former.start().await_event("listener_waits", count=waits + 1)
                sys.stderr.write(f"trial {number + 1} of {trials}: {took[-1]:.2f} s\n")
    return took


def _row(way: str, took: Sequence[float]) -> str:
    return f"{way:<7} {len(took):>7} {statistics.median(took):>6.2f}s {max(took):>6.2f}s"


if __name__ == "__main__":
    sys.exit(main())
