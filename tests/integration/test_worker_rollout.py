"""The switches against an org: each position, turned while leads wait, and routers that stand in different ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from lead_router.core.model import Configuration, Rollout, Snapshot, Switch
from lead_router.loops.predecessors import succeed
from lead_router.loops.worker import Worker
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Interrupted, Rig

OFF, OBSERVE, LIVE = Switch
MAIL = "buyer@acme.example"


class Noting(Interrupted):
    """The production client, which remembers the submission keys that it was asked for."""

    asked: frozenset[str] = frozenset()

    def snapshot(
        self, configuration: Configuration, lead_ids: Sequence[str], submission_keys: Sequence[str]
    ) -> Snapshot:
        self.asked |= set(submission_keys)
        return super().snapshot(configuration, lead_ids, submission_keys)


class Stage(Rig):
    """An org and job database on which routers of any positions are started."""

    def client_of(self, **positions: Switch) -> Noting:
        _, rest, _ = self.rest_org.connect()
        return Noting(rest, replace(self.intake, rollout=Rollout(**positions)), now=self.clock.now)

    def started(self, *, name: str = "one", **positions: Switch) -> Worker:
        """A router as it is after its start, when it has looked at what others left."""
        succeed(self.store, host="here", process_id=1, lives=lambda _: True)
        return self.worker(self.client_of(**positions), name=name)

    def goes_on(self, **positions: Switch) -> None:
        self.drain(self.started(**positions))

    def of(self, lead: str) -> list[Any]:
        """The lead's ledger rows."""
        return [row for row in self.ledger() if row["Lead__c"] == lead]

    def keys(self) -> list[bool]:
        """Which ledger rows, in turn order, hold submission keys."""
        return [bool(row["Submission_Even__c"] and row["Submission_Odd__c"]) for row in self.ledger()]


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def stage(request, tmp_path):
    made = Stage(tmp_path, switches=replace(request.param))
    yield made
    made.close()


# ---- duplicates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [True, False], ids=["one batch", "a batch each"])
@pytest.mark.parametrize(
    ("position", "owners", "turns", "keys"),
    [
        (OFF, ["Ann", "Bob", "Ann"], [1, 2, 3], [False, False, False]),
        (OBSERVE, ["Ann", "Bob", "Ann"], [1, 2, 3], [True, False, False]),
        (LIVE, ["Ann", "Ann", "Ann"], [1], [True, False, False]),
    ],
)
def test_three_leads_of_one_submission(stage: Stage, together, position, owners, turns, keys):
    """Off: three leads. Observed: three leads, of which two say whom they would follow. Live: one turn."""
    router = stage.started(duplicates=position)
    leads = []
    for _ in range(3):
        leads += stage.leads(1, Email=MAIL)
        if not together:
            stage.drain(router)
    stage.drain(router)

    assert [stage.owner(lead) for lead in leads] == owners
    assert (stage.turns(), stage.keys(), stage.outcomes().count("dead")) == (turns, keys, 0)
    told = [f"follows lead {leads[0]} " in stage.of(lead)[0]["Explanation__c"] for lead in leads]
    assert told == ([False, False, False] if position is OFF else [False, True, True])


@pytest.mark.parametrize(("position", "asked"), [(OFF, False), (OBSERVE, True), (LIVE, True)])
def test_submission_keys_are_asked_for_only_where_duplicates_are_looked_for(stage: Stage, position, asked):
    """Off: nothing is read by keys, also for a job of before, in which they were written down."""
    client = stage.client_of(duplicates=position)
    stage.leads(1, Email=MAIL)
    stage.drain(stage.worker(client))

    assert (stage.outcomes(), bool(client.asked)) == (["assigned"], asked)


def test_two_routers_that_observe_one_submission_route_each_lead_once(stage: Stage):
    """The unique index refuses the keys of the second; decided again it leaves them blank, and says what it saw."""
    first, second = stage.rest_org.lead(MAIL), stage.rest_org.lead(MAIL)
    client = stage.client_of(duplicates=OBSERVE)
    router, rival = stage.worker(client), stage.started(name="rival", duplicates=OBSERVE)
    stage.told(first)

    def overtake() -> None:
        stage.told(second)
        stage.drain(rival)

    client.before_write.append(overtake)
    stage.drain(router)

    assert (stage.owner(second), stage.owner(first), stage.turns()) == ("Ann", "Bob", [1, 2])
    assert [bool(stage.of(lead)[0]["Submission_Even__c"]) for lead in (second, first)] == [True, False]
    assert f"follows lead {second} " in stage.of(first)[0]["Explanation__c"]


