"""Shifts over midnight around a holiday: what either router does under each reading of the platform's own hours."""

from __future__ import annotations

from datetime import timedelta

import pytest

from org_simulator.switches import Switches
from support.both_play import INSIDE, OUTSIDE, Play
from support.both_routers import Both

pytestmark = pytest.mark.apex

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NIGHT = {f"{day}{edge}Time": at for day in DAYS for edge, at in (("Start", "22:00:00.000Z"), ("End", "06:00:00.000Z"))}
SHUT = ("Lead Intake", "Held")
GIVEN = ("Ann", "Assigned")


@pytest.mark.parametrize(
    ("mode", "by_date", "early", "night_behind"),
    [
        (OUTSIDE, False, GIVEN, SHUT),
        (OUTSIDE, True, GIVEN, SHUT),
        (INSIDE, False, GIVEN, SHUT),
        (INSIDE, True, SHUT, GIVEN),
    ],
)
def test_nights_around_a_holiday_by_the_routers_own_rule_or_the_platforms(tmp_path, mode, by_date, early, night_behind):
    """D19: a lead at 02:00 of a holiday, in a shift begun the evening before, and one at 02:00 of the day after.

    The router outside reckons by itself: a holiday closes the windows begun on it. The one inside does what the
    platform does; where that closes the date instead, the two differ on these two nights.
    """
    for night, expected in ((1, early), (2, night_behind)):
        path = tmp_path / str(night)
        path.mkdir()
        play = Play(Both(path, mode, switches=Switches(holidays_close_dates=by_date)), mode)
        hours = play.org.insert("BusinessHours", Name="Night", IsActive=True, TimeZoneSidKey="UTC", **NIGHT)
        play.org.update(play.member("emea"), Business_Hours__c=hours)
        holiday = play.both.rig.clock.now().date() + timedelta(days=1)
        play.org.insert("Holiday", Name="Feast", IsAllDay=True, ActivityDate=holiday.isoformat())
        play.both.rig.clock.advance(6 * 3600 + (night - 1) * 86_400)
        play.arrive()
        [(owner, status, *_)] = play.told()["leads"]
        play.both.rig.close()
        assert (owner, status) == expected
