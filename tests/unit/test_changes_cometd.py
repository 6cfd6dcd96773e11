"""CometD events read as changes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.ids import to18
from lead_router.ports import Change
from lead_router.salesforce.changes import flat, own_change, read_event
from support.lead_events import ORIGIN, USER, created, header, lead_id

CHANNEL = "/data/LeadChangeEvent"
REQUESTS = "/event/Lead_Routing_Requested__e"
ROUTER = "com/salesforce/api/rest/68.0;client=lead-router"


def event(payload, **beside):
    return {"channel": CHANNEL, "data": {"schema": "s", "payload": payload, "event": {"replayId": 7} | beside}}


def requested(**other):
    payload = {"CreatedDate": "2026-11-29T18:31:40.517Z", "CreatedById": USER, "Lead_Id__c": lead_id(1)}
    return event(payload | other, EventUuid="2ec0e371-1395-457f-9275-be1b527a72f7")


def test_a_creation_is_one_change_with_flat_fields():
    """Parts of Name and Address stand among the other fields; the header does not."""
    reading = read_event(CHANNEL, event(created(1)))
    assert reading.changes == (
        Change(
            record_id=lead_id(1),
            change_type="CREATE",
            identity="tx-1.1",
            origin=ORIGIN,
            commit_user=USER,
            committed_at=datetime(2024, 4, 9, 20, 26, 27, 1000, tzinfo=UTC),
            changed_fields=frozenset(),
            fields={
                "FirstName": "Ada",
                "LastName": "Doe 1",
                "Company": "Acme",
                "Street": "1 Main St",
                "City": "Paris",
                "Country": "FR",
                "OwnerId": "00G5f000003Qr7bEAC",
            },
        ),
    )
    assert (reading.replay_id, reading.unreadable, reading.gap) == (7, None, None)


def test_flat_and_nested_names_are_both_read():
    """The name may come flat or nested; another compound field keeps its shape."""
    assert flat({"LastName": "Doe", "Place__c": {"Latitude": 1}}) == {"LastName": "Doe", "Place__c": {"Latitude": 1}}
    assert flat({"Name": None, "Address": {"City": None}}) == {"Name": None, "City": None}


def test_a_merged_event_gives_one_change_per_record():
    """A26, P41: every record id of an event counts, once each, all under the event's identity."""
    ids = [lead_id(number) for number in (3, 1, 2)]
    reading = read_event(CHANNEL, event(created(1, recordIds=[*ids, ids[0]])))
    assert [(change.record_id, change.identity) for change in reading.changes] == [(one, "tx-1.1") for one in ids]


def test_an_event_is_known_by_what_it_is_and_not_by_its_replay_id():
    """P40: after a move of the org it comes under another id, and another event may come under this one."""
    first, moved, other = (
        read_event(CHANNEL, event(created(number), replayId=replay_id)).changes[0].identity
        for number, replay_id in ((1, 7), (1, 3), (2, 7))
    )
    assert (first == moved, first == other) == (True, False)


@pytest.mark.parametrize(
    ("channel", "told"),
    [(CHANNEL, event(created(1, recordIds=[lead_id(1)[:15]]))), (REQUESTS, requested(Lead_Id__c=lead_id(1)[:15]))],
)
def test_fifteen_characters_become_eighteen(channel, told):
    """E5: the id is the same record either way, also in an event that a flow of the org fills."""
    assert [change.record_id for change in read_event(channel, told).changes] == [lead_id(1)]


@pytest.mark.parametrize("kind", ["GAP_CREATE", "GAP_UPDATE", "GAP_DELETE", "GAP_UNDELETE"])
def test_gap_events_name_their_records_and_no_fields(kind):
    """A gap event says that something happened to a record, and not what."""
    reading = read_event(CHANNEL, event({"ChangeEventHeader": header(1, changeType=kind, changedFields=None)}))
    (change,) = reading.changes
    assert (change.record_id, change.change_type, change.fields) == (lead_id(1), kind, {})
    assert reading.gap is None


def test_an_overflow_is_a_gap_without_a_change():
    """A25: no job for the zero id."""
    body = {"ChangeEventHeader": header(1, changeType="GAP_OVERFLOW", recordIds=["000000000000000AAA"])}
    reading = read_event(CHANNEL, event(body))
    assert (reading.changes, reading.unreadable, reading.replay_id) == ((), None, 7)
    assert "GAP_OVERFLOW" in reading.gap
    bare = {"entityName": "Lead", "changeType": "GAP_OVERFLOW"}
    assert read_event(CHANNEL, event({"ChangeEventHeader": bare})).gap == reading.gap


@pytest.mark.parametrize("vague", ["00Q*", "000000000000000AAA"])
def test_a_wildcard_is_a_gap_beside_the_named_records(vague):
    """Ids that name no single record ask for a sweep; the others are changes as ever."""
    reading = read_event(CHANNEL, event(created(1, changeType="GAP_UPDATE", recordIds=[vague, lead_id(2)])))
    assert [change.record_id for change in reading.changes] == [lead_id(2)]
    assert reading.gap
    assert reading.unreadable is None


def test_another_entity_moves_the_position_alone():
    """On a channel of many entities only leads are changes."""
    reading = read_event("/data/ChangeEvents", event(created(1, entityName="Contact", recordIds=["003*"])))
    assert (reading.changes, reading.gap, reading.unreadable, reading.replay_id) == ((), None, None, 7)


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        (["OwnerId", "Name.LastName", "Address.City", 5], {"OwnerId", "LastName", "City"}),
        (None, {"FirstName", "LastName", "Company", "Street", "City", "Country", "OwnerId"}),
        ([], {"FirstName", "LastName", "Company", "Street", "City", "Country", "OwnerId"}),
        ("OwnerId", {"FirstName", "LastName", "Company", "Street", "City", "Country", "OwnerId"}),
    ],
)
def test_changed_fields_come_from_the_header_or_the_body(listed, names):
    """CometD may leave changedFields out; an update's body holds what changed and no more (A14)."""
    reading = read_event(CHANNEL, event(created(1, changeType="UPDATE", changedFields=listed)))
    assert reading.changes[0].changed_fields == names


