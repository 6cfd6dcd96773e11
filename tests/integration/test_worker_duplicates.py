"""One submission is given out once; a second Lead record of it follows the first (DESIGN section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lead_router.core.model import Rollout, Switch
from lead_router.jobs import statements as sql
from lead_router.jobs.engine import Step
from lead_router.ports import Bury, NewJob
from lead_router.salesforce.configuration import Intake
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Rig

MAIL = "buyer@acme.example"


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """A router and its org, under the documented and under the worst reading of Salesforce."""
    made = Rig(tmp_path, switches=request.param)
    yield made
    made.close()


def _until_bucket_end(rig: Rig, seconds_left: float) -> None:
    """Let time pass until a submission bucket of ten minutes ends in `seconds_left`."""
    passed = (rig.clock.now() - datetime(1970, 1, 1, tzinfo=UTC)) % timedelta(minutes=10)
    rig.clock.advance((timedelta(minutes=10) - passed).total_seconds() - seconds_left)


@pytest.mark.parametrize("together", [True, False], ids=["one batch", "two batches"])
@pytest.mark.parametrize("seconds_left", [300, 1], ids=["one bucket", "bucket boundary between"])
def test_a_second_lead_of_a_submission_follows_without_a_turn(rig: Rig, together: bool, seconds_left: int):
    """A webhook sent twice: one turn, one owner, also with a bucket boundary between the two."""
    _until_bucket_end(rig, seconds_left)
    first = rig.rest_org.lead(MAIL)
    rig.told(first)
    if not together:
        rig.drain()
    rig.clock.advance(2)
    second = rig.rest_org.lead(MAIL.upper())
    rig.told(second)
    rig.drain()

    assert (rig.owner(first), rig.owner(second), rig.turns()) == ("Ann", "Ann", [1])
    assert rig.outcomes() == ["assigned", "duplicate"]
    shown = rig.lead(second)
    assert (shown["Routing_Status__c"], shown["Routing_Duplicate_Of__c"]) == ("Duplicate", first)


def test_two_routers_that_meet_over_one_submission_give_it_out_once(rig: Rig):
    """The unique index refuses the second, whichever database its router has; then it follows."""
    first, second = rig.rest_org.lead(MAIL), rig.rest_org.lead(MAIL)
    rig.told(first)
    jobs = rig.open("rival.db")
    rival = rig.worker(rig.connect(), name="rival", store=jobs)

    def overtake() -> None:
        rig.told(second, store=jobs)
        rig.drain(rival)

    rig.client.before_write.append(overtake)
    rig.drain()

    assert (rig.owner(first), rig.owner(second), rig.turns()) == ("Ann", "Ann", [1])


def test_a_second_lead_waits_for_a_first_that_another_router_has_at_work(rig: Rig):
    """Of one database, both know it: nothing is written twice, and the second follows within seconds."""
    first, second = rig.rest_org.lead(MAIL), rig.rest_org.lead(MAIL)
    rig.told(first)
    rival = rig.worker(rig.connect(), name="rival")

    def overtake() -> None:
        rig.told(second)
        rig.drain(rival)

    rig.client.before_write.append(overtake)
    rig.drain()
    assert (rig.outcomes(), len(rig.client.batches)) == (["assigned", "queued"], 1)
    rig.clock.advance(5)
    rig.drain(rival)

    assert (rig.owner(first), rig.owner(second), rig.turns()) == ("Ann", "Ann", [1])


def held_first(rig: Rig) -> tuple[str, str]:
    """A lead that nobody can have, and the same form sent again when its job rests; the second meets another rule."""
    rest = rig.rest_org
    rest.update(rest.refs["emea"], Mode__c="Off")
    group = rest.insert("Round_Robin_Group__c", Name="Dach", Key__c="dach", Mode__c="Live")
    rest.insert("Round_Robin_Member__c", Group__c=group, User__c=rest.refs["bob"], Weight__c=1)
    rest.insert(
        "Routing_Rule__c",
        Name="Dach",
        Precedence__c=0,
        Active__c=True,
        Criteria__c="Country = 'DE'",
        Target_Group__c=group,
    )
    rig.router = rig.worker()
    (first,) = rig.leads(1, Email=MAIL)
    rig.drain()
    rig.clock.advance(30)
    (second,) = rig.leads(1, Email=MAIL, Country="DE")
    used = rig.calls()
    rig.drain()
    assert rig.calls() - used == 2, "a snapshot and a write"
    return first, second


@pytest.mark.parametrize("seconds_left", [300, 1], ids=["one bucket", "bucket boundary between"])
def test_a_second_lead_of_a_later_batch_waits_for_a_held_first_and_follows_it(rig: Rig, seconds_left: int):
    """A form sent twice while nobody can have the first: one owner, one turn, whatever rule the second meets."""
    _until_bucket_end(rig, seconds_left)
    first, second = held_first(rig)
    shown = rig.lead(second)
    assert (rig.turns(), shown["Routing_Status__c"]) == ([], "Held")
    assert shown["Routing_Error__c"] == f"waits for lead {first} of the same submission, which has no owner yet"
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Live")
    rig.clock.advance(60)
    rig.drain()

    assert (rig.owner(first), rig.owner(second), rig.turns()) == ("Ann", "Ann", [1])
    assert rig.outcomes() == ["assigned", "duplicate"]


def test_the_wait_for_a_held_first_is_bounded_and_rests_longer_each_time(rig: Rig):
    """After ten minutes the second is routed by itself, with the keys; the first follows it. It costs few calls."""
    first, second = held_first(rig)
    used = rig.calls()
    for _ in range(660):
        rig.clock.advance(1)
        rig.drain()
    asked = rig.calls() - used

    assert (rig.owner(first), rig.owner(second), rig.outcomes()) == ("Bob", "Bob", ["duplicate", "assigned"])
    assert asked < 60, asked


@pytest.mark.parametrize("mail", ["other@acme.example", None])
def test_a_first_whose_address_is_corrected_is_a_first_no_more(rig: Rig, mail: str | None):
    """It is held as before; the second goes its own way at its next look, seconds later, and has its own turn."""
    life = Life(rig)
    first, second = held_first(rig)
    rig.rest_org.update(first, Email=mail)
    life.intake.step()
    rig.drain()
    rig.clock.advance(6)
    rig.drain()

    assert (rig.lead(first)["Routing_Status__c"], rig.owner(second), rig.turns()) == ("Held", "Bob", [1])


def test_the_lead_that_was_read_tells_its_submission_not_the_job_of_before(rig: Rig):
    """Where no event told of the correction the second goes all the same."""
    first, second = held_first(rig)
    rig.rest_org.update(first, Email="other@acme.example")
    rig.clock.advance(6)
    rig.drain()

    assert (rig.owner(second), rig.outcomes()) == ("Bob", ["queued", "assigned"])


@pytest.mark.parametrize("how", ["dead", "deleted", "owned"])
def test_nobody_waits_for_a_first_that_waits_no_more(rig: Rig, how: str):
    """Its job is dead, or it is read with the second and known at once to need no owner."""
    rest = rig.rest_org
    (rule,) = rest.rows("Routing_Rule__c")
    rest.update(rule["Id"], Active__c=False)
    nobody = rig.worker()
    (first,) = rig.leads(1, Email=MAIL)
    rig.drain(nobody)
    match how:
        case "dead":
            rig.clock.advance(60)
            rig.store.end([(job, Bury("refused")) for job in rig.store.claim("x", limit=1, lease_s=60)])
        case "deleted":
            rest.delete(first)
        case "owned":
            rest.update(first, OwnerId=rest.refs["bob"])
    (second,) = rig.leads(1, Email=MAIL)
    used = rig.calls()
    rig.drain()

    assert (rig.owner(second), rig.turns()) == ("Ann", [1])
    assert rig.calls() - used == (3 if how == "deleted" else 2)


@pytest.mark.parametrize("how", ["deleted", "owned"])
def test_a_row_tells_what_became_of_the_first_that_was_waited_for(rig: Rig, how: str):
    """The first's job is over by then: it is read once more, by one call, when nobody asks for it any more."""
    rest = rig.rest_org
    (rule,) = rest.rows("Routing_Rule__c")
    rest.update(rule["Id"], Criteria__c="Country = 'France'")
    (first,) = rig.leads(1, Email=MAIL)
    router = rig.worker()
    rig.drain(router)
    rig.clock.advance(1)
    (second,) = rig.leads(1, Email=MAIL, Country="France")
    rig.drain(router)
    if how == "deleted":
        rest.delete(first)
    else:
        rest.update(first, OwnerId=rest.refs["bob"])
    rig.store.ask_leads([first])
    rig.drain(router)
    used = rig.calls()
    rig.store.ask_leads([second])
    rig.drain(router)
    (row,) = rig.ledger()
    fate = "was deleted" if how == "deleted" else "was taken by hand before it was routed"

    assert row["Explanation__c"].startswith(
        f"Lead {first} of the same submission, for which it waited, {fate}; so it is routed by itself. Rule 'All'"
    )
    assert rig.calls() - used == (4 if how == "deleted" else 3)


