"""What a lead shows of its job, and what is told where the lead refuses even that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from lead_router.core.model import Status
from lead_router.loops.marking import FRESH
from lead_router.ports import Committed, Mark, NewJob
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import LEASE_S, Rig

OLD_S = FRESH.total_seconds() + 1


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """A router and its org, under the documented and under the worst reading of Salesforce."""
    made = Rig(tmp_path, switches=request.param)
    yield made
    made.close()


def unwritten(rig: Rig, *acts: Callable[[], None]) -> None:
    """These happen after all reads, each before one of the next marks is written."""
    plain, left = rig.client.mark, list(acts)

    def mark(marks):
        if left:
            left.pop(0)()
        return plain(marks)

    rig.client.mark = mark


def elsewhere(rig: Rig, lead: str) -> None:
    """Another router, of another database, gives the lead out; it is allowed to by now."""
    rig.allow()
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Live")
    _, _, client = rig.rest_org.connect()
    assert client.commit(rig.rest_org.batch([lead], client)) == Committed()


def edited(rig: Rig, lead: str, **fields: str) -> None:
    """Somebody changes it, a second later."""
    rig.clock.advance(1)
    rig.rest_org.update(lead, **(fields or {"Title": f"at {rig.clock.monotonic()}"}))


def touched(rig: Rig, lead: str) -> None:
    """The platform's own upkeep comes by, a second later."""
    rig.clock.advance(1)
    rig.org.touch(lead)


def unheld(rig: Rig) -> str:
    """A lead that nobody may have, and that nobody has looked at."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Off")
    (lead,) = rig.leads(1)
    return lead


def doomed(rig: Rig, *, age_s: float = OLD_S) -> str:
    """A lead that the org will refuse for good, changed so long ago."""
    rig.forbid("AND(NOT(ISNEW()), ISCHANGED(OwnerId))", "Nobody gives it out")
    (lead,) = rig.leads(1)
    rig.clock.advance(age_s)
    return lead


def test_a_lead_that_refuses_its_note_too_is_named_in_the_log(tmp_path):
    """P32: a rule that refuses every save refuses the mark as well; then the log and the dead job alone tell of it."""
    rig = Rig(tmp_path)
    try:
        (lead,) = rig.leads(1, Company="Locked")
        rig.forbid('Company = "Locked"', "Nobody saves this")
        with capture_logs() as logs:
            rig.drain()
        (settled,) = [line for line in logs if line["event"] == "lead_settled"]
        (unmarked,) = [line for line in logs if line["event"] == "lead_not_marked"]
    finally:
        rig.close()
    assert (settled["lead"], settled["ending"], settled["log_level"]) == (lead, "bury", "warning")
    assert "Nobody saves this" in settled["error"]
    assert (unmarked["lead"], unmarked["log_level"]) == (lead, "warning")
    assert "Nobody saves this" in unmarked["error"]


# ---- held -----------------------------------------------------------------------------------------------------------


def test_a_lead_that_another_router_gave_out_meanwhile_is_not_held(rig: Rig):
    """P62: between our read and our mark: it shows what the other one wrote, and the job finds it routed."""
    lead = unheld(rig)
    rig.clock.advance(1)
    unwritten(rig, lambda: elsewhere(rig, lead))
    rig.drain()

    assert (rig.shown(lead), rig.owner(lead)) == (("Assigned", None), "Ann")
    assert rig.outcomes() == ["skipped: already routed"]


def test_a_lead_that_is_edited_meanwhile_is_looked_at_again_at_once_and_held(rig: Rig):
    """Nothing is lost with the mark that was refused: one more read, and one more mark."""
    lead = unheld(rig)
    unwritten(rig, lambda: edited(rig, lead))
    before = rig.calls()
    assert rig.router.step()

    assert (rig.shown(lead), rig.outcomes()) == (("Held", "group 'emea' is off"), ["queued"])
    assert rig.calls() - before == 4


def test_a_lead_that_is_edited_at_every_look_waits_for_the_next_one_unmarked(rig: Rig):
    """No job goes round for ever: three looks, then the held job rests as any other, and marks it later."""
    lead = unheld(rig)
    unwritten(rig, *[lambda: edited(rig, lead)] * 3)
    rig.drain()
    first = rig.shown(lead), rig.outcomes()
    rig.clock.advance(60)
    rig.drain()

    assert first == ((None, None), ["queued"])
    assert rig.shown(lead) == ("Held", "group 'emea' is off")


@pytest.mark.parametrize("looks", [1, 2])
def test_a_lead_that_the_platform_itself_touches_meanwhile_is_held_at_once(rig: Rig, looks: int):
    """Its upkeep moves SystemModstamp alone; where Salesforce compares that, the lead is looked at again."""
    lead = unheld(rig)
    unwritten(rig, *[lambda: touched(rig, lead)] * looks)
    before = rig.calls()
    assert rig.router.step()

    again = looks if rig.switches.unmodified_since_compares_system_modstamp else 0
    assert (rig.shown(lead), rig.outcomes()) == (("Held", "group 'emea' is off"), ["queued"])
    assert rig.calls() - before == 2 * (1 + again)


@pytest.mark.parametrize(("own", "outcome"), [(True, "already routed"), (False, "already owned")])
def test_what_was_given_out_within_the_very_second_shows_it_again_when_the_held_job_is_due(
    rig: Rig, own: bool, outcome: str
):
    """Salesforce tells changes apart to the second: Held may stand for a while on what has an owner, not for good.

    The other router asked about the same event as the held job, or about another one.
    """
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Off")
    lead = rig.rest_org.lead()
    if own:
        rig.told(lead)
    else:
        rig.store.record([NewJob("another", lead, lead, {"event_at": rig.clock.now().isoformat()})])
    unwritten(rig, lambda: elsewhere(rig, lead))
    rig.drain()
    first = rig.shown(lead)
    rig.clock.advance(60)
    rig.drain()

    assert (first[0], rig.shown(lead), rig.owner(lead)) == ("Held", ("Assigned", None), "Ann")
    assert rig.outcomes() == [f"skipped: {outcome}"]


def test_two_hundred_held_leads_cost_one_read_and_eight_marks(rig: Rig):
    """The condition is for single rows, of which a call carries twenty-five; the second look finds them marked."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Off")
    leads = [rig.rest_org.lead(f"buyer{number}@buyer.example") for number in range(200)]
    rig.told(*leads)
    before = rig.calls()
    assert rig.router.step()
    first = rig.calls() - before
    rig.clock.advance(60)
    assert rig.router.step()

    assert {rig.shown(lead)[0] for lead in leads} == {"Held"}
    assert (first, rig.calls() - before) == (1 + 8, 1 + 8 + 1)


