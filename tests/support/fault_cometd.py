"""A CometD server on loopback that fails on order, in the words and shapes of the Streaming API.

It keeps its events, its client ids and a cookie; `fail` queues a fault for the next request on a meta channel. Several
threads may use it at once. An event counts as sent when its answer was begun: a cut answer loses its events.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANDSHAKE, CONNECT, SUBSCRIBE, DISCONNECT = "/meta/handshake", "/meta/connect", "/meta/subscribe", "/meta/disconnect"
COOKIE = "BAYEUX_BROWSER=only-here"
UNKNOWN_CLIENT = "403::Unknown client"
BAD_TOKEN = "401::Authentication invalid"


@dataclass(frozen=True)
class Say:
    """A reply without success, instead of the right one; `extra` frames come with it."""

    error: str = ""
    advice: dict | None = None
    ext: dict | None = None
    successful: bool = False
    extra: tuple = ()


@dataclass(frozen=True)
class Http:
    """A bare HTTP answer."""

    status: int
    body: bytes = b""
    headers: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """The right answer, its socket closed after `share` of the body."""

    share: float = 0.5


@dataclass(frozen=True)
class Drop:
    """The socket closed without a byte."""


@dataclass(frozen=True)
class Stall:
    """No answer at all, until the client gives up."""


@dataclass
class Client:
    """What the server knows of a client id: where it is subscribed and up to which event it was sent."""

    subscribed: dict[str, int] = field(default_factory=dict)


class FaultServer:
    """`hold_s` is how long a connect without events is held; `interval` and `timeout` (ms) are advised."""

    def __init__(self, channel: str = "/data/LeadChangeEvent") -> None:
        self.channel = channel
        self.hold_s = 0.1
        self.interval, self.timeout = 0, 2000
        self.tokens = {"token-1"}
        self.cookie = COOKIE
        self.unknown = UNKNOWN_CLIENT
        self.first = 1
        self.events: list[dict] = []
        self.clients: dict[str, Client] = {}
        self.seen: list[tuple[str, dict]] = []
        self.cookies: list[tuple[str, str]] = []
        self.open_connects = 0
        self.most_connects = 0
        self._faults: dict[str, deque] = defaultdict(deque)
        self._always: dict[str, object] = {}
        self.changed = threading.Condition()
        self._http = _Server(("localhost", 0), _Handler)
        self._http.owner = self
        self.url = f"http://localhost:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def publish(self, payload: object, replay_id: int | None = None, **beside: object) -> int:
        """Retain an event and wake those who wait; returns its replay id."""
        with self.changed:
            replay_id = self.events[-1]["at"] + 1 if replay_id is None and self.events else replay_id or 1
            body = {"schema": "s", "payload": payload, "event": {"replayId": replay_id, **beside}}
            self.events.append(
                {"at": replay_id, "n": len(self.events), "frame": {"channel": self.channel, "data": body}}
            )
            self.changed.notify_all()
        return replay_id

    def publish_raw(self, frame: object, at: int) -> None:
        """Retain anything at all in an event's place."""
        with self.changed:
            self.events.append({"at": at, "n": len(self.events), "frame": frame})
            self.changed.notify_all()

    def fail(self, channel: str, *faults: object) -> None:
        """Queue faults for the next requests on a meta channel."""
        with self.changed:
            self._faults[channel].extend(faults)
            self.changed.notify_all()

    def fail_always(self, channel: str, fault: object | None) -> None:
        """Every request on a meta channel fails so, until told otherwise by None."""
        with self.changed:
            self._always[channel] = fault
            self.changed.notify_all()

    def forget_clients(self) -> None:
        """As after a restart: client ids are unknown, events are kept."""
        with self.changed:
            self.clients.clear()
            self.changed.notify_all()

    def fail_over(self, cookie: str, unknown: str) -> None:
        """The node is gone: the balancer sends all to one that has another cookie, knows nobody, and words it so."""
        with self.changed:
            self.clients.clear()
            self.cookie, self.unknown = cookie, unknown
            self.changed.notify_all()

    def count(self, channel: str) -> int:
        """How many requests came in on a meta channel."""
        with self.changed:
            return sum(1 for seen, _ in self.seen if seen == channel)

    def starts(self) -> list[int]:
        """The replay ids of all subscriptions asked for, in order."""
        with self.changed:
            return [frame["ext"]["replay"][self.channel] for seen, frame in self.seen if seen == SUBSCRIBE]

    def close(self) -> None:
        """Stop; requests in flight are left alone."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    # ---- answers -----------------------------------------------------------------------------------------------------

    def next_fault(self, channel: str) -> object | None:
        queued = self._faults[channel]
        return queued.popleft() if queued else self._always.get(channel)

    def answer(self, frame: dict, headers: dict) -> list:
        channel, client_id = frame["channel"], frame.get("clientId", "")
        reply = {"channel": channel, "id": frame["id"], "successful": True}
        if headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return [reply | _unauthorised(channel)]
        if channel == HANDSHAKE:
            client_id = f"client-{len(self.seen)}"
            self.clients[client_id] = Client()
            ext = {"replay": True, "payload.format": True}
            return [reply | {"clientId": client_id, "supportedConnectionTypes": ["long-polling"], "ext": ext}]
        if client_id not in self.clients or self.cookie not in headers.get("Cookie", ""):
            advice = {"reconnect": "handshake", "interval": 0}
            return [reply | {"successful": False, "error": self.unknown, "advice": advice}]
        if channel == SUBSCRIBE:
            return [reply | self._subscribed(self.clients[client_id], frame)]
        if channel == CONNECT:
            return self._connected(client_id, frame, reply)
        self.clients.pop(client_id, None)
        return [reply]

    def _subscribed(self, client: Client, frame: dict) -> dict:
        start = frame["ext"]["replay"][frame["subscription"]]
        if start >= 0 and start < self.first - 1:
            error = (
                f"400::The replayId {{{start}}} you provided was invalid.  Please provide a valid ID, "
                "-2 to replay all events, or -1 to replay only new events."
            )
            return {"successful": False, "error": error, "subscription": frame["subscription"]}
        past = [event["n"] + 1 for event in self.events if start == -1 or event["at"] <= start]
        client.subscribed[frame["subscription"]] = max(past, default=0)
        return {"subscription": frame["subscription"]}

    def _connected(self, client_id: str, frame: dict, reply: dict) -> list:
        reply |= {"advice": {"reconnect": "retry", "interval": self.interval, "timeout": self.timeout}}
        if frame.get("advice", {}).get("timeout") != 0:
            self.open_connects += 1
            self.most_connects = max(self.most_connects, self.open_connects)
            self.changed.wait_for(
                lambda: self._due(client_id) or client_id not in self.clients or self._faults[CONNECT], self.hold_s
            )
            self.open_connects -= 1
        if client_id not in self.clients:
            advice = {"reconnect": "handshake", "interval": 0}
            return [reply | {"successful": False, "error": self.unknown, "advice": advice}]
        due = self._due(client_id)
        client = self.clients[client_id]
        if due:
            client.subscribed[self.channel] = due[-1]["n"] + 1
        return [*(event["frame"] for event in due), reply]

    def _due(self, client_id: str) -> list[dict]:
        client = self.clients.get(client_id)
        if client is None or self.channel not in client.subscribed:
            return []
        seen = client.subscribed[self.channel]
        return [event for event in self.events if event["n"] >= seen and event["at"] >= self.first]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: FaultServer

    def handle_error(self, request, client_address):
        """A client that went away is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self):
        owner = self.server.owner
        frame = json.loads(self.rfile.read(int(self.headers["Content-Length"])))[0]
        channel = frame["channel"]
        with owner.changed:
            owner.seen.append((channel, frame))
            owner.cookies.append((channel, self.headers.get("Cookie", "")))
            fault = owner.next_fault(channel)
            members = owner.answer(frame, dict(self.headers)) if fault is None or isinstance(fault, Cut) else []
            late = (
                owner.next_fault(channel) if channel == CONNECT and fault is None and owner._faults[CONNECT] else None
            )
        fault = late or fault
        match fault:
            case Say():
                self._send(200, json.dumps([_said(frame, fault), *fault.extra]).encode())
            case Http():
                self._send(fault.status, fault.body, headers=fault.headers)
            case Cut():
                self._send(200, json.dumps(members).encode(), share=fault.share)
            case Drop():
                self._cut()
            case Stall():
                self.rfile.read(1)
            case _:
                self._send(200, json.dumps(members).encode())

    def _send(self, status, body, *, headers=None, share=1.0):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if (headers or {}).get("Content-Type") is None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", f"{self.server.owner.cookie}; Path=/")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: int(len(body) * share)])
        if share < 1:
            self._cut()

    def _cut(self):
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, *told):
        """Silence on the test's output."""


def _unauthorised(channel: str) -> dict:
    if channel == HANDSHAKE:
        ext = {"sfdc": {"failureReason": BAD_TOKEN}, "replay": True, "payload.format": True}
        return {"successful": False, "error": "403::Handshake denied", "ext": ext, "advice": {"reconnect": "none"}}
    return {"successful": False, "error": BAD_TOKEN, "advice": {"reconnect": "none", "interval": 0}}


def _said(frame: dict, say: Say) -> dict:
    reply = {"channel": frame["channel"], "id": frame["id"], "successful": say.successful}
    beside = {"error": say.error, "advice": say.advice, "ext": say.ext}
    return reply | {name: value for name, value in beside.items() if value}
