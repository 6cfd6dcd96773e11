"""`/services/data`: who calls, what for, and how the answer is put into bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from org_simulator.apex.faults import Unsupported
from org_simulator.failures import Failure, not_found
from org_simulator.wire import actions, batch, collections, composite, describe, notifying, publish, query, rows
from org_simulator.wire.access import view
from org_simulator.wire.errors import bad_request, not_run, refusal
from org_simulator.wire.exchange import Reply, Request, Response, answer
from org_simulator.wire.faults import DAILY, limit_exceeded, unauthorized
from org_simulator.wire.oauth import bearer
from org_simulator.wire.world import API_VERSION_MAX, API_VERSION_MIN, Call, World

URI_MAX = 16_384  # bytes, with and without the headers
_VERSION = re.compile(r"v(\d{2})\.0")
_HEADERS = {
    "Cache-Control": "no-cache,must-revalidate,max-age=0,no-store,private",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}

Verb: TypeAlias = Callable[[Call, Sequence[str]], Reply]


def _composite(call: Call, _captured: Sequence[str]) -> Reply:
    return composite.run(call, perform)


def _batch(call: Call, _captured: Sequence[str]) -> Reply:
    return batch.run(call, perform)


def _create(call: Call, captured: Sequence[str]) -> Reply:
    """An event is published, anything else saved."""
    if captured[0].lower() in call.schema.platform_events:
        return publish.publish(call, captured)
    return rows.create(call, captured)


ROUTES: tuple[tuple[tuple[str, ...], Mapping[str, Verb]], ...] = (
    ((), {"GET": describe.resources}),
    (("limits",), {"GET": describe.limits}),
    (("query",), {"GET": query.run}),
    (("query", "*"), {"GET": query.more}),
    (("queryall",), {"GET": query.run}),
    (("queryall", "*"), {"GET": query.more}),
    (("sobjects",), {"GET": describe.everything}),
    (("sobjects", "*"), {"GET": describe.basics, "POST": _create}),
    (("sobjects", "*", "describe"), {"GET": describe.describe}),
    (("sobjects", "*", "*"), {"GET": rows.read, "PATCH": rows.update, "DELETE": rows.delete}),
    (
        ("sobjects", "*", "*", "*"),
        {"GET": rows.read_external, "PATCH": rows.upsert, "DELETE": rows.delete_external},
    ),
    (("composite",), {"POST": _composite}),
    (("composite", "batch"), {"POST": _batch}),
    (("actions", "custom", "apex", "*"), {"POST": actions.invoke}),
    (("actions", "standard", "customnotificationaction"), {"POST": notifying.notify}),
    (
        ("composite", "sobjects"),
        {"POST": collections.create, "PATCH": collections.update, "DELETE": collections.delete},
    ),
    (("composite", "sobjects", "*"), {"GET": collections.retrieve, "POST": collections.retrieve}),
    (("composite", "sobjects", "*", "*"), {"PATCH": collections.upsert}),
)
_BY_LENGTH = {length: tuple(route for route in ROUTES if len(route[0]) == length) for length in map(len, dict(ROUTES))}
"""Resources below the version, most telling first; `*` is any one segment."""


def perform(call: Call) -> Reply:
    """Carry out one call; whatever the org refuses becomes its error answer.

    Apex that is not run here ends the whole transaction: in a part of a shared one, Unsupported goes on to its owner.
    """
    try:
        return _verb(call)(call, _captured(call))
    except Failure as failure:
        return refusal(failure)
    except Unsupported as fault:
        if call.shared is not None:
            raise
        return not_run(fault)


def _verb(call: Call) -> Verb:
    for pattern, verbs in _BY_LENGTH.get(len(call.segments), ()):
        if _fits(pattern, call.segments):
            verb = verbs.get("GET" if call.method == "HEAD" else call.method)
            if verb is None:
                allowed = ",".join(sorted(verbs))
                text = f"HTTP Method '{call.method}' not allowed. Allowed are {allowed}"
                raise bad_request("METHOD_NOT_ALLOWED", text, 405)
            return verb
    raise not_found()


def _captured(call: Call) -> list[str]:
    pattern = next(pattern for pattern, _ in _BY_LENGTH[len(call.segments)] if _fits(pattern, call.segments))
    return [segment for part, segment in zip(pattern, call.segments, strict=True) if part == "*"]


def _fits(pattern: Sequence[str], segments: Sequence[str]) -> bool:
    return all(part == "*" or part == segment.lower() for part, segment in zip(pattern, segments, strict=True))


def serve(world: World, request: Request) -> Response:
    """Answer a request below /services/data. One request is one API call, however much it holds."""
    segments = tuple(each for each in request.segments[2:] if each)
    if not segments:
        return answer(200, describe.versions())
    version = _VERSION.fullmatch(segments[0])
    if version is None or not API_VERSION_MIN <= int(version[1]) <= API_VERSION_MAX:
        return _told(world, refusal(not_found()))
    user_id = world.org.sessions.user(bearer(request))
    if user_id is None:
        return unauthorized()
    if world.org.calls_used >= world.org.calls_allowed:
        return limit_exceeded(DAILY)
    world.org.count_call()
    try:
        call = Call(
            world=world,
            user_id=user_id,
            schema=view(world, user_id),
            version=segments[0].removeprefix("v"),
            method=request.method,
            segments=segments[1:],
            query=request.query,
            headers=request.headers,
            content=_content(request),
        )
    except Failure as failure:
        return _told(world, refusal(failure))
    return _told(world, perform(call))


def _content(request: Request) -> Any:
    """The request's JSON, None without a body; refuses what is too long, of another type or no JSON."""
    if len(request.target) > URI_MAX:
        raise bad_request("URI_TOO_LONG", "The length of the URI exceeds the 16,384 byte limit", 414)
    if len(request.target) + sum(len(name) + len(value) for name, value in request.headers.items()) > URI_MAX:
        raise bad_request("HEADERS_TOO_LONG", "The combined length of the URI and headers exceeds 16,384 bytes", 431)
    if not request.body:
        return None
    if "json" not in request.headers.get("content-type", ""):
        text = "Content-type of the request is not supported; send application/json"
        raise bad_request("UNSUPPORTED_MEDIA_TYPE", text, 415)
    try:
        return json.loads(request.body)
    except ValueError as fault:
        raise bad_request("JSON_PARSER_ERROR", f"Unexpected character or end of input: {fault}") from fault


def _told(world: World, reply: Reply) -> Response:
    usage = f"api-usage={world.org.calls_used}/{world.org.calls_allowed}"
    return answer(reply.status, reply.content, {**_HEADERS, "Sforce-Limit-Info": usage, **reply.headers})
