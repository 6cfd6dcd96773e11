"""From an address to a ready store: the schema's history, and every way in which an address can be wrong."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from lead_router.core.model import Submission
from lead_router.errors import LeadRouterError, Misconfigured, StoreUnavailable
from lead_router.jobs import open_store
from lead_router.jobs.migrations import BREAKING, Migration, known, migrate
from lead_router.ports import Bury, Done, Position, Recorded, Release
from support.databases import CHANNEL, ORG, Database, new_job
from support.postgres import PASSWORD_USER
from support.store_workers import open_together, started

postgres = pytest.mark.postgres
LOOKS_MAX = 10_000
NEW_TABLE = re.compile(r"CREATE TABLE (\w+) ")
DROPPED_INDEX = re.compile(r"DROP INDEX (\w+)$")
NEW_COLUMN = re.compile(r"ALTER TABLE \w+ ADD COLUMN (\w+) ")
UNIQUE_INDEX = re.compile(r"CREATE UNIQUE INDEX \w+ ON (\w+) ")
FILLED = re.compile(r"UPDATE \w+ SET (\w+) = ")
NOTE = "INSERT INTO schema_version (version, migration, applied_at) VALUES (:version, :migration, 0)"
AFTER = Migration(
    len(known()) + 1,
    "after",
    (
        "ALTER TABLE routing_job ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",
        "CREATE TABLE later (org_id TEXT NOT NULL PRIMARY KEY)",
        "CREATE INDEX routing_job_colour ON routing_job (org_id, colour)",
    ),
)
VERSIONS = [(migration.version, migration.name) for migration in known()]


def history(database):
    return database.execute("SELECT version, migration FROM schema_version ORDER BY version")


def beside(database):
    """A second, empty place of the same kind."""
    if database.embedded:
        return Database(f"{database.url}.old")
    database.execute("CREATE SCHEMA old")
    return Database(f"{database.url}?options=-csearch_path%3Dold")


def with_schema(database, migrations):
    """The database as programs that know these migrations left it."""
    engine = database.engine()
    migrate(engine, migrations=migrations)
    engine.close()


def plain(migration):
    """Its statements without comments, each in one line."""
    return [" ".join(re.sub("--.*", "", statement).split()) for statement in migration.statements]


def adds(text, fresh, columns, promised):
    """Whether a program of before works on as it did; `fresh` tables and `columns` are the migration's own.

    `promised` are the indexes that keep a promise: they stay. Any other one may go where another serves its searches.
    """
    dropped = DROPPED_INDEX.match(text)
    unique = UNIQUE_INDEX.match(text)
    column = NEW_COLUMN.match(text)
    filled = FILLED.match(text)
    return bool(
        NEW_TABLE.match(text)
        or text.startswith("CREATE INDEX ")
        or (dropped and dropped[1] not in promised)
        or (unique and unique[1] in fresh)
        or (
            column
            and ("NOT NULL" not in text or " DEFAULT " in text)
            and not re.search("UNIQUE|CHECK|REFERENCES", text)
        )
        or (filled and filled[1] in columns)
    )


def until_waiting(database, count):
    """So many sessions wait for the lock of the migration; a file's waiters show nowhere."""
    if database.embedded:
        return
    looks = itertools.count()
    while database.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") != [(count,)]:
        assert next(looks) < LOOKS_MAX


def refused(url, kind=Misconfigured):
    """The text with which an address is refused; it always names the setting."""
    with pytest.raises(kind) as caught:
        open_store(url, org_id=ORG)
    assert "LEAD_ROUTER_DATABASE" in str(caught.value)
    return str(caught.value)


