"""The wire to the org is torn in the middle of answers, and then goes dead: later every lead is routed, once."""

from __future__ import annotations

from support import company
from support.cable import COMMIT, LEAD_TOLD, POLL, cabled
from support.router import routers, until
from support.third_program import Form
from support.verdict import all_owned, promises_kept

SETTLE_S = 60.0
PLACES = (0, 40, 400)  # bytes of an answer that pass: none, a part of its head, a part of its body
EACH = 5


def test_answers_cut_in_the_middle_and_an_org_that_restarts(router_at):
    """A19, B13, C28: answers to commits and polls are cut at every place; then the org's port is shut for a while.

    What was committed without an answer is found in the ledger and not written again; what a poll's answer lost comes
    again. When the org is back, without its sessions and the router's token, all goes on; no job used up an attempt.
    """
    with cabled(scenario=company.scenario()) as wired, routers(router_at(wired.far)) as (router,):
        form, org, cable = Form(wired.org), wired.org, wired.cable
        numbers = iter(range(1_000))

        def leads():
            form.post_all([company.lead(next(numbers)) for _ in range(EACH)], together=EACH)

        for place in PLACES:
            cable.cut(COMMIT, after=place)
            cable.cut(POLL, told=LEAD_TOLD, after=place)
            leads()
            until(lambda: not cable.cuts, SETTLE_S, f"both answers cut after {place} bytes")
        until(lambda: all_owned(org, len(form.created)), SETTLE_S, "all leads with an owner")

        cable.unplug()
        org.control("faults", {"name": "expire_session", "path": "/composite", "body": "query?q="})
        org.control("stream", {"do": "drop_sessions"})
        leads()
        router.await_event("stream_lost", count=len(router.events("stream_lost")) + 1)
        cable.plug(int(org.ready["port"]))
        until(lambda: all_owned(org, len(form.created)), SETTLE_S, "all leads with an owner")
        promises_kept(org, form.created)
        jobs = router.run("jobs", "list", "--json").json()
        assert {(job["status"], job["attempts"]) for job in jobs} == {("done", 1)}
        lost = [line["error"] for line in router.events("outcome_unknown")]
        assert len(lost) >= len(PLACES)
        assert all("broke off" in error for error in lost), lost
        assert router.stop() == 0
