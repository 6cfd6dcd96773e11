"""The job database's disk is full while leads arrive: nothing is lost, and it goes on when there is room."""

from __future__ import annotations

import pytest

from support import company
from support.router import until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, promises_kept

resource = pytest.importorskip("resource")

LEADS = 40
SETTLE_S = 60.0


@pytest.mark.skipif(
    not hasattr(resource, "prlimit"), reason="only Linux lets a process be given less room while it runs"
)
def test_a_full_disk_loses_nothing(router_at):
    """A28, F7: no file of the router may grow while leads come: nothing is acknowledged and nothing routed.

    With room again every lead is routed, once, without a restart or a person, and no attempt was used up by it.
    """
    with simulator(scenario=company.scenario()) as org:
        router = router_at(org).start().subscribed()
        form = Form(org)
        form.post(company.lead(0))
        until(lambda: all_owned(org, 1), SETTLE_S, "the first lead with an owner")
        _room(router, (router.folder / "jobs.db-wal").stat().st_size)
        form.post_all([company.lead(number) for number in range(1, LEADS)], together=13)
        router.await_event("step_failed", count=3)
        assert not all_owned(org, 2)
        _room(router, resource.RLIM_INFINITY)
        until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
        promises_kept(org, form.created)
        assert {line["kind"] for line in router.events("step_failed")} == {"StoreUnavailable"}
        jobs = router.run("jobs", "list", "--json").json()
        assert {(job["status"], job["attempts"]) for job in jobs if job["lead_id"] != form.created[0]} == {("done", 1)}
        assert router.stop() == 0


def _room(router, size):
    """From now on no file of the router may be longer."""
    resource.prlimit(router.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
