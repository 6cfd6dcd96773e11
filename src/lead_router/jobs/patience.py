"""A PostgreSQL connection that does not wait for ever for a server that holds the line and says nothing."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow

_RV = TypeVar("_RV")


class Bounded(psycopg.Connection[DictRow]):
    """Fails like a lost connection after `silence_s` seconds without a byte; None waits as long as it takes.

    Keepalives end a wait for a machine that is gone, and the server's own limits one for a lock. Neither helps where a
    pool or a stopped process keeps the socket open.
    """

    silence_s: float | None = None

    def wait(self, gen: Generator[Any, Any, _RV], *more: Any, **named: Any) -> _RV:
        """As psycopg's, which asks every tenth of a second what has come."""
        return super().wait(gen if self.silence_s is None else _impatient(gen, self.silence_s), *more, **named)


def _impatient(gen: Generator[Any, Any, _RV], silence_s: float) -> Generator[Any, Any, _RV]:
    """The same generator, ended after so long without anything that is ready."""
    heard_at = time.monotonic()
    try:
        wish = next(gen)
        while True:
            ready = yield wish
            now = time.monotonic()
            if ready:
                heard_at = now
            elif now - heard_at > silence_s:
                raise psycopg.OperationalError(f"no answer for {silence_s:g} s")
            wish = gen.send(ready)
    except StopIteration as done:
        answer: _RV = done.value
        return answer
