"""Holidays: on which days Salesforce's recurrence fields make one fall."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from lead_router.core.holidays import check, falls_on
from lead_router.core.model import Holiday, Recurrence
from lead_router.errors import Misconfigured

START = date(2024, 1, 1)  # a Monday
SUNDAY, MONDAY, TUESDAY, THURSDAY, SATURDAY = 1, 2, 4, 16, 64


def days(first: date, count: int, **fields: object) -> list[str]:
    """The days, among the first `count` from `first` on, on which a holiday with this recurrence falls."""
    again = Recurrence(**{"start": START, **fields})  # type: ignore[arg-type]
    holiday = Holiday("Feast", None, recurrence=again)
    check(holiday)
    return [day.isoformat() for ahead in range(count) if falls_on(holiday, day := first + timedelta(days=ahead))]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "RecursYearly", "day_of_month": 25, "month": "December"}, ["2024-12-25", "2025-12-25"]),
        ({"kind": "RecursYearly", "start": date(2024, 5, 8)}, ["2024-05-08", "2025-05-08"]),
        ({"kind": "RecursYearly", "day_of_month": 29, "month": "February"}, ["2024-02-29"]),
        (
            {"kind": "RecursYearlyNth", "weekdays": THURSDAY, "instance": "Fourth", "month": "November"},
            ["2024-11-28", "2025-11-27"],
        ),
        (
            {"kind": "RecursYearlyNth", "weekdays": MONDAY, "instance": "Last", "month": "May"},
            ["2024-05-27", "2025-05-26"],
        ),
        (
            {"kind": "RecursMonthly", "day_of_month": 31, "end": date(2024, 8, 1)},
            ["2024-01-31", "2024-03-31", "2024-05-31", "2024-07-31"],
        ),
        (
            {"kind": "RecursMonthly", "day_of_month": 15, "interval": 6},
            ["2024-01-15", "2024-07-15", "2025-01-15", "2025-07-15"],
        ),
        (
            {"kind": "RecursMonthlyNth", "weekdays": TUESDAY, "instance": "Second", "interval": 3},
            *[
                [
                    "2024-01-09",
                    "2024-04-09",
                    "2024-07-09",
                    "2024-10-08",
                    "2025-01-14",
                    "2025-04-08",
                    "2025-07-08",
                    "2025-10-14",
                ]
            ],
        ),
        (
            {"kind": "RecursMonthlyNth", "weekdays": 62, "instance": "First", "end": date(2024, 7, 1)},
            ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01", "2024-05-01", "2024-06-03", "2024-07-01"],
        ),
    ],
)
def test_yearly_and_monthly_holidays(fields, expected):
    """Two whole years of each kind, fixed days and "the fourth Thursday"; a month without the day has none."""
    assert days(START, 731, **fields) == expected


def test_weekly_and_daily_holidays():
    """Every second week by a week that begins on Sunday, every weekday, every third day."""
    assert days(START, 15, kind="RecursWeekly", weekdays=SUNDAY | SATURDAY) == [
        "2024-01-06",
        "2024-01-07",
        "2024-01-13",
        "2024-01-14",
    ]
    assert days(START, 21, kind="RecursWeekly", weekdays=SUNDAY | SATURDAY, interval=2) == [
        "2024-01-06",
        "2024-01-14",
        "2024-01-20",
    ]
    assert days(START, 8, kind="RecursEveryWeekday") == [f"2024-01-0{day}" for day in (1, 2, 3, 4, 5, 8)]
    assert days(START, 8, kind="RecursDaily", interval=3) == ["2024-01-01", "2024-01-04", "2024-01-07"]


def test_a_recurrence_starts_and_ends():
    """Not before its start, on its last day still, not after."""
    fields = {"kind": "RecursDaily", "start": date(2024, 1, 3), "end": date(2024, 1, 5)}
    assert days(START, 10, **fields) == ["2024-01-03", "2024-01-04", "2024-01-05"]


def test_a_holiday_without_recurrence_is_one_day():
    once = Holiday("Feast", date(2024, 5, 1))
    check(once)
    assert [falls_on(once, date(year, 5, 1)) for year in (2023, 2024, 2025)] == [False, True, False]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"kind": "RecursNever"}, "recurs by 'RecursNever'"),
        ({"kind": "RecursWeekly"}, "names none"),
        ({"kind": "RecursWeekly", "weekdays": 128}, "names none"),
        ({"kind": "RecursMonthlyNth", "weekdays": MONDAY, "instance": "Fifth"}, "'Fifth' of a month"),
        ({"kind": "RecursYearlyNth", "weekdays": MONDAY}, "'None' of a month"),
        ({"kind": "RecursYearly", "month": "Brumaire"}, "the month 'Brumaire'"),
    ],
)
def test_a_recurrence_that_cannot_be_told_is_refused_by_name(fields, text):
    """A holiday never silently puts people on duty."""
    holiday = Holiday("Feast", None, recurrence=Recurrence(**{"start": START, **fields}))
    with pytest.raises(Misconfigured, match=f"holiday 'Feast' .*{text}"):
        check(holiday)
