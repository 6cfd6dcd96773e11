"""A login that the org refuses while a router runs: it waits for a person, asks seldom, loses nothing and goes on."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from lead_router.errors import LoginRefused
from lead_router.loops.upkeep import Upkeep
from lead_router.salesforce.auth import REFUSED_MAX_S
from org_simulator.wire import scenario, start
from support.rest_org import PEOPLE
from support.worker_rig import Rig

HOUR_S = 3600


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def freeze(rig: Rig, *, frozen: bool = True) -> None:
    """The user that the router is, in Setup."""
    (login,) = (row["Id"] for row in rig.rest_org.rows("UserLogin") if row["UserId"] == rig.org.integration_user_id)
    rig.rest_org.update(login, IsFrozen=frozen)


def lives(rig: Rig, upkeep: Upkeep, seconds: int) -> int:
    """Both loops, each second; how many of their steps met the refusal."""
    met = 0
    for _ in range(seconds):
        for loop in (upkeep, rig.router):
            try:
                loop.step()
            except LoginRefused:
                met += 1
        rig.clock.advance(1)
    return met


@pytest.fixture
def upkeep(rig: Rig):
    return rig.upkeep(breaker=rig.breaker)


def test_a_router_whose_user_is_frozen_for_an_hour_loses_nothing_and_goes_on(rig: Rig, upkeep: Upkeep):
    """A lead that was told of and one that was not are routed within two minutes of the thaw, no attempt used up."""
    (told,) = rig.leads(1)
    freeze(rig)
    unheard = rig.rest_org.lead()
    lives(rig, upkeep, HOUR_S)
    queue, waits = rig.store.queue(), rig.breaker.why()
    freeze(rig, frozen=False)
    lives(rig, upkeep, 120)

    assert (queue.queued, queue.dead, queue.done) == (1, 0, 0)
    assert waits is not None
    assert waits.startswith("LoginRefused: Salesforce refused the login (invalid_grant")
    assert sorted([rig.owner(told), rig.owner(unheard)]) == ["Ann", "Bob"]
    assert {job.attempts for job in rig.store.jobs(status=None, limit=10)} == {1}
    assert rig.breaker.why() is None


def test_no_login_is_asked_for_more_than_once_a_minute(rig: Rig, upkeep: Upkeep):
    """Salesforce allows so many an hour; the few calls beside them find that their token is refused."""
    rig.leads(3)
    freeze(rig)
    logins, requests = rig.client._rest._tokens._logins, rig.rest_org.world.requests
    lives(rig, upkeep, HOUR_S)

    assert rig.client._rest._tokens._logins - logins <= HOUR_S / REFUSED_MAX_S + 5
    assert rig.rest_org.world.requests - requests <= 5 * HOUR_S / REFUSED_MAX_S


def test_one_error_says_what_to_do_and_one_line_that_it_is_over(rig: Rig, upkeep: Upkeep):
    """By name, and as no fault of a rule or group; each spell anew, whether the thaw revives the session or not."""
    rig.leads(1)
    with capture_logs() as logs:
        for revived in (True, False):
            freeze(rig)
            if not revived:
                rig.org.sessions.revoke_all()
            lives(rig, upkeep, 600)
            freeze(rig, frozen=False)
            lives(rig, upkeep, 120)

    told = [line for line in logs if line["event"] in {"login_refused", "login_accepted", "configuration_refused"}]
    assert [line["event"] for line in told] == ["login_refused", "login_accepted"] * 2
    assert told[0]["log_level"] == "error"
    for word in ("LEAD_ROUTER_CLIENT_SECRET", "frozen"):
        assert word in told[0]["error"]
    assert "mend what the error names" in told[0]["remedy"]


def test_routing_goes_on_with_the_first_answer_also_where_nothing_waits(rig: Rig, upkeep: Upkeep):
    """What is not ready for want of a login is ready again once a sweep went well."""
    lives(rig, upkeep, 2)
    freeze(rig)
    met = lives(rig, upkeep, 600)
    shut = rig.breaker.why()
    freeze(rig, frozen=False)
    lives(rig, upkeep, 61)

    assert met > 5
    assert (shut is None, rig.breaker.why(), rig.breaker.open_s()) == (False, None, 0.0)


def test_a_login_that_suddenly_leads_to_another_org_writes_nothing_there(rig: Rig, upkeep: Upkeep):
    """As after a sandbox was refreshed: one error says so and what to do, the router is not ready, and no job is lost.

    The other org has the same people, rules and an unassigned lead: whoever wrote there would find work.
    """
    (told,) = rig.leads(1)
    world = rig.rest_org.world
    other = start.world(clock=rig.clock, seed=8).org
    scenario.load(other, PEOPLE)
    with other.transaction(other.admin_user_id) as opened:
        theirs = str(opened.insert("Lead", {"LastName": "Buyer", "Company": "Buyers Ltd"}))
    owner, written = other.store.tables["lead"].rows[theirs]["OwnerId"], []
    other.listeners.append(written.append)
    with capture_logs() as logs:
        world.org = other
        met = lives(rig, upkeep, 600)
        waits, queue = rig.breaker.why(), rig.store.queue()
        world.org = rig.org
        lives(rig, upkeep, 120)

    refused = [line for line in logs if line["event"] == "login_refused"]
    assert (len(refused), refused[0]["log_level"]) == (1, "error")
    for word in ("LEAD_ROUTER_LOGIN_URL", rig.org.org_id, other.org_id, "restart this router"):
        assert word in refused[0]["error"]
    assert "another org that is meant, needs a restart" in refused[0]["remedy"]
    assert not [line for line in logs if "exc_info" in line]
    assert (met > 0, (waits or "").partition(":")[0], queue.queued, queue.dead) == (True, "LoginRefused", 1, 0)
    assert (written, other.store.tables["lead"].rows[theirs]["OwnerId"]) == ([], owner)
    assert rig.owner(told) in {"Ann", "Bob"}
