"""Pub/Sub API over the org's event log: GetTopic, GetSchema, Subscribe and Publish, with trailers as Salesforce's.

What is disputed or unknown is written where it is decided. The presented metadata must be a live token, this org's id
and its address; `tenantid` may have 15 or 18 characters.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NoReturn

import grpc

from org_simulator.cometd.access import heard
from org_simulator.events import ALL_CHANGES, ChangeLog, change_log
from org_simulator.pubsub import interface
from org_simulator.pubsub.bodies import Bodies, decode
from org_simulator.pubsub.schemas import EventSchema, schema_of
from org_simulator.pubsub.subscription import Subscription, replay_bytes
from org_simulator.pubsub.terms import Terms

if TYPE_CHECKING:
    from org_simulator.org import Org

_CODES = "sfdc.platform.eventbus.grpc."


class PubSub:
    """The service; every method runs on one event loop."""

    def __init__(self, org: Org, terms: Terms) -> None:
        self._org = org
        self.terms = terms
        self.log: ChangeLog = change_log(org)
        self._schemas: dict[str, EventSchema] = {}
        self._by_channel: dict[str, EventSchema | None] = {}
        self._bodies = Bodies()
        self.streams: set[Subscription] = set()
        """Subscriptions that are open right now."""
        self.asked: list[tuple[str, int]] = []
        """Method and number of events of each request, in order; for tests."""

    def handlers(self) -> grpc.GenericRpcHandler:
        """What a gRPC server is given."""
        return grpc.method_handlers_generic_handler(
            interface.SERVICE,
            {
                "GetTopic": _unary(self.topic, interface.TopicRequest),
                "GetSchema": _unary(self.schema, interface.SchemaRequest),
                "Publish": _unary(self.publish, interface.PublishRequest),
                "Subscribe": grpc.stream_stream_rpc_method_handler(
                    self.subscribe,
                    request_deserializer=interface.FetchRequest.FromString,
                    response_serializer=_bytes,
                ),
            },
        )

    async def topic(self, request: Any, context: Any) -> Any:
        """GetTopic. A topic that is not there is NOT_FOUND, one that may not be heard says so in `can_subscribe`."""
        user_id = await self._user(context)
        name = request.topic_name
        self.asked.append(("GetTopic", 0))
        if name not in self.log.channels():
            await _abort(context, grpc.StatusCode.NOT_FOUND, "", f"The topic {name} does not exist")
        schema = self._schema_of(name)
        return interface.TopicInfo(
            topic_name=name,
            tenant_guid=self._org.org_id,
            can_publish=name.startswith("/event/"),
            can_subscribe=self._may_hear(user_id, name),
            schema_id=schema.id if schema else "",
            rpc_id=_rpc_id(),
        )

    async def schema(self, request: Any, context: Any) -> Any:
        """GetSchema, of an id that some event or topic named."""
        await self._user(context)
        self.asked.append(("GetSchema", 0))
        found = self._schemas.get(request.schema_id)
        if found is None:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, "", "unknown schema id")
        return interface.SchemaInfo(schema_json=found.text, schema_id=found.id, rpc_id=_rpc_id())

    async def publish(self, request: Any, context: Any) -> Any:
        """Publish platform events; each result bears the replay id, or why there is none."""
        user_id = await self._user(context)
        self.asked.append(("Publish", len(request.events)))
        schema = self._schema_of(request.topic_name)
        if schema is None or schema.change:
            await _abort(context, grpc.StatusCode.PERMISSION_DENIED, "", "this topic cannot be published to")
        response = interface.PublishResponse(schema_id=schema.id, rpc_id=_rpc_id())
        for event in request.events:
            result = response.results.add(correlation_key=event.id)
            try:
                fields = decode(event.payload, schema)
            except ValueError as fault:
                result.error.code, result.error.msg = 1, str(fault)
                continue
            named = {name: value for name, value in fields.items() if name.endswith("__c")}
            self.log.publish(request.topic_name.rpartition("/")[2], named, user_id)
            result.replay_id = replay_bytes(self.log.replay_id_at())
        return response

    async def subscribe(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        """Subscribe: what was asked for, as it comes; ended by the client, by a refusal or by idleness."""
        user_id = await self._user(context)
        first = await anext(requests, None)
        if first is None:
            return
        name = first.topic_name
        if name not in self.log.channels():
            await self._refuse(context, grpc.StatusCode.NOT_FOUND, "", f"The topic {name} does not exist")
        if not self._may_hear(user_id, name):
            await self._refuse(context, grpc.StatusCode.PERMISSION_DENIED, "", f"no access to {name}")
        if (refusal := self.log.faults.take("refuse_subscribe")) is not None:
            code = refusal or f"{_CODES}subscription.limit.exceeded"
            await self._refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, code, "refused")
        allowed = heard(self._org, user_id)
        subscription = Subscription(
            self._org,
            self.log,
            self.terms,
            name,
            self._schema_of,
            bodies=self._bodies,
            token=_token(context),
            allowed=allowed,
        )
        if (fault := subscription.begin(first)) is not None:
            await self._refuse(context, grpc.StatusCode.INVALID_ARGUMENT, f"{_CODES}subscription.fetch.{fault}", fault)
        self.asked.append(("Subscribe", first.num_requested))
        self.streams.add(subscription)
        reader = asyncio.ensure_future(self._read(requests, subscription))
        try:
            async for response in subscription.responses():
                response.rpc_id = _rpc_id()
                yield response
            if subscription.end[0] is not grpc.StatusCode.OK:
                await _abort(context, *subscription.end)
        finally:
            reader.cancel()
            self.streams.discard(subscription)

    async def _read(self, requests: AsyncIterator[Any], subscription: Subscription) -> None:
        async for request in requests:
            self.asked.append(("Subscribe", request.num_requested))
            subscription.more(request)
        subscription.left()

    def wake(self) -> None:
        """Something changed: events, tokens or the time."""
        for subscription in tuple(self.streams):
            subscription.wake()

    async def _user(self, context: Any) -> str:
        given = {str(key).lower(): value for key, value in context.invocation_metadata() or ()}
        user_id = self._org.sessions.user(str(given.get("accesstoken", "")))
        tenant, address = str(given.get("tenantid", "")), str(given.get("instanceurl", ""))
        refused = self.log.faults.take("refuse_handshake") is not None
        if (
            user_id is None
            or refused
            or tenant[:15] != self._org.org_id[:15]
            or not address.startswith(("https://", "http://"))
        ):
            code = f"{_CODES}service.auth.error"
            await _abort(context, grpc.StatusCode.UNAUTHENTICATED, code, "authentication exception occurred")
        return user_id

    async def _refuse(self, context: Any, status: grpc.StatusCode, code: str, text: str) -> NoReturn:
        """End a subscription that may not be; when Salesforce does so is a switch."""
        await asyncio.sleep(self._org.switches.pubsub_refuses_after_s)
        await _abort(context, status, code, text)
        raise AssertionError("abort raises")

    def _may_hear(self, user_id: str, name: str) -> bool:
        return not name.startswith("/data/") or name == ALL_CHANGES or name in heard(self._org, user_id)

    def _schema_of(self, channel: str) -> EventSchema | None:
        if channel not in self._by_channel:
            made = schema_of(self._org.schema, channel)
            self._by_channel[channel] = made
            if made is not None:
                self._schemas[made.id] = made
        return self._by_channel[channel]


def _unary(method: Any, request: type[Any]) -> grpc.RpcMethodHandler[Any, Any]:
    return grpc.unary_unary_rpc_method_handler(
        method, request_deserializer=request.FromString, response_serializer=_bytes
    )


def _bytes(message: Any) -> bytes:
    return bytes(message.SerializeToString())


def _rpc_id() -> str:
    return str(uuid.uuid4())


def _token(context: Any) -> str:
    return next((str(value) for key, value in context.invocation_metadata() if str(key).lower() == "accesstoken"), "")


async def _abort(context: Any, status: grpc.StatusCode, code: str, text: str) -> NoReturn:
    rpc_id = _rpc_id()
    trailers = (("error-code", code), ("rpc-id", rpc_id)) if code else (("rpc-id", rpc_id),)
    await context.abort(status, f"{text}. rpcId: {rpc_id}", trailing_metadata=trailers)
    raise AssertionError("abort raises")
