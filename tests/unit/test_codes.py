from __future__ import annotations

import pytest

from lead_router.errors import (
    BadSetup,
    ContractMismatch,
    LoginRefused,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    RowLocked,
    SessionExpired,
    Unreachable,
)
from lead_router.salesforce.codes import CODES, Kind, Trouble, hushed, surprise, tell, troubles

# Every code of the REST guide's and the WSDL's error tables that a router of leads can meet.
DOCUMENTED = {
    "INVALID_SESSION_ID",
    "REQUEST_LIMIT_EXCEEDED",
    "UNABLE_TO_LOCK_ROW",
    "FIELD_CUSTOM_VALIDATION_EXCEPTION",
    "DUPLICATE_VALUE",
    "DUPLICATES_DETECTED",
    "ENTITY_IS_DELETED",
    "NOT_FOUND",
    "MALFORMED_ID",
    "INVALID_FIELD",
    "MALFORMED_QUERY",
    "REQUIRED_FIELD_MISSING",
    "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
    "CANNOT_UPDATE_CONVERTED_LEAD",
    "INACTIVE_OWNER_OR_USER",
    "INVALID_CROSS_REFERENCE_KEY",
    "INSUFFICIENT_ACCESS_OR_READONLY",
    "TRANSFER_REQUIRES_READ",
    "STRING_TOO_LONG",
    "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY",
    "ENTITY_IS_LOCKED",
    "ENTITY_FAILED_IFLASTMODIFIED_ON_UPDATE",
    "ALL_OR_NONE_OPERATION_ROLLED_BACK",
    "PROCESSING_HALTED",
    "SERVER_UNAVAILABLE",
    "REQUEST_RUNNING_TOO_LONG",
    "QUERY_TIMEOUT",
    "UNKNOWN_EXCEPTION",
}


def test_every_documented_code_has_a_meaning() -> None:
    """E13: the table of codes is complete; none of them falls back to unknown."""
    assert set() == DOCUMENTED - set(CODES)
    assert Kind.UNKNOWN not in CODES.values()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("INVALID_SESSION_ID", SessionExpired),
        ("UNABLE_TO_LOCK_ROW", RowLocked),
        ("SERVER_UNAVAILABLE", OutcomeUnknown),
        ("INVALID_FIELD", ContractMismatch),
        ("STORAGE_LIMIT_EXCEEDED", BadSetup),
        ("API_DISABLED_FOR_ORG", LoginRefused),
        ("STRING_TOO_LONG", Rejected),
        ("NEVER_HEARD_OF", Rejected),
    ],
)
def test_a_refused_write_is_named_after_its_remedy(code, expected) -> None:
    assert type(surprise([Trouble(code, "text")], write=True)) is expected


def test_a_read_that_the_server_could_not_do_is_simply_repeated() -> None:
    assert type(surprise([Trouble("SERVER_UNAVAILABLE", "")], write=False)) is Unreachable


def test_all_codes_of_an_answer_are_kept() -> None:
    """B11: none of several errors is dropped."""
    fault = surprise([Trouble("STRING_TOO_LONG", "a"), Trouble("REQUIRED_FIELD_MISSING", "b")], write=True)
    assert isinstance(fault, Rejected)
    assert fault.codes == ("STRING_TOO_LONG", "REQUIRED_FIELD_MISSING")


@pytest.mark.parametrize(
    ("text", "daily"),
    [("TotalRequests Limit exceeded.", True), ("ConcurrentPerOrgLongTxn Limit exceeded.", False)],
)
def test_one_code_names_two_limits(text, daily) -> None:
    """B7: too many long requests at once is a pause of seconds, not of a day."""
    fault = surprise([Trouble("REQUEST_LIMIT_EXCEEDED", text)], write=True)
    assert isinstance(fault, RateLimited)
    assert (fault.daily, fault.retry_after < 60) == (daily, not daily)


def test_a_lock_inside_a_trigger_is_a_lock() -> None:
    text = "LeadTrigger: execution of BeforeUpdate\n\ncaused by: UNABLE_TO_LOCK_ROW, unable to obtain exclusive access"
    assert Trouble("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", text).kind is Kind.LOCK
    assert Trouble("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "division by zero").kind is Kind.TRIGGER


def test_errors_are_read_from_rest_and_from_collections() -> None:
    rest = [{"errorCode": "NOT_FOUND", "message": "The requested resource does not exist"}]
    record = [{"statusCode": "STRING_TOO_LONG", "message": "m", "fields": ["Company"]}]
    assert troubles(rest) == (Trouble("NOT_FOUND", "The requested resource does not exist"),)
    assert troubles(record) == (Trouble("STRING_TOO_LONG", "m", ("Company",)),)
    assert troubles("<html>") == troubles(None) == troubles([]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Email: invalid email address: ada.lovelace+x@example.org",
        "LastName: data value too large: Lovelace of Ockham (max length=10)",
        "Phone +44 20 7946 0018 is on the list of ada.lovelace@example.org",
    ],
)
def test_a_lead_s_values_are_not_told(text) -> None:
    """F1: Salesforce repeats what a person typed; a job's error and the log do not."""
    told = tell([Trouble("FIELD_CUSTOM_VALIDATION_EXCEPTION", text, ("Email",))])
    for value in ("lovelace", "Lovelace", "7946"):
        assert value not in told
    assert "[Email]" in told


def test_foreign_text_is_one_short_line() -> None:
    """B8: a maintenance page is never told whole."""
    assert hushed("<html>\n\n <h1>Down</h1>" + "x" * 5_000) == ("<html> <h1>Down</h1>" + "x" * 5_000)[:200]
    assert "00Q5f000005bwLFEAY" in hushed("access to this record or 1 records: 00Q5f000005bwLFEAY")
