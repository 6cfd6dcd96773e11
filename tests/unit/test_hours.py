"""Hours: when windows are open, on ordinary days and on those on which the clock is changed."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from lead_router.core import zones
from lead_router.core.hours import SEARCH_DAYS, check, is_open, next_open, open_for, spans, windows
from lead_router.core.model import Holiday, Hours, Recurrence
from lead_router.core.zones import instant, next_midnight, said
from lead_router.errors import Misconfigured

PACKAGE = Path(zones.__file__).parents[1]
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NINE_TO_FIVE = windows(540, 1020)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def at(zone: str, text: str, fold: int = 0) -> datetime:
    """The instant at which that zone's clock shows this time, the second one for fold 1."""
    return datetime.fromisoformat(text).replace(tzinfo=zones.zone_of(zone), fold=fold).astimezone(UTC)


def hours(zone: str = "UTC", holidays: tuple[Holiday, ...] = (), **days: tuple[tuple[int, int], ...]) -> Hours:
    """Hours of these weekdays, by their three letters; `every` is all others."""
    every = days.pop("every", ())
    return Hours("h", "Hours", zone, tuple(days.get(day, every) for day in DAYS), holidays)


@pytest.mark.parametrize(
    ("day", "closes"),
    [
        ("2026-03-07", "23:00"),
        ("2026-03-08", "22:00"),
        ("2026-03-09", "22:00"),
        ("2026-10-31", "22:00"),
        ("2026-11-01", "23:00"),
        ("2026-11-02", "23:00"),
    ],
)
def test_an_afternoon_keeps_its_place_on_the_clock_when_the_clock_changes(day, closes):
    """D17: New York 13:00-18:00 and 08:00-12:00, on both days of change and both neighbours of each."""
    afternoon = hours("America/New_York", every=((780, 1080),))
    end = utc(f"{day} {closes}")
    assert [is_open(afternoon, one) for one in (end - timedelta(hours=5, seconds=1), end - timedelta(hours=5))] == [
        False,
        True,
    ]
    assert [is_open(afternoon, one) for one in (end - timedelta(seconds=1), end)] == [True, False]
    morning = hours("America/New_York", every=((480, 720),))
    noon = end - timedelta(hours=6)
    assert [is_open(morning, one) for one in (noon - timedelta(hours=4), noon - timedelta(seconds=1), noon)] == [
        True,
        True,
        False,
    ]


def test_the_march_day_of_new_york_as_reported():
    """D17: asked at 17:00Z, 21:59Z and 22:00Z on 8 March 2026."""
    afternoon = hours("America/New_York", every=((780, 1080),))
    asked = [utc(f"2026-03-08 {time}") for time in ("16:59", "17:00", "21:59", "22:00")]
    assert [is_open(afternoon, one) for one in asked] == [False, True, True, False]


def test_an_overnight_window_belongs_to_the_day_it_starts_on():
    """D19: Monday 21:00-05:00 alone; what lies after midnight is Monday's, and Tuesday night is nobody's."""
    night = hours(mon=windows(1260, 300))
    asked = ["2026-03-02 20:59", "2026-03-02 23:00", "2026-03-03 04:59", "2026-03-03 05:00", "2026-03-04 02:00"]
    assert [is_open(night, utc(one)) for one in asked] == [False, True, True, False, False]
    assert is_open(night, utc("2026-03-02 02:00")) is False


def test_a_holiday_closes_the_whole_window_of_its_day_and_none_of_the_day_before():
    """D19: holiday on the second day leaves the night open; on the first it closes all of it."""
    night = windows(1260, 300)
    second = hours(every=night, holidays=(Holiday("Feast", date(2026, 3, 3)),))
    assert [is_open(second, utc(f"2026-03-03 {time}")) for time in ("04:59", "21:00")] == [True, False]
    assert is_open(second, utc("2026-03-04 04:59")) is False
    first = hours(every=night, holidays=(Holiday("Feast", date(2026, 3, 2)),))
    assert [is_open(first, utc(one)) for one in ("2026-03-02 23:00", "2026-03-03 04:59", "2026-03-03 21:00")] == [
        False,
        False,
        True,
    ]


