"""The CometD source through lost sessions, tokens and answers: it resumes behind what is stored."""

from __future__ import annotations

import contextlib
import json

import pytest
from structlog.testing import capture_logs

from lead_router.ports import Position
from lead_router.salesforce.stream_login import Limits
from support.cometd_rig import CHANNEL, Rig, at
from support.fault_cometd import (
    BAD_TOKEN,
    CONNECT,
    COOKIE,
    DISCONNECT,
    HANDSHAKE,
    SUBSCRIBE,
    UNKNOWN_CLIENT,
    Cut,
    Drop,
    FaultServer,
    Http,
    Say,
    Stall,
)
from support.lead_events import created, identity

BUSY = "503::Server is too busy.  Please try your request again later."
HTML = b"<html><body>We are down for maintenance</body></html>"


@pytest.fixture
def rig():
    with Rig() as rig:
        yield rig


def test_unknown_client_subscribes_again_before_it_counts_as_healthy(rig):
    """A1: after 403 the channel is subscribed again from the stored id; connected without that is not `subscribed`."""
    source = rig.settle()
    rig.server.fail_always(SUBSCRIBE, Say(BUSY))
    rig.server.forget_clients()
    rig.fill(lambda: rig.server.count(SUBSCRIBE) == 4)
    assert source.state() != "subscribed"
    rig.server.fail_always(SUBSCRIBE, None)
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (source.state(), rig.shelf.brought) == ("subscribed", [identity(1), identity(2)])
    assert set(rig.server.starts()[1:]) == {1}


@pytest.mark.parametrize(
    "error", [UNKNOWN_CLIENT, "402::Unknown client", "402::session_unknown", "403::Client has not completed handshake"]
)
def test_every_wording_of_a_lost_session_leads_to_a_handshake(error, rig):
    """A8: 402 and 403 alike throw the client id away; the token is not asked for anew, the cookie is kept."""
    rig.settle()
    rig.server.fail(CONNECT, Say(error, {"reconnect": "handshake", "interval": 0}))
    rig.fill(lambda: rig.server.count(HANDSHAKE) == 2)
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (rig.shelf.brought, rig.tokens.refreshes) == ([identity(1), identity(2)], [])
    assert [cookie for channel, cookie in rig.server.cookies if channel == HANDSHAKE] == ["", COOKIE]


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("unknown", ["402::Unknown client", UNKNOWN_CLIENT])
def test_another_node_behind_the_balancer_takes_over(cut, unknown, rig):
    """A8: node 1 goes during a long poll; one handshake, and all that follows bears the cookie of node 2."""
    rig.server.hold_s = 5
    rig.settle()
    if cut:
        rig.server.fail(CONNECT, Drop())
    rig.server.fail_over("BAYEUX_BROWSER=node-2", unknown)
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    first, second = [n for n, (channel, _) in enumerate(rig.server.cookies) if channel == HANDSHAKE]
    assert (first, rig.server.cookies[second][1] == "") == (0, False)
    assert {cookie for _, cookie in rig.server.cookies[second + 1 :]} == {"BAYEUX_BROWSER=node-2"}
    assert {channel for channel, _ in rig.server.cookies[second + 1 :]} == {CONNECT, SUBSCRIBE}
    assert (rig.shelf.brought, rig.tokens.refreshes) == ([identity(1), identity(2)], [])


def test_six_lost_sessions_leave_one_stream(rig):
    """A10: after that an event comes once; one connect is open at a time, and each start is the stored one."""
    rig.settle()
    for number, fault in enumerate([Drop(), Say(UNKNOWN_CLIENT, {"reconnect": "handshake"}), Say(BUSY)] * 2, start=2):
        rig.server.fail(CONNECT, fault)
        rig.fill(lambda wanted=number: rig.server.count(SUBSCRIBE) == wanted)
    rig.server.publish(created(2), replay_id=500)
    rig.fill(lambda: rig.shelf.position == at(500))
    assert rig.shelf.brought == [identity(1), identity(2)]
    assert (rig.server.most_connects, set(rig.server.starts()[1:])) == (1, {1})


def test_a_source_that_closes_leaves_the_others_their_session(rig):
    """B4: two routers with one token; one goes, the other's session and token are as before."""
    leaving = rig.settle()
    staying = rig.open()
    rig.fill(lambda: staying.state() == "subscribed")
    leaving.close()
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (rig.server.count(DISCONNECT), rig.server.count(HANDSHAKE), rig.tokens.refreshes) == (1, 2, [])


def test_an_expired_replay_id_is_never_tried_again(rig):
    """A2, A4, P38: a dead id leads to everything retained, one gap and one alarm; the store forgets it with the gap."""
    rig.server.publish(created(1), replay_id=50)
    rig.server.first = 50
    rig.shelf.position = at(7)
    with capture_logs() as logs:
        rig.open()
        rig.fill(lambda: rig.shelf.position == at(50))
    assert (rig.server.starts(), rig.shelf.identities) == ([7, -2], [identity(1)])
    assert len(rig.shelf.gaps) == 1
    assert "7" in rig.shelf.gaps[0]
    assert [line["event"] for line in logs].count("stream_position_expired") == 1
    rig.server.forget_clients()
    rig.fill(lambda: rig.server.count(SUBSCRIBE) == 3)
    assert rig.server.starts()[2] in {-2, 50}


