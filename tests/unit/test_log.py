"""Logs never hold a secret or a personal value, whoever wrote the line."""

from __future__ import annotations

import fcntl
import io
import json
import logging
import os
import threading
import time
from functools import partial
from pathlib import Path

import pytest
import structlog

from lead_router import log
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
def logging_to():
    """Sends all that is logged during a test to the stream it is called with; the set-up is put back afterwards."""
    root = logging.getLogger()
    before, logging_as_before = (root.handlers[:], root.level), structlog.get_config()
    yield partial(configure, "debug")
    root.handlers[:], root.level = before
    structlog.configure(**logging_as_before)


@pytest.fixture
def lines(logging_to):
    """What is logged during a test, as text."""
    stream = io.StringIO()
    logging_to(stream)
    return stream


@pytest.fixture
def pipe(logging_to, monkeypatch):
    """The reading end of a pipe that is the log during a test; it takes a page, and a reader is not waited for long."""
    monkeypatch.setattr(log, "WAIT_S", 0.05)
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    with os.fdopen(read, "rb", buffering=0) as reader, os.fdopen(write, "w") as stream:
        logging_to(stream)
        yield reader


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


def test_a_log_that_nobody_reads_holds_up_nobody(pipe):
    """What it does not take is dropped and counted, the rest stays whole and in order, from all threads."""
    told = structlog.get_logger("test")

    def tell():
        for number in range(500):
            told.info("lead_assigned", number=number, thread=threading.current_thread().name)

    threads = [threading.Thread(target=tell, name=name, daemon=True) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    held_up = any(thread.is_alive() for thread in threads)
    kept = [json.loads(line) for line in pipe.read(4096).splitlines()]
    told.info("lead_assigned", number=500)
    dropped, last = [json.loads(line) for line in pipe.read(4096).splitlines()]
    told.info("lead_assigned", number=501)

    assert not held_up
    for name in "ab":
        numbers = [line["number"] for line in kept if line["thread"] == name]
        assert numbers == list(range(len(numbers)))
    assert (dropped["event"], dropped["count"], last["number"]) == ("log_lines_dropped", 1000 - len(kept), 500)
    assert json.loads(pipe.read(4096))["number"] == 501
    assert dropped.keys() == last.keys() - {"number"} | {"count"}
    assert dropped["timestamp"][:16] == last["timestamp"][:16]


def test_only_the_first_line_waits_for_a_reader(pipe, monkeypatch):
    """Routing is held up once by it, not with each line."""
    monkeypatch.setattr(log, "WAIT_S", 1.0)
    told = structlog.get_logger("test")
    began = time.monotonic()
    for _ in range(100):
        told.info("lead_assigned", text="x" * 100)

    assert 0.9 < time.monotonic() - began < 5.0


def test_a_line_longer_than_a_pipe_takes_is_cut_and_the_next_is_whole(pipe):
    """Who reads line by line loses that one alone."""
    told = structlog.get_logger("test")
    told.info("long", text="x" * 10_000)
    cut = pipe.read(4096)
    told.info("short")
    rest = pipe.read(4096).splitlines()

    assert (len(cut), rest[0]) == (4096, b"")
    assert [json.loads(line)["event"] for line in rest[1:]] == ["log_lines_dropped", "short"]


def test_a_long_line_that_is_read_is_whole(pipe, monkeypatch):
    """The trace of an exception is longer than a pipe may take at once."""
    monkeypatch.setattr(log, "WAIT_S", 10.0)
    heard = bytearray()

    def read():
        while not heard.endswith(b"\n"):
            heard.extend(pipe.read(1000))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    structlog.get_logger("test").info("long", text="x" * 50_000)
    reader.join(10)

    assert len(json.loads(heard)["text"]) == 50_000


def test_a_log_that_cannot_be_written_is_no_fault(logging_to, capfd):
    """Its disk is full, or its reader has gone: nothing is raised, and nothing is printed elsewhere."""
    read, write = os.pipe()
    os.close(read)
    with Path("/dev/full").open("w") as full, os.fdopen(write, "w") as gone:
        for stream in (full, gone):
            logging_to(stream)
            structlog.get_logger("test").info("lost")

    assert capfd.readouterr() == ("", "")
