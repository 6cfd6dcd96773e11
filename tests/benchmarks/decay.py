"""`python -m benchmarks.decay` (with tests on the path): a day's requests by architecture, and what their waits cost.

Exit code 1 if the router gave a request to two reps, or lost one that had a record in the CRM.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence

import structlog

from benchmarks.chart import bars
from benchmarks.decay_models import Touched, chain, poller
from benchmarks.decay_report import day_of, groups, section, table
from benchmarks.decay_router import subscriber
from benchmarks.decay_trace import REQUESTS, Trace, records, trace
from benchmarks.report import HERE, machine, rewritten

SEED = 7
REACTION_MIN = 1.0
QUICK = 60
ROUTER = "queued subscriber (the router)"
WAYS: dict[str, Callable[[Trace], Touched]] = {
    "synchronous chain (model)": chain,
    "poller, every minute (model)": lambda day: poller(day, 60.0),
    "poller, every 5 minutes (model)": lambda day: poller(day, 300.0),
    "poller, every 15 minutes (model)": lambda day: poller(day, 900.0),
    ROUTER: subscriber,
}


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    options = _options(words)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))  # the day has its faults
    told = machine()
    day = trace(options.seed, options.requests)
    touched = {name: way(day) for name, way in WAYS.items()}
    days = {name: day_of(one, day, options.reaction_min) for name, one in touched.items()}
    sys.stdout.write(f"{table(days)}\n{told}\n")
    if options.record:
        title = f"{options.requests:,} requests of a day, by architecture"
        (HERE / "decay.svg").write_text(bars(title, groups(days)), encoding="utf-8")
        page = HERE / "REPORT.md"
        text = section(days, day, options.reaction_min, told)
        page.write_text(rewritten(page.read_text("utf-8"), text), encoding="utf-8")
    written = {request for _, request in records(day)}
    ours = touched[ROUTER]
    return 1 if ours.doubles or written - ours.waits.keys() else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.decay", description="A day of requests, by architecture.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--reaction-min", type=float, default=REACTION_MIN, help="from owner to call, in minutes")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} requests")
    parser.add_argument("--record", action="store_true", help="write its chart and section of the report anew")
    options = parser.parse_args(words)
    return argparse.Namespace(**(vars(options) | ({"requests": QUICK} if options.quick else {})))


if __name__ == "__main__":
    sys.exit(main())