def test_windows_are_half_open_up_to_midnight():
    """D20: 09:00-24:00 and 00:00-24:00: the last second is in, the next day is its own."""
    late = hours(mon=windows(540, 1440))
    whole = hours(mon=windows(0, 0))
    for one in (late, whole):
        assert is_open(one, utc("2026-03-02 23:59:30")) is True
        assert is_open(one, utc("2026-03-03 00:00:00")) is False
    assert [is_open(late, utc(f"2026-03-02 {time}")) for time in ("08:59:59", "09:00:00")] == [False, True]
    assert is_open(whole, utc("2026-03-02 00:00:00")) is True
    assert is_open(hours(mon=windows(0, 0), tue=windows(0, 0)), utc("2026-03-03 00:00:00")) is True


def test_a_day_without_times_is_closed_and_midnight_to_midnight_is_all_of_it():
    """BusinessHours: null is closed, 00:00 to 00:00 is 24 hours, an end before the start is on the next day."""
    assert windows(None, None) == windows(540, None) == ()
    assert windows(0, 0) == ((0, 1440),)
    assert windows(540, 1020) == ((540, 1020),)
    assert windows(1320, 360) == ((1320, 1800),)


def test_elapsed_time_counts_in_utc_over_the_second_hour():
    """D22: two hours from 00:45 on New York's autumn day end at 01:45, the second one."""
    start = instant("America/New_York", date(2024, 11, 3), 45)
    second = at("America/New_York", "2024-11-03 01:45", fold=1)
    assert start + timedelta(hours=2) == second == second + timedelta(0)
    assert second - at("America/New_York", "2024-11-03 01:45") == timedelta(hours=1)
    assert said("America/New_York", second, second) == "3 Nov 01:45 -05:00"
    night = hours("America/New_York", sun=windows(60, 120))
    ends = utc("2024-11-03 07:00")
    assert [is_open(night, one) for one in (second, ends - timedelta(seconds=1), ends)] == [True, True, False]


def test_local_time_is_known_to_one_module_alone():
    """D22: nothing else in the program can add hours to a local time; SOQL's date literals reckon in whole dates."""
    knowing = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"zoneinfo|astimezone\((?!UTC)|fromtimestamp\((?!.*UTC)", path.read_text(encoding="utf-8"))
    }
    assert knowing == {"core/zones.py", "core/soql/conditions.py"}


@pytest.mark.parametrize(
    ("zone", "day", "minute", "expected"),
    [
        ("America/New_York", date(2026, 3, 8), 150, "2026-03-08 07:00"),  # 02:30 does not exist; the change is at 03:00
        ("America/New_York", date(2026, 3, 8), 120, "2026-03-08 07:00"),
        ("America/New_York", date(2026, 3, 8), 180, "2026-03-08 07:00"),
        ("America/New_York", date(2026, 11, 1), 90, "2026-11-01 05:30"),  # 01:30 comes twice; the first is meant
        ("America/New_York", date(2026, 11, 1), 120, "2026-11-01 07:00"),
        ("Australia/Lord_Howe", date(2026, 10, 4), 135, "2026-10-03 15:30"),  # half an hour is skipped
        ("Australia/Lord_Howe", date(2026, 4, 5), 105, "2026-04-04 14:45"),  # half an hour comes twice
        ("Pacific/Apia", date(2011, 12, 30), 0, "2011-12-30 10:00"),  # the whole day is skipped
        ("Pacific/Apia", date(2011, 12, 30), 720, "2011-12-30 10:00"),
        ("Pacific/Apia", date(2011, 12, 31), 0, "2011-12-30 10:00"),
        ("America/Sao_Paulo", date(2018, 11, 4), 0, "2018-11-04 03:00"),  # midnight does not exist
        ("Asia/Kathmandu", date(2026, 1, 1), 0, "2025-12-31 18:15"),
    ],
)
def test_a_time_on_the_clock_is_its_first_instant(zone, day, minute, expected):
    """D23: a skipped time is the instant of the change, where zoneinfo would give a later one."""
    assert instant(zone, day, minute) == utc(expected)


def length(zone: str, day: date, start: int, end: int) -> timedelta:
    week = (windows(start, end),) * 7
    return sum((stop - begin for begin, stop in spans(Hours("h", "H", zone, week), day)), timedelta())


