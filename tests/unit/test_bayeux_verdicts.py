"""What each answer of the Streaming API asks for, by its documented text, status or advice."""

from __future__ import annotations

import json

import pytest

from lead_router.salesforce import bayeux
from lead_router.salesforce.bayeux import Advice
from lead_router.salesforce.losses import (
    Broken,
    ClientEnded,
    PositionExpired,
    Refused,
    SessionLost,
    TokenRefused,
)

HANDSHAKE, CONNECT, SUBSCRIBE = bayeux.HANDSHAKE, bayeux.CONNECT, bayeux.SUBSCRIBE
REPLAY = (
    "400::The replayId {37904280} you provided was invalid.  Please provide a valid ID, "
    "-2 to replay all events, or -1 to replay only new events."
)


@pytest.mark.parametrize(
    ("channel", "error", "advice", "verdict"),
    [
        (CONNECT, "401::Authentication invalid", "none", TokenRefused),
        (CONNECT, "401::Request requires authentication", None, TokenRefused),
        (CONNECT, "403::Unknown client", "handshake", SessionLost),
        (CONNECT, "402::Unknown client", None, SessionLost),
        (CONNECT, "402:abc:Unknown Client ID", None, SessionLost),
        (CONNECT, "402::session_unknown", None, SessionLost),
        (CONNECT, "402::anything", None, SessionLost),
        (SUBSCRIBE, "403::Unknown client", "handshake", SessionLost),
        (CONNECT, "403::Client has not completed handshake", None, SessionLost),
        (CONNECT, "400::Client x has established a session, but no BAYEUX_BROWSER cookie present", None, ClientEnded),
        (CONNECT, "400::Authenticated user id does not match the session's user id", None, ClientEnded),
        (SUBSCRIBE, REPLAY, None, PositionExpired),
        (SUBSCRIBE, "400::The channel you requested to subscribe to doesn't exist {/data/X}", None, Refused),
        (SUBSCRIBE, "403::User not allowed to subscribe CDC without View All Data permissions", None, Refused),
        (SUBSCRIBE, "403::Restricted channel", None, Refused),
        (SUBSCRIBE, "403::Organization total events daily limit exceeded", None, Refused),
        (CONNECT, "403::Organization total events daily limit exceeded", "none", Refused),
        (HANDSHAKE, "403::Organization concurrent user limit exceeded", "none", Refused),
        (HANDSHAKE, "400::Unsupported API version. Only API versions '37.0' and later are supported.", None, Refused),
        (CONNECT, "400::Invalid connection type {websocket}", None, Refused),
        (SUBSCRIBE, "413::Maximum Request Size Exceeded", None, Refused),
        (CONNECT, "503::Server is too busy. Please try your request again later.", None, Broken),
        (SUBSCRIBE, "503::Server is too busy. Please try your request again later.", None, Broken),
        (HANDSHAKE, "403::Handshake denied", "none", ClientEnded),
        (CONNECT, "500::Internal", "retry", Broken),
        (CONNECT, "500::Internal", "handshake", SessionLost),
        (CONNECT, "", "none", ClientEnded),
        (CONNECT, None, None, Broken),
    ],
)
def test_documented_errors(channel, error, advice, verdict):
    """Every text of the Streaming API's table has one remedy."""
    frame = {"channel": channel, "successful": False, "error": error}
    assert type(bayeux.judge(frame | ({"advice": {"reconnect": advice}} if advice else {}))) is verdict


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        ("401::Authentication invalid", TokenRefused),
        ("503::Server is too busy.  Please try your request again later.", Broken),
        ("403::To protect all customers from excessive use, connections are limited", Refused),
    ],
)
@pytest.mark.parametrize("outer", ["403::Handshake denied", "401::Authentication invalid"])
def test_the_nested_reason_counts(outer, reason, verdict):
    """`ext.sfdc.failureReason` decides, whatever the outer error says."""
    frame = {"channel": HANDSHAKE, "error": outer, "ext": {"sfdc": {"failureReason": reason}}}
    assert bayeux.judge(frame) == verdict(reason)


