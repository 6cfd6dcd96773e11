"""Hours: when a BusinessHours record is open. Windows are half-open, and obey the local date of the day they start on.

What lies after midnight belongs to the day before: it is open where that day is a working day, whatever the next one
is, and a holiday of that day closes it (a holiday for part of a day closes those minutes alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

from lead_router.core import holidays
from lead_router.core.model import Hours, Window
from lead_router.core.zones import instant, local_date, zone_of
from lead_router.errors import Misconfigured

DAYS = 7
DAY_MIN = 1440
SEARCH_DAYS = 400  # a year and what a yearly holiday may hide at its ends

Span: TypeAlias = tuple[datetime, datetime]
_DAY = timedelta(days=1)


def windows(start: int | None, end: int | None) -> tuple[Window, ...]:
    """A weekday's windows from BusinessHours' start and end time, in minutes from midnight.

    None for either is a closed day; an end at or before the start is on the next day, so that 00:00 to 00:00 is the
    whole day, as Salesforce has it.
    """
    if start is None or end is None:
        return ()
    return ((start, end if end > start else end + DAY_MIN),)


def is_open(hours: Hours, at: datetime) -> bool:
    """Whether the hours are open at that instant."""
    today = local_date(hours.zone, at)
    return any(start <= at < end for day in (today - _DAY, today) for start, end in spans(hours, day))


def next_open(hours: Hours, at: datetime) -> datetime | None:
    """The first instant from `at` on at which the hours are open; None if there is none within SEARCH_DAYS."""
    today = local_date(hours.zone, at)
    for ahead in range(-1, SEARCH_DAYS):
        for start, end in spans(hours, today + ahead * _DAY):
            if end > at:
                return max(start, at)
    return None


def open_for(hours: Hours, at: datetime, length: timedelta) -> datetime | None:
    """The first instant at which the hours were open for that long since `at`; None if it is not within SEARCH_DAYS.

    Where the hours of two days overlap, an instant counts once.
    """
    left, counted = length, at
    today = local_date(hours.zone, at)
    for ahead in range(-1, SEARCH_DAYS):
        for start, end in spans(hours, today + ahead * _DAY):
            begin = max(start, counted)
            if begin + left <= end:
                return begin + left
            left -= max(end - begin, timedelta())
            counted = max(counted, end)
    return None


def closed_for(hours: Hours, at: datetime, opens: datetime) -> tuple[str, ...]:
    """The names of the holidays without which the hours would open before `opens`, if it is their first opening."""
    plain = replace(hours, holidays=())
    first, last = local_date(hours.zone, at) - _DAY, local_date(hours.zone, opens)
    shut = [
        holiday.name
        for day in (first + ahead * _DAY for ahead in range((last - first).days + 1))
        for holiday in hours.holidays
        if holidays.falls_on(holiday, day) and _takes_from(replace(hours, holidays=(holiday,)), plain, day, (at, opens))
    ]
    return tuple(dict.fromkeys(shut))


def _takes_from(hours: Hours, plain: Hours, day: date, span: Span) -> bool:
    """Whether the day's windows are open for less of this span than they were without holidays."""
    return _within(spans(hours, day), span) < _within(spans(plain, day), span)


def _within(found: Sequence[Span], span: Span) -> timedelta:
    pieces = ((max(start, span[0]), min(end, span[1])) for start, end in found)
    return sum((end - start for start, end in pieces if start < end), timedelta())


@lru_cache(maxsize=16384)
def spans(hours: Hours, day: date) -> tuple[Span, ...]:
    """The instants, in UTC and in order, between which the windows that start on this local date are open.

    Their length is real: an hour that the clock skips is not in them, one that comes twice is in them twice.
    """
    off = [holiday for holiday in hours.holidays if holidays.falls_on(holiday, day)]
    if any(holiday.start <= 0 and holiday.end >= DAY_MIN for holiday in off):
        return ()
    closed = [(instant(hours.zone, day, one.start), instant(hours.zone, day, one.end)) for one in off]
    found: list[Span] = []
    for start, end in sorted(hours.week[day.weekday()]):
        found += _without((instant(hours.zone, day, start), instant(hours.zone, day, end)), closed)
    return tuple(found)


def check(hours: Hours) -> None:
    """Raises Misconfigured, by name, for hours in an unknown zone, or with windows or holidays that make no sense."""
    try:
        zone_of(hours.zone)
        _check_week(hours.week)
        for holiday in hours.holidays:
            holidays.check(holiday)
    except Misconfigured as fault:
        raise Misconfigured(f"business hours '{hours.name}': {fault}") from None


def _check_week(week: Sequence[Sequence[Window]]) -> None:
    if len(week) != DAYS:
        raise Misconfigured(f"a week has {DAYS} days, not {len(week)}")
    for start, end in (window for day in week for window in day):
        if not 0 <= start < end <= start + DAY_MIN:
            raise Misconfigured(f"a window cannot reach from minute {start} to minute {end} of a day")


def _without(span: Span, closed: Sequence[Span]) -> list[Span]:
    left = [span] if span[0] < span[1] else []
    for shut, opened in closed:
        left = [
            piece
            for start, end in left
            for piece in ((start, min(end, shut)), (max(start, opened), end))
            if piece[0] < piece[1]
        ]
    return left
