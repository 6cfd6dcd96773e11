"""The audit of an org over the wire: reads alone, by any API user, with nothing of ours deployed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.app.auditing import Asked, audit_rest
from lead_router.audit import email_digest, phone_digest
from lead_router.salesforce.history import OrgHistory
from org_simulator.switches import Switches
from support.audited_org import DAYS, LEADS, START, Audited


@pytest.mark.parametrize("told", [True, False])
def test_the_owner_that_creation_itself_gives_is_no_double_and_no_wait(tmp_path, told):
    """Whether or not the history tells of the owner that an assignment rule gave: the findings are the same."""
    org = Audited(tmp_path, switches=replace(Switches(), history_tells_first_owner=told))
    org.live()
    for number in range(LEADS):
        org.clock.advance(600)
        by, rep = (("Ana", "Ben"), ("Sync", "Cleo"), ("Ben", "Ben"))[number % 3]
        named = {"LastName": "Roe", "Company": "Acme", "LeadSource": "Phone"}
        org.insert("Lead", by=org.people[by], OwnerId=org.people[rep], **named)

    audit = audit_rest(org.rest(), Asked(days=DAYS), lambda _: None, at=org.clock.now)

    assert [one.lead for one in audit.doubles] == org.doubled
    assert (audit.leads, audit.owned, audit.waits.elapsed.p95) == (2 * LEADS, 2 * LEADS, 3.0)
    assert [one.kind for one in audit.findings] == ["doubles"]


@pytest.fixture
def audited(tmp_path) -> Audited:
    org = Audited(tmp_path)
    org.live()
    return org


def test_an_org_is_measured_by_reads_alone(audited):
    """Every request but the log-in is a GET; what it takes is told before, and counted."""
    told: list[str] = []
    audited.asked.clear()
    used = audited.org.calls_used

    audit = audit_rest(audited.rest(), Asked(days=DAYS), told.append, at=audited.clock.now)

    assert {method for method, target in audited.asked if "/oauth2/" not in target} == {"GET"}
    assert [one.lead for one in audit.doubles] == audited.doubled
    assert {(audit.name(one.one_by), audit.name(one.other_by)) for one in audit.doubles} == {("Router", "Sync")}
    assert (audit.leads, audit.owned, audit.waits.elapsed.p50) == (LEADS, LEADS, 3.0)
    assert audit.calls == audited.org.calls_used - used
    assert audit.calls == 12
    rows = 2 * (LEADS + len(audited.doubled))
    (line,) = told
    assert line.startswith(
        f"reading {LEADS} leads of {DAYS} days and {rows} rows of history: about 12 API calls; 99,997 "
    )
    assert line.endswith("of the day's 100,000 are left; nothing is written")


def test_pages_bring_every_row_once(audited):
    """Also where a second has more rows than a page: by creation and id, each behind the last one."""
    since = START - timedelta(days=1)
    audited.clock.advance(1)
    for number, lead in enumerate(audited.leads):
        audited.give(lead, ("Cleo", "Ana", "Ben")[number % 3], "Sync")

    pages = [OrgHistory(audited.rest(), digests=(email_digest, phone_digest), page=size) for size in (7, 2_000)]

    few, whole = (
        [list(one.leads(since)), list(one.owner_rows(since)), sorted(map(str, one.people()))] for one in pages
    )
    assert few == whole
    assert len(whole[1]) == 2 * (2 * LEADS + len(audited.doubled))


def test_without_the_history_it_says_so_and_goes_on(tmp_path):
    """An org that tracks nothing, or a user who may not read it."""
    org = Audited(tmp_path, lead_history=False)
    org.live()
    told: list[str] = []

    audit = audit_rest(org.rest(), Asked(days=DAYS), told.append, at=org.clock.now)

    assert "no history" in told[0]
    assert audit.told[0] == (
        "the history of owners cannot be read: this user may not read LeadHistory, or the org keeps none"
    )
    assert (audit.leads, audit.history, audit.doubles) == (LEADS, False, ())


def test_only_so_many_days_are_read(audited):
    """Older leads do not count, nor do their changes."""
    audited.clock.advance(86_400)

    audit = audit_rest(audited.rest(), Asked(days=1), lambda _: None, at=audited.clock.now)

    assert audit.leads == 0
    assert audit.findings == ()


def test_the_org_s_own_hours_and_zone_count(audited):
    """Unless they are never closed, as a new org's are: then a guess is told."""
    org = audited.org
    (hours,) = (row["Id"] for row in org.store.tables["businesshours"].rows.values())
    guessed = audit_rest(audited.rest(), Asked(days=DAYS), lambda _: None, at=audited.clock.now)
    week = {f"{day}{end}Time": None for day in ("Saturday", "Sunday") for end in ("Start", "End")}
    with org.transaction(org.admin_user_id) as opened:
        opened.update("BusinessHours", hours, {**week, "TimeZoneSidKey": "Asia/Tokyo"})
        opened.update("Organization", org.org_id, {"TimeZoneSidKey": "Europe/Paris"})

    own = audit_rest(audited.rest(), Asked(days=DAYS), lambda _: None, at=audited.clock.now)

    assert (guessed.zone, guessed.told[-1]) == (
        "UTC",
        "business hours are a guess: Monday to Friday, 9 to 17, UTC (--hours says others)",
    )
    assert (own.zone, own.hours, own.placed) == ("Asia/Tokyo", "Default", True)
    assert not any("guess" in told for told in own.told)
