"""One request and its answer, whatever carries them: a socket or the transport adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote

JSON = "application/json;charset=UTF-8"
HTML = "text/html;charset=UTF-8"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the org sees it. `segments` are the decoded parts of the path; header names are lower case."""

    method: str
    target: str
    segments: tuple[str, ...]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer; `body` is empty where Salesforce sends none (204)."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """No answer. `reached` is False where the client could not even connect; `hangs` where the line stays open."""

    reached: bool = True
    hangs: bool = False


Answer: TypeAlias = Response | Cut


def request(method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Request:
    """The request of a method and a raw target (`/path?query`, percent-encoded)."""
    path, _, query = target.partition("?")
    return Request(
        method=method.upper(),
        target=target,
        segments=tuple(unquote(part) for part in path.strip("/").split("/")),
        query=dict(parse_qsl(query, keep_blank_values=True)),
        headers={name.lower(): value for name, value in (headers or {}).items()},
        body=body,
    )


def answer(status: int, content: Any = None, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer; `content` None is an empty body."""
    if content is None:
        return Response(status, b"", dict(headers or {}))
    body = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    return Response(status, body, {"Content-Type": JSON, **(headers or {})})


def page(status: int, title: str) -> Response:
    """An HTML page, as edges and maintenance windows send instead of JSON."""
    text = f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return Response(status, text.encode(), {"Content-Type": HTML})


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer before it is put into bytes, so that a composite can hold it; `content` None is an empty body."""

    status: int
    content: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
