"""Both routers, inside Salesforce and outside: the same decisions in the same words, and no turn given out twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from lead_router.core.model import Cause
from org_simulator.apex.program import Program
from support.both_play import INSIDE, OUTSIDE, Play, both_ways
from support.both_routers import Both, shipped_apex
from support.hearing import Life
from support.inside_plays import PLAYS
from support.sim_engine import Thread

pytestmark = pytest.mark.apex


def comes_back(play: Play) -> None:
    """To the other rep; to the first again, once both had it; and to who is left alone."""
    play.arrive(2)
    for _ in range(2):
        play.change(0, Cause.WAITING, OwnerId=play.org.queue("Lead_Intake"))
    play.org.update(play.member("bob_emea"), Active__c=False)
    play.change(0, Cause.WAITING, OwnerId=play.org.queue("Lead_Intake"))


def is_sent_twice(play: Play) -> None:
    play.arrive(3, Email="one@buyer.example")


def meets_caps_and_tastes(play: Play) -> None:
    play.org.update(play.member("ann_emea"), Daily_Cap__c=2, Accepts__c="Country = 'FR'")
    play.org.update(play.member("bob_emea"), Weight__c=3, Open_Lead_Cap__c=4)
    for country in ("FR", "BE", "FR", "FR", "BE"):
        play.arrive(1, Country=country)


def stands_behind_a_group_that_is_off(play: Play) -> None:
    emea = play.member("emea")
    alps = play.org.insert("Round_Robin_Group__c", Name="Alps", Key__c="alps", Mode__c="Off", Fallback_Group__c=emea)
    rule = {"Name": "Alps", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Country = 'AT'"}
    play.org.insert("Routing_Rule__c", **rule, Target_Group__c=alps)
    play.arrive(1, Country="AT")
    play.both.rig.clock.advance(60)
    play.arrive(2)


def is_sent_again(play: Play) -> None:
    """While nobody is there for the first, a minute later; who has no e-mail is somebody else."""
    play.arrive(1)
    for name in REPS:
        play.org.update(play.member(name), Active__c=False)
    play.arrive(1, Email="one@buyer.example")
    play.both.rig.clock.advance(60)
    play.arrive(1, Email="ONE@buyer.example")
    play.arrive(1, Email=None, Phone="+33 1 23 45 67 89")


def is_sent_again_and_both_are_given_out(play: Play) -> None:
    is_sent_again(play)
    for name in REPS:
        play.org.update(play.member(name), Active__c=True)
    play.both.rig.clock.advance(300)
    play.look()


def is_sent_again_for_a_group_that_can(play: Play) -> None:
    """The first is of a group that is off: the second waits for it, holding nobody up, and then goes its own way."""
    alps = play.org.insert("Round_Robin_Group__c", Name="Alps", Key__c="alps", Mode__c="Off")
    rule = {"Name": "Alps", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Country = 'AT'"}
    play.org.insert("Routing_Rule__c", **rule, Target_Group__c=alps)
    play.arrive(1, Email="one@buyer.example", Country="AT")
    play.both.rig.clock.advance(60)
    play.arrive(1, Email="one@buyer.example")
    play.arrive(1)
    play.both.rig.clock.advance(900)
    play.look()
    play.org.update(alps, Mode__c="Live")
    play.both.rig.clock.advance(900)
    play.look()


def matches_another_group_though_its_own_has_another_key(play: Play) -> None:
    _let_hot_leads_change(play)
    play.arrive(1)
    play.org.update(play.member("emea"), Key__c="europe")
    play.change(0, Cause.CHANGED, Rating="Hot")


def matches_another_group_than_its_manager(play: Play) -> None:
    """Nobody of the group could have it, so that the lead shows no group."""
    _let_hot_leads_change(play)
    dan = play.org.insert("User", LastName="Dan", Username="dan@sim.example")
    play.org.update(play.member("emea"), Manager__c=dan)
    for name in REPS:
        play.org.update(play.member(name), Active__c=False)
    play.arrive(1)
    play.change(0, Cause.CHANGED, Rating="Hot")


def _let_hot_leads_change(play: Play) -> None:
    play.org.update(play.member("emea"), Reroute__c="Reroute")
    hot = play.org.insert("Round_Robin_Group__c", Name="Hot", Key__c="hot", Mode__c="Live")
    cem = play.org.insert("User", LastName="Cem", Username="cem@sim.example")
    play.org.insert("Round_Robin_Member__c", Group__c=hot, User__c=cem)
    rule = {"Name": "Hot", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Rating = 'Hot'"}
    play.org.insert("Routing_Rule__c", **rule, Target_Group__c=hot)


NEW = "Open - Not Contacted"
REPS = ("ann_emea", "bob_emea")
STORIES = (
    comes_back,
    is_sent_twice,
    is_sent_again,
    is_sent_again_and_both_are_given_out,
    is_sent_again_for_a_group_that_can,
    meets_caps_and_tastes,
    stands_behind_a_group_that_is_off,
    matches_another_group_though_its_own_has_another_key,
    matches_another_group_than_its_manager,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_both_routers_tell_the_same_story(tmp_path, story: Callable[[Play], None]):
    """A lead comes back or is sent twice, reps have caps and tastes, a group is off whose fallback group is live: who
    gets each lead, in which words, and where the rotation stands. So it is inside, too, where every dispute is settled
    against the routers. What changes reps and groups is told in test_rotation_edges.
    """
    inside, outside, hard = both_ways(tmp_path, story)
    assert inside == outside == hard
    assert inside["ledger"]


def waits_by_its_status(play: Play) -> None:
    """A web user owns them: a first lead while nobody is there, then a newer one."""
    web = play.org.insert("User", LastName="Web", Username="web@sim.example")
    for name in REPS:
        play.org.update(play.member(name), Active__c=False)
    play.arrive(1, OwnerId=web, Status=NEW)
    for name in REPS:
        play.org.update(play.member(name), Active__c=True)
    play.both.rig.clock.advance(60)
    play.arrive(1, OwnerId=web, Status=NEW)
    play.both.rig.clock.advance(900)
    play.look()


def waits_by_its_status_for_its_first(play: Play) -> None:
    web = play.org.insert("User", LastName="Web", Username="web@sim.example")
    for name in REPS:
        play.org.update(play.member(name), Active__c=False)
    play.arrive(1, OwnerId=web, Status=NEW, Email="one@buyer.example")
    for name in REPS:
        play.org.update(play.member(name), Active__c=True)
    play.both.rig.clock.advance(60)
    play.arrive(1, OwnerId=web, Status=NEW, Email="one@buyer.example")
    play.both.rig.clock.advance(900)
    play.look()


def is_taken_when_it_was_returned_and_held(play: Play) -> None:
    play.arrive(1, Status=NEW)
    for name in REPS:
        play.org.update(play.member(name), Active__c=False)
    play.change(0, Cause.WAITING, OwnerId=play.org.queue("Lead_Intake"))
    play.both.rig.clock.advance(5)
    play.both.patch(play.leads[0], OwnerId=play.member("ann"))
    play.both.rig.clock.advance(900)
    play.look()


@pytest.mark.parametrize(
    "story",
    [waits_by_its_status, waits_by_its_status_for_its_first, is_taken_when_it_was_returned_and_held],
    ids=lambda story: story.__name__,
)
def test_both_routers_tell_the_same_story_of_leads_that_wait_by_their_status(tmp_path, story: Callable[[Play], None]):
    """P68: whoever owns them, they are not overtaken, and second leads of a submission wait for them; one that was
    routed before and is taken by somebody is held no more, though its status is that of a new one.
    """
    inside, outside, hard = both_ways(tmp_path, story, statuses=(NEW,))
    assert inside == outside == hard
    assert {lead[1] for lead in inside["leads"]} <= {"Assigned", "Duplicate", None}


def test_both_routers_at_once_give_each_turn_and_each_lead_once(tmp_path):
    """Two people save leads, which the trigger routes, while the router outside routes others and hears of all."""
    both = Both(tmp_path, OUTSIDE)
    waiting = both.post(*({"Email": f"w{place}@buyer.example"} for place in range(12)))
    both.say(Mode__c=INSIDE, Guard__c=True)
    both.rig.told(*waiting)
    found: list[str] = []

    def save(who: str) -> None:
        for part in range(3):
            found.extend(both.post(*({"Email": f"{who}{part}{place}@buyer.example"} for place in range(4))))

    threads = [Thread(lambda who=who: save(who)) for who in "ab"]
    both.rig.drain()
    assert [thread.code for thread in threads] == ["done", "done"]
    both.rig.told(*found)
    both.rig.clock.advance(2)  # a batch whose turn the others took was put back for a moment
    both.rig.drain()
    both.work()
    rows = both.ledger()
    leads = [*waiting, *found]
    assert sorted(row["Lead__c"] for row in rows) == sorted(leads)
    assert sorted(row["Turn__c"] for row in rows) == list(range(1, len(leads) + 1))
    assert {row["Routing_Status__c"] for row in map(both.rest_org.row, leads)} == {"Assigned"}
    ann, bob = (both.rest_org.refs[name] for name in ("ann", "bob"))
    assert Counter(row["Assigned_To__c"] for row in rows) == {ann: len(leads) // 2, bob: len(leads) // 2}


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS)
def test_what_the_router_inside_writes_and_waits_for(play: Callable[[Program], None]):
    """Two saves at once, or a person who takes a lead while it is routed: nobody decides in vain; and assignment rules
    leave alone what was routed.
    """
    play(shipped_apex())


def test_who_saved_a_lead_that_the_router_inside_gave_overrode_nobody(tmp_path):
    """D7, P61: an administrator returns it and the trigger gives it to Bob within that save; Bob hands it on. The
    router outside, which heard of all that late, shows no override: neither of them changed what the other wanted.
    """
    both = Both(tmp_path, OUTSIDE)
    life, (lead,) = Life(both.rig), both.post({"Email": "one@buyer.example"})
    life.goes_on()
    both.say(Mode__c=INSIDE)
    both.patch(lead, OwnerId=both.rest_org.queue("Lead_Intake"))
    ann, bob = (both.rest_org.refs[name] for name in ("ann", "bob"))
    assert both.rest_org.row(lead)["OwnerId"] == bob
    with both.org.transaction(bob, auto_assign=False) as opened:
        opened.update("Lead", lead, {"OwnerId": ann})
    with capture_logs() as lines:
        life.goes_on()

    assert [line["user"] for line in lines if line["event"] == "owner_overridden"] == []
    assert both.rest_org.row(lead)["Routing_Overridden_By__c"] is None
    both.rig.close()
