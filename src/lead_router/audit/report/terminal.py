"""The report on a terminal: what was found, in the order of the report, and where to read on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

from lead_router.audit.judging import evidence
from lead_router.audit.judging.answers import Audit
from lead_router.audit.judging.evidence import WAITS_MIN
from lead_router.audit.judging.words import said, when
from lead_router.audit.report.page import NO_HOURS, cost, nothing
from lead_router.core.counted import counted

WIDTH = 110


def summary(audit: Audit) -> str:
    """The whole text; names of people obey no terminal."""
    return "".join(letter if letter == "\n" or letter.isprintable() else " " for letter in "\n".join(_lines(audit)))


def _many(leads: Sequence[str]) -> str:
    return f": {counted(len(leads), 'lead')}" if leads else ""


def _writers(audit: Audit) -> str:
    machines = [one for one in audit.writers if one.machine]
    people = [one for one in audit.writers if not one.machine]
    named = ", ".join(f"{audit.name(one.writer)} of {counted(one.leads, 'lead')}" for one in machines[:5])
    changes = counted(sum(one.writes for one in people), "change")
    hand = f"people who wrote them by hand: {len(people):,}, {changes}"
    return f"machines that write owners: {len(machines)}{f' ({named})' if named else ''}; {hand}"


def _lines(audit: Audit) -> Iterator[str]:
    spread = audit.waits
    if not audit.leads:
        yield "0 leads"
    else:
        span = f"{when(audit, audit.since)} to {when(audit, audit.until)} {audit.zone}"
        yield f"{counted(audit.leads, 'lead')}, {span}"
    if audit.history and spread.elapsed.leads >= WAITS_MIN:
        yield (
            f"wait for the first rep: half within {said(spread.elapsed.p50)}, 90 of 100 within "
            f"{said(spread.elapsed.p90)}, 95 within {said(spread.elapsed.p95)}; in working time "
            f"{said(spread.working.p50)}, {said(spread.working.p90)}, {said(spread.working.p95)}"
        )
    if audit.history and audit.leads:
        yield fill(_writers(audit), WIDTH)
    for told in [*map(evidence.said, audit.thin), *([] if audit.placed else [NO_HOURS]), *audit.told]:
        yield fill(f"note: {told}", WIDTH, subsequent_indent="      ")
    yield ""
    if not audit.findings:
        yield fill(nothing(audit), WIDTH)
    for place, one in enumerate(audit.findings, 1):
        told = cost(audit, one)
        yield (f"{place}. {one.title}" + _many(one.leads) + (f"; {told}" if told else ""))
        yield fill(one.told, WIDTH, initial_indent="   ", subsequent_indent="   ")
        yield fill(f"smallest change: {one.change}", WIDTH, initial_indent="   → ", subsequent_indent="     ")
