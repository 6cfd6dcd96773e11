"""String and Id."""

from __future__ import annotations

import re
from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import method
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.types import INTEGER, STRING
from org_simulator.apex.values import ListValue

ELLIPSIS = "..."


def _need(*values: Any) -> None:
    if any(value is None for value in values):
        raise null_pointer()


@method("String.length", "Integer")
def length(_session: Any, value: str) -> int:
    return len(value)


@method("String.contains", "Boolean", 1)
def contains(_session: Any, value: str, part: str) -> bool:
    _need(part)
    return part in value


@method("String.containsIgnoreCase", "Boolean", 1)
def contains_ignore_case(_session: Any, value: str, part: str) -> bool:
    return part.lower() in value.lower()


@method("String.startsWith", "Boolean", 1)
def starts_with(_session: Any, value: str, part: str) -> bool:
    return value.startswith(part)


@method("String.startsWithIgnoreCase", "Boolean", 1)
def starts_with_ignore_case(_session: Any, value: str, part: str) -> bool:
    return value.lower().startswith(part.lower())


@method("String.endsWith", "Boolean", 1)
def ends_with(_session: Any, value: str, part: str) -> bool:
    return value.endswith(part)


@method("String.endsWithIgnoreCase", "Boolean", 1)
def ends_with_ignore_case(_session: Any, value: str, part: str) -> bool:
    return value.lower().endswith(part.lower())


@method("String.equals", "Boolean", 1)
def equals(_session: Any, value: str, other: Any) -> bool:
    return isinstance(other, str) and str(value) == str(other)


@method("String.equalsIgnoreCase", "Boolean", 1)
def equals_ignore_case(_session: Any, value: str, other: Any) -> bool:
    return isinstance(other, str) and value.lower() == other.lower()


@method("String.compareTo", "Integer", 1)
def compare_to(_session: Any, value: str, other: str) -> int:
    for one, two in zip(value, other, strict=False):
        if one != two:
            return ord(one) - ord(two)
    return len(value) - len(other)


@method("String.indexOf", "Integer", 1, 2)
def index_of(_session: Any, value: str, part: str, start: int = 0) -> int:
    return value.find(part, start)


@method("String.lastIndexOf", "Integer", 1)
def last_index_of(_session: Any, value: str, part: str) -> int:
    return value.rfind(part)


@method("String.substring", "String", 1, 2)
def substring(_session: Any, value: str, start: int, end: int | None = None) -> str:
    stop = len(value) if end is None else end
    if not 0 <= start <= stop <= len(value):
        raise thrown("StringException", f"Starting position out of bounds: {start}")
    return value[start:stop]


@method("String.substringBefore", "String", 1)
def substring_before(_session: Any, value: str, mark: str) -> str:
    return value.partition(mark)[0] if mark else ""


@method("String.substringAfter", "String", 1)
def substring_after(_session: Any, value: str, mark: str) -> str:
    return value.partition(mark)[2]


@method("String.substringAfterLast", "String", 1)
def substring_after_last(_session: Any, value: str, mark: str) -> str:
    return value.rpartition(mark)[2] if mark in value else ""


@method("String.substringBeforeLast", "String", 1)
def substring_before_last(_session: Any, value: str, mark: str) -> str:
    return value.rpartition(mark)[0] if mark in value else value


@method("String.substringBetween", "String", 1, 2)
def substring_between(_session: Any, value: str, start: str, end: str | None = None) -> str | None:
    _, found, rest = value.partition(start)
    inside, closed, _ = rest.partition(start if end is None else end)
    return inside if found and closed else None


@method("String.left", "String", 1)
def left(_session: Any, value: str, count: int) -> str:
    return value[: max(count, 0)]


@method("String.right", "String", 1)
def right(_session: Any, value: str, count: int) -> str:
    return value[-count:] if count > 0 else ""


@method("String.mid", "String", 2)
def mid(_session: Any, value: str, start: int, count: int) -> str:
    return value[max(start, 0) :][: max(count, 0)]


@method("String.toLowerCase", "String")
def to_lower_case(_session: Any, value: str) -> str:
    return value.lower()


@method("String.toUpperCase", "String")
def to_upper_case(_session: Any, value: str) -> str:
    return value.upper()


@method("String.capitalize", "String")
def capitalize(_session: Any, value: str) -> str:
    return value[:1].upper() + value[1:]


@method("String.trim", "String")
def trim(_session: Any, value: str) -> str:
    """Without what is up to a space at either end, as Java has it."""
    return value.strip("".join(map(chr, range(33))))


