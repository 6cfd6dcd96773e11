from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
import responses
from urllib3.exceptions import MaxRetryError, NewConnectionError, ProtocolError

from lead_router.core.ids import to18
from lead_router.errors import (
    ContractMismatch,
    Ending,
    LeadRouterError,
    LoginRefused,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    RowLocked,
    SessionExpired,
    Unreachable,
)
from lead_router.ports import Usage
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.rest import Rest, Subrequest, unsent
from lead_router.salesforce.wire import Wire, open_session

HOST = "https://acme.my.salesforce.com"
DATA = f"{HOST}/services/data/v68.0"
IDENTITY = f"https://login.salesforce.com/id/{to18('00D000000000001')}/{to18('005000000000001')}"
PART = Subrequest("PATCH", "one", "composite/sobjects", {"records": []})


def client(login_url: str = HOST, *, ending: Callable[[], bool] = lambda: False) -> Rest:
    session = open_session(login_url)
    holder = TokenHolder(
        Login(login_url, "client", "secret"),
        session,
        now=lambda: datetime(2026, 11, 29, tzinfo=UTC),
        sleep=lambda _: None,
        dice=random.Random(1),
    )
    return Rest(holder, session, ending=ending)


@pytest.fixture
def org() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.post(f"{HOST}/services/oauth2/token", json={"access_token": "t1", "instance_url": HOST, "id": IDENTITY})
        yield mock


def error(code: str, text: str = "") -> list[dict[str, str]]:
    return [{"errorCode": code, "message": text}]


def test_every_call_says_who_asks_and_in_which_version(org) -> None:
    org.get(f"{DATA}/limits", json={"DailyApiRequests": {"Max": 5, "Remaining": 4}})
    assert client().get("limits") == {"DailyApiRequests": {"Max": 5, "Remaining": 4}}
    sent = org.calls[-1].request
    assert sent.headers["Sforce-Call-Options"] == "client=lead-router"
    assert sent.headers["Authorization"] == "Bearer t1"
    assert "X-PrettyPrint" not in sent.headers


def test_an_empty_answer_is_none(org) -> None:
    org.get(f"{DATA}/a", json=[])
    org.get(f"{DATA}/b", status=204)
    rest = client()
    assert (rest.get("a"), rest.get("b")) == (None, None)


def test_a_query_is_read_to_its_last_page(org) -> None:
    page = {"totalSize": 3, "done": False, "nextRecordsUrl": "/services/data/v68.0/query/01gX-2"}
    org.get(f"{DATA}/query", json={**page, "records": [{"Id": 1}, {"Id": 2}]})
    org.get(f"{DATA}/query/01gX-2", json={"totalSize": 3, "done": True, "records": [{"Id": 3}]})
    assert client().query("SELECT Id FROM Lead") == [{"Id": 1}, {"Id": 2}, {"Id": 3}]


def test_a_composite_keeps_its_order(org) -> None:
    body = {"compositeResponse": [{"referenceId": "one", "httpStatusCode": 204, "httpHeaders": {}, "body": None}]}
    sent = org.post(f"{DATA}/composite", json=body)
    (answer,) = client().composite([PART], write=True)
    assert (answer.reference, answer.status, answer.body) == ("one", 204, None)
    assert b'"collateSubrequests": false' in sent.calls[0].request.body
    assert b'"allOrNone": true' in sent.calls[0].request.body
    assert b'"url": "/services/data/v68.0/composite/sobjects"' in sent.calls[0].request.body


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"compositeResponse": []},
        {"compositeResponse": [{"referenceId": "two", "httpStatusCode": 204, "body": None}]},
        {"compositeResponse": [{"referenceId": "one"}]},
        {"compositeResponse": 7},
        [1],
    ],
)
def test_answers_to_other_questions_are_refused(org, body) -> None:
    """B10: nothing is read by position before the positions are known to be ours."""
    org.post(f"{DATA}/composite", json=body)
    with pytest.raises(ContractMismatch):
        client().composite([PART], write=True)


