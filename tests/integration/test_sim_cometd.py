"""The simulated org's CometD endpoint over real sockets: every shape, limit and error text a client may meet."""

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass

import aiohttp
import pytest

from org_simulator.clock import ManualClock
from org_simulator.cometd import Terms
from org_simulator.org import Org
from org_simulator.schema import default_metadata, load
from org_simulator.switches import Switches
from support.bayeux import Served, Speaker, record_ids, replay_ids, serving, speaking
from support.stream_org import ADMIN, INTEGRATION, LEAD, REQUESTED, START, StreamOrg

PASSER_BY = "005000000000003AAA"
UNKNOWN = {"error": "403::Unknown client", "advice": {"interval": 0, "reconnect": "handshake"}, "successful": False}
REFUSED = {"error": "401::Authentication invalid", "advice": {"reconnect": "none", "interval": 0}, "successful": False}


@dataclass
class Scene:
    """A served org and a client that is signed in, not yet connected."""

    org: StreamOrg
    served: Served
    client: Speaker


def story(terms=None):
    """Run an async test of a scene whose server grants these terms."""

    def wrap(told):
        def run(self):
            async def whole():
                org = StreamOrg()
                async with serving(org, terms) as served, speaking(served, org.sessions.issue(INTEGRATION)) as client:
                    await told(self, Scene(org, served, client))

            asyncio.run(whole())

        run.__name__, run.__doc__ = told.__name__, told.__doc__
        return run

    return wrap


def part(reply, *members):
    return {member: reply[member] for member in members if member in reply}


class TestConversation:
    @story()
    async def test_handshake(self, scene):
        """The handshake's answer has the documented members, and no others."""
        reply = await scene.client.handshake()
        assert len(reply.pop("clientId")) == 26
        assert reply == {
            "id": "1",
            "channel": "/meta/handshake",
            "version": "1.0",
            "minimumVersion": "1.0",
            "successful": True,
            "supportedConnectionTypes": ["long-polling"],
            "ext": {"replay": True, "payload.format": True},
        }

    @story()
    async def test_first_connect_is_answered_at_once(self, scene):
        """The first connect tells the times instead of waiting."""
        await scene.client.handshake()
        (reply,) = await scene.client.connect()
        advice = {"reconnect": "retry", "interval": 0, "timeout": 110_000}
        assert reply == {
            "id": "2",
            "channel": "/meta/connect",
            "clientId": scene.client.client_id,
            "successful": True,
            "advice": advice,
        }

    @story()
    async def test_an_event_ends_the_poll(self, scene):
        """A commit on another thread ends a held poll, with the event before the connect's own answer."""
        await scene.client.open(LEAD)
        poll = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        committing = threading.Thread(target=scene.org.create_leads, args=(1,))
        committing.start()
        event, reply = await poll
        committing.join()
        assert (event["channel"], reply["channel"], reply["successful"]) == (LEAD, "/meta/connect", True)
        assert event["data"]["payload"]["ChangeEventHeader"]["changeType"] == "CREATE"
        assert len(event["data"]["schema"]) == 22

    @story()
    async def test_platform_event(self, scene):
        """A platform event has its EventUuid beside the replay id."""
        await scene.client.open(f"/event/{REQUESTED}")
        identity = scene.org.log.publish(REQUESTED, {"Lead_Id__c": "00Q"})
        event, _ = await scene.client.connect()
        assert event["data"]["event"] == {"EventUuid": identity, "replayId": scene.org.log.since(0)[0].replay_id}

    @story()
    async def test_all_changes_on_one_channel(self, scene):
        """`/data/ChangeEvents` carries every selected entity, under its own name."""
        await scene.client.open("/data/ChangeEvents")
        scene.org.create_leads(1)
        scene.org.commit(scene.org.change("a00000000000001AAA", sobject="Widget__c", Name="W"))
        *events, _ = await scene.client.connect()
        assert [event["channel"] for event in events] == ["/data/ChangeEvents"] * 2

    @story()
    async def test_messages_of_one_request_are_answered_in_order_and_at_once(self, scene):
        """A connect that comes with subscriptions is not held; all are answered in one list."""
        await scene.client.open(LEAD)
        both = [{"channel": "/meta/subscribe", "subscription": name} for name in (LEAD, f"/event/{REQUESTED}")]
        replies = await scene.client.post({"channel": "/meta/connect", "connectionType": "long-polling"}, *both)
        assert [reply["channel"] for reply in replies] == ["/meta/connect", "/meta/subscribe", "/meta/subscribe"]
        assert all(reply["successful"] for reply in replies)
        scene.org.create_leads(1)
        assert len(record_ids(await scene.client.connect())) == 1

    @story()
    async def test_unsubscribe_and_disconnect(self, scene):
        """After unsubscribe nothing comes; after disconnect the client is unknown."""
        await scene.client.open(LEAD)
        (reply,) = await scene.client.post({"channel": "/meta/unsubscribe", "subscription": LEAD})
        assert reply["successful"]
        scene.org.create_leads(1)
        assert record_ids(await scene.client.connect(advice={"timeout": 0})) == []
        (reply,) = await scene.client.post({"channel": "/meta/disconnect"})
        assert reply["successful"]
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_a_client_that_asks_for_no_wait_gets_none(self, scene):
        """`advice.timeout: 0` in a connect is answered at once."""
        await scene.client.open(LEAD)
        (reply,) = await scene.client.connect(advice={"timeout": 0})
        assert reply["successful"]

    @story()
    async def test_one_connect_at_a_time(self, scene):
        """A second connect ends the first, empty; the events go to the second."""
        await scene.client.open(LEAD)
        first = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        second = asyncio.create_task(scene.client.connect())
        assert record_ids(await first) == []
        ids = scene.org.create_leads(1)
        assert record_ids(await second) == ids

    @story()
    async def test_oauth_scheme_and_message_kind_in_the_path(self, scene):
        """`Authorization: OAuth` is as good as Bearer, and clients may append the kind of message to the URL."""
        async with speaking(scene.served, scene.client.token, scheme="OAuth") as other:
            assert (await other.handshake())["successful"]
            (reply,) = await other.post(
                {"channel": "/meta/connect", "connectionType": "long-polling"}, path="/cometd/45.0/connect"
            )
        assert reply["successful"]


