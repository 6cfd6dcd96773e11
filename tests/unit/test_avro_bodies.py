"""Avro bodies and schemas: what is good is read as CometD would have it, anything else is Undecodable, and free."""

from __future__ import annotations

import contextlib
import io
import json
import tracemalloc
from datetime import UTC, datetime

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as some

from lead_router.salesforce.avro import KNOWN_MAX, Schemas, Undecodable, schema_of
from lead_router.salesforce.avro_bounds import DEPTH_MAX
from lead_router.salesforce.changes import read_payload
from support.lead_events import created, header, lead_id

TOPIC = "/data/LeadChangeEvent"
STRINGS = {"type": "array", "items": "string"}
HEADER_FIELDS = {
    "entityName": "string",
    "recordIds": STRINGS,
    "changeType": {"type": "enum", "name": "ChangeType", "symbols": ["CREATE", "UPDATE", "GAP_UPDATE"]},
    "changeOrigin": "string",
    "transactionKey": "string",
    "sequenceNumber": "int",
    "commitTimestamp": "long",
    "commitNumber": "long",
    "commitUser": "string",
    "nulledFields": STRINGS,
    "diffFields": STRINGS,
    "changedFields": STRINGS,
}
GIB = 1 << 30


def record(name, **fields):
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields.items()]}


NAME = record("Lead_Name", FirstName=["null", "string"], LastName=["null", "string"])
ADDRESS = record("Lead_Address", City=["null", "string"], Country=["null", "string"])
LEAD = record(
    "LeadChangeEvent",
    ChangeEventHeader=record("ChangeEventHeader", **HEADER_FIELDS),
    Name=["null", "string", NAME],
    Company=["null", "string"],
    Address=["null", ADDRESS],
    Phone=["null", "string"],
    Description=["null", "string"],
)
SCHEMA = schema_of(json.dumps(LEAD))


def body(values, schema=LEAD):
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), values)
    return stream.getvalue()


def update(*, changed=(), nulled=(), different=(), **values):
    told = header(
        1, changeType="UPDATE", changedFields=list(changed), nulledFields=list(nulled), diffFields=list(different)
    )
    return {"ChangeEventHeader": told, "Name": None, "Company": None, "Address": None, "Phone": None} | values


def long(number):
    """Avro's variable length number."""
    number = (number << 1) ^ (number >> 63)
    found = b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def one(kind):
    return json.dumps(record("One", a=kind))


