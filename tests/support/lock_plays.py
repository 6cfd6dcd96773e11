"""What no Apex test can see: two transactions at once, and rules that an org has. AssertionError if a promise breaks.

The program may be the shipped one or a broken copy of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from org_simulator.apex.program import Program
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
        both.say(Mode__c="Off")
        [lead] = both.post({"Email": "buyer@buyer.example"})
        both.say(Mode__c=INSIDE)
        ann, admin = both.rest_org.refs["ann"], both.org.admin_user_id
        with _watched(both) as decisions, both.org.transaction(admin, auto_assign=False) as person:
            person.triggers = False
            person.update("Lead", lead, {"OwnerId": ann})
            router = Thread(lambda: both.org.automation.invoke_action(admin, ACTION, [{"leadId": lead}]))
            until_waiting(both.org, 1)
            person.commit()
            assert router.code == "done"
        assert len(decisions) == 1
        assert both.ledger() == []
        assert both.rest_org.row(lead)["OwnerId"] == ann


def assignment_rules_leave_what_is_written_alone(program: Program) -> None:
    """The org's active assignment rule would give every lead to a queue; the rep that the router chose keeps it."""
    with _both(program) as both:
        [lead] = both.post({"Email": "buyer@buyer.example"})
        assert both.org.assignment_rule is not None
        assert both.rest_org.row(lead)["OwnerId"] == both.rest_org.refs["ann"]


PLAYS: dict[str, Callable[[Program], None]] = {
    play.__name__: play
    for play in (
        two_saves_decide_once_each,
        a_lead_that_is_being_taken_is_waited_for,
        assignment_rules_leave_what_is_written_alone,
    )
}


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
