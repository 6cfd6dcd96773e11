"""`lead-router verify` as an operator meets it, beside a router that runs."""

from __future__ import annotations

from lead_router.cli import main
from support import company
from support.router import Router, environment, until
from support.simulator import simulator
from support.third_program import Form

SETTLE_S = 30.0


def test_a_member_that_was_edited_by_hand_is_found_shown_and_put_right(tmp_path):
    """Clean first; then 1 with the turn and cause, also in `status`; the repair is shown, then written; then clean."""
    with simulator(scenario=company.scenario()) as org:
        router = Router(tmp_path / "router", environment(org, "sqlite:///jobs.db")).start().subscribed()
        try:
            Form(org).post_together([company.lead(number) for number in range(12)])
            until(lambda: len(org.rows("Lead_Assignment__c")) == 12, SETTLE_S, "12 leads routed")
            until(lambda: _idle(router.run("status", "--json").json()["queue"]), SETTLE_S, "every job done")
            assert router.run("verify").code == 0
            member = max(org.rows("Round_Robin_Member__c"), key=lambda row: row["Leads_Received__c"] or 0)
            wrong = {"Leads_Received__c": member["Leads_Received__c"] + 5}
            assert org.client().call("PATCH", f"sobjects/Round_Robin_Member__c/{member['Id']}", wrong).ok

            found = router.run("verify")
            assert (found.code, "leads received: it counts" in found.out, "cause: somebody" in found.out) == (
                1,
                True,
                True,
            )
            assert any(
                "lead-router verify --group" in text for text in router.run("status", "--json").json()["warnings"]
            )
            shown = router.run("verify", "--repair")
            assert (shown.code, "nobody is at a terminal to agree; add --yes to write" in shown.out) == (1, True)
            mended = router.run("verify", "--repair", "--yes", "--json")
            assert (mended.code, mended.json()["written"], mended.json()["findings"]) == (0, True, [])
            assert router.run("verify", "--yes").code == 2
            assert router.run("verify", "--group", "nobody").code == 2
            assert router.stop() == 0
        finally:
            router.kill()


def _idle(queue):
    """A lead that a sweep found before its event came has two jobs."""
    return queue["done"] >= 12 and queue["queued"] == queue["working"] == 0


def test_an_org_that_is_away_is_exit_code_3(tmp_path, monkeypatch, capsys):
    """Nothing is said of drift then."""
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    monkeypatch.chdir(tmp_path)
    assert main(["verify"]) == 3
    assert "no connection" in capsys.readouterr().err