@pytest.mark.parametrize(
    ("status", "body", "write", "read"),
    [
        (400, error("UNABLE_TO_LOCK_ROW"), RowLocked, RowLocked),
        (400, error("INVALID_FIELD", "No such column"), ContractMismatch, ContractMismatch),
        (400, error("STRING_TOO_LONG"), Rejected, Rejected),
        (403, error("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."), RateLimited, RateLimited),
        (403, error("API_DISABLED_FOR_ORG"), LoginRefused, LoginRefused),
        (404, error("NOT_FOUND"), ContractMismatch, ContractMismatch),
        (503, error("SERVER_UNAVAILABLE"), OutcomeUnknown, Unreachable),
        (500, error("STRING_TOO_LONG"), OutcomeUnknown, Unreachable),
        (500, "<html>", OutcomeUnknown, Unreachable),
        (502, "", OutcomeUnknown, Unreachable),
        (302, "", OutcomeUnknown, LoginRefused),
        (200, "<html>Down for maintenance</html>", OutcomeUnknown, Unreachable),
        (429, "slow down", RateLimited, RateLimited),
        (414, "<html>URI too long", ContractMismatch, ContractMismatch),
        (410, "<html>", ContractMismatch, ContractMismatch),
    ],
)
def test_each_answer_is_named_after_its_remedy(org, status, body, write, read) -> None:
    """B8, B19."""
    for add in (org.get, org.post):
        add(f"{DATA}/x", **({"body": body} if isinstance(body, str) else {"json": body}), status=status)
    rest = client()
    with pytest.raises(LeadRouterError) as refused:
        rest.send("POST", "x", {})
    assert type(refused.value) is write
    with pytest.raises(LeadRouterError) as refused:
        rest.get("x")
    assert type(refused.value) is read


