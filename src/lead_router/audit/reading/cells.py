"""Cells of exported files: instants, yes and no, ids, addresses. A fault is a Misfit, whose text repeats no value."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from typing import TypeAlias

from lead_router.core.ids import LONG, QUEUE, SHORT, USER, is_id, to18
from lead_router.core.zones import instant

EXPECTED = "a date and time is expected, such as 2026-01-31T08:00:00.000Z or 1/31/2026 8:00 AM"
DAY_NUMBERS, MONTHS = 3, 12  # a day is year, month and day
LEAD = "00Q"
PHONE_MIN = 7  # digits; fewer are no number
PHONE_END = 9  # digits that are compared: country codes and zeros before them differ by who typed
YES = frozenset({"true", "1", "yes", "y", "ja", "oui", "si", "sí", "x", "wahr", "vrai"})
NO = frozenset({"false", "0", "no", "n", "nein", "non", "", "falsch", "faux"})

Instants: TypeAlias = Callable[[str], float]
"""Reads a cell to seconds since 1970."""

_REPORT = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})"
    r"(?:,?\s+(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?\s*(?P<half>[AaPp]\.?[Mm]\.?)?)?"
)


class Misfit(ValueError):
    """A cell cannot be read; the text says what was expected."""


def reader_of_instants(zone: str, *, day_first: bool) -> Instants:
    """Reads date-times as the API writes them, or as a report shows them, to seconds since 1970.

    What names no zone is of `zone`. Dates with dots, or with the year last where `day_first`, begin with the day;
    others with the month.
    """

    def read(cell: str) -> float:
        text = cell.strip()
        try:
            if len(text) > 10 and text[10:11] in {"T", " "} and text[4] == "-":  # noqa: PLR2004 - after an ISO date
                found = datetime.fromisoformat(text.replace("+0000", "+00:00"))
            else:
                found = _reported(text, day_first=day_first)
        except (ValueError, IndexError):
            raise Misfit(EXPECTED + _turned(text, day_first=day_first)) from None
        if found.tzinfo:
            return found.timestamp()
        minute = found.hour * 60 + found.minute
        return instant(zone, found.date(), minute).timestamp() + found.second

    return read


def _turned(text: str, *, day_first: bool) -> str:
    """What would make a date of it."""
    try:
        _reported(text, day_first=not day_first)
    except ValueError:
        return ""
    return (
        "; the month comes first here: leave out --day-first" if day_first else "; add --day-first: the day comes first"
    )


def has_time(cell: str) -> bool:
    """Whether more than a day is told."""
    return len(re.findall(r"\d+", cell)) > DAY_NUMBERS


def order_told(cell: str) -> bool | None:
    """Whether the date itself tells which of its numbers is the day; None where it is no date of such numbers."""
    parts = _REPORT.fullmatch(cell.strip())
    if parts is None or parts["mark"] == "." or len(parts["a"]) > 2:  # noqa: PLR2004 - a year stands first
        return None
    return parts["a"] == parts["b"] or max(int(parts["a"]), int(parts["b"])) > MONTHS


def _reported(text: str, *, day_first: bool) -> datetime:
    """A date-time as reports show it in one locale or another."""
    parts = _REPORT.fullmatch(text)
    if parts is None:
        return datetime.fromisoformat(text)
    a, b, c = int(parts["a"]), int(parts["b"]), int(parts["c"])
    if len(parts["a"]) == 4:  # noqa: PLR2004 - the digits of a year
        year, month, day = a, b, c
    elif parts["mark"] == "." or day_first:
        day, month, year = a, b, c
    else:
        month, day, year = a, b, c
    year += 2000 if year < 100 else 0  # noqa: PLR2004 - two digits of a year
    hour = int(parts["hour"] or 0)
    half = (parts["half"] or "").lower()[:1]
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return datetime(year, month, day, hour, int(parts["minute"] or 0), int(parts["second"] or 0))  # noqa: DTZ001 - of the asker's zone


def yes(cell: str) -> bool:
    """A checkbox."""
    text = cell.strip().lower()
    if text not in YES | NO:
        raise Misfit("true or false is expected")
    return text in YES


def _record_id(cell: str, prefix: str, what: str) -> str:
    text = cell.strip()
    try:
        found = to18(text)
    except ValueError as fault:
        raise Misfit(str(fault)) from None
    if not found.startswith(prefix):
        raise Misfit(f"this is the id of another object: those of {what} begin with {prefix}")
    return found


def lead_id(cell: str) -> str:
    """The id of a lead, of 15 or 18 characters, as 18."""
    return _record_id(cell, LEAD, "leads")


def user_id(cell: str) -> str:
    """The id of a user, as 18 characters."""
    return _record_id(cell, USER, "users")


def queue_id(cell: str) -> str:
    """The id of a queue, as 18 characters."""
    return _record_id(cell, QUEUE, "queues")


def id_or_name(cell: str) -> str:
    """An id as 18 characters, or a name in one line."""
    text = " ".join(cell.split())
    if text[:3] in {USER, QUEUE, LEAD} and len(text) in {SHORT, LONG} and is_id(text[:SHORT]):
        try:
            return to18(text)
        except ValueError as fault:
            raise Misfit(str(fault)) from None
    return text


def email_digest(cell: str) -> int:
    """What is kept of an e-mail address, whatever its case; 0 for a blank."""
    return _digest(cell.strip().lower())


def phone_digest(cell: str) -> int:
    """What is kept of a telephone number, by its last digits; 0 for a blank and for what is no number."""
    digits = re.sub(r"\D", "", cell)
    return _digest(digits[-PHONE_END:]) if len(digits) >= PHONE_MIN and len(set(digits)) > 1 else 0


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") if text else 0
