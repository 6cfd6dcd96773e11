"""A company by seed: reps in five zones, shifts, holidays, absences, caps, groups, what admins change, and leads.

Beside each noun of the core stands the same fact as a plain value (`Shift`, `Kind`), for checks that trust no core.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

from lead_router.core.ids import to18
from lead_router.core.model import (
    Absence,
    Configuration,
    Group,
    Holiday,
    Hours,
    Member,
    Mode,
    Recurrence,
    Rule,
    ToGroup,
)

ZONES = ("America/Los_Angeles", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe")
START = datetime(2026, 1, 1, tzinfo=UTC)
INTAKE, LOST = to18("00G000000000001"), to18("00G000000000002")
DAY_MIN = 1440
HOLIDAY_YEARS = (2025, 2026, 2027)
NEWCOMERS = 8  # one rep in so many joins in the course of the time, and as many leave

GROUPS = ("amer", "emea", "apac", "partners", "desk", "late")
FALLBACKS = {"amer": "desk"}
QUEUED = {"late": "Lost_Leads"}
HOMES = {
    "America/Los_Angeles": ("amer", "late"),
    "America/New_York": ("amer", "partners"),
    "Europe/Berlin": ("emea", "partners"),
    "Asia/Kolkata": ("apac", "desk"),
    "Australia/Lord_Howe": ("apac", "desk"),
}
COUNTRIES = {"amer": ("US", "CA"), "emea": ("DE", "FR"), "apac": ("IN", "AU"), "late": ("BR",), "desk": ("ZA",)}
RATINGS = ("Hot", "Warm", "Cold")
ACCEPTS: Mapping[str, Callable[[Kind], bool]] = {
    "": lambda _kind: True,
    "Rating != 'Cold'": lambda kind: kind.rating != "Cold",
    "Country = 'DE' OR Country = 'US'": lambda kind: kind.country in {"DE", "US"},
}


@dataclass(frozen=True, slots=True)
class Kind:
    """All that rules and members can tell of a lead, and the groups it comes to, the chosen one first."""

    country: str
    rating: str
    partner: bool
    chain: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shift:
    """Weekly windows in minutes of the local day they start on, and what is closed by date, as (from, to) minutes."""

    zone: str
    week: tuple[tuple[int, int] | None, ...]
    closed: Mapping[date, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A lead that comes at `at`; numbers are by age."""

    number: int
    at: datetime
    kind: Kind


Change: TypeAlias = tuple[datetime, str, Callable[[dict[str, Group]], None]]
"""When, what in one word, and how an admin changes the groups."""


@dataclass(frozen=True, slots=True)
class World:
    """All of it. `shifts` are by the id of their hours."""

    configuration: Configuration
    groups: Mapping[str, Group]
    shifts: Mapping[str, Shift]
    absences: Mapping[str, tuple[Absence, ...]]
    changes: tuple[Change, ...]
    arrivals: tuple[Arrival, ...]
    reps: int
    end: datetime


def world(seed: int, *, reps: int, days: int, leads: int) -> World:
    """The company of that seed, equal for equal arguments."""
    dice = random.Random(seed)
    end = START + timedelta(days=days)
    shifts, hours = _shifts()
    users = [to18(f"005{number:012d}") for number in range(reps)]
    homes = [ZONES[number % len(ZONES)] for number in range(reps)]
    absences = {user: _absences(user, dice, days) for user in users}
    members, changes = _people(users, homes, dice, days, leads)
    groups = {key: _group(key, members[key]) for key in GROUPS}
    return World(
        configuration=_configuration(hours, absences),
        groups=groups,
        shifts=shifts,
        absences=absences,
        changes=tuple(sorted(changes, key=lambda change: change[0])),
        arrivals=_arrivals(dice, days, leads),
        reps=reps,
        end=end,
    )


def _shifts() -> tuple[dict[str, Shift], dict[str, Hours]]:
    patterns: dict[str, tuple[tuple[int, int] | None, ...]] = {
        "day": (*[(9 * 60, 17 * 60)] * 5, None, None),
        "late": (*[(13 * 60, 22 * 60)] * 6, None),
        "night": (*[(21 * 60, 29 * 60)] * 4, None, None, (21 * 60, 29 * 60)),
        "always": ((0, DAY_MIN),) * 7,
    }
    shifts: dict[str, Shift] = {}
    hours: dict[str, Hours] = {}
    for zone in ZONES:
        holidays, closed = _holidays(zone)
        for name, week in patterns.items():
            key = f"{name} {zone}"
            shifts[key] = Shift(zone, week, {} if name == "always" else closed)
            windows = tuple(() if one is None else (one,) for one in week)
            hours[key] = Hours(key, key, zone, windows, () if name == "always" else holidays)
    return shifts, hours


