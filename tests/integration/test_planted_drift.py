"""Drift planted among a thousand leads: found with its turn, and nothing else; `benchmarks.verification` takes more."""

from __future__ import annotations

import pytest

from lead_router.app.verifying import verified_in
from lead_router.core.drift import Drift
from lead_router.salesforce.books import SalesforceBooks
from support.planted_drift import Company, Planted


@pytest.fixture
def company(tmp_path):
    made = Company(tmp_path)
    yield made
    made.rig.close()


def test_three_drifts_among_a_thousand_leads_are_found_with_their_turns(company):
    """No drift before; afterwards these three, and the job whose row is gone. What the ledger proves is mended."""
    company.live(1_000)
    rig = company.rig
    books = SalesforceBooks(rig.rest_org.rest)
    before = verified_in(books, rig.store)
    assert (before.findings, before.notes) == ((), ())
    assert before.rows > 1_000
    planted = company.plant()

    after = verified_in(books, rig.store, write=True)
    assert [one.refused for one in after.changes] == [None] * 2
    assert {one.kind for one in after.findings} == {Drift.MISSING, Drift.JOB}
    assert {Planted(one.kind, one.group, one.epoch, one.turn) for one in after.findings if one.group} < planted


def test_what_was_planted_is_what_is_found(company):
    """Without a repair."""
    company.live(200)
    planted = company.plant()
    seen = verified_in(SalesforceBooks(company.rig.rest_org.rest), company.rig.store)

    assert {Planted(one.kind, one.group, one.epoch, one.turn) for one in seen.findings if one.group} == planted
