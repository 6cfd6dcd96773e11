"""The console's pages say what is so, whatever leads are called, and say what they could not look at."""

from __future__ import annotations

import csv
import io
import re
import time

import pytest

from lead_router.app.gauges import GAP, of_groups
from lead_router.app.looking import group_statuses
from lead_router.console import pages, verdicts
from lead_router.console.acts import LINES_MAX
from lead_router.console.kept import inert
from lead_router.ports import NewJob
from org_simulator.wire.faults import Fault
from support.console_rig import ConsoleRig, console_rig, words

HOSTILE = "<script>alert(1)</script>"
TEXTS = (HOSTILE, '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "{{ 7 * 7 }}", "\u202egnp.exe")


@pytest.fixture
def rig(tmp_path):
    with console_rig(tmp_path) as made:
        yield made


def test_now_tells_what_waits_what_is_dead_and_what_was_given(rig: ConsoleRig):
    """Unassigned and for how long, in flight, dead, who listens; the last leads with their owners and waits."""
    rig.leads(2, FirstName="Jo")
    rig.drain()
    rig.clock.advance(700)
    rig.rest_org.lead()
    rig.bury(rig.rest_org.lead(), "refused")
    with rig.console() as browser:
        page = browser.get("/")
        told = words(page)

    assert "Unassigned 2 oldest waits" in told
    assert "Dead 1 waits for a person" in told
    assert "No router runs: none has listened on this job database yet" in told
    assert "1 job is dead: its lead waits for a person" in told
    assert "Jo Doe Ann EMEA (emea) assigned" in told
    assert "share of the last 2 leads that had an owner" in told
    assert page.text.count("<svg") == 2


def test_groups_tell_who_is_next_and_why_somebody_is_off_duty(rig: ConsoleRig):
    """Turns against the fair share; an absence with its end, an admin's word without one; who left is still counted."""
    org = rig.rest_org
    org.update(org.refs["bob_emea"], Weight__c=2)
    rig.leads(4)
    rig.drain()
    now = rig.clock.now()
    org.insert("Member_Absence__c", User__c=org.refs["ann"], Start__c=now.isoformat(), End__c="2026-12-24T08:00:00Z")
    cem = org.insert("User", Username="cem@sim.example", LastName="Cem")
    org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=cem, Active__c=False)
    with rig.console() as browser:
        told = words(browser.get("/groups?days=1"))
        assert "4 turns in the period" in told
        assert "EMEA ( emea )" in told
        assert "Next is Bob ." in told
        assert "Bob 2 3 0 +0.3 on duty, next" in told
        assert "Ann 1 1 – −0.3 absent until 2026-12-24 08:00Z (24 Dec 00:00 -08:00)" in told  # noqa: RUF001 - as shown
        assert "Cem 1 0 – – member inactive" in told  # noqa: RUF001 - nothing
        assert "08:00:00Z" not in told
        org.delete(org.refs["ann_emea"])
    with rig.console() as browser:
        assert "Ann – 1 – – no member any more" in words(browser.get("/groups"))  # noqa: RUF001 - nothing
        assert "Turns of the last" in words(browser.get("/groups?days=1e9"))


def test_of_a_group_that_is_off_nobody_is_next(rig: ConsoleRig, monkeypatch):
    """Neither here nor in `status`; leads that it holds are told, and do not make the verdict a green one."""
    org = rig.rest_org
    monkeypatch.setattr(verdicts, "WAITS_S", 1e9)  # the org's clock stands behind this host's
    org.update(org.refs["emea"], Mode__c="Off")
    rig.leads(2)
    rig.worker().step()
    hold = rig.store.hold("c", "one", lease_s=1e7)
    rig.store.keep(hold, subscribed=True)
    with rig.console() as browser:
        groups, now = words(browser.get("/groups")), browser.get("/")

    assert "Off: nobody is next until it is Observe or Live." in groups
    assert ("Next is" in groups, "next" in groups.partition("Duty")[2].partition("Off fair by")[0]) == (False, False)
    assert "Group EMEA (emea) is off: 2 leads are held" in words(now)
    assert 'class="verdict slow"' in now.text
    (group,) = group_statuses(rig.client.configuration(), rig.client.snapshot(rig.client.configuration(), (), ()))
    assert group.next_members == ()


