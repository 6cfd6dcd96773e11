"""What the worker writes down to be told: each assignment once, whatever befalls it between its commit and its end."""

from __future__ import annotations

import pytest

from lead_router.ports import JobStore, Receipt
from lead_router.ports.notices import NoticeView
from support.worker_rig import LEASE_S, Interrupted, Rig


class Killed(BaseException):
    """The process ends here; nothing of ours may catch it."""


class Dying(Interrupted):
    """Commits once, and dies before anybody hears of it."""

    def commit(self, *batches) -> Receipt:
        super().commit(*batches)
        raise Killed


def to_team(_notice):
    return ("team",)


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path, channels=to_team)
    yield made
    made.close()


def told(rig: Rig, store: JobStore | None = None) -> list[NoticeView]:
    return list(reversed((store or rig.store).notices(limit=1000)))


def owners(rig: Rig, store: JobStore | None = None) -> list[str]:
    return [str(rig.rest_org.row(one.user_id)["LastName"]) for one in told(rig, store)]


def dies_amid(rig: Rig) -> None:
    """A worker whose commit goes through and whose process ends before the job does; then its lease runs out."""
    _, rest, _ = rig.rest_org.connect()
    victim = rig.worker(Dying(rest, rig.intake, now=rig.clock.now), name="victim")
    with pytest.raises(Killed):
        victim.step()
    rig.clock.advance(LEASE_S + 1)


def test_each_assignment_is_told_once_with_its_reason(rig: Rig):
    """Rule, group and turn in one line, to whom it was given, and nothing of the lead."""
    leads = [rig.leads(1, Email=f"secret{number}@buyer.example", Company="Secret Ltd")[0] for number in range(3)]
    rig.drain()

    assert [one.lead_id for one in told(rig)] == leads
    assert owners(rig) == ["Ann", "Bob", "Ann"]
    assert [one.reason for one in told(rig)] == [f"Rule 'All', group 'emea', turn {turn}." for turn in (1, 2, 3)]
    assert "ecret" not in repr(told(rig))


def test_a_second_lead_of_a_submission_is_told_as_such(rig: Rig):
    """It follows the first one to its owner, who hears of both."""
    rig.leads(2, Email="same@buyer.example")
    rig.drain()

    assert ([one.kind for one in told(rig)], owners(rig)) == (["assigned", "duplicate"], ["Ann", "Ann"])


def test_a_lead_that_somebody_owns_is_not_told_of(rig: Rig):
    """Only what the router has given out is told: not a lead that a person took first."""
    (lead,) = rig.leads(1)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    rig.drain()

    assert told(rig) == []


def test_a_lost_answer_is_told_once(rig: Rig):
    """The commit went through and its answer was lost: the ledger says so, and one notice is written."""
    rig.rest_org.fault("drop_after", path="/composite", body="Turn_Key__c")
    rig.leads(2)
    rig.drain()

    assert owners(rig) == ["Ann", "Bob"]


def test_who_dies_between_commit_and_end_is_made_up_for(rig: Rig):
    """The next worker finds the leads routed by their own jobs, and writes down what was not told yet."""
    leads = rig.leads(2)
    dies_amid(rig)
    assert told(rig) == []
    rig.drain()

    assert ([one.lead_id for one in told(rig)], owners(rig)) == (leads, ["Ann", "Bob"])
    assert {one.reason for one in told(rig)} == {"Outcome Assigned, group 'emea', round 1."}
    assert rig.outcomes() == ["skipped: already routed"] * 2


def test_a_job_that_ends_twice_is_told_once(rig: Rig):
    """A worker that was only slow ends its jobs after another one did: the notice is the same, and stays one."""
    rig.leads(1)
    slow, quick = rig.worker(name="slow"), rig.worker(rig.connect(), name="quick")

    def overtaken() -> None:
        rig.clock.advance(LEASE_S + 1)

    rig.client.before_write.append(overtaken)
    slow.step()
    rig.drain(quick)
    rig.drain(slow)

    assert (len(told(rig)), len(rig.ledger())) == (1, 1)


def test_a_lead_that_was_taken_meanwhile_is_not_told_of(rig: Rig):
    """Between the commit and its being found somebody else got the lead: its former owner hears nothing."""
    (lead,) = rig.leads(1)
    dies_amid(rig)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    rig.drain()

    assert told(rig) == []


def test_a_new_database_does_not_tell_of_old_leads(rig: Rig):
    """The database was lost and the stream repeats its events: who got those leads was told long ago."""
    leads = rig.leads(3)
    rig.drain()
    rig.clock.advance(3_600)
    fresh = rig.open("fresh.db")
    rig.told(*leads, store=fresh)
    rig.drain(rig.worker(rig.connect(), name="fresh", store=fresh))

    assert [job.outcome for job in fresh.jobs()] == ["skipped: already routed"] * 3
    assert told(rig, fresh) == []


def test_a_commit_that_meets_its_own_key_is_told(rig: Rig):
    """The ledger refuses a job's second row: the job is done, and what its first one gave is told."""
    (rule,) = [row["Id"] for row in rig.rest_org.rows("Routing_Rule__c")]
    rig.rest_org.update(rule, Target_Group__c=None, Target_User__c=rig.rest_org.refs["bob"])
    other = rig.open("other.db")
    (lead,) = rig.leads(1)
    rig.told(lead, store=other)
    client = rig.connect()
    late = rig.worker(client, name="late", store=other)
    client.before_write.append(lambda: rig.drain(rig.worker()))
    rig.drain(late)

    assert [job.outcome for job in other.jobs()] == ["already routed"]
    assert owners(rig, other) == ["Bob"]


def test_nothing_is_made_where_nobody_is_told(tmp_path):
    """Switched off it costs neither a row nor a call."""
    rig = Rig(tmp_path)
    rig.leads(2)
    before = rig.calls()
    rig.drain()

    assert (rig.calls() - before, told(rig)) == (2, [])
    rig.close()