@pytest.mark.parametrize(
    ("fault", "never_left"),
    [
        (requests.ConnectionError(MaxRetryError(None, "/", NewConnectionError(None, "refused"))), True),
        (requests.ConnectTimeout("no answer to SYN"), True),
        (requests.exceptions.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"), True),
        (requests.exceptions.SSLError("[SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred"), False),
        (requests.exceptions.ProxyError("no proxy"), True),
        (requests.exceptions.InvalidHeader("canary"), True),
        (requests.ConnectionError(ProtocolError("Connection aborted.", ConnectionResetError())), False),
        (requests.ReadTimeout("canary"), False),
        (requests.exceptions.ChunkedEncodingError("canary"), False),
    ],
)
def test_whether_a_request_left_decides_whether_it_may_be_repeated(org, fault, never_left) -> None:
    """B13: a write that may have arrived is never simply sent again."""
    assert unsent(fault) is never_left
    for add in (org.get, org.post):
        add(f"{DATA}/x", body=fault)
    rest = client()
    with pytest.raises(Unreachable if never_left else OutcomeUnknown) as refused:
        rest.send("POST", "x", {})
    assert "canary" not in repr(refused.value)
    with pytest.raises(Unreachable):
        rest.get("x")


def test_a_redirect_is_not_followed(org) -> None:
    """A login page is no answer; and a token is for its own host."""
    org.get(f"{DATA}/x", status=302, headers={"Location": f"{HOST}/login"})
    login_page = org.get(f"{HOST}/login", json={"ok": True})
    with pytest.raises(LoginRefused, match=r"redirects to acme\.my\.salesforce\.com, where no token"):
        client().get("x")
    assert login_page.call_count == 0


def test_a_token_of_the_wrong_kind_is_no_expired_session(org) -> None:
    """Logging in again would bring the same kind of token."""
    text = "This session is not valid for use with the REST API"
    org.get(f"{DATA}/x", json=error("INVALID_SESSION_ID", text), status=401)
    with pytest.raises(LoginRefused, match="scope api"):
        client().get("x")
    assert len(org.calls) == 2


def test_after_a_refusal_the_new_host_is_asked(org) -> None:
    """B22: all later calls go where the new token belongs."""
    moved = "https://moved.my.salesforce.com"
    org.post(f"{HOST}/services/oauth2/token", json={"access_token": "t2", "instance_url": moved, "id": IDENTITY})
    org.get(f"{DATA}/x", json=error("INVALID_SESSION_ID", "Session expired or invalid"), status=401)
    org.get(f"{moved}/services/data/v68.0/x", json={"ok": True})
    rest = client()
    assert rest.get("x") == rest.get("x") == {"ok": True}
    assert [call.request.url.split("/")[2] for call in org.calls].count("acme.my.salesforce.com") == 3


def test_two_refusals_are_a_fault(org) -> None:
    org.get(f"{DATA}/x", json=error("INVALID_SESSION_ID", "Session expired or invalid"), status=401)
    with pytest.raises(SessionExpired):
        client().get("x")
    assert len(org.calls) == 4


def test_usage_is_read_from_every_answer(org) -> None:
    org.get(f"{DATA}/a", json={"x": 1}, headers={"Sforce-Limit-Info": "api-usage=18/5000"})
    app = "api-usage=25/5000; per-app-api-usage=17/250(appName=My App)"
    org.get(f"{DATA}/b", json=error("INVALID_FIELD"), status=400, headers={"Sforce-Limit-Info": app})
    rest = client()
    assert rest.usage() == Usage()
    rest.get("a")
    assert rest.usage() == Usage(18, 5000, 1)
    with pytest.raises(ContractMismatch):
        rest.get("b")
    assert rest.usage() == Usage(25, 5000, 2)


class Recorder(requests.adapters.BaseAdapter):
    """Keeps what it is given."""

    def send(self, request, **kwargs):
        self.url, self.timeout = request.url, kwargs["timeout"]
        answer = requests.Response()
        answer.status_code = 200
        return answer

    def close(self) -> None:
        """Nothing to close."""


def test_every_request_has_both_time_outs() -> None:
    """B1: a server that accepts and never answers costs a bounded wait."""
    inner = Recorder()
    session = open_session(HOST, connect_s=1.5, read_s=20, adapter=inner)
    session.get(HOST)
    assert inner.timeout == (1.5, 20)


@pytest.mark.parametrize(
    ("plain", "asked", "sent"),
    [
        ("localhost:8500", "https://localhost:8500/services", "http://localhost:8500/services"),
        ("localhost:8500", "https://localhost:8501/services", "https://localhost:8501/services"),
        (None, "https://localhost:8500/services", "https://localhost:8500/services"),
    ],
)
def test_only_the_simulated_org_on_this_machine_is_asked_in_the_clear(plain, asked, sent) -> None:
    inner = Recorder()
    wire = Wire(inner, connect_s=1, read_s=1, plain=plain)
    wire.send(requests.Request("GET", asked).prepare())
    assert inner.url == sent


def test_a_plain_login_url_makes_the_session_plain_for_its_own_port() -> None:
    inner = Recorder()
    session = open_session("http://localhost:8500", adapter=inner)
    session.get("https://localhost:8500/x")
    assert inner.url == "http://localhost:8500/x"


def test_once_told_to_end_it_reads_nothing_more_and_still_writes(org) -> None:
    """C22: what was done must be shown; what is read would be for something that is not done any more."""
    told: list[bool] = []
    org.get(f"{DATA}/limits", json={"DailyApiRequests": 1})
    org.patch(f"{DATA}/composite/sobjects", json=[{"success": True}])
    rest = client(ending=lambda: bool(told))
    rest.get("limits")
    told.append(True)
    with pytest.raises(Ending):
        rest.get("limits")
    with pytest.raises(Ending):
        rest.begin()
    assert rest.send("PATCH", "composite/sobjects", {"records": []}) == [{"success": True}]
