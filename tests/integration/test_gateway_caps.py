"""Caps are exact, whoever races: the count stands in the member's row and moves with the turn that it counts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from lead_router.core.decide import batches
from lead_router.errors import RowLocked
from lead_router.ports import Committed
from lead_router.salesforce.gateway import SalesforceOrg
from support.rest_org import RestOrg, best, worst

ROUTERS = 3
LEADS = 20
ROUNDS_MAX = 400


@pytest.fixture(params=[best, worst])
def org(request: pytest.FixtureRequest) -> RestOrg:
    return RestOrg(request.param())


def race(org: RestOrg, leads: Sequence[str], size: int) -> None:
    """Routers that all see all leads, each writing `size` of them at a time, until none has anything left to write."""
    routers = [org.connect()[2] for _ in range(ROUTERS)]
    start = threading.Barrier(ROUTERS)

    def route(router: SalesforceOrg) -> None:
        start.wait()
        for _ in range(ROUNDS_MAX):
            waiting = [lead for lead in leads if org.row(lead)["Routing_Round__c"] is None][:size]
            batched = batches(org.decided(waiting, router)) if waiting else []
            if not batched:
                return
            for batch in batched:
                with suppress(RowLocked):
                    router.commit(batch)
        raise AssertionError("the race does not end")

    with ThreadPoolExecutor(ROUTERS) as pool:
        for done in [pool.submit(route, router) for router in routers]:
            done.result(timeout=120)


@pytest.mark.parametrize("size", [1, LEADS], ids=["one by one", "all at once"])
def test_a_cap_of_five_gives_five_of_twenty_leads(org, size) -> None:
    """P31: three routers at once; the others wait, and the next day gives five more."""
    org.update(org.refs["ann_emea"], Daily_Cap__c=5)
    org.update(org.refs["bob_emea"], Active__c=False)
    leads = [org.lead(f"p{number}@example.org") for number in range(LEADS)]
    race(org, leads, size)
    owned = [org.row(lead)["OwnerId"] for lead in leads].count(org.refs["ann"])
    member = org.row(org.refs["ann_emea"])
    assert (owned, member["Cap_Count__c"], member["Leads_Received__c"]) == (5, 5, 5)
    assert [row["Turn__c"] for row in org.rows("Lead_Assignment__c")] == [1, 2, 3, 4, 5]
    org.clock.advance(24 * 3600)
    race(org, leads, size)
    assert [org.row(lead)["OwnerId"] for lead in leads].count(org.refs["ann"]) == 10


def test_a_cap_on_open_leads_is_exact_in_a_race(org) -> None:
    """P31: the count is read behind the group's turn: a commit that rests on an old count rests on an old turn."""
    org.update(org.refs["ann_emea"], Open_Lead_Cap__c=5)
    org.update(org.refs["bob_emea"], Active__c=False)
    org.lead(OwnerId=org.refs["ann"])
    leads = [org.lead(f"p{number}@example.org") for number in range(LEADS)]
    race(org, leads, 3)
    assert [org.row(lead)["OwnerId"] for lead in leads].count(org.refs["ann"]) == 4


def test_a_refused_commit_counts_nothing(org) -> None:
    """D25: a lead that someone took before the write costs no turn and no place under a cap."""
    org.update(org.refs["ann_emea"], Daily_Cap__c=5)
    org.update(org.refs["bob_emea"], Active__c=False)
    taken, other = org.lead("a@example.org"), org.lead("b@example.org")
    batch = org.batch([taken, other])
    org.update(taken, OwnerId=org.org.admin_user_id)
    assert org.client.commit(batch) != Committed()
    member = org.row(org.refs["ann_emea"])
    assert (member["Cap_Day__c"], member["Cap_Count__c"], member["Next_Turn__c"]) == (None, None, None)
