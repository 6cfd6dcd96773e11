"""What people change in the CRM is in force within one look at the configuration, or at once where an event tells."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from lead_router.core.model import Configuration
from lead_router.errors import Transient
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.loops.upkeep import Upkeep
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.names import Channels
from org_simulator.cometd import Terms
from support.cometd_rig import CHANNEL, QUICK
from support.rest_org import START
from support.served import served
from support.worker_rig import Rig

EVERY_S = 30.0
STEPS_MAX = 100
PATIENT = Terms(reconnect_s=1e6)  # of the org's time, which the tests let leap


@pytest.fixture
def rig(tmp_path) -> Iterator[Rig]:
    """One org, in which Ann and Bob share one group by hours that never close; one job database."""
    made = Rig(tmp_path)
    org = made.rest_org
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    week = {f"{day}{end}Time": "00:00" for day in days for end in ("Start", "End")}
    org.refs["hours"] = org.insert("BusinessHours", Name="All", IsActive=True, TimeZoneSidKey="UTC", **week)
    org.refs["backup"] = org.insert("Round_Robin_Group__c", Name="Backup", Key__c="backup", Mode__c="Live")
    org.insert("Round_Robin_Member__c", Group__c=org.refs["backup"], User__c=org.org.admin_user_id)
    org.update(org.refs["emea"], Business_Hours__c=org.refs["hours"])
    yield made
    made.close()


def weight(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["ann_emea"], Weight__c=7)


def inactive(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["ann_emea"], Active__c=False)


def member_gone(rig: Rig) -> None:
    rig.rest_org.delete(rig.rest_org.refs["ann_emea"])


def member(rig: Rig) -> None:
    user = rig.rest_org.insert("User", Username="c@sim.example", LastName="Cid")
    rig.rest_org.insert("Round_Robin_Member__c", Group__c=rig.rest_org.refs["emea"], User__c=user)


def member_who_reads_no_leads(rig: Rig) -> None:
    (profile,) = (row["Id"] for row in rig.rest_org.rows("Profile") if "API Only" in row["Name"])
    user = rig.rest_org.insert("User", Username="d@sim.example", LastName="Dot", ProfileId=profile)
    rig.rest_org.insert("Round_Robin_Member__c", Group__c=rig.rest_org.refs["emea"], User__c=user)


def user_off(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["bob"], IsActive=False)


def group(rig: Rig) -> None:
    made = rig.rest_org.insert("Round_Robin_Group__c", Name="Apac", Key__c="apac", Mode__c="Live")
    rig.rest_org.insert("Round_Robin_Member__c", Group__c=made, User__c=rig.rest_org.refs["bob"])


def fallback(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["emea"], Fallback_Group__c=rig.rest_org.refs["backup"])


def group_gone(rig: Rig) -> None:
    rig.rest_org.delete(rig.rest_org.refs["backup"])


def hours(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["hours"], MondayStartTime="09:00", MondayEndTime="17:00")


def holiday(rig: Rig) -> None:
    rig.rest_org.insert("Holiday", Name="Off", IsAllDay=True, ActivityDate="2026-12-25")


def rule(rig: Rig) -> None:
    fields = {"Precedence__c": 1, "Active__c": True, "Criteria__c": "Country = 'France'"}
    rig.rest_org.insert("Routing_Rule__c", Name="France", Target_User__c=rig.rest_org.refs["bob"], **fields)


def rule_to_a_new_queue(rig: Rig) -> None:
    rig.rest_org.insert("Group", Name="Late", DeveloperName="Late", Type="Queue")
    rig.rest_org.insert("Routing_Rule__c", Name="Late", Precedence__c=2, Active__c=True, Target_Queue__c="Late")


def rule_off(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["all"], Active__c=False)


def rule_gone(rig: Rig) -> None:
    rig.rest_org.delete(rig.rest_org.refs["all"])


def absence(rig: Rig) -> None:
    times = {"Start__c": START.isoformat(), "End__c": (START + timedelta(days=3)).isoformat()}
    rig.rest_org.refs["absence"] = rig.rest_org.insert("Member_Absence__c", User__c=rig.rest_org.refs["ann"], **times)


ROSTER = (weight, inactive, member_gone, member, member_who_reads_no_leads, user_off, group, fallback, group_gone)
TOLD = (rule, rule_to_a_new_queue, rule_off, rule_gone, absence)


@pytest.mark.parametrize("change", [*ROSTER, hours, holiday, *TOLD])
def test_every_change_is_in_force_within_one_timed_look(rig: Rig, change: Callable[[Rig], None]):
    """Whatever was changed, created or deleted, without any event; and not before it was looked at."""
    current = Current(rig.client.configuration())
    upkeep = rig.upkeep(current=current)
    upkeep.step()
    before = current.get()
    change(rig)
    rig.clock.advance(EVERY_S - 1)
    upkeep.step()
    early = current.get()
    rig.clock.advance(1)
    upkeep.step()

    assert early == before
    assert current.get() != before
    assert current.get() == rig.client.configuration()


@pytest.mark.parametrize("change", [weight, inactive, member, fallback])
def test_a_decision_reads_the_roster_for_itself(rig: Rig, change: Callable[[Rig], None]):
    """Groups and members are read with every batch: for them no look has to be waited for."""
    configuration = rig.client.configuration()
    before = rig.client.snapshot(configuration, [], []).groups
    change(rig)
    after = rig.client.snapshot(configuration, [], []).groups

    assert after != before


def test_four_timed_looks_are_five_calls(rig: Rig):
    """P37: 3,600 calls a day where nothing changes, not two a look; turns between the looks make it no more."""
    upkeep = rig.upkeep(sweep_every_s=1e6)
    upkeep.step()
    calls = []
    for _ in range(8):
        rig.leads(1)
        rig.drain(rig.worker())
        before = rig.rest_org.calls()
        rig.clock.advance(EVERY_S)
        upkeep.step()
        calls.append(rig.rest_org.calls() - before)

    assert calls == [1, 1, 1, 2] * 2
    assert rig.store.queue().sweep_requested is None


def queue_named_anew(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.queue("Default_Assigned"), DeveloperName="Other")


def frozen(rig: Rig) -> None:
    rig.rest_org.freeze(rig.rest_org.refs["bob"])


def empty_group(rig: Rig) -> None:
    rig.rest_org.insert("Round_Robin_Group__c", Name="Empty", Key__c="empty", Mode__c="Live")


@pytest.mark.parametrize("change", [queue_named_anew, frozen, empty_group])
def test_what_a_glance_does_not_see_is_in_force_within_two_minutes(rig: Rig, change: Callable[[Rig], None]):
    """Names of queues, frozen users and groups that have nobody to give a lead to: with every fourth look."""
    rig.rest_org.grant("ManageUsers")
    current = Current(rig.client.configuration())
    upkeep = rig.upkeep(current=current)
    before = current.get()
    change(rig)
    for _ in range(4):
        rig.clock.advance(EVERY_S)
        upkeep.step()

    assert current.get() != before
    assert current.get() == rig.client.configuration()


def test_what_a_load_refuses_stays_refused_until_a_load_accepts_it(rig: Rig):
    """E13: a glance sees no group without members; one with a bad key is told once, and nothing is half taken."""
    current = Current(rig.client.configuration())
    upkeep = rig.upkeep(current=current)
    bad = rig.rest_org.insert("Round_Robin_Group__c", Name="Typo", Key__c="a b", Mode__c="Live")
    with capture_logs() as lines:
        for _ in range(4):
            rig.clock.advance(EVERY_S)
            upkeep.step()
        before = current.get()
        rule_off(rig)
        for _ in range(8):
            rig.clock.advance(EVERY_S)
            upkeep.step()
        kept = current.get()
        rig.rest_org.update(bad, Key__c="ab")
        rig.clock.advance(EVERY_S)
        upkeep.step()

    told = [line["event"] for line in lines if line["event"].startswith("configuration_")]
    assert told == ["configuration_refused", "configuration_accepted", "configuration_changed"]
    assert (kept, current.get()) == (before, rig.client.configuration())
    assert current.get().rules == ()


class Listening:
    """Intake and upkeep of one router on the org's own stream, stepped by hand; the org's time stands still."""

    def __init__(self, rig: Rig, url: str, notices: tuple[str, ...] = Channels.CONFIGURATION_CHANGES) -> None:
        self.current = Current(rig.client.configuration())
        self.upkeep: Upkeep = rig.upkeep(current=self.current)
        store = rig.open()
        source = CometdSource(
            channel=CHANNEL,
            token=lambda refused: SimpleNamespace(
                access_token=rig.rest_org.holder.token(refused=refused).access_token, instance_url=url
            ),
            load_position=lambda: store.position(CHANNEL),
            dice=random.Random(1),
            notices=notices,
            limits=QUICK,
        )
        self.intake = Intake(
            source,
            store,
            self.current,
            channel=CHANNEL,
            org_id=rig.org.org_id,
            own=partial(own_change, user_id=rig.org.integration_user_id),
            wait_s=0.05,
            wake=lambda: None,
        )

    def until(self, done: Callable[[Configuration], bool]) -> None:
        """Step both loops until the configuration in force is as wanted."""
        for _ in range(STEPS_MAX):
            self.intake.step()
            self.upkeep.step()
            if done(self.current.get()) and self.current.outdated() is None:
                return
        raise AssertionError(f"not within {STEPS_MAX} steps")

    def hear(self) -> None:
        """Step the intake until it was told that something changed."""
        for _ in range(STEPS_MAX):
            self.intake.step()
            if self.current.outdated() is not None:
                return
        raise AssertionError(f"nothing heard within {STEPS_MAX} steps")


@pytest.fixture
def listening(rig: Rig) -> Iterator[Listening]:
    """A router that hears the org and has looked once since."""
    with served(rig.org, PATIENT) as url:
        made = Listening(rig, url)
        made.hear()
        made.upkeep.step()
        rig.clock.advance(2)
        yield made
        made.intake.close()


@pytest.mark.parametrize("change", [rule, rule_off, rule_gone, absence])
def test_a_rule_or_an_absence_is_in_force_at_once(rig: Rig, listening: Listening, change: Callable[[Rig], None]):
    """Told by their change events: no second of the timed look passes."""
    before = listening.current.get()
    at = rig.clock.monotonic()
    change(rig)
    listening.until(lambda now: now != before)

    assert rig.clock.monotonic() == at
    assert listening.current.get() == rig.client.configuration()


def test_turns_are_not_heard(rig: Rig, listening: Listening):
    """A commit changes a group and a member: heard, each turn would cost an event of the day's allowance and a look."""
    rig.leads(3)
    rig.drain(rig.worker())
    for _ in range(5):
        listening.intake.step()

    assert rig.turns() == [1, 2, 3]
    assert listening.current.outdated() is None


