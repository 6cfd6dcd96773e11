"""A router's health from outside: starting, ready, red with its reason while something is away, and gone."""

from __future__ import annotations

import socket
import sqlite3

import requests

from support import company
from support.notified import notified
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned

SETTLE_S = 30.0


def test_a_router_tells_how_it_is_from_its_start_to_its_end(router_at, tmp_path):
    """F14, F7, A1: a start that waits for its database is live; ready needs a subscription, and a refused one is told.

    The command that containers and people use says the same, and so does what systemd is told. A drain ends with 0.
    """
    port = _free_port()
    with simulator(scenario=company.scenario()) as org, notified(tmp_path / "notify", limit_s=1.5) as systemd:
        router = router_at(org, health_address=str(port))
        router.settings |= systemd.variables
        lock = sqlite3.connect(router.folder / "jobs.db", isolation_level=None)
        lock.execute("PRAGMA journal_mode = WAL")
        lock.execute("BEGIN EXCLUSIVE")
        router.start()
        starting = until(lambda: _told(port, "healthz"), SETTLE_S, "an answer")
        early = _told(port, "readyz")
        until(lambda: EXTENDED in systemd.lines, SETTLE_S, "more time for the start")
        begun = "READY=1" in systemd.lines
        lock.close()
        until(lambda: _told(port, "readyz")[0] == 200, SETTLE_S, "ready")
        (_, ready) = _told(port, "readyz")
        until(lambda: "STATUS=running, stream subscribed" in systemd.lines, SETTLE_S, "the line of status")
        org.control("stream", {"arm": "refuse_subscribe", "count": 1, "text": QUOTA})
        org.control("stream", {"do": "drop_sessions"})
        until(lambda: _told(port, "readyz")[1]["stream"] == "refused", SETTLE_S, "the refusal")
        command = router.run("status", "--ready")
        lives = _told(port, "healthz")[0]
        assert router.stop() == 0
        gone = _told(port, "healthz")

    assert (begun, systemd.lines.count("READY=1"), systemd.lines.count("STOPPING=1")) == (False, 1, 1)
    assert [line for line in systemd.lines if line in {"READY=1", "STOPPING=1"}] == ["READY=1", "STOPPING=1"]
    assert EXTENDED not in systemd.lines[systemd.lines.index("READY=1") :]
    assert "WATCHDOG=1" in systemd.lines
    assert starting == (200, {"live": True, "state": "starting", "faults": []})
    assert early is not None
    assert (early[0], early[1]["state"]) == (503, "starting")
    assert ready == {"ready": True, "state": "running", "stream": "subscribed", "faults": []}
    assert (lives, command.code, command.out.splitlines()[0]) == (200, 1, "not ready, running")
    assert gone is None


def test_a_router_whose_user_is_frozen_for_a_while_lives_and_is_not_ready(router_at):
    """F7: the login is refused in mid-run: one error says what to do; thawed, it routes what came meanwhile."""
    port = _free_port()
    with simulator(scenario=company.scenario()) as org, routers(router_at(org, health_address=str(port))) as (router,):
        user = org.control("state")["integration_user_id"]
        org.control("user", {"id": user, "frozen": True})
        org.control("revoke", {})
        org.control("stream", {"do": "drop_sessions"})
        router.await_event("login_refused")
        Form(org).post_all([company.lead(number) for number in range(5)])
        until(lambda: "LoginRefused" in str(_told(port, "readyz")[1]["faults"]), SETTLE_S, "the reason")
        lives, ready = _told(port, "healthz"), _told(port, "readyz")
        org.control("user", {"id": user, "frozen": False})
        until(lambda: all_owned(org, 5), SETTLE_S, "5 leads with an owner")
        assert router.stop() == 0
        (told,) = router.events("login_refused")

    assert (lives[0], lives[1]["faults"], ready[0]) == (200, [], 503)
    assert "LEAD_ROUTER_CLIENT_SECRET" in told["error"]
    assert [line for line in router.events() if "exception" in line] == []


EXTENDED = "EXTEND_TIMEOUT_USEC=1500000"
QUOTA = "403::Organization total events daily limit exceeded"


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _told(port, path):
    try:
        answer = requests.get(f"http://127.0.0.1:{port}/{path}", timeout=5)
    except requests.ConnectionError:
        return None
    return answer.status_code, answer.json()
