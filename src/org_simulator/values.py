"""One value of one field: what the wire may say, and how it is stored."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from org_simulator import failures
from org_simulator.failures import Failure
from org_simulator.ids import PREFIX_LENGTH, is_id, to18

if TYPE_CHECKING:
    from collections.abc import Mapping

    from org_simulator.schema import Field, Schema

_EMAIL = re.compile(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+\.[^@\s,;<>\"]+")


def stamp(moment: datetime, *, whole_seconds: bool) -> str:
    """A date-time as REST writes it: `2026-11-29T20:26:27.000+0000`."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    shown = utc.replace(microsecond=0) if whole_seconds else utc
    return shown.isoformat(timespec="milliseconds") + "+0000"


def stored(field: Field, value: Any, schema: Schema, *, whole_seconds: bool) -> Any:  # noqa: PLR0911 - one per type
    """The value as stored; Failure where the field cannot hold it. The empty text is blank."""
    if value is None or value == "":
        return False if field.type == "boolean" else None
    match field.type:
        case "boolean":
            return _boolean(value)
        case "double" | "currency" | "percent" | "int":
            return _number(field, value)
        case "date" | "datetime":
            return _moment(field, value, whole_seconds=whole_seconds)
        case "time":
            return _time(field, value)
        case "reference" | "id":
            return _reference(field, value, schema)
        case _:
            return _text(field, value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise failures.wrong_json_type("boolean", value)
    return value


def _number(field: Field, value: Any) -> float:
    """Halves are rounded away from zero to the field's scale; an `int` stays whole, all others are doubles."""
    wanted = "int" if field.type == "int" else "double"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise failures.wrong_json_type(wanted, value)
    if field.precision and abs(value) >= 10 ** (field.precision - field.scale):
        raise failures.number_out_of_range(field.label, field.name, value)
    scale = 10**field.scale
    rounded = math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value) if value % 1 else value
    return int(rounded) if field.type == "int" else float(rounded)


def _moment(field: Field, value: Any, *, whole_seconds: bool) -> str:
    try:
        if field.type == "date":
            return date.fromisoformat(value).isoformat()
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise failures.wrong_json_type(field.type, value) from None
    if moment.tzinfo is None:
        raise failures.wrong_json_type(field.type, value)
    return stamp(moment, whole_seconds=whole_seconds)


def _time(field: Field, value: Any) -> str:
    """A time of day as REST writes it, `09:00:00.000Z`; the Z is of its type, not of a zone."""
    try:
        return time.fromisoformat(value).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    except (TypeError, ValueError):
        raise failures.wrong_json_type(field.type, value) from None


def _reference(field: Field, value: Any, schema: Schema) -> str:
    if not is_id(value):
        raise failures.malformed_id(field.label, value, field.name)
    prefixes = {schema.objects[target.lower()].prefix for target in field.reference_to}
    if prefixes and value[:PREFIX_LENGTH] not in prefixes:
        raise failures.malformed_id(field.label, value, field.name)
    return to18(value)


def _text(field: Field, value: Any) -> str:
    if not isinstance(value, str):
        raise failures.wrong_json_type("string", value)
    if field.length and len(value) > field.length:
        raise failures.string_too_long(field.label, field.name, value, field.length)
    if field.type == "email" and _EMAIL.fullmatch(value) is None:
        raise failures.invalid_email(field.label, field.name, value)
    if field.restricted and value not in field.picklist:
        raise failures.bad_picklist_value(field.label, field.name, value)
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a pair is no character


def accept(
    fields: Mapping[str, Any], known: Mapping[str, Field], schema: Schema, *, whole_seconds: bool
) -> tuple[dict[str, Any], list[Failure]]:
    """Values by the schema's spelling, and every failure; JSON of the wrong kind stops at once."""
    accepted: dict[str, Any] = {}
    refused: list[Failure] = []
    for name, value in fields.items():
        field = known[name.lower()]
        try:
            accepted[field.name] = stored(field, value, schema, whole_seconds=whole_seconds)
        except Failure as failure:
            if failure.code == "JSON_PARSER_ERROR":
                raise
            refused.append(failure)
    return accepted, refused
