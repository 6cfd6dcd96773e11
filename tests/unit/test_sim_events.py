"""The simulated org's event bus: what becomes an event, under which replay id, and for how long it can be replayed."""

import threading
from datetime import timedelta
from itertools import pairwise

import pytest

from org_simulator import event_groups
from org_simulator.changes import CREATE, DELETE, UNDELETE, UPDATE
from org_simulator.event_bodies import OVERFLOW_ID, event_name
from org_simulator.events import ALL_CHANGES, ALL_RETAINED, NEW_ONLY, ChangeLog, UnknownReplayId, schema_id
from org_simulator.switches import Switches
from support.stream_org import ADMIN, INTEGRATION, LEAD, REQUESTED, START, StreamOrg

L1, L2, L3 = (f"00Q00000000000{n}AAA" for n in range(1, 4))


@pytest.fixture
def org():
    return StreamOrg()


def payloads(org):
    return [event.payload for event in org.log.since(0)]


def heads(org):
    return [payload["ChangeEventHeader"] for payload in payloads(org)]


class TestBodies:
    def test_creation_carries_every_filled_field_nested_and_in_event_time(self, org):
        """A new lead's event nests Name and Address, writes times with Z, and leaves out blanks and derived values."""
        row = {
            "Id": L1,
            "Name": "Ada Doe",
            "FirstName": "Ada",
            "LastName": "Doe",
            "City": "Lyon",
            "Country": "FR",
            "Company": "Acme",
            "Phone": None,
            "DoNotCall": False,
            "OwnerId": ADMIN,
            "CreatedDate": "2026-11-29T20:26:27.000+0000",
            "SystemModstamp": "2026-11-29T20:26:27.000+0000",
            "IsDeleted": False,
        }
        key = org.commit(org.change(L1, after=row), origin="com/salesforce/api/rest/68.0;client=WebForm")
        assert payloads(org) == [
            {
                "ChangeEventHeader": {
                    "entityName": "Lead",
                    "recordIds": [L1],
                    "changeType": "CREATE",
                    "changeOrigin": "com/salesforce/api/rest/68.0;client=WebForm",
                    "transactionKey": key,
                    "sequenceNumber": 1,
                    "commitTimestamp": int(START.timestamp() * 1000),
                    "commitNumber": 1001,
                    "commitUser": ADMIN,
                    "changedFields": [],
                },
                "Name": {"FirstName": "Ada", "LastName": "Doe"},
                "Address": {"City": "Lyon", "Country": "FR"},
                "Company": "Acme",
                "DoNotCall": False,
                "OwnerId": ADMIN,
                "CreatedDate": "2026-11-29T20:26:27.000Z",
            }
        ]

    def test_update_carries_changed_fields_alone_with_explicit_nulls(self, org):
        """An update shows what changed and LastModifiedDate; a cleared field is null, an unchanged one absent."""
        before = {"FirstName": "Ada", "LastName": "Doe", "Phone": "1", "Company": "Acme", "LastModifiedDate": "a"}
        after = {**before, "LastName": "Roe", "Phone": None}
        org.commit(org.change(L1, UPDATE, before=before, after=after))
        (payload,) = payloads(org)
        head = payload.pop("ChangeEventHeader")
        assert payload == {"Name": {"LastName": "Roe"}, "Phone": None, "LastModifiedDate": "a"}
        assert head["changedFields"] == ["Name.LastName", "Phone", "LastModifiedDate"]

    def test_deletion_is_a_header_and_undeletion_everything(self, org):
        """DELETE carries no field; UNDELETE carries all filled ones."""
        row = {"LastName": "Doe", "Phone": None}
        org.commit(org.change(L1, DELETE, before=row, after=None), org.change(L2, UNDELETE, after=row))
        assert [set(payload) - {"ChangeEventHeader"} for payload in payloads(org)] == [set(), {"Name"}]

    def test_changed_fields_can_be_absent(self):
        """Under the pessimistic switches the header has no changedFields."""
        org = StreamOrg(switches=Switches.pessimistic())
        org.commit(org.change(L1, UPDATE, before={"Phone": "1"}, after={"Phone": "2"}))
        org.log.gap("Lead", [L1])
        assert all("changedFields" not in head for head in heads(org))

    def test_only_selected_entities_become_events(self, org):
        """Change Data Capture speaks of the objects selected in the metadata; a transaction without them is silent."""
        org.commit(org.change("003000000000001AAA", sobject="Contact", LastName="Doe"))
        org.commit(org.change("a00000000000001AAA", sobject="Widget__c", Name="W"))
        assert [event.channel for event in org.log.since(0)] == ["/data/Widget__ChangeEvent"]

    def test_channels_are_those_of_the_metadata(self, org):
        """A channel exists for each selected entity, for all together and for each platform event."""
        expected = {ALL_CHANGES, LEAD, "/data/Widget__ChangeEvent", f"/event/{REQUESTED}"}
        assert org.log.channels() == expected
        assert (event_name("Lead"), len(schema_id(LEAD))) == ("LeadChangeEvent", 22)


