"""A router's health from outside: starting, ready, red with its reason while something is away, and gone."""

from __future__ import annotations

import socket
import sqlite3

import requests

from support import company
from support.router import until
from support.simulator import simulator

SETTLE_S = 30.0


def test_a_router_tells_how_it_is_from_its_start_to_its_end(router_at):
    """F14, F7, A1: a start that waits for its database is live; ready needs a subscription, and a refused one is told.

    The command that containers and people use says the same. A drain ends with 0.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with simulator(scenario=company.scenario()) as org:
        router = router_at(org, health_address=str(port))
        lock = sqlite3.connect(router.folder / "jobs.db", isolation_level=None)
        lock.execute("PRAGMA journal_mode = WAL")
        lock.execute("BEGIN EXCLUSIVE")
        router.start()
        starting = until(lambda: _told(port, "healthz"), SETTLE_S, "an answer")
        early = _told(port, "readyz")
        lock.close()
        until(lambda: _told(port, "readyz")[0] == 200, SETTLE_S, "ready")
        (_, ready) = _told(port, "readyz")
        org.control("stream", {"arm": "refuse_subscribe", "count": 1, "text": QUOTA})
        org.control("stream", {"do": "drop_sessions"})
        until(lambda: _told(port, "readyz")[1]["stream"] == "refused", SETTLE_S, "the refusal")
        command = router.run("status", "--ready")
        lives = _told(port, "healthz")[0]
        assert router.stop() == 0
        gone = _told(port, "healthz")

    assert starting == (200, {"live": True, "state": "starting", "faults": []})
    assert early is not None
    assert (early[0], early[1]["state"]) == (503, "starting")
    assert ready == {"ready": True, "state": "running", "stream": "subscribed", "faults": []}
    assert (lives, command.code, command.out.splitlines()[0]) == (200, 1, "not ready, running")
    assert gone is None


QUOTA = "403::Organization total events daily limit exceeded"


def _told(port, path):
    try:
        answer = requests.get(f"http://127.0.0.1:{port}/{path}", timeout=5)
    except requests.ConnectionError:
        return None
    return answer.status_code, answer.json()