def test_a_dead_id_stays_dead_through_a_failing_subscription(rig):
    """A2: should the second subscription fail too, the next session still asks for all that is retained."""
    rig.server.first = 50
    rig.shelf.position = at(7)
    rig.server.fail(
        SUBSCRIBE, Say("400::The replayId {7} you provided was invalid.  Please provide a valid ID"), Drop()
    )
    source = rig.open()
    rig.fill(lambda: source.state() == "subscribed")
    assert rig.server.starts() == [7, -2, -2]
    assert rig.shelf.position == at(-2)
    restarted = rig.open()
    rig.fill(lambda: restarted.state() == "subscribed")
    assert rig.server.starts() == [7, -2, -2, -2]


def test_a_position_of_another_kind_of_stream_is_a_gap(rig):
    """A stored id that is no CometD replay id (eight binary bytes) is answered like an expired one."""
    rig.server.publish(created(1))
    rig.shelf.position = Position(CHANNEL, b"\x00\x00\x00\x00\x02\x42\xaf\x88")
    rig.open()
    rig.fill(lambda: rig.shelf.position == at(1))
    assert rig.server.starts() == [-2]
    assert len(rig.shelf.gaps) == 1


@pytest.mark.parametrize("place", [CONNECT, HANDSHAKE])
def test_an_expired_token_is_fetched_once(place, rig):
    """A5: one token fetch, then a handshake with the new one, subscribed from the stored id."""
    rig.settle()
    with rig.server.changed:
        rig.server.tokens = {"token-2"}
        if place == HANDSHAKE:
            rig.server.clients.clear()
        rig.server.changed.notify_all()
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (rig.tokens.refreshes, rig.shelf.brought) == (["token-1"], [identity(1), identity(2)])
    assert rig.server.starts()[-1] == 1


def test_a_token_that_was_replaced_is_not_refused_again(rig):
    """A5: the next session after that asks for no further token."""
    rig.server.tokens = {"token-2"}
    rig.settle()
    rig.server.forget_clients()
    rig.fill(lambda: rig.server.count(SUBSCRIBE) == 2)
    assert rig.tokens.asked == [None, "token-1", None]


@pytest.mark.parametrize(
    "shape",
    [
        Http(401, json.dumps([{"errorCode": "INVALID_SESSION_ID", "message": "Session expired or invalid"}]).encode()),
        Http(401, HTML, {"WWW-Authenticate": "Token"}),
        Http(403, json.dumps([{"errorCode": "INVALID_SESSION_ID", "message": "Session expired or invalid"}]).encode()),
        Say(BAD_TOKEN, {"reconnect": "none", "interval": 0}),
        Say("401::Request requires authentication"),
        Say("403::Handshake denied", {"reconnect": "none"}, {"sfdc": {"failureReason": BAD_TOKEN}}),
    ],
)
def test_every_shape_of_a_refused_token_costs_one_fetch(shape, rig):
    """A5: as HTTP status, as Bayeux error, and as reason nested under another error."""
    rig.server.tokens |= {"token-2"}
    rig.settle()
    rig.server.fail(CONNECT, shape)
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (rig.tokens.refreshes, rig.server.count(HANDSHAKE)) == (["token-1"], 2)


@pytest.mark.parametrize("outer", [BAD_TOKEN, "403::Handshake denied"])
def test_a_busy_server_is_no_matter_of_tokens(outer, rig):
    """The nested reason counts: 503 under an outer 401 fetches no token."""
    rig.settle()
    rig.server.fail(CONNECT, Say(outer, {"reconnect": "none"}, {"sfdc": {"failureReason": BUSY}}))
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (rig.tokens.refreshes, rig.shelf.brought) == ([], [identity(1), identity(2)])


@pytest.mark.parametrize(
    "ending",
    [
        Say("", {"reconnect": "none"}, successful=True),
        Say("403::Gone", {"reconnect": "none", "interval": 0}),
        Say("", successful=True, extra=({"channel": DISCONNECT, "successful": True, "advice": {"reconnect": "none"}},)),
    ],
)
def test_a_client_that_the_server_ends_is_replaced(ending, rig):
    """A7: advised not to reconnect, or disconnected: a fresh client without old cookies, after a pause."""
    rig.settle()
    rig.server.fail(CONNECT, ending)
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert (rig.server.count(HANDSHAKE), rig.shelf.identities) == (2, [identity(1), identity(2)])
    assert rig.server.starts()[-1] == 1
    assert [cookie for channel, cookie in rig.server.cookies if channel == HANDSHAKE] == ["", ""]