def test_a_claim_is_kept_while_many_leads_are_marked(rig: Rig):
    """C1: slow calls last longer than one lease; no other worker takes the leads, and no attempt is used up."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Off")
    leads = [rig.rest_org.lead(f"buyer{number}@buyer.example") for number in range(100)]
    rig.told(*leads)
    other = rig.worker(rig.connect(), name="two")
    stolen: list[bool] = []

    def slow() -> None:
        rig.clock.advance(LEASE_S / 2)
        stolen.append(other.step())

    unwritten(rig, *[slow] * 4)
    assert rig.router.step()

    assert (stolen, rig.store.queue().held) == ([False] * 4, 100)
    assert {rig.shown(lead)[0] for lead in leads} == {"Held"}


def test_a_lead_that_another_router_held_as_we_gave_it_out_shows_nothing_of_that(rig: Rig):
    """P62: its text came after our read, and goes with our commit as one that we had read would."""
    (lead,) = rig.leads(1)
    other = rig.connect()
    seen = other.snapshot(other.configuration(), [lead], ()).leads[lead]
    rig.client.before_write.append(lambda: other.mark([Mark(seen, Status.HELD, "group 'emea' is off")]))
    rig.drain()

    assert (rig.shown(lead), rig.owner(lead)) == (("Assigned", None), "Ann")


# ---- failed ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("age_s", [OLD_S, 0.0], ids=["old", "of this very second"])
@pytest.mark.parametrize("when", ["as we are refused", "as we mark it"])
def test_a_dead_jobs_lead_that_another_router_gave_out_is_not_failed(rig: Rig, age_s: float, when: str):
    """P62: refused here and given out elsewhere, whatever second either bears: what it shows stays."""
    lead = doomed(rig, age_s=age_s)
    if when == "as we mark it":
        unwritten(rig, lambda: elsewhere(rig, lead))
    else:
        plain = rig.client.commit
        rig.client.commit = lambda *several: (plain(*several), elsewhere(rig, lead))[0]
    with capture_logs() as logs:
        rig.drain()

    told = [line["error"] for line in logs if line["event"] == "lead_not_marked"]
    assert (rig.shown(lead), rig.owner(lead), rig.store.queue().dead) == (("Assigned", None), "Ann", 1)
    assert told[-1] == "it was given out, taken or deleted meanwhile"


def test_a_dead_jobs_lead_that_is_edited_meanwhile_shows_failed_all_the_same(rig: Rig):
    """P32: nobody looks at it again, so the mark that was refused is tried anew, on what the lead is by then."""
    lead = doomed(rig)
    unwritten(rig, *[lambda: edited(rig, lead)] * 2)
    rig.drain()

    status, text = rig.shown(lead)
    assert (status, rig.store.queue().dead) == ("Failed", 1)
    assert "Nobody gives it out" in str(text)


def test_a_dead_jobs_lead_that_a_person_took_meanwhile_is_not_failed(rig: Rig):
    """P62: it is that person's, and shows nothing."""
    lead = doomed(rig)

    def takes() -> None:
        rig.allow()
        edited(rig, lead, OwnerId=rig.rest_org.refs["bob"])

    unwritten(rig, takes)
    rig.drain()

    assert (rig.shown(lead), rig.owner(lead), rig.store.queue().dead) == ((None, None), "Bob", 1)


