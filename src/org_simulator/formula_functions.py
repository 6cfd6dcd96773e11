"""The functions of the formula language that need no field name, one line each in TABLE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator.formula_parser import FormulaFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Read: TypeAlias = "Callable[[Any], Any]"
"""Reads a value out of a Scope."""

MANY = 100
"""Arguments that AND, OR, MAX and MIN may have."""

ANY = "any"
"""Any kind; the picklist included."""

SAME = "same"
"""The kind of the other arguments marked so; never a picklist."""


@dataclass(frozen=True, slots=True)
class Function:
    """`kinds` of the arguments (the last one repeats up to `most`), at least `least`; `result` may be SAME."""

    kinds: tuple[str, ...]
    result: str
    build: Callable[[list[Read]], Read]
    least: int
    most: int

    def check(self, received: Sequence[str], name: str) -> str:
        """The kind of the result; FormulaFault where Salesforce would refuse the arguments."""
        if not self.least <= len(received) <= self.most:
            raise FormulaFault(f"Incorrect number of parameters for function '{name}()'. Received {len(received)}")
        same = "null"
        for place, kind in enumerate(received):
            wanted = self.kinds[min(place, len(self.kinds) - 1)]
            if wanted == SAME and same == "null" and kind != "picklist":
                same = kind
                continue
            expected = same if wanted == SAME else wanted
            if kind != "null" and kind not in expected.split("|") and wanted != ANY:
                text = f"Incorrect parameter type for function '{name}()'. Expected {expected}, received {kind}"
                raise FormulaFault(text)
        return same if self.result == SAME else self.result


def plain_number(value: float) -> str:
    """A number as TEXT() writes it: no point where it is whole, no exponent."""
    if value == int(value):
        return str(int(value))
    return format(value, ".15f").rstrip("0")


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return plain_number(value)
        case _:
            return str(value)


def _value(text: str | None) -> float | None:
    """VALUE(): a blank or a text that is no number is blank."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _blank(value: Any) -> bool:
    return value is None or value == ""


def _all_of(reads: list[Read]) -> Read:
    return lambda scope: all(read(scope) for read in reads)


def _any_of(reads: list[Read]) -> Read:
    return lambda scope: any(read(scope) for read in reads)


def _if(reads: list[Read]) -> Read:
    condition, yes, no = reads
    return lambda scope: yes(scope) if condition(scope) else no(scope)


def _blank_value(reads: list[Read]) -> Read:
    first, second = reads
    return lambda scope: second(scope) if _blank(value := first(scope)) else value


def _plain(function: Callable[..., Any]) -> Callable[[list[Read]], Read]:
    """Reads all arguments, then calls; texts that are blank arrive as None."""

    def build(reads: list[Read]) -> Read:
        if len(reads) == 1:
            only = reads[0]
            return lambda scope: function(only(scope))
        return lambda scope: function(*[read(scope) for read in reads])

    return build


def _numeric(function: Callable[..., float | None]) -> Callable[[list[Read]], Read]:
    """As `_plain`, blank if any argument is."""

    def or_blank(*values: float | None) -> float | None:
        return None if None in values else function(*values)

    return _plain(or_blank)


def _begins(text: str | None, start: str | None) -> bool:
    return (text or "").startswith(start or "")


def _contains(text: str | None, part: str | None) -> bool:
    return (part or "") in (text or "")


def _left(text: str | None, count: float | None) -> str:
    return (text or "")[: max(int(count or 0), 0)]


def _right(text: str | None, count: float | None) -> str:
    kept = max(int(count or 0), 0)
    return (text or "")[-kept:] if kept else ""


def _mid(text: str | None, start: float | None, count: float | None) -> str:
    first = max(int(start or 1), 1) - 1
    return (text or "")[first : first + max(int(count or 0), 0)]


def _find(part: str | None, text: str | None) -> int:
    return (text or "").find(part or "") + 1


def _round(value: float, digits: float) -> float:
    """Halves away from zero."""
    scale = 10 ** int(digits)
    return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)


def _one(kinds: str, result: str, function: Callable[..., Any]) -> Function:
    return Function((kinds,), result, _plain(function), 1, 1)


def _now(_reads: list[Read]) -> Read:
    return lambda scope: scope.now.strftime("%Y-%m-%dT%H:%M:%S.000+0000")


def _today(_reads: list[Read]) -> Read:
    return lambda scope: scope.now.strftime("%Y-%m-%d")


TABLE: Mapping[str, Function] = {
    "AND": Function(("boolean",), "boolean", _all_of, 1, MANY),
    "OR": Function(("boolean",), "boolean", _any_of, 1, MANY),
    "NOT": _one("boolean", "boolean", lambda value: not value),
    "IF": Function(("boolean", SAME, SAME), SAME, _if, 3, 3),
    "ISBLANK": _one(ANY, "boolean", _blank),
    "ISNULL": _one(ANY, "boolean", _blank),
    "BLANKVALUE": Function((SAME, SAME), SAME, _blank_value, 2, 2),
    "NULLVALUE": Function((SAME, SAME), SAME, _blank_value, 2, 2),
    "ISPICKVAL": Function(("picklist", "text"), "boolean", _plain(lambda a, b: (a or "") == (b or "")), 2, 2),
    "ISNUMBER": _one("text", "boolean", lambda text: _value(text) is not None),
    "TEXT": _one("number|picklist|date|datetime", "text", _text),
    "VALUE": _one("text", "number", _value),
    "LEFT": Function(("text", "number"), "text", _plain(_left), 2, 2),
    "RIGHT": Function(("text", "number"), "text", _plain(_right), 2, 2),
    "MID": Function(("text", "number"), "text", _plain(_mid), 3, 3),
    "FIND": Function(("text",), "number", _plain(_find), 2, 2),
    "LEN": _one("text", "number", lambda text: len(text or "")),
    "BEGINS": Function(("text",), "boolean", _plain(_begins), 2, 2),
    "CONTAINS": Function(("text",), "boolean", _plain(_contains), 2, 2),
    "LOWER": _one("text", "text", lambda text: (text or "").lower()),
    "UPPER": _one("text", "text", lambda text: (text or "").upper()),
    "TRIM": _one("text", "text", lambda text: (text or "").strip()),
    "ABS": Function(("number",), "number", _numeric(abs), 1, 1),
    "FLOOR": Function(("number",), "number", _numeric(math.floor), 1, 1),
    "CEILING": Function(("number",), "number", _numeric(math.ceil), 1, 1),
    "ROUND": Function(("number",), "number", _numeric(_round), 2, 2),
    "MOD": Function(("number",), "number", _numeric(lambda a, b: a - b * math.floor(a / b) if b else None), 2, 2),
    "MAX": Function(("number",), "number", _numeric(lambda *values: max(values)), 1, MANY),
    "MIN": Function(("number",), "number", _numeric(lambda *values: min(values)), 1, MANY),
    "NOW": Function((), "datetime", _now, 0, 0),
    "TODAY": Function((), "date", _today, 0, 0),
}
