"""How the router is, told over HTTP, to a person's command and to systemd's watchdog: in words, without secrets."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lead_router.app.answering import answering
from lead_router.app.watchdog import watched
from lead_router.cli import main
from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.loops.vitals import Ear, Vitals
from lead_router.settings import Settings

TOKEN = "00D000000000001!AQEAQFakeToken.abc"
LIMIT_S = 0.3


@pytest.fixture
def vitals():
    made = Vitals(time.monotonic, patience_s=60)
    made.stage = "running"
    made.ear = lambda: Ear("subscribed")
    made.pulse("upkeep").well()
    return made


@pytest.fixture
def port(vitals):
    """Where it answers."""
    with answering("0", vitals) as place:
        assert place is not None
        assert place.startswith("127.0.0.1:")
        yield int(place.rpartition(":")[2])


def get(port, path):
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def test_a_healthy_router_says_so(port):
    """Both questions are answered with 200, and say how the stream is heard."""
    assert get(port, "/healthz") == (200, {"live": True, "state": "running", "faults": []})
    assert get(port, "/readyz?verbose") == (
        200,
        {"ready": True, "state": "running", "stream": "subscribed", "faults": []},
    )
    assert get(port, "/")[0] == 404


def test_a_start_is_left_alone(port, vitals):
    """F14: starting is live, and ready only when it has ended."""
    vitals.stage = "starting"
    assert get(port, "/healthz") == (200, {"live": True, "state": "starting", "faults": []})
    status, told = get(port, "/readyz")
    assert (status, told["ready"], told["state"]) == (503, False, "starting")


def test_each_red_part_is_named_with_its_reason_and_no_secret(port, vitals):
    """F1: an outage's text may hold what was sent; a token, a password and an address do not leave the process."""
    vitals.pulse("worker-1").failed(StoreUnavailable(f"postgresql://me:hunter2@db refused ada@example.com, {TOKEN}"))
    vitals.pulse("upkeep").failed(KeyError(TOKEN))
    vitals.refusal = lambda: f"SessionExpired: Bearer {TOKEN}"
    live, ready = get(port, "/healthz"), get(port, "/readyz")
    assert (live[0], ready[0]) == (503, 503)
    assert [fault["part"] for fault in live[1]["faults"]] == ["upkeep"]
    assert [fault["part"] for fault in ready[1]["faults"]] == ["upkeep", "worker-1", "routing"]
    text = json.dumps([live, ready])
    assert [secret for secret in (TOKEN, "hunter2", "ada@") if secret in text] == []


def test_who_asks_and_says_nothing_holds_up_nobody(port):
    """A connection that is left open is no reason for another probe to wait."""
    with socket.create_connection(("127.0.0.1", port)):
        assert get(port, "/healthz")[0] == 200


def test_without_an_address_nothing_is_opened(vitals):
    """Off by default."""
    assert Settings().health_address == ""
    with answering("", vitals) as place:
        assert place is None


def test_an_address_that_is_taken_is_refused_by_the_setting_s_name(port, vitals):
    """Two routers of one host need two ports, and the text says so."""
    refused = pytest.raises(Misconfigured, match=r"LEAD_ROUTER_HEALTH_ADDRESS: .* take another port")
    with refused, answering(f"127.0.0.1:{port}", vitals):
        pass


def test_the_command_asks_the_running_router(port, vitals, capsys, monkeypatch, tmp_path):
    """`status --live` and `--ready` end with 0 or 1, for a container's check, and say each reason in a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAD_ROUTER_HEALTH_ADDRESS", f"0.0.0.0:{port}")
    codes = [main(["status", "--live"]), main(["status", "--ready"])]
    well = capsys.readouterr().out
    vitals.ear = lambda: Ear("refused", "it is refused")
    codes += [main(["status", "--live"]), main(["status", "--ready"]), main(["status", "--ready", "--json"])]
    red = capsys.readouterr().out

    assert codes == [0, 0, 0, 1, 1]
    assert well == "live, running\nready, running\nstream: subscribed\n"
    assert "not ready, running\nstream: refused\nstream: it is refused\n" in red
    assert json.loads(red[red.index("{") :])["faults"] == [{"part": "stream", "reason": "it is refused"}]


def test_no_answer_is_a_no_and_no_address_a_remedy(capsys, monkeypatch, tmp_path):
    """A router that does not run is neither live nor ready; one that answers nowhere cannot be asked."""
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("LEAD_ROUTER_HEALTH_ADDRESS", str(port))
    assert main(["status", "--ready"]) == 1
    assert (
        f"not ready\nrouter: nothing answers at 127.0.0.1:{port} (LEAD_ROUTER_HEALTH_ADDRESS): "
        in capsys.readouterr().out
    )
    for address in ("", "0"):
        monkeypatch.setenv("LEAD_ROUTER_HEALTH_ADDRESS", address)
        assert main(["status", "--live"]) == 2
        assert "set LEAD_ROUTER_HEALTH_ADDRESS to a port" in capsys.readouterr().err


@pytest.mark.parametrize("body", [b"<html></html>", b"{}", b"[]"])
def test_another_program_at_that_address_is_told_from_a_router(body, capsys, monkeypatch, tmp_path):
    """Its 200 is no yes, be it JSON or not; the line names the setting."""

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    monkeypatch.chdir(tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        monkeypatch.setenv("LEAD_ROUTER_HEALTH_ADDRESS", str(server.server_port))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            assert main(["status", "--live"]) == 1
        finally:
            server.shutdown()
            thread.join()
    told = capsys.readouterr().out
    assert told.startswith("not live\nrouter: what answers at 127.0.0.1:")
    assert "is no lead-router: give LEAD_ROUTER_HEALTH_ADDRESS a port of its own" in told


@pytest.fixture
def systemd(tmp_path):
    """The other end of the notification socket, and the variables that name it."""
    place = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(str(place))
        line.settimeout(5)
        yield line, {"NOTIFY_SOCKET": str(place), "WATCHDOG_USEC": str(int(LIMIT_S * 1e6))}


def test_the_watchdog_is_told_for_as_long_as_the_router_lives(vitals, systemd):
    """F8: a start and an outage are told as life; a loop that keeps failing is not, so systemd starts it again."""
    line, variables = systemd
    vitals.stage = "starting"
    with watched(vitals, variables):
        assert line.recv(100) == b"WATCHDOG=1"
        vitals.stage = "running"
        vitals.pulse("upkeep").failed(StoreUnavailable("away"))
        assert [line.recv(100) for _ in range(2)] == [b"WATCHDOG=1"] * 2
        vitals.pulse("upkeep").failed(RuntimeError())
        line.settimeout(2 * LIMIT_S)
        with pytest.raises(TimeoutError):
            _ = [line.recv(100) for _ in range(3)]  # one may have been under way


@pytest.mark.parametrize(
    "change", [{"WATCHDOG_USEC": "0"}, {"NOTIFY_SOCKET": ""}, {"WATCHDOG_PID": str(os.getpid() + 1)}]
)
def test_without_a_watchdog_nothing_is_told(vitals, systemd, change):
    """No variable, no limit, or another process's: nobody is spoken to."""
    line, variables = systemd
    line.settimeout(0)
    with watched(vitals, variables | change), pytest.raises(BlockingIOError):
        line.recv(100)
