"""The REST client: simple-salesforce's `restful` and nothing else of it, under our own token, time-outs and faults.

Nothing is sent twice but after a refused token, or a read whose host redirects: no redirect is followed. Whether to
repeat a request is the caller's decision.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import requests
from simple_salesforce.api import Salesforce
from simple_salesforce.exceptions import SalesforceError
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

from lead_router.errors import (
    ContractMismatch,
    Ending,
    LoginRefused,
    OutcomeUnknown,
    RateLimited,
    SessionExpired,
    Unreachable,
)
from lead_router.ports import Usage
from lead_router.salesforce.auth import Token, TokenHolder
from lead_router.salesforce.codes import BURST_PAUSE_S, hushed, surprise, troubles, unanswered
from lead_router.salesforce.moved import REDIRECTS, Moved, led_to, redirected
from lead_router.salesforce.names import API_VERSION, CLIENT
from lead_router.salesforce.wire import why_unanswered

DATA_PATH = f"/services/data/v{API_VERSION}/"
UNAUTHORISED = 401
GONE = 410
URL_TOO_LONG = frozenset({414, 431})
TOO_MANY = 429
SERVER = 500

_HEADERS = {"Sforce-Call-Options": f"client={CLIENT}", "X-PrettyPrint": None}
_USAGE = re.compile(r"(?:^|[;\s])api-usage=(\d+)/(\d+)")
_UNSENT = (
    requests.exceptions.ConnectTimeout,
    requests.exceptions.ProxyError,
    ValueError,  # a URL or header that requests refuses
)
_BAD_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"  # OpenSSL's name for it, before anything is sent
_WRONG_KIND = "not valid for use with the REST API"


@dataclass(frozen=True, slots=True)
class Subrequest:
    """One part of a composite request; `path` is below DATA_PATH, already encoded."""

    method: str
    reference: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Subanswer:
    """The answer to one part of a composite request."""

    reference: str
    status: int
    body: Any


class Rest:
    """One org's REST API for all threads. Every verb is one API call, unless the token was refused.

    A read raises Unreachable where no answer came, a write OutcomeUnknown unless nothing was sent. Once `ending`, a
    read raises Ending; writes still go out, as what was done must be shown.
    """

    def __init__(
        self, tokens: TokenHolder, session: requests.Session, *, ending: Callable[[], bool] = lambda: False
    ) -> None:
        self._tokens = tokens
        self._session = session
        self._ending = ending
        self._lock = threading.Lock()
        self._usage = Usage()
        self._status = threading.local()
        session.hooks["response"].append(self._note)

    def token(self) -> Token:
        """The session in use; its `org_id` and `user_id` are the org's and the integration user's."""
        return self._tokens.token()

    def begin(self) -> None:
        """Raises Ending where this process was told to end: one call more might outlast its drain."""
        if self._ending():
            raise Ending("this router was told to end, and asks nothing more of Salesforce")

    def usage(self) -> Usage:
        """Calls made by this client, and the org's daily allowance as Salesforce last told it."""
        with self._lock:
            return self._usage

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        """Read; `path` is below DATA_PATH. An empty list or object is answered as None."""
        return self._call("GET", path, params=dict(params or {}), write=False)

    def send(self, method: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """Write; `path` is below DATA_PATH."""
        return self._call(method, path, body=body, headers=headers, write=True)

    def query(self, soql: str) -> list[dict[str, Any]]:
        """All records of a query, page after page, one API call each."""
        return self.rest_of(self.get("query", {"q": soql}))

    def rest_of(self, page: Any) -> list[dict[str, Any]]:
        """The records of a query's first page and of all that follow it."""
        return [record for records in self._following(page) for record in records]

    def pages(self, soql: str) -> Iterator[list[dict[str, Any]]]:
        """All records of a query, a page at a time, one API call each."""
        yield from self._following(self.get("query", {"q": soql}))

    def _following(self, page: Any) -> Iterator[list[dict[str, Any]]]:
        while True:
            if not isinstance(page, dict) or not isinstance(page.get("records"), list):
                raise ContractMismatch("a query was answered without records")
            yield page["records"]
            if page.get("done", True):
                return
            page = self.get(str(page["nextRecordsUrl"]).removeprefix(DATA_PATH))

    def composite(self, parts: Sequence[Subrequest], *, write: bool, together: bool | None = None) -> list[Subanswer]:
        """One composite request, carried out in order; the answers stand in the order of the parts.

        A write is carried out all or nothing unless `together` says otherwise.
        Raises ContractMismatch where the answers are not those of the parts.
        """
        whole = write if together is None else together
        body = {"allOrNone": whole, "collateSubrequests": False, "compositeRequest": [_part(part) for part in parts]}
        answer = self._call("POST", "composite", body=body, write=write)
        found = answer.get("compositeResponse") if isinstance(answer, dict) else None
        try:
            answers = [
                Subanswer(str(item["referenceId"]), int(item["httpStatusCode"]), item["body"]) for item in found or ()
            ]
        except (KeyError, TypeError, ValueError):
            raise ContractMismatch("a composite request was answered in an unknown shape") from None
        if [item.reference for item in answers] != [part.reference for part in parts]:
            raise ContractMismatch("a composite request was answered with other parts than were asked for")
        return answers

    def _call(
        self, method: str, path: str, *, write: bool, headers: Mapping[str, str] | None = None, **sent: Any
    ) -> Any:
        if not write:
            self.begin()
        body = sent.pop("body", None)
        if body is not None:
            sent["json"] = body
        sent |= {"headers": {**_HEADERS, **(headers or {})}, "allow_redirects": False}

        def ask(client: Salesforce) -> Any:
            return client.restful(path, method=method, **sent)

        token, refused, moved = self._tokens.token(), None, None
        try:
            answer = self._send(token, ask, write=write)
        except SessionExpired:
            refused = token.access_token
        except Moved as fault:
            # Nobody says what became of a write: its caller looks, and that is when the new address is found.
            if write:
                raise OutcomeUnknown(str(fault)) from None
            refused, moved = token.access_token, str(fault)
        else:
            self._tokens.accepted()
            return answer
        try:
            return self._send(self._tokens.token(refused, moved=moved), ask, write=write)
        except Moved as fault:
            raise unanswered(str(fault), write=write) from None

    def _send(self, token: Token, send: Callable[[Salesforce], Any], *, write: bool) -> Any:
        client = Salesforce(
            session_id=token.access_token,
            instance_url=token.instance_url,
            version=API_VERSION,
            session=self._session,
        )
        with self._lock:
            self._usage = Usage(self._usage.used, self._usage.allowed, self._usage.calls + 1)
        try:
            return send(client)
        except SalesforceError as refused:
            if refused.status in REDIRECTS:
                raise Moved(redirected(token.instance_url, self._status.led_to)) from None
            _refuse(refused.status, refused.content, write=write)
        except requests.JSONDecodeError as fault:
            _refuse(getattr(self._status, "last", 200), fault.doc, write=write)
        except (RecursionError, TypeError):  # nested without end, or no object where simple-salesforce expects one
            raise unanswered("Salesforce's answer was no JSON of a known shape", write=write) from None
        except requests.RequestException as fault:
            text = f"Salesforce gave no answer: {why_unanswered(fault)}"
            raise (Unreachable(text) if unsent(fault) else unanswered(text, write=write)) from None

    def _note(self, answer: requests.Response, *_: Any, **__: Any) -> None:
        self._status.last, self._status.led_to = answer.status_code, led_to(answer)
        found = _USAGE.search(answer.headers.get("Sforce-Limit-Info", ""))
        if found:
            with self._lock:
                self._usage = Usage(int(found[1]), int(found[2]), self._usage.calls)


def _part(part: Subrequest) -> dict[str, Any]:
    built: dict[str, Any] = {"method": part.method, "referenceId": part.reference, "url": DATA_PATH + part.path}
    if part.body is not None:
        built["body"] = part.body
    if part.headers:
        built["httpHeaders"] = part.headers
    return built


def unsent(fault: requests.RequestException) -> bool:
    """Whether the request surely never left: no connection was made, or requests itself refused it."""
    cause = fault.args[0] if fault.args else None
    if isinstance(cause, MaxRetryError):
        cause = cause.reason
    if isinstance(fault, requests.exceptions.SSLError):  # may also break an exchange that had begun
        return _BAD_CERTIFICATE in str(fault)
    return isinstance(fault, _UNSENT) or isinstance(cause, NewConnectionError | ConnectTimeoutError)


def _refuse(status: int, content: Any, *, write: bool) -> NoReturn:
    found = troubles(content)
    if status == UNAUTHORISED:
        if any(_WRONG_KIND in trouble.text for trouble in found):
            raise LoginRefused("the access token may not be used for REST: give the app the scope api") from None
        raise SessionExpired("the access token was refused twice") from None
    if found and status < SERVER:
        raise surprise(found, write=write) from None
    text = f"Salesforce answered with status {status}: {hushed(content if isinstance(content, str) else str(content))}"
    if status == TOO_MANY:
        raise RateLimited(text, retry_after=BURST_PAUSE_S, daily=False) from None
    if status in URL_TOO_LONG or status == GONE:
        raise ContractMismatch(text) from None
    raise unanswered(text, write=write) from None
