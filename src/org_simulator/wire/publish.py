"""Platform events: saved by nobody, heard by subscribers once the transaction around them is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from org_simulator.failures import no_such_column, required_missing
from org_simulator.wire.exchange import Reply
from org_simulator.wire.rows import body
from org_simulator.wire.world import Call, work

if TYPE_CHECKING:
    from org_simulator.schema import SObject

RECEIPT_ID = "e01xx0000000001AAA"
SYSTEM = frozenset({"createddate", "createdbyid", "eventuuid", "replayid"})


def publish(call: Call, captured: Sequence[str]) -> Reply:
    """POST /sobjects/X__e: 201, and the event's UUID as the text of an `error` that is none."""
    event = call.schema.platform_events[captured[0].lower()]
    payload = _payload(event, body(call))
    receipt = {"statusCode": "OPERATION_ENQUEUED", "message": "", "fields": []}

    def send() -> None:
        receipt["message"] = call.world.org.events.publish(event.name, payload, call.user_id)

    with work(call) as opened:
        opened.on_commit(send)
    return Reply(201, {"id": RECEIPT_ID, "success": True, "errors": [receipt]})


def _payload(event: SObject, content: Mapping[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for name, value in content.items():
        known = event.fields.get(name.lower())
        if name == "attributes":
            continue
        if known is None or name.lower() in SYSTEM:
            raise no_such_column(name, event.name)
        payload[known.name] = value
    missing = [each.name for each in event.fields.values() if each.required and payload.get(each.name) is None]
    if missing:
        raise required_missing(missing)
    return payload