def test_a_burst_of_changes_is_one_look_and_one_behind_it(rig: Rig, listening: Listening):
    """An import of absences does not use up the day's calls; the last of them is seen all the same."""
    absence(rig)
    listening.hear()
    calls = rig.rest_org.calls()
    for _ in range(20):
        absence(rig)
        listening.intake.step()
        listening.upkeep.step()
    during = rig.rest_org.calls() - calls
    rig.clock.advance(2)
    listening.until(lambda now: len(now.absences[rig.rest_org.refs["ann"]]) == 21)

    assert during <= 4  # two for a look, and two for a sweep for what it changed


def test_a_look_that_was_not_answered_is_taken_again(rig: Rig, listening: Listening):
    """The event is heard once; an outage just then must not cost the change."""
    rule(rig)
    listening.hear()
    rig.rest_org.fault("unreachable", path="/composite", count=1)
    with pytest.raises(Transient):
        listening.upkeep.step()
    rig.clock.advance(2)
    listening.upkeep.step()

    assert [one.name for one in listening.current.get().rules] == ["France", "All"]


def test_held_leads_are_asked_again_when_an_event_brought_the_missing_rule(rig: Rig, listening: Listening):
    """Whoever adds it sees its leads routed within seconds."""
    rule_off(rig)
    listening.until(lambda now: now.rules == ())
    rig.leads(1)
    rig.drain(rig.worker())
    held = (rig.store.queue().held, rig.store.queue().due)
    rig.clock.advance(2)
    rig.rest_org.update(rig.rest_org.refs["all"], Active__c=True)
    listening.until(lambda now: now.rules != ())

    assert (held, rig.store.queue().due) == ((1, 0), 1)