@pytest.mark.parametrize("given", [False, True], ids=["waiting", "given out elsewhere"])
def test_a_lead_that_could_never_be_read_is_read_for_its_mark(rig: Rig, given: bool):
    """C20: the program fails on reading it: it shows Failed once its attempts are used, unless somebody has it."""
    (lead,) = rig.leads(1)
    plain = rig.client.snapshot

    def snapshot(*_: object) -> None:
        raise KeyError("a shape that nobody thought of")

    rig.client.snapshot = snapshot
    for _ in range(3):
        rig.clock.advance(301)
        rig.router.step()
        if given and not rig.ledger():
            elsewhere(rig, lead)
    rig.client.snapshot = plain

    assert rig.outcomes() == ["dead"]
    assert rig.shown(lead)[0] == ("Assigned" if given else "Failed")


def test_a_lead_that_nobody_can_read_for_its_mark_either_stops_nothing(rig: Rig):
    """C20: the same fault meets it there: its job is dead all the same, and the next lead is given out."""
    poison, lead = rig.leads(2)
    snapshot, leads = rig.client.snapshot, rig.client.leads

    def failing(plain: Callable[..., object], lead_ids: object, *told: object) -> object:
        if poison in lead_ids:  # type: ignore[operator]
            raise KeyError("a shape that nobody thought of")
        return plain(*told)

    rig.client.snapshot = lambda one, ids, keys: failing(snapshot, ids, one, ids, keys)
    rig.client.leads = lambda one, ids: failing(leads, ids, one, ids)
    for _ in range(4):
        rig.clock.advance(301)
        rig.drain()

    assert (rig.outcomes(), rig.owner(lead)) == (["dead", "assigned"], "Ann")


def test_a_dead_jobs_lead_that_was_changed_as_it_was_read_anew_is_not_failed_once_it_is_given_out(rig: Rig):
    """P62: an edit, our read and the other router's commit within one second: only a quiet second makes it sure."""
    lead = doomed(rig, age_s=0.0)
    plain = rig.client.leads

    def leads(*asked: object) -> object:
        rig.rest_org.update(lead, Title="edited")
        found = plain(*asked)
        elsewhere(rig, lead)
        rig.client.leads = plain
        return found

    rig.client.leads = leads
    rig.drain()

    assert (rig.shown(lead), rig.owner(lead), rig.store.queue().dead) == (("Assigned", None), "Ann", 1)


def test_a_mark_goes_out_as_far_as_known_where_nothing_more_is_read(rig: Rig):
    """C22: told to end, a router asks nothing more; what became of a lead that was new to it is shown all the same."""
    lead = doomed(rig, age_s=0.0)
    ended: list[bool] = []
    rig.client = rig.connect(ending=lambda: bool(ended))
    router = rig.worker(name="two")
    plain = rig.client.commit
    rig.client.commit = lambda *several: (plain(*several), ended.append(True))[0]
    router.step()

    assert (rig.shown(lead)[0], rig.store.queue().dead) == ("Failed", 1)


# ---- overridden -----------------------------------------------------------------------------------------------------


def test_a_lead_that_was_given_out_anew_meanwhile_names_nobody_who_overrode_its_former_owner(rig: Rig):
    """B23: what a lead bears of an earlier owner went with its next routing, and does not come back."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.clock.advance(60)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])

    other = rig.open("other.db")

    def anew() -> None:
        edited(rig, lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
        other.record([NewJob("returned", lead, lead, {})])
        rig.drain(rig.worker(rig.connect(), name="two", store=other))

    unwritten(rig, anew)
    with capture_logs() as logs:
        life.goes_on()

    assert [row["Round__c"] for row in rig.ledger()] == [1, 2]
    assert rig.shown(lead) == ("Assigned", None)
    assert rig.lead(lead)["Routing_Overridden_By__c"] is None
    assert "owner_overridden" not in {line["event"] for line in logs}


def test_an_override_of_a_lead_that_is_edited_meanwhile_is_shown_by_the_next_look(rig: Rig):
    """B23: at once, and told once."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.clock.advance(60)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    unwritten(rig, lambda: edited(rig, lead))
    with capture_logs() as logs:
        life.goes_on()

    assert rig.lead(lead)["Routing_Overridden_By__c"] == rig.org.admin_user_id
    assert [line["event"] for line in logs if "overridden" in line["event"]] == [
        "overridden_not_shown",
        "owner_overridden",
    ]
