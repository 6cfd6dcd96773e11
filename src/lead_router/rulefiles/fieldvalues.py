"""Values of lead fields as people write them, to what Salesforce's JSON would hold; unknown fields by their nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from lead_router.core.ids import is_id, to18
from lead_router.errors import Misconfigured
from lead_router.rulefiles.strict import Scalar, nearest, plain

_NUMBERS = frozenset({"int", "long", "double", "currency", "percent"})
_WHOLE = frozenset({"int", "long"})


def spelt(name: str, fields: Mapping[str, str]) -> str:
    """The field's API name, given in any letter case; raises Misconfigured naming the nearest one there is."""
    found = name if name in fields else {one.lower(): one for one in fields}.get(name.lower())
    if found is None:
        raise Misconfigured(f"there is no field {name} on Lead{nearest(name, fields)}")
    return found


def of_text(name: str, kind: str, text: str) -> Any:
    """A cell's text as a value of the field's type, None for a blank; raises Misconfigured without repeating it."""
    kind, cell = kind.lower(), text.strip()
    if not cell:
        return None
    try:
        return _READ[kind](cell) if kind in _READ else text
    except (ValueError, KeyError):
        raise Misconfigured(f"{name} takes {_WANTED.get(kind, 'a number')}") from None


def of_scalar(name: str, kind: str, value: Scalar) -> Any:
    """A value of a rule file as one of the field's type; raises Misconfigured for one of another type."""
    kind = kind.lower()
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind in _NUMBERS or kind == "boolean":
        if number if kind in _NUMBERS else isinstance(value, bool):
            return value
        raise Misconfigured(f"{name} takes {_WANTED.get(kind, 'a number')}, not {plain(value)}")
    if not isinstance(value, str):
        raise Misconfigured(f"{name} takes a text, not {plain(value)}: put it in quotes if you mean the text")
    return of_text(name, kind, value)


_WANTED = {
    "boolean": "true or false",
    "id": "a record id of 15 or 18 characters",
    "reference": "a record id of 15 or 18 characters",
    "date": "a date such as 2026-01-31",
    "datetime": "a date and time with its zone, such as 2026-01-31T08:00:00Z",
}


def _decimal(text: str) -> float:
    value = float(text)
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - only NaN differs from itself
        raise ValueError
    return value


def _id(text: str) -> str:
    if not is_id(text):
        raise ValueError
    return to18(text)


def _instant(text: str) -> str:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError
    return found.isoformat(timespec="milliseconds")


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else _decimal(text)


_READ: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(_NUMBERS, _number),
    **dict.fromkeys(_WHOLE, int),
    **dict.fromkeys(("id", "reference"), _id),
    "boolean": lambda text: {"true": True, "false": False, "1": True, "0": False}[text.lower()],
    "date": lambda text: date.fromisoformat(text).isoformat(),
    "datetime": _instant,
}
