"""A cable: TCP between a program and the org that a test can watch, cut in the middle of an answer, or unplug."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from support.simulator import Simulator, simulator

CHUNK_BYTES = 65_536
NO_GOODBYE = struct.pack("ii", 1, 0)  # SO_LINGER: close by a reset, as a firewall that lost the connection does

COMMIT = b'"PATCH"'  # in the body of a commit alone: a snapshot only reads
POLL = b"/meta/connect"
LEAD_TOLD = b"LeadChangeEvent"


@dataclass(slots=True)
class Cut:
    """For the next request that holds `asked` and whose answer holds `told`: `after` bytes of it pass, then a reset."""

    asked: bytes
    told: bytes
    after: int


@dataclass(slots=True, eq=False)
class _Line:
    """One connection of a program. `request` is what was sent since the last byte of an answer."""

    program: socket.socket
    org: socket.socket
    request: bytes = b""
    answering: bool = False

    def cut(self) -> None:
        """Both ends are reset."""
        for end in (self.program, self.org):
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_GOODBYE)
            with suppress(OSError):
                end.shutdown(socket.SHUT_RD)  # wakes the thread that reads it
            end.close()


class Cable:
    """Listens on `url` and carries everything to the org's port, which `plug` names. `cuts` are those still to come."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self._org_port: int | None = None
        self._seen = threading.Condition()
        self._lines: set[_Line] = set()
        self.cuts: list[Cut] = []
        self._commits = 0
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def plug(self, org_port: int) -> None:
        """From now on there is an org at the other end, at the same address as ever."""
        self._org_port = org_port
        if self._listener.fileno() == -1:
            self._listener = socket.create_server(("127.0.0.1", self._port))
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def unplug(self) -> None:
        """Every connection is reset, and new ones are refused."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for line in self._open():
            line.cut()

    def cut(self, asked: bytes, *, after: int, told: bytes = b"") -> None:
        """Cut one answer, the next that fits."""
        with self._seen:
            self.cuts.append(Cut(asked, told, after))

    def await_commit(self, within_s: float) -> bool:
        """Until the program has begun to send another commit; False if it did not in that time."""
        with self._seen:
            before = self._commits
            return self._seen.wait_for(lambda: self._commits > before, within_s)

    def unanswered(self) -> int:
        """How many commits are under way: sent, at least in part, and no byte of the answer has come back."""
        with self._seen:
            return sum(COMMIT in line.request and not line.answering for line in self._lines)

    def _open(self) -> list[_Line]:
        with self._seen:
            return list(self._lines)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                program, _ = listener.accept()
                org = socket.create_connection(("localhost", self._org_port or 0))
            except OSError:
                if listener.fileno() == -1:
                    return
                continue
            for end in (program, org):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = _Line(program, org)
            with self._seen:
                self._lines.add(line)
            for carry in (self._ask, self._answer):
                threading.Thread(target=self._carry, args=(line, carry), daemon=True).start()

    def _carry(self, line: _Line, carry: Callable[[_Line], None]) -> None:
        with suppress(OSError):
            carry(line)
        line.cut()
        with self._seen:
            self._lines.discard(line)

    def _ask(self, line: _Line) -> None:
        while chunk := line.program.recv(CHUNK_BYTES):
            with self._seen:
                former = b"" if line.answering else line.request
                line.request, line.answering = former + chunk, False
                if COMMIT in line.request and COMMIT not in former:
                    self._commits += 1
                    self._seen.notify_all()
            line.org.sendall(chunk)

    def _answer(self, line: _Line) -> None:
        passed = 0
        while chunk := line.org.recv(CHUNK_BYTES):
            with self._seen:
                passed = passed if line.answering else 0
                cut = next((one for one in self.cuts if one.asked in line.request and one.told in chunk), None)
                if cut is not None:
                    self.cuts.remove(cut)
            if cut is not None:
                line.program.sendall(chunk[: max(0, cut.after - passed)])
                return
            with self._seen:
                line.answering = True
            line.program.sendall(chunk)
            passed += len(chunk)


@dataclass(frozen=True, slots=True)
class Cabled:
    """An org, and its far end: the same org, at the address where the cable begins."""

    org: Simulator
    far: Simulator
    cable: Cable


@contextmanager
def cabled(*options: str, scenario: Mapping[str, Any]) -> Iterator[Cabled]:
    """An org that tells its clients an address from which a cable leads to it, while the block lasts."""
    made = Cable()
    try:
        with simulator("--public-url", made.url, *options) as far:
            port = int(far.ready["port"])
            made.plug(port)
            org = replace(far, ready={**far.ready, "url": f"http://localhost:{port}"})
            org.control("scenario", scenario)
            yield Cabled(org, far, made)
    finally:
        made.unplug()
