"""What each error of Pub/Sub API asks for."""

from __future__ import annotations

import pytest

from lead_router.salesforce.losses import Broken, Oversized, PositionExpired, Refused, TokenRefused
from lead_router.salesforce.pubsub_verdicts import TEXT_MAX, loss_of

PREFIX = "sfdc.platform.eventbus.grpc."


@pytest.mark.parametrize(
    ("status", "code", "loss"),
    [
        ("UNAUTHENTICATED", "service.auth.error", TokenRefused),
        ("INTERNAL", "service.auth.refresh.invalid", TokenRefused),
        ("UNAVAILABLE", "service.unavailable", Broken),
        ("RESOURCE_EXHAUSTED", "concurrent.client.limit.exceeded", Refused),
        ("RESOURCE_EXHAUSTED", "subscription.limit.exceeded", Refused),
        ("UNAUTHENTICATED", "subscription.limit.exceeded", Refused),
        ("INVALID_ARGUMENT", "subscription.fetch.replayid.corrupted", PositionExpired),
        ("INVALID_ARGUMENT", "subscription.fetch.replayid.validation.failed", PositionExpired),
        ("INVALID_ARGUMENT", "subscription.fetch.requested.events.invalid", Refused),
        ("UNAVAILABLE", "something.new", Broken),
        ("RESOURCE_EXHAUSTED", "something.new", Refused),
        ("PERMISSION_DENIED", "something.new", Refused),
    ],
)
def test_the_trailer_decides_and_the_status_judges_what_it_does_not_know(status, code, loss):
    """A login for a dead token alone; an allowance or a dead position is another case (A2, A5)."""
    told = loss_of(status, PREFIX + code, "details with a value")
    assert type(told) is loss
    assert told.text.startswith(f"{status} {PREFIX}{code}")
    assert "a value" not in told.text


@pytest.mark.parametrize(
    ("status", "loss"),
    [
        ("UNAUTHENTICATED", TokenRefused),
        ("PERMISSION_DENIED", Refused),
        ("NOT_FOUND", Refused),
        ("INVALID_ARGUMENT", Refused),
        ("RESOURCE_EXHAUSTED", Refused),
        ("UNAVAILABLE", Broken),
        ("DEADLINE_EXCEEDED", Broken),
        ("INTERNAL", Broken),
        ("UNKNOWN", Broken),
        ("CANCELLED", Broken),
        ("ABORTED", Broken),
    ],
)
def test_without_a_trailer_the_status_decides(status, loss):
    """A network's own errors are tried again, a refusal waits for a person."""
    assert loss_of(status, "", "why") == loss(f"{status}: why")


NOBODY = "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: "


@pytest.mark.parametrize(
    ("status", "details", "named"),
    [
        ("UNAUTHENTICATED", "Received http2 header with status: 401", "PUBSUB_ENDPOINT"),
        ("PERMISSION_DENIED", "Received http2 header with status: 403", "PUBSUB_ENDPOINT"),
        ("UNIMPLEMENTED", "Received http2 header with status: 404", "PUBSUB_ENDPOINT"),
        ("UNKNOWN", "Received http2 header with status: 407", "PUBSUB_ENDPOINT"),
        ("UNIMPLEMENTED", "Method not found!", "PUBSUB_ENDPOINT"),
        ("UNAVAILABLE", f"{NOBODY}Tls handshake failed: CERTIFICATE_VERIFY_FAILED: self signed", "CA_FILE"),
        ("UNAVAILABLE", f"{NOBODY}Tls handshake failed: WRONG_VERSION_NUMBER", "PUBSUB_ENDPOINT"),
        ("UNAVAILABLE", f"{NOBODY}Cannot check peer: missing selected ALPN property.", "PUBSUB_ENDPOINT"),
        ("UNAVAILABLE", f"{NOBODY}Connection refused", "PUBSUB_ENDPOINT"),
        ("UNAVAILABLE", "errors resolving nosuch.invalid:7443: Domain name not found", "PUBSUB_ENDPOINT"),
    ],
)
def test_what_failed_on_the_way_is_no_refusal_and_names_the_setting(status, details, named):
    """A7, F13: a proxy's 401 is no dead token and its 403 no missing permission; the text says where to look."""
    told = loss_of(status, "", details)
    assert isinstance(told, Broken)
    assert f"LEAD_ROUTER_{named}" in told.text


def test_an_answer_beyond_our_own_limit_is_told_from_an_allowance():
    """Both are worded RESOURCE_EXHAUSTED by gRPC."""
    told = loss_of("RESOURCE_EXHAUSTED", "", "CLIENT: Received message larger than max (5000000 vs. 4194304)")
    assert isinstance(told, Oversized)


def test_the_text_is_short_whatever_the_server_says():
    """P28: it goes into a log line."""
    for code in ("", "x." * 9_000):
        assert len(loss_of("INTERNAL", code, "y " * 9_000).text) == TEXT_MAX