@pytest.mark.parametrize("position", [OFF, OBSERVE])
def test_a_lead_that_waits_for_its_sibling_routes_by_itself_once_duplicates_are_not_live(stage: Stage, position):
    """The way back while leads are held: nobody waits for what is no longer looked for."""
    (first,) = stage.leads(1, Email=MAIL)
    stage.goes_on()
    stage.rest_org.update(first, OwnerId=stage.rest_org.refs["bob"])
    queue = stage.rest_org.insert("Group", Name="Later", DeveloperName="Later", Type="Queue")
    stage.rest_org.insert("QueueSobject", QueueId=queue, SobjectType="Lead")
    stage.rest_org.update(first, OwnerId=queue)
    (second,) = stage.leads(1, Email=MAIL)
    stage.goes_on()
    waits = stage.lead(second)["Routing_Status__c"]
    stage.goes_on(duplicates=position)

    assert (waits, stage.owner(second), stage.turns()) == ("Held", "Bob", [1, 2])
    assert (len(stage.of(second)), stage.lead(second)["Routing_Status__c"]) == (1, "Assigned")


@pytest.mark.parametrize(("before", "owner"), [(OFF, "Bob"), (OBSERVE, "Ann")])
def test_what_first_leads_left_behind_decides_what_a_live_router_finds(stage: Stage, before, owner):
    """Observing writes keys, so that going live finds the leads of minutes ago; off leaves nothing to be found."""
    stage.leads(1, Email=MAIL)
    stage.goes_on(duplicates=before)
    (second,) = stage.leads(1, Email=MAIL)
    stage.goes_on()

    assert stage.owner(second) == owner


def test_routers_in_different_positions_route_no_lead_twice(stage: Stage):
    """While one is restarted behind the other: each lead has one owner and one row, whoever had it first."""
    routers = [stage.started(name=position, duplicates=position) for position in Switch]
    leads = []
    for _ in range(3):
        for router in routers:
            leads += stage.leads(2, Email=MAIL)
            stage.drain(router)
            stage.told(*leads)

    assert [len(stage.of(lead)) for lead in leads] == [1] * len(leads)
    assert sum(stage.keys()) == 1
    assert set(stage.outcomes()) == {"assigned", "duplicate"}


# ---- matched owner --------------------------------------------------------------------------------------------------


def _known(stage: Stage, **fields: Any) -> None:
    """A rule above all others gives leads to the owner of a matching contact; Bob has one."""
    given = {"Name": "Known", "Precedence__c": 1, "Active__c": True, "Target_Match__c": "Contact", **fields}
    stage.rest_org.insert("Routing_Rule__c", **given)
    stage.rest_org.insert("Contact", LastName="Known", Email=MAIL, OwnerId=stage.rest_org.refs["bob"])


@pytest.mark.parametrize(
    ("position", "owner", "outcome", "told"),
    [
        (OFF, "Ann", "Assigned", "Rule 'Known' fell through: matched owners are switched off. Rule '"),
        (
            OBSERVE,
            "Ann",
            "Assigned",
            "Rule 'Known' fell through: matched owners are only observed; live, it goes to Bob, the owner of Contact ",
        ),
        (LIVE, "Bob", "Matched", "Rule 'Known' gives it to Bob, the owner of Contact "),
    ],
)
def test_a_rule_for_matched_owners(stage: Stage, position, owner, outcome, told):
    """Off and observed: the next rule's turn, and the ledger says why."""
    stage.rest_org.assign("Lead_Router_Matching")
    _known(stage)
    (lead,) = stage.leads(1, Email=MAIL)
    stage.goes_on(matched_owner=position)
    (row,) = stage.of(lead)

    assert (stage.owner(lead), row["Outcome__c"]) == (owner, outcome)
    assert row["Explanation__c"].startswith(told)


@pytest.mark.parametrize(("position", "calls"), [(OFF, 1), (OBSERVE, 2), (LIVE, 2)])
def test_matching_records_are_read_only_where_they_are_looked_for(stage: Stage, position, calls):
    """Off costs no call, and needs no right to read contacts."""
    if position is not OFF:
        stage.rest_org.assign("Lead_Router_Matching")
    _known(stage)
    lead = stage.rest_org.lead(MAIL)
    client = stage.client_of(matched_owner=position)
    configuration = client.configuration()
    before = stage.rest_org.calls()
    found = client.snapshot(configuration, [lead], []).matches

    assert (stage.rest_org.calls() - before >= calls, bool(found)) == (True, position is not OFF)
    assert position is not OFF or stage.rest_org.calls() - before == 1


@pytest.mark.parametrize("position", [OFF, OBSERVE])
def test_a_lead_that_waits_for_a_matched_owner_goes_on_at_the_start_of_a_router_that_does_not(stage: Stage, position):
    """It would rest for a quarter of an hour; a start asks what is held at once."""
    stage.rest_org.assign("Lead_Router_Matching")
    _known(stage, Match_Off_Duty__c="Wait")
    away = {"Start__c": "2026-11-29T00:00:00Z", "End__c": "2026-12-04T08:00:00Z"}
    stage.rest_org.insert("Member_Absence__c", User__c=stage.rest_org.refs["bob"], **away)
    (lead,) = stage.leads(1, Email=MAIL)
    stage.goes_on()
    waits = stage.lead(lead)["Routing_Status__c"]
    stage.goes_on(matched_owner=position)

    assert (waits, stage.owner(lead), stage.lead(lead)["Routing_Status__c"]) == ("Held", "Ann", "Assigned")


