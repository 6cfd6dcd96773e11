"""As much of Redis's protocol as a queue needs (RESP2, https://redis.io/docs/latest/develop/reference/protocol-spec/)."""

from __future__ import annotations

import socket
from pathlib import Path

ANSWER_S = 30.0


class Redis:
    """One connection over a socket file. For one thread."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_S)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rb")

    def ask(self, *words: str) -> int | str | list[str] | None:
        """One command. Raises RuntimeError for what the server refuses."""
        parts = [f"*{len(words)}\r\n"] + [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
        self._socket.sendall("".join(parts).encode())
        return self._answer()

    def _answer(self) -> int | str | list[str] | None:
        line = self._lines.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise RuntimeError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"+" or rest == "-1":
            return rest if kind == b"+" else None
        if kind == b"$":
            return self._lines.read(int(rest) + 2)[:-2].decode()
        return [str(self._answer()) for _ in range(int(rest))]
