"""Readers of Avro bodies, made once a schema of the types that Salesforce's events are made of. Pure.

The general reader asks its stream and its schema anew for every field of every event. An object has hundreds, of which
an event fills a few: here a null costs a look at one byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""Reads the value that begins at a place of the body; answers it and the place behind it.

Where the body does not fit, it raises IndexError, KeyError, ValueError or struct.error.
"""

_BRANCHES_MAX: Final = 64  # more would take a second byte to name
_LONG_BITS: Final = 64
_TOO_LONG: Final = "a number of more than 64 bits"
_FURTHER: Final = 0x80
_DOUBLE: Final = struct.Struct("<d")


def reader_of(parsed: Any) -> Read | None:
    """The reader of a record's schema as fastavro parses it; None where it holds a type that has no reader here.

    What is null is left out of the record, and is None in the records it holds. No type may hold itself: `avro_bounds`.
    """
    try:
        return _record(_fields(parsed, {}), {})
    except KeyError:
        return None


def _reader(kind: Any, known: dict[str, Read]) -> Read:
    """`known` are the named types met so far, by full name. Raises KeyError for a type that has no reader here.

    Such are, among others, types without a size: each field and each item takes at least a byte of the body.
    """
    if isinstance(kind, str):
        return _PRIMITIVES.get(kind) or known[kind]
    if isinstance(kind, list):
        if len(kind) > _BRANCHES_MAX:
            raise KeyError(len(kind))
        return _union({2 * place: _null if one == "null" else _reader(one, known) for place, one in enumerate(kind)})
    if "logicalType" in kind:
        raise KeyError(kind["logicalType"])
    match kind["type"]:
        case "array":
            return _array(_reader(kind["items"], known))
        case "enum":
            known[kind["name"]] = found = _enum(tuple(kind["symbols"]))
            return found
        case "record":
            fields = _fields(kind, known)
            known[kind["name"]] = found = _record(fields, dict.fromkeys(name for name, _, _ in fields))
            return found
        case inner:
            return _reader(inner, known)


def _fields(kind: Any, known: dict[str, Read]) -> list[tuple[str, int | None, Read]]:
    """Each field's name, the byte that stands for its null, if one does, and the reader of anything else."""
    if not kind["fields"]:
        raise KeyError(kind["name"])
    types = [(field["name"], field["type"]) for field in kind["fields"]]
    return [
        (name, 2 * of.index("null") if isinstance(of, list) and "null" in of else None, _reader(of, known))
        for name, of in types
    ]


def _record(fields: Sequence[tuple[str, int | None, Read]], blank: dict[str, Any]) -> Read:
    """`blank` is the record of which every field is null."""

    def read(body: bytes, at: int) -> tuple[dict[str, Any], int]:
        values = blank.copy()
        for name, null, rest in fields:
            if body[at] == null:
                at += 1
            else:
                values[name], at = rest(body, at)
        return values, at

    return read


def _union(branches: dict[int, Read]) -> Read:
    """`branches` by the byte that names each."""

    def read(body: bytes, at: int) -> tuple[Any, int]:
        return branches[body[at]](body, at + 1)

    return read


def _array(item: Read) -> Read:
    def read(body: bytes, at: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        if body[at] == 0:
            return found, at + 1
        count, at = _long(body, at)
        while count:
            if count < 0:  # then the block's size in bytes follows, for those who skip it
                count, (_, at) = -count, _long(body, at)
            for _ in range(count):
                value, at = item(body, at)
                found.append(value)
            count, at = _long(body, at)
        return found, at

    return read


def _enum(symbols: tuple[str, ...]) -> Read:
    by_place = dict(enumerate(symbols))

    def read(body: bytes, at: int) -> tuple[str, int]:
        place, at = _long(body, at)
        return by_place[place], at

    return read


def _long(body: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first, the sign in the lowest bit of all; the highest says that a byte follows."""
    number = body[at]
    at += 1
    if number >= _FURTHER:
        number, shift = number - _FURTHER, 7
        while (byte := body[at]) >= _FURTHER:
            if shift > _LONG_BITS:
                raise ValueError(_TOO_LONG)
            number |= byte - _FURTHER << shift
            shift += 7
            at += 1
        number |= byte << shift
        at += 1
        if number >> _LONG_BITS:
            raise ValueError(_TOO_LONG)
    return (number >> 1) ^ -(number & 1), at


def _string(body: bytes, at: int) -> tuple[str, int]:
    length = body[at]
    if length < _FURTHER and not length & 1:
        length, at = length >> 1, at + 1
    else:
        length, at = _long(body, at)
    end = at + length
    if not at <= end <= len(body):
        raise ValueError("a text that does not end with the body")
    return body[at:end].decode(), end


def _double(body: bytes, at: int) -> tuple[float, int]:
    return _DOUBLE.unpack_from(body, at)[0], at + _DOUBLE.size


def _boolean(body: bytes, at: int) -> tuple[bool, int]:
    return body[at] != 0, at + 1


def _null(_body: bytes, at: int) -> tuple[None, int]:
    return None, at


_PRIMITIVES: Final[dict[str, Read]] = {
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "double": _double,
    "string": _string,
}
