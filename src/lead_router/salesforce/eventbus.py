"""The messages of Pub/Sub API (package `eventbus.v1`), made at run time out of their names and numbers.

Generated code would bind the protobuf version of whoever installs this from below, and a second client in one process
would clash with it over the names; a pool of our own does neither. Names and numbers are those of the public interface
definition in Salesforce's Pub/Sub API repository. Only what this program sends or reads is here: an unknown field of an
answer is skipped, as protobuf wants it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "eventbus.v1"
SERVICE = f"/{PACKAGE}.PubSub"
SUBSCRIBE, GET_SCHEMA, GET_TOPIC = f"{SERVICE}/Subscribe", f"{SERVICE}/GetSchema", f"{SERVICE}/GetTopic"


class ReplayPreset(IntEnum):
    """Where a subscription begins."""

    LATEST = 0
    EARLIEST = 1
    CUSTOM = 2


_STRING, _BYTES, _INT32, _BOOL, _ENUM = "string", "bytes", "int32", "bool", "ReplayPreset"
_REPEATED = "*"

# name, number, type; `*Name` is a repeated message.
_MESSAGES: Final[dict[str, tuple[tuple[str, int, str], ...]]] = {
    "TopicRequest": (("topic_name", 1, _STRING),),
    "TopicInfo": (
        ("topic_name", 1, _STRING),
        ("tenant_guid", 2, _STRING),
        ("can_publish", 3, _BOOL),
        ("can_subscribe", 4, _BOOL),
        ("schema_id", 5, _STRING),
        ("rpc_id", 6, _STRING),
    ),
    "SchemaRequest": (("schema_id", 1, _STRING),),
    "SchemaInfo": (("schema_json", 1, _STRING), ("schema_id", 2, _STRING), ("rpc_id", 3, _STRING)),
    "ProducerEvent": (("id", 1, _STRING), ("schema_id", 2, _STRING), ("payload", 3, _BYTES)),
    "ConsumerEvent": (("event", 1, "ProducerEvent"), ("replay_id", 2, _BYTES)),
    "FetchRequest": (
        ("topic_name", 1, _STRING),
        ("replay_preset", 2, _ENUM),
        ("replay_id", 3, _BYTES),
        ("num_requested", 4, _INT32),
    ),
    "FetchResponse": (
        ("events", 1, f"{_REPEATED}ConsumerEvent"),
        ("latest_replay_id", 2, _BYTES),
        ("rpc_id", 3, _STRING),
        ("pending_num_requested", 4, _INT32),
    ),
}
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {_STRING: _Field.TYPE_STRING, _BYTES: _Field.TYPE_BYTES, _INT32: _Field.TYPE_INT32, _BOOL: _Field.TYPE_BOOL}


def _made() -> dict[str, type[Any]]:
    file = descriptor_pb2.FileDescriptorProto(name="lead_router/eventbus.proto", package=PACKAGE, syntax="proto3")
    presets = file.enum_type.add(name="ReplayPreset")
    for preset in ReplayPreset:
        presets.value.add(name=preset.name, number=preset.value)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            _add(message, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES
    }


def _add(message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _Field.LABEL_REPEATED if kind.startswith(_REPEATED) else _Field.LABEL_OPTIONAL
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    field.type = _Field.TYPE_ENUM if kind == _ENUM else _Field.TYPE_MESSAGE
    field.type_name = f".{PACKAGE}.{kind.removeprefix(_REPEATED)}"


_CLASSES = _made()
TopicRequest, TopicInfo = _CLASSES["TopicRequest"], _CLASSES["TopicInfo"]
SchemaRequest, SchemaInfo = _CLASSES["SchemaRequest"], _CLASSES["SchemaInfo"]
FetchRequest, FetchResponse = _CLASSES["FetchRequest"], _CLASSES["FetchResponse"]
