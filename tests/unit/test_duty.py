"""Duty: who may take leads at an instant, the reason in words, and when it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from lead_router.core.duty import Moment, Off, available_at, counted, off_duty, on_duty
from lead_router.core.hours import windows
from lead_router.core.model import Absence, Holiday, Hours
from lead_router.core.passed import kind_of
from lead_router.core.rotation import take_turn
from support.decide_scene import pool, rep, user

NINE_TO_FIVE = windows(540, 1020)
PARIS = Hours("paris", "Paris", "Europe/Paris", (*(NINE_TO_FIVE,) * 5, (), ()))
NIGHT = Hours("night", "Night", "UTC", (windows(1260, 300),) * 7)
NEVER = Hours("never", "Never", "UTC", ((),) * 7)
HOURS = {one.id: one for one in (PARIS, NIGHT, NEVER)}


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


SHUT = " (holiday: Founders' day)"
TUESDAY = utc("2026-12-01 10:00")


def moment(at: datetime = TUESDAY, *absences: Absence, **open_leads: int) -> Moment:
    away: dict[str, tuple[Absence, ...]] = {}
    for one in absences:
        away[one.user_id] = (*away.get(one.user_id, ()), one)
    return Moment(at, HOURS, away, {user(name): count for name, count in open_leads.items()})


def away(name: str, start: str, end: str) -> Absence:
    return Absence(user(name), utc(start), utc(end))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"user_active": False}, Off("user inactive", lasting=True)),
        ({"frozen": True}, Off("user frozen", lasting=True)),
        ({"active": False}, Off("member inactive", lasting=True)),
        ({"weight": 0}, Off("paused: weight 0", lasting=True)),
        ({"hours_id": "paris"}, None),
        ({"hours_id": "night"}, Off("outside hours until 1 Dec 21:00 +00:00", utc("2026-12-01 21:00"))),
        (
            {"hours_id": "night", "zone": "Asia/Tokyo"},
            Off("outside hours until 2 Dec 06:00 +09:00", utc("2026-12-01 21:00")),
        ),
        ({"hours_id": "never"}, Off("outside hours 'Never', which never open", lasting=True)),
        ({"hours_id": "gone"}, Off("business hours are not known, or not active")),
        ({"daily_cap": 5, "day": "2026-12-01", "day_count": 4}, None),
        ({"daily_cap": 5, "day": "2026-12-01", "day_count": 5}, Off("cap 5/5 today", utc("2026-12-02"))),
        ({"daily_cap": 5, "day": "2026-11-30", "day_count": 9}, None),
        ({"daily_cap": 0}, Off("cap 0/0 today", lasting=True)),
        ({"open_cap": 3}, Off("open leads 3/3")),
        ({"open_cap": 4}, None),
        ({"open_cap": 0}, Off("open leads 3/0", lasting=True)),
        (
            {"daily_cap": 5, "zone": "Mars/Olympus"},
            Off("has a cap a day, but time zone 'Mars/Olympus' is not known", lasting=True),
        ),
        ({"zone": "Mars/Olympus"}, None),
    ],
)
def test_each_reason_is_told_with_its_end(changes, expected):
    """D13, P52: what keeps a member from taking leads, in words, in the time of the member's own clock."""
    member = rep("A", **changes)
    assert off_duty(member, pool("emea", [member]), moment(A=3)) == expected


def test_a_members_hours_come_before_the_groups():
    """The member's own hours, else the group's, else always; each in the zone of the record (P67)."""
    own, plain = rep("A", hours_id="paris"), rep("B")
    group = pool("emea", [own, plain], hours_id="night")
    assert on_duty(group, moment()) == {"A"}
    assert on_duty(group, moment(utc("2026-12-01 22:00"))) == {"B"}
    assert on_duty(pool("emea", [plain]), moment(utc("2026-12-06 03:00"))) == {"B"}


def test_absences_of_any_length_join_where_they_touch():
    """Half-open; a half day counts; two in a row are one, so that nobody is asked again between them."""
    absences = [
        away("A", "2026-12-01 09:00", "2026-12-02 12:00"),
        away("A", "2026-12-04 00:00", "2026-12-04 08:00"),
        away("A", "2026-12-02 12:00", "2026-12-04 00:00"),
        away("B", "2026-12-01 10:00", "2026-12-01 10:00"),
        away("C", "2026-12-01 09:00", "2026-12-01 10:00"),
        away("D", "2026-12-01 10:00", "2026-12-01 14:00"),
    ]
    group = pool("emea", [rep("A", zone="Europe/Paris"), "B", "C", "D"])
    reasons = {one.name: off_duty(one, group, moment(TUESDAY, *absences)) for one in group.members}
    assert reasons == {
        "A": Off("absent until 4 Dec 09:00 +01:00", utc("2026-12-04 08:00")),
        "B": None,
        "C": None,
        "D": Off("absent until 1 Dec 14:00 +00:00", utc("2026-12-01 14:00")),
    }


def test_a_user_whom_salesforce_refused_is_off_duty():
    """P50: known only from a refused commit."""
    group = pool("emea", "AB")
    assert on_duty(group, Moment(TUESDAY, unfit=frozenset({user("A")}))) == {"B"}


