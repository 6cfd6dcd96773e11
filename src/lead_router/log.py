"""Logs as JSON lines on standard error: facts in the past tense, without secrets and personal values."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import select
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Any, TextIO

import structlog

from lead_router.core.hidden import HIDDEN, scrub, without_numbers
from lead_router.ports.meter import LOGGED, NO_METER, Meter

_PRIVATE_KEYS = frozenset(
    [
        "email",
        "phone",
        "mobilephone",
        "fax",
        "firstname",
        "first_name",
        "lastname",
        "last_name",
        "full_name",
        "company",
        "street",
        "city",
        "postalcode",
        "access_token",
        "client_secret",
        "password",
        "secret",
        "token",
        "authorization",
        "assertion",
        "private_key",
        "cookie",
    ]
)
WAIT_S = 1.0
"""How long a line waits for a slow reader of the log; the lines after it do not, until there is room again."""

ROOM = 4_096
"""Bytes that a pipe takes without waiting once it says that it has room (PIPE_BUF of Linux)."""

_ALARMS = frozenset({"warning", "error", "critical"})
_QUIET = ("urllib3", "requests", "aiohttp", "asyncio", "simple_salesforce", "zeep", "tenacity")


class Unhindered(logging.StreamHandler[TextIO]):
    """No thread is held up by a log that nobody reads, or that cannot be written: such lines are dropped.

    How many they were is said before the next one that is written. Lines stay in order, and each is written before its
    call ends, so that none is lost with the process. A stream that is none of the system's is written to as it is.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._dropped = 0
        self._cut = False
        self._waits = True
        self._place: int | None = None
        self._room = select.poll()
        with contextlib.suppress(io.UnsupportedOperation):
            self._place = stream.fileno()
            self._room.register(self._place, select.POLLOUT)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, or count it; the caller holds the lock."""
        if self._place is None:
            super().emit(record)
            return
        try:
            line = self.format(record) + self.terminator
            written = self._write(self._place, (_told(self._dropped, record.created) + line).encode())
            self._dropped = 0 if written else self._dropped + 1
        except Exception:  # noqa: BLE001 - as each of logging's does
            self.handleError(record)

    def _write(self, place: int, lines: bytes) -> bool:
        whole = left = b"\n" * self._cut + lines
        with contextlib.suppress(OSError):  # its reader is gone, or its disk is full
            while left and self._has_room():
                left = left[os.write(place, left[:ROOM]) :]
        self._cut = self._cut if left == whole else bool(left)
        return not left

    def _has_room(self) -> bool:
        self._waits = bool(self._room.poll(WAIT_S * 1000 if self._waits else 0))
        return self._waits


def _told(dropped: int, at: float) -> str:
    fact = {
        "count": dropped,
        "event": "log_lines_dropped",
        "level": "error",
        "timestamp": f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
    }
    return json.dumps(fact) + "\n" if dropped else ""


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: HIDDEN if str(key).lower() in _PRIVATE_KEYS else _scrubbed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_scrubbed(inner) for inner in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return value


def scrub_event(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor: hides private fields by name and secrets by shape, in every value and traceback."""
    hidden = {key: HIDDEN if key.lower() in _PRIVATE_KEYS else _scrubbed(value) for key, value in event.items()}
    if isinstance(trace := hidden.get("exception"), str):  # what failed may be told with the value it failed on
        hidden["exception"] = without_numbers(trace)
    return hidden


def _counted(meter: Meter) -> structlog.typing.Processor:
    """A processor that counts warnings and errors by their events, which are words of the program's own."""

    def count(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if event["level"] in _ALARMS:
            meter.count(LOGGED, str(event["event"]), str(event["level"]))
        return event

    return count


def configure(level: str, stream: TextIO | None = None, meter: Meter = NO_METER) -> None:
    """Send structlog and the standard library's logging through one scrubbed JSON writer.

    The meter counts what structlog tells above `info`.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, _counted(meter), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    writer = Unhindered(stream or sys.stderr)
    writer.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                scrub_event,
                structlog.processors.JSONRenderer(default=str),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [writer]
    root.setLevel(level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # what it warns of is raised as well


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is logged while the block lasts: a command's answer says what its parts would log."""
    former = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**former)
