"""`python -m benchmarks.plan` (with tests on the path): a company's leads planned, then really routed, owner by owner.

Both ways of planning are whole processes, as is `lead-router run`, which then gives the same leads out and is the
baseline. The simulated org, a process too, is in the state that it had when the leads were planned.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.report import machine
from lead_router.jobs import open_store
from support import planned
from support.router import Router, command, environment, routers, until
from support.simulator import Simulator, simulator
from support.third_program import THREADS, Form

LEADS = 10_000
RUNS = 3
TOGETHER = 200  # leads per call of the third program
PLAN_S, ROUTE_S = 300.0, 1_200.0  # given up after so long
LIMITS = {"connect_timeout_s": "5", "read_timeout_s": "30", "lease_s": "120", "poll_s": "0.5"}
GIVEN = frozenset({"assign", "follow"})
WAYS = {"plan --soql": ("--soql", ""), "plan --csv": ("--csv", "leads.csv")}


@dataclass(frozen=True, slots=True)
class Seen:
    """One way: the seconds of each run, and how many leads have the owner that the real run gave them, at the least."""

    way: str
    seconds: tuple[float, ...]
    same: int


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; 1 if any lead was planned for another owner than it got."""
    parser = argparse.ArgumentParser("python -m benchmarks.plan", description="A plan beside what it foretells.")
    parser.add_argument("--leads", type=int, default=LEADS)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each way to plan, in turns; medians are told")
    options = parser.parse_args(words)
    started = machine()
    several = seen(options.leads, options.runs)
    sys.stdout.write("\n".join((*table(several, options.leads), started)) + "\n")
    return 0 if all(one.same == options.leads for one in several) else 1


def seen(leads: int, runs: int) -> tuple[Seen, ...]:
    """What each way to plan came to, and at last the real run."""
    with (
        simulator(scenario=planned.scenario(leads, datetime.now(UTC))) as org,
        tempfile.TemporaryDirectory(prefix="lead-router-plan-") as opened,
    ):
        folder = Path(opened)
        form = Form(org)
        form.post_all(planned.leads(leads), threads=THREADS, together=TOGETHER)
        _write(folder / "leads.csv", org.rows("Lead"))
        settings = environment(org, "sqlite:///jobs.db", **LIMITS)
        plans = [(way, *_plan(folder, settings, WAYS[way])) for _ in range(runs) for way in WAYS]
        took = _route(org, folder, settings)
        owners = {row["Id"]: row["OwnerId"] for row in org.rows("Lead")}
        told = [
            Seen(
                way,
                tuple(seconds for name, seconds, _ in plans if name == way),
                min(_same(plan, owners, form.queue) for name, _, plan in plans if name == way),
            )
            for way in WAYS
        ]
        return (*told, Seen("real run", (took,), len(owners)))


def table(several: Iterable[Seen], leads: int) -> list[str]:
    """A row for each way, the baseline last."""
    lines = [
        f"| {'way':<11} | {'seconds':>7} | {'least to most':>13} | {'leads':>6} | {'same owners':>13} |",
        f"| {'-' * 11} | {'-' * 6}: | {'-' * 12}: | {'-' * 5}: | {'-' * 12}: |",
    ]
    for one in several:
        spread = f"{min(one.seconds):.1f} to {max(one.seconds):.1f}"
        middle = f"{statistics.median(one.seconds):.1f}"
        share = "baseline" if one.way == "real run" else f"{one.same:,}/{leads:,}"
        lines.append(f"| {one.way:<11} | {middle:>7} | {spread:>13} | {leads:>6,} | {share:>13} |")
    return lines


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The org's leads as a file, in the order in which they came."""
    names = ("Id", "CreatedDate", "OwnerId", *planned.leads(1)[0])
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(names)
        lines.writerows([row.get(name) for name in names] for row in sorted(rows, key=_came))


def _came(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row["CreatedDate"]), str(row["Id"])


def _plan(folder: Path, settings: Mapping[str, str], words: Sequence[str]) -> tuple[float, Sequence[Mapping[str, Any]]]:
    start = time.perf_counter()
    ended = command(folder, settings, "plan", *words, "--json", within_s=PLAN_S)
    took = time.perf_counter() - start
    if ended.code != 0:
        raise RuntimeError(ended.err)
    return took, ended.json()["leads"]


def _route(org: Simulator, folder: Path, settings: Mapping[str, str]) -> float:
    """Seconds from the start of `lead-router run` until no job is due."""
    router = Router(folder, settings)
    start = time.perf_counter()
    with routers(router):
        router.await_event("leads_swept", within_s=ROUTE_S)
        with closing(open_store(f"sqlite:///{folder / 'jobs.db'}", org_id=org.control("state")["org_id"])) as jobs:
            until(lambda: (queue := jobs.queue()).due == queue.working == 0, ROUTE_S, "every job done or held")
        took = time.perf_counter() - start
        router.stop()
    return took


def _same(plan: Iterable[Mapping[str, Any]], owners: Mapping[str, str], intake: str) -> int:
    """How many leads are with the owner that was planned; who was planned none is in the intake queue still."""
    return sum(1 for one in plan if owners[one["lead"]] == (one["owner_id"] if one["decision"] in GIVEN else intake))


if __name__ == "__main__":
    sys.exit(main())
