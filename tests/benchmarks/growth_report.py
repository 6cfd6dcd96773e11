"""What a long run showed, as a table, as panels of a chart and as a section of REPORT.md."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.chart import Panel
from benchmarks.growth_watch import BOUNDS, Bound, Judged, Sample

HEADS = ("measure", "after 10-20 %", "over the last tenth", "may grow by", "so at most", "flat")


def table(found: Sequence[Judged]) -> str:
    """A Markdown table that can be read as plain text."""
    rows = [HEADS, *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def panels(samples: Sequence[Sample]) -> list[Panel]:
    """One per measure, over the events."""
    return [
        Panel(bound.told, [(one.events, bound.of(one) / bound.unit) for one in samples])
        for bound in BOUNDS
        if any(map(bound.of, samples))
    ]


def took(samples: Sequence[Sample]) -> str:
    """How many events in which time."""
    last = samples[-1]
    return f"{last.events:,} events in {last.at_s:,.0f} s, {last.events / last.at_s:,.0f} events/s"


def section(engine: str, chart: str, samples: Sequence[Sample], found: Sequence[Judged], machine: str) -> str:
    """The engine's part of REPORT.md."""
    return SECTION.format(
        engine=engine, chart=chart, word=engine.lower(), table=table(found), took=took(samples), machine=machine
    )


def _row(one: Judged) -> tuple[str, ...]:
    early, late, most = (
        f"{value / one.bound.unit:,.1f}".removesuffix(".0") for value in (one.early, one.late, one.most)
    )
    return one.bound.told, early, late, _tolerance(one.bound), most, "yes" if one.flat else "NO"


def _tolerance(bound: Bound) -> str:
    """What flat means for a measure, in its unit."""
    parts = [f"{bound.share:.0%}"] if bound.share else []
    parts += [f"{bound.more / bound.unit:g}"] if bound.more else []
    grown = " and ".join(parts) or "nothing"
    return f"{grown}, or up to {bound.least / bound.unit:g}" if bound.least else grown


SECTION = """# A router over very many events: {engine}

Written by `PYTHONPATH=tests python -m benchmarks.growth --engine {word} --record`.
{took}.
Machine: {machine}; simulated org, router and job database share it.

{table}

![each measure over the events]({chart})

*What happens.* The production process listens to a simulated org over CometD. One event in twenty creates a lead, which
is routed; the others need no routing: changes of leads that people own, owners that people change, our own writes
come back, deletions. Nearly every event is of another lead, and each comes under another schema id.

*Finished jobs* are kept for a few seconds instead of for days (ten seconds for each million of events), and looked
for five times as often; all else is `lead-router run` as it comes. The ledger in Salesforce keeps what the job
database forgets.

*Flat* is judged by medians: between 10 and 20 % of the events, and over the last tenth, which may lie above the
former by what the table says and no more; open files may be two more, as connections come and go, threads none. A
share leaves room for what the machine's pace does to a measure, and an absolute part for a small one. Finished jobs
are told by the pace of the events before, since others use the machine too, and more leads come in the seconds of a
faster one. SQLite's log is written back at quiet moments and at the latest when it has grown to 16 MiB. A database
file does not shrink; it is flat if what is forgotten makes room for what comes. PostgreSQL keeps each former version
of a row until its autovacuum comes round, once a minute: at this pace that is most of the table.
"""