class TestBodies:
    def test_a_creation_comes_without_what_is_null(self):
        """A creation is what it holds; compounds keep their shape."""
        values = {**created(1), "Phone": None, "Address": {"City": None, "Country": None}}
        values["ChangeEventHeader"] = header(1, nulledFields=[], diffFields=[], changedFields=[])
        read = SCHEMA.read(body(values))
        assert {name: value for name, value in read.items() if name != "ChangeEventHeader"} == {
            "Name": {"FirstName": "Ada", "LastName": "Doe 1"},
            "Company": "Acme",
        }

    def test_an_update_holds_what_changed_and_what_was_cleared_alone(self):
        """A14: what no bitmap names is absent, what is nulled is null, parts of compounds come alone (A13)."""
        values = update(
            changed=["0x04", "1-0x1"], nulled=["0x10", "3-0x2"], Company="Acme", Name={"FirstName": "Jo"}, Address={}
        )
        read = SCHEMA.read(body(values))
        head = read.pop("ChangeEventHeader")
        assert read == {"Company": "Acme", "Name": {"FirstName": "Jo"}, "Phone": None, "Address": {"Country": None}}
        assert head["changedFields"] == ["Company", "Name.FirstName"]
        assert head["nulledFields"] == ["Phone", "Address.Country"]

    def test_a_difference_is_named_and_not_taken_for_a_value(self):
        """A diffField's value is a difference of texts, not the text."""
        values = update(changed=["0x24"], different=["0x20"], Company="Acme", Description="--- a\n+++ b")
        read = SCHEMA.read(body(values))
        assert read["ChangeEventHeader"]["diffFields"] == ["Description"]
        assert read["Company"] == "Acme"
        assert "Description" not in read

    @pytest.mark.parametrize("listed", [["0x05"], ["0x04", "0-0x1"]])
    def test_a_bit_of_the_header_itself_costs_nothing(self, listed):
        """A13: what a map says of the header is not taken for a value."""
        read = SCHEMA.read(body(update(changed=listed, Company="Acme")))
        assert read["ChangeEventHeader"]["recordIds"] == [lead_id(1)]
        assert read["Company"] == "Acme"

    def test_bits_count_over_the_schema_that_the_event_names(self):
        """A13: an event of a schema with one more field beside one of an older schema: names never shift."""
        newer = json.loads(json.dumps(LEAD))
        newer["fields"].insert(2, {"name": "Title", "type": ["null", "string"]})
        known = Schemas()
        old, new = known.add("old", json.dumps(LEAD)), known.add("new", json.dumps(newer))
        before = known.get("old").read(body(update(changed=["0x04"], Company="Acme")))
        after = known.get("new").read(body(update(changed=["0x08"], Company="Acme"), newer))
        assert before["Company"] == after["Company"] == "Acme"
        assert (known.get("old"), known.get("new"), known.get("other")) == (old, new, None)

    @pytest.mark.parametrize(
        "spoiled",
        [b"", b"\x00", body(update())[:-1], body(update()) + b"\x00", b"\xff" * 64, body(update())[1:]],
        ids=["empty", "one byte", "short", "long", "noise", "shifted"],
    )
    def test_a_body_that_does_not_fit_is_undecodable(self, spoiled):
        """A11: too short, too long, or none at all; the text tells no value."""
        with pytest.raises(Undecodable, match=r"does not fit its schema") as told:
            SCHEMA.read(spoiled)
        assert lead_id(1) not in str(told.value)

    @pytest.mark.parametrize("listed", [["0xZZ"], ["-5-0x1"], ["x-0x1"]])
    def test_a_header_whose_bitmaps_are_none_is_undecodable(self, listed):
        """A13: it names the listing, and no field by chance."""
        with pytest.raises(Undecodable, match="changedFields is no bitmap"):
            SCHEMA.read(body(update(changed=listed)))

    @given(some.binary(max_size=400))
    def test_no_bytes_whatever_raise_anything_else(self, noise):
        """A11: read, or Undecodable."""
        with contextlib.suppress(Undecodable):
            SCHEMA.read(noise)

    @given(some.integers(0, 200), some.binary(min_size=1, max_size=4))
    def test_no_spoiled_event_raises_anything_else(self, place, noise):
        """A11: an event with some bytes overwritten is read, or Undecodable; and then never more than a reading."""
        whole = body(update(changed=["0x04", "1-0x1"], Company="Acme", Name={"FirstName": "Jo"}))
        at = place % len(whole)
        try:
            read = SCHEMA.read(whole[:at] + noise + whole[at + len(noise) :])
        except Undecodable:
            return
        read_payload(TOPIC, read, "")


class TestShapes:
    def test_an_array_may_come_in_blocks_that_tell_their_size(self):
        """A11: a negative count has the block's bytes behind it, and another block may follow."""
        blocks = long(-2) + long(4) + b"\x02a\x02b" + long(1) + b"\x02c" + long(0)
        assert schema_of(one(STRINGS)).read(blocks) == {"a": ["a", "b", "c"]}

    @pytest.mark.parametrize("place", [0, 63, 64, 69])
    def test_a_union_may_have_more_branches_than_a_byte_can_name(self, place):
        """A11: none is taken for another one."""
        kinds = [{"type": "enum", "name": f"Kind{number}", "symbols": [f"S{number}"]} for number in range(70)]
        assert schema_of(one(kinds)).read(long(place) + long(0)) == {"a": f"S{place}"}

    @pytest.mark.parametrize(
        ("kind", "value"),
        [
            ("bytes", b"ab"),
            ("float", 0.5),
            ({"type": "map", "values": "int"}, {"x": 1}),
            ({"type": "long", "logicalType": "timestamp-millis"}, datetime(2026, 11, 29, tzinfo=UTC)),
            ("null", None),
            (record("Empty"), {}),
        ],
    )
    def test_types_that_no_event_has_are_read_all_the_same(self, kind, value):
        """A11: the general reader reads whatever a schema holds, to the last byte."""
        schema = record("One", b="string", a=kind)
        read = schema_of(json.dumps(schema)).read(body({"a": value, "b": "there"}, schema))
        assert read == {"b": "there"} | ({"a": value} if value else {})


