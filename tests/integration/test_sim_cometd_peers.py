"""Clients that are not ours, unmodified, against the simulated org: they must find what they know from Salesforce."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from aiosfstream_ng import Client, MappingStorage, ReplayMarker, ReplayOption
from aiosfstream_ng.auth import AuthenticatorBase

from org_simulator.cometd import Terms
from support.bayeux import record_ids, serving
from support.peers import PEERS, node
from support.stream_org import INTEGRATION, LEAD, REQUESTED, StreamOrg

pytestmark = pytest.mark.peer

BRISK = Terms().scaled(0.02)  # aiosfstream-ng waits for its poll to end before it closes
PATIENCE_S = 20.0


class SignedIn(AuthenticatorBase):
    """The package's own extension point for a session that exists already."""

    def __init__(self, url, token):
        super().__init__()
        self._answer = {"access_token": token, "token_type": "Bearer", "instance_url": url}

    async def _authenticate(self):
        return 200, self._answer


@asynccontextmanager
async def aiosfstream(org, served, replay):
    token = org.sessions.issue(INTEGRATION)
    async with Client(SignedIn(served.url, token), replay=replay) as client:
        yield client


async def received(client, count):
    async with asyncio.timeout(PATIENCE_S):
        return [await client.receive() for _ in range(count)]


class TestAiosfstream:
    def test_replay_of_everything_then_new_events(self):
        """aiosfstream-ng handshakes at API 45.0, subscribes with -2, gets the retained leads and then new ones."""

        async def whole():
            org = StreamOrg()
            old = org.create_leads(3)
            async with serving(org, BRISK) as served, aiosfstream(org, served, ReplayOption.ALL_EVENTS) as client:
                await client.subscribe(LEAD)
                before = await received(client, 3)
                new = await asyncio.to_thread(org.create_leads, 2)
                after = await received(client, 2)
                return old + new, record_ids([*before, *after])

        expected, actual = asyncio.run(whole())
        assert actual == expected

    def test_replay_from_a_stored_id(self):
        """With a stored replay id it gets what came after, and stores the newest id it received."""

        async def whole():
            org = StreamOrg()
            ids = org.create_leads(3)
            events = org.log.since(0)
            marks = {LEAD: ReplayMarker("0", events[0].replay_id)}
            async with serving(org, BRISK) as served, aiosfstream(org, served, MappingStorage(marks)) as client:
                await client.subscribe(LEAD)
                deliveries = await received(client, 2)
            return ids[1:], record_ids(deliveries), events[2].replay_id, marks[LEAD].replay_id

        expected, actual, newest, stored = asyncio.run(whole())
        assert actual == expected
        assert stored == newest

    def test_it_comes_back_after_a_lost_session(self):
        """A1: after `403::Unknown client` it handshakes, subscribes again from its id, and hears the next event."""

        async def whole():
            org = StreamOrg()
            first = org.create_leads(1)
            marks = {LEAD: ReplayMarker("0", org.log.since(0)[0].replay_id)}
            second = org.create_leads(1)
            async with serving(org, BRISK) as served, aiosfstream(org, served, MappingStorage(marks)) as client:
                await client.subscribe(LEAD)
                before = await received(client, 1)
                org.log.drop_sessions()
                third = org.create_leads(1)
                after = await received(client, 1)
            assert first
            return second + third, record_ids([*before, *after])

        expected, actual = asyncio.run(whole())
        assert actual == expected

    def test_platform_events(self):
        """A platform event arrives with its fields and its EventUuid."""

        async def whole():
            org = StreamOrg()
            async with serving(org, BRISK) as served, aiosfstream(org, served, ReplayOption.NEW_EVENTS) as client:
                await client.subscribe(f"/event/{REQUESTED}")
                identity = org.log.publish(REQUESTED, {"Lead_Id__c": "00Q000000000001AAA"})
                (delivery,) = await received(client, 1)
            return identity, delivery["data"]

        identity, content = asyncio.run(whole())
        assert content["event"]["EventUuid"] == identity
        assert content["payload"]["Lead_Id__c"] == "00Q000000000001AAA"


class TestNpmCometd:
    def test_replay_then_live_then_goodbye(self):
        """The npm `cometd` client handshakes, replays from an id, hears a live event and says goodbye."""
        program = node()

        async def whole():
            org = StreamOrg()
            ids = org.create_leads(3)
            first = org.log.since(0)[0].replay_id
            async with serving(org) as served:
                url, token = f"{served.url}/cometd/68.0", org.sessions.issue(INTEGRATION)
                peer = await asyncio.create_subprocess_exec(
                    *(program, str(PEERS / "listen.js"), url, token, LEAD, str(first), "3"),
                    stdout=asyncio.subprocess.PIPE,
                )
                await served.until(lambda server: server.sessions.held == 1)
                live = await asyncio.to_thread(org.create_leads, 1)
                async with asyncio.timeout(PATIENCE_S):
                    told, _ = await peer.communicate()
                left = len(served.server.sessions)
            return ids[1:] + live, [json.loads(line) for line in told.splitlines()], peer.returncode, left

        expected, facts, code, left = asyncio.run(whole())
        assert record_ids([fact["delivery"] for fact in facts if "delivery" in fact]) == expected
        (subscribed,) = (fact["subscribed"] for fact in facts if "subscribed" in fact)
        assert (subscribed["successful"], subscribed["subscription"]) == (True, LEAD)
        assert (code, left, facts[-1]["goodbye"]["successful"]) == (0, 0, True)

    def test_it_comes_back_after_a_lost_session(self):
        """A1: told `403::Unknown client` and advice handshake, it handshakes anew and subscribes again."""
        program = node()

        async def whole():
            org = StreamOrg()
            org.create_leads(1)
            async with serving(org) as served:
                url, token = f"{served.url}/cometd/68.0", org.sessions.issue(INTEGRATION)
                peer = await asyncio.create_subprocess_exec(
                    *(program, str(PEERS / "listen.js"), url, token, LEAD, "-1", "1"),
                    stdout=asyncio.subprocess.PIPE,
                )
                await served.until(lambda server: server.sessions.held == 1 and server.sessions.subscribers(LEAD) == 1)
                org.log.drop_sessions()
                await served.until(lambda server: server.sessions.held == 1 and server.sessions.subscribers(LEAD) == 1)
                live = org.create_leads(1)
                async with asyncio.timeout(PATIENCE_S):
                    told, _ = await peer.communicate()
            return live, [json.loads(line) for line in told.splitlines()]

        expected, facts = asyncio.run(whole())
        assert record_ids([fact["delivery"] for fact in facts if "delivery" in fact]) == expected
        assert sum("handshake" in fact for fact in facts) == 2
