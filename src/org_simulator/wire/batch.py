"""`/composite/batch`: up to 25 requests in one call, each in its own transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from org_simulator.wire.errors import bad_request
from org_simulator.wire.exchange import Reply, request
from org_simulator.wire.rows import body
from org_simulator.wire.world import Call

REQUESTS_MAX = 25
_SKIPPED = {"errorCode": "BATCH_PROCESSING_HALTED", "message": "Batch processing halted per request"}


def run(call: Call, perform: Callable[[Call], Reply]) -> Reply:
    """POST /composite/batch. Nothing is rolled back; with `haltOnError` the rest is left undone."""
    content = body(call)
    given = content.get("batchRequests")
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise bad_request("JSON_PARSER_ERROR", "batchRequests must be a list of requests")
    if len(given) > REQUESTS_MAX:
        raise bad_request("LIMIT_EXCEEDED", f"The number of requests exceeds the limit of {REQUESTS_MAX}")
    results: list[dict[str, Any]] = []
    failed = False
    for each in given:
        if failed and content.get("haltOnError") is True:
            results.append({"statusCode": 412, "result": [_SKIPPED]})
            continue
        reply = _one(call, each, perform)
        failed = failed or reply.status >= 400  # noqa: PLR2004
        results.append({"statusCode": reply.status, "result": reply.content})
    return Reply(200, {"hasErrors": failed, "results": results})


def _one(call: Call, each: Mapping[str, Any], perform: Callable[[Call], Reply]) -> Reply:
    asked = request(str(each.get("method") or "GET"), str(each.get("url") or ""))
    path = asked.segments[2:] if asked.segments[:2] == ("services", "data") else asked.segments
    if path[1:2] == ("composite",):
        raise bad_request("INVALID_INPUT", "This resource cannot be part of a batch")
    return perform(
        replace(
            call,
            version=path[0].removeprefix("v"),
            method=asked.method,
            segments=path[1:],
            query=asked.query,
            content=each.get("richInput"),
        ),
    )
