"""Enrichment: which request asks a provider about a lead, and which of its answer are values of lead fields. Pure.

Nothing of a lead leaves but the fields that the templates name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from lead_router.core.domains import PUBLIC_DOMAINS
from lead_router.core.soql import values

NUMBER_MAX: Final = 10**18
"""What the largest number field of Salesforce has room for; JSON has numbers of any length."""

VALUE_MAX: Final = 255
"""Characters of a lead's value that are sent; a longer one is no name, address or domain."""

_DOTS: Final = frozenset({".", ".."})  # as a segment of a path they would name another place
_DIGITS: Final = re.compile(r"-?\d{1,15}(\.\d{1,9})?")


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a lead's field stands in a template. Of an e-mail address, `domain` takes what follows the @ sign.

    Where one that is not `optional` is blank, the lead is not asked about.
    """

    field: str
    optional: bool = False
    domain: bool = False


Template: TypeAlias = tuple[str | Slot, ...]
Form: TypeAlias = "Template | Mapping[str, Form]"
"""A JSON object whose values are templates."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A lead field, and where in the provider's JSON its value stands. What the org has wins, unless `overwrite`."""

    field: str
    path: tuple[str | int, ...]
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of a provider for each lead, and how patiently; times in seconds.

    `deadline_s` is how long a lead's first routing waits at most, `timeout_s` a call; `tries` are calls for one lead,
    `together` calls at a time; an answer to the very same request is used again for `cache_s`. `source` names the file.
    """

    method: str
    url: Template
    body: Form | None
    fields: tuple[Mapped, ...]
    deadline_s: float
    timeout_s: float
    tries: int
    together: int
    cache_s: float
    source: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One call, without its headers; `body` is JSON."""

    method: str
    url: str
    body: str | None = None


def digest(request: Request) -> str:
    """The same for the same request: its SHA-256, which tells nothing of it."""
    return sha256(json.dumps([request.method, request.url, request.body]).encode()).hexdigest()


def asked_with(asking: Asking) -> frozenset[str]:
    """The lead fields that the request tells."""
    return frozenset(slot.field for template in (asking.url, *_templates(asking.body)) for slot in _slots(template))


def requested(asking: Asking, fields: Mapping[str, Any]) -> Request | None:
    """The request for a lead with these fields; None where it lacks what it would be asked by."""
    url = _filled(asking.url, fields, _in_url)
    body = None if asking.body is None else _formed(asking.body, fields)
    if url is None or (asking.body is not None and body is None):
        return None
    return Request(asking.method, url, None if body is None else json.dumps(body))


def picked(asking: Asking, answer: Any, types: Mapping[str, str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Values by lead field out of the provider's JSON, and the fields whose values do not fit their types.

    What the answer does not have, or has as null or blank, is in neither.
    """
    found: dict[str, Any] = {}
    unfit: list[str] = []
    for one in asking.fields:
        value = _at(answer, one.path)
        if is_blank(value):
            continue
        fitting = fitted(value, types.get(one.field, "string"))
        if fitting is None:
            unfit.append(one.field)
        else:
            found[one.field] = fitting
    return found, tuple(unfit)


def to_fill(asking: Asking | None, result: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """What of a result a lead with these fields lacks, or has otherwise where the mapping overwrites."""
    mapped = {one.field: one for one in asking.fields} if asking is not None else {}
    return {
        name: value
        for name, value in result.items()
        if name in mapped and (is_blank(fields.get(name)) or (mapped[name].overwrite and fields.get(name) != value))
    }


def is_blank(value: Any) -> bool:
    """Whether a field has no value; Salesforce stores an empty text as null."""
    return value is None or (isinstance(value, str) and not value.strip())


def fitted(value: Any, kind: str) -> Any:
    """The value as a field of this type (describe's name) takes it, None where it does not fit."""
    fit: Callable[[Any], Any] = _FITTING.get(kind.lower(), _text)
    return fit(value)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return _clean(value).strip() or None
    number = _number(value)
    return None if number is None else str(number)


def _clean(text: str) -> str:
    """Without what JSON may escape and no database or XML takes: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _number(value: Any) -> int | float | None:
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = float(value) if "." in value else int(value)
    found = values.number(value)
    return found if found is not None and abs(found) <= NUMBER_MAX else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return None if number is None or number != int(number) else int(number)


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _day(value: Any) -> str | None:
    day = values.day(value[:10]) if isinstance(value, str) else None
    return None if day is None else day.isoformat()


def _instant(value: Any) -> str | None:
    instant = values.instant(value) if isinstance(value, str) else None
    return None if instant is None else instant.isoformat(timespec="milliseconds")


def _choices(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(one, str) and one for one in value):
        return _clean(";".join(value)) or None
    return _text(value) if isinstance(value, str) else None


def _never(_: Any) -> Any:
    """A provider does not name records of the org."""
    return None


_FITTING: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("double", "currency", "percent"), _number),
    **dict.fromkeys(("int", "long"), _whole),
    **dict.fromkeys(("id", "reference", "address", "location", "base64"), _never),
    "boolean": _flag,
    "date": _day,
    "datetime": _instant,
    "multipicklist": _choices,
}


def _at(answer: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        if isinstance(step, int):
            answer = answer[step] if isinstance(answer, list) and step < len(answer) else None
        else:
            answer = answer.get(step) if isinstance(answer, Mapping) else None
    return answer


def _slots(template: Template) -> Iterator[Slot]:
    return (part for part in template if isinstance(part, Slot))


def _templates(form: Form | None) -> Iterator[Template]:
    if isinstance(form, Mapping):
        for inner in form.values():
            yield from _templates(inner)
    elif form is not None:
        yield form


def _formed(form: Form, fields: Mapping[str, Any]) -> Any:
    if not isinstance(form, Mapping):
        return _filled(form, fields, str)
    made = {name: _formed(inner, fields) for name, inner in form.items()}
    return None if any(value is None for value in made.values()) else made


def _filled(template: Template, fields: Mapping[str, Any], written: Callable[[str], str]) -> str | None:
    parts: list[str] = []
    for part in template:
        if isinstance(part, str):
            parts.append(part)
            continue
        value = _told(fields.get(part.field), domain=part.domain)
        if not value and not part.optional:
            return None
        parts.append(written(value))
    return "".join(parts)


def _in_url(value: str) -> str:
    return quote(value, safe="", errors="replace")


def _told(value: Any, *, domain: bool) -> str:
    """A field's value in words, blank where it has none that can be asked by."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    told = " ".join(str(value).split())
    if domain:
        told = told.rpartition("@")[2].lower() if "@" in told else ""
        told = "" if told in PUBLIC_DOMAINS else told
    return "" if told in _DOTS or len(told) > VALUE_MAX else told
