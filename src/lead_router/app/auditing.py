"""`lead-router audit`: an org's past measured as it is, from the org itself, by reads alone, or from exported files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lead_router.app.wiring import now, wire
from lead_router.audit import Assumed, Audit, Exports, email_digest, gather, judge, phone_digest
from lead_router.core.counted import counted
from lead_router.core.roster import Hours
from lead_router.errors import Misconfigured
from lead_router.ports.history import History
from lead_router.salesforce.history import OrgHistory
from lead_router.salesforce.rest import Rest
from lead_router.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """What the asker says: days back from now, and, where the org's own word shall not count, hours and zone."""

    days: int = 90
    hours: Hours | None = None
    zone: str = ""
    day_first: bool = False
    assumed: Assumed = field(default_factory=Assumed)


def audit_org(settings: Settings, asked: Asked, tell: Callable[[str], None]) -> Audit:
    """The audit of the org; `tell` hears beforehand how many API calls it will take."""
    return audit_rest(wire(settings).rest, asked, tell)


def audit_rest(rest: Rest, asked: Asked, tell: Callable[[str], None], *, at: Callable[[], datetime] = now) -> Audit:
    """The same, of an org within reach; raises Misconfigured where the day's calls that are left are too few for it."""
    until = at()
    since = until - timedelta(days=asked.days)
    before = rest.usage().calls
    history = OrgHistory(rest, digests=(email_digest, phone_digest))
    extent = history.extent(since)
    used, allowed = rest.usage().used, rest.usage().allowed
    left = f"; {allowed - used:,} of the day's {allowed:,} are left" if used is not None and allowed else ""
    rows = "no history" if extent.rows is None else f"{counted(extent.rows, 'row')} of history"
    tell(
        f"reading {counted(extent.leads, 'lead')} of {counted(asked.days, 'day')} and {rows}: about "
        f"{counted(extent.calls, 'API call')}{left}; nothing is written"
    )
    if used is not None and allowed and extent.calls > allowed - used:
        raise Misconfigured(
            f"that takes {counted(extent.calls, 'API call')}, and {allowed - used:,} are left of the day's: ask for "
            f"fewer --days than {asked.days:,}, or ask tomorrow, or read exported files by --csv"
        )
    made = _judged(history, asked, since, until)
    return replace(made, calls=rest.usage().calls - before)


def audit_files(folder: Path, asked: Asked) -> Audit:
    """The audit of exported files, whichever time they are of; raises Misconfigured naming file, line and column."""
    exports = Exports(folder, asked.zone, day_first=asked.day_first)
    return _judged(exports, asked, datetime.fromtimestamp(0, UTC), None)


def _judged(history: History, asked: Asked, since: datetime, until: datetime | None) -> Audit:
    return judge(gather(history, since, until, hours=asked.hours, zone=asked.zone), asked.assumed)
