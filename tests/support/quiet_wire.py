"""A TCP line to a port that can fall silent without closing, as a NAT gateway that forgot it does."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

CHUNK_BYTES = 65_536


class QuietWire:
    """Carries what comes to `address` to `port` of this machine. After `silence` what was open carries nothing more."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._silent: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def lines(self) -> int:
        """How many connections there have been."""
        with self._lock:
            return len(self._ends) // 2

    def silence(self) -> None:
        """From now on no byte passes on any open connection, in either direction; new ones are carried."""
        with self._lock:
            self._silent.update(self._ends)

    def close(self) -> None:
        """Hang up, and let every thread end."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            ends = list(self._ends)
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in ends:
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(("localhost", self._port))
            except OSError:
                return
            with self._lock:
                self._ends += [near, far]
            for start, end in ((near, far), (far, near)):
                self._threads.append(threading.Thread(target=self._carry, args=(start, end)))
                self._threads[-1].start()

    def _carry(self, start: socket.socket, end: socket.socket) -> None:
        with suppress(OSError):
            while chunk := start.recv(CHUNK_BYTES):
                with self._lock:
                    dead = start in self._silent
                if not dead:
                    end.sendall(chunk)
        with self._lock:
            dead = start in self._silent
        if not dead:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