class TestHistory:
    def test_migrations_are_numbered_without_a_hole(self):
        """Their order is their number's."""
        assert [version for version, _ in VERSIONS] == list(range(1, len(VERSIONS) + 1))

    def test_an_empty_database_gets_the_newest_schema_once(self, database):
        """Opening again changes nothing and loses nothing."""
        database.open().record([new_job(1)])
        assert database.open().record([new_job(1)]) == Recorded(created=0, known=1)
        assert history(database) == VERSIONS

    def test_five_routers_that_start_together_migrate_once(self, database):
        """All five start, one migrates, the others wait without failing (F14); on an empty database, then on one of an
        old schema. Two are of the version before, which goes on whichever was first.
        """
        old = beside(database)
        with_schema(old, known()[:3])
        before = len(VERSIONS) - 1
        with started(open_together, database.url, (), (before,), (), (before,), ()) as routers:
            for _, pipe in routers:
                assert pipe.recv() == "ready"
            for place in (database, old):
                for _, pipe in routers:
                    pipe.send(place.url)
                assert [pipe.recv() for _, pipe in routers] == ["opened"] * 5
                assert history(place) == VERSIONS
                assert place.open().queue().queued == 1
        old.close()

    def test_ten_threads_that_start_together_migrate_once(self, database):
        """The same inside one process."""
        with ThreadPoolExecutor(10) as pool:
            stores = list(pool.map(lambda _: database.open(), range(10)))
        assert history(database) == VERSIONS
        assert stores[9].queue().queued == 0

    def test_a_migration_keeps_what_was_recorded(self, database):
        """A database of an older schema is brought up to date with its rows."""
        database.open().record([new_job(1)])
        later = Migration(len(VERSIONS) + 1, "later", ("ALTER TABLE routing_job ADD COLUMN colour TEXT DEFAULT 'red'",))
        engine = database.engine()
        assert migrate(engine, migrations=(*known(), later)) == later.version
        engine.close()
        assert database.execute("SELECT colour FROM routing_job") == [("red",)]

    def test_jobs_of_before_are_found_by_both_submission_keys(self, database):
        """What waits while the program is replaced is a sibling afterwards; the odd key stood in its payload alone."""
        keys = ["e" + "1" * 31, "o" + "2" * 31]
        engine = database.engine()
        migrate(engine, migrations=known()[:3])
        engine.close()
        for number, told in ((1, {"submission": keys, "cause": "waiting"}), (2, {"text": "\0"}), (3, {})):
            even = f"'{keys[0]}'" if "submission" in told else "NULL"
            database.execute(
                "INSERT INTO routing_job (org_id, idempotency_key, submission_key, lead_id, ordering_key, payload,"
                " status, attempts, max_attempts, next_run_at, created_at)"
                f" VALUES ('{ORG}', 'k{number}', {even}, 'l{number}', 'l{number}', '{json.dumps(told)}',"
                " 'queued', 0, 9, 1, 1)"
            )
        store = database.open()

        assert (
            [one.lead_id for one in store.siblings(keys)] == [one.lead_id for one in store.siblings(keys[1:])] == ["l1"]
        )
        assert [job.submission for job in store.claim("w", limit=9, lease_s=60)] == [Submission(*keys), None, None]

    def test_a_migration_that_fails_leaves_nothing_behind(self, database):
        """Not even its first statements; the next start tries again."""
        broken = Migration(
            len(VERSIONS) + 1, "broken", ("CREATE TABLE half (n INTEGER)", "CREATE TABEL typo (n INTEGER)")
        )
        engine = database.engine()
        with pytest.raises(StoreUnavailable):
            migrate(engine, migrations=(*known(), broken))
        engine.close()
        with pytest.raises((sqlite3.OperationalError, psycopg.errors.UndefinedTable)):
            database.execute("SELECT 1 FROM schema_version")
        with pytest.raises((sqlite3.OperationalError, psycopg.errors.UndefinedTable)):
            database.execute("SELECT 1 FROM half")
        assert database.open().queue().queued == 0

    def test_a_newer_schema_that_breaks_this_program_is_refused_and_left_alone(self, database):
        """Even where later steps only add; the text names both numbers and the remedy."""
        database.open().close()
        database.execute("INSERT INTO schema_version VALUES (98, '0098_splits.breaking', 0), (99, '0099_adds', 0)")
        text = refused(database.url)
        assert f"schema 99, this program knows {len(VERSIONS)}" in text
        assert "newer program" in text
        assert history(database)[-1] == (99, "0099_adds")

    def test_a_newer_schema_that_only_adds_is_worked_with(self, database):
        """What a router writes and reads, on the schema of the version after: a column, a table and an index more."""
        with_schema(database, (*known(), AFTER))
        before = history(database)
        store = database.open()
        store.record([new_job(number) for number in range(3)], position=Position(CHANNEL, b"1"), sweep="first")
        first, second, third = store.claim("w", limit=9, lease_s=60)
        assert len(store.renew([first], lease_s=60)) == 1
        store.end([(first, Done("assigned")), (second, Bury("no")), (third, Release(60, "held: later", "g"))])
        assert store.take_sweep(every_s=300) == "first"
        assert store.revive(second.id)
        assert [job.id for job in store.claim("w", limit=9, lease_s=60)] == [second.id]
        assert store.position(CHANNEL) == Position(CHANNEL, b"1")
        seen = store.queue()
        assert (seen.done, seen.working, seen.held) == (1, 1, 1)
        assert store.forget(older_than_s=-60, limit=9) == 1
        assert history(database) == before
        assert database.execute("SELECT DISTINCT colour FROM routing_job") == [("red",)]

    @pytest.mark.parametrize("knows", range(1, len(VERSIONS)))
    def test_every_version_of_before_starts_on_the_newest_schema(self, database, knows):
        """Beside the newest program, or in its place again; it changes nothing. None of ours so far breaks another."""
        database.open().record([new_job(1)])
        engine = database.engine()
        assert migrate(engine, migrations=known()[:knows]) == len(VERSIONS)
        engine.close()
        assert history(database) == VERSIONS

    def test_a_migration_only_adds_or_says_that_it_breaks(self):
        """What the version before writes and reads stays as it is: the rule that the ones above rest on."""
        promised = {
            found[1]
            for one in known()
            for found in map(re.compile(r"CREATE UNIQUE INDEX (\w+)").match, plain(one))
            if found
        }
        for migration in known():
            fresh = {found[1] for found in map(NEW_TABLE.match, plain(migration)) if found}
            columns = {found[1] for found in map(NEW_COLUMN.match, plain(migration)) if found}
            odd = [text for text in plain(migration) if not adds(text, fresh, columns, promised)]
            assert odd == [] or migration.name.endswith(BREAKING), migration.name

    def test_a_slow_migration_makes_others_wait_without_failing(self, database):
        """F14: for minutes, if need be; whoever waits finds it done, and does nothing again."""
        with_schema(database, known()[:3])
        slow, order = database.engine(), []
        begun, go_on = threading.Event(), threading.Event()

        def migrating(run):
            begun.set()
            assert go_on.wait(60)
            for migration in known()[3:]:
                for statement in migration.statements:
                    run(statement, {})
                run(NOTE, {"version": migration.version, "migration": migration.name})
            order.append("migrated")

        with ThreadPoolExecutor(3) as pool:
            first = pool.submit(slow.exclusively, migrating)
            assert begun.wait(60)
            others = [pool.submit(lambda: (database.open().queue(), order.append("opened"))) for _ in range(2)]
            until_waiting(database, 2)
            go_on.set()
            first.result(60)
            assert [other.result(60)[0].queued for other in others] == [0, 0]
        slow.close()
        assert order == ["migrated", "opened", "opened"]
        assert history(database) == VERSIONS


