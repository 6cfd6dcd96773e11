"""Field values as JSON or Python has them, made comparable; what cannot be read as the wanted kind is None."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Any, TypeAlias

from lead_router.core.ids import is_id, to18
from lead_router.core.soql.lexer import ESCAPES

Read: TypeAlias = Callable[[Any], Any]
"""A field's value to its comparable form, or None."""


def fold(text: str) -> str:
    """One form for all spellings that SOQL holds equal: any letter case, composed or decomposed accents."""
    lowered = text.lower()
    return lowered if lowered.isascii() else unicodedata.normalize("NFC", lowered)


def text(value: Any) -> str | None:
    """A non-empty text, folded; Salesforce stores an empty text as null."""
    return fold(value) if isinstance(value, str) and value else None


def exact_text(value: Any) -> str | None:
    """A non-empty text of a case-sensitive field."""
    return value if isinstance(value, str) and value else None


def number(value: Any) -> int | float | None:
    """An int or a float."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def record_id(value: Any) -> str | None:
    """An id in its 18-character form; a text of another shape stays itself and equals no id."""
    if not isinstance(value, str) or not value:
        return None
    return to18(value) if is_id(value) else value


def loose_text(value: Any) -> str | None:
    """Text of a field whose type is not known: an 18-character id stays as it is, all else is folded."""
    if isinstance(value, str) and len(value) == len("00Q000000000001AAA") and is_id(value):
        return to18(value)
    return text(value)


def day(value: Any) -> date | None:
    """A date."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def instant(value: Any) -> datetime | None:
    """An aware datetime; text as Salesforce writes it, `2026-01-31T08:00:00.000+0000`."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def choices(value: Any) -> frozenset[str]:
    """The chosen values of a multi-select picklist, `A;B`."""
    if not isinstance(value, str):
        return frozenset()
    return frozenset(fold(choice.strip()) for choice in value.split(";") if choice.strip())


def like(raw: str, *, folded: bool) -> Callable[[str], bool]:
    """A test for LIKE on the text between the quotes: % is any run of characters, _ any one; escaped, themselves.

    Each run takes the first place where the rest up to the next run fits and keeps it, so the cost stays linear.
    """
    shape: Callable[[str], str] = fold if folded else str
    runs = _cut_at_runs(raw)
    return _plainly(runs, shape) or _by_pattern(runs, shape)


def _plainly(runs: list[list[str | None]], shape: Callable[[str], str]) -> Callable[[str], bool] | None:
    """The usual forms by themselves, at a fifth of a pattern's cost: `text`, `%text`, `text%`, `%text%`; else None."""
    if any(None in run for run in runs):
        return None
    match [shape("".join(filter(None, run))) for run in runs]:
        case [whole]:
            return lambda value: value == whole
        case ["", end]:
            return lambda value: value.endswith(end)
        case [start, ""]:
            return lambda value: value.startswith(start)
        case ["", part, ""]:
            return lambda value: part in value
        case _:
            return None


def _by_pattern(runs: list[list[str | None]], shape: Callable[[str], str]) -> Callable[[str], bool]:
    first, *rest = [_piece(part, shape) for part in runs]
    pattern = first
    if rest:
        middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
        pattern = f"{first}{middle}.*{rest[-1]}"
    fits = re.compile(pattern, re.DOTALL).fullmatch
    return lambda value: fits(value) is not None


def _cut_at_runs(raw: str) -> list[list[str | None]]:
    """The pattern's characters, None for any one character, cut at each unescaped %."""
    runs: list[list[str | None]] = [[]]
    for escaped, char in re.findall(r"\\(.)|([^\\])", raw, re.DOTALL):
        if char == "%":
            runs.append([])
        elif char == "_":
            runs[-1].append(None)
        else:
            runs[-1].append(char or ESCAPES.get(escaped, escaped))
    return runs


def _piece(chars: list[str | None], shape: Callable[[str], str]) -> str:
    """A regular expression for characters between two runs; literal stretches are folded whole, accents included."""
    return "".join(
        "." * len(list(group)) if any_char else re.escape(shape("".join(char for char in group if char is not None)))
        for any_char, group in groupby(chars, key=lambda char: char is None)
    )


def getter(path: str, *, exact: bool) -> Callable[[Mapping[str, Any]], Any]:
    """Read `Owner.Type` from `{"Owner": {"Type": …}}`; None where the parent or field is missing.

    Unless `exact`, a name that is not there as written is looked for in any letter case, as SOQL does.
    """
    names = path.split(".")
    if len(names) == 1:
        if exact:
            return lambda record: record.get(path)
        return lambda record: record[path] if path in record else _any_case(record, path)

    def read(record: Mapping[str, Any]) -> Any:
        value: Any = record
        for name in names:
            if not isinstance(value, Mapping):
                return None
            value = value[name] if name in value else None if exact else _any_case(value, name)
        return value

    return read


def _any_case(record: Mapping[str, Any], name: str) -> Any:
    lowered = name.lower()
    return next((value for key, value in record.items() if key.lower() == lowered), None)
