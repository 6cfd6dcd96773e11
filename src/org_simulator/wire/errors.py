"""Failures as the wire writes them: an array of error objects, `fields` only where Salesforce sends it."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.failures import Failure
from org_simulator.wire.exchange import Reply

WITHOUT_FIELDS = frozenset(
    {
        "EXCEEDED_ID_LIMIT",
        "INVALID_FIELD",
        "INVALID_QUERY_LOCATOR",
        "INVALID_SESSION_ID",
        "INVALID_TYPE",
        "JSON_PARSER_ERROR",
        "MALFORMED_QUERY",
        "METHOD_NOT_ALLOWED",
        "NOT_FOUND",
        "PROCESSING_HALTED",
        "REQUEST_LIMIT_EXCEEDED",
        "UNSUPPORTED_MEDIA_TYPE",
    },
)
HALTED = "The transaction was rolled back since another operation in the same transaction failed."
ROLLED_BACK = "Record rolled back because not all records were valid and the request was using AllOrNone header"


def refusal(failure: Failure) -> Reply:
    """The answer to a request that failed."""
    return Reply(failure.http, [_error(each) for each in failure.all])


def _error(failure: Failure) -> dict[str, Any]:
    error: dict[str, Any] = {"message": failure.message, "errorCode": failure.code}
    if failure.fields or failure.code not in WITHOUT_FIELDS:
        error["fields"] = list(failure.fields)
    return error | failure.extra


def record_errors(failure: Failure) -> list[dict[str, Any]]:
    """The same inside a collection's result, where the code is called `statusCode`."""
    return [
        {"statusCode": each.code, "message": each.message, "fields": list(each.fields)} | each.extra
        for each in failure.all
    ]


def rolled_back() -> list[dict[str, Any]]:
    """The errors of a record that was good itself."""
    return [{"statusCode": "ALL_OR_NONE_OPERATION_ROLLED_BACK", "message": ROLLED_BACK, "fields": []}]


def halted() -> Reply:
    """The answer of a subrequest whose composite was rolled back for another's sake."""
    return Reply(400, [{"errorCode": "PROCESSING_HALTED", "message": HALTED}])


def bad_request(code: str, text: str, http: int = 400) -> Failure:
    """A request that is wrong as a whole."""
    return Failure(code, text, http=http)


def not_run(fault: Unsupported) -> Reply:
    """Apex that this org cannot run, by file and line; no Salesforce org sends this."""
    return Reply(500, [{"message": str(fault), "errorCode": "UNSUPPORTED_APEX"}])
