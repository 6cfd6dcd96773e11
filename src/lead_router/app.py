"""The composition root: builds the real parts from settings, and offers what the command line needs."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import structlog

from lead_router import __version__, log
from lead_router.core.duty import on_duty
from lead_router.core.rotation import who_is_next
from lead_router.errors import Transient
from lead_router.jobs import known_orgs, open_store
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.loops.runner import Loop, Runner
from lead_router.loops.upkeep import Upkeep
from lead_router.loops.worker import Worker
from lead_router.ports import Finding, JobStore, QueueView
from lead_router.salesforce import configuration as intake_settings
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.doctor import diagnose as examine
from lead_router.salesforce.doctor import refuse_lacking
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from lead_router.settings import PREFIX, Settings, secret_text

_log = structlog.get_logger(__name__)

NEXT_SHOWN = 3
INTAKE_WAIT_S = 1.0
UPKEEP_IDLE_S = 1.0
START_PAUSE_MAX_S = 30.0
STREAM_STARTS = {"new": -1, "retained": -2}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wired:
    """An org within reach, and the token holder behind it."""

    tokens: TokenHolder
    rest: Rest
    org: SalesforceOrg


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """A group as `status` shows it; `next_members` are the names of those who come next, in order."""

    key: str
    mode: str
    turn: int
    on_duty: int
    next_members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """Everything `status` shows; `org_fault` says why groups are missing, if they are."""

    queue: QueueView
    groups: tuple[GroupStatus, ...]
    warnings: tuple[str, ...]
    org_fault: str | None


def _now() -> datetime:
    return datetime.now(UTC)


def _login(settings: Settings) -> Login:
    secret = settings.client_secret.get_secret_value() if settings.client_secret else None
    if settings.client_secret_file is not None:
        secret = secret_text(settings.client_secret_file, f"{PREFIX}CLIENT_SECRET_FILE")
    key = None
    if settings.private_key_file is not None:
        key = secret_text(settings.private_key_file, f"{PREFIX}PRIVATE_KEY_FILE")
    return Login(settings.login_url, settings.client_id, secret, key, settings.username, settings.audience)


def wire(settings: Settings) -> Wired:
    """Build the org's client; nothing is sent yet. Raises Misconfigured naming the setting."""
    session = open_session(settings.login_url, connect_s=settings.connect_timeout_s, read_s=settings.read_timeout_s)
    tokens = TokenHolder(_login(settings), session, now=_now, sleep=time.sleep, dice=random.Random())  # noqa: S311 - jitter
    rest = Rest(tokens, session)
    intake = intake_settings.Intake(
        queues=settings.intake_queues,
        usernames=settings.intake_users,
        statuses=settings.intake_statuses,
        unassigned=settings.unassigned,
        form_field=settings.form_field,
        submission_window_s=settings.submission_window_s,
        follow_wait_s=settings.follow_wait_s,
    )
    return Wired(tokens, rest, SalesforceOrg(rest, intake, now=_now, lock_touch=settings.lock_touch))


def _store(settings: Settings, org_id: str) -> JobStore:
    return open_store(settings.database, org_id=org_id, max_attempts=settings.attempts_max)


def run(settings: Settings) -> int:
    """Route until SIGTERM or SIGINT; the answer is the exit code. Waits for an org or a database that is away.

    Raises Misconfigured, ContractMismatch or LoginRefused, before anything is routed, for what a person must change.
    """
    log.configure(settings.log_level)
    stopping = threading.Event()
    stops: list[Callable[[], None]] = [stopping.set]
    with _signals(stops):
        wired = wire(settings)
        org_id = _patiently(lambda: wired.tokens.token().org_id, stopping)
        if org_id is not None:
            _patiently(lambda: _store(settings, org_id).close(), stopping)
        _patiently(lambda: refuse_lacking(wired.rest), stopping)
        configuration = _patiently(wired.org.configuration, stopping)
        if org_id is None or configuration is None:
            return 0
        current, breaker = Current(configuration), Breaker(time.monotonic)
        runner = Runner(lambda wake: _Assembly(settings, wired, current, org_id, breaker, wake).loops())
        stops.append(runner.stop)
        if stopping.is_set():
            return 0
        _log.info("router_started", version=__version__, org=org_id, rules=len(configuration.rules))
        for warning in configuration.warnings:
            _log.warning("configuration_warned", text=warning)
        code = runner.run()
        _log.info("router_stopped", code=code)
        return code


