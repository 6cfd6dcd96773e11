"""`lead-router run`: from settings to running loops, and out again on a signal."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TypeVar

import structlog

from lead_router import __version__, log
from lead_router.app.answering import answering
from lead_router.app.assembly import Assembly
from lead_router.app.metering import Metering
from lead_router.app.noticing import plan_of, post_of
from lead_router.app.streams import check_stream
from lead_router.app.watchdog import watched
from lead_router.app.wiring import rollout_of, store_of, wire
from lead_router.core.model import Configuration
from lead_router.errors import Transient
from lead_router.jobs import alone, doubt
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.predecessors import succeed
from lead_router.loops.runner import DRAIN_S, Runner
from lead_router.loops.vitals import Vitals
from lead_router.salesforce.doctor import refuse_lacking
from lead_router.settings import Settings

_log = structlog.get_logger(__name__)

START_PAUSE_MAX_S = 30.0
LOGIN_CALLS = 3
DATABASE_S = 60.0
LAST_S = DRAIN_S + 4.0
SWITCH_S = 0.0005  # a loop that is woken waits for the interpreter no longer: by default, longer than for the database
_SECOND = (
    "another router of this machine runs on the same job database: no lead is routed twice, but the two take turns at "
    "one file; stop one, or use PostgreSQL for several"
)

T = TypeVar("T")


def _succeed(settings: Settings, org_id: str) -> None:
    """Make the job database ready, and take over what earlier processes left."""
    store = store_of(settings, org_id)
    try:
        succeed(store, host=socket.gethostname(), process_id=os.getpid(), lives=_lives)
    finally:
        store.close()


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def run(settings: Settings, warnings: Sequence[str] = ()) -> int:
    """Route until SIGTERM or SIGINT; the answer is the exit code. Waits for an org or a database that is away.

    `warnings` are about the settings; they are logged first. Until the loops run there is nothing to drain, and signals
    do what they did before.

    Raises Misconfigured, ContractMismatch or LoginRefused, before anything is routed, for what a person must change.
    """
    vitals = Vitals(time.monotonic, patience_s=_patience_s(settings))
    metering = Metering(settings, vitals)
    log.configure(settings.log_level, meter=metering.meter)
    sys.setswitchinterval(SWITCH_S)
    for warning in warnings:
        _log.warning("router_warned", text=warning)
    ending = threading.Event()
    with answering(settings.health_address, vitals, metering.text), watched(vitals):
        check_stream(settings)
        plan = plan_of(settings)
        wired = wire(settings, ending=ending.is_set, answered=vitals.beat)
        post = None if plan is None else post_of(plan, wired)
        org_id = _patiently(lambda: wired.tokens.token().org_id, vitals)
        _patiently(lambda: refuse_lacking(wired.rest), vitals)
        configuration = _patiently(wired.org.configuration, vitals)
        # A start that is refused makes no file: it may be another user's than the router's.
        _patiently(lambda: _succeed(settings, org_id), vitals)
        current, breaker = Current(configuration), Breaker(time.monotonic)
        vitals.refusal, breakers = breaker.why, {"routing": breaker}
        assembled = partial(Assembly, settings, wired, current, org_id, breaker, vitals, post=post, breakers=breakers)
        runner = Runner(lambda wake: assembled(wake, meter=metering.meter).loops(), vitals, metering.meter)
        look = metering.looking(wired, current, breakers, partial(store_of, settings, org_id))
        with alone(settings.database) as sole, _signals((ending.set, runner.stop)), look:
            _tell_start(settings, org_id, configuration)
            doubts = (doubt(settings.database), None if sole else _SECOND, *(plan.exposed if plan else ()))
            for warning in (*configuration.warnings, *filter(None, doubts)):
                _log.warning("router_warned", text=warning)
            gc.collect()
            gc.freeze()  # what is there now stays: to look through it again and again would hold up leads
            code = runner.run()
            _log.info("router_stopped", code=code)
            return code


def _tell_start(settings: Settings, org_id: str, configuration: Configuration) -> None:
    switches = asdict(rollout_of(settings))
    _log.info("router_started", version=__version__, org=org_id, rules=len(configuration.rules), **switches)


@contextlib.contextmanager
def _signals(stops: Sequence[Callable[[], None]]) -> Iterator[None]:
    """The first SIGTERM or SIGINT calls `stops`; the second, or LAST_S more, ends the process."""
    seen = threading.Event()
    threading.Thread(target=_end_at_last, args=(seen,), name="last", daemon=True).start()

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


def _end_at_last(told: threading.Event) -> None:
    """A login under way would hold up the end long after the drain."""
    told.wait()
    time.sleep(LAST_S)
    os._exit(1)


def _patience_s(settings: Settings) -> float:
    """How long a loop may be silent: a login takes up to three calls, and the database half a minute for its own."""
    return LOGIN_CALLS * (settings.connect_timeout_s + settings.read_timeout_s) + DATABASE_S


def _patiently(ask: Callable[[], T], vitals: Vitals) -> T:
    """The answer, however long Salesforce or the database is away; the vitals say meanwhile what is waited for."""
    pause = 0.5
    while True:
        try:
            answer = ask()
        except Transient as fault:
            vitals.start_waits = f"{type(fault).__name__}: {fault}"
            _log.warning("start_waits", error=str(fault), pause_s=pause)
            time.sleep(pause)
            pause = min(pause * 2, START_PAUSE_MAX_S)
        else:
            vitals.start_waits = None
            return answer
