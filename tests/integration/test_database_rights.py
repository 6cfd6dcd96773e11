"""Rights that are taken from the router's user in PostgreSQL: it waits for a person, says so and loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from structlog.testing import capture_logs

from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs import open_store
from lead_router.loops import runner as runners
from lead_router.loops.runner import FAULTS_MAX
from lead_router.loops.vitals import Health
from support.databases import ORG, Database, new_job
from support.life import Life
from support.worker_rig import Rig

pytestmark = pytest.mark.postgres


class Clerk:
    """A user who owns the tables that its stores make, and whose rights on them a person takes and gives back."""

    NAME = "clerk"

    def __init__(self, shared: Database) -> None:
        self._shared = shared
        self.url = shared.url.replace("router@", f"{self.NAME}@")
        shared.execute(f"CREATE USER {self.NAME}")
        shared.execute(f"GRANT ALL ON SCHEMA public TO {self.NAME}")

    def revoke(self, right: str, table: str) -> None:
        self._shared.execute(f"REVOKE {right} ON {table} FROM {self.NAME}")

    def grant(self, right: str, table: str) -> None:
        self._shared.execute(f"GRANT {right} ON {table} TO {self.NAME}")

    def drop(self) -> None:
        self._shared.execute(
            f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{self.NAME}'"
        )
        self._shared.execute(f"DROP OWNED BY {self.NAME} CASCADE")
        self._shared.execute(f"DROP USER {self.NAME}")


@pytest.fixture
def clerk(shared: Database) -> Iterator[Clerk]:
    made = Clerk(shared)
    yield made
    made.drop()


def test_a_right_that_lacks_ends_a_start_and_is_waited_for_in_a_run(clerk: Clerk):
    """One sentence names the setting, the table and the remedy; the same store goes on once the right is granted."""
    with closing(open_store(clerk.url, org_id=ORG)) as first, closing(_running(clerk)) as store:
        clerk.revoke("INSERT", "routing_job")
        with pytest.raises(StoreUnavailable) as waits:
            store.record([new_job(1)])
        with pytest.raises(Misconfigured, match=r"LEAD_ROUTER_DATABASE.*grant CREATE on the schema"):
            first.record([new_job(1)])
        clerk.revoke("SELECT", "schema_version")
        with pytest.raises(StoreUnavailable, match=r"LEAD_ROUTER_DATABASE.* a right on schema_version"):
            _running(clerk)
        clerk.grant("SELECT", "schema_version")
        clerk.grant("INSERT", "routing_job")
        store.record([new_job(1)])
        queued = store.queue().queued

    assert "(LEAD_ROUTER_DATABASE) refuses this user a right on routing_job: nothing is lost" in str(waits.value)
    assert "grant it all rights on the tables of that database" in str(waits.value)
    assert queued == 1


@pytest.mark.parametrize(
    ("right", "table", "part"),
    [
        ("UPDATE", "routing_job", "worker-1"),
        ("SELECT", "routing_job", "worker-1"),
        ("INSERT", "routing_job", "intake"),
        ("UPDATE", "listener", "intake"),
    ],
)
def test_a_right_taken_from_under_a_running_router(clerk: Clerk, tmp_path, monkeypatch, right, table, part):
    """F7, C28: live stays green however often it is refused, ready says why, no attempt is used up, nothing is lost."""
    monkeypatch.setattr(runners, "PAUSE_CAP_S", 0.001)
    rig = Rig(tmp_path, database=clerk.url)
    life = Life(rig)
    life.start()
    try:
        life.leads(1)
        life.until(lambda: {job.status for job in rig.jobs()} == {"done"})
        with capture_logs() as lines:
            clerk.revoke(right, table)
            unheard = rig.rest_org.lead()
            life.until(lambda: [line.get("loop") for line in lines].count(part) > FAULTS_MAX)
            health = _once(life, lambda health: not health.ready)
            clerk.grant(right, table)
            _once(life, lambda health: health.ready)
            life.write(rig.jobs)  # its connection was given up, too
            life.until(lambda: rig.owner(unheard) == "Bob" and {job.status for job in rig.jobs()} == {"done"})
        attempts = {job.attempts for job in rig.jobs()}
    finally:
        life.stop()
        rig.close()

    reasons = {fault.part: fault.reason for fault in health.waiting}
    assert health.live
    assert f"(LEAD_ROUTER_DATABASE) refuses this user a right on {table}: nothing is lost" in reasons[part]
    assert {line["kind"] for line in lines if line["event"] == "step_failed"} == {"StoreUnavailable"}
    assert (attempts, len(rig.ledger()), life.codes) == ({1}, 2, [0])


def _once(life: Life, met: Callable[[Health], bool]) -> Health:
    """The first health that is so."""
    seen: list[Health] = []

    def looked() -> bool:
        seen.append(life.vitals.health())
        return met(seen[-1])

    life.until(looked)
    return seen[-1]


def _running(clerk: Clerk):
    """A store of a process whose start has opened one before."""
    return open_store(clerk.url, org_id=ORG, admitted=True)
