"""A login that PostgreSQL refuses while a router runs: it waits for a person, says so, loses nothing and goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs import open_store
from lead_router.loops import runner as runners
from lead_router.loops.runner import FAULTS_MAX
from support.databases import ORG, Database, new_job
from support.life import Life
from support.postgres import PASSWORD_USER
from support.worker_rig import Rig

pytestmark = pytest.mark.postgres


class Keyholder:
    """A user with a password, which a person changes and sets back; `url` holds the first one."""

    def __init__(self, shared: Database) -> None:
        self._shared = shared
        self.url = shared.url.replace("router@", f"{PASSWORD_USER}:fir%40st@")
        shared.execute(f"CREATE USER {PASSWORD_USER} PASSWORD 'fir@st'")
        shared.execute(f"GRANT ALL ON SCHEMA public TO {PASSWORD_USER}")

    def change(self) -> None:
        """Another password, and the server's connections begin anew."""
        self._shared.execute(f"ALTER USER {PASSWORD_USER} PASSWORD 's3cond'")
        self._cut()

    def set_back(self) -> None:
        self._shared.execute(f"ALTER USER {PASSWORD_USER} PASSWORD 'fir@st'")

    def drop(self) -> None:
        self._cut()
        self._shared.execute(f"DROP OWNED BY {PASSWORD_USER} CASCADE")
        self._shared.execute(f"DROP USER {PASSWORD_USER}")

    def _cut(self) -> None:
        self._shared.execute(
            f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{PASSWORD_USER}'"
        )


@pytest.fixture
def keyholder(shared: Database) -> Iterator[Keyholder]:
    made = Keyholder(shared)
    yield made
    made.drop()


def test_a_store_that_was_let_in_waits_for_its_password(keyholder: Keyholder):
    """One sentence names the setting and the remedy, no password; a start ends by it, a second store of a run waits."""
    with closing(open_store(keyholder.url, org_id=ORG)) as store:
        store.record([new_job(1)])
        keyholder.change()
        with pytest.raises(StoreUnavailable, match="did not answer"):
            store.queue()
        with pytest.raises(StoreUnavailable) as waits:
            store.queue()
        with pytest.raises(Misconfigured, match="LEAD_ROUTER_DATABASE") as ends:
            open_store(keyholder.url, org_id=ORG)
        with pytest.raises(StoreUnavailable) as same:
            open_store(keyholder.url, org_id=ORG, admitted=True)
        keyholder.set_back()
        queued = store.queue().queued

    assert "(LEAD_ROUTER_DATABASE) refuses the login that it accepted before" in str(waits.value)
    assert "or change the setting and restart this router: connection failed" in str(waits.value)
    assert "accepted before" not in str(ends.value)
    assert not any(secret in str(waits.value) for secret in ("fir@st", "fir%40st", "s3cond"))
    assert (str(same.value), queued) == (str(waits.value), 1)


def test_a_password_changed_under_a_running_router(keyholder: Keyholder, tmp_path, monkeypatch):
    """F7, C28: live stays green however often it is refused, ready says why, no attempt is used up, nothing is lost."""
    monkeypatch.setattr(runners, "PAUSE_CAP_S", 0.001)
    rig = Rig(tmp_path, database=keyholder.url)
    life, parts = Life(rig), ("intake", "worker-1", "upkeep")
    life.start()
    try:
        life.leads(1)
        life.until(lambda: [job.status for job in rig.jobs()] == ["done"])
        keyholder.change()
        unheard = rig.rest_org.lead()
        life.until(lambda: all(life.vitals.pulse(part).last.faults > FAULTS_MAX for part in parts))
        health = life.vitals.health()
        keyholder.set_back()
        life.until(lambda: life.vitals.health().ready)
        life.write(rig.jobs)  # its connection was cut, too
        life.until(lambda: rig.owner(unheard) == "Bob" and {job.status for job in rig.jobs()} == {"done"})
        attempts = {job.attempts for job in rig.jobs()}
    finally:
        life.stop()
        rig.close()

    assert (health.live, health.ready, {fault.part for fault in health.waiting}) == (True, False, set(parts))
    assert all("(LEAD_ROUTER_DATABASE) refuses the login" in fault.reason for fault in health.waiting)
    assert (attempts, len(rig.ledger()), life.codes) == ({1}, 2, [0])
