"""A TCP line that can be frozen: its sockets stay open, and not a byte passes any more."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class Line:
    """Passes on what comes at `port` to a server, each way by a thread of its own, until `frozen`."""

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._ears = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._ears.getsockname()[1]
        self._open: list[socket.socket] = [self._ears]
        self._frozen: set[socket.socket] = set()
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        """All lines of this moment fall silent, for good; those that are opened later are sound."""
        self._frozen = set(self._open)

    def close(self) -> None:
        """Cut all lines."""
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._ears.accept()
                far = socket.create_connection(self._server)
                self.connections += 1
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while some := one.recv(65536):
                if one in self._frozen:
                    return
                other.sendall(some)
            other.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def line(host: str, port: int) -> Iterator[Line]:
    """A line to the server while the block lasts."""
    made = Line((host, port))
    try:
        yield made
    finally:
        made.close()
