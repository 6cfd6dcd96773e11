"""Values as text: what String.valueOf and joining with `+` give."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from typing import Any

from org_simulator.apex.classes import shown
from org_simulator.apex.records import Record
from org_simulator.apex.values import EnumValue, Instance, ListValue, MapValue, Native, SetValue

PLAIN_MIN, PLAIN_MAX = 1e-3, 1e7
"""Doubles below and from here on are written with an exponent, as Java does."""


def text(value: Any, zone: tzinfo = UTC) -> str:  # noqa: C901, PLR0911 - one per kind of value
    """The text of a value; date-times in `zone`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return str(value)
        case int():
            return str(int(value))
        case float():
            return _double(value)
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
        case date():
            return f"{value.isoformat()} 00:00:00"
        case time():
            return f"{value.isoformat(timespec='milliseconds')}Z"
        case bytes():
            return f"Blob[{len(value)}]"
        case _:
            return _compound(value, zone)


def _compound(value: Any, zone: tzinfo) -> str:  # noqa: PLR0911 - one per kind of value
    match value:
        case ListValue():
            return f"({', '.join(text(each, zone) for each in value)})"
        case SetValue():
            return f"{{{', '.join(text(each, zone) for each in value)}}}"
        case MapValue():
            pairs = (f"{text(name, zone)}={text(held, zone)}" for name, held in value.items.values())
            return f"{{{', '.join(pairs)}}}"
        case EnumValue():
            return value.name
        case Record():
            fields = ((value.sobject.fields[name].name, value.read(name)) for name in value.populated())
            return f"{value.sobject.name}:{{{', '.join(f'{name}={text(held, zone)}' for name, held in fields)}}}"
        case Instance():
            return _object(value, zone)
        case Native(kind="SObjectField" | "DescribeFieldResult"):
            return str(value.held[1])
        case Native():
            return str(value.held) if isinstance(value.held, str) else value.kind
        case _:
            return str(value)


def _object(value: Instance, zone: tzinfo) -> str:
    if value.cls.is_exception:
        return f"{shown(value.cls)}: {value.values.get('message') or 'Script-thrown exception'}"
    fields = ", ".join(f"{name}={text(held, zone)}" for name, held in value.values.items())
    return f"{value.cls.name.rpartition('.')[2]}:[{fields}]"


def _double(value: float) -> str:
    if value == 0 or PLAIN_MIN <= abs(value) < PLAIN_MAX:
        return repr(value)
    mantissa, _, exponent = format(value, ".17e").partition("e")
    digits = repr(value)
    if "e" in digits:
        mantissa, _, exponent = digits.partition("e")
    else:
        mantissa = repr(value / 10.0 ** int(exponent))
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"
