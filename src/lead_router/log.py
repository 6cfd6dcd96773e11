"""Logs as JSON lines on standard error: facts in the past tense, without secrets and personal values."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, TextIO

import structlog

from lead_router.core.hidden import HIDDEN, scrub, without_numbers

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
_QUIET = ("urllib3", "requests", "aiohttp", "asyncio", "simple_salesforce", "zeep", "tenacity")


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


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send structlog and the standard library's logging through one scrubbed JSON writer."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    writer = logging.StreamHandler(stream or sys.stderr)
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