class TestReplay:
    @story()
    async def test_options(self, scene):
        """-1 and no option mean new events only, -2 all retained ones, N those after N."""
        ids = scene.org.create_leads(4)
        second = scene.org.log.since(0)[1].replay_id
        for option, expected in ((None, []), (-1, []), (-2, ids), (second, ids[2:])):
            async with speaking(scene.served, scene.client.token) as other:
                await other.open(LEAD, option)
                assert record_ids(await other.connect(advice={"timeout": 0})) == expected

    @story()
    async def test_an_invalid_id_is_refused_in_salesforces_words(self, scene):
        """A2: an expired id gets the documented 400, and -2 then brings what is left."""
        scene.org.create_leads(1)
        old = scene.org.log.since(0)[0].replay_id
        await scene.client.open(LEAD)
        scene.org.log.expire()
        ids = scene.org.create_leads(1)
        reply = await scene.client.subscribe(LEAD, old)
        assert reply["error"] == (
            f"400::The replayId {{{old}}} you provided was invalid.  Please provide a valid ID, "
            "-2 to replay all events, or -1 to replay only new events."
        )
        assert (await scene.client.subscribe(LEAD, -2))["successful"]
        assert record_ids(await scene.client.connect()) == ids
        for nonsense in ("x", True, None, 1.5):
            call = {"channel": "/meta/subscribe", "subscription": LEAD, "ext": {"replay": {LEAD: nonsense}}}
            assert "was invalid." in (await scene.client.post(call))[0]["error"]

    @story()
    async def test_after_a_new_handshake_nothing_is_subscribed(self, scene):
        """A1: a new session hears nothing until it subscribes; with its last id it misses nothing."""
        await scene.client.open(LEAD)
        first = scene.org.create_leads(1)
        replies = await scene.client.connect()
        assert record_ids(replies) == first
        scene.org.log.drop_sessions()
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN
        second = scene.org.create_leads(1)
        await scene.client.handshake()
        await scene.client.connect()
        assert record_ids(await scene.client.connect(advice={"timeout": 0})) == []
        await scene.client.subscribe(LEAD, replay_ids(replies)[-1])
        assert record_ids(await scene.client.connect()) == second

    @story(Terms(events_max=1_500))
    async def test_an_answer_may_be_large_and_is_bounded(self, scene):
        """A17: 2,000 events of 3 MiB come in answers of at most the granted number, without loss."""
        await scene.client.open(LEAD)
        for number in range(2_000):
            scene.org.commit(scene.org.change(f"00Q{number:012d}AAA", Description="x" * 1_500))
        first, second = await scene.client.connect(), await scene.client.connect()
        assert (len(record_ids(first)), len(record_ids(second))) == (1_500, 500)
        assert record_ids([*first, *second]) == [f"00Q{number:012d}AAA" for number in range(2_000)]

    @story()
    async def test_channels_have_positions_of_their_own(self, scene):
        """Replaying one channel brings nothing twice on another."""
        await scene.client.open(LEAD)
        ids = scene.org.create_leads(2)
        assert record_ids(await scene.client.connect()) == ids
        await scene.client.subscribe("/data/ChangeEvents", -2)
        *events, _ = await scene.client.connect()
        assert [event["channel"] for event in events] == ["/data/ChangeEvents"] * 2

    @story()
    async def test_a_client_that_hung_up_loses_nothing(self, scene):
        """Events after a connection that is known to be gone wait for the client's next connect."""
        await scene.client.open(LEAD)
        poll = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        poll.cancel()
        await scene.served.until(lambda _server: scene.served.connections == 0)
        ids = scene.org.create_leads(1)
        await scene.served.until(lambda server: server.sessions.held == 0)
        assert record_ids(await scene.client.connect()) == ids


