"""Time and TimeZone."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from lead_router.core.zones import is_zone, zone_of
from org_simulator.apex.platform import method, static
from org_simulator.apex.values import Native

_MILLISECOND = timedelta(milliseconds=1)


@static("Time.newInstance", "Time", 4)
def new_time(_session: Any, hour: int, minute: int, second: int, milli: int) -> time:
    return time(hour, minute, second, milli * 1000)


@method("Time.addMinutes", "Time", 1)
def time_add_minutes(_session: Any, value: time, count: int) -> time:
    return (datetime.combine(date(2000, 1, 1), value) + timedelta(minutes=count)).time()


@static("TimeZone.getTimeZone", "TimeZone", 1)
def get_time_zone(_session: Any, name: str) -> Native:
    return Native("TimeZone", name if is_zone(name) else "GMT")


@static("UserInfo.getTimeZone", "TimeZone")
def user_time_zone(session: Any) -> Native:
    return Native("TimeZone", str(session.zone()))


@method("TimeZone.getID|TimeZone.toString", "String")
def zone_id(_session: Any, value: Native) -> str:
    return str(value.held)


@method("TimeZone.getOffset", "Integer", 1)
def offset(_session: Any, value: Native, at: datetime) -> int:
    found = at.astimezone(zone_of(value.held)).utcoffset()
    return 0 if found is None else int(found // _MILLISECOND)
