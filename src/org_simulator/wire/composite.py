"""`/composite`: up to 25 subrequests in one call, in one transaction where `allOrNone` says so."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from org_simulator.failures import Failure
from org_simulator.wire import references
from org_simulator.wire.errors import bad_request, halted, refusal
from org_simulator.wire.exchange import Reply, request
from org_simulator.wire.rows import body
from org_simulator.wire.world import Call, client_name

SUBREQUESTS_MAX = 25
HEAVY_MAX = 5  # collections and queries among them
NOT_IN_SUBREQUESTS = frozenset({"accept", "authorization", "content-type"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")
_URL = re.compile(r"/services/data/v\d+\.\d/")

Perform: TypeAlias = Callable[[Call], Reply]


@dataclass(frozen=True, slots=True)
class Part:
    """One subrequest as sent."""

    name: str
    method: str
    url: str
    content: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class _Halt(Exception):
    """Leaves the transaction of a composite without a commit."""

    def __init__(self, name: str, reply: Reply) -> None:
        super().__init__()
        self.name = name
        self.reply = reply


def run(call: Call, perform: Perform) -> Reply:
    """POST /composite. The answer is 200 whatever became of the parts; 400 only where the request itself is wrong."""
    content = body(call)
    parts = _parts(content)
    order = parts
    if content.get("collateSubrequests", True):
        order = _collated(parts, random.Random(call.world.org.dice.random()))
    if content.get("allOrNone") is True:
        replies = _together(call, order, perform)
    else:
        replies = {}
        for part in order:
            replies[part.name] = _one(call, part, replies, perform)
    return Reply(200, {"compositeResponse": [_told(part, replies[part.name]) for part in parts]})


def _told(part: Part, reply: Reply) -> dict[str, Any]:
    return {
        "body": reply.content,
        "httpHeaders": dict(reply.headers),
        "httpStatusCode": reply.status,
        "referenceId": part.name,
    }


def _together(call: Call, order: Sequence[Part], perform: Perform) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}
    client = client_name(call.headers) if call.world.org.switches.outer_call_options_reach_subrequests else ""
    try:
        with call.world.org.transaction(call.user_id, client=client, version=call.version) as shared:
            for part in order:
                if call.world.org.automation is not None:
                    call.world.org.automation.begin_subrequest(shared)
                reply = _one(replace(call, shared=shared), part, replies, perform)
                replies[part.name] = _good(part, reply)
    except _Halt as over:
        return {part.name: over.reply if part.name == over.name else halted() for part in order}
    return replies


def _good(part: Part, reply: Reply) -> Reply:
    if _failed(reply):
        raise _Halt(part.name, reply)
    return reply


def _failed(reply: Reply) -> bool:
    """A subrequest fails by its status, a collection also by any of its records."""
    if reply.status >= 300:  # noqa: PLR2004 - an upsert that finds several records answers 300
        return True
    return isinstance(reply.content, list) and any(
        isinstance(each, Mapping) and each.get("success") is False for each in reply.content
    )


def _one(call: Call, part: Part, replies: Mapping[str, Reply], perform: Perform) -> Reply:
    try:
        known = {name: reply.content for name, reply in replies.items() if not _failed(reply)}
        url = references.in_url(part.url, known)
        limit = call.world.org.switches.subrequest_uri_limit
        if limit is not None and len(url) > limit:
            raise bad_request("URI_TOO_LONG", "The URI of this subrequest is too long", 414)
        content = references.in_content(part.content, known)
    except Failure as failure:
        return refusal(failure)
    asked = request(part.method, url)
    if asked.segments[3:4] == ("composite",) and asked.segments[4:5] != ("sobjects",):
        return refusal(bad_request("INVALID_INPUT", "This resource cannot be part of a composite request"))
    return perform(
        replace(
            call,
            version=asked.segments[2].removeprefix("v"),
            method=asked.method,
            segments=asked.segments[3:],
            query=asked.query,
            headers=_headers(call, part),
            content=content,
        ),
    )


def _headers(call: Call, part: Part) -> dict[str, str]:
    """A subrequest's own headers; of the outer ones only those that a switch lets through."""
    switches = call.world.org.switches
    found: dict[str, str] = {}
    if switches.outer_header_reaches_subrequests and "sforce-auto-assign" in call.headers:
        found["sforce-auto-assign"] = call.headers["sforce-auto-assign"]
    if switches.outer_call_options_reach_subrequests and "sforce-call-options" in call.headers:
        found["sforce-call-options"] = call.headers["sforce-call-options"]
    return found | dict(part.headers)


def _parts(content: Mapping[str, Any]) -> list[Part]:
    given = content.get("compositeRequest")
    if not isinstance(given, list) or not given or not all(isinstance(each, Mapping) for each in given):
        raise bad_request("JSON_PARSER_ERROR", "compositeRequest must be a list of subrequests")
    if len(given) > SUBREQUESTS_MAX:
        text = f"The number of subrequests exceeds the limit of {SUBREQUESTS_MAX}"
        raise bad_request("LIMIT_EXCEEDED", text)
    parts = [_part(each) for each in given]
    if sum(map(_heavy, parts)) > HEAVY_MAX:
        text = f"The number of collection and query subrequests exceeds the limit of {HEAVY_MAX}"
        raise bad_request("LIMIT_EXCEEDED", text)
    names = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise bad_request("INVALID_INPUT", f"Duplicate referenceId: {name}")
    return parts


def _part(given: Mapping[str, Any]) -> Part:
    name, url = str(given.get("referenceId") or ""), str(given.get("url") or "")
    headers = {str(key).lower(): str(value) for key, value in (given.get("httpHeaders") or {}).items()}
    if _NAME.fullmatch(name) is None:
        raise bad_request("INVALID_INPUT", f"Invalid referenceId: {name!r}")
    if _URL.match(url) is None:
        raise bad_request("INVALID_INPUT", f"The url of {name} must start with /services/data/vXX.X/")
    for header in sorted(headers.keys() & NOT_IN_SUBREQUESTS):
        raise bad_request("INVALID_INPUT", f"The header {header} is not allowed in subrequest {name}")
    return Part(name, str(given.get("method") or "GET").upper(), url, given.get("body"), headers)


def _heavy(part: Part) -> bool:
    resource = part.url.split("?")[0].split("/")[4:6]
    return resource[0].lower() in {"query", "queryall"} or resource == ["composite", "sobjects"]


def _collated(parts: Sequence[Part], dice: random.Random) -> list[Part]:
    """Any order that keeps a part behind those it refers to: what a client must expect without asking for its own."""
    waiting = list(parts)
    order: list[Part] = []
    while waiting:
        names = {part.name for part in waiting}
        free = [part for part in waiting if not references.names(part.url, part.content) & names - {part.name}]
        chosen = dice.choice(free or waiting)
        waiting.remove(chosen)
        order.append(chosen)
    return order
