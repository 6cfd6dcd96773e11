"""The schema's history: numbered SQL files, applied once each, by one router at a time, all or none."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Final

from lead_router.errors import Misconfigured
from lead_router.jobs.engine import SETTING, Engine, Run

TABLES: Final = frozenset({"routing_job", "stream_position", "quarantine", "sweep"})

_CREATE: Final = """
    CREATE TABLE schema_version (
        version INTEGER NOT NULL PRIMARY KEY, migration TEXT NOT NULL, applied_at BIGINT NOT NULL
    )
"""
_APPLIED: Final = "SELECT version, migration, applied_at FROM schema_version ORDER BY version"
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
    """Bring the database to the newest schema that this program knows; answers its version.

    Misconfigured: a newer program has changed it, or it belongs to another program. Nothing is changed then.
    """
    migrations = known() if migrations is None else migrations
    newest = migrations[-1].version
    tables = {row["name"] for row in engine.read([(engine.dialect.tables, {})])[0]}
    if "schema_version" in tables and _version(engine, newest) == newest:
        return newest
    return engine.exclusively(lambda run: _apply(run, engine.dialect.tables, migrations))


def _version(engine: Engine, newest: int) -> int:
    columns = "SELECT * FROM schema_version ORDER BY 1 DESC LIMIT 1"
    rows = engine.read([(columns, {})])[0]
    if rows and not {"version", "migration", "applied_at"} <= rows[0].keys():
        raise _foreign("schema_version")
    version = rows[0]["version"] if rows else 0
    _refuse_newer(version, newest)
    return int(version)


def _apply(run: Run, tables: str, migrations: tuple[Migration, ...]) -> int:
    """Looks again, now alone: another router may have done it meanwhile."""
    present = {row["name"] for row in run(tables, {})}
    if "schema_version" not in present:
        if taken := sorted(present & TABLES) or _strangers(present, tables):
            raise _foreign(taken[0])
        run(_CREATE, {})
    version = max((row["version"] for row in run(_APPLIED, {})), default=0)
    _refuse_newer(version, migrations[-1].version)
    for migration in migrations:
        if migration.version > version:
            for statement in migration.statements:
                run(statement, {})
            run(_NOTE, {"version": migration.version, "migration": migration.name})
    return migrations[-1].version


def _strangers(present: set[str], tables: str) -> list[str]:
    """A SQLite file serves one program; a PostgreSQL schema may be shared."""
    return sorted(present) if "sqlite_master" in tables else []


def _refuse_newer(version: int, newest: int) -> None:
    if version > newest:
        raise Misconfigured(
            f"The job database has schema {version}, this program knows {newest}: "
            f"start the newer program that changed it, or name another database in {SETTING}."
        )


def _foreign(table: str) -> Misconfigured:
    return Misconfigured(
        f"The job database holds the table {table} of another program: name a database of its own in {SETTING}."
    )


def _statements(text: str) -> tuple[str, ...]:
    """Split at the semicolons that end a line; no statement of a migration holds one elsewhere."""
    return tuple(part.strip() for part in (text + "\n").split(";\n") if part.strip())
