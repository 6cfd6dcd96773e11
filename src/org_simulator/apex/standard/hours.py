"""BusinessHours, on the org's own rows. Holidays close the hours that their description names, or all.

Which hours a holiday belongs to is in no object of the platform; here `Hours: <name>, <name>` in its description says
it. What a holiday does to a window that reaches over midnight is a switch (`holidays_close_dates`).
"""

from __future__ import annotations

import re
from calendar import day_name
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from lead_router.core import holidays
from lead_router.core.hours import Span, spans, windows
from lead_router.core.roster import Holiday, Hours, Recurrence
from lead_router.core.zones import instant, local_date
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.types import to_id
from org_simulator.apex.values import Long

_NAMED = re.compile(r"\bhours:(?P<names>.*)", re.IGNORECASE | re.DOTALL)
DAY_MIN = 1440
SEARCH_DAYS = 400


def _hours(session: Any, record_id: Any) -> Hours:
    if record_id is None:
        raise null_pointer()
    row = session.tx.row("BusinessHours", to_id(record_id))
    if row is None or not row["IsActive"]:
        raise thrown("InvalidParameterValueException", f"Invalid BusinessHours id: {record_id}")
    week = tuple(windows(_minute(row[f"{day}StartTime"]), _minute(row[f"{day}EndTime"])) for day in day_name)
    off = tuple(_holiday(each) for each in session.tx.rows("Holiday") if _closes(each, row["Name"]))
    return Hours(row["Id"], row["Name"], row["TimeZoneSidKey"], week, off)


def _openings(session: Any, record_id: Any, start: datetime, days: int) -> Iterator[Span]:
    """When the hours are open: windows begun on the day before `start`, on its day, and on so many days after it."""
    hours = _hours(session, record_id)
    first = local_date(hours.zone, start) - timedelta(days=1)
    for day in (first + timedelta(days=ahead) for ahead in range(days + 2)):
        if session.org.switches.holidays_close_dates:
            yield from _outside_dates(hours, day)
        else:
            yield from spans(hours, day)


def _outside_dates(hours: Hours, day: date) -> list[Span]:
    """The windows begun on the day without what holidays close of it and of the day that they reach into."""
    left = list(spans(replace(hours, holidays=()), day))
    for date_reached in (day, day + timedelta(days=1)):
        for one in hours.holidays:
            if holidays.falls_on(one, date_reached):
                shut, opened = (instant(hours.zone, date_reached, minute) for minute in (one.start, one.end))
                pieces = [piece for a, b in left for piece in ((a, min(b, shut)), (max(a, opened), b))]
                left = [(begin, end) for begin, end in pieces if begin < end]
    return left


def _closes(row: Any, name: str) -> bool:
    found = _NAMED.search(row["Description"] or "")
    named = {part.strip().lower() for part in (found["names"] if found else "").split(",")} - {""}
    return not named or name.lower() in named


def _minute(value: str | None) -> int | None:
    if value is None:
        return None
    at = time.fromisoformat(value.removesuffix("Z"))
    return at.hour * 60 + at.minute


def _holiday(row: Any) -> Holiday:
    part = not row["IsAllDay"]
    recurrence = None
    if row["IsRecurrence"]:
        recurrence = Recurrence(
            kind=row["RecurrenceType"],
            start=date.fromisoformat(row["RecurrenceStartDate"] or row["ActivityDate"]),
            end=date.fromisoformat(row["RecurrenceEndDateOnly"]) if row["RecurrenceEndDateOnly"] else None,
            interval=row["RecurrenceInterval"],
            day_of_month=row["RecurrenceDayOfMonth"],
            weekdays=row["RecurrenceDayOfWeekMask"] or 0,
            instance=row["RecurrenceInstance"],
            month=row["RecurrenceMonthOfYear"],
        )
    return Holiday(
        name=row["Name"],
        day=date.fromisoformat(row["ActivityDate"]) if row["ActivityDate"] else None,
        start=row["StartTimeInMinutes"] or 0 if part else 0,
        end=row["EndTimeInMinutes"] or DAY_MIN if part else DAY_MIN,
        recurrence=recurrence,
    )


@static("BusinessHours.isWithin", "Boolean", 2)
def is_within(session: Any, record_id: Any, at: datetime) -> bool:
    if at is None:
        raise null_pointer()
    return any(opened <= at < closed for opened, closed in _openings(session, record_id, at, 0))


@static("BusinessHours.nextStartDate", "Datetime", 2)
def next_start_date(session: Any, record_id: Any, at: datetime) -> datetime | None:
    """The moment itself where the hours are open then."""
    if at is None:
        raise null_pointer()
    found = _openings(session, record_id, at, SEARCH_DAYS)
    return next((max(opened, at).astimezone(UTC) for opened, closed in found if closed > at), None)


@static("BusinessHours.diff", "Long", 3)
def diff(session: Any, record_id: Any, start: datetime, end: datetime) -> Long:
    """Milliseconds of open time between two moments."""
    if start > end:
        return Long(-diff(session, record_id, end, start))
    found = _openings(session, record_id, start, (end - start).days + 1)
    total = sum((max(min(closed, end) - max(opened, start), timedelta()) for opened, closed in found), timedelta())
    return Long(total // timedelta(milliseconds=1))


@static("BusinessHours.add|BusinessHours.addGmt", "Datetime", 3)
def add(session: Any, record_id: Any, start: datetime, millis: int) -> datetime:
    """The moment after so much open time."""
    left = timedelta(milliseconds=millis)
    if millis < 0:
        raise Unsupported("BusinessHours.add of negative time")
    for opened, closed in _openings(session, record_id, start, SEARCH_DAYS):
        begin = max(opened, start)
        if closed - begin >= left and closed > begin:
            return (begin + left).astimezone(UTC)
        left -= max(closed - begin, timedelta())
    raise Unsupported("BusinessHours.add beyond a year")
