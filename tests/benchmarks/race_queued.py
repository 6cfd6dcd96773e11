"""Ways that put leads into a line first: one worker behind a FIFO, and our commit as plain SQL behind jobs."""

from __future__ import annotations

import queue
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import psycopg

from benchmarks.race_resp import Redis
from benchmarks.race_ways import Db, Raced, deliveries, laid_out, read, taken, together
from lead_router.core.model import Group, Member, Mode
from lead_router.core.rotation import take_turn

SERVER = "redis-server"
START_S = 10.0
LOOK_S = 0.002
BATCH_MAX = 200
WORKERS = 4
LINE = "leads"
UNIQUE = "CREATE UNIQUE INDEX ON assignment (turn); CREATE UNIQUE INDEX ON assignment (lead)"
CLAIM = f"SELECT id, lead FROM job WHERE NOT done ORDER BY id LIMIT {BATCH_MAX} FOR UPDATE SKIP LOCKED"
TURN = "UPDATE marker SET position = %s, clock = %s WHERE position = %s"
LEDGER = "INSERT INTO assignment (lead, rep, turn) SELECT * FROM unnest(%s::bigint[], %s::int[], %s::bigint[])"
OWNERS = "UPDATE lead SET owner = n.rep FROM unnest(%s::bigint[], %s::int[]) n (id, rep) WHERE lead.id = n.id"
PLACES = """UPDATE rep SET next_turn = n.at, last_turn = n.turn
FROM unnest(%s::int[], %s::bigint[], %s::bigint[]) n (id, at, turn) WHERE rep.id = n.id"""


class Fifo(Protocol):
    """First in, first out: many put, one takes up to `most`, in order; empty if nothing came for a moment."""

    def put(self, lead: int) -> None: ...

    def take(self, most: int) -> Sequence[int]: ...


class InProcess:
    """A queue of this process: nothing of it outlives a crash."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()

    def put(self, lead: int) -> None:
        self._waiting.put(lead)

    def take(self, most: int) -> Sequence[int]:
        found = [lead for _ in range(most) if (lead := taken(self._waiting)) is not None]
        if not found:
            time.sleep(LOOK_S)
        return found


class OverRedis:
    """A list of Redis; each thread has a connection of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._local = threading.local()

    def put(self, lead: int) -> None:
        self._redis().ask("RPUSH", LINE, str(lead))

    def take(self, most: int) -> Sequence[int]:
        found = self._redis().ask("LPOP", LINE, str(most)) or []
        if not found:
            time.sleep(LOOK_S)
        return [int(lead) for lead in found]

    def _redis(self) -> Redis:
        if not hasattr(self._local, "redis"):
            self._local.redis = Redis(self._socket)
        redis: Redis = self._local.redis
        return redis


@contextmanager
def fifo() -> Iterator[tuple[str, Fifo]]:
    """A FIFO and what it is: Redis that writes each push to the disk, or a queue of this process for want of it."""
    found = shutil.which(SERVER)
    if found is None:
        yield "in this process, no Redis here", InProcess()
        return
    with tempfile.TemporaryDirectory(prefix="lead-router-redis-") as folder:
        socket = Path(folder) / "redis.sock"
        words = ["--port", "0", "--unixsocket", str(socket), "--dir", folder, "--save", "", "--logfile", "log"]
        server = subprocess.Popen([found, *words, "--appendonly", "yes", "--appendfsync", "always"])
        try:
            until = time.monotonic() + START_S
            while not socket.exists():
                if time.monotonic() > until:
                    raise TimeoutError(f"{SERVER} did not start")
                time.sleep(LOOK_S)
            yield "Redis", OverRedis(socket)
        finally:
            server.terminate()
            server.wait(START_S)


def by_fifo(url: str, line: Fifo, leads: int, reps: int, seed: int, within_s: float, *, batch: int) -> Raced:
    """One worker takes the leads, `batch` at most in one transaction; nobody else writes the marker."""
    laid_out(url, leads, reps)
    coming = deliveries(leads, random.Random(seed))

    def work(db: Db, over: Callable[[int], bool]) -> int:
        carried = 0
        while not over(carried):
            found = list(line.take(batch))
            with db.transaction():
                for lead in found:
                    db.execute("SELECT by_marker(%s)", [lead])
            carried += len(found)
        return 0

    return _queued(url, coming, lambda _db, lead: line.put(lead), work, workers=1, within_s=within_s)