@contextlib.contextmanager
def _signals(stops: list[Callable[[], None]]) -> Iterator[None]:
    """The first SIGTERM or SIGINT calls `stops`; the second ends the process at once."""
    seen = threading.Event()

    def on_signal(number: int, _frame: object) -> None:
        if seen.is_set():
            os._exit(128 + number)
        seen.set()
        for stop in stops:
            stop()

    former = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, before in former.items():
            signal.signal(number, before)


def _patiently(ask: Callable[[], T], stopping: threading.Event) -> T | None:
    """The answer, however long Salesforce or the database is away; None if told to stop first."""
    pause = 0.5
    while not stopping.is_set():
        try:
            return ask()
        except Transient as fault:
            _log.warning("start_waits", error=str(fault), pause_s=pause)
            stopping.wait(pause)
            pause = min(pause * 2, START_PAUSE_MAX_S)
    return None


@dataclass(frozen=True, slots=True)
class _Assembly:
    """What the loops of one process are made of; each loop is made on its own thread, with a store of its own."""

    settings: Settings
    wired: Wired
    current: Current
    org_id: str
    breaker: Breaker
    wake: Callable[[], None]

    def loops(self) -> tuple[Loop, ...]:
        numbers = range(1, self.settings.workers + 1)
        workers = (Loop(f"worker-{number}", partial(self.worker, number), self.settings.poll_s) for number in numbers)
        return (Loop("intake", self.intake, 0.0), *workers, Loop("upkeep", self.upkeep, UPKEEP_IDLE_S))

    def store(self) -> JobStore:
        return _store(self.settings, self.org_id)

    def intake(self) -> Intake:
        store = self.store()
        channel = self.settings.stream_channel
        source = CometdSource(
            channel=channel,
            token=self.wired.tokens.token,
            load_position=lambda: store.position(channel),
            dice=random.Random(),  # noqa: S311 - jitter
            default_start=STREAM_STARTS[self.settings.stream_start],
        )
        own = partial(own_change, user_id=self.wired.tokens.token().user_id)
        return Intake(source, store, self.current, org_id=self.org_id, own=own, wait_s=INTAKE_WAIT_S, wake=self.wake)

    def worker(self, number: int) -> Worker:
        settings = self.settings
        return Worker(
            self.wired.org,
            self.store(),
            self.current,
            self.breaker,
            name=f"{socket.gethostname()}.{os.getpid()}.{number}",
            now=_now,
            pause=time.sleep,
            dice=random.Random(),  # noqa: S311 - jitter
            batch_max=settings.batch_max,
            lease_s=settings.lease_s,
            backoff_first_s=settings.backoff_first_s,
            backoff_cap_s=settings.backoff_cap_s,
        )

    def upkeep(self) -> Upkeep:
        store = self.store()
        store.request_sweep("started")
        return Upkeep(
            self.wired.org,
            store,
            self.current,
            org_id=self.org_id,
            monotonic=time.monotonic,
            configuration_every_s=self.settings.configuration_every_s,
            sweep_every_s=self.settings.sweep_every_s,
            keep_done_s=self.settings.keep_done_days * 86_400.0,
            wake=self.wake,
        )


def open_jobs(settings: Settings) -> JobStore:
    """The job store of the org that the database knows; of several, the one that the settings log in to."""
    orgs = known_orgs(settings.database)
    org_id = orgs[0] if len(orgs) == 1 else "" if not orgs else wire(settings).tokens.token().org_id
    return _store(settings, org_id)


def status(settings: Settings) -> Status:
    """The queue, and the groups with who is next; without an answer of the org, the queue alone."""
    store = open_jobs(settings)
    try:
        queue = store.queue()
    finally:
        store.close()
    try:
        org = wire(settings).org
        configuration = org.configuration()
        snapshot = org.snapshot(configuration, (), ())
    except Transient as fault:
        return Status(queue, (), (), str(fault))
    groups = tuple(
        GroupStatus(
            key=group.key,
            mode=group.mode,
            turn=group.turn,
            on_duty=len(on_duty(group)),
            next_members=tuple(member.name for member in who_is_next(group, NEXT_SHOWN)),
        )
        for group in sorted(snapshot.groups.values(), key=lambda group: group.key)
    )
    return Status(queue, groups, configuration.warnings, None)


def diagnose(settings: Settings) -> list[Finding]:
    """Every finding of the doctor, the database among them."""
    findings = [_database(settings)]
    wired = wire(settings)
    return [*findings, *examine(wired.rest, wired.tokens, wired.org)]


def _database(settings: Settings) -> Finding:
    store = open_jobs(settings)
    try:
        queue = store.queue()
    finally:
        store.close()
    return Finding("job database", ok=True, detail=f"reachable, {queue.queued} queued, {queue.dead} dead")