class TestTime:
    @story()
    async def test_a_poll_is_held_for_110_seconds(self, scene):
        """A quiet poll is answered when 110 seconds of the org's clock are over, and not before."""
        await scene.client.open(LEAD)
        poll = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        scene.org.clock.advance(109.9)
        done, _ = await asyncio.wait({poll}, timeout=0.15)
        assert not done
        scene.org.clock.advance(0.1)
        (reply,) = await poll
        assert reply["successful"]

    @story()
    async def test_a_client_has_40_seconds_to_come_back(self, scene):
        """A20: just inside 40 seconds the session lives, from then on it is unknown."""
        await scene.client.open(LEAD)
        scene.org.clock.advance(39.9)
        (reply,) = await scene.client.connect(advice={"timeout": 0})
        assert reply["successful"]
        scene.org.clock.advance(40)
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_the_end_of_the_server_answers_its_polls(self, scene):
        """Shutting down does not wait for a poll's time."""
        await scene.client.open(LEAD)
        poll = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        async with asyncio.timeout(10):
            await scene.served.runner.cleanup()
            (reply,) = await poll
        assert reply["successful"]

    @story(Terms().scaled(0.5))
    async def test_times_can_be_scaled(self, scene):
        """Scaled times are told to the client."""
        await scene.client.handshake()
        (reply,) = await scene.client.connect()
        assert reply["advice"]["timeout"] == 55_000


