"""The demo's small parts: the line of progress, the wait for an owner, the company, the router's environment."""

from __future__ import annotations

import importlib.util
import io

import pytest

from lead_router.demo import scenario
from lead_router.demo.performance import play
from lead_router.demo.progress import Progress, line
from lead_router.demo.stage import SimulatedOrg, Stage, router_environment
from lead_router.demo.witness import Tally, waits_ms
from lead_router.errors import Misconfigured
from lead_router.settings import load


def change(kind: str, at_ms: int, *leads: str, owner: str | None = None):
    header = {"recordIds": list(leads), "changeType": kind, "commitTimestamp": at_ms}
    return {"ChangeEventHeader": header} | ({"OwnerId": owner} if owner else {})


def test_a_line_of_progress_tells_what_came_and_what_waits():
    """Posted, routed and waiting leads; the bar is full when all are routed, and no fuller."""
    half = line(3.25, Tally(leads=600, ledger=500, api_calls=9), 1_000)

    assert half == "[############            ]   3.2 s    600 posted    500 routed   100 waiting"
    assert line(9, Tally(leads=10, ledger=11, api_calls=0), 10).startswith("[########################]")


def test_without_an_output_nothing_is_shown_and_nobody_is_asked():
    """For machines there is no progress."""

    def look():
        raise AssertionError("asked")

    progress = Progress(look, 10, None)
    progress.say("crashed")
    progress.close()


def test_without_a_terminal_lines_are_plain():
    """No escape codes where nobody can see them; the last line stands when it ends."""
    out = io.StringIO()
    progress = Progress(lambda: Tally(2, 2, 0), 2, out)
    progress.say("crashed")
    progress.close()
    said, last = out.getvalue().splitlines()

    assert said == "crashed"
    assert last.endswith("2 posted      2 routed     0 waiting")
    assert "\x1b" not in out.getvalue()


def test_a_wait_lasts_from_creation_to_the_first_person():
    """Events may name several leads; a queue is no owner, and a later owner changes nothing."""
    told = [
        change("CREATE", 1_000, "a", "b", owner="00Gq"),
        change("UPDATE", 1_100, "a", owner="00Gother"),
        change("UPDATE", 1_200, "b"),
        change("UPDATE", 1_250, "a", "b", owner="005x"),
        change("UPDATE", 9_000, "a", owner="005y"),
        change("CREATE", 2_000, "c", owner="00Gq"),
    ]

    assert waits_ms(told) == [250, 250]


def test_the_company_has_three_groups_twelve_reps_and_rules():
    """And a user for the form, who is not the router's."""
    kinds = [record["sobject"] for record in scenario.records()["records"]]
    counted = {kind: kinds.count(kind) for kind in sorted(set(kinds))}

    assert counted == {"Round_Robin_Group__c": 3, "Round_Robin_Member__c": 12, "Routing_Rule__c": 3, "User": 13}


def test_the_router_gets_the_demos_settings_and_none_of_the_shells():
    """An operator's own org is never touched by a demo, and the settings are ones that the router accepts."""
    shell = {"PATH": "/bin", "LEAD_ROUTER_LOGIN_URL": "https://own.example", "LEAD_ROUTER_WORKERS": "9"}
    org = SimulatedOrg("http://localhost:1", "00D000000000001AAA", "lead-router")
    given = router_environment(shell, org, "sqlite:////x/jobs.db")
    settings = load(given)

    assert given["PATH"] == "/bin"
    assert (settings.login_url, settings.workers, settings.database) == (org.url, 1, "sqlite:////x/jobs.db")


def test_other_commands_get_the_demos_settings_by_a_file_that_nobody_else_may_read(tmp_path):
    """What the router is given, its health address among it, so that status, explain and /metrics can be tried."""
    stage = Stage(tmp_path, SimulatedOrg("http://localhost:1", "00D000000000001AAA", "lead-router"))
    quiet = load(stage.environment({}))
    stage.opened()
    written = stage.settings_file()
    settings = load({}, written)

    assert quiet.health_address == ""
    assert settings == load(stage.environment({}))
    assert settings.health_address.startswith("127.0.0.1:")
    assert (written.parent, written.stat().st_mode & 0o777) == (tmp_path, 0o600)


def test_a_stream_that_is_not_installed_is_told_before_anything_is_started(monkeypatch, capfd):
    """One line with the remedy, not the end of a simulated org that could not begin."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "grpc" else found(name))
    with pytest.raises(Misconfigured, match=r"--stream pubsub: grpc is not installed: .*lead-router\[pubsub\]"):
        play(seed=1, leads=5, pubsub=True, as_json=False)
    assert capfd.readouterr().err == ""