@method("String.normalizeSpace", "String")
def normalize_space(_session: Any, value: str) -> str:
    return " ".join(value.split())


@method("String.deleteWhitespace", "String")
def delete_whitespace(_session: Any, value: str) -> str:
    return "".join(value.split())


@method("String.replace", "String", 2)
def replace(_session: Any, value: str, part: str, new: str) -> str:
    _need(part, new)
    return value.replace(part, new)


@method("String.remove", "String", 1)
def remove(_session: Any, value: str, part: str) -> str:
    return value.replace(part, "") if part else value


@method("String.removeEnd", "String", 1)
def remove_end(_session: Any, value: str, part: str) -> str:
    return value.removesuffix(part)


@method("String.removeStart", "String", 1)
def remove_start(_session: Any, value: str, part: str) -> str:
    return value.removeprefix(part)


@method("String.repeat", "String", 1)
def repeat(_session: Any, value: str, count: int) -> str:
    return value * max(count, 0)


@method("String.reverse", "String")
def reverse(_session: Any, value: str) -> str:
    return value[::-1]


@method("String.leftPad", "String", 1, 2)
def left_pad(_session: Any, value: str, count: int, pad: str = " ") -> str:
    return (pad * count)[: max(count - len(value), 0)] + value


@method("String.rightPad", "String", 1, 2)
def right_pad(_session: Any, value: str, count: int, pad: str = " ") -> str:
    return value + (pad * count)[: max(count - len(value), 0)]


@method("String.abbreviate", "String", 1)
def abbreviate(_session: Any, value: str, most: int) -> str:
    if most <= len(ELLIPSIS):
        raise thrown("IllegalArgumentException", f"Minimum abbreviation width is {len(ELLIPSIS) + 1}")
    return value if len(value) <= most else value[: most - len(ELLIPSIS)] + ELLIPSIS


@method("String.countMatches", "Integer", 1)
def count_matches(_session: Any, value: str, part: str) -> int:
    return value.count(part) if part else 0


@method("String.charAt", "Integer", 1)
def char_at(_session: Any, value: str, at: int) -> int:
    if not 0 <= at < len(value):
        raise thrown("StringException", f"String index out of range: {at}")
    return ord(value[at])


@method("String.codePointAt", "Integer", 1)
def code_point_at(session: Any, value: str, at: int) -> int:
    return char_at(session, value, at)


@method("String.getChars", "List<Integer>")
def get_chars(_session: Any, value: str) -> ListValue:
    """UTF-16 units, as Java counts characters."""
    units = value.encode("utf-16-le", "surrogatepass")
    return ListValue([int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2)], INTEGER)


@method("String.isNumeric", "Boolean")
def is_numeric(_session: Any, value: str) -> bool:
    return bool(value) and value.isdecimal()


@method("String.isAlphanumeric", "Boolean")
def is_alphanumeric(_session: Any, value: str) -> bool:
    return bool(value) and value.isalnum()


@method("String.hashCode", "Integer")
def hash_code(_session: Any, value: str) -> int:
    code = 0
    for char in value:
        code = (code * 31 + ord(char)) & 0xFFFFFFFF
    return code - (1 << 32) if code >> 31 else code


@method("String.split", "List<String>", 1, 2)
def split(_session: Any, value: str, pattern: str, most: int = 0) -> ListValue:
    """Java's split: trailing empty pieces are dropped where no limit is given."""
    pieces = re.split(expression(pattern), value, maxsplit=max(most - 1, 0)) if most != 1 else [value]
    if most == 0:
        while len(pieces) > 1 and not pieces[-1]:
            pieces.pop()
    return ListValue(list(pieces), STRING)


@method("String.replaceAll", "String", 2)
def replace_all(_session: Any, value: str, pattern: str, new: str) -> str:
    return re.sub(expression(pattern), replacement(new), value)


@method("String.replaceFirst", "String", 2)
def replace_first(_session: Any, value: str, pattern: str, new: str) -> str:
    return re.sub(expression(pattern), replacement(new), value, count=1)


def expression(pattern: str) -> str:
    """A Java regular expression that means the same here; Unsupported for the ones that do not."""
    if re.search(r"\\p\{|&&|\(\?<[a-z]+>|\\[QEhRG]", pattern):
        raise Unsupported(f"the regular expression {pattern}")
    try:
        re.compile(pattern)
    except re.error as fault:
        raise thrown("StringException", f"Invalid regex: {fault}") from None
    return pattern


def replacement(new: str) -> str:
    """Java writes groups as $1."""
    return re.sub(r"\$(\d)", r"\\g<\1>", new.replace("\\$", "\0")).replace("\0", "$")
