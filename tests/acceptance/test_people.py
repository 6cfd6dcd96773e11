"""Two routers and a person: who takes a lead by hand keeps it, whatever the routers do at that moment."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import company
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form, Person
from support.verdict import books, owners_given, routed_once, turns_in_order

LEADS = 160
LATE = 5
SETTLE_S = 30.0


@pytest.mark.parametrize("kind", ["own files", pytest.param("one database", marks=pytest.mark.postgres)])
def test_a_lead_taken_by_hand_is_never_overwritten(router_at, request, kind):
    """P62, B23: two routers and a person; each lead that the person took stays theirs, and no lead is given twice.

    Commits are slowed down, so that hands fall between a router's reading and its writing. The change events tell that
    no other owner came after the person.
    """
    shared = None if kind == "own files" else request.getfixturevalue("postgres_url")
    with simulator(scenario=company.scenario()) as org:
        made = [router_at(org, name=name, database=shared or "sqlite:///jobs.db") for name in ("one", "two")]
        org.control("faults", {"name": "latency_ms", "path": "/composite", "count": None, "value": 120})
        with routers(*made):
            form, person = Form(org), Person(org)
            taken = _taking(form, person, random.Random(62))
            kept = [lead_id for lead_id in form.created if lead_id not in taken]
            until(lambda: _owned(org, kept), SETTLE_S, "an owner for every lead that nobody took")
            late = [kept.pop() for _ in range(LATE)]
            for lead_id in late:
                person.take(lead_id)
            assert [router.stop() for router in made] == [0, 0]
        seen = books(org)
        assert {seen.leads[lead_id]["OwnerId"] for lead_id in taken + late} == {person.id}
        given = owners_given(org)
        rows = Counter(row["Lead__c"] for row in seen.ledger)
        # Taken before any router wrote: the person is the one owner and there is no ledger row. Else both came in turn.
        told = {lead_id: (len(given[lead_id]), given[lead_id][-1], rows[lead_id]) for lead_id in taken + late}
        assert set(told.values()) == {(1, person.id, 0), (2, person.id, 1)}
        routed_once(seen, kept)
        turns_in_order(seen)


def _taking(form, person, dice):
    """Leads arrive from four threads, and a person takes every second one within a moment; the ids of those."""
    taken = []
    pauses = [dice.uniform(0, 0.4) for _ in range(LEADS)]

    def live(number):
        lead_id = form.post(company.lead(number))
        if number % 2:
            time.sleep(pauses[number])  # a person looks, then takes
            person.take(lead_id)
            taken.append(lead_id)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(live, range(LEADS)))
    return taken


def _owned(org, lead_ids):
    owners = {row["Id"]: row["OwnerId"] for row in org.rows("Lead")}
    return all(owners[lead_id].startswith("005") for lead_id in lead_ids)
