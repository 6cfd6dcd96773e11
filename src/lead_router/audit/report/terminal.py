"""The report on a terminal: what was found, in the order of the report, and where to read on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

from lead_router.audit.judging.answers import Audit
from lead_router.audit.judging.findings import said, when
from lead_router.audit.report.page import cost, nothing

WIDTH = 110


def summary(audit: Audit) -> str:
    """The whole text."""
    return "\n".join(_lines(audit))


def _many(leads: Sequence[str]) -> str:
    return f": {len(leads):,} lead{'s' * (len(leads) != 1)}" if leads else ""


def _writers(audit: Audit) -> str:
    machines = [one for one in audit.writers if one.machine]
    people = [one for one in audit.writers if not one.machine]
    named = ", ".join(f"{audit.name(one.writer)} of {one.leads:,} leads" for one in machines[:5])
    hand = f"people who wrote them by hand: {len(people):,}, {sum(one.writes for one in people):,} changes"
    return f"machines that write owners: {len(machines)}{f' ({named})' if named else ''}; {hand}"


def _lines(audit: Audit) -> Iterator[str]:
    spread = audit.waits
    yield f"{audit.leads:,} leads, {when(audit, audit.since)} to {when(audit, audit.until)} {audit.zone}"
    if audit.history and spread.elapsed.leads:
        yield (
            f"wait for the first rep: half within {said(spread.elapsed.p50)}, 90 of 100 within "
            f"{said(spread.elapsed.p90)}, 95 within {said(spread.elapsed.p95)}; in working time "
            f"{said(spread.working.p50)}, {said(spread.working.p90)}, {said(spread.working.p95)}"
        )
        yield fill(_writers(audit), WIDTH)
    for told in audit.told:
        yield fill(f"note: {told}", WIDTH, subsequent_indent="      ")
    yield ""
    if not audit.findings:
        yield fill(nothing(audit), WIDTH)
    for place, one in enumerate(audit.findings, 1):
        told = cost(audit, one)
        yield (f"{place}. {one.title}" + _many(one.leads) + (f"; {told}" if told else ""))
        yield fill(one.told, WIDTH, initial_indent="   ", subsequent_indent="   ")
        yield fill(f"smallest change: {one.change}", WIDTH, initial_indent="   → ", subsequent_indent="     ")
