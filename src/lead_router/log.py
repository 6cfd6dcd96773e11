"""Logs as JSON lines on standard error: facts in the past tense, without secrets and personal values."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

HIDDEN = "[hidden]"

# Salesforce's session ids start with the org's id and an exclamation mark; JWTs start with a base64 `{"`.
_SECRETS = re.compile(
    r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]+|eyJ[\w-]+\.[\w-]+\.[\w-]*|-----BEGIN[^-]*PRIVATE KEY-----.*", re.DOTALL
)
_BEARER = re.compile(r"(?i)\b(bearer|oauth|basic)\s+[A-Za-z0-9._~+/=!-]{8,}")
_PARAMETER = re.compile(
    r"(?i)\b(client_secret|assertion|refresh_token|access_token|password|token)(=|\"?\s*:\s*\"?)[^\s&\",}]+"
)
_URL_PASSWORD = re.compile(r"(\w+://[^/\s:@]*):(?!<secret>@)[^/\s@]+@")  # an example's stands in our own texts
_EMAIL = re.compile(r"[\w.+%-][\w.+%'-]*@[\w-]+(?:\.[\w-]+)+")
_WORD = re.compile(r"\w*")  # each of the shapes above holds something else besides; ids and names are most of a log
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


def scrub(text: str) -> str:
    """The text without tokens, keys, passwords and e-mail addresses."""
    if _WORD.fullmatch(text):
        return text
    text = _SECRETS.sub(HIDDEN, text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    text = _PARAMETER.sub(rf"\1\2{HIDDEN}", text)
    text = _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", text)
    return _EMAIL.sub(HIDDEN, text)


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
    return {key: HIDDEN if key.lower() in _PRIVATE_KEYS else _scrubbed(value) for key, value in event.items()}


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
