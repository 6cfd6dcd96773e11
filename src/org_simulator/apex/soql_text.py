"""A statement's text taken apart: child queries, FOR UPDATE, the mode it runs in, and binds put in as literals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

from org_simulator.apex.conversion import type_of
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.raising import thrown
from org_simulator.apex.records import Record
from org_simulator.apex.values import ListValue, SetValue
from org_simulator.failures import Failure
from org_simulator.wire.select import Select, Token, parse, tokens

KEPT = 1024  # statements whose parts are remembered
MODES = {"system_mode": "system", "user_mode": "user", "security_enforced": "user"}
LIMITS = frozenset({"limit", "offset"})
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True)
class Query:
    """A statement without what REST's statements do not have. `text` still bears its binds, `:name`."""

    text: str
    sobject: str
    count: bool
    aggregate: bool
    children: tuple[str, ...]
    for_update: bool
    mode: str


@lru_cache(maxsize=KEPT)
def read_query(text: str) -> Query:
    """The parts of a statement; Unsupported for what cannot be parsed even with its binds filled in."""
    try:
        return _read(text)
    except Failure as failure:
        raise Unsupported(f"this SOQL: {failure.message}") from None


def _read(text: str) -> Query:
    found = tokens(text)
    plain, children = _without_children(text, found)
    found = tokens(plain)
    cut: list[tuple[int, int]] = []
    for_update, mode = False, ""
    for place, token in enumerate(found[:-1]):
        pair = (token.text.lower(), found[place + 1].text.lower())
        if pair == ("for", "update") and not _inside(found, place):
            for_update = True
            cut.append((token.start, found[place + 1].end))
        elif pair[0] == "with" and pair[1] in MODES:
            mode = MODES[pair[1]]
            cut.append((token.start, found[place + 1].end))
    for start, end in reversed(cut):
        plain = plain[:start] + plain[end:]
    shape = parse(_probe(plain))
    aggregate = bool(shape.group) or any(each.function not in {None, "fields"} for each in shape.columns)
    if for_update and shape.order:
        raise Unsupported("ORDER BY with FOR UPDATE, which the platform refuses")
    return Query(plain, shape.sobject, shape.count and not shape.group, aggregate, children, for_update, mode)


def _inside(found: list[Token], place: int) -> bool:
    depth = 0
    for token in found[:place]:
        depth += (token.text == "(") - (token.text == ")")
    return depth > 0


def _probe(text: str) -> str:
    """The statement with stand-ins for its binds, to see its shape."""
    pieces, at = [], 0
    found = tokens(text)
    for place, token in enumerate(found[:-1]):
        if is_bind(found, place):
            limit = place > 0 and found[place - 1].text.lower() in LIMITS
            pieces += [text[at : token.start], "1" if limit else "NULL"]
            at = found[place + 1].end
    return "".join((*pieces, text[at:]))


def is_bind(found: list[Token], place: int) -> bool:
    """Whether a colon begins a bind; in LAST_N_DAYS:3 it belongs to the word before."""
    return found[place].text == ":" and found[place + 1].kind == "word"


def _without_children(text: str, found: list[Token]) -> tuple[str, tuple[str, ...]]:
    """The statement without the child queries of its SELECT, and those."""
    children: list[str] = []
    cut: list[tuple[int, int]] = []
    place = 0
    while place < len(found) - 1 and found[place].text.lower() != "from":
        if found[place].text == "(" and found[place + 1].text.lower() == "select":
            end = _closing(found, place)
            children.append(text[found[place].end : found[end].start])
            comma_before = found[place - 1].text == ","
            start = found[place - 1].start if comma_before else found[place].start
            stop = found[end].end if comma_before or found[end + 1].text != "," else found[end + 1].end
            cut.append((start, stop))
            place = end
        place += 1
    for start, stop in reversed(cut):
        text = text[:start] + text[stop:]
    return text, tuple(children)


def _closing(found: list[Token], start: int) -> int:
    depth = 0
    for place in range(start, len(found)):
        depth += (found[place].text == "(") - (found[place].text == ")")
        if depth == 0:
            return place
    raise Unsupported("this SOQL: a bracket is not closed")


# ---- binds ----------------------------------------------------------------------------------------------------------


def filled(text: str, binds: Mapping[str, Any]) -> Select:
    """The statement with its binds as literals, parsed; `binds` by lower-cased name.

    Raises QueryException for a bind that is not given, Failure for what cannot be parsed.
    """
    found = tokens(text)
    pieces: list[str] = []
    at = 0
    for place, token in enumerate(found[:-1]):
        if not is_bind(found, place):
            continue
        name = found[place + 1]
        if name.text.lower() not in binds:
            raise thrown("QueryException", f"Variable does not exist: {name.text}")
        value = binds[name.text.lower()]
        start, written = _condition(found, place, value) or (token.start, literal(value))
        pieces += [text[at:start], written]
        at = name.end
    return parse("".join((*pieces, text[at:])))


def _condition(found: list[Token], place: int, value: Any) -> tuple[int, str] | None:
    """Where IN has nothing to look in: the start of the condition, and one that is never (NOT IN: always) true."""
    if not isinstance(value, ListValue | SetValue) or value.items or found[place - 1].text.lower() != "in":
        return None
    negated = found[place - 2].text.lower() == "not"
    return found[place - (3 if negated else 2)].start, "Id != NULL" if negated else "Id = NULL"


def literal(value: Any) -> str:  # noqa: C901, PLR0911 - one per kind of value
    """A value as SOQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f"'{value.translate(_ESCAPES)}'"
        case int():
            return str(int(value))
        case Decimal():
            return format(value, "f")
        case float():
            return format(Decimal(repr(value)), "f")
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case Record():
            return literal(value.id)
        case ListValue() | SetValue():
            return f"({', '.join(literal(each) for each in value)})"
        case _:
            raise Unsupported(f"a bind of type {type_of(value)}")
