"""The messages of `eventbus.v1` as a server needs them, from the public interface's names and numbers.

Written apart from the client's: a wrong number on either side is seen, as the two do not understand each other.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "eventbus.v1"
SERVICE = f"{PACKAGE}.PubSub"
LATEST, EARLIEST, CUSTOM = 0, 1, 2

_TEXT = """
enum ErrorCode: UNKNOWN=0 PUBLISH=1 COMMIT=2
enum ReplayPreset: LATEST=0 EARLIEST=1 CUSTOM=2
TopicRequest: topic_name=1:string
TopicInfo: topic_name=1:string tenant_guid=2:string can_publish=3:bool can_subscribe=4:bool schema_id=5:string rpc_id=6:string
SchemaRequest: schema_id=1:string
SchemaInfo: schema_json=1:string schema_id=2:string rpc_id=3:string
EventHeader: key=1:string value=2:bytes
ProducerEvent: id=1:string schema_id=2:string payload=3:bytes headers=4:EventHeader[]
ConsumerEvent: event=1:ProducerEvent replay_id=2:bytes
Error: code=1:ErrorCode msg=2:string
PublishResult: replay_id=1:bytes error=2:Error correlation_key=3:string
FetchRequest: topic_name=1:string replay_preset=2:ReplayPreset replay_id=3:bytes num_requested=4:int32 auth_refresh=5:string
FetchResponse: events=1:ConsumerEvent[] latest_replay_id=2:bytes rpc_id=3:string pending_num_requested=4:int32
PublishRequest: topic_name=1:string events=2:ProducerEvent[] auth_refresh=3:string
PublishResponse: results=1:PublishResult[] schema_id=2:string rpc_id=3:string
"""  # noqa: E501 - a message a line
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "int32": _Field.TYPE_INT32,
    "bool": _Field.TYPE_BOOL,
}


def _messages() -> dict[str, type[Any]]:
    file = descriptor_pb2.FileDescriptorProto(name="org_simulator/eventbus.proto", package=PACKAGE, syntax="proto3")
    lines = [line.partition(":") for line in _TEXT.strip().splitlines()]
    enums = {head.removeprefix("enum ") for head, _, _ in lines if head.startswith("enum ")}
    for head, _, members in lines:
        if head.startswith("enum "):
            values = file.enum_type.add(name=head.removeprefix("enum "))
            for name, number in (member.split("=") for member in members.split()):
                values.value.add(name=name, number=int(number))
            continue
        message = file.message_type.add(name=head)
        for name, rest in (member.split("=") for member in members.split()):
            number, kind = rest.split(":")
            message.field.append(_field(name, int(number), kind, enums))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = [message.name for message in file.message_type]
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in names}


def _field(name: str, number: int, kind: str, enums: set[str]) -> descriptor_pb2.FieldDescriptorProto:
    single = kind.removesuffix("[]")
    field = _Field(name=name, number=number, label=_Field.LABEL_OPTIONAL if single == kind else _Field.LABEL_REPEATED)
    if single in _SCALARS:
        field.type = _SCALARS[single]
    else:
        field.type = _Field.TYPE_ENUM if single in enums else _Field.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{single}"
    return field


_MADE = _messages()
TopicRequest, TopicInfo = _MADE["TopicRequest"], _MADE["TopicInfo"]
SchemaRequest, SchemaInfo = _MADE["SchemaRequest"], _MADE["SchemaInfo"]
FetchRequest, FetchResponse = _MADE["FetchRequest"], _MADE["FetchResponse"]
PublishRequest, PublishResponse = _MADE["PublishRequest"], _MADE["PublishResponse"]
