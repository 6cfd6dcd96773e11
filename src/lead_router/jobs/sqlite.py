"""The embedded engine: one SQLite file, in WAL mode, synced to disk before a transaction counts that asks for it.

One host's clock is the database's time. Should it jump, leases end that much sooner or later, and jobs wait until a
sweep notices it (`sweeping`); claim tokens still keep two attempts apart.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import quote

from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs.dialect import SQLITE, translate
from lead_router.jobs.engine import SETTING, Row, Run, Step, T

BUSY_WAIT_S: Final = 30.0
"""How long a transaction waits for its turn to write."""

MIGRATION_WAIT_S: Final = 600.0
"""How long a starting router waits for another one that is changing the schema."""

LOG_BYTES_MAX: Final = 16 * 1024 * 1024
"""What the write-ahead log beside the file is cut down to, once those are gone who read so long that it grew longer."""

OLDEST_SQLITE: Final = (3, 38, 0)
"""The first release with RETURNING."""

_SYNCED: Final = "PRAGMA synchronous = FULL"
_NOT_SYNCED: Final = "PRAGMA synchronous = NORMAL"
"""To the log, by the next transaction of the connection; of a log that was cut short SQLite keeps what came first."""


_TIDIES: Final = "PRAGMA wal_autocheckpoint = 1000"
_TIDIES_LATE: Final = f"PRAGMA wal_autocheckpoint = {LOG_BYTES_MAX // 4096}"
"""The log is put into the file, with two syncs more, once it has so many pages: by a transaction that nobody waits for,
or, where none comes, by any."""


class SqliteEngine:
    """See Engine. `clock` answers seconds since 1970."""

    dialect = SQLITE

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise Misconfigured(
                f"SQLite {sqlite3.sqlite_version} is too old, 3.38 is needed: "
                f"use a newer Python, or name a PostgreSQL database in {SETTING}."
            )
        self._path = path.absolute()
        self._clock = clock
        _create(self._path)
        self._connection: sqlite3.Connection | None = self._connect()
        self._file = _file_at(self._path)

    def write(self, steps: Sequence[Step], *, synced: bool = True, tidies: bool = False) -> list[list[Row]]:
        """Immediate: taking the write lock later, in mid-transaction, fails at once instead of waiting."""
        modes = (_SYNCED if synced else _NOT_SYNCED, _TIDIES if tidies else _TIDIES_LATE)
        return self._transaction(partial(_carried_out, steps), *modes, "BEGIN IMMEDIATE")

    def read(self, steps: Sequence[Step]) -> list[list[Row]]:
        """One snapshot for all steps, beside any writer."""
        return self._transaction(partial(_carried_out, steps), "BEGIN")

    def exclusively(self, body: Callable[[Run], T]) -> T:
        """The write lock is the file's only one."""
        self._wait_for(MIGRATION_WAIT_S)
        try:
            return self._transaction(body, _SYNCED, "BEGIN IMMEDIATE")
        finally:
            self._wait_for(BUSY_WAIT_S)

    def close(self) -> None:
        """May be called again; the next call of another verb opens the file anew."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _transaction(self, body: Callable[[Run], T], *begin: str) -> T:
        if _file_at(self._path) != self._file:
            raise Misconfigured(_gone(self._path))
        connection = self._connection = self._connection or self._connect()
        try:
            for statement in begin:
                connection.execute(statement)
            answer = body(self._runner(connection))
            connection.execute("COMMIT")
        except sqlite3.Error as fault:
            self.close()  # rolls back
            self._refuse(fault)
        except BaseException:
            connection.rollback()
            raise
        return answer

    def _runner(self, connection: sqlite3.Connection) -> Run:
        now = int(self._clock() * 1000)  # read with the lock in hand: waiting for it took time

        def run(sql: str, values: Mapping[str, Any]) -> list[Row]:
            cursor = connection.execute(translate(sql, SQLITE), {"now": now, **values})
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor]

        return run

    def _connect(self) -> sqlite3.Connection:
        """Settings belong to a connection, not to the file: each new one gets them all."""
        try:
            # mode=rw: a file that vanished must not come back empty. A store may be opened in one thread for another.
            address = f"file:{quote(str(self._path))}?mode=rw"
            connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as fault:
            self._refuse(fault)
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_WAIT_S * 1000)}")
            _write_ahead(connection)
            connection.execute(_SYNCED)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES_MAX}")
        except sqlite3.Error as fault:
            connection.close()
            self._refuse(fault)
        return connection

    def _wait_for(self, seconds: float) -> None:
        if self._connection is not None:
            self._connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def _refuse(self, fault: sqlite3.Error) -> NoReturn:
        """Name the remedy; SQLite's texts for these faults name tables and files, never values."""
        code = getattr(fault, "sqlite_errorcode", 0)
        match code & 0xFF:
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                raise Misconfigured(
                    f"{self._path} is not a readable SQLite database ({fault}): "
                    f"name another file in {SETTING}, or restore this one from a copy."
                ) from fault
            case sqlite3.SQLITE_FULL:
                raise StoreUnavailable(
                    f"The disk of the job database {self._path} ({SETTING}) is full: make room. Nothing is lost, "
                    "nothing was recorded or routed meanwhile, and the router goes on by itself."
                ) from fault
            case sqlite3.SQLITE_READONLY if code == sqlite3.SQLITE_READONLY_DBMOVED:
                raise Misconfigured(_gone(self._path)) from fault
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
                raise Misconfigured(_not_writable(self._path)) from fault
            case sqlite3.SQLITE_CANTOPEN if not os.access(self._path.parent, os.W_OK | os.X_OK):
                raise Misconfigured(_not_writable(self._path)) from fault
            case _:
                raise StoreUnavailable(f"The job database {self._path} ({SETTING}) did not answer: {fault}.") from fault


