"""From an address to a store that is ready: the engine it names, its schema brought up to date."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from lead_router.errors import Misconfigured
from lead_router.jobs.engine import SETTING, Engine
from lead_router.jobs.migrations import migrate
from lead_router.jobs.sqlite import SqliteEngine
from lead_router.jobs.statements import KNOWN_ORGS
from lead_router.jobs.store import ATTEMPTS_MAX, SqlJobStore
from lead_router.ports.notices import ChannelsOf, nowhere

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_store(
    url: str,
    *,
    org_id: str,
    clock: Callable[[], float] | None = None,
    max_attempts: int = ATTEMPTS_MAX,
    channels: ChannelsOf = nowhere,
    admitted: bool = False,
) -> SqlJobStore:
    """Open the job store of one org at `sqlite:///file.db`, `sqlite:////absolute/file.db` or `postgresql://…`.

    The schema is made or brought up to date first. `clock` answers seconds since 1970 and stands in for the host's
    clock on SQLite; PostgreSQL has its own. Misconfigured names the setting and the remedy; StoreUnavailable:
    PostgreSQL did not answer, try again; nor does one that refuses a login by which this process was `admitted` before,
    or a right to a process that was. No text holds the address's password. `channels` says where notices go.
    """
    engine = _engine(url, clock or time.time, admitted=admitted)
    try:
        migrate(engine)
    except BaseException:
        engine.close()
        raise
    return SqlJobStore(engine, org_id=org_id, max_attempts=max_attempts, channels=channels)


def whereabouts(url: str) -> str:
    """Where the database is, for a person: a file's whole path, a server's address without user and password."""
    if url.startswith(_SQLITE):
        return str(Path(url.removeprefix(_SQLITE)).absolute())
    return re.sub(r"//[^/]*@", "//", url.split("?", maxsplit=1)[0])


def missing_file(url: str) -> Path | None:
    """The SQLite file that `url` names, if there is none yet: to open its store would make it."""
    path = Path(url.removeprefix(_SQLITE)).absolute()
    return path if url.startswith(_SQLITE) and not path.exists() else None


def known_orgs(url: str) -> tuple[str, ...]:
    """The ids of the orgs whose routers have used this database, in order. Raises as `open_store` does."""
    engine = _engine(url, time.time)
    try:
        migrate(engine)
        return tuple(str(row["org_id"]) for row in engine.read([(KNOWN_ORGS, {})])[0])
    finally:
        engine.close()


def _engine(url: str, clock: Callable[[], float], *, admitted: bool = False) -> Engine:
    if url.startswith(_POSTGRES):
        from lead_router.jobs.postgres import PostgresEngine  # noqa: PLC0415 - a third of a second to import

        return PostgresEngine(url, admitted=admitted)
    path = url.removeprefix(_SQLITE)
    if not url.startswith(_SQLITE) or path in {"", ":memory:"}:
        raise Misconfigured(
            f"{SETTING} must be sqlite:///file.db, sqlite:////folder/file.db "
            "or postgresql://<user>:<secret>@host/database."
        )
    return SqliteEngine(Path(path), clock=clock)
