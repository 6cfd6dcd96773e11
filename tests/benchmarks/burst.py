"""One burst: leads that arrive at once in one group, given out by the router or by the loop one writes first."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks.figures import Burst, burst
from lead_router.demo.witness import Witness
from lead_router.jobs import open_store
from lead_router.ports import JobStore
from support.company import scenario
from support.router import Router, environment, routers, until
from support.simulator import Simulator, simulator
from support.third_program import THREADS, Form, log_in

REPS = ("Ann", "Ben", "Cem", "Dia", "Eli")
GROUP = "all"
TOGETHER = 200  # leads per call of the third program, the most that one call takes
SETTLE_S = 120.0
DEFAULTS = {"connect_timeout_s": "5", "read_timeout_s": "30", "lease_s": "120", "poll_s": "0.5"}
UNASSIGNED = {"Sforce-Auto-Assign": "FALSE"}
STATE = f"SELECT Id, Epoch__c, Turn__c FROM Round_Robin_Group__c WHERE Key__c = '{GROUP}'"


def by_router(leads: int, latency_ms: int) -> Burst:
    """`lead-router run` with its default settings, subscribed before the leads come; its calls, and no one else's."""
    with ExitStack() as opened:
        org = opened.enter_context(_org(latency_ms))
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="lead-router-burst-")))
        router = Router(folder, environment(org, "sqlite:///jobs.db", **DEFAULTS))
        opened.enter_context(routers(router))
        router.await_event("leads_swept")
        database = f"sqlite:///{folder / 'jobs.db'}"
        jobs = opened.enter_context(closing(open_store(database, org_id=org.control("state")["org_id"])))
        form = Form(org)
        before = _calls(org)
        own = _post(form, leads)
        until(lambda: _idle(jobs, leads), SETTLE_S, "every lead's job done")
        router.stop()
        return _seen(org, leads, _calls(org) - before - own)


def by_naive_loop(leads: int, latency_ms: int) -> Burst:
    """Three calls per lead with simple-salesforce: read whose turn it is, give the lead away, write the turn.

    It holds no promise: it neither survives a crash between two calls, nor a second copy of itself, nor a person who
    takes a lead meanwhile. It is told the leads' ids and the reps for free, and never has to wait for an event.
    """
    with _org(latency_ms) as org:
        form = Form(org)
        _post(form, leads)
        salesforce = log_in(org, None)
        reps = [row["Id"] for row in org.rows("User") if row["LastName"] in REPS]
        before = _calls(org)
        for lead_id in form.created:
            (state,) = salesforce.query(STATE)["records"]
            epoch, turn = int(state["Epoch__c"] or 0), int(state["Turn__c"] or 0)
            salesforce.Lead.update(lead_id, {"OwnerId": reps[turn % len(reps)]}, headers=UNASSIGNED)
            moved = {"Turn__c": turn + 1, "Expected_Turn__c": f"{epoch}.{turn}"}
            salesforce.Round_Robin_Group__c.update(state["Id"], moved)
        return _seen(org, leads, _calls(org) - before)


def _org(latency_ms: int):
    return simulator("--latency-ms", str(latency_ms), scenario=scenario({GROUP: dict.fromkeys(REPS, 1)}))


def _post(form: Form, leads: int) -> int:
    """All leads at once, each of another buyer; answers how many API calls that took."""
    answers: list[int] = []
    form.salesforce.session.hooks["response"].append(lambda answer, **_: answers.append(answer.status_code))
    buyers = [
        {"LastName": f"Buyer {number}", "Company": "Buyers Ltd", "Email": f"buyer{number}@buyer.example"}
        for number in range(leads)
    ]
    form.post_all(buyers, threads=THREADS, together=TOGETHER)
    return len(answers)


def _calls(org: Simulator) -> int:
    return int(org.control("state")["api_calls"])


def _idle(jobs: JobStore, leads: int) -> bool:
    """Whether all is done; asked of the database, so that waiting costs the org nothing."""
    queue = jobs.queue()
    return queue.done >= leads and queue.queued == queue.working == 0


def _seen(org: Simulator, leads: int, api_calls: int) -> Burst:
    with closing(Witness(org.url)) as witness:
        return burst(witness.lead_changes(), leads, api_calls)
