"""A copy of the job store, by the runbook's commands: taken under load, put back too old, it costs no lead."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from support import company
from support.router import Router, until
from support.runbook import commands
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, books, routed_once, turns_in_order

SETTLE_S = 30.0
EARLY, LATER, MEANWHILE = 120, 30, 10
SHELL_S = 60
STATE, KEPT = "/var/lib/lead-router", "/var/backups/lead-router"
ROLE = "lead_router"
BY_CRON = "By cron, as the router's user"


@dataclass
class Host:
    """Where the runbook's commands are run: its folders lie in the test's, its service is the test's router."""

    router: Router
    copies: Path
    tools: dict[str, str]

    def run(self, lines, typed=""):
        """Each line by a shell, and the service's stop by the router's; the first that fails is told."""
        for line in lines:
            if line == "systemctl stop lead-router":
                assert self.router.stop() == 0
                continue
            ended = subprocess.run(
                ["/bin/sh", "-c", self._here(line)],
                cwd=self.router.folder,
                env={**self.router.settings, **self.tools},
                input=typed,
                capture_output=True,
                text=True,
                timeout=SHELL_S,
                check=False,
            )
            assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"

    def _here(self, line):
        """The same line with this host's program, folders and server."""
        own = {
            r"(\S+/)?lead-router (--env-file \S+ )?(?=backup )": f"{sys.executable} -m lead_router ",
            STATE: str(self.router.folder),
            KEPT: str(self.copies),
            "-o lead-router -g lead-router": f"-o {os.geteuid()} -g {os.getegid()}",
            "@HOST/": f"@127.0.0.1:{self.tools.get('PGPORT')}/",
        }
        for there, here in own.items():
            line = re.sub(there, here, line)
        return line


@dataclass(frozen=True)
class Engine:
    """What the runbook says of one engine, by the words that stand before its commands."""

    kept: str
    back: str
    cron: int


SQLITE = Engine("A copy of an SQLite file", "Put back, as root:", 0)
POSTGRES = Engine("A copy of a PostgreSQL database", "Put back, as the server's superuser", 1)


@pytest.fixture
def server(postgres_server):
    """The tests' server, without what the runbook's names leave there."""
    yield postgres_server
    with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as connection:
        for name in (ROLE, f"{ROLE}_aside"):
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"DROP ROLE IF EXISTS {ROLE}")


@pytest.fixture
def copies(tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder


def test_an_older_copy_of_a_file_put_back_gives_no_lead_out_twice_and_loses_none(router_at, copies):
    """By `lead-router backup`, whole and of one moment, beside a router that routes."""
    with simulator(scenario=company.scenario()) as org:
        host = Host(router_at(org, database="sqlite:///lead-router.db"), copies, {})
        _kept_and_put_back(org, host, SQLITE)
        assert (copies / "NAME.db").stat().st_mode & 0o077 == 0


@pytest.mark.postgres
def test_an_older_copy_of_a_database_put_back_gives_no_lead_out_twice_and_loses_none(router_at, copies, server):
    """By PostgreSQL's own programs, as the role that owns the database; made as the runbook has it made."""
    tools = server.tools
    made = [
        line for line in commands("PostgreSQL needs a database of the router's own") if line.startswith("createuser")
    ]
    with simulator(scenario=company.scenario()) as org:
        url = f"postgresql://{ROLE}@127.0.0.1:{tools['PGPORT']}/{ROLE}"
        host = Host(router_at(org, database=url), copies, {**os.environ, **tools})
        host.run([f"setsid -w sh -c '{line}'" for line in made], typed="secret\nsecret\n")
        _kept_and_put_back(org, host, POSTGRES)


def _kept_and_put_back(org, host, engine):
    """The copy knows neither what was routed since nor how far the stream was heard; the ledger does.

    Its replay position is older, so all those events come again and do nothing; leads that came while no router ran are
    routed.
    """
    router = host.router.start().subscribed()
    form = Form(org)
    leads = form.post_all([company.lead(number) for number in range(EARLY)])
    until(lambda: _jobs(router), SETTLE_S, "one that is known of")
    host.run(commands(engine.kept))
    host.run([commands(BY_CRON)[engine.cron].partition("* * * ")[2].replace(r"\%", "%")])
    until(lambda: all_owned(org, EARLY), SETTLE_S, "the early leads")
    leads += form.post_all([company.lead(number) for number in range(EARLY, EARLY + LATER)])
    until(lambda: all_owned(org, EARLY + LATER), SETTLE_S, "the later ones")
    back = commands(engine.back)
    if not back[0].startswith("systemctl"):
        assert router.stop() == 0
    total = EARLY + LATER + MEANWHILE
    leads += form.post_all([company.lead(number) for number in range(EARLY + LATER, total)])
    host.run(back)
    before = _jobs(router)
    router.start().started()
    until(lambda: all_owned(org, total), SETTLE_S, "all leads with an owner")
    until(lambda: _open_jobs(router) == 0, SETTLE_S, "no job that waits")
    seen = books(org)
    assert router.stop() == 0

    assert len(list(host.copies.iterdir())) == 2
    assert 0 < before < EARLY + LATER
    routed_once(seen, leads)
    turns_in_order(seen)


def _jobs(router):
    return len(router.run("jobs", "list", "--limit", "10000", "--json").json())


def _open_jobs(router):
    queue = router.run("status", "--json").json()["queue"]
    return queue["queued"] + queue["working"]