def test_a_broken_rule_keeps_the_former_configuration_and_is_told_once(rig: Rig, listening: Listening):
    """E13: never half of the new one, and one clear error, however often it is read; mended, it is in force at once."""
    before = listening.current.get()
    with capture_logs() as lines:
        weight(rig)
        rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c="Country = ")
        listening.hear()
        listening.upkeep.step()
        rig.clock.advance(EVERY_S)
        listening.upkeep.step()
        kept = listening.current.get()
        rig.clock.advance(2)
        rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c="Country = 'France'")
        listening.until(lambda now: now != before)

    told = [line["error"] for line in lines if line["event"] == "configuration_refused"]
    assert (kept, len(told)) == (before, 1)
    assert "rule 'All'" in told[0]
    assert listening.current.get() == rig.client.configuration()


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "html_200", "status"])
@pytest.mark.parametrize("read", [0, 1])
def test_a_reload_is_whole_or_not_at_all(rig: Rig, fault: str, read: int):
    """A fault at any of its reads leaves the former configuration whole; the next look brings all that changed."""
    current = Current(rig.client.configuration())
    upkeep = rig.upkeep(current=current)
    upkeep.step()
    before = current.get()
    for change in (weight, rule, absence, fallback, holiday):
        change(rig)
    current.outdate("a change")
    rig.rest_org.fault(fault, path="/composite", skip=read)
    with pytest.raises(Transient):
        upkeep.step()
    broken = current.get()
    rig.clock.advance(2)
    upkeep.step()

    assert broken is before
    assert current.get() == rig.client.configuration()
