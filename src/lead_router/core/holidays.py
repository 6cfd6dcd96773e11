"""Holidays: on which days one falls, by the recurrence fields of Salesforce's Holiday object.

A month without the day of the month (the 31st, 29 February) has no occurrence. Weeks begin on Sunday, as the mask does.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from lead_router.core.model import Holiday, Recurrence
from lead_router.errors import Misconfigured

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_INSTANCES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_WORKDAYS = 0b0111110


def falls_on(holiday: Holiday, day: date) -> bool:
    """Whether the holiday is on that local date; raises Misconfigured for a recurrence that `check` refuses."""
    again = holiday.recurrence
    if again is None:
        return holiday.day == day
    if day < again.start or (again.end is not None and day > again.end):
        return False
    return _kind(holiday.name, again)(again, day)


def check(holiday: Holiday) -> None:
    """Raises Misconfigured, by name, for a holiday that cannot be told to fall or not to fall on a day."""
    again = holiday.recurrence
    if again is None:
        if holiday.day is None:
            raise Misconfigured(f"holiday '{holiday.name}' has no date: give it one, or a recurrence")
        return
    kind = _kind(holiday.name, again)
    if kind in {_weekly, _monthly_nth, _yearly_nth} and not 0 < again.weekdays < 1 << 7:
        raise Misconfigured(f"holiday '{holiday.name}' recurs on days of the week, but names none")
    if kind in {_monthly_nth, _yearly_nth} and (again.instance or "").lower() not in _INSTANCES:
        raise Misconfigured(f"holiday '{holiday.name}' recurs on the '{again.instance}' of a month, which is not known")
    if kind in {_yearly, _yearly_nth} and again.month is not None and again.month.lower() not in _MONTHS:
        raise Misconfigured(f"holiday '{holiday.name}' recurs in the month '{again.month}', which is not known")


def _kind(name: str, again: Recurrence) -> Callable[[Recurrence, date], bool]:
    kind = _KINDS.get(again.kind)
    if kind is None:
        raise Misconfigured(f"holiday '{name}' recurs by '{again.kind}', which is not known")
    return kind


def _daily(again: Recurrence, day: date) -> bool:
    return (day - again.start).days % _every(again) == 0


def _every_weekday(_again: Recurrence, day: date) -> bool:
    return bool(_bit(day) & _WORKDAYS)


def _weekly(again: Recurrence, day: date) -> bool:
    weeks = (_sunday(day) - _sunday(again.start)).days // 7
    return bool(_bit(day) & again.weekdays) and weeks % _every(again) == 0


def _monthly(again: Recurrence, day: date) -> bool:
    return day.day == _day_of_month(again) and _months_since(again, day) % _every(again) == 0


def _monthly_nth(again: Recurrence, day: date) -> bool:
    return _is_nth(again, day) and _months_since(again, day) % _every(again) == 0


def _yearly(again: Recurrence, day: date) -> bool:
    years = day.year - again.start.year
    return (day.month, day.day) == (_month(again), _day_of_month(again)) and years % _every(again) == 0


def _yearly_nth(again: Recurrence, day: date) -> bool:
    return day.month == _month(again) and _is_nth(again, day) and (day.year - again.start.year) % _every(again) == 0


_KINDS: Mapping[str, Callable[[Recurrence, date], bool]] = {
    "RecursDaily": _daily,
    "RecursEveryWeekday": _every_weekday,
    "RecursWeekly": _weekly,
    "RecursMonthly": _monthly,
    "RecursMonthlyNth": _monthly_nth,
    "RecursYearly": _yearly,
    "RecursYearlyNth": _yearly_nth,
}


def _every(again: Recurrence) -> int:
    return max(again.interval or 1, 1)


def _day_of_month(again: Recurrence) -> int:
    return again.day_of_month or again.start.day


def _month(again: Recurrence) -> int:
    return again.start.month if again.month is None else _MONTHS.index(again.month.lower()) + 1


def _months_since(again: Recurrence, day: date) -> int:
    return (day.year - again.start.year) * 12 + day.month - again.start.month


def _is_nth(again: Recurrence, day: date) -> bool:
    """Whether the day is the first, second … or last of its month among the days of the mask."""
    length = monthrange(day.year, day.month)[1]
    days = [number for number in range(1, length + 1) if _bit(day.replace(day=number)) & again.weekdays]
    return days[_INSTANCES[(again.instance or "").lower()]] == day.day if days else False


def _bit(day: date) -> int:
    return 1 << day.isoweekday() % 7


def _sunday(day: date) -> date:
    return day - timedelta(days=day.isoweekday() % 7)
