"""The performance: the story is played before a real router, and judged."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TextIO

import requests

from lead_router.app import streams
from lead_router.demo import encore, report, stage, story
from lead_router.demo.form import Form
from lead_router.demo.progress import Progress
from lead_router.demo.report import Books, Circumstances, Report
from lead_router.demo.scenario import FORM_USERNAME
from lead_router.demo.stage import Stage
from lead_router.demo.story import Story
from lead_router.demo.witness import Witness, waits_ms
from lead_router.errors import ContractMismatch, Misconfigured, Unreachable
from lead_router.jobs import open_store
from lead_router.ports import JobStore

STALL_S = 20.0  # what has no owner after so long without any progress is lost
LOOK_S = 0.2
INTERRUPTED = 130


def play(*, seed: int, leads: int, pubsub: bool, as_json: bool, console: bool = False) -> int:
    """Play `seed`'s story with `leads` leads; the answer is the exit code: 0 if every promise held, 1 if not.

    The report goes to standard output, progress to standard error. Everything that was started is stopped and the
    folder is removed, also when interrupted (130); on a fault the router's log is kept and its path is told. With
    `console` org and router go on after the report, with the console on them, until Ctrl-C.
    """
    if console:
        encore.refuse_without(as_json=as_json)
    if leads < 1:
        raise Misconfigured("--leads must be at least 1")
    if pubsub and (lack := streams.lack()):
        raise Misconfigured(f"--stream pubsub: {lack}")
    out = None if as_json else sys.stderr
    with _signals_interrupt(), tempfile.TemporaryDirectory(prefix="lead-router-demo-") as name:
        folder = Path(name)
        try:
            seen = _perform(folder, seed, leads, out, pubsub=pubsub, as_json=as_json, console=console)
        except KeyboardInterrupt:
            print("interrupted: the org and the router are stopped", file=sys.stderr)
            return INTERRUPTED
        except requests.RequestException as fault:
            _keep_log(folder)
            raise Unreachable(f"the simulated org does not answer: {type(fault).__name__}") from fault
        except BaseException:
            _keep_log(folder)
            raise
        if not report.kept(seen):
            _keep_log(folder)
            return 1
        return 0


def _perform(
    folder: Path, seed: int, leads: int, out: TextIO | None, *, pubsub: bool, as_json: bool, console: bool
) -> Report:
    began = time.monotonic()
    told = story.tell(seed, leads)
    if out is not None:
        _announce(leads, out, pubsub=pubsub)
    with contextlib.ExitStack() as opened:
        built = opened.enter_context(stage.raised(folder, seed, pubsub=pubsub))
        witness = opened.enter_context(contextlib.closing(Witness(built.org.url)))
        onlooker = opened.enter_context(contextlib.closing(Witness(built.org.url)))
        built.start_router()
        built.await_subscription()
        jobs = opened.enter_context(contextlib.closing(open_store(built.database, org_id=built.org.org_id)))
        form = opened.enter_context(contextlib.closing(Form(built.org.url, witness.token(FORM_USERNAME))))
        progress = opened.enter_context(contextlib.closing(Progress(onlooker.tally, leads, out)))
        waiting = _tell(told, built, form, witness, progress)
        _settle(built, jobs, witness, leads)
        built.await_subscription()
        progress.close()
        if (code := built.stop_router()) != 0:
            raise ContractMismatch(f"the router did not drain: exit code {code}")
        around = Circumstances(
            seed=seed,
            dead=jobs.queue().dead,
            crashes=1,
            waiting_at_crash=waiting,
            api_calls=witness.tally().api_calls - form.calls,
            took_s=time.monotonic() - began,
        )
        seen = report.judge(_books(witness), waits_ms(witness.lead_changes()), around)
        print(report.as_json(seen) if as_json else report.as_text(seen), flush=True)
        if console:
            encore.hold(built, witness, form, seed, sys.stdout)
        return seen


def _announce(leads: int, out: TextIO, *, pubsub: bool) -> None:
    many, over = f"{leads:,} lead{'s' * (leads != 1)}", " over Pub/Sub API" * pubsub
    print(f"starting a simulated org and the router; {many} will come{over}", file=out, flush=True)


def _tell(told: Story, built: Stage, form: Form, witness: Witness, progress: Progress) -> int:
    """Post every lead at its time and crash the router at its own; answers how many leads waited at the crash."""
    moments = [(post.at_s, post.fields) for post in told.posts]
    sent: list[Future[None]] = []
    waiting = 0
    began = time.monotonic()
    for at_s, fields in sorted([*moments, (told.crash_at_s, None)], key=lambda moment: moment[0]):
        time.sleep(max(0.0, began + at_s - time.monotonic()))
        if fields is not None:
            sent.append(form.send(fields))
            continue
        built.check_router()
        built.crash_router()
        seen = witness.tally()
        waiting = seen.leads - seen.ledger
        built.start_router()
        progress.say(f"kill -9 of the router while {waiting} leads waited; it is started again")
    for one in sent:
        one.result()
    return waiting


def _settle(built: Stage, jobs: JobStore, witness: Witness, leads: int) -> None:
    """Until every lead has its ledger row and no job is open, or nothing has moved for `STALL_S` seconds.

    Jobs that the crash left claimed are waited for as well: only then is it seen that none of them routes again.
    """
    former: tuple[int, int] | None = None
    until = time.monotonic() + STALL_S
    while time.monotonic() < until:
        queue = jobs.queue()
        still_open = queue.queued + queue.working
        now = (witness.tally().ledger, still_open)
        if now[0] >= leads and not still_open:
            return
        if now != former:
            former, until = now, time.monotonic() + STALL_S
        built.check_router()
        time.sleep(LOOK_S)


def _books(witness: Witness) -> Books:
    return Books(
        leads=witness.rows("Lead"),
        ledger=witness.rows("Lead_Assignment__c"),
        groups=witness.rows("Round_Robin_Group__c"),
        members=witness.rows("Round_Robin_Member__c"),
        users=witness.rows("User"),
    )


def _keep_log(folder: Path) -> None:
    log = folder / stage.LOG
    if log.is_file():
        handle, name = tempfile.mkstemp(prefix="lead-router-demo-", suffix=".log")
        with open(handle, "wb") as kept, log.open("rb") as source:  # noqa: PTH123 - the descriptor is open already
            shutil.copyfileobj(source, kept)
        print(f"the router's log is kept in {name}", file=sys.stderr)


@contextlib.contextmanager
def _signals_interrupt() -> Iterator[None]:
    """SIGTERM ends the play as Ctrl-C does, so that what was started is stopped; so does an interrupt where whoever
    began the play had them ignored, as a shell does in the background of a script.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    finally:
        for number, former in zip(numbers, before, strict=True):
            signal.signal(number, former)
