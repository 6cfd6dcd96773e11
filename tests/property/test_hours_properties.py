"""Hours against a clock that is looked at minute by minute, in zones that change theirs in every known way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.hours import SEARCH_DAYS, is_open, next_open, open_for, spans, windows
from lead_router.core.model import Holiday, Hours

# A place, and an instant within a day or so of which its clock is changed.
CHANGES = (
    ("America/New_York", datetime(2026, 3, 8, 7, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 6, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 15, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),
    ("America/Sao_Paulo", datetime(2018, 11, 4, 3, tzinfo=UTC)),
    ("Asia/Kathmandu", datetime(2026, 6, 1, tzinfo=UTC)),
)
MINUTE = st.integers(0, 95).map(lambda quarter: quarter * 15)
DAY = st.one_of(st.just(()), st.builds(windows, MINUTE, MINUTE))


@st.composite
def scenes(draw):
    """Hours in one of the places, with or without a holiday, and an instant near the change of its clock."""
    zone, change = draw(st.sampled_from(CHANGES))
    holidays = ()
    if draw(st.booleans()):
        holidays = (Holiday("Feast", change.astimezone(ZoneInfo(zone)).date() + timedelta(draw(st.integers(-2, 2)))),)
    week = tuple(draw(st.lists(DAY, min_size=7, max_size=7)))
    at = change + timedelta(minutes=draw(st.integers(-3000, 3000)))
    return Hours("h", "Hours", zone, week, holidays), at


def by_the_clock(hours: Hours, at: datetime) -> bool:
    """The rule restated for a clock that never changes: is the minute shown in a window of today or yesterday?"""
    there = at.astimezone(ZoneInfo(hours.zone))
    minute = there.hour * 60 + there.minute
    for back in (0, 1):
        day = there.date() - timedelta(back)
        if any(holiday.day == day for holiday in hours.holidays):
            continue
        if any(start <= minute + 1440 * back < end for start, end in hours.week[day.weekday()]):
            return True
    return False


def steady(hours: Hours, at: datetime) -> bool:
    """Whether the clock is not changed within two days of the instant."""
    offsets = {(at + timedelta(hours=ahead)).astimezone(ZoneInfo(hours.zone)).utcoffset() for ahead in range(-48, 49)}
    return len(offsets) == 1


@settings(max_examples=200, deadline=None)
@given(scenes(), st.integers(-20, 20))
def test_away_from_changes_the_clock_on_the_wall_decides(scene, days):
    """D19, D20: windows, overnight ones and holidays, against the rule restated on local minutes."""
    hours, near = scene
    at = near + timedelta(days=days)
    if steady(hours, at):
        assert is_open(hours, at) == by_the_clock(hours, at)


@settings(max_examples=200, deadline=None)
@given(scenes())
def test_the_next_opening_is_open_and_nothing_before_it_is(scene):
    """D16, D23: a held lead is asked for neither too early nor too late, whatever the clock does."""
    hours, at = scene
    found = next_open(hours, at)
    if found is None:
        assert not any(hours.week)
        return
    assert found >= at
    assert is_open(hours, found)
    assert is_open(hours, at) == (found == at)
    gap = min((found - at) // timedelta(minutes=1), 1500)
    assert not any(is_open(hours, found - timedelta(minutes=back)) for back in range(1, gap + 1, 7))


@settings(max_examples=200, deadline=None)
@given(scenes())
def test_spans_are_forward_and_as_long_as_the_window_give_or_take_the_change(scene):
    """D22, D23: never negative, half-open, and off by no more than the clock was moved."""
    hours, at = scene
    day = at.astimezone(ZoneInfo(hours.zone)).date()
    moved = timedelta(days=1) if hours.zone == "Pacific/Apia" else timedelta(hours=1)
    found = spans(hours, day)
    planned = sum((timedelta(minutes=end - start) for start, end in hours.week[day.weekday()]), timedelta())
    assert all(start < end for start, end in found)
    if not hours.holidays:
        assert abs(sum((end - start for start, end in found), timedelta()) - planned) <= moved
    for start, end in found:
        assert is_open(hours, start)
        assert is_open(hours, end - timedelta(microseconds=1))


def opened_for(hours: Hours, since: datetime, until: datetime) -> timedelta:
    """The rule restated second by second of real time, in steps of five minutes, which all windows here begin at."""
    step = timedelta(minutes=5)
    ticks = (since + step * place for place in range((until - since) // step))
    return sum((step for tick in ticks if is_open(hours, tick)), timedelta())


@settings(max_examples=150, deadline=None)
@given(scenes(), st.integers(0, 48).map(lambda five: timedelta(minutes=five * 5)))
def test_working_time_is_as_long_as_asked_for_whatever_the_clock_does(scene, length):
    """D22, D23: nights, holidays and hours that the clock skips or shows twice count as they are open."""
    hours, near = scene
    at = near - timedelta(minutes=near.minute % 5)
    found = open_for(hours, at, length)
    if found is None:
        assert not any(hours.week)
        return
    assert found >= at + length
    if length and found - at < timedelta(days=9):
        assert opened_for(hours, at, found) == length
        assert is_open(hours, found - timedelta(microseconds=1))


@settings(max_examples=100, deadline=None)
@given(scenes(), st.integers(1, 300), st.integers(1, 300))
def test_more_working_time_is_never_over_sooner(scene, first, more):
    """A reminder comes before its deadline, and one time after another is as both together."""
    hours, at = scene
    one, both = timedelta(minutes=first), timedelta(minutes=first + more)
    half = open_for(hours, at, one)
    if half is not None:
        assert open_for(hours, at, both) == open_for(hours, half, both - one)
        assert half < open_for(hours, at, both) <= at + timedelta(days=SEARCH_DAYS)
