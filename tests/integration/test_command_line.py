"""Commands in this process, without an org: what they refuse, what they show, and what they leave untouched."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lead_router.cli import main
from lead_router.jobs import alone, open_store, whereabouts
from lead_router.ports import Bury, Done, NewJob

ORG = "00D000000000001EAA"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder with settings that lead to no org."""
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def jobs(folder):
    """A database beside it, as a router leaves it."""
    with closing(open_store(f"sqlite:///{folder}/lead-router.db", org_id=ORG)) as store:
        store.take_sweep(every_s=1)
        yield store


def ended(store, ending):
    """The number of a job that ended so."""
    lead = "00Q000000000001EAA"
    store.record([NewJob(f"{ORG}.{lead}.create", lead, lead, {"change_type": "CREATE"})])
    (job,) = store.claim("w", limit=1, lease_s=60)
    store.end([(job, ending)])
    return str(job.id)


@pytest.mark.parametrize(
    "words", [("status",), ("jobs", "list"), ("jobs", "show", "1"), ("jobs", "retry", "1")], ids=" ".join
)
def test_whoever_only_looks_makes_no_database(folder, capsys, words):
    """In a wrong folder an empty queue would look like a healthy one."""
    assert main(words) == 2
    assert f"no job database at {folder}/lead-router.db: the router has not run yet" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_the_doctor_makes_no_database_either(folder, capsys):
    """Run as another user, it would leave the router a file that it cannot write."""
    main(["doctor"])
    assert "lead-router.db is not there yet: `lead-router run` makes it" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_a_doctor_without_an_answer_ends_with_3_and_a_remedy(folder, jobs, capsys):
    """What is as needed bears neither a warning nor a remedy."""
    assert main(["doctor", "--json"]) == 3
    database, *_, login = json.loads(capsys.readouterr().out)
    assert (database["ok"], database["warning"], database["remedy"]) == (True, False, "")
    assert (login["ok"], login["away"], "LEAD_ROUTER_LOGIN_URL" in login["remedy"]) == (False, True, True)
    assert login["detail"] == "the login to localhost:9 had no answer: no connection, or it broke off"


def test_a_damaged_file_is_told_of_before_it_is_used(folder, jobs, capsys):
    """F11: a page in the middle was overwritten, as by a file system that keeps no locks; the file is left as it is."""
    for _ in range(50):
        jobs.record([NewJob(f"{ORG}.{n}", f"{n}", f"{n}", {"text": "x" * 500}) for n in range(50)])
    path = folder / "lead-router.db"
    main(["doctor", "--json"])
    sound, *_ = json.loads(capsys.readouterr().out)
    jobs.close()
    whole = path.read_bytes()
    middle = len(whole) // 2 // 4096 * 4096
    broken = whole[:middle] + b"\xa5" * 4096 + whole[middle + 4096 :]
    path.write_bytes(broken)

    assert main(["doctor", "--json"]) == 1
    told, *_ = json.loads(capsys.readouterr().out)
    assert (sound["ok"], told["ok"], told["warning"]) == (True, False, False)
    assert f"{path} is damaged: " in told["detail"]
    assert "restore a copy" in told["remedy"]
    assert path.read_bytes() == broken


def test_dead_jobs_are_warned_of_with_the_command_that_shows_them(folder, jobs, capsys):
    """A lead may wait for ever behind each: no healthy report passes over it, and none says that it does."""
    main(["doctor", "--json"])
    before = json.loads(capsys.readouterr().out)
    ended(jobs, Bury("refused"))
    main(["doctor"])
    doctor = capsys.readouterr().out
    main(["status"])
    status = capsys.readouterr().out
    main(["status", "--json"])

    assert "dead jobs" not in {one["name"] for one in before}
    dead = "1 job is dead: its lead waits for a person, unless it was taken, routed or deleted since"
    assert f"warn  dead jobs: {dead}\n      remedy: `lead-router jobs list" in doctor
    told = f"{dead}: `lead-router jobs list --status dead`"
    assert f"\nwarning: {told}\n" in status
    assert " s ago\n" in status
    assert json.loads(capsys.readouterr().out)["warnings"] == [told]


