"""Leads under conflict: many at once, many routers, a write that is refused in any of its parts, a merge meanwhile."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from lead_router.errors import RowLocked
from lead_router.ports import Committed, Refused
from org_simulator.failures import Failure
from org_simulator.switches import Switches
from support.worker_rig import Rig

TRIES_MAX = 400
CLAIMS = 5


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Ann and Bob for all leads, under the documented and under the worst reading of Salesforce."""
    made = Rig(tmp_path, switches=request.param)
    yield made
    made.close()


def joined(rig: Rig, count: int) -> None:
    """So many more members of the one group."""
    for number in range(count):
        user = rig.rest_org.insert("User", Username=f"rep{number}@sim.example", LastName=f"Rep{number}")
        rig.rest_org.insert("Round_Robin_Member__c", Group__c=rig.rest_org.refs["emea"], User__c=user, Sort_Order__c=9)


def overtaken(rig: Rig, times: int) -> None:
    """Before each of the next writes another router takes the turn that this one has chosen."""

    def overtake() -> None:
        assert rig.rest_org.client.commit(rig.rest_org.batch([rig.rest_org.lead()])) == Committed()

    rig.client.before_write = [overtake] * times


@pytest.mark.parametrize("rig", [Switches.pessimistic()], ids=["pessimistic"], indirect=True)
def test_a_thousand_leads_under_endless_conflict_are_tried_a_bounded_number_of_times(rig: Rig):
    """P28: every write of five claims loses its turn: a few tries each, then they wait; no attempt is used up.

    A lost turn is no fault of a lead: it is given back and decided anew, however often. Left alone, all are routed.
    """
    leads = rig.leads(1000)
    overtaken(rig, 100)
    for _ in range(CLAIMS):
        rig.router.step()
    tries = len(rig.client.batches)
    held_back = Counter(job.status for job in rig.jobs())
    rig.client.before_write = []
    for _ in range(10):
        rig.drain()
        rig.clock.advance(2)

    assert tries == 5 * CLAIMS
    assert held_back["dead"] == 0
    assert Counter(rig.owner(lead) for lead in leads) == {"Ann": 500, "Bob": 500}
    assert {job.attempts for job in rig.jobs()} == {1}


@pytest.mark.parametrize("rig", [Switches.pessimistic()], ids=["pessimistic"], indirect=True)
@pytest.mark.parametrize(("routers", "members", "leads", "together"), [(8, 3, 300, 10), (10, 5, 50, 1)])
def test_many_routers_at_once_give_a_strict_cycle(rig: Rig, routers: int, members: int, leads: int, together: int):
    """D1, P25, P29: 8 routers and 300 leads, or 10 and 50 one by one: equal shares, and a strict cycle of turns."""
    joined(rig, members - 2)
    ids = [rig.rest_org.lead() for _ in range(leads)]
    start = threading.Barrier(routers)

    def route(number: int) -> None:
        own, client = ids[number::routers], rig.connect()
        start.wait()
        for _ in range(TRIES_MAX):
            waiting = [lead for lead in own if rig.lead(lead)["Routing_Round__c"] is None][:together]
            if not waiting:
                return
            with suppress(RowLocked):
                client.commit(rig.rest_org.batch(waiting, client))
        raise AssertionError("the routers do not come to an end")

    with ThreadPoolExecutor(routers) as pool:
        for done in [pool.submit(route, number) for number in range(routers)]:
            done.result(timeout=60)

    rows = sorted(rig.ledger(), key=lambda row: row["Turn__c"])
    given = [row["Assigned_To__c"] for row in rows]
    assert [int(row["Turn__c"]) for row in rows] == list(range(1, leads + 1))
    assert len(set(given[:members])) == members
    assert given == given[:members] * (leads // members)
    assert {row["Lead__c"] for row in rows} == set(ids)


def state(rig: Rig, lead: str) -> tuple[object, ...]:
    """Everything that one commit moves."""
    group = rig.rest_org.row(rig.rest_org.refs["emea"])
    places = [(row["Next_Turn__c"], row["Leads_Received__c"]) for row in rig.rest_org.rows("Round_Robin_Member__c")]
    seen = rig.lead(lead)
    return (
        rig.owner(lead),
        seen["Routing_Idem_Key__c"],
        seen["Routing_Round__c"],
        group["Turn__c"],
        places,
        rig.ledger(),
    )


@pytest.mark.parametrize("part", ["Round_Robin_Group__c", "Round_Robin_Member__c", "Lead_Assignment__c", "Lead"])
def test_owner_and_rotation_never_part(rig: Rig, part: str):
    """P34: whichever part of the write is refused, nothing of it is kept; then the same rep gets the same turn."""
    (lead,) = rig.leads(1)
    before = state(rig, lead)
    rig.forbid("1 = 1", "Not now", part)
    answer = rig.client.commit(rig.rest_org.batch([lead]))
    after = state(rig, lead)
    rig.allow(part)
    rig.drain()

    assert isinstance(answer, Refused)
    assert before == after
    assert (rig.owner(lead), rig.turns(), rig.outcomes()) == ("Ann", [1], ["assigned"])
    assert [row["Leads_Received__c"] for row in rig.rest_org.rows("Round_Robin_Member__c")] == [1, 0]


@pytest.mark.parametrize("first", ["winner", "loser"])
def test_a_merge_while_both_leads_wait_makes_one_assignment(rig: Rig, first: str):
    """E2, P58: one lead is merged into the other, whose job comes before or behind its own: one turn, one row."""
    winner, loser = (rig.rest_org.lead(Company=name) for name in ("Kept", "Merged"))
    rig.told(*((winner, loser) if first == "winner" else (loser, winner)))
    rig.org.merge_leads(winner, loser)
    rig.drain()

    assert (rig.owner(winner), rig.turns()) == ("Ann", [1])
    assert [row["Lead__c"] for row in rig.ledger()] == [winner]
    assert sorted(rig.outcomes()) == ["assigned", f"skipped: merged into {winner}"]


def test_a_merge_between_read_and_write_costs_no_turn(rig: Rig):
    """E2, D25: the loser was decided on already: its job ends, its turn goes to the lead behind it."""
    loser, winner = rig.leads(2)
    rig.client.before_write.append(lambda: rig.org.merge_leads(winner, loser))
    rig.drain()

    assert (rig.owner(winner), rig.turns(), len(rig.ledger())) == ("Ann", [1], 1)
    assert [outcome.partition(" into")[0] for outcome in rig.outcomes()] == ["skipped: deleted", "assigned"]


@pytest.mark.parametrize("kind", ["Queue", "Regular", "Role"])
def test_only_users_can_be_members(rig: Rig, kind: str):
    """P53, D5: a queue, a public group or a role is refused when the member is saved: none has to be taken apart."""
    other = rig.rest_org.insert("Group", Name="Inbound", DeveloperName="Inbound", Type=kind)
    for named in (other, "00E5f000000Abcd"):
        with pytest.raises(Failure, match="User"):
            rig.rest_org.insert("Round_Robin_Member__c", Group__c=rig.rest_org.refs["emea"], User__c=named)
    (lead,) = rig.leads(1)
    rig.drain()

    assert rig.owner(lead) == "Ann"
