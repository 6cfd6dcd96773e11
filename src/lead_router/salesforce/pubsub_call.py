"""Pub/Sub API over gRPC: one HTTP/2 channel, its three calls, and every end of them as a `Lost`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # read when it is loaded; its lines are no JSON and tell nothing new

import grpc
from google.protobuf.message import DecodeError
from grpc.aio import AioRpcError, Channel, StreamStreamCall, insecure_channel, secure_channel

from lead_router.salesforce import eventbus
from lead_router.salesforce.losses import Broken, Loss, Lost
from lead_router.salesforce.pubsub_portion import PENDING_MAX, Portion
from lead_router.salesforce.pubsub_verdicts import loss_of
from lead_router.salesforce.pubsub_way import proxy_options
from lead_router.salesforce.stream_login import Token

PLAIN = "http://"


@dataclass(frozen=True, slots=True)
class PubSubLimits:
    """Seconds and bytes. The server says something at least every 270 s; a stream silent for `idle_s` is dead.

    A ping every `ping_s` seconds that is not answered in `pong_s` ends a half-open connection. A gRPC server that is
    left as it comes ends a connection at the third ping within five minutes without a word of its own: two fit between
    words. A subscription that is not refused within `acknowledged_s` counts as acknowledged, as an answer may take
    minutes.
    """

    request_s: float = 30.0
    idle_s: float = 300.0
    ping_s: float = 120.0
    pong_s: float = 20.0
    acknowledged_s: float = 2.0
    answer_max_bytes: int = 32 * 1024 * 1024


class Stream:
    """A subscription of one topic. At most a portion is asked for and not yet received: `pending` says how many."""

    def __init__(self, call: StreamStreamCall[Any, Any], topic: str, limits: PubSubLimits, portion: Portion) -> None:
        self._call = call
        self._topic = topic
        self._limits = limits
        self._portion = portion
        self._first: asyncio.Future[Any] | None = None
        self.pending = 0

    async def begin(self, preset: eventbus.ReplayPreset, replay_id: bytes = b"") -> None:
        """Ask from there on; returns once the server has answered or, for a while, not refused. Raises Lost."""
        await self._write(replay_preset=preset, replay_id=replay_id)
        self._first = asyncio.ensure_future(self._read())
        await asyncio.wait({self._first}, timeout=self._limits.acknowledged_s)
        if self._first.done():
            self._first.result()

    async def ask(self) -> None:
        """Ask for as many events as may be pending; not before the first answer was received. Raises Lost."""
        if self._first is None and self.pending < self._portion.most:
            await self._write()

    async def receive(self) -> Any:
        """The next answer, perhaps without events; raises Lost, also for a silence longer than the server allows."""
        first, self._first = self._first, None
        return await (self._read() if first is None else first)

    def end(self) -> None:
        """Stop listening; the server sees it at once."""
        first, self._first = self._first, None
        if first is not None and not first.cancel() and not first.cancelled():
            first.exception()  # told, so that nobody misses it
        self._call.cancel()

    async def _write(self, **begin: Any) -> None:
        most = self._portion.most
        wanted = most - self.pending
        request = eventbus.FetchRequest(topic_name=self._topic, num_requested=wanted, **begin)
        await _answered(self._call.write(request), self._limits.request_s)
        self.pending = most

    async def _read(self) -> Any:
        response = await _answered(self._call.read(), self._limits.idle_s)
        if response is grpc.aio.EOF:
            raise Lost(await _end(self._call))
        _told(response)
        # What was asked for last may have crossed this answer: its count is trusted only where the server was quiet.
        told = max(0, min(response.pending_num_requested, PENDING_MAX))
        self.pending = max(0, self.pending - len(response.events)) if response.events else told
        if self._portion.most < PENDING_MAX:  # its size is not for nothing
            self._portion.fitted(response.ByteSize())
        return response


class PubSubChannel:
    """The calls of one org. `endpoint` is `host:port`, always under TLS; `http://host:port` is for loopback alone."""

    def __init__(self, endpoint: str, *, tenant: str, authority: bytes | None, limits: PubSubLimits) -> None:
        self._endpoint = endpoint
        self._tenant = tenant
        self._authority = authority
        self._limits = limits
        self._channel: Channel | None = None
        self._token: Token | None = None

    def use(self, token: Token) -> None:
        """Calls made from now on bear this token."""
        self._token = token

    async def topic(self, name: str) -> Any:
        """What the org says of a topic; raises Lost."""
        return _told(await self._unary(eventbus.GET_TOPIC, eventbus.TopicRequest(topic_name=name), eventbus.TopicInfo))

    async def schema(self, schema_id: str) -> str:
        """The JSON text of a schema, empty where the answer is none; raises Lost."""
        answer = await self._unary(
            eventbus.GET_SCHEMA, eventbus.SchemaRequest(schema_id=schema_id), eventbus.SchemaInfo
        )
        return "" if answer is None else str(answer.schema_json)

    def subscribe(self, topic: str, portion: Portion | None = None) -> Stream:
        """A new stream, which asks for a whole portion where none is given; nothing is sent before it begins."""
        call = self._open().stream_stream(
            eventbus.SUBSCRIBE,
            request_serializer=eventbus.FetchRequest.SerializeToString,
            response_deserializer=_reader(eventbus.FetchResponse),
        )(metadata=self._metadata(), wait_for_ready=False)
        return Stream(call, topic, self._limits, portion or Portion(self._limits.answer_max_bytes))

    async def close(self) -> None:
        """Free the sockets; the next call connects anew."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close()

    async def _unary(self, method: str, request: Any, answer: type[Any]) -> Any:
        call = self._open().unary_unary(
            method, request_serializer=type(request).SerializeToString, response_deserializer=_reader(answer)
        )(request, metadata=self._metadata(), timeout=self._limits.request_s)
        return await _answered(call, self._limits.request_s)

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        token = self._token
        if token is None:
            raise Lost(Broken("there is no token yet"))
        return (
            ("accesstoken", token.access_token),
            ("instanceurl", token.instance_url.rstrip("/")),
            ("tenantid", self._tenant),
        )

    def _open(self) -> Channel:
        if self._channel is None:
            options: list[tuple[str, str | int]] = [
                ("grpc.max_receive_message_length", self._limits.answer_max_bytes),
                ("grpc.keepalive_time_ms", round(self._limits.ping_s * 1000)),
                ("grpc.keepalive_timeout_ms", round(self._limits.pong_s * 1000)),
                ("grpc.http2.ping_timeout_ms", round(self._limits.pong_s * 1000)),  # else a minute, whatever the above
                ("grpc.http2.max_pings_without_data", 0),
                ("grpc.use_local_subchannel_pool", 1),  # a new channel never inherits a dead connection
                ("grpc.primary_user_agent", "lead-router"),
            ]
            plain, address = self._endpoint.startswith(PLAIN), self._endpoint.removeprefix(PLAIN)
            options += proxy_options(address, os.environ, plain=plain)
            if plain:
                self._channel = insecure_channel(address, options=options)
            else:
                trusted = grpc.ssl_channel_credentials(root_certificates=self._authority)
                self._channel = secure_channel(address, trusted, options=options)
        return self._channel


