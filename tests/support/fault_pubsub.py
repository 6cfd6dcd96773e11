"""A Pub/Sub API server on loopback that says what a test wants said: any event, any refusal, at any call.

Written for what the simulated org does not do; it keeps no rules of its own but the count of what is owed.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import grpc

from org_simulator.pubsub import interface

CODES = "sfdc.platform.eventbus.grpc."
THREADS = 16
NOISE = b"\xff\xfe\xfd noise"


@dataclass(frozen=True)
class Refusal:
    """An end of a call: the status' name, the trailer's last part (none if empty), after so many seconds, in words."""

    status: str
    code: str = ""
    after_s: float = 0.0
    text: str = "refused"


@dataclass(frozen=True)
class Told:
    """An event as it goes over the wire."""

    replay_id: bytes
    payload: bytes
    schema_id: str = "schema-1"
    event_id: str = "event"


class FaultPubSub:
    """`schemas` by id, `answers` in order: each a tuple of events sent together, or bytes: a quiet answer's id.

    A subscription from an id begins behind the answer that holds it, any other with the first. The next answer of each
    method in `noisy` is noise, which is `noise`.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, str] = {}
        self.answers: list[tuple[Told, ...] | bytes] = []
        self.asked: list[tuple[str, Any]] = []
        self.open = 0
        self.noisy: list[str] = []
        self.noise = NOISE
        self._faults: dict[str, deque[Refusal | None]] = defaultdict(deque)
        self._changed = threading.Condition()
        self._server = grpc.server(ThreadPoolExecutor(THREADS), options=[("grpc.max_send_message_length", -1)])
        calls = {
            "GetTopic": grpc.unary_unary_rpc_method_handler(
                self._topic, interface.TopicRequest.FromString, self._writer("GetTopic")
            ),
            "GetSchema": grpc.unary_unary_rpc_method_handler(
                self._schema, interface.SchemaRequest.FromString, self._writer("GetSchema")
            ),
            "Subscribe": grpc.stream_stream_rpc_method_handler(
                self._subscribe, interface.FetchRequest.FromString, self._writer("Subscribe")
            ),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(interface.SERVICE, calls),))
        self.address = f"localhost:{self._server.add_insecure_port('localhost:0')}"
        self._server.start()

    def say(self, *events: Told) -> None:
        """One more answer."""
        self._append(events)

    def quiet(self, latest: bytes) -> None:
        """One more answer, without events."""
        self._append(latest)

    def refuse(self, method: str, *refusals: Refusal | None) -> None:
        """The next calls of a method end so, or go well for None; `Stream` is for the middle of a subscription."""
        with self._changed:
            self._faults[method].extend(refusals)
            self._changed.notify_all()

    def count(self, method: str) -> int:
        """How many calls of a method were begun, of `Fetch` how many requests came on subscriptions."""
        with self._changed:
            return sum(seen == method for seen, _ in self.asked)

    def starts(self) -> list[tuple[int, bytes]]:
        """Preset and id of each subscription."""
        with self._changed:
            return [(asked.replay_preset, asked.replay_id) for seen, asked in self.asked if seen == "Subscribe"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(0).wait()

    def _append(self, answer: tuple[Told, ...] | bytes) -> None:
        with self._changed:
            self.answers.append(answer)
            self._changed.notify_all()

    def _topic(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._note("GetTopic", request, context)
        return interface.TopicInfo(topic_name=request.topic_name, can_subscribe=True)

    def _schema(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._note("GetSchema", request, context)
        return interface.SchemaInfo(schema_json=self.schemas.get(request.schema_id, ""), schema_id=request.schema_id)

    def _subscribe(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        first = next(requests)
        self._note("Subscribe", first, context)
        owed = [first.num_requested]
        threading.Thread(target=self._grant, args=(requests, owed), daemon=True).start()
        context.add_callback(self._wake)
        at = self._start(first)
        self.open += 1
        try:
            while context.is_active():
                with self._changed:
                    ready = at < len(self.answers) and owed[0] > 0
                    if not ready and not self._faults["Stream"]:
                        self._changed.wait(5)
                        continue
                    if self._faults["Stream"]:
                        self._end(self._faults["Stream"].popleft(), context)
                    answer = self.answers[at]
                    at += 1
                    events = () if isinstance(answer, bytes) else answer
                    owed[0] -= len(events)
                yield _response(answer, max(0, owed[0]))
        finally:
            self.open -= 1

    def _grant(self, requests: Iterator[Any], owed: list[int]) -> None:
        try:
            for request in requests:
                with self._changed:
                    self.asked.append(("Fetch", request))
                    owed[0] += request.num_requested
                    self._changed.notify_all()
        except grpc.RpcError:
            self._wake()

    def _start(self, first: Any) -> int:
        if first.replay_preset != interface.CUSTOM:
            return 0
        for place, answer in enumerate(self.answers):
            if not isinstance(answer, bytes) and first.replay_id in {event.replay_id for event in answer}:
                return place + 1
        return 0

    def _note(self, method: str, request: Any, context: grpc.ServicerContext) -> None:
        with self._changed:
            self.asked.append((method, request))
            fault = self._faults[method].popleft() if self._faults[method] else None
        if fault is not None:
            threading.Event().wait(fault.after_s)
            self._end(fault, context)

    def _end(self, fault: Refusal, context: grpc.ServicerContext) -> NoReturn:
        if fault.code:
            context.set_trailing_metadata((("error-code", f"{CODES}{fault.code}"),))
        context.abort(grpc.StatusCode[fault.status], fault.text)
        raise AssertionError("abort raises")

    def _writer(self, method: str) -> Callable[[Any], bytes]:
        def write(made: Any) -> bytes:
            if method in self.noisy:
                self.noisy.remove(method)
                return self.noise
            return bytes(made.SerializeToString())

        return write

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def _response(answer: tuple[Told, ...] | bytes, owed: int) -> Any:
    if isinstance(answer, bytes):
        return interface.FetchResponse(latest_replay_id=answer, pending_num_requested=owed)
    response = interface.FetchResponse(pending_num_requested=owed)
    for event in answer:
        added = response.events.add(replay_id=event.replay_id)
        added.event.id, added.event.schema_id, added.event.payload = event.event_id, event.schema_id, event.payload
    return response