def _carried_out(steps: Sequence[Step], run: Run) -> list[list[Row]]:
    return [run(sql, values) for sql, values in steps]


def _create(path: Path) -> None:
    """An empty file that only its owner can read, before SQLite makes one that others can.

    A file that is there is not opened: to close any descriptor of it costs a process all of SQLite's locks on it.
    """
    try:
        with _CREATING:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if path.is_dir():
            raise Misconfigured(f"{path} is a folder: name a file in {SETTING}.") from None
        if not os.access(path, os.R_OK | os.W_OK):
            raise Misconfigured(_not_writable(path)) from None
    except FileNotFoundError:
        raise Misconfigured(
            f"The folder {path.parent} of the job database does not exist: create it, or change {SETTING} "
            "(sqlite:///file.db is beside the program's working folder, sqlite:////folder/file.db starts at the root)."
        ) from None
    except OSError as fault:
        raise Misconfigured(
            f"The job database {path} cannot be written by this user ({fault.strerror}): "
            f"give the user write access to the folder {path.parent}, or change {SETTING}."
        ) from None


_CREATING: Final = threading.Lock()
"""No other thread may open the file between its creation and the closing of that descriptor."""


def _file_at(path: Path) -> tuple[int, int] | None:
    """Which file has this name now; SQLite goes on in one that lost its name, where nobody else would find the jobs."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _gone(path: Path) -> str:
    return (
        f"The job database {path} ({SETTING}) was moved, deleted or replaced while it was in use: bring it back, or "
        "start the router anew, which goes on with the file that is there then, or with an empty one. No lead is lost."
    )


def _not_writable(path: Path) -> str:
    return (
        f"The job database {path} cannot be written by this user: "
        f"give the user write access to the file and its folder, or change {SETTING}."
    )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn WAL mode on; SQLite does not wait by itself while another process does the same."""
    deadline = time.monotonic() + BUSY_WAIT_S
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            break
    if mode != "wal":
        raise Misconfigured(
            f"SQLite cannot keep a write-ahead log beside the job database (it chose {mode!r}): "
            f"name a file on a local disk in {SETTING}, or a PostgreSQL database."
        )