class TestForeign:
    def test_a_file_of_another_program(self, embedded):
        """Its tables are not mixed with ours."""
        embedded.execute("CREATE TABLE customers (id INTEGER)")
        assert "table customers of another program" in refused(embedded.url)
        assert embedded.execute("SELECT name FROM sqlite_master") == [("customers",)]

    @postgres
    def test_a_schema_with_a_table_of_our_name(self, shared):
        """A PostgreSQL schema may be shared, but not one of our tables' names."""
        shared.execute("CREATE TABLE customers (id INTEGER)")
        shared.execute("CREATE TABLE quarantine (id INTEGER)")
        assert "table quarantine of another program" in refused(shared.url)
        shared.execute("DROP TABLE quarantine")
        assert shared.open().queue().queued == 0

    def test_another_programs_history(self, database):
        """Other migration tools keep a table of the same name."""
        database.execute("CREATE TABLE schema_version (installed_rank INTEGER, version TEXT)")
        database.execute("INSERT INTO schema_version VALUES (1, '7')")
        assert "table schema_version of another program" in refused(database.url)

    def test_an_empty_history_of_another_program(self, database):
        """Even before its first migration."""
        database.execute("CREATE TABLE schema_version (installed_rank INTEGER, version TEXT)")
        assert "table schema_version of another program" in refused(database.url)


