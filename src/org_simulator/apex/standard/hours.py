"""BusinessHours, on the org's own rows. Holidays close the hours that their description names, or all.

Which hours a holiday belongs to is in no object of the platform; here `Hours: <name>, <name>` in its description says
it.
"""

from __future__ import annotations

import re
from calendar import day_name
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from lead_router.core.hours import is_open, next_open, spans, windows
from lead_router.core.roster import Holiday, Hours, Recurrence
from lead_router.core.zones import local_date
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
    holidays = tuple(_holiday(each) for each in session.tx.rows("Holiday") if _closes(each, row["Name"]))
    return Hours(row["Id"], row["Name"], row["TimeZoneSidKey"], week, holidays)


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
    return is_open(_hours(session, record_id), at)


@static("BusinessHours.nextStartDate", "Datetime", 2)
def next_start_date(session: Any, record_id: Any, at: datetime) -> datetime | None:
    """The moment itself where the hours are open then."""
    if at is None:
        raise null_pointer()
    found = next_open(_hours(session, record_id), at)
    return None if found is None else found.astimezone(UTC)


@static("BusinessHours.diff", "Long", 3)
def diff(session: Any, record_id: Any, start: datetime, end: datetime) -> Long:
    """Milliseconds of open time between two moments."""
    hours = _hours(session, record_id)
    if start > end:
        return Long(-diff(session, record_id, end, start))
    total = timedelta()
    day = local_date(hours.zone, start) - timedelta(days=1)
    while day <= local_date(hours.zone, end):
        for opened, closed in spans(hours, day):
            total += max(min(closed, end) - max(opened, start), timedelta())
        day += timedelta(days=1)
    return Long(total // timedelta(milliseconds=1))


@static("BusinessHours.add|BusinessHours.addGmt", "Datetime", 3)
def add(session: Any, record_id: Any, start: datetime, millis: int) -> datetime:
    """The moment after so much open time."""
    hours, left = _hours(session, record_id), timedelta(milliseconds=millis)
    if millis < 0:
        raise Unsupported("BusinessHours.add of negative time")
    day = local_date(hours.zone, start) - timedelta(days=1)
    for _ in range(SEARCH_DAYS):
        for opened, closed in spans(hours, day):
            begin = max(opened, start)
            if closed - begin >= left and closed > begin:
                return (begin + left).astimezone(UTC)
            left -= max(closed - begin, timedelta())
        day += timedelta(days=1)
    raise Unsupported("BusinessHours.add beyond a year")
