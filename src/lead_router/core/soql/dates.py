"""Date literals as half-open ranges of days. Source: SOQL and SOSL Reference, "Date Formats and Date Literals".

A week starts on Sunday, as in Salesforce for users of the locale en_US; there the locale decides.
"""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, date, datetime, time, timedelta, tzinfo

from lead_router.core.soql.tree import Relative

_UNITS = ("WEEK", "MONTH", "QUARTER", "YEAR")
PLAIN = frozenset(
    {"YESTERDAY", "TODAY", "TOMORROW", "LAST_90_DAYS", "NEXT_90_DAYS"}
    | {f"{when}_{unit}" for when in ("LAST", "THIS", "NEXT") for unit in _UNITS}
)
COUNTED = frozenset(
    {f"{when}_N_{unit}S" for when in ("LAST", "NEXT") for unit in ("DAY", *_UNITS)}
    | {f"N_{unit}S_AGO" for unit in ("DAY", *_UNITS)}
)
FISCAL = frozenset(
    {f"{when}_FISCAL_{unit}" for when in ("LAST", "THIS", "NEXT") for unit in ("QUARTER", "YEAR")}
    | {f"{when}_N_FISCAL_{unit}S" for when in ("LAST", "NEXT") for unit in ("QUARTER", "YEAR")}
    | {f"N_FISCAL_{unit}S_AGO" for unit in ("QUARTER", "YEAR")}
)
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_NEAR = {"YESTERDAY": -1, "TODAY": 0, "TOMORROW": 1}
_WHEN = {"LAST": -1, "THIS": 0, "NEXT": 1}
_NINETY = 90


def day_range(literal: Relative, today: date) -> tuple[date, date]:
    """First day of the literal's range and the day after its last; clipped to the calendar's ends."""
    name, count = literal.name, literal.count
    if name in {"LAST_90_DAYS", "NEXT_90_DAYS"}:
        name, count = name.replace("90", "N"), _NINETY
    match name.split("_"):
        case [word] if word in _NEAR:
            return _unit("DAY", today, _NEAR[word], 1)
        case ["LAST", "N", "DAYS"]:  # today is one of them: LAST_N_DAYS:1 is yesterday and today
            return _unit("DAY", today, -count, count + 1)
        case ["LAST", "N", units]:
            return _unit(units[:-1], today, -count, count)
        case ["NEXT", "N", units]:
            return _unit(units[:-1], today, 1, count)
        case ["N", units, "AGO"]:
            return _unit(units[:-1], today, -count, 1)
        case [when, unit]:
            return _unit(unit, today, _WHEN[when], 1)
        case _:
            raise AssertionError(name)


def instant_range(days: tuple[date, date], zone: tzinfo) -> tuple[datetime, datetime]:
    """The same range in time: from midnight to midnight in `zone`."""
    first, end = days
    return datetime.combine(first, time.min, zone), datetime.combine(end, time.min, zone)


def _unit(unit: str, today: date, offset: int, length: int) -> tuple[date, date]:
    """`length` units from the one that is `offset` units after the present one."""
    if unit in {"DAY", "WEEK"}:
        days = 7 if unit == "WEEK" else 1
        start = _add_days(today, -(today.isoweekday() % 7)) if unit == "WEEK" else today
        return _add_days(start, days * offset), _add_days(start, days * (offset + length))
    months = _MONTHS[unit]
    index = (today.year * 12 + today.month - 1) // months * months
    return _month(index + months * offset), _month(index + months * (offset + length))


def _add_days(day: date, days: int) -> date:
    first, last = date.min.toordinal() + 1, date.max.toordinal() - 1  # a day of room for any zone's offset
    return date.fromordinal(min(max(day.toordinal() + days, first), last))


def _month(index: int) -> date:
    year, month = divmod(index, 12)
    if MINYEAR < year < MAXYEAR:
        return date(year, month + 1, 1)
    return date.max - timedelta(days=1) if year >= MAXYEAR else date.min + timedelta(days=1)
