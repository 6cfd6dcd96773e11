"""The nouns of people: hours, absences, members and groups. Times are aware UTC datetimes, ids have 18 characters."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TypeAlias


class Mode(StrEnum):
    """What a group's turns are: not used, decided but not written, or written."""

    OFF = "Off"
    OBSERVE = "Observe"
    LIVE = "Live"


class Reroute(StrEnum):
    """What becomes of a group's lead that comes to match another group: it stays, or it is routed anew."""

    KEEP = "Keep"
    REROUTE = "Reroute"


Window: TypeAlias = tuple[int, int]
"""Half-open, in minutes from the local midnight of its start day; an end above 1440 lies on the next day."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When a holiday comes again, in the fields of Salesforce's Holiday.

    `kind` is RecurrenceType; `weekdays` the mask RecurrenceDayOfWeekMask (Sunday 1, Monday 2 … Saturday 64); `instance`
    and `month` are picklist values such as "Third" and "November"; `end` is the last day, None for no end.
    """

    kind: str
    start: date
    end: date | None = None
    interval: int | None = None
    day_of_month: int | None = None
    weekdays: int = 0
    instance: str | None = None
    month: str | None = None


@dataclass(frozen=True, slots=True)
class Holiday:
    """A day, or minutes `start` to `end` of it, on which hours are closed; `recurrence`, if any, rules out `day`."""

    name: str
    day: date | None
    start: int = 0
    end: int = 1440
    recurrence: Recurrence | None = None


@dataclass(frozen=True, slots=True)
class Hours:
    """A BusinessHours record: windows per weekday of their start, Monday first, in local time of `zone`."""

    id: str
    name: str
    zone: str
    week: tuple[tuple[Window, ...], ...] = field(hash=False)
    holidays: tuple[Holiday, ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class Absence:
    """A user takes no leads from `start` until before `end`, of any length."""

    user_id: str
    start: datetime
    end: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A user's place in a group. `next_turn` is None for a newcomer, `last_turn` before the first own turn.

    `zone` is the user's time zone, `day` the ISO date there of the last turn that was counted, `day_count` how many
    turns that day has had; caps of None cap nothing. `accepts` is a SOQL WHERE clause, blank for every lead; `frozen`
    and `reads_leads` are the user's.
    """

    id: str
    user_id: str
    name: str
    weight: int
    sort_order: int
    active: bool
    user_active: bool
    next_turn: int | None
    last_turn: int | None
    leads_received: int = 0
    hours_id: str | None = None
    daily_cap: int | None = None
    open_cap: int | None = None
    accepts: str = ""
    zone: str = "UTC"
    day: str | None = None
    day_count: int = 0
    frozen: bool = False
    reads_leads: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A pool of members that take turns; `clock` and the members' `next_turn` are virtual time (DESIGN section 5).

    `fallback_group` is a group's id, `manager_id` a user's. `counts_manual` says that a lead taken by hand is a turn.
    `accept_within` is how many minutes of its hours a member has to touch a lead, None for no clock; `accept_chain` how
    often in a row the clock gives a lead to another member, None for as often as elsewhere.
    """

    id: str
    key: str
    name: str
    mode: Mode
    epoch: int
    turn: int
    clock: int
    fallback_queue: str | None
    members: tuple[Member, ...]
    hours_id: str | None = None
    fallback_group: str | None = None
    manager_id: str | None = None
    manager_active: bool = True
    reroute: Reroute = Reroute.KEEP
    counts_manual: bool = False
    accept_within: int | None = None
    accept_chain: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn `number` of a group, given to `member`; both are as afterwards, `before` is the group before."""

    number: int
    member: Member
    group: Group
    before: Group