class TestMerging:
    def test_equal_changes_of_one_transaction_merge(self, org):
        """A26, P41: equal updates of three leads in one transaction are one event with three record ids."""
        rows = {"before": {"OwnerId": "q"}, "after": {"OwnerId": "u"}}
        org.commit(*(org.change(lead, UPDATE, **rows) for lead in (L1, L2, L3)))
        assert [head["recordIds"] for head in heads(org)] == [[L1, L2, L3]]

    def test_unequal_values_kinds_and_transactions_stay_apart(self, org):
        """Different values, another kind of change, another transaction: events of their own."""
        org.commit(org.change(L1, Phone="1"), org.change(L2, Phone="2"), org.change(L3, UNDELETE, Phone="1"))
        org.commit(org.change("00Q000000000009AAA", Phone="1"))
        assert [len(head["recordIds"]) for head in heads(org)] == [1, 1, 1, 1]

    def test_changes_a_second_apart_stay_apart(self, org):
        """Merging reaches one second far, no further."""
        early = org.change(L1, Phone="1")
        org.clock.advance(1.0)
        org.commit(early, org.change(L2, Phone="1"))
        assert [head["recordIds"] for head in heads(org)] == [[L1], [L2]]

    def test_stamps_do_not_keep_equal_changes_apart(self, org):
        """Milliseconds between two saves of one transaction do not stop the merge."""
        rows = [{"before": {"OwnerId": "q"}, "after": {"OwnerId": "u", "LastModifiedDate": at}} for at in ("1", "2")]
        org.commit(*(org.change(lead, UPDATE, **each) for lead, each in zip((L1, L2), rows, strict=True)))
        assert [head["recordIds"] for head in heads(org)] == [[L1, L2]]

    def test_a_record_changed_twice_keeps_its_order(self, org):
        """The second change of a record never merges into an event before its first."""
        one = {"before": {"Phone": "0"}, "after": {"Phone": "1"}}
        two = {"before": {"Phone": "1"}, "after": {"Phone": "2"}}
        org.commit(
            org.change(L1, UPDATE, **one),
            org.change(L1, UPDATE, **two),
            org.change(L2, UPDATE, **one),
        )
        assert [(head["recordIds"], head["sequenceNumber"]) for head in heads(org)] == [([L1], 1), ([L1], 2), ([L2], 3)]

    def test_merging_can_be_switched_off(self):
        """With the switch off every record has its own event."""
        org = StreamOrg(switches=Switches(merged_events=False))
        org.commit(org.change(L1, Phone="1"), org.change(L2, Phone="1"))
        assert [head["recordIds"] for head in heads(org)] == [[L1], [L2]]

    def test_an_enriched_channel_repeats_the_replay_id(self):
        """A merged event of an enriched channel comes apart into siblings of one replay id; replay skips all."""
        org = StreamOrg()
        log = ChangeLog(org, split_merged=True)
        org.commit(org.change(L1, Phone="1"), org.change(L2, Phone="1"))
        first, second = log.since(0)
        assert first.replay_id == second.replay_id
        assert [event.payload["ChangeEventHeader"]["recordIds"] for event in (first, second)] == [[L1], [L2]]
        assert log.since(log.position(first.replay_id)) == []


