"""`lead-router notices`, and what other commands tell of notices: by a person, without an org."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from lead_router.cli import main
from lead_router.jobs import open_store
from lead_router.ports import Done, NewJob
from lead_router.ports.notices import GivenUp, NewNotice, NoticeKind, Sent
from support.endpoint import endpoint

ORG = "00D000000000001EAA"
LEAD = "00Q000000000001EAA"
SECRET = "T0KEN-canary-4711"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder with settings that lead to no org."""
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def told(folder):
    """A database with a job whose notice was sent on one channel and given up on another."""
    url = f"sqlite:///{folder}/lead-router.db"
    with closing(open_store(url, org_id=ORG, channels=lambda _notice: ("bell", "team"))) as store:
        store.take_sweep(every_s=1)
        store.record([NewJob(f"{ORG}.{LEAD}.create", LEAD, LEAD, {})])
        (job,) = store.claim("w", limit=1, lease_s=60)
        what = NewNotice(job.idempotency_key, NoticeKind.ASSIGNED, LEAD, "005000000000001AAA", 1, "Rule 'All'.", "Ann")
        store.end([(job, Done("assigned", (what,)))])
        for channel, how in (("bell", Sent()), ("team", GivenUp("status 400"))):
            taken = store.take_notice(channel, lease_s=60.0, pace_s=0.0)
            assert store.sending(taken, lease_s=60.0)
            store.end_notice(taken, how)
    return folder


@pytest.fixture
def channels(folder, monkeypatch):
    """An endpoint, and the file that names it as the channel `team`."""
    with endpoint() as outside:
        (folder / "address").write_text(outside.url(SECRET), encoding="utf-8")
        (folder / "address").chmod(0o600)
        (folder / "notices.yaml").write_text("channels: [{name: team, url_file: address}]\n", encoding="utf-8")
        monkeypatch.setenv("LEAD_ROUTER_NOTICE_FILE", str(folder / "notices.yaml"))
        yield outside


def test_notices_are_listed_with_what_became_of_them(told, capsys):
    """Newest first; by status; for machines; and how many there are in all."""
    assert main(["notices", "list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 3
    assert "status 400" in shown[1]
    assert "Rule 'All'." in shown[2]
    assert main(["notices", "list", "--status", "failed", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["channel"], one["status"], one["attempts"], one["last_error"]) == ("team", "failed", 1, "status 400")
    assert main(["notices", "list", "--status", "queued"]) == 0
    assert capsys.readouterr().out == "no queued notices\n"
    assert main(["notices", "list", "--limit", "1"]) == 0
    assert "--limit N" in capsys.readouterr().err


def test_a_job_shows_who_was_told_of_it(told, capsys):
    """Beside its own story."""
    assert main(["jobs", "show", "1"]) == 0
    shown = capsys.readouterr().out
    assert "notice 1, bell" in shown
    assert "failed: status 400" in shown
    assert main(["jobs", "show", "1", "--json"]) == 0
    assert [one["status"] for one in json.loads(capsys.readouterr().out)["notices"]] == ["failed", "sent"]


def test_status_counts_the_channels(told, capsys):
    """One line a channel, whether Salesforce answers or not."""
    main(["status"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["bell", "0", "0", "1", "0", "0", "0", "-"] in lines
    assert ["team", "0", "0", "0", "1", "0", "0", "-"] in lines


def test_a_letter_tries_each_channel(channels, capsys):
    """What goes out is plainly a test; what does not is told with its reason, and by exit code 1."""
    pytest.importorskip("apprise", reason="apprise is not installed: pip install 'lead-router[operations]'")
    assert main(["notices", "test"]) == 0
    assert capsys.readouterr().out == "ok    team\n"
    assert channels.got[0]["title"] == "A test of lead-router"
    channels.answers = [404]
    assert main(["notices", "test", "--channel", "team", "--json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["sent"], one["text"]) == (False, "status 404: look at the channel's address")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--channel", "nowhere"], "there is no channel 'nowhere': team"),
        ([], "LEAD_ROUTER_NOTICE_FILE is not set"),
    ],
)
def test_what_cannot_be_tried_is_refused_in_words(channels, monkeypatch, capsys, words, told):
    """Exit code 2, and the remedy."""
    if not words:
        monkeypatch.delenv("LEAD_ROUTER_NOTICE_FILE")
    assert main(["notices", "test", *words]) == 2
    assert told in capsys.readouterr().err
    assert channels.got == []


def test_salesforce_s_own_needs_somebody_to_tell(folder, monkeypatch, capsys):
    """No user is guessed."""
    (folder / "notices.yaml").write_text("salesforce: true\n", encoding="utf-8")
    monkeypatch.setenv("LEAD_ROUTER_NOTICE_FILE", str(folder / "notices.yaml"))
    assert main(["notices", "test"]) == 1
    assert "--to" in capsys.readouterr().out


def test_the_doctor_tells_of_the_channels(channels, folder, capsys):
    """Names, not addresses; and which address others may read."""
    pytest.importorskip("apprise", reason="apprise is not installed: pip install 'lead-router[operations]'")
    (folder / "address").chmod(0o644)
    main(["doctor"])
    shown = capsys.readouterr().out
    assert "ok    notices: team;" in shown
    assert "warn  secrets: channel team:" in shown
    assert SECRET not in shown
    (folder / "notices.yaml").write_text("channels: [{name: team, url_file: nowhere}]\n", encoding="utf-8")
    assert main(["doctor"]) == 1
    assert "FAIL  notices: notices.yaml:1: url_file: cannot read" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["run"], ["doctor"], ["notices", "test"]])
def test_a_bad_file_is_refused_before_anything_is_routed(folder, monkeypatch, capsys, command):
    """F1: with the line, and without the address that was written where it does not belong."""
    (folder / "notices.yaml").write_text(f"channels: [{{name: team, url: 'slack://{SECRET}/b/c'}}]\n", encoding="utf-8")
    monkeypatch.setenv("LEAD_ROUTER_NOTICE_FILE", str(folder / "notices.yaml"))
    assert main(command) in {1, 2}
    shown = capsys.readouterr()
    assert "notices.yaml:1: a channel has no key 'url'" in shown.out + shown.err
    assert SECRET not in shown.out + shown.err