class TestIdentity:
    @story()
    async def test_without_its_cookie_a_client_is_unknown(self, scene):
        """A8: the client id alone is not enough; the browser cookie must come back."""
        await scene.client.handshake()
        scene.client.http.cookie_jar.clear()
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_a_revoked_token_ends_the_poll(self, scene):
        """A5: revocation answers the held connect with 401 and advice none; the session is gone for good."""
        await scene.client.open(LEAD)
        poll = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        scene.org.sessions.revoke(scene.client.token)
        (reply,) = await poll
        assert reply == {"channel": "/meta/connect", "id": "2", "clientId": scene.client.client_id, **REFUSED}
        scene.client.token = scene.org.sessions.issue(INTEGRATION)
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_a_handshake_with_a_dead_token_is_denied(self, scene):
        """A5: the reason of a denied handshake is nested, in the documented words."""
        scene.org.sessions.revoke(scene.client.token)
        ext = {"sfdc": {"failureReason": "401::Authentication invalid"}, "replay": True, "payload.format": True}
        assert await scene.client.handshake() == {
            "channel": "/meta/handshake",
            "id": "1",
            "successful": False,
            "error": "403::Handshake denied",
            "ext": ext,
            "advice": {"reconnect": "none"},
        }
        async with speaking(scene.served, None) as stranger:
            reply = await stranger.handshake()
        assert reply["ext"]["sfdc"] == {"failureReason": "401::Request requires authentication"}

    @story()
    async def test_a_token_refused_between_polls(self, scene):
        """A user who may no longer log in is refused at the next message of any kind."""
        await scene.client.open(LEAD)
        scene.org.inactive.add(INTEGRATION)
        reply = await scene.client.subscribe(LEAD)
        assert part(reply, *REFUSED) == REFUSED
        scene.org.inactive.clear()
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_a_session_belongs_to_its_user(self, scene):
        """Another user's token cannot use the session; a fresh token of the same user can."""
        await scene.client.open(LEAD)
        scene.client.token = scene.org.sessions.issue(ADMIN)
        (reply,) = await scene.client.connect()
        assert reply["error"] == "400::Authenticated user id does not match the session's user id"
        scene.client.token = scene.org.sessions.issue(INTEGRATION)
        assert (await scene.client.subscribe(LEAD))["successful"]

    @story(Terms(clients_max=1))
    async def test_the_org_limits_its_clients(self, scene):
        """One client too many is denied until another has been given up."""
        await scene.client.open(LEAD)
        async with speaking(scene.served, scene.client.token) as other:
            reply = await other.handshake()
            reason = "403::Organization concurrent user limit exceeded"
            assert reply["ext"]["sfdc"]["failureReason"] == reason
            scene.org.clock.advance(40)
            assert (await other.handshake())["successful"]


class TestAccess:
    @story()
    async def test_changes_need_view_all(self, scene):
        """A user without View All on the object is refused its channel."""
        scene.client.token = scene.org.sessions.issue(PASSER_BY)
        await scene.client.handshake()
        reply = await scene.client.subscribe(LEAD)
        assert reply["error"] == "403::User not allowed to subscribe CDC without View All Data permissions"
        assert (await scene.client.subscribe(f"/event/{REQUESTED}"))["successful"]

    @story()
    async def test_the_common_channel_silently_leaves_out(self, scene):
        """On `/data/ChangeEvents` the same user is subscribed and hears nothing of the object."""
        for user_id, heard in ((PASSER_BY, 0), (ADMIN, 1)):
            async with speaking(scene.served, scene.org.sessions.issue(user_id)) as other:
                await other.open("/data/ChangeEvents")
                scene.org.create_leads(1)
                assert len(record_ids(await other.connect(advice={"timeout": 0}))) == heard


