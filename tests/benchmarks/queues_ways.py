"""Ways to keep a queue: ours on both databases, procrastinate and pgqueuer, each as its own documents use it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeAlias

from psycopg.conninfo import make_conninfo

from lead_router.core.keys import change_key, to18
from lead_router.core.model import Submission
from lead_router.jobs import CLAIM_MAX, open_store
from lead_router.ports import Done, NewJob

ORG = to18("00D000000000001")
LEASE_S = 60.0
BATCH = 100  # jobs per dequeue of pgqueuer; 25, 50 and 200 are slower, or no faster
CONCURRENCY = 10  # jobs at a time in a worker of procrastinate, which fetches one by one; 1 is slower, 30 no faster
_SYNC = {True: "on", False: "off"}
EMPTY_MAX, EMPTY_S = 3, 0.01  # what comes next of a key may be in another worker's hands

Seen: TypeAlias = list[tuple[int, int]]
"""Each job that was run: its number, and when it counted as done (nanoseconds, one clock for all processes)."""


@dataclass(frozen=True, slots=True)
class Work:
    """A job to be queued: the same content for each way."""

    number: int
    key: str
    content: Mapping[str, Any]


def works(count: int, keys: int) -> list[Work]:
    """Jobs 0 to count - 1; every key comes round again after `keys` jobs."""
    return [Work(n, to18(f"00Q{n % keys:012}"), _content(n)) for n in range(count)]


class Way(Protocol):
    """One queue. `work` runs in a process of its own: it says "ready", waits for a word, and tells what it has run."""

    name: str
    ordered: bool  # can it run the jobs of one key one after the other, in order?
    synced: bool  # or do its workers leave out the sync to disk, as ours do? What hands jobs in syncs always

    def install(self, url: str) -> None:
        """Make the tables in an empty database."""
        ...

    def enqueue(self, url: str, jobs: Sequence[Work], together: int, *, ordered: bool) -> float:
        """Seconds to hand the jobs in, so many in one transaction.

        Not counted are connecting and the first transaction: drivers ask for types, statements are prepared and the
        server's caches filled with it, which a program that stays connected does once.
        """
        ...

    def work(self, url: str, pipe: Connection) -> None:
        """Run jobs until none is left."""
        ...


class Ours:
    """The production store, used as the router uses it; it always keeps the order of a key."""

    ordered = True
    synced = True  # the store itself knows what it need not sync

    def __init__(self, name: str) -> None:
        self.name = name

    def install(self, url: str) -> None:
        open_store(url, org_id=ORG).close()

    def enqueue(self, url: str, jobs: Sequence[Work], together: int, *, ordered: bool) -> float:
        with closing(open_store(url, org_id=ORG)) as store:
            first, *rest = _portions(jobs, together)
            store.record([new_job(job) for job in first])
            start = time.perf_counter()
            for some in rest:
                store.record([new_job(job) for job in some])
            return time.perf_counter() - start

    def work(self, url: str, pipe: Connection) -> None:
        with closing(open_store(url, org_id=ORG)) as store:
            _met(pipe)
            seen: Seen = []
            empty = 0
            while empty < EMPTY_MAX:
                jobs = store.claim("worker", limit=CLAIM_MAX, lease_s=LEASE_S)
                if not jobs:
                    empty += 1
                    time.sleep(EMPTY_S)
                    continue
                empty = 0
                ran = [(job, job.payload["number"]) for job in jobs]
                ended = store.end([(job, Done("assigned")) for job in jobs])
                at = time.monotonic_ns()
                seen += [(number, at) for job, number in ran if job.id in ended]
        pipe.send(seen)


class Procrastinate:
    """procrastinate with psycopg; the order of a key is kept by its `lock`."""

    ordered = True

    def __init__(self, name: str, *, synced: bool) -> None:
        self.name, self.synced = name, synced

    def install(self, url: str) -> None:
        import procrastinate  # noqa: PLC0415 - may be missing

        with procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=url)).open() as app:
            app.schema_manager.apply_schema()

    def enqueue(self, url: str, jobs: Sequence[Work], together: int, *, ordered: bool) -> float:
        import procrastinate  # noqa: PLC0415 - may be missing

        one = procrastinate.SyncPsycopgConnector(conninfo=url, min_size=1, max_size=1)
        with procrastinate.App(connector=one).open() as app:
            task = app.task(name="route")(_nothing)

            def defer(some: Sequence[Work]) -> None:
                deferrers = [task.configure(lock=job.key if ordered else None) for job in some]
                if together == 1:
                    deferrers[0].defer(**some[0].content)
                    return
                app.job_manager.batch_defer_jobs(
                    [made.job.evolve(task_kwargs=dict(job.content)) for made, job in zip(deferrers, some, strict=True)]
                )

            first, *rest = _portions(jobs, together)
            defer(first)
            start = time.perf_counter()
            for some in rest:
                defer(some)
            return time.perf_counter() - start

    def work(self, url: str, pipe: Connection) -> None:
        pipe.send(asyncio.run(self._work(url, pipe)))

    async def _work(self, url: str, pipe: Connection) -> Seen:
        import procrastinate  # noqa: PLC0415 - may be missing

        seen: Seen = []
        conninfo = make_conninfo(url, options=f"-c synchronous_commit={_SYNC[self.synced]}")
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=conninfo))

        @app.task(name="route")
        async def route(number: int, **_content: Any) -> None:
            seen.append((number, time.monotonic_ns()))

        async with app.open_async():
            _met(pipe)
            empty = 0
            while empty < EMPTY_MAX:  # it ends where all that is left waits for a lock, its own too
                before = len(seen)
                await app.run_worker_async(concurrency=CONCURRENCY, wait=False, install_signal_handlers=False)
                empty = 0 if len(seen) > before else empty + 1
                await asyncio.sleep(EMPTY_S if empty else 0)
        return seen


class PgQueuer:
    """pgqueuer with asyncpg and uvloop, all its tables logged; it offers no order by key."""

    ordered = False

    def __init__(self, name: str, *, synced: bool) -> None:
        self.name, self.synced = name, synced

    def install(self, url: str) -> None:
        async def make() -> None:
            async with _pgqueuer(url) as driver:
                from pgqueuer import Queries  # noqa: PLC0415 - may be missing

                await Queries(driver).install()

        _uvloop(make())

    def enqueue(self, url: str, jobs: Sequence[Work], together: int, *, ordered: bool) -> float:
        async def enqueue() -> float:
            async with _pgqueuer(url) as driver:
                from pgqueuer import Queries  # noqa: PLC0415 - may be missing

                queries = Queries(driver)
                start = 0.0
                for number, some in enumerate(_portions(jobs, together)):
                    start = time.perf_counter() if number == 1 else start
                    bodies = [json.dumps(job.content).encode() for job in some]
                    await queries.enqueue(["route"] * len(bodies), bodies, [0] * len(bodies))
                return time.perf_counter() - start

        return _uvloop(enqueue())

    def work(self, url: str, pipe: Connection) -> None:
        pipe.send(_uvloop(self._work(url, pipe)))

    async def _work(self, url: str, pipe: Connection) -> Seen:
        from pgqueuer import PgQueuer  # noqa: PLC0415 - may be missing
        from pgqueuer.models import Job  # noqa: PLC0415 - may be missing
        from pgqueuer.types import QueueExecutionMode  # noqa: PLC0415 - may be missing

        seen: Seen = []
        async with _pgqueuer(url, synced=self.synced) as driver:
            queue = PgQueuer(driver)

            @queue.entrypoint("route")
            async def route(job: Job) -> None:
                seen.append((json.loads(job.payload)["number"], time.monotonic_ns()))

            _met(pipe)
            await queue.run(batch_size=BATCH, mode=QueueExecutionMode.drain)
        return seen


WAYS: Mapping[str, Way] = {
    "SQLite": Ours("SQLite"),
    "PostgreSQL": Ours("PostgreSQL"),
    **{
        name: Procrastinate(name, synced=name == "procrastinate")
        for name in ("procrastinate", "procrastinate, no sync")
    },
    **{name: PgQueuer(name, synced=name == "pgqueuer") for name in ("pgqueuer", "pgqueuer, no sync")},
}
NEEDED = {"procrastinate": ("procrastinate",), "pgqueuer": ("pgqueuer", "asyncpg", "uvloop")}


def missing() -> list[str]:
    """Names of ways whose packages are not installed."""
    return [name for name in WAYS if not all(map(find_spec, NEEDED.get(name.partition(",")[0], ())))]


def new_job(job: Work) -> NewJob:
    """A job as intake makes it."""
    key = change_key(ORG, job.key, job.content["identity"])
    even, odd = (f"{job.number:063x}{side}" for side in "01")
    return NewJob(key, job.key, job.key, job.content, Submission(even, odd))


def _content(number: int) -> dict[str, Any]:
    """What intake writes down of a lead's creation, with its number."""
    return {
        "number": number,
        "change_type": "CREATE",
        "identity": f"0003f2c8-{number:04x}-4d5e-9a7b-{number:012x}.1",
        "event_at": "2026-03-04T12:00:00.123000+00:00",
        "cause": "created",
        "unassigned_under": "00G000000000001AAA",
    }


def _met(pipe: Connection) -> None:
    pipe.send("ready")
    pipe.recv()


def _nothing(**_content: Any) -> None:
    """What the enqueueing side knows of the task."""


def _portions(some: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (some[first : first + size] for first in range(0, len(some), size))


def _uvloop(body: Any) -> Any:
    import uvloop  # noqa: PLC0415 - may be missing

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(body)


@asynccontextmanager
async def _pgqueuer(url: str, *, synced: bool = True):
    import asyncpg  # noqa: PLC0415 - may be missing
    from pgqueuer import AsyncpgDriver  # noqa: PLC0415 - may be missing

    connection = await asyncpg.connect(url, server_settings={"synchronous_commit": _SYNC[synced]})
    try:
        yield AsyncpgDriver(connection)
    finally:
        await connection.close()
