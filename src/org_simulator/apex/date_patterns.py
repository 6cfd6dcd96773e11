"""Patterns of Java's SimpleDateFormat, in the locale en_US."""

from __future__ import annotations

import re
from datetime import datetime

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.raising import null_pointer

_LETTERS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_PARTS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "a": "%p",
    "EEEE": "%A",
    "EEE": "%a",
    "E": "%a",
    "Z": "%z",
    "z": "%Z",
    "DDD": "%j",
}
_SHORT = {"y": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}


def formatted(value: datetime, pattern: str) -> str:
    """By a pattern of Java's SimpleDateFormat; Unsupported for letters that are not known here."""
    if pattern is None:
        raise null_pointer()

    def part(found: re.Match[str]) -> str:  # noqa: PLR0911 - one per kind of letters
        run, quoted = found[0], found[1]
        if quoted is not None:
            return quoted.replace("''", "'") or "'"
        if not run[0].isalpha():
            return run
        if run in _PARTS:
            return value.strftime(_PARTS[run])
        if run in _SHORT:
            return str(getattr(value, _SHORT[run]))
        if run == "h":
            return str(value.hour % 12 or 12)
        if run == "SSS":
            return f"{value.microsecond // 1000:03d}"
        if run == "u":
            return str(value.isoweekday())
        raise Unsupported(f"the letters {run} in a date's pattern")

    return _LETTERS.sub(part, pattern)