@pytest.mark.parametrize(
    ("zone", "day", "start", "end", "minutes"),
    [
        ("America/New_York", date(2026, 3, 8), 150, 240, 60),  # 02:30-04:00 starts at 03:00
        ("America/New_York", date(2026, 3, 8), 125, 170, 0),  # wholly within the skipped hour
        ("America/New_York", date(2026, 3, 8), 60, 120, 60),
        ("America/New_York", date(2026, 11, 1), 60, 120, 120),  # 01:00-02:00 is two hours long
        ("America/New_York", date(2026, 11, 1), 0, 1440, 1500),
        ("America/New_York", date(2026, 10, 31), 1320, 120, 300),  # overnight into the day of change
        ("Australia/Lord_Howe", date(2026, 10, 4), 60, 240, 150),
        ("Australia/Lord_Howe", date(2026, 4, 5), 60, 240, 210),
        ("Pacific/Apia", date(2011, 12, 30), 0, 0, 0),
        ("Pacific/Apia", date(2011, 12, 29), 1260, 300, 180),
        ("Pacific/Apia", date(2011, 12, 31), 540, 1020, 480),
    ],
)
def test_a_window_has_its_real_length(zone, day, start, end, minutes):
    """D23: what the clock skips is missing, what comes twice counts twice, nothing is negative."""
    assert length(zone, day, start, end) == timedelta(minutes=minutes)


def test_hours_are_judged_in_their_own_zone():
    """P67: nine in Tokyo is nobody's nine anywhere else."""
    tokyo = hours("Asia/Tokyo", mon=NINE_TO_FIVE)
    assert [is_open(tokyo, utc(one)) for one in ("2026-03-02 00:00", "2026-03-02 07:59", "2026-03-02 08:00")] == [
        True,
        True,
        False,
    ]
    assert is_open(tokyo, utc("2026-03-02 09:00")) is False


def test_the_next_opening_is_now_or_the_start_of_the_next_window():
    """D16: what a held lead waits for; weekends, holidays and skipped hours are passed over."""
    week = hours("America/New_York", **dict.fromkeys(DAYS[:5], NINE_TO_FIVE))
    assert next_open(week, at("America/New_York", "2026-03-02 10:30")) == at("America/New_York", "2026-03-02 10:30")
    assert next_open(week, at("America/New_York", "2026-03-06 17:00")) == at("America/New_York", "2026-03-09 09:00")
    feast = hours("America/New_York", (Holiday("Feast", date(2026, 3, 9)),), **dict.fromkeys(DAYS[:5], NINE_TO_FIVE))
    assert next_open(feast, at("America/New_York", "2026-03-06 17:00")) == at("America/New_York", "2026-03-10 09:00")
    early = hours("America/New_York", sun=windows(150, 240))
    assert next_open(early, utc("2026-03-08 05:00")) == utc("2026-03-08 07:00")
    skipped = hours("America/New_York", sun=windows(125, 170))
    assert next_open(skipped, utc("2026-03-08 05:00")) == at("America/New_York", "2026-03-15 02:05")
    night = hours(mon=windows(1260, 300))
    assert next_open(night, utc("2026-03-03 02:00")) == utc("2026-03-03 02:00")
    assert next_open(hours(), utc("2026-03-02 09:00")) is None
    assert next_open(hours(mon=NINE_TO_FIVE, holidays=(_always_off(),)), utc("2026-03-02 09:00")) is None


def _always_off() -> Holiday:
    return Holiday("Closed", None, recurrence=Recurrence("RecursDaily", date(2020, 1, 1), interval=1))


def test_the_search_for_an_opening_ends():
    """A year ahead is looked at, not more."""
    far = hours(every=NINE_TO_FIVE, holidays=(_ending(utc("2026-03-02") + timedelta(days=SEARCH_DAYS - 3)),))
    assert next_open(far, utc("2026-03-02")) == utc("2027-04-04 09:00")
    further = hours(every=NINE_TO_FIVE, holidays=(_ending(utc("2026-03-02") + timedelta(days=SEARCH_DAYS)),))
    assert next_open(further, utc("2026-03-02")) is None


def _ending(last: datetime) -> Holiday:
    return Holiday("Long", None, recurrence=Recurrence("RecursDaily", date(2020, 1, 1), end=last.date()))


def test_a_holiday_for_part_of_a_day_closes_those_minutes():
    """A half day: closed to the minute, half-open, before and after it open."""
    half = hours(every=NINE_TO_FIVE, holidays=(Holiday("Half", date(2026, 12, 24), 720, 960),))
    asked = [utc(f"2026-12-24 {time}") for time in ("09:00", "11:59", "12:00", "15:59", "16:00", "17:00")]
    assert [is_open(half, one) for one in asked] == [True, True, False, False, True, False]
    assert next_open(half, utc("2026-12-24 12:00")) == utc("2026-12-24 16:00")
    assert is_open(half, utc("2026-12-25 12:00")) is True


