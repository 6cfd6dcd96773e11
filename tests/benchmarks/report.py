"""The figures as a table for a terminal and for REPORT.md."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import PER, Figures, Pair

HERE = Path(__file__).parent
HEADS = (
    "latency",
    "way",
    "leads",
    "API calls per 1,000",
    "leads/s",
    "least to most",
    "p50 s",
    "p95 s",
    "max s",
    "1,000 leads take",
)
MARK = "~"  # reckoned from fewer leads


def table(pairs: Sequence[Pair]) -> str:
    """A Markdown table that can be read as plain text: per latency the router, the loop, and router against loop."""
    rows: list[tuple[str, ...]] = [HEADS]
    for pair in pairs:
        rows.append(_row(pair, "router", pair.router))
        rows.append(_row(pair, "naive loop", pair.naive))
        rows.append(("", "ratio", "", f"{pair.fewer:,.0f} x fewer", f"{pair.faster:,.1f} x more", *([""] * 5)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(_placed(row, widths)) + " |" for row in rows]
    rule = [("-" * width if number < 2 else "-" * (width - 1) + ":") for number, width in enumerate(widths)]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def machine() -> str:
    """The class of machine that this is, and how busy it is."""
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{os.cpu_count()} cores, {platform.system()}, {python}, load {os.getloadavg()[0]:.1f} before the first run"


def page(pairs: Sequence[Pair], machine: str) -> str:
    """REPORT.md of this run."""
    return PAGE.format(machine=machine, runs=len(pairs[0].router.rates), table=table(pairs))


def rewritten(document: str, section: str) -> str:
    """The document with the section in place of the one under the same heading, at its end where there is none."""
    heading = section.partition("\n")[0]
    former = [part for part in re.split(r"^(?=# )", document, flags=re.MULTILINE) if part]
    parts = [section if part.startswith(f"{heading}\n") else part for part in former]
    return "\n\n".join(part.strip() for part in (parts if section in parts else [*parts, section])) + "\n"


def _row(pair: Pair, way: str, seen: Figures) -> tuple[str, ...]:
    waits = [f"{ms / 1000:.2f}" for ms in (seen.p50_ms, seen.p95_ms, seen.max_ms)]
    took = f"{'' if seen.leads == PER else MARK}{PER / seen.rate:,.1f} s"
    spread = f"{seen.rates[0]:,.1f} to {seen.rates[-1]:,.1f}"
    counts = (f"{seen.leads:,}", f"{seen.calls:,.0f}", f"{seen.rate:,.1f}")
    return (f"{pair.latency_ms} ms", way, *counts, spread, *waits, took)


def _placed(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Names to the left, figures to the right."""
    return [
        text.ljust(width) if number < 2 else text.rjust(width)
        for number, (text, width) in enumerate(zip(row, widths, strict=True))
    ]


PAGE = """# A burst of leads in one group

Written by `make bench ARGS=--record`. Medians of {runs} runs of each way, taken in turns.
Machine: {machine}; simulated org, router and third program share it.

{table}

*Way.* The router: `lead-router run` as it comes (SQLite, one worker), subscribed over CometD before the leads come.
The naive loop: simple-salesforce, three calls per lead, one lead after the other: read whose turn it is, give the lead
to that rep, write the turn. It is told the leads' ids and the reps for free, keeps no queue and holds none of the
router's promises.

*Leads* come from a third program as calls of 200 in five threads, each of another buyer, into one group of five reps.

*API calls* are the simulated org's own count without the third program's: one for each HTTP request to the REST API.

*Waits* are from the commit that created a lead to the commit that gave it its owner, by the commit times of the org's
change events; *leads/s* from the first creation to the last owner. `~` is reckoned from the fewer leads of the row,
whose own waits stand beside it.

*Latency* is added by the simulated org to every REST request, the third program's too; not to the stream. At 0 ms both
ways cost what the simulated org costs in CPU, which says little about Salesforce. At 100 ms the calls decide, as in
life.
"""
