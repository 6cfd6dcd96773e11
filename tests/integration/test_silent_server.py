"""A server that accepts every connection and answers some requests never."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lead_router.core.ids import to18
from lead_router.errors import OutcomeUnknown, Unreachable
from lead_router.salesforce.auth import ATTEMPTS_MAX, Login, TokenHolder
from lead_router.salesforce.rest import Rest, Subrequest
from lead_router.salesforce.wire import open_session

CONNECT_S, READ_S = 0.5, 0.3
SLACK_S = 2.0  # for a machine that is busy with other tests
IDENTITY = f"http://localhost/id/{to18('00D000000000001')}/{to18('005000000000001')}"


class _Silent(ThreadingHTTPServer):
    """Answers what is not in `mute`; a request to what is waits until the server is closed."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("localhost", 0), _Answers)
        self.mute: set[str] = set()
        self.closed = threading.Event()
        self.asked: list[str] = []
        self.waiting = threading.Event()
        self.url = f"http://localhost:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self):
        self.closed.set()
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Silent

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        word = self.path.split("?")[0].rsplit("/", 1)[-1]
        self.server.asked.append(word)
        if word in self.server.mute:
            self.server.waiting.set()
            self.server.closed.wait(30)
            self.close_connection = True
            return
        body = {"access_token": "t", "instance_url": self.server.url, "id": IDENTITY, "totalSize": 0, "done": True}
        told = json.dumps({**body, "records": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def do_GET(self):
        self.do_POST()

    def log_message(self, *told):
        """Silence on the test's output."""


@pytest.fixture
def server():
    with contextlib.closing(_Silent()) as made:
        yield made


def client(server, read_s=READ_S):
    session = open_session(server.url, connect_s=CONNECT_S, read_s=read_s)
    now = partial(datetime.now, UTC)
    login = Login(server.url, "client", "secret")
    return Rest(TokenHolder(login, session, now=now, sleep=lambda _: None, dice=random.Random(1)), session)


def read(rest):
    rest.query("SELECT Id FROM Lead")


def write(rest):
    rest.composite([Subrequest("PATCH", "one", "composite/sobjects", {"records": []})], write=True)


@pytest.mark.parametrize(
    ("mute", "call", "raised", "requests"),
    [
        ("token", read, Unreachable, ATTEMPTS_MAX),
        ("query", read, Unreachable, 1),
        ("composite", write, OutcomeUnknown, 1),
    ],
)
def test_a_call_that_is_never_answered_ends_in_time(server, mute, call, raised, requests):
    """B1: a login, a query and a write each fail within the limits; a write is not sent a second time."""
    server.mute.add(mute)
    began = time.monotonic()
    with pytest.raises(raised) as fault:
        call(client(server))

    assert type(fault.value) is raised
    assert time.monotonic() - began < requests * (CONNECT_S + READ_S) + SLACK_S
    assert server.asked.count(mute) == requests


def test_others_go_on_beside_a_call_that_is_never_answered(server):
    """B1: while one thread waits, another one's calls are answered."""
    server.mute.add("composite")
    rest = client(server, read_s=20)
    with ThreadPoolExecutor(1) as pool:
        hangs = pool.submit(write, rest)
        assert server.waiting.wait(10)
        read(rest)
        waits = not hangs.done()
        server.closed.set()
        with pytest.raises(OutcomeUnknown):
            hangs.result(10)

    assert waits
