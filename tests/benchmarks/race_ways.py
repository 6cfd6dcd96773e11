"""Ways to take turns that live in one PostgreSQL: each lead is carried by one of many connections, all at once.

What is read and written under a lock is one function of the server, so that no lock waits for a client. All ways share
the tables, none has a unique index to save it, and all are given some leads twice, as every webhook and stream does.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

import psycopg

from benchmarks.race_judge import Given

CONNECTIONS = 100
TWICE_EACH = 20  # one lead in so many is delivered twice
BACKOFF_FIRST_S, BACKOFF_MAX_S = 0.002, 0.512
DONE, NOT_NOW = 1, 0

Db: TypeAlias = "psycopg.Connection[tuple[object, ...]]"
Give: TypeAlias = Callable[[Db, int, random.Random], int]
"""Give one lead away over a connection; the answer is how often it was tried again."""

TABLES = """
CREATE TABLE rep (id int PRIMARY KEY, assigned_at timestamptz, next_turn bigint, last_turn bigint);
CREATE TABLE marker (position bigint NOT NULL, clock bigint NOT NULL, reps int NOT NULL);
CREATE TABLE lead (id bigint PRIMARY KEY, owner int);
CREATE TABLE assignment (id bigserial PRIMARY KEY, lead bigint NOT NULL, rep int NOT NULL, turn bigint);
CREATE TABLE job (id bigserial PRIMARY KEY, lead bigint NOT NULL UNIQUE, done boolean NOT NULL DEFAULT false);
CREATE INDEX ON job (id) WHERE NOT done;
"""
FUNCTIONS = """
CREATE FUNCTION written(p_lead bigint, p_rep bigint, p_turn bigint) RETURNS void LANGUAGE sql AS $$
  UPDATE lead SET owner = p_rep WHERE id = p_lead;
  INSERT INTO assignment (lead, rep, turn) VALUES (p_lead, p_rep, p_turn);
$$;
CREATE FUNCTION at_turn(p_lead bigint, p_turn bigint) RETURNS void LANGUAGE sql AS $$
  UPDATE marker SET position = p_turn;
  SELECT written(p_lead, 1 + (p_turn - 1) % reps, p_turn) FROM marker;
