"""What the line, the token and the allowances do to the client, and what it makes of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lead_router.errors import LeadRouterError, OutcomeUnknown, RateLimited, SessionExpired, Unreachable
from lead_router.ports import Committed
from org_simulator.wire.exchange import Request
from org_simulator.wire.faults import (
    DROP_AFTER,
    DROP_BEFORE,
    EXPIRE_SESSION,
    HANG,
    HTML_200,
    REQUEST_LIMIT,
    STATUS,
    UNAUTHORIZED,
    UNREACHABLE,
)
from support.rest_org import RestOrg, best
from support.worker_rig import Rig


@pytest.fixture
def org() -> RestOrg:
    return RestOrg(best())


def counted(org: RestOrg, path: str) -> list[str]:
    """The targets of requests to a path, as they come."""
    seen: list[str] = []

    def note(request: Request) -> None:
        if path in request.target:
            seen.append(request.target)

    org.world.before.append(note)
    return seen


@pytest.mark.parametrize("fault", [DROP_AFTER, HANG])
def test_a_lost_answer_is_settled_by_the_ledger(org, fault) -> None:
    """B1, B13: nothing is sent twice by itself; the ledger says that the batch was written."""
    lead = org.lead()
    batch = org.batch([lead])
    sent = counted(org, "/composite")
    org.fault(fault, path="/composite")
    with pytest.raises(OutcomeUnknown):
        org.client.commit(batch)
    assert len(sent) == 1
    assert org.client.committed(batch)
    assert len(org.rows("Lead_Assignment__c")) == 1


@pytest.mark.parametrize(
    ("fault", "value"), [(DROP_BEFORE, None), (HTML_200, None), (STATUS, 503), (STATUS, 500), (STATUS, 502)]
)
def test_a_write_without_a_usable_answer_is_looked_up_and_repeated(org, fault, value) -> None:
    """B8: a page instead of JSON, with 200 or 503, says nothing of what was done."""
    batch = org.batch([org.lead()])
    org.fault(fault, path="/composite", value=value)
    with pytest.raises(OutcomeUnknown):
        org.client.commit(batch)
    assert not org.client.committed(batch)
    assert org.client.commit(batch) == Committed()


@pytest.mark.parametrize(("fault", "value"), [(DROP_BEFORE, None), (HTML_200, None), (STATUS, 503), (HANG, None)])
def test_a_read_without_an_answer_is_simply_unreachable(org, fault, value) -> None:
    configuration = org.client.configuration()
    org.fault(fault, path="/composite", value=value)
    with pytest.raises(Unreachable):
        org.client.snapshot(configuration, [], [])


def test_what_was_never_sent_was_never_done(org) -> None:
    batch = org.batch([org.lead()])
    org.fault(UNREACHABLE, path="/composite")
    with pytest.raises(Unreachable):
        org.client.commit(batch)


def test_an_expired_session_costs_one_login_and_one_repeat(org) -> None:
    """B2: the job notices nothing."""
    batch = org.batch([org.lead()])
    logins = counted(org, "/oauth2/token")
    org.fault(EXPIRE_SESSION, path="/composite")
    assert org.client.commit(batch) == Committed()
    assert len(logins) == 1


def test_a_second_refusal_is_a_fault_and_not_a_loop(org) -> None:
    batch = org.batch([org.lead()])
    logins = counted(org, "/oauth2/token")
    org.fault(UNAUTHORIZED, path="/composite", count=None)
    with pytest.raises(SessionExpired):
        org.client.commit(batch)
    assert len(logins) == 1


def test_threads_that_are_refused_together_log_in_once(org) -> None:
    """B2: eight workers share a token that dies; one login, each call repeated once."""
    configuration = org.client.configuration()
    logins, barrier = counted(org, "/oauth2/token"), threading.Barrier(8)
    org.org.sessions.revoke(org.holder.token().access_token)

    def read(_: int) -> object:
        barrier.wait()
        return org.client.snapshot(configuration, [], []).groups

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(8)))
    assert len(logins) == 1
    assert all(groups == found[0] for groups in found)


def test_a_router_that_ends_leaves_the_others_their_token(tmp_path) -> None:
    """B4: two routers of one integration user; one drains and closes, and the other sees no 401."""
    rig = Rig(tmp_path)
    leaving, staying = rig.worker(rig.connect(), name="leaving"), rig.worker(rig.connect(), name="staying")
    rig.leads(1)
    rig.drain(leaving)
    revoked, logins = counted(rig.rest_org, "/oauth2/revoke"), counted(rig.rest_org, "/oauth2/token")
    leaving.close()
    rig.leads(1)
    rig.drain(staying)
    rig.close()
    assert (rig.turns(), revoked, logins) == ([1, 2], [], [])


@pytest.mark.parametrize(("value", "daily"), [("daily", True), ("concurrent", False)])
def test_the_two_limits_are_told_apart(org, value, daily) -> None:
    """B7."""
    batch = org.batch([org.lead()])
    org.fault(REQUEST_LIMIT, path="/composite", value=value)
    with pytest.raises(RateLimited) as refused:
        org.client.commit(batch)
    assert refused.value.daily is daily


def test_the_login_is_tried_three_times_with_pauses(org) -> None:
    org.fault(STATUS, path="/oauth2/token", value=503, count=2)
    org.client.configuration()
    assert len(org.slept) == 2
    assert all(0 < pause <= 4 for pause in org.slept)


@pytest.mark.parametrize("value", [200, 503])
def test_a_maintenance_page_at_login_is_told_in_short(org, value) -> None:
    """B8: status and the start of the page, never the whole."""
    org.fault(HTML_200 if value == 200 else STATUS, path="/oauth2/token", value=value, count=None)
    with pytest.raises(Unreachable, match=str(value)) as refused:
        org.client.configuration()
    assert len(str(refused.value)) < 300


def test_no_fault_text_holds_a_secret(org) -> None:
    """F1: every way to fail, with tracebacks in mind: neither text nor cause nor repr shows token or secret."""
    batch = org.batch([org.lead("ada.lovelace@example.org")])
    secrets = [org.holder.token().access_token, org.world.app.client_secret, "lovelace"]
    for fault, value in (
        (DROP_BEFORE, None),
        (UNREACHABLE, None),
        (HTML_200, None),
        (STATUS, 500),
        (UNAUTHORIZED, None),
        (REQUEST_LIMIT, "daily"),
    ):
        org.world.faults.clear()
        org.fault(fault, path="/composite", value=value, count=None)
        with pytest.raises(LeadRouterError) as refused:
            org.client.commit(batch)
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
        for secret in secrets:
            assert secret not in repr(refused.value)
    assert org.holder.token().access_token not in repr(org.holder.token())


def test_changes_are_known_as_the_router_s_own(org) -> None:
    """P46: the call names its client, and so does each part that writes a lead."""
    seen: list[str] = []
    org.org.listeners.append(
        lambda changes: seen.extend(change.origin for change in changes if change.sobject == "Lead")
    )
    lead = org.lead()
    seen.clear()
    assert org.client.commit(org.batch([lead])) == Committed()
    assert seen
    assert all(origin.endswith("client=lead-router") for origin in seen)


def test_calls_and_allowance_are_counted(org) -> None:
    org.client.configuration()
    usage = org.rest.usage()
    assert (usage.calls, usage.used, usage.allowed) == (3, org.calls(), org.org.calls_allowed)