def test_without_a_moment_the_rows_alone_are_judged():
    """Whether an admin has switched the member on, whatever the clock."""
    group = pool("emea", [rep("A", hours_id="never", daily_cap=0), rep("B", frozen=True)])
    assert on_duty(group) == {"A"}


def test_the_instant_of_availability_passes_every_reason_in_turn():
    """Absent until Saturday noon, closed until Monday nine; capped until midnight, closed until nine."""
    group = pool("emea", [rep("A", hours_id="paris")])
    gone = moment(TUESDAY, away("A", "2026-12-01 00:00", "2026-12-05 12:00"))
    assert available_at(group.members[0], group, gone) == utc("2026-12-07 08:00")
    capped = rep("B", hours_id="paris", zone="Europe/Paris", daily_cap=1, day="2026-12-01", day_count=1)
    assert available_at(capped, pool("emea", [capped]), moment()) == utc("2026-12-02 08:00")
    assert available_at(rep("C"), group, moment()) == TUESDAY
    for changes in ({"active": False}, {"hours_id": "never"}, {"hours_id": "gone"}, {"open_cap": 1}, {"daily_cap": 0}):
        assert available_at(rep("D", **changes), group, moment(D=1)) is None


def test_a_day_is_counted_by_the_members_own_midnight():
    """P66: the count starts anew when the member's clock shows midnight, and not before."""
    member = rep("A", zone="America/Los_Angeles", daily_cap=2)
    group = pool("emea", [member])
    start = utc("2026-12-02 07:58")  # two minutes before midnight in Los Angeles
    given = []
    for minute in range(6):
        now = start + timedelta(minutes=minute)
        turn = take_turn(group, on_duty(group, moment(now)), on_duty(group, moment(now)))
        if turn is not None:
            group = counted(turn, now).group
            given.append(minute)
    assert given == [0, 1, 2, 3]
    assert (group.members[0].day, group.members[0].day_count) == ("2026-12-02", 2)


def test_a_move_to_the_west_frees_no_cap():
    """The day last counted stays until the new zone has caught up with it."""
    member = rep("A", zone="America/Los_Angeles", daily_cap=1, day="2026-12-02", day_count=1)
    group = pool("emea", [member])
    assert off_duty(member, group, moment(utc("2026-12-02 03:00"))) == Off("cap 1/1 today", utc("2026-12-02 08:00"))
    assert available_at(member, group, moment(utc("2026-12-02 03:00"))) == utc("2026-12-03 08:00")


def test_a_turn_is_counted_on_the_member_and_in_the_group():
    """The counter moves with the turn, whether or not there is a cap; nothing else changes."""
    group = pool("emea", [rep("A", day="2026-12-01", day_count=3), rep("B", zone="Mars/Olympus")])
    turn = take_turn(group, {"A"}, {"A"})
    found = counted(turn, TUESDAY)
    assert (found.member.day, found.member.day_count) == ("2026-12-01", 4)
    assert found.member in found.group.members
    assert (found.number, found.before, found.group.clock) == (turn.number, group, turn.group.clock)
    unknown = take_turn(group, {"B"}, {"B"})
    assert counted(unknown, TUESDAY) == unknown


@pytest.mark.parametrize(
    ("at", "day", "named", "until"),
    [
        ("2026-12-01 10:00", {}, True, "2 Dec 09:00 +01:00"),
        ("2026-12-01 06:00", {}, True, "2 Dec 09:00 +01:00"),
        ("2026-12-01 17:00", {}, False, "2 Dec 09:00 +01:00"),
        ("2026-12-01 10:00", {"start": 600, "end": 720}, True, "1 Dec 12:00 +01:00"),
        ("2026-12-01 06:00", {"start": 600, "end": 720}, False, "1 Dec 09:00 +01:00"),
        ("2026-11-30 17:00", {}, True, "2 Dec 09:00 +01:00"),
    ],
    ids=["on the day", "before its hours", "behind them", "part of a day", "before that", "the evening before"],
)
def test_a_holiday_is_named_where_it_is_why_nobody_is_there(at, day, named, until):
    """Without it they would be back sooner; one that shuts nothing that would have been open is not told."""
    shut = replace(
        PARIS, holidays=(Holiday("Founders' day", date(2026, 12, 1), **day), Holiday("Far", date(2027, 1, 1)))
    )
    off = off_duty(rep("A", hours_id="paris", zone="Europe/Paris"), pool("emea", ""), Moment(utc(at), {"paris": shut}))

    assert off is not None
    assert off.text == f"outside hours until {until}{SHUT if named else ''}"
    assert kind_of(off.text) == "Off hours"


def test_the_holiday_of_the_evening_before_shuts_the_night_behind_it():
    """A shift belongs to the day that it begins on, and so does its holiday's name; two holidays are told together."""
    shut = replace(NIGHT, holidays=(Holiday("Eve", date(2026, 11, 30)), Holiday("Feast", date(2026, 12, 1))))
    off = off_duty(rep("A", hours_id="night"), pool("emea", ""), Moment(utc("2026-12-01 02:00"), {"night": shut}))

    assert off == Off("outside hours until 2 Dec 21:00 +00:00 (holiday: Eve and Feast)", utc("2026-12-02 21:00"))
