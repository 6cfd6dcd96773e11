"""Faults by name: what may go wrong between a client and the org, drawn from the seed.

What may not happen here: half a transaction, an answer to another request, a changed body.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from org_simulator.wire.errors import HALTED
from org_simulator.wire.exchange import Answer, Cut, Request, Response, answer, page

DROP_BEFORE = "drop_before"  # connection cut, nothing done
DROP_AFTER = "drop_after"  # done, answer lost
HANG = "hang"  # done, the answer never comes
UNREACHABLE = "unreachable"  # no connection (over a real socket: cut before the request is read)
LATENCY = "latency_ms"  # value: milliseconds before the org begins
STATUS = "status"  # value: 500 or 503; an HTML page
HTML_200 = "html_200"  # an HTML page with status 200, nothing done
LOCK_TIMEOUT = "lock_timeout"  # UNABLE_TO_LOCK_ROW, nothing done
EXPIRE_SESSION = "expire_session"  # the token is revoked, then the request is refused with 401
UNAUTHORIZED = "401"  # refused with 401, the token stays good
REQUEST_LIMIT = "request_limit"  # value: "daily" or "concurrent"

NAMES = frozenset(
    {
        DROP_BEFORE,
        DROP_AFTER,
        HANG,
        UNREACHABLE,
        LATENCY,
        STATUS,
        HTML_200,
        LOCK_TIMEOUT,
        EXPIRE_SESSION,
        UNAUTHORIZED,
        REQUEST_LIMIT,
    },
)
DAILY = "TotalRequests Limit exceeded."
CONCURRENT = "ConcurrentPerOrgLongTxn Limit exceeded."


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble: for requests whose method, path and body contain the given texts.

    After `skip` matching requests it strikes `count` times (None: for ever), each time with `probability`.
    """

    name: str
    method: str = ""
    path: str = ""
    body: str = ""
    skip: int = 0
    count: int | None = 1
    probability: float = 1.0
    value: Any = None

    def __post_init__(self) -> None:
        """Refuse an unknown name."""
        if self.name not in NAMES:
            raise ValueError(f"unknown fault {self.name!r}; known: {', '.join(sorted(NAMES))}")


class Faults:
    """The faults still to come. Safe to use from many threads; equal seeds and requests draw equal faults."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._lock = threading.Lock()
        self._waiting: list[Fault] = []

    def put(self, fault: Fault) -> None:
        """Add a fault."""
        with self._lock:
            self._waiting.append(fault)

    def clear(self) -> None:
        """Forget all faults."""
        with self._lock:
            self._waiting.clear()

    def waiting(self) -> tuple[Fault, ...]:
        """The faults still to come."""
        with self._lock:
            return tuple(self._waiting)

    def draw(self, request: Request) -> tuple[Fault, ...]:
        """The faults that strike this request; each is used up by one."""
        if not self._waiting:
            return ()
        with self._lock:
            struck: list[Fault] = []
            kept: list[Fault] = []
            for fault in self._waiting:
                after = self._strike(fault, request, struck)
                if after is not None:
                    kept.append(after)
            self._waiting = kept
            return tuple(struck)

    def _strike(self, fault: Fault, request: Request, struck: list[Fault]) -> Fault | None:
        if not _matches(fault, request):
            return fault
        if fault.skip:
            return replace(fault, skip=fault.skip - 1)
        if fault.probability < 1 and self._dice.random() >= fault.probability:
            return fault
        struck.append(fault)
        if fault.count is None:
            return fault
        return replace(fault, count=fault.count - 1) if fault.count > 1 else None


def _matches(fault: Fault, request: Request) -> bool:
    return (
        fault.method.upper() in request.method
        and fault.path in request.target
        and (not fault.body or fault.body.encode() in request.body)
    )


def from_json(content: Mapping[str, Any]) -> Fault:
    """A fault out of the control API; raises ValueError or TypeError naming what is wrong."""
    return Fault(**content)


def instead(fault: Fault, request: Request) -> Answer | None:
    """What the client gets in place of the org's answer, nothing being done; None where the org still answers."""
    spoil = _SPOILED.get(fault.name)
    return None if spoil is None else spoil(fault, request)


def unauthorized() -> Response:
    """The refusal of a token."""
    content = [{"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}]
    return answer(401, content, {"WWW-Authenticate": "Token"})


def limit_exceeded(text: str) -> Response:
    """The refusal of a call beyond an allowance."""
    return answer(403, [{"message": text, "errorCode": "REQUEST_LIMIT_EXCEEDED"}])


def _lock_timeout(request: Request) -> Response:
    """A commit that waited in vain for a row: its first subrequest says so, the others were halted."""
    text = "unable to obtain exclusive access to this record or 1 records: unknown"
    locked = {"message": text, "errorCode": "UNABLE_TO_LOCK_ROW", "fields": []}
    if request.segments[-1] != "composite":
        return answer(400, [locked])
    names = [each["referenceId"] for each in json.loads(request.body)["compositeRequest"]]
    halted = {"errorCode": "PROCESSING_HALTED", "message": HALTED}
    parts = [
        {
            "body": [halted if place else locked],
            "httpHeaders": {},
            "httpStatusCode": 400,
            "referenceId": name,
        }
        for place, name in enumerate(names)
    ]
    return answer(200, {"compositeResponse": parts})


_SPOILED: dict[str, Callable[[Fault, Request], Answer]] = {
    DROP_BEFORE: lambda _fault, _request: Cut(),
    UNREACHABLE: lambda _fault, _request: Cut(reached=False),
    STATUS: lambda fault, _request: page(int(fault.value or 503), "Temporarily unavailable"),
    HTML_200: lambda _fault, _request: page(200, "Scheduled maintenance"),
    UNAUTHORIZED: lambda _fault, _request: unauthorized(),
    EXPIRE_SESSION: lambda _fault, _request: unauthorized(),
    REQUEST_LIMIT: lambda fault, _request: limit_exceeded(CONCURRENT if fault.value == "concurrent" else DAILY),
    LOCK_TIMEOUT: lambda _fault, request: _lock_timeout(request),
}