def test_a_member_s_place_counts_those_before_and_the_figure_is_monitoring_s(rig: ConsoleRig):
    """Who has little weight comes second of two, however many turns the other takes first."""
    org = rig.rest_org
    org.update(org.refs["bob_emea"], Weight__c=5)
    rig.leads(3)
    rig.drain()
    configuration = rig.client.configuration()
    groups = rig.client.snapshot(configuration, (), ()).groups
    (gap,) = [value for figure, value, _ in of_groups(groups, configuration, rig.clock.now()) if figure is GAP]
    with rig.console() as browser:
        told = words(browser.get("/groups"))

    assert ("on duty, next" in told, "on duty, 2nd" in told) == (True, True)
    assert re.findall(r"on duty, \d\w\w", told) == ["on duty, 2nd"]
    assert f"+{gap:.1f}" in told


def test_a_lead_that_a_discard_let_lie_is_told_apart_until_a_person_changes_it(rig: ConsoleRig):
    """It is no alarm, it is linked, and the oldest is another one; touched again, it is like any other."""
    left = rig.rest_org.lead()
    rig.store.discard(rig.bury(left, "refused"), "a test")
    rig.clock.advance(700)
    oldest = rig.rest_org.lead()
    with rig.console() as browser:
        page = browser.get("/")
        told = words(page)
        assert f"1 lead was let lie by a discard: {left}" in told
        assert f'href="/lead/{left}"' in page.text
        assert f"The oldest unassigned lead, {oldest} , waits for" in told
        assert "It has no open job" in told
        assert "Unassigned 2 oldest waits" in told
    rig.rest_org.update(left, Company="Other")
    with rig.console() as browser:
        told = words(browser.get("/"))
        assert "let lie" not in told
        assert f"The oldest unassigned lead, {left} , waits for" in told


def test_what_is_old_says_so_at_its_own_place(rig: ConsoleRig):
    """A figure beside fresh ones is not taken for one of them."""
    rig.rest_org.lead()
    with rig.console() as browser, pytest.MonkeyPatch.context() as patched:
        browser.get("/")
        patched.setattr(pages, "NOW_FRESH_S", 0.0)
        rig.rest_org.world.faults.put(Fault("unreachable", count=None))
        now = browser.get("/").text

    assert re.search(r'<dt>Unassigned</dt>.*?<dd class="old">\d+ s ago</dd>.*?<dt>In flight', now, re.DOTALL)
    for part in ("latency", "given"):
        section = now.partition(f'id="{part}"')[2].partition("</section>")[0]
        assert re.search(r"\d+ s old", section), part


def test_a_leads_story_goes_from_its_event_to_its_owner(rig: ConsoleRig):
    """The job, the ledger's round with its explanation, the rules and members; found by either form of the id."""
    (lead,) = rig.leads(1, FirstName="Jo", Email="jo@buyer.example")
    waiting = rig.rest_org.lead()
    rig.drain()
    with rig.console() as browser:
        told = words(browser.get(f"/lead/{lead}"))
        assert "Jo Doe Acme" in told
        assert "recorded as job 1" in told
        assert "job 1 was done" in told
        assert "Round 1 : assigned to Ann , turn 1 of group emea , by rule All" in told
        assert "Nothing: already owned ." in told
        assert "Ann could take it" in told
        assert "Routing Assigned Lead status Open - Not Contacted" in told
        assert browser.get(f"/lead?lead={lead[:15]}").url.endswith(f"/lead/{lead}")
        found = words(browser.post("/lead", {"sought": "jo d"}))
        assert "Routing Lead status Created" in found
        for sought in (lead, lead[:15], " jo@buyer.example ", "jo d", "DOE"):
            answer = browser.post("/lead", {"sought": sought})
            assert answer.url.endswith(lead) or f"/lead/{lead}" in answer.text, sought
        assert "0 leads found" in words(browser.post("/lead", {"sought": "%"}))
        assert "assign to Bob" in words(browser.get(f"/lead/{waiting}"))
        for missing in (lead.replace("00Q", "001"), "00Q000000000001AAA", "x'y", "%3Cscript%3E"):
            assert browser.get(f"/lead/{missing}").status_code == 404


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_from_outside_becomes_a_mark_of_the_page(rig: ConsoleRig, name):
    """Names come from a public form, errors and file names from anywhere: each is shown as it was written."""
    (lead,) = rig.leads(1, FirstName=name[:40], Company=name, Email="x@buyer.example")
    rig.drain()
    other = rig.rest_org.lead(LastName=name)
    job = rig.bury(other, name)
    with rig.console() as browser:
        pages = [browser.get(path) for path in ("/", f"/lead/{lead}", f"/lead/{other}", "/dead", f"/dead/{job}")]
        pages.append(browser.post("/lead", {"sought": "x@buyer.example"}))
        pages.append(browser.post("/lead", {"sought": name}))
        pages.append(browser.post(f"/dead/{job}/discard", {"reason": name * 40}))
        file = {"leads": (name.replace("/", ""), b"Email,No__c\n", "text/csv")}
        pages.append(browser.post("/plan", files=file))
        shown = [page.text for page in pages]

    assert {page.status_code for page in pages} <= {200, 422}
    assert [text for text in shown if "<script>alert" in text or "<img" in text or 'href="javascript' in text] == []
    assert name in words(pages[4])


