"""Avro bodies at random: the readers that are made for a schema say what the general reader says, or refuse."""

from __future__ import annotations

import io
import json
import struct

import fastavro
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.salesforce.avro_readers import reader_of

_PRIMITIVES = st.sampled_from(["boolean", "int", "long", "double", "string"])
_VALUES = {
    "boolean": st.booleans(),
    "int": st.integers(-(1 << 31), (1 << 31) - 1),
    "long": st.integers(-(1 << 63), (1 << 63) - 1),
    "double": st.floats(allow_nan=False),
    "string": st.text(max_size=90),
}
_SYMBOLS = ["CREATE", "UPDATE", "GAP_UPDATE"]


@st.composite
def _records(draw, depth=2):
    """A record's schema and a value of it."""
    name = f"R{draw(st.uuids()).hex}"
    members = {f"f{number}": draw(_members(depth)) for number in range(draw(st.integers(1, 6)))}
    fields = [{"name": field, "type": kind} for field, (kind, _) in members.items()]
    return {"type": "record", "name": name, "fields": fields}, {field: value for field, (_, value) in members.items()}


@st.composite
def _members(draw, depth):
    shape = draw(st.sampled_from(["primitive", "enum", "array", "union", *(["record"] if depth else [])]))
    match shape:
        case "primitive":
            kind = draw(_PRIMITIVES)
            return draw(st.sampled_from([kind, {"type": kind}])), draw(_VALUES[kind])
        case "enum":
            name = f"E{draw(st.uuids()).hex}"
            return {"type": "enum", "name": name, "symbols": _SYMBOLS}, draw(st.sampled_from(_SYMBOLS))
        case "array":
            kind = draw(_PRIMITIVES)
            return {"type": "array", "items": kind}, draw(st.lists(_VALUES[kind], max_size=70))
        case "record":
            return draw(_records(depth - 1))
        case _:
            kind, value = draw(_members(depth)) if depth else ("string", draw(_VALUES["string"]))
            branches = ["null"] if isinstance(kind, list) else ["null", kind]
            kinds = draw(st.permutations(branches))
            return kinds, draw(st.sampled_from([None, value])) if kind in branches else None


def _written(schema, value):
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, value)
    return stream.getvalue()


def _general(schema, body):
    stream = io.BytesIO(body)
    record = fastavro.schemaless_reader(stream, schema, None)
    return {name: value for name, value in record.items() if value is not None}, stream.tell()


@settings(max_examples=60, deadline=None)
@given(_records())
def test_every_body_is_read_as_the_general_reader_reads_it(drawn):
    """A11: whatever the schema, to the last byte; what is null is left out."""
    parsed = fastavro.parse_schema(json.loads(json.dumps(drawn[0])))
    body = _written(parsed, drawn[1])
    found = reader_of(parsed)(body, 0)
    assert found == _general(parsed, body)
    assert found[1] == len(body)


@settings(max_examples=60, deadline=None)
@given(_records(), st.integers(0, 200), st.binary(min_size=1, max_size=4))
def test_a_spoiled_body_is_refused_or_read_as_the_general_reader_reads_it(drawn, place, noise):
    """A11: no bytes are taken for something that they do not say."""
    parsed = fastavro.parse_schema(json.loads(json.dumps(drawn[0])))
    whole = _written(parsed, drawn[1])
    at = place % len(whole)
    spoiled = whole[:at] + noise + whole[at + len(noise) :]
    try:
        found = reader_of(parsed)(spoiled, 0)
    except (IndexError, KeyError, ValueError, struct.error):
        return
    assert repr(found) == repr(_general(parsed, spoiled))  # a number may have become none
