"""Systemd's end of the notification socket: what a service tells, in order, read as it comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Notified:
    """The lines that were told so far, and the variables by which a service finds the socket."""

    def __init__(self, place: Path, *, limit_s: float) -> None:
        self.variables = {"NOTIFY_SOCKET": str(place), "WATCHDOG_USEC": str(int(limit_s * 1e6))}
        self.lines: list[str] = []


@contextmanager
def notified(place: Path, *, limit_s: float) -> Iterator[Notified]:
    """Listens at `place` while the block lasts; the queue of such a socket is short, so somebody must read."""
    told = Notified(place, limit_s=limit_s)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(str(place))

        def read() -> None:
            while text := line.recv(4096):
                told.lines += text.decode().split("\n")

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        try:
            yield told
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"", str(place))
            thread.join()