@contextmanager
def unprivileged():
    """Root may write everywhere: look at the file system as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


class TestFile:
    def test_no_database(self, embedded):
        """A text file is neither read nor overwritten."""
        embedded.path.write_text("Dear diary, " * 1000)
        assert "is not a readable SQLite database" in refused(embedded.url)
        assert embedded.path.read_text().startswith("Dear diary")

    def test_a_damaged_database(self, embedded):
        """A page of nonsense is told as such, with the remedy."""
        store = embedded.open()
        store.record([new_job(number) for number in range(300)])
        store.close()
        content = bytearray(embedded.path.read_bytes())
        content[100:4096] = b"\xaa" * 3996
        embedded.path.write_bytes(content)
        assert "restore this one from a copy" in refused(embedded.url)

    def test_no_folder(self, tmp_path):
        """The remedy tells how relative and absolute files are written."""
        text = refused(f"sqlite:///{tmp_path}/missing/jobs.db")
        assert f"{tmp_path}/missing" in text
        assert "sqlite:////folder/file.db" in text

    def test_a_folder_instead_of_a_file(self, tmp_path):
        """Named as what it is."""
        assert "is a folder" in refused(f"sqlite:///{tmp_path}")

    def test_a_folder_that_may_not_be_written(self, tmp_path):
        """One text names the file, the remedy and the setting."""
        tmp_path.chmod(0o500)
        try:
            with unprivileged():
                text = refused(f"sqlite:///{tmp_path}/jobs.db")
        finally:
            tmp_path.chmod(0o700)
        assert "cannot be written by this user" in text
        assert f"write access to the folder {tmp_path}" in text

    def test_a_file_that_may_not_be_written(self, embedded):
        """Another user's file, readable as it may be."""
        embedded.open().close()
        embedded.path.chmod(0o444)
        with unprivileged():
            assert "cannot be written by this user" in refused(embedded.url)

    def test_a_relative_file(self, tmp_path, monkeypatch):
        """Three slashes name a file beside the working folder, wherever the program goes afterwards."""
        monkeypatch.chdir(tmp_path)
        store = open_store("sqlite:///jobs.db", org_id=ORG)
        store.close()
        monkeypatch.chdir("/")
        assert store.queue().queued == 0
        store.close()
        assert (tmp_path / "jobs.db").exists()

    def test_a_name_with_signs_of_an_address(self, tmp_path):
        """A file name is taken as it is written."""
        found = Database(f"sqlite:///{tmp_path}/a b%20?c#d.db")
        found.open().close()
        assert (tmp_path / "a b%20?c#d.db").exists()

    @pytest.mark.parametrize(
        "url", ["", "jobs.db", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://jobs.db", "mysql://host/jobs"]
    )
    def test_no_address(self, url):
        """The text shows the forms that an address can have."""
        assert "sqlite:///file.db" in refused(url)


@postgres
class TestServer:
    def test_nobody_listens(self, closed_port):
        """Worth another try: the database may be starting."""
        text = refused(f"postgresql://router:s3cr%40t@127.0.0.1:{closed_port}/jobs", StoreUnavailable)
        assert f"jobs at 127.0.0.1:{closed_port}" in text
        assert "check that it runs" in text
        assert "s3cr" not in text

    def test_no_such_database(self, shared):
        """A person must act, so it is not tried again."""
        assert '"absent" does not exist' in refused(shared.url.rpartition("/")[0] + "/absent")

    def test_a_wrong_password(self, shared):
        """The text names the user and never what was tried (F1)."""
        shared.execute(f"CREATE USER {PASSWORD_USER} PASSWORD 'right'")
        try:
            text = refused(shared.url.replace("router@", f"{PASSWORD_USER}:wr%40ng@"))
            assert f'password authentication failed for user "{PASSWORD_USER}"' in text
            assert "wr@ng" not in text
            assert "wr%40ng" not in text
            same = refused(shared.url.replace("router@", f"{PASSWORD_USER}:{PASSWORD_USER}@"))
            assert PASSWORD_USER not in same
        finally:
            shared.execute(f"DROP USER {PASSWORD_USER}")

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql://u:pa%zzword@h/d",
            "postgresql://u:paword@h:port/d",
            "postgres://[::1/d",
            "postgresql://u:pa@word@h/d",
            "postgresql://u:pa/word@h/d",
        ],
    )
    def test_an_address_that_cannot_be_read(self, url):
        """Signs left unescaped in a password make it part of what is quoted: no text and no cause repeats it (F1)."""
        with pytest.raises(LeadRouterError) as caught:
            open_store(url, org_id=ORG)
        assert "LEAD_ROUTER_DATABASE" in str(caught.value)
        assert "word" not in str(caught.value).replace("password", "")
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None

    def test_a_user_who_may_not_create_tables(self, shared):
        """The remedy is the grant."""
        shared.execute("CREATE USER guest")
        shared.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        try:
            assert "grant CREATE on the schema" in refused(shared.url.replace("router@", "guest@"))
        finally:
            shared.execute("DROP USER guest")

    def test_a_server_that_became_read_only(self, shared):
        """After a failover the old primary refuses to write: told as unavailable, with the remedy."""
        store = shared.open()
        database = shared.url.rpartition("/")[2]
        shared.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        store.close()
        with pytest.raises(StoreUnavailable, match="name the primary server"):
            store.record([new_job(1)])

    @pytest.fixture
    def closed_port(self, postgres_server):
        """A port of this machine that nobody listens at."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]
