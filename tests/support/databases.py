"""One database of either kind, whose time a test can move; the job store's suites run against both."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lead_router.jobs import SqlJobStore, open_store
from lead_router.jobs.postgres import PostgresEngine
from lead_router.jobs.sqlite import SqliteEngine
from lead_router.ports import NewJob

ORG = "00D000000000001AAA"
CHANNEL = "/data/LeadChangeEvent"

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
    "listener": ("lease_until", "taken_at", "subscribed_at", "lost_at", "heard_at", "silent_at", "silent_since"),
}


class Database:
    """An address that stores can be opened at, as many as a test likes; all are closed afterwards."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.now = time.time()  # other processes live in the host's time
        self._stores: list[SqlJobStore] = []

    @property
    def embedded(self) -> bool:
        return self.url.startswith("sqlite")

    def open(self, *, org_id: str = ORG, **options: Any) -> SqlJobStore:
        store = open_store(self.url, org_id=org_id, clock=lambda: self.now, **options)
        self._stores.append(store)
        return store

    def engine(self) -> SqliteEngine | PostgresEngine:
        """A bare engine, without a schema; the test closes it."""
        return SqliteEngine(self.path, clock=lambda: self.now) if self.embedded else PostgresEngine(self.url)

    @property
    def path(self) -> Path:
        return Path(self.url.removeprefix("sqlite:///"))

    def wait(self, seconds: float) -> None:
        """Let time pass: on SQLite the clock moves on, on PostgreSQL all that happened moves back."""
        self.now += seconds
        if not self.embedded:
            for table, columns in _TIMES.items():
                moves = ", ".join(f"{column} = {column} - {int(seconds * 1000)}" for column in columns)
                self.execute(f"UPDATE {table} SET {moves}")

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """A look, or a push, past the store."""
        if self.embedded:
            connection = sqlite3.connect(self.path)
            try:
                with connection:
                    return connection.execute(sql).fetchall()
            finally:
                connection.close()
        with psycopg.connect(self.url) as session:
            cursor = session.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        for store in self._stores:
            store.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database of each kind in turn."""
    embedded = request.param == "sqlite"
    found = Database(f"sqlite:///{tmp_path / 'jobs.db'}" if embedded else request.getfixturevalue("postgres_url"))
    yield found
    found.close()


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Database]:
    """An SQLite file that does not exist yet."""
    found = Database(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield found
    found.close()


@pytest.fixture
def shared(postgres_url: str) -> Iterator[Database]:
    """An empty PostgreSQL database."""
    found = Database(postgres_url)
    yield found
    found.close()


def lead_id(number: int) -> str:
    return f"00Q{number:012}AAA"


def new_job(number: int, *, lead: int | None = None, event: str = "create", **payload: Any) -> NewJob:
    """A job of event `event` for lead `lead` (its own number unless told)."""
    lead_18 = lead_id(number if lead is None else lead)
    return NewJob(f"{ORG}.{lead_18}.{event}.{number}", lead_18, lead_18, payload)