class TestSizes:
    @pytest.mark.parametrize("kind", ["string", "bytes", {"type": "fixed", "name": "F", "size": 2 * GIB}])
    @pytest.mark.parametrize("claimed", [2 * GIB, 1 << 62, -5])
    def test_a_body_that_claims_two_gibibytes_is_given_none(self, kind, claimed):
        """A11: what is not there is not allocated."""
        schema = schema_of(one(kind))
        tracemalloc.start()
        try:
            with pytest.raises(Undecodable):
                schema.read(long(claimed) + b"abc")
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize(
        ("kind", "spoiled"),
        [
            ("long", b"\xff" * 9 + b"\x02"),
            ("long", b"\x80" * 12 + b"\x00"),
            ("string", long(3) + b"ab"),
            ("string", long(-1)),
            ({"type": "enum", "name": "Kind", "symbols": ["A"]}, long(-1)),
            ({"type": "enum", "name": "Kind", "symbols": ["A"]}, long(1)),
        ],
        ids=["65 bits", "13 bytes", "short text", "text that leads back", "symbol before the first", "symbol too many"],
    )
    def test_a_value_that_its_type_cannot_have_is_refused_where_it_stands(self, kind, spoiled):
        """A11: no number is cut to size, no text is shorter than it says, and nothing is read twice without end."""
        with pytest.raises((ValueError, KeyError)):
            schema_of(one(kind)).reader(spoiled, 0)

    def test_an_array_that_claims_more_than_is_there_is_given_none(self):
        """A11: items that take bytes end with the body."""
        with pytest.raises(Undecodable):
            schema_of(one(STRINGS)).read(long(1 << 60) + b"\x02a")

    @pytest.mark.parametrize(
        "items",
        ["null", record("Empty"), record("Empty", a="null"), {"type": "fixed", "name": "F", "size": 0}],
    )
    def test_an_array_of_items_without_a_size_is_no_schema(self, items):
        """A11: six bytes of body could claim any number of them."""
        with pytest.raises(Undecodable):
            schema_of(one({"type": "array", "items": items}))

    @pytest.mark.parametrize(
        "text",
        [
            json.dumps(record("A", a=["null", "A"])),
            json.dumps({**record("A", a={"type": "array", "items": "n.A"}), "namespace": "n"}),
            json.dumps(record("A", b=record("B", a={"type": "map", "values": "A"}))),
        ],
    )
    def test_a_schema_that_holds_itself_is_no_schema(self, text):
        """A11: the compiled reader would follow the body as deep as it says, and the process would die of it."""
        with pytest.raises(Undecodable):
            schema_of(text)

    @pytest.mark.parametrize("depth", [DEPTH_MAX, 500, 5_000, 200_000])
    def test_a_deep_schema_is_no_schema(self, depth):
        """A11: whether it is the JSON or the types that are deep."""
        deep = '{"type":"array","items":' * depth + '"string"' + "}" * depth
        with pytest.raises(Undecodable):
            schema_of(f'{{"type":"record","name":"A","fields":[{{"name":"a","type":{deep}}}]}}')

    def test_a_named_type_may_be_used_twice(self):
        """A name used again is no type that holds itself."""
        kind = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
        assert schema_of(json.dumps(record("A", a=kind, b="Kind", c={"type": "array", "items": "Kind"})))


class TestSchemas:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "nonsense",
            "null",
            "7",
            "[]",
            '"string"',
            "{}",
            '{"type":"record"}',
            '{"type":"record","name":"A"}',
            '{"type":"record","name":"A","fields":7}',
            '{"type":"record","name":"A","fields":["x"]}',
            '{"type":"record","name":"A","fields":[{"name":"a"}]}',
            '{"type":"record","name":"A","fields":[{"name":"a","type":"nowhere"}]}',
            '{"type":"record","name":7,"fields":[]}',
            '{"type":"record","name":"A","fields":[{"name":"a","type":{"type":7}}]}',
            '{"type":"record","name":"A","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":"x"}}]}',
        ],
    )
    def test_what_is_no_schema_is_undecodable(self, text):
        """A11: whatever the server sends as a schema costs its events alone."""
        with pytest.raises(Undecodable):
            schema_of(text)

    def test_a_thousand_schemas_leave_those_met_last(self):
        """The cache is bounded; what is used stays."""
        known = Schemas()
        text = json.dumps(record("A", a="string"))
        for number in range(1_000):
            known.add(f"id-{number}", text)
            assert known.get("id-0") is not None
        assert len(known) == KNOWN_MAX
        assert known.get("id-500") is None
        assert known.get("id-999") is not None

    def test_a_schema_that_is_refused_is_not_kept(self):
        """The next event of it asks again."""
        known = Schemas()
        with pytest.raises(Undecodable):
            known.add("bad", "{}")
        assert len(known) == 0


def test_an_event_of_values_that_json_lacks_is_kept_all_the_same():
    """A11: bytes, times and decimals of Avro in an event without a usable header are quarantined, not raised."""
    kinds = {
        "raw": "bytes",
        "at": {"type": "long", "logicalType": "timestamp-millis"},
        "money": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    }
    schema = record("Odd", **kinds)
    payload = schema_of(json.dumps(schema)).read(long(2) + b"\x00\xff" + long(1_700_000_000_000) + long(1) + b"\x07")
    reading = read_payload(TOPIC, payload, "")
    assert reading.changes == ()
    assert b"2023" in reading.unreadable.body
