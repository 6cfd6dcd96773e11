"""Whether an SQLite file is whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

LOCK_WAIT_S = 30.0


def damage(url: str) -> str | None:
    """What SQLite finds wrong with the structure of the file at `url`, in its first words; None: nothing, or no file.

    Reads the whole file, beside a router that runs; a second for each gigabyte or so. For a process that has no store
    open on it: to close a file costs a process all its locks there.
    """
    path = Path(url.removeprefix("sqlite:///")).absolute()
    if not url.startswith("sqlite:///") or not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=LOCK_WAIT_S)) as connection:
            (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as fault:
        if fault.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            return str(fault)
        return None  # busy, or not to be opened: others tell of that
    return None if told == "ok" else " ".join(str(told).split())