@pytest.mark.parametrize(("duplicates", "window_s", "asked"), [("off", 600, 0), ("live", 0, 0), ("live", 600, 1)])
def test_jobs_are_looked_up_once_a_batch_and_never_where_duplicates_are_not_looked_for(
    tmp_path: Path, duplicates: str, window_s: int, asked: int
):
    """Neither under a switch that is off nor with a window of 0, though jobs of before bear keys; else by one query."""
    live = Rig(tmp_path)
    live.leads(9, Email=MAIL)
    live.close()
    live.intake = Intake(submission_window_s=window_s, rollout=Rollout(duplicates=Switch(duplicates)))
    store = live.open()
    router = live.worker(live.connect(), store=store)
    queries = Counter()
    store._engine.read = counting(store._engine.read, queries)
    assert router.step()
    live.close()

    assert queries[sql.SIBLINGS] == asked


def counting(read: Callable[[Sequence[Step]], Any], queries: Counter[str]) -> Callable[[Sequence[Step]], Any]:
    """The read of an engine, with its statements counted."""

    def counted(steps: Sequence[Step]) -> Any:
        queries.update(statement for statement, _ in steps)
        return read(steps)

    return counted


def test_where_duplicates_are_observed_the_second_goes_its_way_and_tells_of_the_wait(tmp_path: Path):
    """Observe writes what live would have done, of a first of an earlier batch too."""
    rig = Rig(tmp_path, intake=Intake(rollout=Rollout(duplicates=Switch.OBSERVE)))
    first, second = held_first(rig)
    (row,) = rig.ledger()
    rig.close()

    assert (row["Lead__c"], rig.owner(second)) == (second, "Bob")
    assert (
        f"Duplicates are only observed; live, it waits for lead {first} of the same submission" in row["Explanation__c"]
    )


