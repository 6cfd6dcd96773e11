"""Words of findings and report: lengths of time, instants, lists."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from lead_router.audit.judging.answers import Audit
from lead_router.core.zones import wall


def said(seconds: float) -> str:
    """A length of time in words: `45 s`, `5 min`, `2.5 h`, `3 days`."""
    for unit, size in (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= (2 * size if unit == "days" else size):
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"


def when(audit: Audit, at: float) -> str:
    """An instant in the zone of the business hours."""
    return f"{wall(audit.zone, datetime.fromtimestamp(at, UTC)):%d %b %Y %H:%M}"


def given_by(audit: Audit, writer: str) -> str:
    """Who gave leads out, where their history tells it."""
    return (
        f"given out by {audit.name(writer)}"
        if audit.history
        else "(who gave them out is not known without LeadHistory)"
    )


def listed(names: Iterable[str]) -> str:
    """Several names, the last one behind an `and`."""
    each = [name or "(no source)" for name in names]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}" if each else "none"
