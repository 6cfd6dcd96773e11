"""The demo's report: what the org's rows say, counted."""

from __future__ import annotations

import json

import pytest

from lead_router.demo.report import (
    Books,
    Circumstances,
    Latency,
    Share,
    as_json,
    as_text,
    judge,
    kept,
    percentile,
    share_gap_max,
)

AROUND = Circumstances(seed=7, dead=0, crashes=1, waiting_at_crash=12, api_calls=40, took_s=26.2)
GROUPS = ({"Id": "g1", "Name": "EMEA"},)
MEMBERS = (
    {"Id": "m2", "Group__c": "g1", "User__c": "005b", "Weight__c": 1, "Sort_Order__c": 2},
    {"Id": "m1", "Group__c": "g1", "User__c": "005a", "Weight__c": 2, "Sort_Order__c": 1},
)
USERS = ({"Id": "005a", "LastName": "Ada"}, {"Id": "005b", "LastName": "Bo"})


def lead(number: int, owner: str = "005a", email: str | None = None, status: str = "Assigned"):
    return {
        "Id": f"lead{number}",
        "OwnerId": owner,
        "Email": email or f"{number}@buyer.example",
        "Routing_Status__c": status,
    }


def turn(number: int, lead_number: int, member: str):
    return {"Lead__c": f"lead{lead_number}", "Turn__c": number, "Member__c": member, "Outcome__c": "Assigned"}


def follow(lead_number: int):
    return {"Lead__c": f"lead{lead_number}", "Turn__c": None, "Member__c": None, "Outcome__c": "Duplicate"}


def books(leads, ledger):
    return Books(leads, ledger, GROUPS, MEMBERS, USERS)


def report(leads, ledger, around=AROUND):
    return judge(books(leads, ledger), [100], around)


GOOD_LEADS = (lead(1), lead(2, "005b"), lead(3), lead(4, email="1@BUYER.example"))
GOOD_LEDGER = (turn(1, 1, "m1"), turn(2, 2, "m2"), turn(3, 3, "m1"), follow(4))


def test_a_good_play_is_told_whole():
    """Turns are counted by rep, a lead that followed uses none, and fair shares are the weights' parts of the turns."""
    seen = report(GOOD_LEADS, GOOD_LEDGER)

    assert (seen.leads, seen.routed, seen.followed, seen.twice, seen.lost, seen.held) == (4, 4, 1, 0, 0, 0)
    assert seen.shares == (Share("EMEA", "Ada", 2, 2, 2.0), Share("EMEA", "Bo", 1, 1, 1.0))
    assert kept(seen)


def test_a_lead_with_two_ledger_rows_was_routed_twice():
    """One lead, one ledger row: a second one is counted, whatever its outcome."""
    seen = report(GOOD_LEADS, (*GOOD_LEDGER, follow(1)))

    assert seen.twice == 1
    assert not kept(seen)


def test_a_buyer_who_used_two_turns_was_routed_twice():
    """Two leads of one submission may have one turn between them, however the address is spelt."""
    seen = report(GOOD_LEADS, (*GOOD_LEDGER[:3], turn(4, 4, "m1")))

    assert seen.twice == 1
    assert not kept(seen)


def test_a_lead_in_a_queue_is_lost():
    """A lead whose owner is no person is not routed; if the router holds it, that is told as well."""
    seen = report((*GOOD_LEADS, lead(5, "00Gq", status="Held"), lead(6, "00Gq")), GOOD_LEDGER)

    assert (seen.leads, seen.routed, seen.lost, seen.held) == (6, 4, 2, 1)
    assert not kept(seen)


def test_a_dead_job_breaks_the_promise():
    """A dead job is told as it was counted."""
    dead = Circumstances(seed=7, dead=1, crashes=1, waiting_at_crash=0, api_calls=1, took_s=1)

    assert not kept(report(GOOD_LEADS, GOOD_LEDGER, dead))


@pytest.mark.parametrize(("bo", "gap", "good"), [(0, 1.0, True), (2, 1.0, True), (4, 2.0, False)])
def test_the_largest_distance_from_the_fair_share_is_at_most_one_lead(bo, gap, good):
    """With weights 2 and 1 over three (or six) turns, one lead too many or too few still is fair; two are not."""
    turns = 6 if bo == 4 else 3
    leads = tuple(lead(number) for number in range(turns))
    ledger = tuple(turn(number + 1, number, "m2" if number < bo else "m1") for number in range(turns))
    seen = report(leads, ledger)

    assert share_gap_max(seen) == pytest.approx(gap)
    assert kept(seen) is good


def test_percentiles_are_values_that_occurred():
    """Nearest rank: of 1 to 100, the 95th percentile is 95 and the greatest 100; of nothing it is 0."""
    assert [percentile(range(1, 101), part) for part in (50, 95, 100)] == [50, 95, 100]
    assert [percentile([4], part) for part in (50, 95, 100)] == [4, 4, 4]
    assert percentile([], 50) == 0
    assert judge(books((), ()), [1, 2, 30], AROUND).latency == Latency(2, 30, 30)


def test_the_object_for_machines_has_exactly_the_promised_members():
    """One line, one object, members in the documented order."""
    told = as_json(report(GOOD_LEADS, GOOD_LEDGER))

    assert "\n" not in told
    assert list(json.loads(told).items()) == [
        ("seed", 7),
        ("leads", 4),
        ("routed", 4),
        ("twice", 0),
        ("lost", 0),
        ("held", 0),
        ("dead", 0),
        ("share_gap_max", 0.0),
        ("latency_ms", {"p50": 100, "p95": 100, "max": 100}),
        ("api_calls", 40),
        ("crashes", 1),
    ]


def test_a_person_sees_each_rep_and_the_verdict():
    """Every rep stands beside its share, and the last line says whether the promises held."""
    good = as_text(report(GOOD_LEADS, GOOD_LEDGER)).splitlines()
    bad = as_text(report((*GOOD_LEADS, lead(5, "00Gq")), GOOD_LEDGER)).splitlines()

    assert "EMEA            Ada          2       2        2.00    +0.00" in good
    assert good[-1].startswith("Every lead has one owner")
    assert bad[-1].startswith("A promise was broken")