class TestWholeOrg:
    def test_a_leads_life_as_events(self):
        """Against the shipped metadata: only what was committed is heard, with its origin, in commit order."""

        async def whole():
            org = Org(load(default_metadata()), clock=ManualClock(START), switches=Switches(), seed=7)
            async with (
                serving(org) as served,
                speaking(served, org.sessions.issue(org.integration_user_id)) as client,
            ):
                await client.open(LEAD)
                with org.transaction(org.admin_user_id, client="WebForm") as opened:
                    lead = opened.insert("Lead", {"FirstName": "Ada", "LastName": "Doe", "Company": "Acme"})
                with suppress(RuntimeError), org.transaction(org.admin_user_id) as opened:
                    opened.update("Lead", lead, {"Company": "Never"})
                    raise RuntimeError
                with org.transaction(org.admin_user_id) as opened:
                    opened.update("Lead", lead, {"Company": "Zenith"})
                return lead, await client.connect()

        lead, (created, updated, _) = asyncio.run(whole())
        assert record_ids([created, updated]) == [lead, lead]
        payloads = [reply["data"]["payload"] for reply in (created, updated)]
        origins = [payload["ChangeEventHeader"]["changeOrigin"] for payload in payloads]
        assert origins == ["com/salesforce/api/rest/68.0;client=WebForm", "com/salesforce/api/rest/68.0"]
        assert payloads[0]["Name"] == {"FirstName": "Ada", "LastName": "Doe"}
        assert [payload["Company"] for payload in payloads] == ["Acme", "Zenith"]


class TestRefusals:
    @story()
    async def test_error_texts(self, scene):
        """Each mistake is answered in the documented words."""
        await scene.client.open(LEAD)
        subscribe, connect = {"channel": "/meta/subscribe"}, {"channel": "/meta/connect"}
        unknown = "400::The channel you requested to subscribe to doesn't exist {/data/AccountChangeEvent}"
        version = "400::API version in the URI is mandatory. URI format: '/cometd/68.0'"
        old = "400::Unsupported API version. Only API versions '37.0' and later are supported."
        cases = [
            ({**subscribe, "subscription": "/data/AccountChangeEvent"}, "/cometd/68.0", unknown),
            (
                {**subscribe, "subscription": "data"},
                "/cometd/68.0",
                "400::Channel subscriptions must start with a leading '/'",
            ),
            (subscribe, "/cometd/68.0", "400::Channel name not specified"),
            ({**connect, "connectionType": "websocket"}, "/cometd/68.0", "400::Invalid connection type websocket"),
            ({"channel": "/event/X__e", "data": {}}, "/cometd/68.0", "403::Restricted channel"),
            (connect, "/cometd", version),
            (connect, "/cometd/", version),
            (connect, "/cometd/36.0", old),
            (connect, "/cometd/replay/36.0", old),
        ]
        for call, path, error in cases:
            (reply,) = await scene.client.post(call, path=path)
            assert (reply["successful"], reply["error"]) == (False, error)
        scene.client.client_id = None
        (reply,) = await scene.client.connect()
        assert reply["error"] == "403::Client has not completed handshake"
        offer = {"channel": "/meta/handshake", "supportedConnectionTypes": ["callback-polling"]}
        assert (await scene.client.post(offer))[0]["error"] == "400::Invalid connection type callback-polling"

    @story()
    async def test_a_request_has_a_size(self, scene):
        """32,768 bytes are taken, one more is not."""
        await scene.client.handshake()

        async def send(size):
            empty = '[{"channel":"/x/y","pad":""}]'
            content = empty.replace('""', f'"{"x" * (size - len(empty))}"')
            async with scene.client.http.post(f"{scene.served.url}/cometd/68.0", data=content) as response:
                return response.status, await response.text()

        assert (await send(32_768))[0] == 200
        status, text = await send(32_769)
        assert (status, "413::Maximum Request Size Exceeded" in text) == (413, True)

    @pytest.mark.parametrize("content", ["", "{", "[]", "[1]", '[{"id":"1"}]', '"x"'])
    def test_what_is_not_bayeux_is_400(self, content):
        """A body that is no message is refused by HTTP status."""

        async def whole():
            async with (
                serving(StreamOrg()) as served,
                aiohttp.ClientSession() as http,
                http.post(f"{served.url}/cometd/68.0", data=content) as response,
            ):
                return response.status

        assert asyncio.run(whole()) == 400