def test_events_beside_a_bad_reply_are_kept(rig):
    """A well-formed answer may bring events and the session's end at once."""
    rig.settle()
    event = {"channel": CHANNEL, "data": {"payload": created(2), "event": {"replayId": 2}}}
    rig.server.fail(CONNECT, Say(UNKNOWN_CLIENT, {"reconnect": "handshake"}, extra=(event,)))
    rig.fill(lambda: identity(2) in rig.shelf.identities)


@pytest.mark.parametrize(
    "fault",
    [
        Cut(0.5),
        Cut(0.01),
        Drop(),
        Stall(),
        Http(200, HTML, {"Content-Type": "text/html"}),
        Http(200, b""),
        Http(200, b"[]"),
        Http(200, b'[{"channel":"/meta/co'),
        Http(200, b"[" * 100_000),
        Http(200, b'[{"channel":"/meta/connect","successful":true}]' + b"\xff"),
        Http(302, b"", {"Location": "http://localhost:1/elsewhere"}),
        Http(500, b"oops"),
        Http(503, HTML, {"Retry-After": "1"}),
        Http(413, b'[{"channel":"/meta/connect","successful":false,"error":"413::Maximum Request Size Exceeded"}]'),
    ],
    ids=lambda fault: f"{type(fault).__name__}-{getattr(fault, 'status', '')}",
)
def test_after_any_transport_error_the_stream_resumes_from_the_stored_id(fault, rig):
    """A19: an answer that died on the way is sent again, as every new subscription starts behind what is stored."""
    rig.server.timeout = 300
    rig.settle()
    with rig.server.changed:
        rig.server.fail(CONNECT, fault)
        for number in range(2, 5):
            rig.server.publish(created(number))
    rig.fill(lambda: rig.shelf.position == at(4))
    assert (rig.shelf.brought, rig.server.starts()[-1]) == ([identity(number) for number in range(1, 5)], 1)
    assert rig.tokens.refreshes == []


@pytest.mark.parametrize("place", [HANDSHAKE, SUBSCRIBE, CONNECT])
@pytest.mark.parametrize("fault", [Drop(), Http(503, HTML), Say(BUSY), Say("500::Internal")])
def test_a_fault_at_any_step_of_opening_is_outlived(place, fault, rig):
    """Whatever step fails first, the next session takes all steps again."""
    rig.server.fail(place, fault)
    source = rig.settle()
    assert (source.state(), rig.server.count(HANDSHAKE)) == ("subscribed", 2)


def test_a_large_answer_is_read_whole(rig):
    """A17: 2,000 events and more than 3 MiB in one answer."""
    rig.settle()
    with rig.server.changed:
        for number in range(2, 2002):
            rig.server.publish(created(number) | {"Description": "x" * 1600})
    rig.fill(lambda: rig.shelf.position == at(2001))
    assert rig.shelf.brought == [identity(number) for number in range(1, 2002)]
    assert rig.server.count(HANDSHAKE) == 1


def test_an_answer_over_the_limit_reconnects_and_asks_for_a_sweep(rig):
    """A17: nothing of it is lost: the stream resumes from the stored id, and says that it needs help."""
    limits = Limits(pause_s=0.02, pause_max_s=0.05, settle_s=0.05, answer_max_bytes=20_000)
    rig.settle(limits=limits)
    with rig.server.changed:
        for number in range(2, 5):
            rig.server.publish(created(number) | {"Description": "x" * 8_000})
    rig.fill(lambda: len(rig.shelf.gaps) >= 2)
    assert (rig.server.starts()[-1], rig.shelf.position) == (1, at(1))
    assert "20000 bytes" in rig.shelf.gaps[0]


def test_a_redirect_is_not_followed(rig):
    """The token goes to the org that gave it and to no other place."""
    with contextlib.closing(FaultServer()) as elsewhere:
        moved = Http(307, b"", {"Location": f"{elsewhere.url}/cometd/68.0"})
        rig.server.fail(HANDSHAKE, moved, moved)
        rig.settle()
        assert elsewhere.seen == []


def test_an_answer_that_died_may_have_held_more_of_the_last_id(rig):
    """While the stream is down, silence does not complete the last replay id: it is asked for again."""
    rig.server.hold_s = 5
    rig.settle(limits=Limits(pause_s=0.5, pause_max_s=0.6, settle_s=0.15))
    rig.server.publish(created(2))
    rig.fill(lambda: identity(2) in rig.shelf.identities)
    rig.server.fail(CONNECT, Drop())
    rig.fill_for(0.3)
    assert rig.shelf.position == at(1)
    rig.fill(lambda: rig.shelf.position == at(2))
    assert rig.server.starts() == [-2, 1]


def test_a_server_that_is_not_there_is_waited_for(rig):
    """Refused connections are outlived, and do not count as a refusal."""
    rig.tokens.url = "http://localhost:1"
    source = rig.open()
    rig.fill_for(0.2)
    assert source.state() in {"backing-off", "connecting"}
    rig.tokens.url = rig.server.url
    rig.fill(lambda: source.state() == "subscribed")
