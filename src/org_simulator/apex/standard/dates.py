"""Date, Datetime, Time and TimeZone. Locale-bound texts are those of en_US."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from lead_router.core.zones import is_zone, zone_of
from org_simulator.apex.date_patterns import formatted
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import method, static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.values import Long

MONTHS = 12
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def _months_on(value: date, count: int) -> date:
    """The same day so many months later, or the month's last."""
    months = value.year * MONTHS + value.month - 1 + count
    year, month = divmod(months, MONTHS)
    return value.replace(year=year, month=month + 1, day=min(value.day, monthrange(year, month + 1)[1]))


# ---- Date -----------------------------------------------------------------------------------------------------------


@static("Date.today|System.today", "Date")
def today(session: Any) -> date:
    """The day in the user's time zone."""
    found: date = session.now().astimezone(session.zone()).date()
    return found


@static("Date.newInstance", "Date", 3)
def new_date(_session: Any, year: int, month: int, day: int) -> date:
    """Months and days beyond their range carry over."""
    return _months_on(date(year, 1, 1), month - 1) + timedelta(days=day - 1)


@static("Date.valueOf", "Date", 1)
def date_value_of(session: Any, value: Any) -> date:
    if isinstance(value, datetime):
        return value.astimezone(session.zone()).date()
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value)[:10])
    except ValueError:
        raise thrown("TypeException", f"Invalid date: {value}") from None


@static("Date.daysInMonth", "Integer", 2)
def days_in_month(_session: Any, year: int, month: int) -> int:
    return monthrange(year, month)[1]


@static("Date.isLeapYear", "Boolean", 1)
def is_leap_year(_session: Any, year: int) -> bool:
    return monthrange(year, 2)[1] > 28  # noqa: PLR2004 - of February


@method("Date.addDays", "Date", 1)
def date_add_days(_session: Any, value: date, count: int) -> date:
    return value + timedelta(days=count)


@method("Date.addMonths", "Date", 1)
def date_add_months(_session: Any, value: date, count: int) -> date:
    return _months_on(value, count)


@method("Date.addYears", "Date", 1)
def date_add_years(_session: Any, value: date, count: int) -> date:
    return _months_on(value, count * MONTHS)


@method("Date.daysBetween", "Integer", 1)
def days_between(_session: Any, value: date, other: date) -> int:
    return (other - value).days


@method("Date.year|Datetime.yearGmt", "Integer")
def year(_session: Any, value: date) -> int:
    return value.year


@method("Date.month|Datetime.monthGmt", "Integer")
def month(_session: Any, value: date) -> int:
    return value.month


@method("Date.day|Datetime.dayGmt", "Integer")
def day(_session: Any, value: date) -> int:
    return value.day


@method("Date.toStartOfMonth", "Date")
def to_start_of_month(_session: Any, value: date) -> date:
    return value.replace(day=1)


@method("Date.toStartOfWeek", "Date")
def to_start_of_week(_session: Any, value: date) -> date:
    """Sunday, as in the locale en_US."""
    return value - timedelta(days=value.isoweekday() % 7)


@method("Date.format", "String")
def date_format(_session: Any, value: date) -> str:
    return f"{value.month}/{value.day}/{value.year}"


# ---- Datetime -------------------------------------------------------------------------------------------------------


@static("Datetime.now|System.now", "Datetime")
def now(session: Any) -> datetime:
    """To the millisecond."""
    at: datetime = session.now()
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