$$;
CREATE FUNCTION by_marker(p_lead bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE turn bigint; rep bigint;
BEGIN
  PERFORM 1 FROM lead WHERE id = p_lead AND owner IS NULL FOR UPDATE;
  IF NOT FOUND THEN RETURN 1; END IF;
  UPDATE marker SET position = position + 1 RETURNING position, 1 + (position - 1) % reps INTO turn, rep;
  PERFORM written(p_lead, rep, turn);
  RETURN 1;
END $$;
CREATE FUNCTION by_version(p_lead bigint, p_seen bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE rep bigint;
BEGIN
  PERFORM 1 FROM lead WHERE id = p_lead AND owner IS NULL FOR UPDATE;
  IF NOT FOUND THEN RETURN 1; END IF;
  UPDATE marker SET position = position + 1 WHERE position = p_seen RETURNING 1 + p_seen % reps INTO rep;
  IF NOT FOUND THEN RETURN 0; END IF;
  PERFORM written(p_lead, rep, p_seen + 1);
  RETURN 1;
END $$;
CREATE FUNCTION by_skipping(p_lead bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE found_rep bigint;
BEGIN
  PERFORM 1 FROM lead WHERE id = p_lead AND owner IS NULL FOR UPDATE;
  IF NOT FOUND THEN RETURN 1; END IF;
  SELECT id INTO found_rep FROM rep ORDER BY assigned_at NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  UPDATE rep SET assigned_at = clock_timestamp() WHERE id = found_rep;
  PERFORM written(p_lead, found_rep, NULL);
  RETURN 1;
END $$;
"""
GIVEN = """
SELECT lead, rep, turn, extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8
FROM assignment ORDER BY pg_xact_commit_timestamp(xmin), id
"""


@dataclass(frozen=True, slots=True)
class Raced:
    """The rows in order of commit, and how often a lead was tried again."""

    given: tuple[Given, ...]
    tries: int


def lockless(db: Db, lead: int, _dice: random.Random) -> int:
    """Read whose turn it is, then write: nothing holds in between."""
    ((owner, position),) = db.execute("SELECT owner, position FROM lead, marker WHERE id = %s", [lead])
    if owner is None:
        db.execute("SELECT at_turn(%s, %s)", [lead, position + 1])
    return 0


def by_marker(db: Db, lead: int, _dice: random.Random) -> int:
    """The marker's row is locked from its increment to the commit: leads go one after the other."""
    db.execute("SELECT by_marker(%s)", [lead])
    return 0


def by_version(db: Db, lead: int, dice: random.Random) -> int:
    """Read the marker, write if it has not moved; else again, after a pause that doubles."""

    def once() -> int:
        ((seen,),) = db.execute("SELECT position FROM marker")
        ((answer,),) = db.execute("SELECT by_version(%s, %s)", [lead, seen])
        return answer

    return _until_done(once, dice)


def by_skipping(db: Db, lead: int, dice: random.Random) -> int:
    """The longest waiting rep whose row is free; where all are locked, again after a pause."""

    def once() -> int:
        ((answer,),) = db.execute("SELECT by_skipping(%s)", [lead])
        return answer

    return _until_done(once, dice)


def _until_done(once: Callable[[], int], dice: random.Random) -> int:
    tries = 0
    while once() == NOT_NOW:
        time.sleep(dice.uniform(0, min(BACKOFF_MAX_S, BACKOFF_FIRST_S * 2**tries)))
        tries += 1
    return tries


def laid_out(url: str, leads: int, reps: int) -> None:
    """Fresh tables with so many leads and reps."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP SCHEMA public CASCADE")
        db.execute("CREATE SCHEMA public")
        db.execute(TABLES)
        db.execute(FUNCTIONS)
        db.execute("INSERT INTO rep (id) SELECT generate_series(1, %s::int)", [reps])
        db.execute("INSERT INTO marker VALUES (0, 0, %s)", [reps])
        db.execute("INSERT INTO lead (id) SELECT generate_series(1, %s::int)", [leads])
        db.execute("ANALYZE")


def deliveries(leads: int, dice: random.Random) -> list[int]:
    """All leads in chance order, one in twenty twice: the second time right behind the first."""
    order = dice.sample(range(1, leads + 1), leads)
    again = set(order[::TWICE_EACH])
    return [lead for one in order for lead in ((one, one) if one in again else (one,))]


def raced(url: str, give: Give, leads: int, reps: int, seed: int, within_s: float) -> Raced:
    """All leads at once over as many connections as there are; none is begun after `within_s` seconds."""
    laid_out(url, leads, reps)
    coming = deliveries(leads, random.Random(seed))
    tries = [0] * min(CONNECTIONS, len(coming))

    def carry(place: int, db: Db, waiting: queue.SimpleQueue[int]) -> None:
        dice = random.Random(f"{seed} {place}")
        until = time.monotonic() + within_s
        while time.monotonic() < until and (lead := taken(waiting)) is not None:
            tries[place] += give(db, lead, dice)

    started = together(url, coming, carry)
    return Raced(read(url, started), sum(tries))


def together(url: str, coming: Sequence[int], carry: Callable[[int, Db, queue.SimpleQueue[int]], None]) -> float:
    """Carry what comes over many connections, which are open before it does; the answer is the time it came."""
    count = min(CONNECTIONS, len(coming))
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for lead in coming:
        waiting.put(lead)
    started: list[float] = []
    gate = threading.Barrier(count, action=lambda: started.append(time.time()))
    faults: list[BaseException] = []
    with ExitStack() as opened:
        dbs = [opened.enter_context(psycopg.connect(url, autocommit=True)) for _ in range(count)]

        def live(place: int) -> None:
            gate.wait()
            try:
                carry(place, dbs[place], waiting)
            except BaseException as fault:  # noqa: BLE001 - told by the thread that waits for this one
                faults.append(fault)

        threads = [threading.Thread(target=live, args=(place,)) for place in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if faults:
        raise faults[0]
    return started[0]


def taken(waiting: queue.SimpleQueue[int]) -> int | None:
    """The next of the queue, None when all are taken."""
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None


def read(url: str, started: float) -> tuple[Given, ...]:
    """The assignments by the server's own record of when each was committed."""
    with psycopg.connect(url) as db:
        rows = db.execute(GIVEN).fetchall()
    return tuple(Given(str(lead), str(rep), turn, at - started) for lead, rep, turn, at in rows)