class TestFaults:
    @story()
    async def test_a_lost_answer_takes_its_events_along(self, scene):
        """A19: the answer breaks off in mid body, the session has moved on, only a replay brings the events."""
        await scene.client.open(LEAD)
        scene.org.create_leads(1)
        last = replay_ids(await scene.client.connect())[-1]
        ids = scene.org.create_leads(3)
        scene.org.log.faults.arm("lose_answer")
        with pytest.raises(aiohttp.ClientPayloadError):
            await scene.client.connect()
        assert record_ids(await scene.client.connect(advice={"timeout": 0})) == []
        await scene.client.subscribe(LEAD, last)
        assert record_ids(await scene.client.connect()) == ids

    @story()
    async def test_events_can_come_twice(self, scene):
        """Duplicate delivery has the same replay id twice; a rewound replay starts early."""
        await scene.client.open(LEAD)
        scene.org.log.faults.arm("duplicate")
        ids = scene.org.create_leads(2)
        replies = await scene.client.connect()
        assert record_ids(replies) == [ids[0], *ids]
        scene.org.log.faults.arm("rewind", text="2")
        await scene.client.subscribe(LEAD, replay_ids(replies)[-1])
        assert record_ids(await scene.client.connect()) == ids

    @story()
    async def test_dropped_sessions_end_the_poll(self, scene):
        """A1: a held poll ends with 403 and advice handshake as soon as the server forgets its clients."""
        await scene.client.open(LEAD)
        poll = asyncio.create_task(scene.client.connect())
        await scene.served.until(lambda server: server.sessions.held == 1)
        scene.org.log.drop_sessions()
        (reply,) = await poll
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_one_session_can_be_dropped(self, scene):
        """The fault drops the session of the connect that meets it."""
        await scene.client.open(LEAD)
        scene.org.log.faults.arm("drop_session")
        (reply,) = await scene.client.connect()
        assert part(reply, *UNKNOWN) == UNKNOWN

    @story()
    async def test_a_busy_server_hides_behind_401(self, scene):
        """The outer error says 401, the nested reason 503; the session is alive."""
        await scene.client.open(LEAD)
        scene.org.log.faults.arm("busy")
        (reply,) = await scene.client.connect()
        assert reply["error"] == "401::Authentication invalid"
        reason = "503::Server is too busy.  Please try your request again later."
        assert reply["ext"]["sfdc"]["failureReason"] == reason
        assert (await scene.client.connect(advice={"timeout": 0}))[0]["successful"]

    @story()
    async def test_the_server_says_goodbye(self, scene):
        """A7: a server disconnect comes with advice none, and the session is over."""
        await scene.client.open(LEAD)
        scene.org.log.faults.arm("disconnect")
        goodbye, reply = await scene.client.connect()
        assert (goodbye["channel"], goodbye["advice"]["reconnect"]) == ("/meta/disconnect", "none")
        assert reply["advice"]["reconnect"] == "none"
        assert (await scene.client.connect())[0]["error"] == "403::Unknown client"

    @story()
    async def test_refusals_on_order(self, scene):
        """A23: handshake and subscribe are refused with the text given."""
        scene.org.log.faults.arm("refuse_handshake", text="503::Server is too busy.")
        assert (await scene.client.handshake())["ext"]["sfdc"]["failureReason"] == "503::Server is too busy."
        await scene.client.open(LEAD)
        scene.org.log.faults.arm("refuse_subscribe", text="403::Organization total events daily limit exceeded")
        reply = await scene.client.subscribe(LEAD)
        assert reply["error"] == "403::Organization total events daily limit exceeded"

    @story()
    async def test_http_can_fail_below_bayeux(self, scene):
        """A request may be answered by an HTML page, or not at all."""
        scene.org.log.faults.arm("http", text="503")
        with pytest.raises(ValueError, match="Expecting value"):
            await scene.client.handshake()
        scene.org.log.faults.arm("cut")
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await scene.client.post({"channel": "/meta/handshake"})
        assert (await scene.client.handshake())["successful"]
