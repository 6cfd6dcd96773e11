"""Bytes that a command shows: a stream's position, the start of an event that could not be read."""

from __future__ import annotations

import json

import pytest

from lead_router.cli.show import as_json, readable


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"16884931", "16884931"),
        (bytes.fromhex("000000000000a4b2"), "000000000000a4b2"),
        (b"\x1b[2J", "1b5b324a"),
        ("é".encode(), "c3a9"),
        (b"", ""),
    ],
)
def test_no_byte_reaches_a_terminal_as_a_control_character(value, shown):
    """A CometD position is shown as the number that it is, a Pub/Sub position in hexadecimal; both in JSON, too."""
    assert readable(value) == shown
    assert json.loads(as_json([value])) == [shown]
