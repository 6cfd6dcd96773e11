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
from lead_router.app.watchdog import Told, due, watched
from lead_router.cli import main
from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs import open_store
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


def test_status_tells_why_the_router_is_not_ready_as_the_probe_does(port, vitals, capsys, monkeypatch, tmp_path):
    """One that "runs" in an outage is told with its reasons; where it is asked nowhere, with where they stand."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    open_store(f"sqlite:///{tmp_path}/lead-router.db", org_id="00D000000000001EAA").close()
    shown = []
    for address, ear in ((port, Ear("subscribed")), (port, Ear("refused", "the login is refused")), (0, Ear("x", "y"))):
        monkeypatch.setenv("LEAD_ROUTER_HEALTH_ADDRESS", str(address))
        vitals.ear = lambda ear=ear: ear
        main(["status"])
        shown.append(capsys.readouterr().out)
        main(["status", "--json"])
        shown.append(json.loads(capsys.readouterr().out)["not_ready"])

    assert "not ready" not in shown[0] + shown[4]
    assert "\nnot ready: stream: the login is refused\n" in shown[2]
    assert shown[1::2] == [[], ["stream: the login is refused"], []]


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


def lines_of(line, until, within_s=5.0):
    """What is told until a line begins so, that one included."""
    told, end = [], time.monotonic() + within_s
    while not any(one.startswith(until) for one in told):
        line.settimeout(max(0.01, end - time.monotonic()))
        told += line.recv(1000).decode().split("\n")
    return told


def test_the_watchdog_is_told_for_as_long_as_the_router_lives(vitals, systemd):
    """F8: an outage is told as life; a loop that keeps failing is not, so systemd starts it again."""
    line, variables = systemd
    with watched(vitals, variables):
        assert lines_of(line, "WATCHDOG=1")[-1] == "WATCHDOG=1"
        vitals.pulse("upkeep").failed(StoreUnavailable("away"))
        assert "WATCHDOG=1" in lines_of(line, "STATUS=running, not ready: upkeep") + lines_of(line, "WATCHDOG=1")
        vitals.pulse("upkeep").failed(RuntimeError())
        told = lines_of(line, "STATUS=not live: upkeep")
        with pytest.raises(TimeoutError):
            lines_of(line, "WATCHDOG=1", within_s=3 * LIMIT_S)
    assert told[-1] == "STATUS=not live: upkeep"


def test_systemd_is_told_when_routing_begins_and_when_it_ends(vitals, systemd):
    """Units that come after it wait for a start that waits for Salesforce; that start is given time, and says why."""
    line, variables = systemd
    vitals.stage, vitals.start_waits = "starting", f"Unreachable: no answer\nfrom it, {TOKEN}"
    with watched(vitals, variables):
        early = lines_of(line, "EXTEND_TIMEOUT_USEC") + lines_of(line, "EXTEND_TIMEOUT_USEC")
        vitals.stage, vitals.start_waits = "running", None
        begun = lines_of(line, "READY=1")
        vitals.stage = "stopping"
        ending = lines_of(line, "STOPPING=1")

    assert set(early) == {"STATUS=starting: Unreachable: no answer from it, [hidden]", "EXTEND_TIMEOUT_USEC=300000"}
    assert (begun + ending).count("READY=1") == 1
    assert "STATUS=running, stream subscribed" in begun + lines_of_now(line) + ending


def lines_of_now(line):
    """What lies there unread."""
    line.settimeout(0)
    told = []
    try:
        while True:
            told += line.recv(1000).decode().split("\n")
    except BlockingIOError:
        return told


def test_a_line_of_status_is_told_once_until_it_changes(vitals):
    """Systemd's log is not filled with what it knows; life is told in its own time."""
    words, told = due(Told(), vitals.health(), 10.0, 60.0)
    assert words == ["READY=1", "STATUS=running, stream subscribed", "WATCHDOG=1"]
    words, told = due(told, vitals.health(), 29.9, 60.0)
    assert words == []
    words, told = due(told, vitals.health(), 30.0, 60.0)
    assert words == ["WATCHDOG=1"]
    words, told = due(told, vitals.health(), 90.0, 0.0)
    assert words == []


@pytest.mark.parametrize("change", [{"WATCHDOG_USEC": "0"}, {"WATCHDOG_PID": str(os.getpid() + 1)}])
def test_without_a_watchdog_life_is_not_told(vitals, systemd, change):
    """No limit, or another process's: the stage is told all the same."""
    line, variables = systemd
    with watched(vitals, variables | change):
        assert "READY=1" in lines_of(line, "STATUS=")
        with pytest.raises(TimeoutError):
            lines_of(line, "WATCHDOG=1", within_s=2 * LIMIT_S)


def test_without_systemd_nothing_is_told(vitals, systemd):
    """No variable, nobody is spoken to."""
    line, variables = systemd
    with watched(vitals, variables | {"NOTIFY_SOCKET": ""}):
        assert lines_of_now(line) == []