def test_a_dead_job_is_retried_or_discarded_with_a_reason_once(rig: ConsoleRig):
    """What was done is told; a second form for a job that is not dead any more changes nothing, and says so."""
    first, second = (rig.bury(rig.rest_org.lead(), "FIELD_CUSTOM_VALIDATION: no") for _ in range(2))
    with rig.console() as browser:
        assert "2 jobs are dead" in words(browser.get("/dead"))
        assert "Doe, Acme" in words(browser.get("/dead"))
        assert "FIELD_CUSTOM_VALIDATION: no" in words(browser.get(f"/dead/{first}"))
        assert "Queued again" in words(browser.post(f"/dead/{first}/retry"))
        again = browser.post(f"/dead/{first}/retry")
        assert (again.status_code, "Nothing was changed" in words(again)) == (409, True)
        assert browser.post(f"/dead/{second}/discard", {"reason": " \n "}).status_code == 422
        assert browser.post(f"/dead/{second}/discard", {"reason": "x" * 501}).status_code == 422
        assert "Ended for good" in words(browser.post(f"/dead/{second}/discard", {"reason": "a  test\nlead"}))
        assert browser.post(f"/dead/{second}/discard", {"reason": "again"}).status_code == 409
        for missing in ("99", "9" * 18):
            assert browser.post(f"/dead/{missing}/retry").status_code == 404
        assert browser.get(f"/dead/{'9' * 30}").status_code == 404
        assert browser.get(f"/dead/{first}/retry").status_code == 405
    assert {job.id: job.outcome or job.status for job in rig.jobs()} == {
        first: "queued",
        second: "discarded: a test lead",
    }


def test_ten_thousand_dead_jobs_are_a_short_page(rig: ConsoleRig):
    """The newest hundred, how many there are, and up to a thousand when asked."""
    jobs = [NewJob(f"k{at}", f"00Q{at:012}AAA", f"00Q{at:012}AAA", {}) for at in range(10_000)]
    rig.store.record(jobs)
    rig.store._engine.write(
        [("UPDATE routing_job SET status = 'dead', completed_at = created_at, last_error = 'no'", {})]
    )
    with rig.console() as browser:
        browser.get("/dead")
        began = time.perf_counter()
        page = browser.get("/dead")
        took_s = time.perf_counter() - began
        every = browser.get("/dead?all=1")

    assert "10,000 jobs are dead" in words(page)
    assert "The newest 100 of 10,000. Show up to 1,000" in words(page)
    assert (page.text.count("/dead/"), every.text.count("/dead/")) == (100, 1000)
    assert took_s < 1.0


def test_while_the_org_is_away_the_pages_say_so_and_show_the_rest(rig: ConsoleRig):
    """The queue and the dead are still there to act on; what the org said before is shown with its age."""
    (lead,) = rig.leads(1)
    rig.drain()
    job = rig.bury(rig.rest_org.lead(), "refused")
    with rig.console() as browser:
        rig.rest_org.world.faults.put(Fault("unreachable", count=None))
        now, groups = browser.get("/"), browser.get("/groups")
        assert "Salesforce does not answer:" in words(now)
        assert "Dead 1" in words(now)
        assert "Unassigned – not known" in words(now)  # noqa: RUF001 - nothing
        assert "Salesforce does not answer:" in words(groups)
        story = browser.get(f"/lead/{lead}")
        assert (story.status_code, "had no answer: no connection" in words(story)) == (503, True)
        assert browser.post("/lead", {"sought": "doe"}).status_code == 200
        assert browser.post("/plan", files={"leads": ("a.csv", b"Email\n")}).status_code == 422
        assert "Queued again" in words(browser.post(f"/dead/{job}/retry"))