def test_long_texts_are_cut():
    """An error text reaches the log, so it has a length."""
    assert len(bayeux.judge({"channel": CONNECT, "error": "x" * 9999}).text) == bayeux.TEXT_MAX


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (401, b"", TokenRefused),
        (401, b"<html>", TokenRefused),
        (403, b'[{"errorCode":"INVALID_SESSION_ID","message":"m"}]', TokenRefused),
        (403, b'[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"m"}]', Refused),
        (403, b"", Broken),
        (200, b"<html>", Broken),
        (200, b"{}", Broken),
        (200, b"[1, null, {}]", Broken),
        (200, b"[" * 50_000, Broken),
        (302, b"", Broken),
        (503, b"", Broken),
    ],
)
def test_answers_that_are_not_bayeux(status, body, verdict):
    """The HTTP status counts where the body is no Bayeux answer, and the body is never told."""
    loss = bayeux.read_answer(status, body)
    assert type(loss) is verdict
    assert f"HTTP {status}" in loss.text
    assert "html" not in loss.text


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_bayeux_answer_counts_whatever_its_status(status):
    """Frames are read with any status, and a member that is none costs the others nothing."""
    members = [{"channel": CONNECT, "successful": False}, 5]
    assert bayeux.read_answer(status, json.dumps(members).encode()) == members


def test_the_reply_is_found_by_channel_and_id():
    """Events, other replies and a reply to another request are passed over."""
    request = bayeux.connect("c") | {"id": "4"}
    other = {"channel": CONNECT, "id": "3", "successful": False}
    reply = {"channel": CONNECT, "id": "4", "successful": True}
    without_id = {"channel": CONNECT, "successful": True}
    event = {"channel": "/data/LeadChangeEvent", "data": {}}
    assert bayeux.reply_to(request, [event, other, reply]) is reply
    assert bayeux.reply_to(request, [event, without_id]) is without_id
    assert isinstance(bayeux.reply_to(request, [event, other]), Broken)


def test_a_disconnect_ends_the_client_unless_asked_for():
    """A7: a disconnect from the server ends the client even beside a good reply."""
    gone = {"channel": bayeux.DISCONNECT, "successful": True}
    good = {"channel": CONNECT, "successful": True}
    assert isinstance(bayeux.reply_to(bayeux.connect("c"), [good, gone]), ClientEnded)
    assert bayeux.reply_to(bayeux.disconnect("c"), [gone]) is gone


@pytest.mark.parametrize(
    ("told", "advice"),
    [
        ({"interval": 2000, "timeout": 110000, "reconnect": "retry"}, Advice(2.0, 110.0)),
        ({"interval": 5}, Advice(0.005, 30.0)),
        ({"interval": True, "timeout": -1}, Advice(1.0, 30.0)),
        ({"interval": "2000", "timeout": float("nan")}, Advice(1.0, 30.0)),
        ({"interval": 1e308}, Advice(bayeux.ADVICE_MAX_S, 30.0)),
        ("none", Advice(1.0, 30.0)),
        (None, Advice(1.0, 30.0)),
    ],
)
def test_advice_is_milliseconds_within_bounds(told, advice):
    """What is absent or makes no sense leaves the earlier advice as it was."""
    assert bayeux.advised(Advice(1.0, 30.0), {"channel": CONNECT, "advice": told}) == advice


@pytest.mark.parametrize(
    ("advice", "verdict"),
    [
        ({"reconnect": "retry"}, type(None)),
        (None, type(None)),
        ({"reconnect": "handshake"}, SessionLost),
        ({"reconnect": "none"}, ClientEnded),
    ],
)
def test_a_success_may_part_all_the_same(advice, verdict):
    """A7: advice counts beside success."""
    assert type(bayeux.parting({"channel": CONNECT, "successful": True, "advice": advice})) is verdict


def test_requests_have_the_shape_that_the_api_documents():
    """Handshake, first and later connects, subscription and disconnect."""
    assert bayeux.handshake() == {
        "channel": "/meta/handshake",
        "version": "1.0",
        "minimumVersion": "1.0",
        "supportedConnectionTypes": ["long-polling"],
        "ext": {"replay": True},
    }
    assert bayeux.connect("c") == {"channel": "/meta/connect", "clientId": "c", "connectionType": "long-polling"}
    assert bayeux.connect("c", at_once=True)["advice"] == {"timeout": 0}
    assert bayeux.subscribe("c", "/data/X", -2) == {
        "channel": "/meta/subscribe",
        "clientId": "c",
        "subscription": "/data/X",
        "ext": {"replay": {"/data/X": -2}},
    }
    assert bayeux.disconnect("c") == {"channel": "/meta/disconnect", "clientId": "c"}
