"""`make bench`: prints figures; 1 only if a plan told another owner than a lead got, or the year broke a promise.

Takes minutes; give it the machine for itself.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import plan, report, rules, year
from benchmarks.burst import by_naive_loop, by_router
from benchmarks.figures import Pair, as_dict, figures
from benchmarks.report import HERE

LEADS = 1_000
RUNS = 3
LATENCIES_MS = (0, 100)
SLOW_PART = 10  # with latency the naive loop is given this part of the leads: it takes a third of a second for each


def main(words: Sequence[str] | None = None) -> int:
    """Run both ways in turns at each latency; the table goes to standard output, all figures to a JSON file."""
    options = _options(words)
    machine = report.machine()
    pairs = [_pair(latency_ms, options.leads, options.runs) for latency_ms in LATENCIES_MS]
    seen = {"machine": machine, "burst": [as_dict(pair) for pair in pairs]}
    options.json.write_text(json.dumps(seen, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"{report.table(pairs)}\n{machine}; all figures are in {options.json}\n")
    rules.main()
    if options.record:
        page = HERE / "REPORT.md"
        page.write_text(report.rewritten(page.read_text("utf-8"), report.page(pairs, machine)), encoding="utf-8")
    return max(plan.main([]), year.main([]))


def _pair(latency_ms: int, leads: int, runs: int) -> Pair:
    few = leads if latency_ms == 0 else max(1, leads // SLOW_PART)
    ours, naive = [], []
    for run in range(1, runs + 1):
        ours.append(by_router(leads, latency_ms))
        naive.append(by_naive_loop(few, latency_ms))
        told = f"router {ours[-1].rate:,.0f}, naive loop {naive[-1].rate:,.1f} leads/s"
        sys.stderr.write(f"{latency_ms} ms, run {run} of {runs}: {told}\n")
    return Pair(latency_ms, figures(ours), figures(naive))


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("make bench", description="Leads that arrive at once in one group.")
    parser.add_argument("--leads", type=int, default=LEADS)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each way at each latency; medians are told")
    parser.add_argument("--json", type=Path, default=HERE / "report.json", metavar="FILE")
    parser.add_argument("--record", action="store_true", help="write its section of REPORT.md anew")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
