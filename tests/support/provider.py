"""A provider of leads' data on loopback: it answers, or fails in one of many ways, and counts what it was asked."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = b"<html><h1>Service unavailable</h1></html>"
DRIBBLES = 2_000
HANG_S = 20.0


@dataclass
class Asked:
    """One call as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Provider:
    """`mode` says how it answers: `ok` with `answer`, or as `FAULTS` has it. `release` lets hanging calls go."""

    url: str = ""
    mode: str = "ok"
    answer: Any = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    elsewhere: str = ""


def _status(status: int, body: bytes, kind: str = "application/json", **headers: str):
    def say(handler: Any, provider: Provider) -> None:
        handler.send_response_only(status)  # without a date of today
        told = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
        for name, value in told.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return say


def _ok(handler: Any, provider: Provider) -> None:
    _status(200, json.dumps(provider.answer).encode())(handler, provider)


def _hang(handler: Any, provider: Provider) -> None:
    provider.release.wait(HANG_S)
    with contextlib.suppress(OSError):
        _ok(handler, provider)


def _dribble(handler: Any, provider: Provider) -> None:
    """A byte now and then: no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(DRIBBLES))
    handler.end_headers()
    for _ in range(DRIBBLES):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        if provider.release.wait(0.01):
            return


def _dribbled_head(handler: Any, provider: Provider) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(DRIBBLES):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        if provider.release.wait(0.01):
            return


def _redirect(handler: Any, provider: Provider) -> None:
    _status(302, b"", Location=f"{provider.elsewhere or provider.url}/elsewhere")(handler, provider)


def _broken_off(handler: Any, provider: Provider) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"a": ')
    handler.close_connection = True


def _cookie(handler: Any, provider: Provider) -> None:
    body = json.dumps(provider.answer).encode()
    _status(200, body, Set_Cookie="visitor=1; Path=/")(handler, provider)


MODES = {
    "ok": _ok,
    "hang": _hang,
    "dribble": _dribble,
    "dribbled head": _dribbled_head,
    "redirect": _redirect,
    "broken off": _broken_off,
    "cookie": _cookie,
    "500": _status(500, PAGE, "text/html"),
    "html": _status(200, PAGE, "text/html"),
    "garbage": _status(200, b"\xff\xfe\x00{{"),
    "cut": _status(200, b'{"company": {"industry": "Ste'),
    "nan": _status(200, b'{"company": {"size": NaN}}'),
    "nested": _status(200, b"[" * 100_000),
    "large": _status(200, b'"' + b"x" * 600_000 + b'"'),
    "empty": _status(200, b""),
    "no content": _status(204, b""),
    "not found": _status(404, b'{"error": "unknown"}'),
    "page not found": _status(404, PAGE, "text/html"),
    "looking": _status(202, b"", Retry_After="7"),
    "refused": _status(422, b'{"error": "bad"}'),
    "no key": _status(401, b'{"error": "who are you"}'),
    "no money": _status(402, b'{"error": "pay"}'),
    "too many": _status(429, b"{}", Retry_After="30"),
    "till a date": _status(
        503, b"{}", Retry_After="Mon, 30 Nov 2026 09:01:00 GMT", Date="Mon, 30 Nov 2026 09:00:00 GMT"
    ),
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """A client that leaves is part of the game."""


@contextlib.contextmanager
def provider() -> Iterator[Provider]:
    """Serves while the block lasts."""
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made.asked.append(Asked(self.command, self.path, dict(self.headers), body))
            MODES[made.mode](self, made)

        def do_GET(self):
            self.do_POST()

        def log_message(self, *told):
            """Silence on the test's output."""

    server = _Server(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