@pytest.mark.parametrize(
    ("settings", "code", "text"),
    [
        ({}, 3, "Salesforce did not answer: "),
        ({"CLIENT_SECRET_FILE": "nowhere", "CLIENT_SECRET": ""}, 2, "LEAD_ROUTER_CLIENT_SECRET_FILE"),
    ],
    ids=["away", "misconfigured"],
)
def test_the_queue_is_shown_whatever_is_wrong_with_the_org(folder, jobs, capsys, monkeypatch, settings, code, text):
    """The fault stands below it; for machines the exit code is the same."""
    for name, value in settings.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    ended(jobs, Bury("refused"))
    assert main(["status"]) == code
    shown = capsys.readouterr().out
    assert shown.startswith(f"job database: {folder}/lead-router.db\n")
    assert shown.splitlines()[1] == "router: NONE RUNS: none has listened on this job database yet"
    assert shown.splitlines()[-1].startswith(f"groups: {text}")
    assert main(["status", "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert (told["queue"]["dead"], told["groups"], told["org_away"]) == (1, [], code == 3)
    assert told["org_fault"]


def test_a_router_that_no_longer_runs_is_told(jobs, folder, capsys):
    """Ages that grow tell nobody: `status` says since when none runs, `doctor` warns of it, and how to start one."""
    hold = jobs.hold("/data/LeadChangeEvent", "host/7/listener", lease_s=60)
    main(["status"])
    living = capsys.readouterr().out.splitlines()[1]
    jobs.give_up(hold)
    with closing(sqlite3.connect(folder / "lead-router.db")) as file, file:
        file.execute("UPDATE listener SET lease_until = lease_until - 7300000")
    main(["status"])
    _, ended, remedy, *_ = capsys.readouterr().out.splitlines()
    main(["doctor", "--json"])
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}["router"]

    assert living == "router: runs, host/7/listener listens"
    assert ended == "router: NONE RUNS: nobody has listened for 2 h"
    assert "lead-router run" in remedy
    assert (found["ok"], found["warning"], found["detail"]) == (
        False,
        True,
        "none runs: nobody has listened for 2 h",
    )


def test_an_absent_job_is_called_absent(jobs, capsys):
    """Whatever was to be done with it."""
    for words in (("show", "999"), ("retry", "999"), ("discard", "999", "--reason", "x")):
        assert main(["jobs", *words]) == 2
        assert capsys.readouterr().err == "lead-router: there is no job 999\n"


def test_a_done_jobs_story_is_told_as_past(jobs, capsys):
    """An error before the success must not look like one after it; the payload can be copied as JSON."""
    number = ended(jobs, Done("assigned"))
    assert main(["jobs", "show", number]) == 0
    shown = capsys.readouterr().out
    assert "last error before it was done" in shown
    assert '{"change_type": "CREATE"}' in shown


def test_a_list_of_nothing_says_so(jobs, capsys):
    """No bare header, and no list of less than one."""
    assert (main(["jobs", "list"]), capsys.readouterr().out) == (0, "no jobs\n")
    assert (main(["jobs", "list", "--status", "dead"]), capsys.readouterr().out) == (0, "no dead jobs\n")
    with pytest.raises(SystemExit):
        main(["jobs", "list", "--limit", "0"])
    assert "0 is less than 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["jobs", "retry", "99999999999999999999"],
        ["jobs", "discard", "99999999999999999999", "--reason", "none"],
        ["jobs", "list", "--limit", "9223372036854775807"],
        ["notices", "list", "--limit", "9223372036854775807"],
        ["touches", "--days", "99999999"],
        ["plan", "--soql", "Id != null", "--at", "0001-01-01T00:00:00Z"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_numbers_and_instants_that_no_database_or_calendar_holds_are_refused_in_words(words, jobs, capsys):
    """By the usage, with exit code 2."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "error: argument" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["jobs", "retry", "abc"], "argument job: 'abc' is no whole number"),
        (["audit", "--reaction", "abc"], "argument --reaction: abc is no number of minutes"),
    ],
)
def test_what_is_no_number_is_refused_in_words(words, told, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert told in capsys.readouterr().err


def test_a_list_that_leaves_jobs_out_says_so(jobs, capsys):
    """On standard error, so that what reads the table counts no line too many."""
    jobs.record([NewJob(f"{ORG}.{n}", f"{n}", f"{n}", {}) for n in range(3)])
    assert main(["jobs", "list", "--limit", "2"]) == 0
    shown = capsys.readouterr()
    assert (len(shown.out.splitlines()), shown.err) == (3, "the newest 2 of more: --limit N shows N\n")
    assert main(["jobs", "list", "--limit", "3"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("behind", [False, True])
def test_the_settings_file_may_be_named_before_and_behind_the_command(folder, capsys, behind):
    """Either way it is the one that is read."""
    (folder / "my.env").write_text("LEAD_ROUTER_DATABASE=sqlite:///mine.db\n")
    named = ["--env-file", "my.env"]
    assert main(["jobs", "list", *named] if behind else [*named, "jobs", "list"]) == 2
    assert "mine.db" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "--soql", ""),
        ("explain", "00Q000000000001EAA"),
        ("rules", "check"),
        ("rules", "pull", "--to", "rules"),
        ("rules", "push", "--from", "."),
    ],
    ids=" ".join,
)
def test_every_command_that_asks_the_org_takes_a_settings_file_behind_it(folder, capsys, words):
    """A file that is not there is refused by its name, so it is the one that would have been read."""
    assert main([*words, "--env-file", "my.env"]) == 2
    assert "my.env" in capsys.readouterr().err


@pytest.mark.parametrize(("groups", "code"), [("{north: 1}", 0), ("{south: 1}", 1)])
def test_no_case_passes_on_rules_that_the_check_refuses(folder, capsys, groups, code):
    """A green test of rules that no org takes is worse than none; the faults are told as the check tells them."""
    (folder / "rules.yaml").write_text("rules:\n- {name: All, precedence: 1, group: north}\n")
    (folder / "cases.yaml").write_text("cases:\n- {lead: {Country: NO}, rule: All, group: north}\n")
    org = f"org: 00D000000000001AAA\nfields: {{Country: string}}\ngroups: {groups}\nqueues: []\nrules: []\n"
    (folder / "org.yaml").write_text(org)
    answered = main(["rules", "test", "--files", "."])
    shown = capsys.readouterr().out
    main(["rules", "test", "--files", ".", "--json"])
    plain = json.loads(capsys.readouterr().out)

    assert answered == main(["rules", "check", "--files", "."]) == code
    assert shown.startswith("FAIL  rules.yaml:2 rule 'All': there is no group 'north'" if code else "1 of 1 cases")
    assert ("no case was tried" in shown, plain[0]["fault"] is not None) == (code == 1, code == 1)


def test_a_settings_file_that_cannot_be_written_is_refused_by_name(folder, capsys):
    """`init` into a folder that is not there, and over a folder."""
    for place in ("nowhere/.env", "."):
        assert main(["init", "--force", "--to", place]) == 2
        assert f"lead-router: {place} cannot be written: " in capsys.readouterr().err


def test_a_new_settings_file_says_which_settings_to_fill_in(folder, capsys):
    """By the names that stand in it, and which command reads it then."""
    assert main(["init", "--to", "my.env"]) == 0
    told = capsys.readouterr().out
    assert "fill in LEAD_ROUTER_LOGIN_URL, LEAD_ROUTER_CLIENT_ID and" in told
    assert "`lead-router --env-file my.env doctor`" in told
    assert main(["init"]) == 0
    assert "`lead-router doctor`" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verb", "words"),
    [("test", "--files DIR"), ("pull", "--files DIR, --to DIR"), ("push", "--files DIR, --from DIR")],
)
def test_the_folder_of_a_rules_command_is_explained(capsys, verb, words):
    """No option stands without a word about it."""
    with pytest.raises(SystemExit):
        main(["rules", verb, "--help"])
    assert f"{words} " in " ".join(capsys.readouterr().out.partition("options:")[2].split())


def test_an_example_address_is_shown_whole(folder, capsys, monkeypatch):
    """The scrubber hides passwords, not the place where one belongs."""
    monkeypatch.setenv("LEAD_ROUTER_DATABASE", "mysql://me:hunter2@host/x")
    assert main(["status"]) == 2
    assert "postgresql://<user>:<secret>@host/database" in capsys.readouterr().err


def test_a_place_is_told_without_user_and_password():
    """`status` names the database that it reads, on any terminal."""
    assert whereabouts("postgresql://me:hunter2@host:5432/jobs?password=hunter2") == "postgresql://host:5432/jobs"


def test_a_second_router_of_this_machine_is_seen(tmp_path):
    """F11: the lock ends with the first; other files and servers have nothing to do with it."""
    url = f"sqlite:///{tmp_path}/jobs.db"
    with alone(url) as first, alone(url) as second, alone(f"{url}x") as other, alone("postgresql://host/x") as server:
        assert (first, second, other, server) == (True, False, True, True)
    with alone(url) as later:
        assert later


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_answer_that_finds_no_room_is_told(jobs, folder):
    """A full disk under the output is no fault of the program."""
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "lead_router", "jobs", "list", "--json"]
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "the answer could not be written: No space left on device" in ended.stderr
