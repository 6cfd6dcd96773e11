"""One submission is given out once; a second Lead record of it follows the first (DESIGN section 7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from org_simulator.switches import Switches
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
    """The unique index refuses the second, whichever router it came from; then it follows."""
    first, second = rig.rest_org.lead(MAIL), rig.rest_org.lead(MAIL)
    rig.told(first)
    rival = rig.worker(rig.connect(), name="rival")

    def overtake() -> None:
        rig.told(second)
        rig.drain(rival)

    rig.client.before_write.append(overtake)
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
