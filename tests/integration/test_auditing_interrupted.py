"""The audit of an org that stops answering, or asks for more than is left: one clear word, and nothing left behind."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lead_router.app.auditing import Asked, audit_rest
from lead_router.cli import main
from lead_router.errors import Misconfigured, RateLimited
from org_simulator.wire.faults import Fault
from support.audited_org import DAYS, LEADS, Audited


@pytest.fixture
def audited(tmp_path, monkeypatch) -> Audited:
    """An org with leads; commands reach it, in a folder of their own."""
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    org = Audited(tmp_path)
    org.live()
    monkeypatch.setattr("lead_router.app.auditing.wire", lambda _: SimpleNamespace(rest=org.rest()))
    return org


def measured(org: Audited):
    return audit_rest(org.rest(), Asked(days=DAYS), lambda _: None, at=org.clock.now)


def test_a_session_that_ends_amid_it_is_renewed(audited):
    """No row is read twice, none is left out."""
    whole = measured(audited)
    audited.world.faults.put(Fault("expire_session", path="query", skip=5))

    again = measured(audited)

    assert (again.leads, again.changes, again.doubles) == (whole.leads, whole.changes, whole.doubles)


def test_an_allowance_that_ends_amid_it_is_told(audited, tmp_path, capsys):
    """Others use calls, too: exit code 3, and no report, not even a part of one."""
    audited.world.faults.put(Fault("request_limit", value="daily", path="query", skip=5, count=None))
    with pytest.raises(RateLimited):
        measured(audited)

    assert main(["audit", "--html", "report.html"]) == 3
    assert "TotalRequests Limit exceeded" in capsys.readouterr().err
    assert list((tmp_path / "cwd").iterdir()) == []


def test_an_allowance_that_is_too_small_is_not_begun_on(audited):
    """The router needs the calls that are left."""
    audited.org.calls_allowed = audited.org.calls_used + 9

    with pytest.raises(Misconfigured, match=r"takes 1\d API calls, and \d are left of the day's: ask for fewer --days"):
        measured(audited)
    assert audited.org.calls_used < audited.org.calls_allowed


def test_ctrl_c_leaves_nothing(audited, tmp_path):
    """Exit code 130, no file."""
    asked: list[object] = []

    def stop(request) -> None:
        asked.append(request)
        if len(asked) == 6:
            raise KeyboardInterrupt

    audited.world.before.append(stop)

    assert main(["audit", "--html", "report.html"]) == 130
    assert list((tmp_path / "cwd").iterdir()) == []


@pytest.mark.parametrize("place", ["report.html", "folder", "none/report.html"])
def test_no_call_is_spent_where_the_report_cannot_go(audited, tmp_path, capsys, place):
    """A report that is there, a folder, a folder that is not there: told before anything is read."""
    (tmp_path / "cwd" / "report.html").write_text("the one from before", encoding="utf-8")
    (tmp_path / "cwd" / "folder").mkdir()
    audited.asked.clear()

    assert main(["audit", "--html", place]) == 2
    assert f"--html {place}: " in capsys.readouterr().err
    assert audited.asked == []
    assert (tmp_path / "cwd" / "report.html").read_text(encoding="utf-8") == "the one from before"


def test_force_replaces_it_whole(audited, tmp_path):
    """The whole report, with nothing beside it."""
    report = tmp_path / "cwd" / "report.html"
    report.write_text("the one from before", encoding="utf-8")

    assert main(["audit", "--days", "3650", "--html", "report.html", "--force"]) == 0
    assert f"{LEADS} leads and " in report.read_text(encoding="utf-8")
    assert [path.name for path in report.parent.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    "words", [("--days", "0"), ("--days", "999999999"), ("--reaction", "-1"), ("--reaction", "nan"), ("--days", "x")]
)
def test_numbers_that_make_no_sense_are_refused(words):
    """By the parser, with its exit code 2."""
    with pytest.raises(SystemExit) as ended:
        main(["audit", *words])
    assert ended.value.code == 2


def test_days_are_none_of_files(tmp_path, capsys):
    """Silently passed over, they would be believed."""
    assert main(["audit", "--csv", str(tmp_path), "--days", "7"]) == 2
    assert "--days is for an org" in capsys.readouterr().err