def _holidays(zone: str) -> tuple[tuple[Holiday, ...], dict[date, tuple[int, int]]]:
    """New Year and a fourth Thursday that come again, an own day, and an afternoon; the dates beside them by hand."""
    own = date(2026, 2 + ZONES.index(zone), 16)
    half = date(2026, 1, 14)
    rows = (
        Holiday("New Year", None, recurrence=Recurrence("RecursYearly", date(2000, 1, 1), month="January")),
        Holiday(
            "Harvest",
            None,
            recurrence=Recurrence(
                "RecursYearlyNth", date(2000, 1, 1), weekdays=16, instance="Fourth", month="November"
            ),
        ),
        Holiday("own", own),
        Holiday("half a day", half, start=12 * 60, end=DAY_MIN),
    )
    closed = {date(year, 1, 1): (0, DAY_MIN) for year in HOLIDAY_YEARS}
    closed |= {date(2025, 11, 27): (0, DAY_MIN), date(2026, 11, 26): (0, DAY_MIN), own: (0, DAY_MIN)}
    return rows, closed | {half: (12 * 60, DAY_MIN)}


def _absences(user: str, dice: random.Random, days: int) -> tuple[Absence, ...]:
    """A leave of two weeks, and half days and sick days that may overlap it."""
    found = []
    for _ in range(1 + days // 40):
        start = START + timedelta(hours=dice.randrange(days * 24))
        found.append(Absence(user, start, start + timedelta(hours=dice.choice((4, 8, 24, 72)))))
    start = START + timedelta(days=dice.randrange(days))
    return (*found, Absence(user, start, start + timedelta(days=min(14, 1 + days // 5))))


def _people(
    users: list[str], homes: list[str], dice: random.Random, days: int, leads: int
) -> tuple[dict[str, list[Member]], list[Change]]:
    members: dict[str, list[Member]] = {key: [] for key in GROUPS}
    changes: list[Change] = []
    cap = max(3, 3 * leads // days // len(users))
    for number, (user, zone) in enumerate(zip(users, homes, strict=True)):
        for key in HOMES[zone]:
            row = _member(f"{key}-{number}", user, key, zone, dice, cap)
            if number % NEWCOMERS == NEWCOMERS - 1:
                changes.append((_some_day(dice, days), "joined", _joining(key, row)))
            else:
                members[key].append(row)
                changes += _career(key, row, number, dice, days)
    return members, changes


def _member(name: str, user: str, group: str, zone: str, dice: random.Random, cap: int) -> Member:
    pattern = {"desk": "always", "late": "late"}.get(group) or dice.choice(("day", "day", "late", "night"))
    specialist = group in {"partners", "emea", "amer"} and dice.random() < 0.2
    return Member(
        id=name,
        user_id=user,
        name=name,
        weight=dice.choice((1, 1, 1, 2, 3, 4)),
        sort_order=dice.randrange(3),
        active=True,
        user_active=True,
        next_turn=None,
        last_turn=None,
        hours_id=f"{pattern} {zone}",
        daily_cap=dice.choice((None, None, cap, 2 * cap)),
        open_cap=dice.choice((None, None, None, cap)),
        accepts=dice.choice(tuple(ACCEPTS)[1:]) if specialist else "",
        zone=zone,
    )


def _career(key: str, row: Member, number: int, dice: random.Random, days: int) -> list[Change]:
    """What admins change of one member: weight, cap, place in the list, a pause, a frozen user, an end."""
    changes = [
        (_some_day(dice, days), "reweighted", _setting(key, row.id, weight=dice.choice((1, 2, 3, 4)))),
        (_some_day(dice, days), "reordered", _setting(key, row.id, sort_order=dice.randrange(3))),
    ]
    if row.daily_cap is not None:
        changes.append((_some_day(dice, days), "recapped", _setting(key, row.id, daily_cap=row.daily_cap + 2)))
    away: Mapping[str, Any] = dice.choice(({"weight": 0}, {"frozen": True}, {"active": False}, {"reads_leads": False}))
    back = {name: getattr(row, name) for name in away}
    start = _some_day(dice, days)
    changes.append((start, "paused", _setting(key, row.id, **away)))
    changes.append((start + timedelta(days=1, hours=3), "resumed", _setting(key, row.id, **back)))
    if number % NEWCOMERS == 0 and number:
        end = _some_day(dice, days)
        changes.append((end, "deactivated", _setting(key, row.id, user_active=False)))
        changes.append((end + timedelta(days=1), "removed", _removing(key, row.id)))
    return changes


def _some_day(dice: random.Random, days: int) -> datetime:
    return START + timedelta(minutes=dice.randrange(days * DAY_MIN))


def _joining(key: str, row: Member) -> Callable[[dict[str, Group]], None]:
    def change(groups: dict[str, Group]) -> None:
        groups[key] = replace(groups[key], members=(row, *groups[key].members))

    return change


def _setting(key: str, member_id: str, **values: Any) -> Callable[[dict[str, Group]], None]:
    def change(groups: dict[str, Group]) -> None:
        rows = groups[key].members
        found = tuple(replace(one, **values) if one.id == member_id else one for one in rows)
        groups[key] = replace(groups[key], members=found)

    return change


def _removing(key: str, member_id: str) -> Callable[[dict[str, Group]], None]:
    def change(groups: dict[str, Group]) -> None:
        left = tuple(one for one in groups[key].members if one.id != member_id)
        groups[key] = replace(groups[key], members=left)

    return change


def _group(key: str, members: list[Member]) -> Group:
    return Group(
        id=key,
        key=key,
        name=key,
        mode=Mode.LIVE,
        epoch=0,
        turn=0,
        clock=0,
        fallback_queue=QUEUED.get(key),
        members=tuple(members),
        fallback_group=FALLBACKS.get(key),
    )


def _configuration(hours: dict[str, Hours], absences: dict[str, tuple[Absence, ...]]) -> Configuration:
    rules = [Rule("partners", "partners", 1, "LeadSource = 'Partner'", ToGroup("partners"))]
    for precedence, (key, countries) in enumerate(COUNTRIES.items(), start=2):
        clause = "" if key == "desk" else f"Country IN ({', '.join(repr(one) for one in countries)})"
        rules.append(Rule(key, key, precedence, clause, ToGroup(key)))
    return Configuration(
        rules=tuple(rules),
        group_keys={key: key for key in GROUPS},
        queues={"Lead_Intake": INTAKE, "Lost_Leads": LOST},
        intake_owners=frozenset({INTAKE}),
        unassigned="",
        form_field=None,
        submission_window_s=600,
        follow_wait_s=600,
        integration_user_id=to18("005R00000000001"),
        lead_fields=frozenset({"Email", "Country", "Rating", "LeadSource"}),
        hours=hours,
        absences=absences,
        fallbacks=FALLBACKS,
    )


def _arrivals(dice: random.Random, days: int, leads: int) -> tuple[Arrival, ...]:
    """Single leads by day and, less, by night, and lists of many at once; in order of time."""
    offsets = {"amer": 18, "emea": 11, "apac": 4, "late": 22, "desk": 12}  # the UTC hour about which leads come
    found: list[tuple[datetime, Kind]] = []
    while len(found) < leads:
        key = dice.choice(tuple(COUNTRIES))
        day = dice.randrange(days)
        if (START + timedelta(days=day)).weekday() >= 5 and dice.random() < 0.97:
            continue
        minute = round(dice.gauss(offsets[key] * 60, 90))
        at = START + timedelta(days=day, minutes=minute, seconds=dice.randrange(60))
        if not START <= at < START + timedelta(days=days):
            continue
        many = dice.choice((1, 1, 1, 1, 1, 1, 1, 1, 8, 40)) if dice.random() < 0.5 else 1
        found += [(at, _kind(dice, key)) for _ in range(many)]
    found = sorted(found[:leads], key=lambda one: one[0])
    return tuple(Arrival(number, at, kind) for number, (at, kind) in enumerate(found, start=1))


def _kind(dice: random.Random, key: str) -> Kind:
    partner = dice.random() < 0.1
    chosen = "partners" if partner else key
    chain = (chosen, FALLBACKS[chosen]) if chosen in FALLBACKS else (chosen,)
    return Kind(dice.choice(COUNTRIES[key]), dice.choice(RATINGS), partner, chain)
