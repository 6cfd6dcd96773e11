"""The schema's history: numbered SQL files, applied once each, by one router at a time, all or none.

Programs of two versions may work on one database, so a migration only adds: tables, columns that may be left out, and
indexes that no row of another program can break. An index that keeps no promise may go where another one serves for it.
A migration that does anything else is named `NNNN_word.breaking.sql`: a program that does not know it refuses to start
on that schema, and goes on with any other newer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

from lead_router.errors import Misconfigured
from lead_router.jobs.engine import SETTING, Engine, Row, Run

TABLES: Final = frozenset(
    {
        "routing_job",
        "stream_position",
        "quarantine",
        "sweep",
        "observation",
        "observed_rotation",
        "listener",
        "enrichment",
        "notice",
        "notice_channel",
        "touch_clock",
        "touch_mark",
    }
)

_CREATE: Final = """
    CREATE TABLE schema_version (
        version INTEGER NOT NULL PRIMARY KEY, migration TEXT NOT NULL, applied_at BIGINT NOT NULL
    )
"""
BREAKING: Final = ".breaking"
"""Ends the name of a migration that a program of before cannot work with; kept in the database with its number."""

_APPLIED: Final = "SELECT * FROM schema_version ORDER BY 1 DESC"  # of another program, it has other columns
_NOTE: Final = "INSERT INTO schema_version (version, migration, applied_at) VALUES (:version, :migration, {now})"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; `statements` run in order."""

    version: int
    name: str
    statements: tuple[str, ...]


def known() -> tuple[Migration, ...]:
    """All migrations of this program, oldest first, numbered from 1 without a hole."""
    files = sorted(
        (file for file in (resources.files("lead_router.jobs") / "schema").iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    return tuple(
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), _statements(file.read_text("utf-8")))
        for file in files
    )


def migrate(engine: Engine, *, migrations: tuple[Migration, ...] | None = None) -> int:
    """Bring the database to the newest schema that this program knows; answers its version, which may be a newer one.

    Misconfigured: a newer program has made it one that this program cannot work with, or it belongs to another program.
    Nothing is changed then.
    """
    migrations = known() if migrations is None else migrations
    newest = migrations[-1].version
    tables = {row["name"] for row in engine.read([(engine.dialect.tables, {})])[0]}
    if "schema_version" in tables:
        version = _version(engine.read([(_APPLIED, {})])[0], newest)
        if version >= newest:
            return version
    return engine.exclusively(lambda run: _apply(run, engine.dialect.tables, migrations))


def _apply(run: Run, tables: str, migrations: tuple[Migration, ...]) -> int:
    """Looks again, now alone: another router may have done it meanwhile."""
    version, newest = 0, migrations[-1].version
    present = {row["name"] for row in run(tables, {})}
    if "schema_version" in present:
        version = _version(run(_APPLIED, {}), newest)
    elif taken := sorted(present & TABLES) or _strangers(present, tables):
        raise _foreign(taken[0])
    else:
        run(_CREATE, {})
    for migration in migrations:
        if migration.version > version:
            for statement in migration.statements:
                run(statement, {})
            run(_NOTE, {"version": migration.version, "migration": migration.name})
    return max(version, newest)


def _version(applied: Sequence[Row], newest: int) -> int:
    """Our history is never empty: it was made together with its first row."""
    if not applied or not {"version", "migration", "applied_at"} <= applied[0].keys():
        raise _foreign("schema_version")
    version = int(applied[0]["version"])
    beyond = [str(row["migration"]) for row in applied if int(row["version"]) > newest]
    if any(name.endswith(BREAKING) for name in beyond):
        raise Misconfigured(
            f"The job database has schema {version}, this program knows {newest} and cannot work with that: "
            f"start the newer program that changed it, or name another database in {SETTING}."
        )
    return version


def _strangers(present: set[str], tables: str) -> list[str]:
    """A SQLite file serves one program; a PostgreSQL schema may be shared."""
    return sorted(present) if "sqlite_master" in tables else []


def _foreign(table: str) -> Misconfigured:
    return Misconfigured(
        f"The job database holds the table {table} of another program: name a database of its own in {SETTING}."
    )


def _statements(text: str) -> tuple[str, ...]:
    """Split at the semicolons that end a line; no statement of a migration holds one elsewhere."""
    return tuple(part.strip() for part in (text + "\n").split(";\n") if part.strip())
