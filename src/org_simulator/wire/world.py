"""What every request needs: the org, the connected app, faults, open cursors; and one call's own circumstances."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from org_simulator.failures import Failure
from org_simulator.wire.exchange import Request
from org_simulator.wire.faults import Faults

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.org import Org
    from org_simulator.schema import Schema, SObject
    from org_simulator.transaction import Transaction
    from org_simulator.wire.paths import Plan

CURSORS_MAX = 50  # open query locators; the oldest is closed
API_VERSION_MIN = 31
API_VERSION_MAX = 68


@dataclass(frozen=True, slots=True)
class ConnectedApp:
    """The one client that may log in. `certificate` (PEM) verifies its JWTs; without one the JWT flow is refused.

    `run_as` is the user of the client-credentials flow, `approved` are the users that the JWT flow may be for.
    """

    client_id: str = "lead-router"
    client_secret: str = "simulator"  # noqa: S105 - the simulated org's
    certificate: bytes | None = None
    run_as: str | None = None
    approved: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cursor:
    """The rows a query found, to be handed out a page at a time."""

    plan: Plan
    sobject: SObject
    rows: tuple[Row, ...]
    page: int


@dataclass(frozen=True, slots=True)
class Notification:
    """A custom notification as one of its recipients has it in the bell."""

    type_id: str
    user_id: str
    title: str
    body: str
    target_id: str | None
    at: datetime


@dataclass(slots=True)
class World:
    """An org behind its wire. `base_url` is the instance URL that clients are told.

    `before` and `after` are called around every request (tests let someone else act there, or raise).
    """

    org: Org
    app: ConnectedApp
    base_url: str
    faults: Faults
    sleep: Callable[[float], None] = time.sleep
    before: list[Callable[[Request], None]] = field(default_factory=list)
    after: list[Callable[[Request], None]] = field(default_factory=list)
    refresh_tokens: dict[str, str] = field(default_factory=dict)
    cursors: OrderedDict[str, Cursor] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    views: dict[tuple[str, ...], Schema] = field(default_factory=dict)
    notifications: list[Notification] = field(default_factory=list)
    notified: deque[datetime] = field(default_factory=deque)
    """When custom notifications were sent within the last hour, lost ones among them."""
    requests: int = 0
    apex: str = ""
    """What Apex runs, or why none does; empty where none was asked for."""


def keep(world: World, locator: str, cursor: Cursor) -> None:
    """Keep a cursor for its further pages."""
    with world.lock:
        world.cursors[locator] = cursor
        while len(world.cursors) > CURSORS_MAX:
            world.cursors.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One REST call, or one part of a composite: then `shared` is the transaction of the whole.

    `schema` is the org's as far as the user may see it.
    """

    world: World
    user_id: str
    schema: Schema
    version: str
    method: str
    segments: tuple[str, ...]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    content: Any = None
    shared: Transaction | None = None


@contextmanager
def work(call: Call) -> Iterator[Transaction]:
    """The transaction that this call writes in: its own, or that of the composite around it."""
    auto_assign = call.headers.get("sforce-auto-assign", "").strip().upper() != "FALSE"
    client = client_name(call.headers)
    if call.shared is not None:
        call.shared.auto_assign = auto_assign
        call.shared.origin = origin(call.version, client)
        yield call.shared
        return
    with call.world.org.transaction(
        call.user_id, auto_assign=auto_assign, client=client, version=call.version
    ) as opened:
        yield opened


def origin(version: str, client: str) -> str:
    """The `changeOrigin` of a change made through REST."""
    return f"com/salesforce/api/rest/{version}" + (f";client={client}" if client else "")


def client_name(headers: Mapping[str, str]) -> str:
    """The client that `Sforce-Call-Options` names, or an empty text."""
    for option in headers.get("sforce-call-options", "").split(","):
        name, _, value = option.partition("=")
        if name.strip().lower() == "client":
            return value.strip()
    return ""


def sobject_of(call: Call, name: str) -> SObject:
    """The object of this name (any case); 404 NOT_FOUND as on the row resources."""
    found = call.schema.objects.get(name.lower())
    if found is None:
        raise Failure("NOT_FOUND", "The requested resource does not exist", http=404)
    return found


def data_path(call: Call, *parts: str) -> str:
    """A path below this call's API version."""
    return "/".join((f"/services/data/v{call.version}", *parts))
