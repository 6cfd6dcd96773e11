"""What the two streams showed: as tables, as named figures and as a section of REPORT.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.named import Named
from benchmarks.report import table as aligned

PEER = "aiosfstream-ng, nothing stored"
HUNDRED = 100
FIGURES = {"SQLite": "pubsub_vs_cometd", "PostgreSQL": "pubsub_vs_cometd_postgresql"}
TARGET = ">=0.7"


def section(written: Mapping[str, Any]) -> str:
    """Its part of REPORT.md, of what the JSON file holds."""
    seen = written["events_per_s"]
    return SECTION.format(
        events=written["events"],
        runs=len(seen[PEER]),
        machine=written["machine"],
        table="\n".join(table(seen)),
        ratios="\n".join(ratio_table(seen)),
        dearer=_dearer(seen),
    )


def _dearer(seen: Mapping[str, Sequence[float]]) -> str:
    """What PostgreSQL adds to a transaction of a hundred events, and to a hundred of a transaction of many."""
    middles = {way: statistics.median(several) for way, several in seen.items()}
    few, many = (
        sum(
            sign * HUNDRED * 1000 / middles[f"{stream}, {engine}"]
            for engine, sign in (("PostgreSQL", 1), ("SQLite", -1))
        )
        for stream in ("Pub/Sub API", "CometD")
    )
    return f", and each hundred takes {few:.1f} ms more on PostgreSQL than on SQLite (over CometD {many:.1f} ms)"


def named(seen: Mapping[str, Sequence[float]]) -> dict[str, Named]:
    """Pub/Sub API against CometD, run by run, on each engine that was measured."""
    beside = "our CometD source, wire to job row, both on {}"
    return {
        name: Named(round(statistics.median(ratios), 2), "times", TARGET, beside.format(engine))
        for engine, name in FIGURES.items()
        if (ratios := _ratios(seen, engine))
    }


def ratio_table(seen: Mapping[str, Sequence[float]]) -> list[str]:
    """Events a second over Pub/Sub API in those over CometD, by engine."""
    rows = [("Pub/Sub API in CometD's events/s", "median", "least to most", "target", "")]
    verdicts = named(seen)
    for engine, name in FIGURES.items():
        if ratios := _ratios(seen, engine):
            one = verdicts[name]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            rows.append((engine, f"{one.value:.2f}", spread, one.target, "reached" if one.reached else "MISSED"))
    return aligned(rows).splitlines()


def _ratios(seen: Mapping[str, Sequence[float]], engine: str) -> list[float]:
    """Run by run; none where either stream was not measured on this engine."""
    pairs = zip(seen.get(f"Pub/Sub API, {engine}", ()), seen.get(f"CometD, {engine}", ()), strict=True)
    return [pubsub / cometd for pubsub, cometd in pairs]


def table(seen: Mapping[str, Sequence[float]]) -> list[str]:
    """A row for each way."""
    rows = [f"| {'way':<30} | events/s (median) | least to most      |", f"| {'-' * 30} | {'-' * 16}: | {'-' * 17}: |"]
    for way, several in seen.items():
        spread = f"{min(several):,.0f} to {max(several):,.0f}"
        rows.append(f"| {way:<30} | {statistics.median(several):>17,.0f} | {spread:>18} |")
    return rows


SECTION = """# Two streams, from the wire to a committed job row

Written by `PYTHONPATH=tests python -m benchmarks.streams --record`. {events:,} creations of leads wait in a simulated
org; {runs} runs of each way, taken in turns. Machine: {machine}; the org is a process beside the one that is measured.

{table}

{ratios}

*CometD* and *Pub/Sub API* are the router's sources, each with intake and job store as in `lead-router run`: every event
is a job row on disk when it counts, with the stream's position in the same transaction. Over CometD a transaction holds
what one long poll brought (a thousand events and more when so many wait), over Pub/Sub API at most 100, which is all
that may be pending. So for the same events Pub/Sub API commits ten times as often or more{dearer}. It is bound by
those hundred, which a subscriber cannot raise.

*aiosfstream-ng* is its own receive loop, to which a position or a job is nothing; it reads JSON as our source does.

*The bare gRPC call* counts events and looks into none: what the simulated org's side and gRPC leave to a source that
asks for 100 only when it has 100. The org makes each event's Avro body before the first run. Against Salesforce the way
there and back is the bound instead: 100 events each time.
"""
