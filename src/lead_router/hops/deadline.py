"""A call's end in time: time-outs bound each wait for the other side, a deadline all of them together.

A server that sends a byte now and then keeps every time-out; its line is cut at the deadline.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.poolmanager import PoolManager

_here = threading.local()


class Deadline:
    """While the block lasts, the lines that its thread talks on are cut after `seconds`; `passed` says that they were.

    One to a thread at a time.
    """

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._lock = threading.Lock()
        self._lines: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def watch(self, line: socket.socket) -> None:
        """The call goes on over this line."""
        with self._lock:
            self._lines.append(line)
            passed = self.passed
        if passed:
            _shut(line)

    def _cut(self) -> None:
        with self._lock:
            self.passed = True
            lines = list(self._lines)
        for line in lines:
            _shut(line)

    def __enter__(self) -> Self:
        _here.deadline = self
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        _here.deadline = None


def _shut(line: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already
        line.shutdown(socket.SHUT_RDWR)


def _watched(line: Any) -> None:
    deadline: Deadline | None = getattr(_here, "deadline", None)
    if deadline is not None and line is not None:
        deadline.watch(line)


class _Plain(HTTPConnection):
    def getresponse(self) -> Any:
        _watched(self.sock)
        return super().getresponse()


class _Secure(HTTPSConnection):
    def getresponse(self) -> Any:
        _watched(self.sock)
        return super().getresponse()


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure


class Guarded(HTTPAdapter):
    """Lines that a Deadline can cut, straight or through a proxy."""

    def init_poolmanager(self, *args: Any, **named: Any) -> None:
        """As requests makes it, with connections of ours."""
        super().init_poolmanager(*args, **named)
        _ours(self.poolmanager)

    def proxy_manager_for(self, *args: Any, **named: Any) -> Any:
        """The same for a proxy."""
        return _ours(super().proxy_manager_for(*args, **named))


def _ours(pools: PoolManager) -> PoolManager:
    pools.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
    return pools


class _Silence(logging.Filter):
    """urllib3 logs whole addresses, which hold a lead's values; what comes of a call is told by its answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        del record
        return not getattr(_here, "silent", False)


_SILENCE = _Silence()


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """While the block lasts, urllib3 logs nothing on its thread, at whatever level."""
    for name in ("urllib3.connection", "urllib3.connectionpool", "urllib3.util.retry", "urllib3.response"):
        logging.getLogger(name).addFilter(_SILENCE)  # once, however often it is added
    _here.silent = True
    try:
        yield
    finally:
        _here.silent = False
