"""`python -m benchmarks.stock` (with tests on the path): what a lead costs where much is kept or waits.

Jobs behind 1,000, 100,000 and a million finished ones on both databases, a sweep of many unassigned leads, and leads
routed before a long ledger. `benchmarks.growth` lets millions of events go through one process instead.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from benchmarks import stock_report as report
from benchmarks.named import put, told
from benchmarks.report import HERE, machine
from benchmarks.stock_jobs import ENGINES, costs
from benchmarks.stock_org import routed, swept
from benchmarks.stock_report import Seen
from lead_router.log import quiet

STOCKS = (0, 1_000, 100_000, 1_000_000)
TURNS = 15
SWEPT = (2_000, 20_000)
LEDGERS = (1_000, 10_000)
ROUTED_TURNS = 3

T = TypeVar("T")


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables; 0, as nothing is judged here: `integration/test_job_store_plans.py` does that."""
    options = _options(words)
    before = machine()
    seen = measured(options)
    figures = report.named(seen.costs)
    told_all = {"machine": before, **asdict(seen)}
    options.json.write_text(json.dumps(told_all, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{report.tables(seen)}\n\n{told(figures)}\n{before}; all figures are in {options.json}\n")
    if options.record:
        put(figures)
        if options.leads or options.ledger:
            report.record_long(seen, before, _command(options), time.strftime("%Y-%m-%d"))
        else:
            report.record(seen, before)
    return 0


def _command(options: argparse.Namespace) -> str:
    sizes = [f" --{name} {size}" for name in ("leads", "ledger") for size in getattr(options, name) or ()]
    return f"python -m benchmarks.stock{''.join(sizes)} --record"


def measured(options: argparse.Namespace) -> Seen:
    """All parts, one after the other."""
    stocks = [rows for rows in STOCKS if rows <= options.rows]
    found = []
    for engine in options.engine or ENGINES:
        found += _said(f"finished jobs on {engine}", lambda engine=engine: costs(engine, stocks, options.turns))
    sweeps = [_said(f"{leads:,} leads swept", lambda leads=leads: swept(leads)) for leads in options.leads or SWEPT]
    with quiet():
        ledgers = options.ledger or LEDGERS
        before = _said(f"a ledger of {ledgers[-1]:,} rows", lambda: list(routed(ledgers, ROUTED_TURNS)))
    return Seen(found, sweeps, before)


def _said(what: str, work: Callable[[], T]) -> T:
    """Tells who waits how long it took, all set-up included."""
    start = time.perf_counter()
    found = work()
    sys.stderr.write(f"{what}: {time.perf_counter() - start:,.0f} s\n")
    return found


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.stock", description="What a lead costs behind many others.")
    parser.add_argument("--rows", type=int, default=STOCKS[-1], help="finished jobs at the most")
    parser.add_argument("--turns", type=int, default=TURNS, help="of 200 jobs for each stock; medians are told")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="one of them, instead of both")
    parser.add_argument(
        "--leads", type=int, action="append", help=f"to sweep, instead of {SWEPT}; 1000000 takes minutes"
    )
    parser.add_argument("--ledger", type=int, action="append", help=f"rows, ascending, instead of {LEDGERS}")
    parser.add_argument("--json", type=Path, default=HERE / "stock.json", metavar="FILE")
    parser.add_argument(
        "--record",
        action="store_true",
        help="write its section of REPORT.md and its figures anew; with --leads or --ledger that of the long runs",
    )
    options = parser.parse_args(words)
    if options.record and (options.rows < STOCKS[-1] or options.engine):
        parser.error(f"fewer than {STOCKS[-1]:,} rows, or one engine, are nothing to record")
    return options


if __name__ == "__main__":
    sys.exit(main())
