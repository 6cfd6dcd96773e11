"""What no Apex test can see: two transactions at once, rules of an org, jobs behind jobs. AssertionError if it fails.

The program may be the shipped one or a broken copy of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from org_simulator.apex.program import Program, load_texts
from org_simulator.schema import default_metadata
from org_simulator.schema import load as load_schema
from support.apex import need_parser
from support.both_routers import Both
from support.sim_engine import Thread, until_waiting

INSIDE = "In_CRM"
ACTION = "RouteLeadAction"
MEETING_S = 1.0
"""How long the first waits for the second to stand before a lock; without the lock it never does."""


def two_saves_decide_once_each(program: Program) -> None:
    """The second save waits for the group's lock before it decides, so it never decides in vain."""
    with _both(program) as both, _watched(both, meeting=True) as decisions:
        threads = [Thread(lambda who=who: both.post({"Email": f"{who}@buyer.example"})) for who in "ab"]
        assert [thread.code for thread in threads] == ["done", "done"]
        assert sorted(row["Turn__c"] for row in both.ledger()) == [1, 2]  # whichever save came first
        assert len(decisions) == 2


def a_lead_that_is_being_taken_is_waited_for(program: Program) -> None:
    """The router waits for the person who is taking the lead, then leaves it to them; it never decides in vain."""
    with _both(program) as both:
        lead = _waiting(both)
        ann, admin = both.rest_org.refs["ann"], both.org.admin_user_id
        with _watched(both) as decisions, both.org.transaction(admin, auto_assign=False) as person:
            person.triggers = False
            person.update("Lead", lead, {"OwnerId": ann})
            router = Thread(lambda: _route(both, lead))
            until_waiting(both.org, 1)
            person.commit()
            assert router.code == "done"
        assert len(decisions) == 1
        assert both.ledger() == []
        assert both.rest_org.row(lead)["OwnerId"] == ann


def assignment_rules_leave_what_is_written_alone(program: Program) -> None:
    """The org's active assignment rule would give every lead to a queue; the rep that the router chose keeps it."""
    with _both(program) as both:
        lead = _waiting(both)
        assert both.org.assignment_rule is not None
        _route(both, lead)
        assert both.rest_org.row(lead)["OwnerId"] == both.rest_org.refs["ann"]


def a_group_that_stays_locked_leaves_the_lead_to_the_sweep(program: Program) -> None:
    """After ten seconds the router gives up: the lead keeps its owner, shows Queued and why, and is routed later."""
    with _both(program) as both:
        lead = _waiting(both)
        with both.org.transaction(both.org.admin_user_id) as holder:
            holder.update("Round_Robin_Group__c", both.rest_org.refs["emea"], {"Name": "held"})
            router = Thread(lambda: _route(both, lead))
            until_waiting(both.org, 1)
            both.rig.clock.advance(10.1)
            assert router.code == "done"
        found = both.rest_org.row(lead)
        assert (found["Routing_Status__c"], found["Routing_Error__c"]) == ("Queued", "a record stayed locked")
        assert both.ledger() == []
        _route(both, lead)
        assert [row["Turn__c"] for row in both.ledger()] == [1]


def waves_follow_one_another_until_no_lead_waits(program: Program) -> None:
    """More leads than a transaction may route, and than a wave holds: each full wave starts the next, oldest first."""
    with _both(program) as both:
        both.say(Mode__c=INSIDE, Max_Leads__c=1, Wave_Size__c=2)
        leads = both.post(*({"Email": f"b{place}@buyer.example"} for place in range(5)))
        assert {both.rest_org.row(lead)["Routing_Status__c"] for lead in leads} == {"Queued"}
        both.work()
        assert [row["Turn__c"] for row in both.ledger()] == [1, 2, 3, 4, 5]


def beside(program: Program, body: str) -> Program:
    """The program, and a trigger of somebody else, whose body looks at each `lead` that is changed, and at `before`."""
    loop = "for (Lead lead : Trigger.new) { Lead before = Trigger.oldMap.get(lead.Id); " + body + " }"
    source = {"Other.trigger": "trigger Other on Lead(after update) { " + loop + " }"}
    other = load_texts(source, load_schema(default_metadata()), need_parser())
    return replace(program, triggers=[*program.triggers, *other.triggers])


def code_that_throws_for_one_lead_stops_no_other(program: Program) -> None:
    """All leads of the save are refused for it, with the same answer; it is found in either half, and fails alone."""
    thrown = "if (lead.OwnerId != before.OwnerId && lead.Title == 'Old') { String none; none.length(); }"
    with _both(beside(program, thrown)) as both:
        titles = (None, "Old", None, None, "Old", None)
        leads = both.post(*({"Title": each, "Email": f"b{place}@buyer.example"} for place, each in enumerate(titles)))
        shown = [both.rest_org.row(lead)["Routing_Status__c"] for lead in leads]
        assert shown == ["Failed" if each else "Assigned" for each in titles]
        assert sorted(row["Turn__c"] for row in both.ledger()) == [1, 2, 3, 4]


PLAYS: dict[str, Callable[[Program], None]] = {
    play.__name__: play
    for play in (
        two_saves_decide_once_each,
        a_lead_that_is_being_taken_is_waited_for,
        assignment_rules_leave_what_is_written_alone,
        a_group_that_stays_locked_leaves_the_lead_to_the_sweep,
        waves_follow_one_another_until_no_lead_waits,
        code_that_throws_for_one_lead_stops_no_other,
    )
}


def _waiting(both: Both) -> str:
    """A lead that came in while the router inside was off."""
    both.say(Mode__c="Off")
    [lead] = both.post({"Email": "buyer@buyer.example"})
    both.say(Mode__c=INSIDE)
    return lead


def _route(both: Both, lead: str) -> None:
    """The action that flows and buttons call."""
    both.org.automation.invoke_action(both.org.admin_user_id, ACTION, [{"leadId": lead}])


@contextmanager
def _both(program: Program) -> Iterator[Both]:
    with tempfile.TemporaryDirectory(prefix="lead-router-locks-") as folder:
        both = Both(Path(folder), INSIDE, program)
        try:
            yield both
        finally:
            both.rig.close()


@contextmanager
def _watched(both: Both, *, meeting: bool = False) -> Iterator[list[Any]]:
    """One entry for each round of decisions; at a meeting each waits for the other transaction to stand at a lock."""
    [decide] = both.org.automation.program.classes["routingdecider"].methods["decide"]
    plain, rounds = decide.run, []

    def watched(frame: Any) -> Any:
        rounds.append(frame)
        if meeting:
            with suppress(AssertionError):
                until_waiting(both.org, 1, patience_s=MEETING_S)
        return plain(frame)

    decide.run = watched
    try:
        yield rounds
    finally:
        decide.run = plain
