"""The demo from outside: its report, its exit code, and that nothing of it stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lead_router.demo import stage
from lead_router.errors import ContractMismatch

DEMO = (sys.executable, "-m", "lead_router", "demo")
LIMIT_S = 90


def left_running(folder: Path) -> dict[int, str]:
    """Processes, by id, whose environment names this folder for temporary files: the demo's own and their children."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc")
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # ended meanwhile, or another user's
    return found


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A demo whose temporary files are in `folder`, and that has told its first line of progress."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    demo = subprocess.Popen([*DEMO, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in demo.stderr:
        if " posted " in line:
            return demo
    pytest.fail("the demo ended without any progress")


def test_the_demo_keeps_every_promise_and_leaves_nothing(tmp_path):
    """One JSON object and nothing else; exit 0: 200 leads with a crash, none twice, lost or dead, shares within one."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    words = [*DEMO, "--leads", "200", "--seed", "7", "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    latency, gap, calls = told.pop("latency_ms"), told.pop("share_gap_max"), told.pop("api_calls")
    assert told == {
        "seed": 7,
        "leads": 200,
        "routed": 200,
        "twice": 0,
        "lost": 0,
        "held": 0,
        "dead": 0,
        "crashes": 1,
    }
    assert 0 <= gap <= 1
    assert calls > 0
    assert 0 < latency["p50"] <= latency["p95"] <= latency["max"]
    assert list(tmp_path.iterdir()) == []
    assert left_running(tmp_path) == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_stops_what_it_started(tmp_path, number):
    """Ctrl-C in mid-play: exit 130, no process and no file left."""
    demo = started(tmp_path)
    demo.send_signal(number)
    _, complaints = demo.communicate(timeout=LIMIT_S)

    assert demo.returncode == 130
    assert complaints.splitlines()[-1] == "interrupted: the org and the router are stopped"
    assert list(tmp_path.iterdir()) == []
    assert left_running(tmp_path) == {}


@pytest.mark.parametrize(
    ("module", "code", "text"),
    [
        ("lead_router run", 2, "lead-router: the router ended by itself with exit code -9"),
        ("org_simulator --port", 3, "lead-router: the simulated org does not answer: ConnectionError"),
    ],
)
def test_a_part_that_ends_by_itself_is_told_with_the_routers_log(tmp_path, module, code, text):
    """The fault and the place of the router's log are told; what still runs is stopped all the same."""
    demo = started(tmp_path, "--leads", "200")
    (pid,) = (pid for pid, command in left_running(tmp_path).items() if f"-m {module}" in command)
    os.kill(pid, signal.SIGKILL)
    _, complaints = demo.communicate(timeout=LIMIT_S)

    assert demo.returncode == code
    (log,) = tmp_path.iterdir()
    assert '"router_started"' in log.read_text()
    assert complaints.splitlines()[-2:] == [f"the router's log is kept in {log}", text]
    assert left_running(tmp_path) == {}


def test_an_org_that_does_not_start_is_told_in_its_own_words(tmp_path):
    """Nothing is waited for in vain."""
    with (
        pytest.raises(ContractMismatch, match=r"(?s)the simulated org did not start: .*--seed"),
        stage.raised(tmp_path, "x"),
    ):
        pytest.fail("there is no org")