def test_a_request_names_its_lead_and_is_known_by_its_uuid():
    """The platform event of the org's own trigger."""
    reading = read_event(REQUESTS, requested())
    assert reading.changes == (
        Change(
            record_id=lead_id(1),
            change_type="REQUESTED",
            identity="2ec0e371-1395-457f-9275-be1b527a72f7",
            origin="",
            commit_user=USER,
            committed_at=datetime(2026, 11, 29, 18, 31, 40, 517000, tzinfo=UTC),
            changed_fields=frozenset(),
            fields={},
        ),
    )


@pytest.mark.parametrize(
    "broken",
    [
        None,
        5,
        "text",
        {},
        {"channel": CHANNEL},
        {"channel": CHANNEL, "data": None},
        event(None),
        event({}),
        event({"ChangeEventHeader": None}),
        event(created(1, entityName=None)),
        event(created(1, recordIds=None)),
        event(created(1, recordIds="00Q")),
        event(created(1, recordIds=[])),
        event(created(1, recordIds=["short"])),
        event(created(1, recordIds=[5, None])),
        event(created(1, changeType="SNAPSHOT")),
        event(created(1, changeType=5)),
        event(created(1, transactionKey="")),
        event(created(1, transactionKey="a key with blanks")),
        event(created(1, transactionKey="x" * 65)),
        event(created(1, sequenceNumber="1")),
        event(created(1, sequenceNumber=True)),
        event(created(1, commitTimestamp=None)),
        event(created(1, commitTimestamp=10**18)),
        event(created(1, commitTimestamp=10**400)),
        requested(Lead_Id__c="not an id"),
        requested(CreatedDate="yesterday"),
        requested(CreatedDate=None),
        {"data": {"payload": {"Lead_Id__c": lead_id(1), "CreatedDate": "2026-11-29T18:31:40Z"}, "event": {}}},
    ],
)
def test_what_cannot_be_read_is_kept_with_its_bytes(broken):
    """A11: nothing is lost silently, and the reason repeats no value of the event."""
    reading = read_event(CHANNEL, broken)
    assert reading.changes == ()
    assert reading.unreadable.channel == CHANNEL
    assert json.loads(reading.unreadable.body) == broken
    assert reading.unreadable.reason
    for value in ("Doe", "short", "blanks", "not an id", "yesterday"):
        assert value not in reading.unreadable.reason


def test_one_bad_id_costs_no_other():
    """The readable records are changes; the event is kept as well."""
    reading = read_event(CHANNEL, event(created(1, recordIds=[lead_id(1), "?", lead_id(2)])))
    assert [change.record_id for change in reading.changes] == [lead_id(1), lead_id(2)]
    assert reading.unreadable is not None


@pytest.mark.parametrize("replay_id", [None, "7", 7.5, True, -3])
def test_without_a_usable_replay_id_the_change_counts_and_the_event_is_kept(replay_id):
    """A11: the lead is not lost, the position does not move by it, and somebody is told."""
    reading = read_event(CHANNEL, event(created(1), replayId=replay_id))
    assert [change.record_id for change in reading.changes] == [lead_id(1)]
    assert reading.replay_id is None
    assert "replayId" in reading.unreadable.reason


def update(*changed, origin="", user=USER, kind="UPDATE"):
    body = created(1, changeType=kind, changedFields=list(changed), changeOrigin=origin, commitUser=user)
    return read_event(CHANNEL, event(body)).changes[0]


def test_our_own_writes_are_known_by_their_origin():
    """The client name that the commit sends comes back in the origin; a name that merely contains it is another's."""
    assert own_change(update("Phone", origin=ROUTER, user="x"), user_id=USER)
    assert own_change(update("Phone", origin="com/salesforce/api/rest/68.0;client=emea"), user_id=USER, client="emea")
    assert not own_change(update("Phone", origin=ROUTER + "-2"), user_id=USER)
    assert not own_change(update("Phone", origin="client=lead-router"), user_id=USER)


@pytest.mark.parametrize(
    ("changed", "own"),
    [
        (("OwnerId", "Routing_Idem_Key__c", "Routing_Round__c", "Routed_At__c", "LastModifiedDate"), True),
        (("Routing_Status__c", "Routing_Error__c", "LastModifiedDate"), True),
        (("OwnerId", "LastModifiedDate"), False),
        (("OwnerId", "Routing_Status__c", "LastModifiedDate"), False),
        (("OwnerId", "Routing_Idem_Key__c", "Phone"), False),
        (("LastModifiedDate",), False),
    ],
)
def test_our_user_and_routing_fields_alone_are_ours_too(changed, own):
    """Where the origin was lost: nothing but routing fields, the owner only with the stamp, and our user."""
    assert own_change(update(*changed), user_id=USER) is own
    assert own_change(update(*changed, user=USER[:15]), user_id=USER) is own
    assert not own_change(update(*changed, user=to18("0055f000005mc67")), user_id=USER)
    assert not own_change(update(*changed, user=""), user_id="")


def test_a_creation_is_never_ours():
    """The router creates no leads, whatever the origin says; deletions are news too."""
    change = update("Routing_Idem_Key__c", origin=ROUTER)
    assert own_change(change, user_id=USER)
    for kind in ("CREATE", "DELETE", "UNDELETE", "REQUESTED"):
        assert not own_change(replace(change, change_type=kind), user_id=USER)
