"""A copy of the job store: taken under load, and put back a day too old, it costs no lead and gives none out twice."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

from support import company
from support.router import until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, books, routed_once, turns_in_order

SETTLE_S = 30.0
EARLY, LATER, MEANWHILE = 120, 30, 10


def test_an_older_copy_put_back_gives_no_lead_out_twice_and_loses_none(router_at):
    """The copy knows neither what was routed since nor how far the stream was heard; the ledger does.

    Its replay position is older, so all those events come again and do nothing; leads that came while no router ran are
    routed. A copy is taken while leads are being routed, whole and of one moment.
    """
    with simulator(scenario=company.scenario()) as org:
        router = router_at(org).start().subscribed()
        form, copy = Form(org), router.folder / "copy.db"
        leads = form.post_all([company.lead(number) for number in range(EARLY)])
        taken = router.run("backup", str(copy), "--json")
        early = sum(1 for lead in org.rows("Lead") if lead["Routing_Status__c"] == "Assigned")
        until(lambda: all_owned(org, EARLY), SETTLE_S, "the early leads")
        leads += form.post_all([company.lead(number) for number in range(EARLY, EARLY + LATER)])
        until(lambda: all_owned(org, EARLY + LATER), SETTLE_S, "the later ones")
        assert router.stop() == 0
        total = EARLY + LATER + MEANWHILE
        leads += form.post_all([company.lead(number) for number in range(EARLY + LATER, total)])
        for name in ("jobs.db", "jobs.db-wal", "jobs.db-shm"):
            (router.folder / name).unlink(missing_ok=True)
        shutil.copy(copy, router.folder / "jobs.db")
        router.start().started()
        until(lambda: all_owned(org, total), SETTLE_S, "all leads with an owner")
        until(lambda: _open_jobs(router) == 0, SETTLE_S, "no job that waits")
        seen = books(org)
        assert router.stop() == 0

    assert (taken.code, taken.json()["path"]) == (0, str(copy))
    assert early <= EARLY
    with closing(sqlite3.connect(copy)) as file:
        (kept,) = file.execute("SELECT count(*) FROM routing_job").fetchone()
    assert kept < total
    routed_once(seen, leads)
    turns_in_order(seen)


def _open_jobs(router):
    queue = router.run("status", "--json").json()["queue"]
    return queue["queued"] + queue["working"]