# ---- re-routes ------------------------------------------------------------------------------------------------------


def _returned(stage: Stage, **positions: Switch) -> tuple[str, Life]:
    """A lead that Ann had, given back to the intake queue, and the router that has heard of it."""
    life = Life(stage)
    life.router = stage.started(**positions)
    lead = stage.rest_org.lead()
    life.goes_on()
    stage.clock.advance(601)  # or it would be shown who overrode the router
    stage.rest_org.update(lead, OwnerId=stage.rest_org.queue("Lead_Intake"))
    return lead, life


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        (OFF, "held: re-routing is switched off: it was returned"),
        (
            OBSERVE,
            (
                "held: re-routing is only observed: it was returned. Live, it is given out: Rule '{rule}' chose group "
                "'emea'; turn 2 went to Bob. Passed over: Ann: had this lead before."
            ),
        ),
    ],
)
def test_a_returned_lead_stays_in_the_queue_untouched_and_seen(stage: Stage, position, reason):
    """No write; one open job, which status counts as held and no sweep doubles; one line of log."""
    lead, life = _returned(stage, reroutes=position)
    (rule,) = (row["Name"] for row in stage.rest_org.rows("Routing_Rule__c"))
    before = dict(stage.lead(lead))
    upkeep = stage.upkeep()
    with capture_logs() as lines:
        life.goes_on()
        for _ in range(4):
            upkeep.step()
            stage.clock.advance(300)
            stage.drain(life.router)

    assert dict(stage.lead(lead)) == before
    assert (stage.turns(), stage.outcomes(), stage.store.queue().held) == ([1], ["assigned", "queued"], 1)
    assert stage.jobs()[1].last_error == reason.format(rule=rule)
    assert [line["lead"] for line in lines if line["event"] == "lead_left"] == [lead]


def test_leads_that_are_left_cost_a_read_every_quarter_of_an_hour_and_no_write(stage: Stage):
    """However many there are, up to a batch: the budget of what is switched off."""
    leads, life = [], Life(stage)
    life.router = stage.started(reroutes=OFF)
    leads = [stage.rest_org.lead() for _ in range(20)]
    life.goes_on()
    for lead in leads:
        stage.rest_org.update(lead, OwnerId=stage.rest_org.queue("Lead_Intake"))
    life.goes_on()
    before = stage.rest_org.calls()
    for _ in range(60):
        stage.clock.advance(60)
        stage.drain(life.router)

    assert stage.rest_org.calls() - before <= 4
    assert stage.turns() == list(range(1, 21))


@pytest.mark.parametrize("position", [OFF, OBSERVE])
def test_going_live_routes_what_was_left_once(stage: Stage, position):
    """The way forward: the start asks at once; a router that still stands in the old position changes nothing."""
    lead, life = _returned(stage, reroutes=position)
    life.goes_on()
    stage.goes_on(reroutes=LIVE)
    routed = stage.owner(lead)
    stage.goes_on(reroutes=position)
    life.goes_on()

    assert (routed, stage.owner(lead), stage.turns(), len(stage.of(lead))) == ("Bob", "Bob", [1, 2], 2)
    assert stage.outcomes() == ["assigned", "assigned"]


@pytest.mark.parametrize("position", [OFF, OBSERVE])
def test_a_lead_that_waits_for_members_when_the_switch_is_turned_is_left(stage: Stage, position):
    """The way back while leads are held: no newer lead waits behind it, and it is not given out when a rep is back."""
    lead, life = _returned(stage)
    bob = stage.rest_org.refs["bob"]
    away = {"Start__c": "2026-11-29T00:00:00Z", "End__c": "2026-11-29T23:00:00Z"}
    stage.rest_org.insert("Member_Absence__c", User__c=bob, **away)
    life.router = stage.started()
    life.goes_on()
    held = stage.lead(lead)["Routing_Status__c"]
    stage.clock.advance(4 * 3600)
    newer = stage.leads(2)
    stage.goes_on(reroutes=position)

    assert (held, stage.owner(lead), len(stage.of(lead))) == ("Held", "Lead_Intake", 1)
    assert sorted(stage.owner(one) for one in newer) == ["Ann", "Bob"]


def test_a_lead_that_is_taken_by_hand_while_it_is_left_is_the_taker_s(stage: Stage):
    """Its job ends at the next look, and nothing is written."""
    lead, life = _returned(stage, reroutes=OFF)
    life.goes_on()
    stage.rest_org.update(lead, OwnerId=stage.rest_org.refs["bob"])
    stage.clock.advance(901)
    life.goes_on()
    stage.goes_on(reroutes=LIVE)

    assert (stage.owner(lead), stage.turns()) == ("Bob", [1])
    assert stage.outcomes()[:2] == ["assigned", "skipped: already owned"]