def test_while_the_job_database_is_away_the_pages_say_so_and_show_the_rest(rig: ConsoleRig, tmp_path):
    """What the org knows is still told."""
    (lead,) = rig.leads(1)
    rig.drain()
    with rig.console(database=f"sqlite:///{tmp_path}/none/jobs.db") as browser:
        now = browser.get("/")
        assert "The job database cannot be looked at: no job database at" in words(now)
        assert "Unassigned 0 nobody waits" in words(now)
        assert "In flight – not known" in words(now)  # noqa: RUF001 - nothing
        story = words(browser.get(f"/lead/{lead}"))
        assert "Its jobs cannot be looked at: no job database" in story
        assert "Round 1 : assigned to Ann" in story
        dead = browser.get("/dead")
        assert (dead.status_code, "no job database at" in words(dead)) == (503, True)
    assert not (tmp_path / "none").exists()


def test_a_plan_is_shown_kept_for_its_browser_and_downloaded_without_formulas(rig: ConsoleRig):
    """The page can be reloaded without sending the file again; nobody else finds it; nothing was written."""
    rig.rest_org.update(rig.rest_org.refs["ann"], LastName="=HYPERLINK(1)")
    with rig.console() as browser:
        page = browser.post("/plan", files={"leads": ("../a b.csv", b"Email\na@x.example\nb@x.example\n", "text/csv")})
        assert "2 leads of a b.csv" in words(page)
        assert "2 assign. As of" in words(page)
        assert "EMEA (emea)" in words(page)
        assert browser.get(page.url.removeprefix(browser.url)).status_code == 200
        sheet = browser.get(page.url.removeprefix(browser.url) + "/plan.csv")
        assert sheet.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert sheet.headers["Content-Disposition"] == 'attachment; filename="plan.csv"'
        rows = list(csv.DictReader(io.StringIO(sheet.text)))
        browser.session.cookies.clear()
        assert browser.get(page.url.removeprefix(browser.url)).status_code == 404
    assert [row["owner"] for row in rows] == ["'=HYPERLINK(1)", "Bob"]
    assert [row["turn"] for row in rows] == ["1", "2"]
    assert rig.ledger() == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the first line names the columns"),
        (b"\xff\xfe\x00garbage", "is not UTF-8"),
        (b"Email;Country\n", "semicolons separate the columns"),
        (b"No__c\n1\n", "No__c"),
        (b'Email\n"open', "this is not CSV"),
        (b"Email\n1,2,3\n", "3 values for 1 columns"),
        (bytes(range(256)) * 40, "UTF-8"),
    ],
    ids=["empty", "not utf-8", "semicolons", "unknown", "open quote", "too many", "bytes"],
)
def test_a_file_that_is_no_plan_is_told_so_with_its_line(rig: ConsoleRig, content, told):
    """In the words of `lead-router plan`."""
    with rig.console() as browser:
        answer = browser.post("/plan", files={"leads": ("a.csv", content, "text/csv")})
        assert (answer.status_code, told in words(answer)) == (422, True)
        assert "Choose a file first." in words(browser.post("/plan", files={"other": ("a", b"")}))


def test_a_file_of_too_many_leads_is_sent_to_the_command_line(rig: ConsoleRig):
    """It would take longer than a page may, and blame Salesforce; one of no leads is a plan of nothing."""
    with rig.console() as browser:
        lines = [b"Email", *[b"a@x.example"] * (LINES_MAX + 1), b""]
        for end in (b"\n", b"\r", b"\r\n"):
            many = browser.post("/plan", files={"leads": ("a.csv", end.join(lines), "text/csv")})
            assert (many.status_code, "by lead-router plan --csv FILE ." in words(many)) == (422, True)
        none = browser.post("/plan", files={"leads": ("a.csv", b"Email\n", "text/csv")})
    assert "0 leads of a.csv As of" in words(none)


def test_a_file_too_large_is_refused_before_it_is_read(rig: ConsoleRig):
    """5 MB; a form without a file may have 64 kB."""
    with rig.console() as browser:
        large = browser.post("/plan", files={"leads": ("a.csv", b"Email\n" + b"x" * 5_100_000, "text/csv")})
        long = browser.post("/lead", {"sought": "x" * 70_000})
        garbled = browser.post("/plan", {}, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert (large.status_code, long.status_code) == (413, 413)
    assert garbled.status_code in {400, 403}


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1"])
def test_no_cell_is_a_formula(cell):
    """A spreadsheet that opens the plan carries nothing out; numbers and blanks stay."""
    assert inert(cell) == f"'{cell}"
    assert [inert(one) for one in ("a=b", "", None, -1)] == ["a=b", "", None, -1]
