"""Held leads that somebody changes are asked again at once; waits of which no event tells, within a minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lead_router.core.ids import to18
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.ports import Change, Delivery, Release
from lead_router.salesforce.configuration import Intake as IntakeSettings
from org_simulator.removing import undelete
from org_simulator.switches import Switches
from support.databases import CHANNEL, ORG, Database, lead_id, new_job
from support.decide_scene import configuration
from support.hearing import Life
from support.rest_org import START
from support.worker_rig import Rig

MAIL = "buyer@acme.example"


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Ann and Bob for all leads are away for three days; Yui, for Japan's, is on duty."""
    made = Rig(tmp_path, switches=request.param)
    org = made.rest_org
    asia = org.insert("Round_Robin_Group__c", Name="Asia", Key__c="asia", Mode__c="Live", Epoch__c=1)
    org.refs["yui"] = org.insert("User", Username="yui@sim.example", LastName="Yui")
    org.insert("Round_Robin_Member__c", Group__c=asia, User__c=org.refs["yui"], Sort_Order__c=1)
    rule = {"Name": "Japan", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Country = 'Japan'"}
    org.insert("Routing_Rule__c", Target_Group__c=asia, **rule)
    for name in ("ann", "bob"):
        away(made, name)
    yield made
    made.close()


def away(rig: Rig, name: str) -> None:
    until = (START + timedelta(days=3)).isoformat()
    rig.rest_org.insert("Member_Absence__c", User__c=rig.rest_org.refs[name], Start__c=START.isoformat(), End__c=until)


def listens(rig: Rig, life: Life) -> None:
    """What was committed is heard and routed, all at this very moment."""
    while life.intake.step():
        rig.drain(life.router)


def held(rig: Rig, life: Life, **fields: Any) -> str:
    """A lead whose job rests for a quarter of an hour, half a minute ago."""
    lead = rig.rest_org.lead(**fields)
    listens(rig, life)
    assert rig.lead(lead)["Routing_Status__c"] == "Held"
    assert rest_s(rig) == 900
    rig.clock.advance(30)
    return lead


def rest_s(rig: Rig) -> float:
    """In how many seconds the last job is due."""
    return (rig.jobs()[-1].next_run_at - rig.clock.now()).total_seconds()


def test_a_corrected_lead_is_routed_at_once(rig: Rig):
    """D4: its country was wrong, and nobody was there for it as it was; whether groups re-route is another matter."""
    life = Life(rig)
    lead = held(rig, life, Country="Jpan")
    rig.rest_org.update(lead, Country="Japan")
    listens(rig, life)

    assert (rig.owner(lead), rig.outcomes(), rig.turns()) == ("Yui", ["assigned"], [1])


def test_a_lead_that_comes_to_wait_for_an_owner_by_a_change_is_routed_at_once(tmp_path):
    """P46: it was in the intake, and met the definition of unassigned only later; others that change do not."""
    rig = Rig(tmp_path, intake=IntakeSettings(unassigned="Rating = 'Hot'"))
    try:
        life = Life(rig)
        leads = [rig.rest_org.lead() for _ in range(2)]
        listens(rig, life)
        before = rig.turns()
        for lead, rating in zip(leads, ("Hot", "Cold"), strict=True):
            rig.rest_org.update(lead, Rating=rating)
        listens(rig, life)
    finally:
        rig.close()

    assert (before, rig.turns(), rig.owner(leads[0])) == ([], [1], "Ann")


def test_a_change_that_helps_nothing_costs_one_read_and_no_write(rig: Rig):
    """P46: neither the mark of the router itself nor its absence keeps a held lead going round."""
    life = Life(rig)
    lead = held(rig, life)
    used = rig.client.calls()
    listens(rig, life)
    after_mark = rig.client.calls() - used
    rig.rest_org.update(lead, Company="Acme Limited")
    before = dict(rig.lead(lead))
    for _ in range(3):
        listens(rig, life)

    assert (after_mark, rig.client.calls() - used, dict(rig.lead(lead)) == before) == (0, 1, True)
    assert (rest_s(rig), rig.outcomes()) == (900, ["queued"])


def gap(rig: Rig, lead: str) -> None:
    rig.org.events.faults.arm("gap_event")
    rig.rest_org.update(lead, Country="Japan")


def restored(rig: Rig, lead: str) -> None:
    rig.rest_org.update(lead, Country="Japan")
    rig.rest_org.delete(lead)
    sobject = rig.org.schema.objects["lead"]
    with rig.org.transaction(rig.org.admin_user_id) as opened:
        undelete(opened, sobject, lead)


@pytest.mark.parametrize("way", [gap, restored])
def test_events_that_tell_no_fields_ask_as_well(rig: Rig, way):
    """A gap event says that something changed; a restored lead may have been changed before it was deleted."""
    life = Life(rig)
    lead = held(rig, life)
    way(rig, lead)
    listens(rig, life)

    assert (rig.owner(lead), rig.turns()) == ("Yui", [1])


@pytest.mark.parametrize(("verb", "shown"), [("convert", "Held"), ("delete", None)])
def test_a_lead_that_is_over_settles_its_job_at_once(rig: Rig, verb: str, shown: str | None):
    """E1, P58: nothing is held open for it; a converted lead takes no write, and shows what it showed."""
    life = Life(rig)
    lead = held(rig, life)
    (rig.org.convert_lead if verb == "convert" else rig.rest_org.delete)(lead)
    listens(rig, life)

    assert rig.outcomes() == [f"skipped: {verb}{'ed' if verb == 'convert' else 'd'}"]
    if shown:
        assert rig.lead(lead)["Routing_Status__c"] == shown


def test_a_change_between_read_and_end_is_not_forgotten(rig: Rig):
    """The event comes while the lead is being held by what was read before: it is asked again as soon as that ends."""
    life = Life(rig)
    client = rig.connect()
    life.router = rig.worker(client, name="slow")
    lead = rig.rest_org.lead()

    def corrected() -> None:
        rig.rest_org.update(lead, Country="Japan")
        life.intake.step()

    client.after_read.append(corrected)
    listens(rig, life)

    assert (rig.owner(lead), rig.outcomes()) == ("Yui", ["assigned"])


class Told:
    """An EventSource that tells what it is handed, once."""

    def __init__(self, *changes: Change) -> None:
        self._left = [Delivery(changes)]

    def poll(self, wait_s: float) -> Delivery:
        del wait_s
        return self._left.pop() if self._left else Delivery()

    def stored(self, delivery: Delivery) -> None:
        del delivery

    def state(self) -> str:
        return "subscribed"

    def close(self) -> None:
        pass


ASKING = ("UPDATE", "DELETE", "UNDELETE", "REQUESTED", "GAP_UPDATE", "GAP_DELETE", "GAP_UNDELETE")
KINDS = (*ASKING, "CREATE", "GAP_CREATE")


@pytest.mark.parametrize("own", [False, True])
def test_which_events_ask_a_held_lead(embedded: Database, *, own: bool):
    """All that others do to it, in one recording; a late word of its creation, and our own writes, do not."""
    store = embedded.open()
    store.record([new_job(number) for number in range(len(KINDS))])
    store.end([(job, Release(900, "held: no rule matches")) for job in store.claim("w", limit=200, lease_s=60)])
    user, at = to18("005000000000009"), datetime.fromtimestamp(embedded.now, UTC)
    changes = [
        Change(lead_id(number), kind, f"tx-{number}.1", "", user, at, frozenset(), {})
        for number, kind in enumerate(KINDS)
    ]
    Intake(
        Told(*changes),
        store,
        Current(configuration()),
        channel=CHANNEL,
        org_id=ORG,
        own=lambda _: own,
        wait_s=0.0,
        wake=lambda: None,
    ).step()
    known = [job for job in store.jobs(limit=99) if job.last_error]
    due = {KINDS[job.id - 1] for job in known if job.next_run_at <= at + timedelta(milliseconds=1)}

    assert (len(known), due) == (len(KINDS), set() if own else set(ASKING))


# ---- the owner of a matching record ---------------------------------------------------------------------------------


@pytest.fixture
def known(rig: Rig) -> Rig:
    """A first rule waits for the owner of a contact of the same address; that is Bob, who is away."""
    org = rig.rest_org
    org.assign("Lead_Router_Matching")
    given = {"Name": "Known", "Precedence__c": 0, "Active__c": True, "Target_Match__c": "Contact"}
    org.insert("Routing_Rule__c", Match_On__c="Email", Match_Off_Duty__c="Wait", **given)
    org.refs["contact"] = org.insert("Contact", LastName="Known", Email=MAIL, OwnerId=org.refs["bob"])
    rig.router = rig.worker()
    return rig


@pytest.mark.parametrize("change", ["owner", "inactive"])
def test_another_owner_of_the_matching_record_is_seen_within_a_minute(known: Rig, change: str):
    """P65: no event tells of contacts and users; the wait is for whoever owns the record now, while they are active."""
    org = known.rest_org
    (lead,) = known.leads(1, Email=MAIL, Country="Japan")
    known.drain()
    due = rest_s(known)
    if change == "owner":
        cat = org.insert("User", Username="cat@sim.example", LastName="Cat")
        org.update(org.refs["contact"], OwnerId=cat)
    else:
        org.update(org.refs["bob"], IsActive=False)
    known.clock.advance(60)
    known.drain()

    assert 30 < due <= 60
    assert known.owner(lead) == ("Cat" if change == "owner" else "Yui")


def test_leads_that_wait_for_matching_owners_are_asked_together(known: Rig):
    """However they came: two looks a minute at most, of a call for leads and one for records each."""
    for number in range(7):
        mail = f"buyer{number}@acme.example"
        known.rest_org.insert("Contact", LastName="Known", Email=mail, OwnerId=known.rest_org.refs["bob"])
        known.leads(1, Email=mail)
        known.drain()
        known.clock.advance(7)
    used = []
    for seconds in (90, 600):
        for _ in range(seconds):
            known.clock.advance(1)
            known.drain()
        used.append(known.calls())

    assert 10 <= (used[1] - used[0]) / 2 <= 21
    assert known.store.queue().held == 7
