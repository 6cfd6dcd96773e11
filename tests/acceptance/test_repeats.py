"""What comes twice or three times is given out once: events, and submissions of one buyer."""

from __future__ import annotations

from datetime import datetime

from support import company
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, books, promises_kept, turns_in_order

SETTLE_S = 30.0
WINDOW_S = 600  # the router's default


def test_an_event_delivered_three_times_routes_once(router_at):
    """A10, C10: each event comes twice, and once more when the session is dropped and the replay begins early.

    One job, one turn and one owner per lead all the same.
    """
    with simulator(scenario=company.scenario()) as org, routers(router_at(org)) as (router,):
        form = Form(org)
        org.control("stream", {"arm": "duplicate", "count": 200})
        form.post_all([company.lead(number) for number in range(40)])
        until(lambda: all_owned(org, 40), SETTLE_S, "40 leads with an owner")
        org.control("stream", {"arm": "rewind", "text": "1000"})
        org.control("stream", {"do": "drop_sessions"})
        router.await_event("stream_subscribed", count=2)
        form.post(company.lead(40))
        until(lambda: all_owned(org, 41), SETTLE_S, "the lead after the replay with an owner")
        promises_kept(org, form.created)
        recorded = router.events("events_recorded")
        counted = {name: sum(line[name] for line in recorded) for name in ("jobs", "known")}
        assert counted["jobs"] <= 41  # a sweep may have been first
        assert counted["known"] >= 80, counted
        assert router.stop() == 0


def test_one_submission_is_given_out_once_even_across_a_bucket_boundary(router_at):
    """DESIGN 7: two leads of one form fill take one turn and go to one owner; the second is a Duplicate.

    So it is within one time bucket, on both sides of a bucket's end, and when both come in one transaction; two buckets
    later the same buyer is a new submission.
    """
    with simulator("--manual-clock", scenario=company.scenario()) as org, routers(router_at(org)) as (router,):
        form = Form(org)
        first = form.post(company.lead(1, Email="One@buyer.example"))
        until(lambda: all_owned(org, 1), SETTLE_S, "an owner for the first")
        again = form.post(company.lead(1, Email="one@BUYER.example"))
        until(lambda: all_owned(org, 2), SETTLE_S, "an owner for the second")
        _advance_to_end_of_bucket(org)
        before = form.post(company.lead(3, Email="two@buyer.example"))
        org.control("clock", {"advance_s": 2})
        after = form.post(company.lead(3, Email="two@buyer.example"))
        one, other = form.post_together([company.lead(5, Email="three@buyer.example")] * 2)
        until(lambda: all_owned(org, 6), SETTLE_S, "an owner for both pairs")
        org.control("clock", {"advance_s": 2 * WINDOW_S})
        anew = form.post(company.lead(3, Email="two@buyer.example"))
        until(lambda: all_owned(org, 7), SETTLE_S, "an owner for the new submission")
        seen = books(org)
        for pair in ({first, again}, {before, after}, {one, other}):
            _one_turn_one_owner(seen, pair)
        assert seen.leads[anew]["Routing_Status__c"] == "Assigned"
        assert {group["Key__c"]: int(group["Turn__c"]) for group in seen.groups} == {"north": 0, "south": 4}
        turns_in_order(seen)
        assert router.stop() == 0


def _one_turn_one_owner(seen, pair):
    rows = [row for lead_id in pair for row in seen.rows_of(lead_id)]
    assert sorted(row["Outcome__c"] for row in rows) == ["Assigned", "Duplicate"]
    assert sorted(row["Turn__c"] is None for row in rows) == [False, True]
    assert len({seen.leads[lead_id]["OwnerId"] for lead_id in pair}) == 1
    (follower,) = [lead_id for lead_id in pair if seen.leads[lead_id]["Routing_Status__c"] == "Duplicate"]
    assert {seen.leads[follower]["Routing_Duplicate_Of__c"]} == pair - {follower}


def _advance_to_end_of_bucket(org):
    """One second before a bucket ends."""
    now = datetime.fromisoformat(org.control("state")["now"]).timestamp()
    org.control("clock", {"advance_s": WINDOW_S - now % WINDOW_S - 1})