async def _answered(awaited: Any, within_s: float) -> Any:
    """What is awaited; raises Lost for whatever else comes of it, so that no server ends a loop."""
    try:
        async with asyncio.timeout(within_s):
            return await awaited
    except TimeoutError:
        raise Lost(Broken(f"nothing was heard for {within_s:.0f} s")) from None
    except AioRpcError as error:
        raise Lost(_loss(error.code(), error.trailing_metadata(), error.details())) from None
    except asyncio.InvalidStateError:
        raise Lost(Broken("the stream has ended")) from None
    except Exception as fault:  # noqa: BLE001 - its text may hold what was sent
        raise Lost(Broken(f"gRPC could not make the call ({type(fault).__name__})")) from None


def _reader(answer: type[Any]) -> Callable[[bytes], Any]:
    """Bytes as that answer, None where they are none: gRPC would do the same, with a traceback in the log."""

    def read(body: bytes) -> Any:
        try:
            return answer.FromString(body)
        except DecodeError:
            return None

    return read


def _told(answer: Any) -> Any:
    if answer is None:
        raise Lost(Broken("the answer is none of Pub/Sub API"))
    return answer


async def _end(call: StreamStreamCall[Any, Any]) -> Loss:
    code = await call.code()
    if code is grpc.StatusCode.OK:
        return Broken("the server ended the stream")
    return _loss(code, await call.trailing_metadata(), await call.details())


def _loss(code: Any, trailers: Any, details: str | None) -> Loss:
    told = {str(key).lower(): value for key, value in trailers or ()}
    error_code = told.get("error-code", "")
    return loss_of(code.name, error_code if isinstance(error_code, str) else "", details or "")
