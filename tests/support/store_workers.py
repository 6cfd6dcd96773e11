"""What other processes do to a job store, as functions that a test starts in a process of their own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from lead_router.jobs import SqlJobStore, open_store
from lead_router.jobs.migrations import known, migrate
from lead_router.ports import Done, Position
from support.databases import CHANNEL, ORG, Database, new_job

JOIN_S = 60


def work_off(url: str, pipe: Connection, name: str) -> None:
    """Claim and end jobs until told to stop and none is left; report the ids in order."""
    store = open_store(url, org_id=ORG)
    worked: list[int] = []
    stopping = False
    pipe.send("ready")
    while True:
        stopping = stopping or pipe.poll()
        jobs = store.claim(name, limit=7, lease_s=60)
        if not jobs and stopping:
            break
        ended = store.end([(job, Done(name)) for job in jobs])
        worked += [job.id for job in jobs if job.id in ended]
    store.close()
    pipe.send(worked)


def record_for_ever(url: str, pipe: Connection) -> None:
    """Job after job, each in one transaction with its position, and tell after each."""
    store = open_store(url, org_id=ORG)
    number = 0
    while True:
        number += 1
        store.record([new_job(number)], position=Position(CHANNEL, b"%d" % number))
        pipe.send(number)


def claim_and_hang(url: str, pipe: Connection) -> None:
    """Claim what is due, tell it, and never come back."""
    store = open_store(url, org_id=ORG)
    pipe.send([job.id for job in store.claim("doomed", limit=10, lease_s=60)])
    pipe.recv()


def open_together(_url: str, pipe: Connection, knows: int | None = None) -> None:
    """Open a store wherever and the moment the test says so, as a program that knows the first `knows` migrations."""
    pipe.send("ready")
    for where in iter(pipe.recv, ""):
        engine = Database(where).engine()
        migrate(engine, migrations=known()[:knows])
        store = SqlJobStore(engine, org_id=ORG)
        store.record([new_job(1)])
        store.close()
        pipe.send("opened")


@contextmanager
def started(
    target: Callable[..., None], url: str, *arguments: Sequence[Any]
) -> Iterator[list[tuple[BaseProcess, Connection]]]:
    """One process per tuple of arguments, each with our end of a pipe; killed at the end if still there."""
    context = multiprocessing.get_context("spawn")
    running: list[tuple[BaseProcess, Connection]] = []
    try:
        for more in arguments:
            ours, theirs = context.Pipe()
            child = context.Process(target=target, args=(url, theirs, *more))
            child.start()
            theirs.close()
            running.append((child, ours))
        yield running
    finally:
        for child, ours in running:
            child.kill()
            child.join(JOIN_S)
            child.close()
            ours.close()
