"""Every number of the report, reckoned by hand on one history of 25 leads, and compared with the page's.

Leads 1 to 20 come at 9:00, 9:01 … 9:19 to the queue, and the router gives them to Ana, Ben, Ana, Ben … after 10 s
each; lead 20 after 600 s instead. Of lead 1 the sync makes Ben the owner 60 s after Ana had it. Ana hands lead 3 on to
Ben an hour later. Leads 21 to 24 come at 9:30: 21 and 22 lie in the queue for two days, 23 is taken from it by Ana
after 120 s, 24 was created by Ben for himself. Lead 5 has the e-mail address of lead 4. Lead 25 was created for Ana.
"""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta

import pytest

from lead_router.app.auditing import Asked, audit_files
from lead_router.audit import page, summary
from lead_router.core import decay
from lead_router.core.ids import to18

NINE = datetime(2026, 9, 21, 9, tzinfo=UTC)
ANA, BEN, ROUTER, SYNC, WEB = (f"0055f00000000{number:02}" for number in range(1, 6))
QUEUE = "00G5f0000000001"
LEAD = ("Id", "CreatedDate", "OwnerId", "CreatedById", "LeadSource", "Email", "Phone", "IsConverted")


def lead_id(number: int) -> str:
    return f"00Q5f00000000{number:02}"


def at(minutes: float, seconds: float = 0) -> str:
    return f"{NINE + timedelta(minutes=minutes, seconds=seconds):%Y-%m-%dT%H:%M:%S.000Z}"


def rows():
    leads, history = [], []
    for number in range(1, 21):
        rep = (BEN, ANA)[number % 2]
        wait = 600 if number == 20 else 10
        owner = BEN if number in {1, 3} else rep
        mail = "one@buyer.example" if number in {4, 5} else f"{number}@buyer.example"
        leads.append((lead_id(number), at(number - 1), owner, WEB, "Web", mail, "", "false"))
        history.append((lead_id(number), ROUTER, at(number - 1, wait), "Owner", QUEUE, rep))
    history.append((lead_id(1), SYNC, at(0, 70), "Owner", ANA, BEN))
    history.append((lead_id(3), ANA, at(62, 10), "Owner", ANA, BEN))
    for number, owner, creator in ((21, QUEUE, WEB), (22, QUEUE, WEB), (23, ANA, WEB), (24, BEN, BEN)):
        leads.append((lead_id(number), at(30), owner, creator, "Web", f"{number}@buyer.example", "", "false"))
    history.append((lead_id(23), ANA, at(32), "Owner", QUEUE, ANA))
    leads.append((lead_id(25), at(2 * 1440), ANA, WEB, "Phone", "25@buyer.example", "", "true"))
    return leads, history


@pytest.fixture
def audit(tmp_path):
    tables = {
        "Lead": (
            ("Id", "CreatedDate", "OwnerId", "CreatedById", "LeadSource", "Email", "Phone", "IsConverted"),
            rows()[0],
        ),
        "LeadHistory": (("LeadId", "CreatedById", "CreatedDate", "Field", "OldValue", "NewValue"), rows()[1]),
        "User": (
            ("Id", "Name", "IsActive", "UserType", "LastLoginDate"),
            [
                (ANA, "Ana", "true", "Standard", at(0)),
                (BEN, "Ben", "true", "Standard", at(0)),
                (ROUTER, "Router", "true", "AutomatedProcess", ""),
                (SYNC, "Sync", "true", "AutomatedProcess", ""),
                (WEB, "Web", "true", "AutomatedProcess", ""),
            ],
        ),
        "Group": (("Id", "Name", "Type"), [(QUEUE, "Leads", "Queue")]),
    }
    for name, (heads, told) in tables.items():
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([heads, *told])
    return audit_files(tmp_path, Asked(zone="UTC"))


def cards(text: str) -> dict[str, str]:
    found = re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)<small>([^<]+)</small>", text)
    return {name: f"{figure.strip()} | {more}" for name, figure, more in found}