def test_a_holiday_is_judged_on_the_local_date():
    """P67: 1 January in Auckland is over when it begins in Honolulu."""
    off = (Holiday("New Year", date(2026, 1, 1)),)
    auckland, honolulu = (
        hours("Pacific/Auckland", off, every=windows(0, 0)),
        hours("Pacific/Honolulu", off, every=((0, 1440),)),
    )
    assert [is_open(one, utc("2025-12-31 12:00")) for one in (auckland, honolulu)] == [False, True]
    assert [is_open(one, utc("2026-01-01 11:00")) for one in (auckland, honolulu)] == [True, False]


def test_the_clock_of_a_member_changes_day_at_its_own_midnight():
    """P66: day counters turn over at local midnight, wherever the clock is changed."""
    assert next_midnight("America/New_York", utc("2026-03-08 12:00")) == utc("2026-03-09 04:00")
    assert next_midnight("Pacific/Apia", utc("2011-12-30 09:59")) == utc("2011-12-30 10:00")
    assert next_midnight("America/Sao_Paulo", utc("2018-11-03 12:00")) == utc("2018-11-04 03:00")


def test_an_instant_is_said_as_the_clock_shows_it():
    """Reasons name a day, a time with its zone's offset and, where it is another one, the year."""
    now = utc("2026-11-30 12:00")
    assert said("Europe/Paris", utc("2026-12-04 08:00"), now) == "4 Dec 09:00 +01:00"
    assert said("Europe/Paris", utc("2026-12-31 23:30"), now) == "1 Jan 2027 00:30 +01:00"
    assert said("Asia/Kolkata", utc("2026-12-04 08:00"), now) == "4 Dec 13:30 +05:30"
    assert said("UTC", utc("2026-12-04 08:00"), now) == "4 Dec 08:00 +00:00"
    assert said("Nowhere/Land", utc("2026-12-04 08:00"), now) == "4 Dec 08:00 UTC"
    assert said("Asia/Tokyo", datetime.max.replace(tzinfo=UTC), now) == "31 Dec 9999 23:59 UTC"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (hours("Mars/Olympus"), "business hours 'Hours': time zone 'Mars/Olympus' is not known"),
        (hours("../etc/passwd"), "is not known"),
        (hours(""), "is not known"),
        (hours("America"), "is not known"),
        (Hours("h", "Short", "UTC", ((),) * 6), "a week has 7 days, not 6"),
        (hours(mon=((540, 540),)), "minute 540 to minute 540"),
        (hours(mon=((540, 2000),)), "minute 540 to minute 2000"),
        (hours(mon=((-1, 20),)), "minute -1"),
        (hours(holidays=(Holiday("Blank", None),)), "holiday 'Blank' has no date"),
    ],
)
def test_hours_that_make_no_sense_are_refused_by_name(wrong, text):
    with pytest.raises(Misconfigured, match=re.escape(text)):
        check(wrong)
    check(hours("Pacific/Apia", every=windows(0, 0)))


@pytest.mark.parametrize(
    ("zone", "since", "minutes", "until"),
    [
        ("America/New_York", "2024-11-03T04:45", 120, "2024-11-03T06:45"),
        ("America/New_York", "2026-03-08T06:30", 60, "2026-03-08T07:30"),
        ("Europe/Paris", "2026-03-29T00:30", 60, "2026-03-29T01:30"),
    ],
    ids=["an hour that comes twice", "an hour that is skipped", "in Paris"],
)
def test_two_hours_of_work_are_two_hours_whatever_the_clock_shows(zone: str, since: str, minutes: int, until: str):
    """D22: from 00:45 in New York, as the clock goes back, they end at the second 01:45."""
    always = hours(zone, every=(windows(0, 0)))

    assert open_for(always, utc(since), timedelta(minutes=minutes)) == utc(until)


def test_working_time_passes_over_lunch_and_what_overlaps_counts_once():
    """Two windows a day, and a night shift that reaches into the next day's morning."""
    lunch = hours(every=((540, 720), (780, 1020)))
    night = hours(every=((0, 360), (1320, 1620)))

    assert open_for(lunch, utc("2026-03-04T11:30"), timedelta(hours=1)) == utc("2026-03-04T13:30")
    assert open_for(night, utc("2026-03-04T23:00"), timedelta(hours=7)) == utc("2026-03-05T06:00")
    assert open_for(lunch, utc("2026-03-04T12:30"), timedelta()) == utc("2026-03-04T13:00")


def test_working_time_of_hours_that_never_open_is_never_over():
    assert open_for(hours(), utc("2026-03-04T11:30"), timedelta(minutes=1)) is None