@static("System.currentTimeMillis", "Long")
def current_time_millis(session: Any) -> Long:
    return Long((session.now() - _EPOCH) // _MILLISECOND)


@static("Datetime.newInstance", "Datetime", 1, 2, 3, 6)
def new_datetime(session: Any, *given: Any) -> datetime:
    """Of milliseconds since 1970, of a Date and a Time, or of numbers; in the user's time zone."""
    return _made(given, session.zone())


@static("Datetime.newInstanceGmt", "Datetime", 2, 3, 6)
def new_datetime_gmt(_session: Any, *given: Any) -> datetime:
    return _made(given, UTC)


def _made(given: tuple[Any, ...], zone: tzinfo) -> datetime:
    if any(each is None for each in given):
        raise null_pointer()
    match given:
        case (int(millis),):
            return _EPOCH + millis * _MILLISECOND
        case (date() as on, time() as at):
            return datetime.combine(on, at, zone).astimezone(UTC)
        case (int(), int(), int(), *rest):
            hour, minute, second = rest or (0, 0, 0)
            start = datetime.combine(new_date(None, *given[:3]), time(), zone)
            wall = start.replace(tzinfo=None) + timedelta(hours=hour, minutes=minute, seconds=second)
            return wall.replace(tzinfo=zone).astimezone(UTC)
        case _:
            raise Unsupported("Datetime.newInstance with these arguments")


@static("Datetime.valueOfGmt", "Datetime", 1)
def value_of_gmt(_session: Any, value: str) -> datetime:
    return _parsed(value, UTC)


@static("Datetime.valueOf", "Datetime", 1)
def datetime_value_of(session: Any, value: Any) -> datetime:
    return value if isinstance(value, datetime) else _parsed(value, session.zone())


def _parsed(value: str, zone: tzinfo) -> datetime:
    if value is None:
        raise null_pointer()
    try:
        return datetime.strptime(value, "%Y-%m-%d %H:%M:%S").replace(tzinfo=zone).astimezone(UTC)
    except ValueError:
        raise thrown("TypeException", f"Invalid date/time: {value}") from None


def _adder(unit: str) -> None:
    def add(_session: Any, value: datetime, count: int) -> datetime:
        return value + timedelta(**{unit: count})

    method(f"Datetime.add{unit.capitalize()}", "Datetime", 1)(add)


for _unit in ("days", "hours", "minutes", "seconds"):
    _adder(_unit)


@method("Datetime.addMonths", "Datetime", 1)
def add_months(_session: Any, value: datetime, count: int) -> datetime:
    return datetime.combine(_months_on(value.date(), count), value.timetz())


@method("Datetime.addYears", "Datetime", 1)
def add_years(_session: Any, value: datetime, count: int) -> datetime:
    return datetime.combine(_months_on(value.date(), count * MONTHS), value.timetz())


@method("Datetime.getTime", "Long")
def get_time(_session: Any, value: datetime) -> Long:
    return Long((value - _EPOCH) // _MILLISECOND)


@method("Datetime.date", "Date")
def date_of(session: Any, value: datetime) -> date:
    return value.astimezone(session.zone()).date()


@method("Datetime.dateGmt", "Date")
def date_gmt(_session: Any, value: datetime) -> date:
    return value.astimezone(UTC).date()


@method("Datetime.time", "Time")
def time_of(session: Any, value: datetime) -> time:
    return value.astimezone(session.zone()).time()


@method("Datetime.timeGmt", "Time")
def time_gmt(_session: Any, value: datetime) -> time:
    return value.time()


def _part(name: str) -> None:
    def gmt(_session: Any, value: datetime) -> int:
        return int(getattr(value, name))

    def local(session: Any, value: datetime) -> int:
        return int(getattr(value.astimezone(session.zone()), name))

    if name in {"hour", "minute", "second"}:
        method(f"Datetime.{name}Gmt|Time.{name}", "Integer")(gmt)
    method(f"Datetime.{name}", "Integer")(local)


for _name in ("year", "month", "day", "hour", "minute", "second"):
    _part(_name)


@method("Datetime.millisecond|Datetime.millisecondGmt|Time.millisecond", "Integer")
def millisecond(_session: Any, value: Any) -> int:
    return int(value.microsecond // 1000)


@method("Datetime.isSameDay", "Boolean", 1)
def is_same_day(session: Any, value: datetime, other: datetime) -> bool:
    return date_of(session, value) == date_of(session, other)


@method("Datetime.format", "String", 0, 1, 2)
def datetime_format(session: Any, value: datetime, pattern: str = "M/d/yyyy, h:mm a", zone: str = "") -> str:
    if zone and not is_zone(zone):
        raise Unsupported(f"the time zone {zone}")
    return formatted(value.astimezone(zone_of(zone) if zone else session.zone()), pattern)


@method("Datetime.formatGmt", "String", 1)
def format_gmt(_session: Any, value: datetime, pattern: str) -> str:
    return formatted(value.astimezone(UTC), pattern)
