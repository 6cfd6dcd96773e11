"""Leads of several groups in one commit: the calls they take, and what becomes of the others where one is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from lead_router.core.batch import BATCH_MAX, batches
from lead_router.errors import OutcomeUnknown, RowLocked
from lead_router.ports import Committed, Refused, TurnTaken
from org_simulator.switches import Switches
from support.worker_rig import Rig

COUNTRIES = ("Norway", "Spain", "Wales")


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["default", "pessimistic"])
def rig(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Rig]:
    """The rig with a group of one member beside its own for each country."""
    made = Rig(tmp_path, request.param)
    for place, country in enumerate(COUNTRIES):
        group = made.rest_org.insert("Round_Robin_Group__c", Name=country, Key__c=country.lower(), Mode__c="Live")
        user = made.rest_org.insert("User", Username=f"{country}@sim.example", LastName=f"Rep of {country}")
        made.rest_org.insert("Round_Robin_Member__c", Group__c=group, User__c=user)
        rule = {"Criteria__c": f"Country = '{country}'", "Active__c": True, "Target_Group__c": group}
        made.rest_org.insert("Routing_Rule__c", Name=country, Precedence__c=place + 1, **rule)
    made.router = made.worker()
    yield made
    made.close()


def of_each(rig: Rig) -> list[str]:
    """Two leads of the rig's own group and one of each country."""
    return rig.leads(2) + [lead for country in COUNTRIES for lead in rig.leads(1, Country=country)]


def given(rig: Rig, leads: list[str]) -> list[str]:
    return [rig.owner(lead) for lead in leads]


ALL = ["Ann", "Bob", *(f"Rep of {country}" for country in COUNTRIES)]


def test_leads_of_four_groups_take_two_calls(rig: Rig):
    """One read and one write, however many groups the leads are of; each group has had its own turns."""
    leads = of_each(rig)
    before = rig.calls()
    rig.drain()

    assert (rig.calls() - before, given(rig, leads), rig.turns()) == (2, ALL, [1, 1, 1, 1, 2])
    assert [int(row["Turn__c"] or 0) for row in rig.rest_org.rows("Round_Robin_Group__c")] == [2, 1, 1, 1]


@pytest.mark.parametrize("part", ["Round_Robin_Group__c", "Round_Robin_Member__c"])
def test_a_group_that_cannot_be_written_holds_up_no_other(rig: Rig, part: str):
    """Its leads are held for a person, the others are given out, and nothing is kept of what was refused with it."""
    spain = next(row["Id"] for row in rig.rest_org.rows("Round_Robin_Group__c") if row["Key__c"] == "spain")
    formula = "Key__c = 'spain'" if part == "Round_Robin_Group__c" else f"Group__c = '{spain[:15]}'"
    leads = of_each(rig)
    rig.forbid(formula, "Not now", part)
    rig.drain()
    held = given(rig, leads), rig.lead(leads[3])["Routing_Status__c"], rig.turns()
    rig.allow(part)
    rig.clock.advance(60)
    rig.drain()

    assert held == ([*ALL[:3], "Lead_Intake", ALL[4]], "Held", [1, 1, 1, 2])
    assert (given(rig, leads), rig.turns()) == (ALL, [1, 1, 1, 1, 2])


def test_a_lead_that_cannot_be_written_holds_up_no_other(rig: Rig):
    """One lead goes dead with the org's text; its group's next lead has the turn that it would have had."""
    leads = of_each(rig)
    rig.forbid(f"AND(Id = '{leads[0][:15]}', ISCHANGED(OwnerId))", "Not this one")
    rig.drain()

    assert given(rig, leads) == ["Lead_Intake", "Ann", *ALL[2:]]
    assert sorted(rig.outcomes()) == ["assigned"] * 4 + ["dead"]
    assert rig.turns() == [1, 1, 1, 1]


def another_takes_a_turn(rig: Rig) -> None:
    """Another router gives out a lead of one of the groups."""
    other = rig.rest_org.lead(Country="Wales")
    assert rig.rest_org.client.commit(rig.rest_org.batch([other])) == Committed()


def a_person_takes_one(rig: Rig) -> None:
    """Somebody gives the first lead to Bob."""
    rig.rest_org.update(rig.jobs()[0].lead_id, OwnerId=rig.rest_org.refs["bob"])


@pytest.mark.parametrize(
    ("act", "first", "turns"), [(another_takes_a_turn, ALL[:2], 6), (a_person_takes_one, ["Bob", "Ann"], 4)]
)
def test_a_lost_race_in_one_group_loses_nothing(rig: Rig, act: Callable[[Rig], None], first: list[str], turns: int):
    """What moved between read and write is read again: no turn is given twice, and none is left out."""
    leads = of_each(rig)
    rig.client.before_write.append(lambda: act(rig))
    rig.drain()

    keys = [row["Turn_Key__c"] for row in rig.ledger() if row["Turn_Key__c"]]
    assert given(rig, leads) == first + ALL[2:]
    assert len(set(keys)) == len(keys) == turns


def test_a_lost_answer_to_several_groups_is_looked_up(rig: Rig):
    """The ledger knows every lead of all of them, or the same commit is sent again."""
    leads = of_each(rig)
    rig.rest_org.fault("drop_after", path="/composite", body="Turn_Key__c")
    rig.drain()

    assert (given(rig, leads), rig.outcomes()) == (ALL, ["assigned"] * 5)
    lost = rig.rest_org.batch(rig.leads(1, Country="Spain"))
    assert not rig.client.committed(*rig.client.batches, lost)
    assert rig.client.committed(*rig.client.batches[:4])


def test_two_routers_with_all_groups_at_once(rig: Rig):
    """Locks are taken in one order, so neither waits for the other for ever; each turn is given once."""
    leads = [rig.rest_org.lead(**({"Country": COUNTRIES[n % 3]} if n % 4 else {})) for n in range(48)]

    def route(number: int) -> None:
        client = rig.connect()
        for _ in range(200):
            waiting = [lead for lead in leads[number::2] if rig.lead(lead)["Routing_Round__c"] is None][:6]
            if not waiting:
                return
            with suppress(RowLocked, OutcomeUnknown):
                client.commit(*batches(rig.rest_org.decided(waiting, client)))
        raise AssertionError("the routers do not come to an end")

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(route, number) for number in range(2)]:
            done.result(timeout=60)

    keys = [row["Turn_Key__c"] for row in rig.ledger()]
    assert len(set(keys)) == len(keys) == len(leads) <= BATCH_MAX


def test_the_receipt_names_the_group_that_moved(rig: Rig):
    """By its place among the groups, as for any record; where a stale rule let it pass, the ledger refuses the turn."""
    leads = of_each(rig)
    late = batches(rig.rest_org.decided(leads))
    another_takes_a_turn(rig)
    answer = rig.client.commit(*late)

    assert isinstance(answer, Refused)
    assert answer.faults == (TurnTaken(),) or rig.switches == Switches.pessimistic()
    assert rig.client.commit(*late[:3]) == Committed()