def test_waits(audit):
    """23 leads had a rep; two at once (24, 25), 19 after 10 s, lead 23 after 120 s, lead 20 after 600 s.

    In order: 0, 0, 19 times 10, 120, 600: the 12th of 23 is 10 s, the 21st (90 of 100) 10 s, the 22nd (95) 120 s.
    """
    waits = audit.waits.elapsed

    assert (audit.leads, audit.owned, audit.changes) == (25, 23, 23)
    assert (waits.leads, waits.p50, waits.p90, waits.p95, waits.most, waits.late) == (23, 10, 10, 120, 600, 1)
    told = cards(page(audit))
    assert told["Median wait for a rep"] == "10 s | 95 of 100 within 2 min"
    assert told["Waited over five minutes"] == "4% | 1 lead, nights included"  # 1 of 23 is 4.3 %


def test_doubles_and_records_of_one_buyer(audit):
    """Lead 1 alone: lead 3 was handed on, 23 taken. Leads 4 (Ben) and 5 (Ana) are one buyer's, a minute apart."""
    assert [(one.lead, one.apart_s) for one in audit.doubles] == [(to18(lead_id(1)), 60.0)]
    (finding,) = (one for one in audit.findings if one.kind == "doubles")
    assert finding.told.startswith(
        "1 lead came to two reps within 10 minutes, because Router wrote first and Sync wrote over it."
    )
    # Owners after 10 s and 70 s, and a minute to the call: both within five minutes, so nothing is lost by the curve.
    assert finding.lost == pytest.approx(0.0)
    assert [(one.lead, one.twin, one.apart_s) for one in audit.twins] == [(to18(lead_id(4)), to18(lead_id(5)), 60.0)]
    (finding,) = (one for one in audit.findings if one.kind == "twins")
    assert finding.told.startswith("1 lead record is of a buyer who had come within a day before")
    assert cards(page(audit))["Given to two reps"] == "1 | lead, within ten minutes"


def test_leads_that_nobody_had(audit):
    """21 and 22, two days old less half an hour when lead 25 came; fewer than five are no finding."""
    assert audit.waits.never == (to18(lead_id(21)), to18(lead_id(22)))
    assert cards(page(audit))["Never given to anybody"] == "2 | leads, 2 lie in a queue"
    assert "never" not in {one.kind for one in audit.findings}


def test_who_writes_owners(audit):
    """The router 20 leads, all first; the sync moved one; Ana handed one on, took one; the web made lead 25 Ana's."""
    told = {audit.name(one.writer): one for one in audit.writers}

    assert set(told) == {"Router", "Sync", "Ana", "Web"}
    assert (told["Router"].leads, told["Router"].first, told["Router"].writes) == (20, 20, 20)
    assert (told["Sync"].moved, told["Sync"].first) == (1, 0)
    assert (told["Ana"].handed, told["Ana"].took, told["Ana"].first) == (1, 1, 1)
    assert (told["Web"].at_creation, told["Web"].writes) == (1, 0)
    assert cards(page(audit))["Machines that write owners"] == "3 | 1 person wrote some too"


def test_what_is_too_little(audit):
    """Of 20 leads, 20 rounds and two days no share, poller or year is told."""
    text = summary(audit)

    assert "pollers: too little to say (20 of 60 rounds of one writer and source needed)" in text
    assert "shares, runs and lost turns: too little to say (20 of 60 leads that one machine gave out needed)" in text
    assert "costs by the year: too little to say (2 of 28 days needed)" in text
    assert audit.shares == audit.polls == audit.resets == ()


def test_a_cost_by_the_curve(audit):
    """Lead 20 had a rep after 10 min, a call after 11: odds fall from 1/4 at 10 min to 1/21 at 30, by time's log."""
    odds = 0.25 * (4 / 21) ** 0.08676  # ln(11/10) / ln(30/10) = 0.08676
    chance = (odds / 9) / (1 + odds / 9)  # one in ten qualifies within five minutes: odds of 1 to 9

    assert decay.chance(11) == pytest.approx(chance, rel=1e-3)
    assert decay.lost([11]) == pytest.approx(0.1 - chance, rel=1e-3)
