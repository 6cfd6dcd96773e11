"""Zones: what a clock on the wall says, as an instant. The only place that knows local time; all else counts in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lead_router.errors import Misconfigured

_SECOND = timedelta(seconds=1)


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name, as Salesforce's TimeZoneSidKey is one; raises Misconfigured for any other text."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Misconfigured(
            f"time zone '{name}' is not known: choose one of the IANA names, such as Europe/Paris"
        ) from None


@lru_cache(maxsize=1024)
def is_zone(name: str) -> bool:
    """Whether the name is one of a zone."""
    try:
        zone_of(name)
    except Misconfigured:
        return False
    return True


@lru_cache(maxsize=65536)
def instant(zone: str, day: date, minute: int = 0) -> datetime:
    """The first instant, in UTC, at which a clock in the zone shows that minute of the day, or has passed it.

    A time that a change of the clock skips is the instant of the change (where zoneinfo alone would give one later by
    the length of the gap); a time that comes twice is the first of the two; `minute` may lie on a later day.
    """
    wall = datetime.combine(day, time()) + timedelta(minutes=minute)
    there = wall.replace(tzinfo=zone_of(zone))
    found = there.astimezone(UTC)
    if found.astimezone(there.tzinfo).replace(tzinfo=None) == wall:
        return found
    return _change(zone_of(zone), there.replace(fold=1).astimezone(UTC), found)


@lru_cache(maxsize=4096)
def local_date(zone: str, at: datetime) -> date:
    """The date in the zone at that instant."""
    return at.astimezone(zone_of(zone)).date()


def wall(zone: str, at: datetime) -> datetime:
    """What a clock in the zone shows at that instant, without any zone: to be told, never to reckon with."""
    return at.astimezone(zone_of(zone)).replace(tzinfo=None)


def next_midnight(zone: str, at: datetime) -> datetime:
    """The instant at which the zone's date changes next."""
    return instant(zone, local_date(zone, at) + timedelta(days=1))


def said(zone: str, moment: datetime, at: datetime) -> str:
    """An instant in words, as the zone's clock shows it: `4 Dec 09:00 +01:00`, with the year where not that of `at`.

    The offset tells whose clock it is, and which of two hours that come twice. In UTC, and saying so, where the zone is
    not known or the instant is beyond what a calendar can show there.
    """
    try:
        there, now = moment.astimezone(zone_of(zone)), at.astimezone(zone_of(zone))
        offset = there.strftime("%z")
        mark = f"{offset[:3]}:{offset[3:5]}"
    except (Misconfigured, OverflowError):
        there, now, mark = moment, at, "UTC"
    year = "" if there.year == now.year else f" {there.year}"
    return f"{there.day} {_MONTHS[there.month - 1]}{year} {there:%H:%M} {mark}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The instant, between the two, at which the zone's offset changes; offsets change on whole seconds."""
    old = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after
