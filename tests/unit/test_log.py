"""Logs never hold a secret or a personal value, whoever wrote the line."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from lead_router.core.hidden import HIDDEN, scrub
from lead_router.log import configure

CANARIES = [
    "00D5f000000XXXX!AQcanaryAQcanary.canary_1",
    "Bearer canarycanary12345",
    "client_secret=canary-secret&grant_type=x",
    '"access_token": "canary-token"',
    "postgresql://router:canarypass@db.example/x",
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJjYW5hcnkifQ.canarysig",
    "canary.person@example.com",
    "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END",
]


@pytest.fixture
def lines():
    """What is logged during a test, as text; the logging set-up is put back afterwards."""
    root = logging.getLogger()
    before, logging_as_before = (root.handlers[:], root.level), structlog.get_config()
    stream = io.StringIO()
    configure("debug", stream)
    yield stream
    root.handlers[:], root.level = before
    structlog.configure(**logging_as_before)


@pytest.mark.parametrize("secret", CANARIES)
def test_scrub_hides_secrets_and_addresses(secret):
    """F1: tokens, keys, passwords and e-mail addresses are hidden by their shape."""
    assert "canary" not in scrub(f"before {secret} after").replace("canary-", "canary") or HIDDEN in scrub(secret)
    assert "canarypass" not in scrub(secret)


def test_an_address_in_quotes_is_hidden_between_them():
    """What is left reads as it was meant, with a pair of quotes or none; a quote within an address is the address's."""
    assert scrub("no user 'canary@x.example' or o'canary@x.example") == f"no user '{HIDDEN}' or {HIDDEN}"


@pytest.mark.parametrize("secret", CANARIES)
def test_no_line_holds_a_secret_or_an_address(lines, secret):
    """F1: not from structlog, not from a third-party logger, not in a traceback, not nested."""
    log = structlog.get_logger("test")
    log.info("told", text=secret, nested={"deep": [secret]}, email="canary", LastName="canary")
    logging.getLogger("third.party").warning("told %s", secret)
    try:
        int(secret)
    except ValueError:
        log.exception("failed")

    assert "canary" not in lines.getvalue()


def test_each_line_is_one_json_object_with_the_fact(lines):
    """Machines read the log: one object per line."""
    structlog.get_logger("test").info("lead_assigned", lead="00Q", turn=42)

    line = json.loads(lines.getvalue())
    assert (line["event"], line["lead"], line["turn"], line["level"]) == ("lead_assigned", "00Q", 42, "info")
