"""What a copy of the job database promises: whole, checked, its owner's alone, and over nothing that is there."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from lead_router.cli import main
from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs import back_up, open_store
from lead_router.ports import NewJob

ORG = "00D000000000001EAA"


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.db"


def recorded(url, numbers):
    """Each transaction records two jobs, so a torn copy would hold an odd number of them."""
    with closing(open_store(url, org_id=ORG)) as store:
        for number in numbers:
            store.record([NewJob(f"{ORG}.{number}.{half}", f"{number}{half}", f"{number}", {}) for half in "ab"])


def counted(path):
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT count(*) FROM routing_job").fetchone()[0]


def test_copies_taken_while_jobs_are_recorded_are_each_of_one_moment(url, tmp_path):
    """Every copy opens, holds whole transactions, and is no older than what was recorded before it began."""
    recorded(url, range(5))
    writing = threading.Thread(target=recorded, args=(url, range(5, 100)))
    writing.start()
    counts = []
    while writing.is_alive() and len(counts) < 8:
        copy = back_up(url, tmp_path / f"copy-{len(counts)}.db")
        counts.append(counted(copy.path))
    writing.join()
    last = back_up(url, tmp_path / "last.db")

    assert counts
    assert (counts == sorted(counts), [count % 2 for count in counts]) == (True, [0] * len(counts))
    assert (counts[0] >= 10, counted(last.path)) == (True, 200)
    assert Path(last.path).read_bytes()[18:20] == b"\1\1"  # no log beside it is needed to read it (file format, "1.3")
    assert stat.S_IMODE((tmp_path / "last.db").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir() if "last" in path.name) == ["last.db"]
    with closing(open_store(f"sqlite:///{last.path}", org_id=ORG)) as store:
        assert store.queue().queued == 200


def test_no_file_is_overwritten_and_none_is_left_half(url, tmp_path):
    """The name that is taken keeps its content, also where it is a link or a folder."""
    recorded(url, range(1))
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    for place in (taken, tmp_path / "nowhere" / "copy.db", tmp_path):
        with pytest.raises(Misconfigured):
            back_up(url, place)
    assert taken.read_text() == "mine"
    assert [path.name for path in tmp_path.rglob("*.partial*")] == []


def test_a_locked_or_damaged_database_is_told_and_leaves_no_copy(url, tmp_path, monkeypatch):
    """A copy that cannot be read back is worse than none."""
    recorded(url, range(400))
    path = tmp_path / "jobs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr("lead_router.jobs.backing.LOCK_WAIT_S", 0.05)
        with pytest.raises(StoreUnavailable, match="locked"):
            back_up(url, tmp_path / "copy.db")
    whole = path.read_bytes()
    middle = len(whole) // 2 // 4096 * 4096
    path.write_bytes(whole[:middle] + b"\xa5" * 4096 + whole[middle + 4096 :])
    with pytest.raises((Misconfigured, StoreUnavailable), match=r"damaged|malformed"):
        back_up(url, tmp_path / "copy.db")

    assert not (tmp_path / "copy.db").exists()


def test_the_command_names_what_to_do_elsewhere(tmp_path, monkeypatch, capsys):
    """No database here: which setting; a server: its own means, without the password; a copy: where it is."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    assert main(["backup", "copy.db"]) == 2
    assert "LEAD_ROUTER_DATABASE" in capsys.readouterr().err
    monkeypatch.setenv("LEAD_ROUTER_DATABASE", "postgresql://me:hunter2@host/jobs")
    assert main(["backup", "copy.db"]) == 2
    told = capsys.readouterr().err
    assert ("pg_dump --format=custom" in told, "hunter2" in told) == (True, False)
    monkeypatch.setenv("LEAD_ROUTER_DATABASE", "sqlite:///jobs.db")
    recorded(f"sqlite:///{tmp_path}/jobs.db", range(1))
    assert main(["backup", "copy.db"]) == 0
    assert f"{tmp_path}/copy.db" in capsys.readouterr().out