def test_a_second_lead_waits_for_a_first_that_has_had_its_observed_turn(rig: Rig):
    """A group that only observes gives a submission one turn there too, whether or not both are asked for together."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Observe")
    (first,) = rig.leads(1, Email=MAIL)
    rig.drain()
    seconds = []
    for together in (True, False):
        if together:
            rig.store.ask_held()
        seconds += rig.leads(1, Email=MAIL)
        rig.drain()

    assert [one.what.lead_id for one in rig.store.observations(limit=9)] == [first]
    waits = f"waits for lead {first} of the same submission, which has no owner yet"
    assert [rig.lead(one)["Routing_Error__c"] for one in seconds] == [waits] * 2


def test_a_request_that_tells_no_submission_is_a_first_once_it_was_held(rig: Rig):
    """Where a trigger asks for routing its event bears an id alone: the keys are those of the lead as it was read."""
    rest = rig.rest_org
    rest.update(rest.refs["emea"], Mode__c="Off")
    first = rest.lead(MAIL)
    rig.store.record([NewJob(f"asked.{first}", first, first, {})])
    rig.drain()
    rest.update(rest.refs["emea"], Mode__c="Live")
    (second,) = rig.leads(1, Email=MAIL)
    rig.drain()
    assert rig.turns() == []
    rig.clock.advance(60)
    rig.drain()

    assert (rig.owner(first), rig.owner(second), rig.turns()) == ("Ann", "Ann", [1])


def test_it_follows_the_present_owner_whoever_gave_it(rig: Rig):
    """A person moved the first lead by hand: the second goes where the first is now."""
    (first,) = rig.leads(1, Email=MAIL)
    rig.drain()
    rig.rest_org.update(first, OwnerId=rig.rest_org.refs["bob"])
    (second,) = rig.leads(1, Email=MAIL)
    rig.drain()

    assert (rig.owner(second), rig.turns()) == ("Bob", [1])


def test_if_the_first_is_gone_it_routes_by_itself(rig: Rig):
    """Nobody waits for a lead that was deleted."""
    (first,) = rig.leads(1, Email=MAIL)
    rig.drain()
    rig.rest_org.delete(first)
    (second,) = rig.leads(1, Email=MAIL)
    rig.drain()

    assert (rig.owner(second), rig.turns(), rig.outcomes()) == ("Bob", [1, 2], ["assigned", "assigned"])


def test_another_buyer_or_a_later_submission_is_no_duplicate(rig: Rig):
    """Two windows later the same buyer counts anew; another buyer always does."""
    rig.leads(1, Email=MAIL)
    rig.leads(1, Email="other@acme.example")
    rig.drain()
    rig.clock.advance(1300)
    rig.leads(1, Email=MAIL)
    rig.drain()

    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3], ["assigned"] * 3)


def test_the_same_delivery_three_times_is_one_job(rig: Rig):
    """A28, C10: the idempotency key is what the event is, not when it arrived."""
    lead = rig.rest_org.lead()
    for _ in range(3):
        rig.told(lead)
        rig.drain()

    assert (len(rig.jobs()), rig.turns()) == (1, [1])
