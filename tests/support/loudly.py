"""The log as an operator sees it who has turned everything on, the libraries' loggers too."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator, Sequence

import structlog

from lead_router.log import configure


@contextlib.contextmanager
def loudly(*libraries: str) -> Iterator[io.StringIO]:
    """While the block lasts, all is logged at DEBUG; the value holds it."""
    told = io.StringIO()
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    loggers: Sequence[logging.Logger] = [logging.getLogger(name) for name in libraries]
    levels = [one.level for one in loggers]
    configure("debug", told)
    structlog.configure(cache_logger_on_first_use=False)  # a logger that is first used here would stay here
    for one in loggers:
        one.setLevel(logging.DEBUG)
    try:
        yield told
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.configure(**before)
        for one, former in zip(loggers, levels, strict=True):
            one.setLevel(former)