def by_protocol(url: str, leads: int, reps: int, seed: int, within_s: float) -> Raced:
    """Our commit with SQL in place of HTTP: jobs by key, batches by claim, the core's rotation, turns as versions."""
    laid_out(url, leads, reps)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(UNIQUE)
    coming = deliveries(leads, random.Random(seed))

    def put(db: Db, lead: int) -> None:
        db.execute("INSERT INTO job (lead) VALUES (%s) ON CONFLICT DO NOTHING", [lead])

    def work(db: Db, over: Callable[[int], bool]) -> int:
        tries = 0
        while not over(_given(db)):
            claimed, kept = commit(db)
            tries += claimed > 0 and not kept
            if claimed == 0:
                time.sleep(LOOK_S)
        return tries

    return _queued(url, coming, put, work, workers=WORKERS, within_s=within_s, all_given=leads)


def commit(db: Db) -> tuple[int, bool]:
    """One batch in one transaction: how many jobs were claimed, and whether their turns were still free."""
    with db.transaction() as opened:
        jobs: list[Any] = db.execute(CLAIM).fetchall()
        if not jobs:
            return 0, True
        group = _group(db)
        leads, turns = [lead for _, lead in jobs], []
        for _ in jobs:
            turn = take_turn(group, {one.id for one in group.members}, {one.id for one in group.members})
            assert turn is not None
            turns.append(turn)
            group = turn.group
        if db.execute(TURN, [group.turn, group.clock, turns[0].before.turn]).rowcount == 0:
            raise psycopg.Rollback(opened)
        owners = [int(turn.member.id) for turn in turns]
        db.execute(LEDGER, [leads, owners, [turn.number for turn in turns]])
        db.execute(OWNERS, [leads, owners])
        moved = [one for one in group.members if one.last_turn is not None]
        places = [int(one.id) for one in moved], [one.next_turn for one in moved], [one.last_turn for one in moved]
        db.execute(PLACES, places)
        db.execute("UPDATE job SET done = true WHERE id = ANY(%s)", [[number for number, _ in jobs]])
        return len(jobs), True
    return len(jobs), False


def _group(db: Db) -> Group:
    """The group as it stands: its marker first, so that the places are not older."""
    ((position, clock),) = db.execute("SELECT position, clock FROM marker")
    rows: list[Any] = db.execute("SELECT id, next_turn, last_turn FROM rep ORDER BY id").fetchall()
    members = tuple(
        Member(str(rep), str(rep), str(rep), 1, rep, True, True, at, last)  # noqa: FBT003
        for rep, at, last in rows
    )
    plain = Group("g", "g", "g", Mode.LIVE, 0, 0, 0, None, members)
    return replace(plain, turn=position, clock=clock)


def _given(db: Db) -> int:
    ((position,),) = db.execute("SELECT position FROM marker")
    return int(position)


def _queued(
    url: str,
    coming: Sequence[int],
    put: Callable[[Db, int], object],
    work: Callable[[Db, Callable[[int], bool]], int],
    *,
    workers: int,
    within_s: float,
    all_given: int | None = None,
) -> Raced:
    """Many connections put leads into the line, while workers take them until all are carried or the time is over."""
    enough = len(coming) if all_given is None else all_given
    until = time.monotonic() + within_s
    tries: list[int] = []

    def live() -> None:
        with psycopg.connect(url, autocommit=True) as db:
            tries.append(work(db, lambda carried: carried >= enough or time.monotonic() > until))

    def carry(_place: int, db: Db, waiting: queue.SimpleQueue[int]) -> None:
        while time.monotonic() < until and (lead := taken(waiting)) is not None:
            put(db, lead)

    threads = [threading.Thread(target=live) for _ in range(workers)]
    for thread in threads:
        thread.start()
    started = together(url, coming, carry)
    for thread in threads:
        thread.join()
    return Raced(read(url, started), sum(tries))
