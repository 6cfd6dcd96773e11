"""String's static methods, and Id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from org_simulator.apex.platform import method, static
from org_simulator.apex.raising import thrown
from org_simulator.apex.texts import text
from org_simulator.apex.types import to_id
from org_simulator.apex.values import Id, ListValue, Native, SetValue


@method("Id.to15", "String")
def to15(_session: Any, value: Id) -> str:
    return value[:15]


@method("Id.getSObjectType", "SObjectType")
def id_type(session: Any, value: Id) -> Native:
    name = session.org.sobject_of(value[:3])
    if name is None:
        raise thrown("SObjectException", f"Invalid id prefix: {value[:3]}")
    return Native("SObjectType", name)


# ---- static ---------------------------------------------------------------------------------------------------------


@static("String.valueOf", "String", 1)
def value_of(session: Any, value: Any) -> str | None:
    if value is None:
        return None
    written = text(value, session.zone())
    return written.removesuffix(" 00:00:00") if type(value).__name__ == "date" else written


@static("String.isBlank", "Boolean", 1)
def is_blank(_session: Any, value: str | None) -> bool:
    return value is None or not value.strip()


@static("String.isNotBlank", "Boolean", 1)
def is_not_blank(session: Any, value: str | None) -> bool:
    return not is_blank(session, value)


@static("String.isEmpty", "Boolean", 1)
def is_empty(_session: Any, value: str | None) -> bool:
    return not value


@static("String.isNotEmpty", "Boolean", 1)
def is_not_empty(_session: Any, value: str | None) -> bool:
    return bool(value)


@static("String.join", "String", 2)
def join(session: Any, values: Any, separator: str) -> str:
    if not isinstance(values, ListValue | SetValue):
        raise TypeError("values")
    return separator.join(text(each, session.zone()) for each in values)


@static("String.format", "String", 2)
def format_(_session: Any, pattern: str, values: Sequence[Any]) -> str:
    given = [text(each) for each in values]
    plain = pattern.replace("''", "'")
    return re.sub(r"\{(\d+)\}", lambda found: given[int(found[1])] if int(found[1]) < len(given) else found[0], plain)


@static("String.escapeSingleQuotes", "String", 1)
def escape_single_quotes(_session: Any, value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


@static("String.fromCharArray", "String", 1)
def from_char_array(_session: Any, values: Any) -> str:
    units = b"".join(each.to_bytes(2, "little") for each in values)
    return units.decode("utf-16-le", "surrogatepass")


@static("Id.valueOf", "Id", 1, 2)
def id_value_of(_session: Any, value: str, _strict: bool | None = None) -> Any:
    try:
        return to_id(value)
    except ValueError as fault:
        raise thrown("StringException", str(fault)) from None