class TestReplay:
    def test_replay_ids_rise_with_holes(self, org):
        """P40: ids rise, and consecutive events are not always consecutive numbers."""
        org.create_leads(50)
        ids = [event.replay_id for event in org.log.since(0)]
        steps = {later - earlier for earlier, later in pairwise(ids)}
        assert min(steps) == 1
        assert max(steps) > 1

    def test_positions(self, org):
        """-2 is everything retained, -1 nothing yet, N what came after N."""
        org.create_leads(3)
        events = org.log.since(0)
        assert org.log.since(org.log.position(ALL_RETAINED)) == events
        assert org.log.since(org.log.position(NEW_ONLY)) == []
        assert org.log.since(org.log.position(events[0].replay_id)) == events[1:]
        assert org.log.since(0, limit=2) == events[:2]

    def test_ids_never_given_out_are_refused(self, org):
        """A number in a hole, beyond the end, or below -2 is no replay id."""
        org.create_leads(20)
        ids = {event.replay_id for event in org.log.since(0)}
        hole = next(number for number in range(min(ids), max(ids)) if number not in ids)
        for wrong in (hole, max(ids) + 1, -3, 0):
            with pytest.raises(UnknownReplayId):
                org.log.position(wrong)

    def test_retention_is_72_hours(self, org):
        """A2, P38: an event is replayable up to 72 hours; its id is refused afterwards, newer ids stay good."""
        org.create_leads(1)
        org.clock.advance(timedelta(hours=72).total_seconds())
        org.create_leads(1)
        first, second = org.log.since(0)
        org.clock.advance(1)
        assert org.log.since(org.log.position(ALL_RETAINED)) == [second]
        assert org.log.position(second.replay_id) == second.serial
        with pytest.raises(UnknownReplayId):
            org.log.position(first.replay_id)

    def test_expiry_on_demand(self, org):
        """Every id can be made to expire at once; later events are replayable again."""
        org.create_leads(2)
        old = org.log.since(0)[-1].replay_id
        org.log.expire()
        org.create_leads(1)
        with pytest.raises(UnknownReplayId):
            org.log.position(old)
        assert len(org.log.since(org.log.position(ALL_RETAINED))) == 1

    def test_migration_renumbers_and_ends_sessions(self, org):
        """P40: after a move to another instance the same events have other, lower, rising ids."""
        org.create_leads(5)
        before, epoch = [event.replay_id for event in org.log.since(0)], org.log.session_epoch
        org.log.renumber()
        after = [event.replay_id for event in org.log.since(0)]
        assert after == sorted(set(after))
        assert max(after) < min(before)
        assert org.log.session_epoch == epoch + 1

    def test_a_silent_stream_delivers_later(self, org):
        """Held events are logged in order and appear at once when released."""
        org.log.hold()
        org.create_leads(2)
        assert org.log.since(0) == []
        org.log.release()
        assert len(org.log.since(0)) == 2

    def test_commits_of_many_threads_are_numbered_once_each(self, org):
        """Concurrent publishers never share a serial or a replay id, and every commit wakes the transports."""
        rung = []
        org.log.wakers.append(lambda: rung.append(1))
        threads = [threading.Thread(target=org.log.publish, args=(REQUESTED, {"n": n})) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        events = org.log.since(0)
        assert [event.serial for event in events] == list(range(1, 21))
        assert len({event.replay_id for event in events}) == len(rung) == 20


class TestPlatformEvents:
    def test_publish(self, org):
        """A published event carries its stamps, its fields and its EventUuid."""
        identity = org.log.publish(REQUESTED, {"Lead_Id__c": L1})
        (event,) = org.log.since(0)
        stamps = {"CreatedDate": "2026-11-29T20:26:27.000Z", "CreatedById": INTEGRATION}
        assert (event.channel, event.event_uuid) == (f"/event/{REQUESTED}", identity)
        assert event.payload == {**stamps, "Lead_Id__c": L1}

    def test_unknown_event(self, org):
        """An event that the metadata does not define cannot be published."""
        with pytest.raises(KeyError):
            org.log.publish("Nothing__e", {})


class TestGapsAndOverflows:
    def test_gap(self, org):
        """T5: a gap event names records and carries no field."""
        org.log.gap("Lead", [L1, L2], "UPDATE")
        (payload,) = payloads(org)
        assert set(payload) == {"ChangeEventHeader"}
        head = payload["ChangeEventHeader"]
        assert (head["changeType"], head["recordIds"], head["changedFields"]) == ("GAP_UPDATE", [L1, L2], [])

    def test_overflow(self, org):
        """A25, P43: an overflow event bears the zero id."""
        org.log.overflow("Lead")
        (head,) = heads(org)
        assert (head["changeType"], head["recordIds"]) == ("GAP_OVERFLOW", [OVERFLOW_ID])

    def test_a_change_can_come_as_a_gap_or_never(self, org):
        """P44: armed faults turn the next change into a gap event and swallow the one after."""
        org.log.faults.arm("gap_event")
        org.commit(org.change(L1, Phone="1"))
        org.log.faults.arm("lose_event")
        org.commit(org.change(L2, Phone="1"))
        org.commit(org.change(L3, Phone="1"))
        assert [(h["changeType"], h["recordIds"]) for h in heads(org)] == [("GAP_CREATE", [L1]), ("CREATE", [L3])]

    def test_too_large_an_event_becomes_a_gap(self, org):
        """More than a megabyte of values does not fit an event."""
        org.commit(org.change(L1, UPDATE, before={"Description": ""}, after={"Description": "x" * 1_000_001}))
        assert [head["changeType"] for head in heads(org)] == ["GAP_UPDATE"]

    def test_too_large_a_transaction_overflows_once_per_entity(self, org, monkeypatch):
        """A25: changes beyond the limit come as one overflow event; an update counts its changed fields."""
        monkeypatch.setattr(event_groups, "CHANGES_MAX", 5)
        update = org.change(L3, UPDATE, before={"Phone": "1", "Fax": "1"}, after={"Phone": "2", "Fax": "2"})
        org.commit(org.change(L1, Phone="1"), org.change(L2, Phone="2"), update, org.change("00Q9", Phone="3"))
        assert [head["changeType"] for head in heads(org)] == ["CREATE", "CREATE", "UPDATE", "GAP_OVERFLOW"]

    def test_an_overflow_can_be_forced(self, org):
        """The armed fault makes the next transaction overflow whole, whatever its size."""
        org.log.faults.arm("overflow")
        org.commit(org.change(L1, Phone="1"), org.change(L2, UPDATE, before={}, after={"Phone": "1"}))
        org.commit(org.change(L3, Phone="1"))
        assert [head["changeType"] for head in heads(org)] == ["GAP_OVERFLOW", CREATE]


class TestFaults:
    def test_unknown_names_are_refused(self, org):
        """A misspelt fault is an error that lists the right names."""
        with pytest.raises(ValueError, match="lose_answer"):
            org.log.faults.arm("loose_answer")

    def test_count_text_and_clearing(self, org):
        """A fault happens as often as it was armed, bears its text, and can be called off."""
        org.log.faults.arm("http", count=2, text="503")
        assert [org.log.faults.take("http") for _ in range(3)] == ["503", "503", None]
        org.log.faults.arm("busy")
        assert org.log.state()["faults"] == {"busy": 1}
        org.log.faults.clear()
        assert org.log.faults.take("busy") is None

    def test_probability_follows_the_seed(self):
        """The same seed lets the same occasions fail."""

        def story():
            org = StreamOrg()
            org.log.faults.arm("cut", count=50, probability=0.3)
            return [org.log.faults.take("cut") is not None for _ in range(60)]

        told = story()
        assert told == story()
        assert 0 < sum(told) < 50
