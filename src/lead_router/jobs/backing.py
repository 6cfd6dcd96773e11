"""A copy of an SQLite job database, of one moment, taken while routers use it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs.engine import SETTING
from lead_router.jobs.opening import missing_file, whereabouts

LOCK_WAIT_S = 30.0
_SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Copy:
    """Where the copy lies, whole path, and its size."""

    path: str
    size_bytes: int


def back_up(url: str, to: Path) -> Copy:
    """Copy the file at `url` to `to`, readable by its owner alone; it gets that name once it is whole and was checked.

    One read transaction, beside which routers go on writing; the write-ahead log grows meanwhile. For a process that
    has no store open. Misconfigured: no such file, a server's database, a name that is taken or a place that cannot be
    written. StoreUnavailable: locked for half a minute, or the disk is full.
    """
    if not url.startswith(_SQLITE):
        raise Misconfigured(
            f"{whereabouts(url)} is backed up by PostgreSQL's own means: pg_dump --format=custom --file={to} "
            f"with the address of {SETTING}"
        )
    source, absent = Path(url.removeprefix(_SQLITE)).absolute(), missing_file(url)
    if absent is not None:
        raise Misconfigured(f"no job database at {absent}: set {SETTING}, or name its settings file with --env-file")
    whole = to.absolute()
    partial = whole.with_name(whole.name + ".partial")
    try:
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
        _copy(source, partial)
        os.link(partial, whole)  # refuses a name that is taken, where a rename would take it
        _synced(whole.parent)
        return Copy(str(whole), whole.stat().st_size)
    except FileExistsError:
        raise Misconfigured(f"{whole} exists: name another file, none is overwritten") from None
    except OSError as fault:
        raise Misconfigured(f"{whole} cannot be written: {fault.strerror}") from None
    except sqlite3.Error as fault:
        raise StoreUnavailable(f"The job database {source} could not be copied: {fault}.") from fault
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _copy(source: Path, partial: Path) -> None:
    """By SQLite's own means, all pages in one step: in several, each write of a router would begin it anew."""
    address = f"file:{quote(str(source))}?mode=rw"
    read = sqlite3.connect(address, uri=True, timeout=LOCK_WAIT_S, isolation_level=None)
    with closing(read), closing(sqlite3.connect(partial, isolation_level=None)) as written:
        read.execute("BEGIN")
        read.execute("SELECT count(*) FROM sqlite_master")  # for this one waits so long; the copy would wait for ever
        read.backup(written, pages=-1)
        written.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it; a start turns it on again
        (told,) = written.execute("PRAGMA quick_check(1)").fetchone()
    if told != "ok":
        raise Misconfigured(f"{source} is damaged ({' '.join(str(told).split())}): `lead-router doctor` says more")
    _synced(partial)


def _synced(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
