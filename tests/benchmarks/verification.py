"""Verification of many leads: three planted drifts, their turns, the calls and the time that it takes.

PYTHONPATH=tests python -m benchmarks.verification [--leads 10000] [--seed 1]
Ends with 1 where anything else than what was planted was found.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from lead_router import log
from lead_router.app.verifying import Verified, verified_in
from lead_router.core.drift import Drift
from lead_router.salesforce.books import SalesforceBooks
from support.planted_drift import Company, Planted


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verification", description=__doc__)
    parser.add_argument("--leads", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(words)
    log.configure("critical")
    with tempfile.TemporaryDirectory() as folder:
        company = Company(Path(folder), asked.seed)
        began = time.perf_counter()
        company.live(asked.leads)
        _say(f"{asked.leads} leads routed in {time.perf_counter() - began:.1f} s")
        before = _judged(company, "untouched")
        planted = company.plant()
        after = _judged(company, "three drifts planted")
        for one in after.findings:
            _say(f"  {one.group or 'job'} epoch {one.epoch} turn {one.turn}: {one.kind}: {one.text}")
        found = {Planted(one.kind, one.group, one.epoch or 0, one.turn or 0) for one in after.findings if one.group}
        mended = verified_in(SalesforceBooks(company.rig.rest_org.rest), company.rig.store, write=True)
        left = {one.kind for one in mended.findings}
        _say(f"repaired: {len(mended.changes)} fields; left: {', '.join(sorted(left))}")
        company.rig.close()
    right = not before.findings and found == planted and left == {Drift.MISSING, Drift.JOB}
    _say("found what was planted, and nothing else" if right else f"WRONG: planted {planted}, found {found}")
    return 0 if right else 1


def _judged(company: Company, what: str) -> Verified:
    rest = company.rig.rest_org.rest
    calls, began = rest.usage().calls, time.perf_counter()
    seen = verified_in(SalesforceBooks(rest), company.rig.store)
    took, calls = time.perf_counter() - began, rest.usage().calls - calls
    tracemalloc.start()
    verified_in(SalesforceBooks(rest), company.rig.store)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    told = f"{seen.rows} rows, {seen.leads} leads, {seen.jobs} jobs: {len(seen.findings)} drifts"
    _say(
        f"{what}: {told}, {calls} calls, {took:.1f} s (the simulated org's time included), peak {peak / 2**20:.0f} MiB"
    )
    return seen


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
