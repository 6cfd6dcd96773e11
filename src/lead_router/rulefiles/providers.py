"""The file of enrichment: which provider is asked by which fields of a lead, and for which; read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from lead_router.core.enrichment import Asking, Form, Mapped, Slot, Template, asked_with
from lead_router.errors import Misconfigured
from lead_router.rulefiles import strict
from lead_router.rulefiles.opened import opened
from lead_router.rulefiles.strict import Leaf, Part, Row

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
PLACEHOLDER: Final = "{secret}"
DAY_S: Final = 86_400.0

_KEYS = ("url", "method", "headers", "body", "fields", "deadline_s", "timeout_s", "tries", "together", "cache_days")
_FIELD_KEYS = ("path", "overwrite")
_SLOT = re.compile(r"\{([A-Za-z]\w*)(\?)?(\|domain)?(\?)?\}")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d{1,4})\]")
_PATH = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[\d{1,4}\])*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_KEY_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "apikey", "cookie", "proxy-authorization"})
_OURS = ("Routing_", "Routed_")
_KEPT = frozenset({"Id", "OwnerId", "Status", "IsConverted", "CreatedDate", "Email"})
"""Fields by which leads are routed, found and told apart: no provider writes them."""


@dataclass(frozen=True, slots=True)
class ProviderFile:
    """What is asked, and the headers of each call; `{secret}` in one stands for the secret of the settings."""

    asking: Asking
    headers: Mapping[str, str]

    @property
    def wants_secret(self) -> bool:
        """Whether a header needs it."""
        return any(PLACEHOLDER in value for value in self.headers.values())


def read_provider(path: Path) -> ProviderFile:
    """The provider of a file; raises Misconfigured naming file, line and remedy of the first fault."""
    row = strict.entries(opened(path, "a file of enrichment"), _KEYS, "a file of enrichment")
    method = _method(row)
    body = row.entries.get("body")
    if body is not None and method == "GET":
        raise Misconfigured(f"{row.keys_at['body']}: a body goes with `method: POST`")
    asking = Asking(
        method=method,
        url=_url(strict.needed(row, "url", "a file of enrichment")),
        body=None if body is None else _form(body),
        fields=_fields(strict.needed(row, "fields", "a file of enrichment")),
        deadline_s=_number(row, "deadline_s", 2.0, 0.0, 30.0),
        timeout_s=_number(row, "timeout_s", 5.0, 0.1, 15.0),
        tries=int(_number(row, "tries", 16, 1, 100)),
        together=int(_number(row, "together", 8, 1, 32)),
        cache_s=_number(row, "cache_days", 30.0, 0.0, 365.0) * DAY_S,
        source=path.name,
    )
    if not asked_with(asking):
        raise Misconfigured(
            f"{row.at}: url or body names no field of the lead, such as {{Email}}: all would get the same"
        )
    return ProviderFile(asking, _headers(row.entries.get("headers")))


def _method(row: Row) -> str:
    part = row.entries.get("method")
    method = "GET" if part is None else strict.text(part, "method").upper()
    if method not in {"GET", "POST"}:
        raise Misconfigured(f"{row.entries['method'].at}: method is GET or POST")
    return method


def _url(part: Part) -> Template:
    written = strict.text(part, "url").strip()
    template = _template(written, part)
    head = template[0] if template and isinstance(template[0], str) else ""
    parts = urlsplit(head)
    whole = head.count("/") > 2 or not any(isinstance(one, Slot) for one in template)  # noqa: PLR2004 - https://host/
    if not whole or parts.scheme not in {"https", "http"} or not parts.hostname or parts.username is not None:
        raise Misconfigured(f"{part.at}: url looks like https://api.example.com/find?email={{Email}}")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise Misconfigured(f"{part.at}: url begins with https:// (http:// is for this machine only)")
    if "#" in head or any(sign in written for sign in " \t\n"):
        raise Misconfigured(f"{part.at}: url holds no blank and no #")
    return template


def _template(written: str, part: Part) -> Template:
    """Texts and slots in turn: `{Field}`, `{Field?}` where it may be blank, `{Email|domain}`."""
    found: list[str | Slot] = []
    place = 0
    for match in _SLOT.finditer(written):
        found.append(written[place : match.start()])
        found.append(Slot(match[1], optional=bool(match[2] or match[4]), domain=bool(match[3])))
        place = match.end()
    found.append(written[place:])
    for text in found:
        if isinstance(text, str) and ("{" in text or "}" in text):
            told = (
                "{secret} belongs in a header alone"
                if PLACEHOLDER in text
                else "it is {Field}, {Field?} or {Email|domain}"
            )
            raise Misconfigured(f"{part.at}: braces stand around a lead's field: {told}")
        if isinstance(text, Slot) and text.field == "secret":
            raise Misconfigured(
                f"{part.at}: {PLACEHOLDER} belongs in a header alone: addresses and bodies are logged by others"
            )
    return tuple(one for one in found if one != "")


def _form(part: Part) -> Form:
    if isinstance(part, Row):
        return {name: _form(inner) for name, inner in part.entries.items()}
    return _template(strict.text(part, "a value of body"), part)


def _fields(part: Part) -> tuple[Mapped, ...]:
    row = strict.entries(part, part.entries if isinstance(part, Row) else (), "'fields'")
    if not row.entries:
        raise Misconfigured(f"{row.at}: fields names at least one lead field: `Industry: company.industry`")
    seen: dict[str, str] = {}
    for name in row.entries:
        at = row.keys_at[name]
        strict.api_name(Leaf(name, at), "a lead field")
        if name in _KEPT or name.startswith(_OURS):
            raise Misconfigured(f"{at}: {name} says who a lead is or whose: no provider writes it; leave it out")
        if name.lower() in seen:
            raise Misconfigured(f"{at}: {name} is given twice, as {seen[name.lower()]} above")
        seen[name.lower()] = name
    return tuple(_mapped(name, one) for name, one in row.entries.items())


def _mapped(name: str, part: Part) -> Mapped:
    if not isinstance(part, Row):
        return Mapped(name, _path(part, name))
    row = strict.entries(part, _FIELD_KEYS, f"field {name}")
    overwrite = row.entries.get("overwrite")
    path = _path(strict.needed(row, "path", f"field {name}"), name)
    return Mapped(name, path, overwrite is not None and strict.flag(overwrite, "overwrite"))


def _path(part: Part, name: str) -> tuple[str | int, ...]:
    written = strict.text(part, f"the path of {name}").strip()
    if not _PATH.fullmatch(written):
        raise Misconfigured(f"{part.at}: the path of {name} looks like company.industry or people[0].title")
    return tuple(step or int(number) for step, number in _STEP.findall(written))


def _headers(part: Part | None) -> Mapping[str, str]:
    if part is None:
        return {}
    row = strict.entries(part, part.entries if isinstance(part, Row) else (), "'headers'")
    found: dict[str, str] = {}
    for name, inner in row.entries.items():
        value = strict.text(inner, f"header {name}")
        if not _HEADER.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise Misconfigured(f"{inner.at}: header {name} holds what no header may")
        if name.lower() in _KEY_HEADERS and PLACEHOLDER not in value:
            raise Misconfigured(
                f"{inner.at}: write {PLACEHOLDER} for the secret of header {name}, and the secret itself into "
                "LEAD_ROUTER_ENRICHMENT_SECRET or the file that LEAD_ROUTER_ENRICHMENT_SECRET_FILE names"
            )
        found[name] = value
    return found


def _number(row: Row, key: str, default: float, least: float, most: float) -> float:
    part = row.entries.get(key)
    if part is None:
        return default
    value = part.value if isinstance(part, Leaf) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise Misconfigured(f"{part.at}: {key} is a number from {least:g} to {most:g}")
    if isinstance(default, int) and value != int(value):
        raise Misconfigured(f"{part.at}: {key} is a whole number")
    return value
