"""An explanation names people, and tells what the job store knows of the lead."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from lead_router.app.explaining import explained_in, with_jobs
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account, _plain, job_told
from lead_router.core.model import Rollout, Switch
from lead_router.ports import Bury
from lead_router.salesforce.configuration import Intake
from support.rest_org import RestOrg
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def wired(org: RestOrg) -> Wired:
    return Wired(org.holder, org.rest, org.client)


def told(rig: Rig, lead: str):
    return with_jobs(explained_in(wired(rig.rest_org), lead, at=None), rig.store)


def test_people_who_are_no_members_are_named(rig: Rig):
    """Owner, owners of rounds and whom a decision names stand with name and id; who is gone from sight with the id."""
    org = rig.rest_org
    cem = org.insert("User", Username="cem@sim.example", LastName="Cem")
    (lead,) = rig.leads(1)
    rig.drain()
    org.update(org.refs["ann_emea"], Active__c=False)
    org.update(lead, OwnerId=cem)
    shown, plain = _account(told(rig, lead)), _plain(told(rig, lead))

    assert f"owned by Cem ({cem})" in shown
    assert f"assigned to Ann ({org.refs['ann']})" in shown
    assert (plain["owner"], plain["history"][0]["owner"]) == ("Cem", "Ann")


def test_the_owner_of_a_matching_record_is_named_with_what_stands_against_them(rig: Rig):
    """P65: "why did my customer's lead go to another?", of someone who is in no group."""
    org = rig.rest_org
    org.assign("Lead_Router_Matching")
    cem = org.insert("User", Username="cem@sim.example", LastName="Cem")
    org.insert("Routing_Rule__c", Name="Known", Precedence__c=1, Active__c=True, Target_Match__c="Contact")
    contact = org.insert("Contact", LastName="Known", Email="a@acme.example", OwnerId=cem)
    lead = org.lead("a@acme.example")
    free = _account(told(rig, lead))
    org.update(cem, IsActive=False)
    gone = _account(told(rig, lead))

    assert f"matching Contact {contact} by Email of Cem: could have it" in free
    assert f"decision: assign to Cem ({cem})." in free
    assert f"matching Contact {contact} by Email of Cem: user inactive" in gone
    assert "fell through: Contact of Cem: user inactive." in gone


def test_each_state_of_a_job_is_told_with_what_a_person_can_do(rig: Rig):
    """Nothing known, waiting until when and why, at work, dead with its error and the way back, discarded, done."""
    org, now = rig.rest_org, rig.clock.now
    lead = org.lead()
    assert "jobs: none is known of this lead" in _account(told(rig, lead))
    org.update(org.refs["emea"], Mode__c="Off")
    rig.told(lead)
    rig.drain()
    (job,) = told(rig, lead).jobs
    until = f"{job.next_run_at:%Y-%m-%d %H:%M:%SZ}"
    assert job_told(job, now()) == f"job {job.id} waits until {until}: held: group 'emea' is off"
    assert job_told(job, job.next_run_at) == f"job {job.id} is due now: held: group 'emea' is off"

    rig.clock.advance(3600)
    (claimed,) = rig.store.claim("two", limit=1, lease_s=60)
    assert job_told(told(rig, lead).jobs[0], now()) == f"job {job.id} is at work, by two"
    rig.store.end([(claimed, Bury("FIELD_CUSTOM_VALIDATION:\n" + "x" * 400))])
    dead = job_told(told(rig, lead).jobs[0], now())
    assert dead.startswith(f"job {job.id} is dead after 1 attempt: FIELD_CUSTOM_VALIDATION: xxx")
    ends = f'`lead-router jobs discard {job.id} --reason "…"` ends it for good'
    way_back = f"`lead-router jobs retry {job.id}` tries again, {ends}"
    assert dead.endswith(f"; {way_back}")
    assert "x" * 300 not in dead

    rig.store.discard(job.id, "a test lead")
    assert ": discarded: a test lead; its last error: FIELD_CUSTOM" in job_told(told(rig, lead).jobs[0], now())
    assert _plain(told(rig, lead))["jobs"][0]["status"] == "done"


def test_a_discarded_lead_is_told_to_be_left_alone_until_somebody_changes_it(rig: Rig):
    """Whoever asks why nobody gets it reads the reason, not whose turn it would be as though that were to come."""
    (lead,) = rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    rig.drain()
    rig.allow()
    rig.clock.advance(60)
    (job,) = rig.jobs()
    dead = _account(told(rig, lead))
    rig.store.discard(job.id, "a test lead")
    shown, plain = _account(told(rig, lead)), _plain(told(rig, lead))
    rig.clock.advance(60)
    rig.rest_org.update(lead, Phone="+32 2 555 01 02")
    edited = _account(told(rig, lead))
    stands = f"job {job.id} was discarded: a test lead; that stands until somebody changes the lead or an event asks"
    given = f"assign to Ann ({rig.rest_org.refs['ann']})."

    awaits = f"nothing will be given out: job {job.id} is dead, and a person decides. Were it retried: {given}"
    assert f"\ndecision: {awaits}" in dead
    assert f"\ndecision: nothing will be given out: {stands} for it. Were it asked for: {given}" in shown
    assert (plain["discarded"], plain["decision"].startswith(f"nothing will be given out: {stands}")) == (job.id, True)
    assert f"\ndecision: {given}" in edited


def test_a_lead_that_has_an_owner_is_told_with_what_would_be_done_had_it_just_come_in(rig: Rig):
    """The account and its last line are of one case: the reader is not told whose turn it is, and then of no turn."""
    (lead,) = rig.leads(1)
    rig.drain()
    found = told(rig, lead)
    shown = _account(found)

    assert ": already owned. Had it just come in:\n" in shown
    assert re.search(r"^as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ nothing would be done", shown, re.MULTILINE)
    assert re.search(r"^Ann +could take it +now$", shown, re.MULTILINE)
    then = f"skip: already owned. Had it just come in: assign to Bob ({rig.rest_org.refs['bob']})."
    assert f"\ndecision: {then}" in shown
    assert _plain(found)["decision"].startswith(then)


def test_a_duplicate_is_told_as_one_that_no_rule_was_asked_about(rig: Rig):
    """Which lead it follows stands where the rule that decides stands else."""
    one, other = (rig.rest_org.lead(Email="ann@buyer.example") for _ in range(2))
    rig.told(one)
    rig.drain()
    shown = _account(told(rig, other))

    assert f"no rule is asked: it follows lead {one}, the first of its submission" in shown
    assert "met, not asked" in shown
    assert f"\ndecision: follow to Ann ({rig.rest_org.refs['ann']})." in shown


@pytest.mark.parametrize("position", [Switch.OBSERVE, Switch.OFF])
def test_a_returned_lead_is_told_as_its_next_round_not_as_a_new_lead(tmp_path, position):
    """While re-routes are not live, the table of members agrees with what would become of it: Ann had it before."""
    stage = Rig(tmp_path, intake=Intake(rollout=Rollout(reroutes=position)))
    (lead,) = stage.leads(1)
    stage.drain()
    stage.rest_org.update(lead, OwnerId=stage.rest_org.queue("Lead_Intake"))
    found = told(stage, lead)
    stage.close()
    (group,) = found.account.groups

    assert {one.name: (one.reason, one.picked) for one in group.members} == {
        "Ann": ("had this lead before", False), "Bob": (None, True),
    }  # fmt: skip
    assert "it was returned. Were re-routing live:" in _account(found)


def test_a_done_job_is_told_with_its_outcome(rig: Rig):
    (lead,) = rig.leads(1)
    rig.drain()
    (job,) = told(rig, lead).jobs
    assert job_told(job, rig.clock.now() + timedelta(days=1)).endswith("Z: assigned")
