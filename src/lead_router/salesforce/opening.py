"""Business hours, holidays and absences: rows as Salesforce's JSON has them, to nouns. Pure.

Which hours a holiday belongs to is in no object that a query can read, although Setup shows it. So a holiday says it
itself: `Hours: Paris, Berlin` in its description names them, and one without these words closes all hours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, time

from lead_router.core.hours import windows
from lead_router.core.model import Absence, Holiday, Hours, Recurrence
from lead_router.core.roster import Window
from lead_router.salesforce.names import AbsenceFields, HolidayFields, Standard, Weekly
from lead_router.salesforce.records import Row, maybe_whole, moment, shaped, whole

DAY_MIN = 1440

_HOURS_NAMED = re.compile(r"\bhours:(?P<names>.*)", re.IGNORECASE | re.DOTALL)


@shaped
def hours(row: Row, holidays: Sequence[Holiday] = ()) -> Hours:
    """A BusinessHours record."""
    return Hours(
        id=row[Standard.ID],
        name=row[Standard.NAME],
        zone=row[Standard.TIME_ZONE],
        week=tuple(_day(row[start], row[end]) for start, end in zip(Weekly.START, Weekly.END, strict=True)),
        holidays=tuple(holidays),
    )


@shaped
def holiday(row: Row) -> Holiday:
    """A Holiday record, for a whole day or minutes of it."""
    part = not row[HolidayFields.ALL_DAY]
    return Holiday(
        name=row[Standard.NAME],
        day=_date(row[HolidayFields.DAY]),
        start=whole(row[HolidayFields.START]) if part else 0,
        end=whole(row[HolidayFields.END], DAY_MIN) if part else DAY_MIN,
        recurrence=_recurrence(row) if row[HolidayFields.RECURS] else None,
    )


def hours_named(row: Row) -> tuple[str, ...]:
    """The names of the hours that a holiday's description gives; none where it closes all."""
    found = _HOURS_NAMED.search(row[HolidayFields.DESCRIPTION] or "")
    return tuple(name for part in (found["names"] if found else "").split(",") if (name := part.strip()))


def attached(rows: Sequence[Row], holidays: Sequence[Row], used: Collection[str]) -> tuple[dict[str, Hours], list[str]]:
    """Of all active hours those of the ids `used`, by id, with their holidays; and what a person should look at."""
    found = [row for row in rows if row[Standard.ID] in used]
    known = {str(row[Standard.NAME]).lower() for row in rows}
    by_name: dict[str, list[Holiday]] = {str(row[Standard.NAME]).lower(): [] for row in found}
    warnings: list[str] = []
    for row in holidays if found else ():
        told = hours_named(row)
        named = [name.lower() for name in told]
        unknown = [name for name in told if name.lower() not in known]
        if unknown:
            warnings.append(_nowhere(row, unknown))
        if not named and len(found) > 1:
            warnings.append(_everywhere(row))
        for name in named or by_name:
            if name in by_name:
                by_name[name].append(holiday(row))
    made = (hours(row, by_name[str(row[Standard.NAME]).lower()]) for row in found)
    return {one.id: one for one in made}, warnings


@shaped
def absences(rows: Iterable[Row]) -> tuple[dict[str, tuple[Absence, ...]], list[str]]:
    """Absences by user id, by their start; one that does not end after it starts is none, and is told."""
    found: dict[str, list[Absence]] = {}
    warnings: list[str] = []
    for row in rows:
        user, start, end = row[AbsenceFields.USER], moment(row[AbsenceFields.START]), moment(row[AbsenceFields.END])
        if start < end:
            found.setdefault(user, []).append(Absence(user, start, end))
        else:
            name = f"absence '{row[Standard.NAME]}' ({row[Standard.ID]})"
            warnings.append(
                f"{name}: its end is not after its start, so it keeps nobody off duty; swap the dates, or delete it"
            )
    return {user: tuple(sorted(several, key=lambda one: one.start)) for user, several in found.items()}, warnings


def _everywhere(row: Row) -> str:
    told = f"holiday '{row[Standard.NAME]}' ({row[Standard.ID]}) closes all business hours: Salesforce does not tell"
    return f"{told} which it belongs to; write 'Hours: <name>, <name>' into its description"


def _nowhere(row: Row, unknown: Sequence[str]) -> str:
    names = " or ".join(f"'{name}'" for name in unknown)
    told = f"holiday '{row[Standard.NAME]}' ({row[Standard.ID]}): there are no active business hours named {names}"
    return f"{told}, so it closes none for that name; correct its description"


def _day(start: str | None, end: str | None) -> tuple[Window, ...]:
    return windows(_minute(start), _minute(end))


def _minute(value: str | None) -> int | None:
    """Minutes from midnight of a time such as `09:30:00.000Z`, whose Z is of its type and names no zone."""
    if value is None:
        return None
    found = time.fromisoformat(value)
    return found.hour * 60 + found.minute


def _date(value: str | None) -> date | None:
    return None if value is None else date.fromisoformat(value[:10])


def _recurrence(row: Row) -> Recurrence:
    start = row[HolidayFields.FIRST_DAY] or row[HolidayFields.DAY]
    return Recurrence(
        kind=row[HolidayFields.KIND],
        start=date.fromisoformat(start[:10]),
        end=_date(row[HolidayFields.LAST_DAY]),
        interval=maybe_whole(row[HolidayFields.INTERVAL]),
        day_of_month=maybe_whole(row[HolidayFields.DAY_OF_MONTH]),
        weekdays=whole(row[HolidayFields.WEEKDAYS]),
        instance=row[HolidayFields.INSTANCE],
        month=row[HolidayFields.MONTH],
    )
