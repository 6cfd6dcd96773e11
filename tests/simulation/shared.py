"""PostgreSQL under a play: the server's clock is real, so instead of its time going on all that happened moves back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from lead_router.jobs.engine import Engine
from lead_router.jobs.migrations import migrate
from lead_router.jobs.postgres import PostgresEngine
from simulation.hosts import Host

_STEP_S = 0.5  # shorter times are kept until they are worth a statement
_TIMES = {
    "routing_job": ("next_run_at", "locked_at", "lease_until", "created_at", "completed_at"),
    "stream_position": ("recorded_at",),
    "sweep": ("begun_at", "kept_until", "seen_at"),
    "quarantine": ("first_at", "last_at"),
    "observation": ("observed_at",),
    "enrichment": ("answered_at", "next_run_at", "asked_at"),
    "notice": ("next_run_at", "created_at", "completed_at"),
    "notice_channel": ("next_at",),
    "touch_clock": ("began_at", "seen_at"),
    "touch_mark": ("marked_at",),
}


class Shared:
    """A database for each host, made when first asked for."""

    def __init__(self, new_database: Callable[[], str]) -> None:
        self._new_database = new_database
        self._urls: dict[str, str] = {}
        self._owed_s = 0.0
        self.sessions: dict[str, psycopg.Connection] = {}

    def engine(self, host: Host) -> Engine:
        """As plays ask for it."""
        if host.name not in self._urls:
            self._urls[host.name] = self._new_database()
            self.sessions[host.name] = psycopg.connect(self._urls[host.name], autocommit=True)
            engine = PostgresEngine(self._urls[host.name])
            migrate(engine)
            engine.close()
        return PostgresEngine(self._urls[host.name])

    def elapsed(self, seconds: float) -> None:
        """Time has passed."""
        self._owed_s += seconds
        if self._owed_s < _STEP_S:
            return
        milliseconds, self._owed_s = int(self._owed_s * 1000), 0.0
        for session in self.sessions.values():
            for table, columns in _TIMES.items():
                moves = ", ".join(f"{column} = {column} - {milliseconds}" for column in columns)
                session.execute(f"UPDATE {table} SET {moves}")


@contextmanager
def shared(new_database: Callable[[], str]) -> Iterator[Shared]:
    """Databases that last as long as the block; `new_database` answers the url of an empty one."""
    made = Shared(new_database)
    try:
        yield made
    finally:
        for session in made.sessions.values():
            session.close()
