"""A provider over HTTP that answers with JSON: one call, to its end in time, in words that repeat nothing of it.

https always, but to this machine; certificates are verified, redirects not followed, retries the caller's. Proxies are
those of the environment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any, Final

import requests

from lead_router.core.enrichment import Request
from lead_router.hops.deadline import Deadline, Guarded, unlogged
from lead_router.ports import Answer, Answered, Faulted, NothingKnown, Pending, Unfit

ANSWER_MAX_BYTES: Final = 256 * 1024
CHUNK_BYTES: Final = 16 * 1024
CONNECT_S: Final = 5.0
RETRY_AFTER_MAX_S: Final = 3_600.0

_OK, _GOOD, _PENDING, _UNKNOWN = 200, 300, 202, frozenset({204, 404, 410})
_UNFIT = frozenset({400, 406, 409, 411, 412, 413, 414, 415, 416, 417, 422, 431})
"""What a provider says of one request; all other refusals are of its state, of the key, or of the address."""

_CAUSES: Final[tuple[tuple[type[requests.RequestException], str], ...]] = (
    (requests.exceptions.SSLError, "its certificate was not accepted"),
    (requests.exceptions.ProxyError, "the proxy did not let it through"),
    (requests.exceptions.ConnectTimeout, "no connection in time"),
    (requests.exceptions.Timeout, "no answer in time"),
    (requests.exceptions.InvalidHeader, "a header holds what no header may"),
    (requests.exceptions.ConnectionError, "no connection, or it broke off"),
    (requests.exceptions.ChunkedEncodingError, "the connection broke off amid the answer"),
    (requests.exceptions.ContentDecodingError, "its answer cannot be unpacked"),
)


class HttpJson:
    """See Provider. `headers` bear the secret; certificates in `ca_file` are trusted instead of the usual ones."""

    def __init__(self, headers: Mapping[str, str], *, timeout_s: float, ca_file: Path | None = None) -> None:
        self._headers = {"Accept": "application/json", **headers}
        self._timeout_s = timeout_s
        self._verify: bool | str = True if ca_file is None else str(ca_file)
        self._session = requests.Session()
        self._session.auth = _as_it_is  # else an entry in ~/.netrc would replace the header of the secret
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, Guarded(max_retries=0))

    def ask(self, request: Request) -> Answer:
        """One call; whatever the other side does, it ends in time, with a value."""
        deadline = Deadline(self._timeout_s)
        try:
            with unlogged(), deadline:
                answer = self._asked(request)
            # A line that was cut may look like one that ended.
            return Faulted("no answer in time") if deadline.passed else answer
        except requests.RequestException as fault:
            told = next((text for kind, text in _CAUSES if isinstance(fault, kind)), type(fault).__name__)
            return Faulted("no answer in time" if deadline.passed else told)
        except Exception as fault:  # noqa: BLE001 - its text may repeat what was sent
            return Faulted("no answer in time" if deadline.passed else f"{type(fault).__name__} amid the call")

    def _asked(self, request: Request) -> Answer:
        typed = {} if request.body is None else {"Content-Type": "application/json"}
        with self._session.request(
            request.method,
            request.url,
            data=None if request.body is None else request.body.encode(),
            headers={**self._headers, **typed},
            timeout=(min(CONNECT_S, self._timeout_s), self._timeout_s),
            verify=self._verify,
            allow_redirects=False,
            stream=True,
        ) as answer:
            body = _taken(answer)
            if body is None:
                return Faulted(f"its answer is longer than {ANSWER_MAX_BYTES} bytes")
            return _judged(answer, body)


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _taken(answer: requests.Response) -> bytes | None:
    body = bytearray()
    for chunk in answer.iter_content(CHUNK_BYTES):
        body += chunk
        if len(body) > ANSWER_MAX_BYTES:
            return None
    return bytes(body)


def _judged(answer: requests.Response, body: bytes) -> Answer:
    status = answer.status_code
    found = _json(body)
    if status in _UNKNOWN:
        # A page says that the address is wrong, whichever lead it is asked for.
        return NothingKnown() if not body.strip() or found is not _NO_JSON else Faulted(f"status {status} with a page")
    if status == _PENDING:
        return Pending(_retry_after(answer))
    if _OK <= status < _GOOD:
        return Faulted("its answer is no JSON") if found is _NO_JSON else Answered(found)
    if status in _UNFIT:
        return Unfit(f"status {status}")
    return Faulted(f"status {status}", _retry_after(answer))


_NO_JSON: Final = object()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NO_JSON


def _refuse(_: str) -> Any:
    raise ValueError("NaN and Infinity are no JSON")


def _retry_after(answer: requests.Response) -> float:
    """Seconds, from a number or a date (RFC 9110, section 10.2.3) by the provider's own clock; bounded."""
    told, date = answer.headers.get("Retry-After", ""), answer.headers.get("Date", "")
    if told.isdecimal():
        return min(float(told[:9]), RETRY_AFTER_MAX_S)
    try:
        wait_s = (parsedate_to_datetime(told) - parsedate_to_datetime(date)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
    return min(max(wait_s, 0.0), RETRY_AFTER_MAX_S)
