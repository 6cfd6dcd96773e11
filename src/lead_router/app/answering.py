"""How the running router is, over HTTP: `/healthz`, `/readyz`, `/metrics`, on threads that ask no database and no org.

The first two answer one JSON object, with status 200 where it is so and 503 where it is not. `/healthz` says whether
the process is to be left alone (`live`), also while it starts or drains; `/readyz` whether leads are heard of and
routed. `/metrics` is for Prometheus, and 501 where its client is not installed.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import structlog

from lead_router.app.metering import INSTALL
from lead_router.core.hidden import scrub
from lead_router.errors import Misconfigured
from lead_router.loops.vitals import Fault, Health, Vitals
from lead_router.settings import PREFIX, host_and_port

_log = structlog.get_logger(__name__)

REQUEST_S = 5.0
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
"""The type of Prometheus' text format."""

_SETTING = f"{PREFIX}HEALTH_ADDRESS"

Metrics: TypeAlias = Callable[[], bytes | None]
"""All metrics as text; None where they cannot be told."""


def liveness(health: Health) -> dict[str, Any]:
    """The answer of `/healthz`."""
    return {"live": health.live, "state": health.stage, "faults": _told(health.dying)}


def readiness(health: Health) -> dict[str, Any]:
    """The answer of `/readyz`; `stream` also says who listens, where this process waits for its turn."""
    faults = _told((*health.dying, *health.waiting))
    return {"ready": health.ready, "state": health.stage, "stream": scrub(health.stream), "faults": faults}


def _told(faults: Sequence[Fault]) -> list[dict[str, str]]:
    return [{"part": fault.part, "reason": scrub(fault.reason)} for fault in faults]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, vitals: Vitals, metrics: Metrics) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.vitals = vitals
        self.metrics = metrics
        super().__init__((host, port), _Answer)

    def server_bind(self) -> None:
        """Without a look at what name the address has, which may wait for a name server."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def handle_error(self, request: object, client_address: object) -> None:
        """Who asks and goes away before the answer is no fault of ours."""
        del request, client_address
        _log.debug("health_not_answered", exc_info=True)


class _Answer(BaseHTTPRequestHandler):
    server: _Server
    timeout = REQUEST_S

    def do_GET(self) -> None:
        """One of the three questions, or 404."""
        health = self.server.vitals.health()
        match self.path.partition("?")[0]:
            case "/healthz":
                self._say(200 if health.live else 503, liveness(health))
            case "/readyz":
                self._say(200 if health.ready else 503, readiness(health))
            case "/metrics":
                self._measure()
            case _:
                self._say(404, {"error": "ask for /healthz, /readyz or /metrics"})

    def version_string(self) -> str:
        """What the Server header says."""
        return "lead-router"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """A probe every few seconds is no fact for the log."""

    def _measure(self) -> None:
        text = self.server.metrics()
        if text is None:
            self._say(501, {"error": f"metrics need the package prometheus-client: {INSTALL}, and a restart"})
        else:
            self._send(200, PROMETHEUS, text)

    def _say(self, status: int, answer: Mapping[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(answer).encode() + b"\n")

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def answering(address: str, vitals: Vitals, metrics: Metrics = lambda: None) -> Iterator[str | None]:
    """Answer at `address` (`settings.host_and_port`) while the block lasts; the value is where, None for an empty one.

    Raises Misconfigured where the address cannot be had.
    """
    if not address:
        yield None
        return
    try:
        server = _Server(*host_and_port(address), vitals, metrics)
    except OSError as fault:
        raise Misconfigured(
            f"{_SETTING}: {address} cannot be listened on ({fault.strerror}): take another port"
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
    thread.start()
    host, port = str(server.server_address[0]), server.server_address[1]
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    _log.info("health_answered_at", address=place)
    try:
        yield place
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
