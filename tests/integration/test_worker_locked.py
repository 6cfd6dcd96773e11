"""Leads, or a group, that something else in the org keeps locked for longer than Salesforce waits (10 s a try)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from statistics import median

import pytest

from lead_router.loops.locked import Locked
from org_simulator.locks import WAIT_LIMIT_S
from org_simulator.switches import Switches
from support.rest_org import START
from support.worker_rig import Rig

LOCK_S = 600
EVERY_S = 25


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path, monkeypatch):
    """Two reps, one rule for all leads; whoever waits for a lock lets the time pass."""
    made = Rig(tmp_path, switches=replace(request.param))
    monkeypatch.setattr(made.clock, "wait", lambda _condition, timeout_s: made.clock.advance(timeout_s))
    yield made
    made.close()


@contextmanager
def locked(rig: Rig, *record_ids: str) -> Iterator[None]:
    """A batch job of the org that has changed these records and not come to its end."""
    with rig.org.transaction(rig.org.admin_user_id, auto_assign=False) as batch_job:
        for record_id in record_ids:
            sobject = rig.org.sobject_of(record_id[:3])
            assert sobject is not None
            batch_job.update(sobject, record_id, {"Description" if sobject == "Lead" else "Name": "changed"})
        yield


def at_s(rig: Rig) -> float:
    """Seconds since the start."""
    return rig.clock.monotonic()


def waited_s(rig: Rig, came: dict[str, float]) -> list[float]:
    """How long each lead waited for its owner, in the order in which they came."""
    routed = [datetime.fromisoformat(rig.lead(lead)["Routed_At__c"]) for lead in came]
    return [(at - START).total_seconds() - since for at, since in zip(routed, came.values(), strict=True)]


def fresh(rig: Rig) -> dict[str, float]:
    """A lead each EVERY_S until LOCK_S are over, with the second in which it came, each routed by the one worker."""
    coming = [second + 1.0 for second in range(0, LOCK_S, EVERY_S)]
    came: dict[str, float] = {}
    while coming or any(rig.lead(lead)["Routed_At__c"] is None for lead in came):
        while coming and coming[0] <= at_s(rig):
            came |= dict.fromkeys(rig.leads(1), coming.pop(0))
        if not rig.router.step():
            rig.clock.advance(0.25)
    return came


def test_a_lead_locked_for_minutes_holds_up_no_other(rig: Rig):
    """With one worker others wait for one try of it at most, and most for none; it uses up no attempt, and comes after.

    A commit that waits for a lock cannot be told to let others go first.
    """
    (old,) = rig.leads(1)
    with locked(rig, old):
        came = fresh(rig)
        waits = waited_s(rig, came)
        commits = len(rig.client.batches)
    ended = at_s(rig)
    while rig.owner(old) == "Lead_Intake" and at_s(rig) < ended + 120:
        rig.clock.advance(1)
        rig.drain()

    assert len(waits) == LOCK_S // EVERY_S
    assert median(waits) < 1
    assert max(waits) <= WAIT_LIMIT_S + 1
    assert commits <= 2 * len(waits)
    assert rig.owner(old) in {"Ann", "Bob"}
    assert at_s(rig) <= ended + 62
    assert {job.attempts for job in rig.jobs()} == {1}


def test_others_of_its_claim_wait_for_one_try_of_it(rig: Rig):
    """What the refusal names is left out: all together, then the others, then it alone."""
    old, *others = rig.leads(8)
    with locked(rig, old):
        rig.router.step()
        waits = waited_s(rig, dict.fromkeys(others, 0.0))

    assert set(waits) == {WAIT_LIMIT_S}
    assert [len(batch.writes) for batch in rig.client.batches] == [8, 7, 1]


def test_of_locked_leads_those_tried_least_go_first(rig: Rig):
    """However the claim has them, so that one that stays locked does not keep another from being tried."""
    rig.leads(3)
    first, second, third = rig.store.claim("another", limit=3, lease_s=60)
    known = Locked(rig.clock.now)
    for job in (first, first, second):
        known.tried(job)
    before = [portion.jobs for portion in known.begun([first, second, third])]
    rig.clock.advance(301)
    forgotten = [portion.jobs for portion in known.begun([first, second, third])]

    assert before == [(third,), (second,), (first,)]
    assert forgotten == [(first, second, third)]


def test_of_many_locked_leads_each_claim_tries_one(rig: Rig):
    """Those tried least go first, so that each is found when its own lock ends; one that stays hides no other."""
    many = rig.leads(5)
    with locked(rig, many[0]):
        with locked(rig, *many[1:]):
            rig.router.step()
            rig.clock.advance(60)
            before, (new,) = at_s(rig), rig.leads(1)
            rig.router.step()
            spent = at_s(rig) - before
            waits = waited_s(rig, {new: before})
        for _ in range(20):
            rig.clock.advance(5)
            rig.router.step()
        freed = [rig.owner(lead) for lead in many]

    assert (waits, spent) == ([0], WAIT_LIMIT_S)
    assert freed[0] == "Lead_Intake"
    assert set(freed[1:]) <= {"Ann", "Bob"}


def test_a_locked_group_is_tried_again_as_ever(rig: Rig):
    """It holds up all its leads: none is to blame, so none is put behind the others; a few tries, and soon again."""
    lead = rig.leads(1)[0]
    with locked(rig, rig.rest_org.refs["emea"]):
        rig.router.step()
    tries = len(rig.client.batches)
    (job,) = rig.jobs()
    due_s = (job.next_run_at - rig.clock.now()).total_seconds()
    rig.clock.advance(1)
    rig.drain()

    assert tries > 2
    assert due_s <= 1
    assert (rig.owner(lead), job.attempts) == ("Ann", 0)


def test_a_held_lead_that_is_locked_is_not_overtaken(rig: Rig):
    """It waited for members, so that newer leads wait behind it, whatever keeps it from being written."""
    refs = rig.rest_org.refs
    for rep in ("ann", "bob"):
        rig.rest_org.update(refs[f"{rep}_emea"], Active__c=False)
    (first,) = rig.leads(1)
    rig.drain()
    rig.clock.advance(901)
    (second,) = rig.leads(1)
    rig.rest_org.update(refs["ann_emea"], Active__c=True)
    with locked(rig, first):
        rig.router.step()
        rig.clock.advance(61)
        rig.router.step()
        between = (rig.owner(first), rig.owner(second))
    for _ in range(5):
        rig.clock.advance(61)
        rig.drain()

    assert between == ("Lead_Intake", "Lead_Intake")
    assert {row["Lead__c"]: row["Turn__c"] for row in rig.ledger()} == {first: 1, second: 2}
