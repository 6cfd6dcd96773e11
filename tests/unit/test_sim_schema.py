from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from org_simulator.ids import is_id, make_id, to18
from org_simulator.schema import MetadataFault, Schema, default_metadata, load

XMLNS = 'xmlns="http://soap.sforce.com/2006/04/metadata"'


@pytest.fixture(scope="module")
def shipped() -> Schema:
    return load(default_metadata())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped metadata, to be broken."""
    package = tmp_path / "force-app/main/default"
    shutil.copytree(default_metadata() / "force-app/main/default", package)
    return package


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("00Q5f000005bwLF", "00Q5f000005bwLFEAY"),
        ("0055f000005mc66", "0055f000005mc66AAA"),
        ("001RM000003oCpr", "001RM000003oCprYAE"),
    ],
)
def test_checksum_of_ids(short: str, long: str) -> None:
    """15 to 18 characters, as in Salesforce's own samples."""
    assert to18(short) == long == to18(long)
    assert is_id(short)
    assert is_id(long)
    assert not is_id(long[:-1] + "9")
    assert not is_id(short[:-1])
    assert not is_id("00Q5f000005bwL-")


def test_later_ids_sort_behind_earlier_ones() -> None:
    made = [make_id("00Q", number) for number in range(1, 5_000, 7)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_unique_keys_of_the_ledger(shipped: Schema) -> None:
    """The five unique keys that keep the promise tell case apart and are external ids."""
    ledger = shipped.objects["lead_assignment__c"]
    keys = [(field.name, field.case_sensitive, field.external_id) for field in ledger.fields.values() if field.unique]
    names = {"Idempotency_Key__c", "Turn_Key__c", "Lead_Key__c", "Submission_Even__c", "Submission_Odd__c"}
    assert sorted(keys) == sorted((name, True, True) for name in names)
    assert ledger.fields["lead_key__c"].required
    assert not ledger.fields["turn_key__c"].required


def test_custom_fields_join_the_standard_object(shipped: Schema) -> None:
    lead = shipped.objects["lead"]
    assert lead.prefix == "00Q"
    assert not lead.custom
    assert lead.owned
    assert lead.fields["email"].type == "email"
    assert lead.fields["ownerid"].reference_to == ("Group", "User")
    stamp = lead.fields["routing_idem_key__c"]
    assert (stamp.type, stamp.length, stamp.external_id) == ("string", 120, True)
    assert [rule.name for rule in lead.validation_rules] == ["Routing_Owner_Moved"]


def test_numbers_picklists_and_references(shipped: Schema) -> None:
    group, member = shipped.objects["round_robin_group__c"], shipped.objects["round_robin_member__c"]
    turn = group.fields["turn__c"]
    assert (turn.type, turn.precision, turn.scale, turn.default) == ("double", 18, 0, 0.0)
    mode = group.fields["mode__c"]
    assert (mode.picklist, mode.restricted, mode.default) == (("Off", "Observe", "Live"), True, "Off")
    master = member.fields["group__c"]
    assert (master.master, master.required, master.reference_to, master.relationship) == (
        True,
        True,
        ("Round_Robin_Group__c",),
        "Group__r",
    )
    assert group.owned
    assert not member.owned
    assert "ownerid" not in member.fields
    assert member.fields["name"].auto_number == "RRM-{000000}"
    assert member.fields["active__c"].default is True


def test_prefixes_are_this_orgs_own(shipped: Schema) -> None:
    prefixes = [sobject.prefix for sobject in shipped.objects.values()]
    assert len(set(prefixes)) == len(prefixes)
    assert all(len(prefix) == 3 for prefix in prefixes)


def test_all_but_objects(shipped: Schema) -> None:
    """Platform event, CDC selection, queue, permissions are read too."""
    assert [event.name for event in shipped.platform_events.values()] == ["Lead_Routing_Requested__e"]
    assert shipped.cdc_entities == {"Lead", "Routing_Rule__c", "Member_Absence__c"}
    assert shipped.queues["Lead_Intake"].sobjects == ("Lead",)
    integration = shipped.permission_sets["Lead_Router_Integration"]
    assert integration.custom_permissions == {"Lead_Router"}
    assert integration.objects["lead"].modify_all
    assert integration.fields["lead.routing_idem_key__c"]
    assert integration.fields["lead.email"] is False


@pytest.mark.parametrize(
    ("path", "before", "after", "complaint"),
    [
        ("objects/Lead/fields/Routed_At__c.field-meta.xml", "DateTime", "Hologram", "fields of type Hologram"),
        ("objects/Lead/fields/Routed_At__c.field-meta.xml", "</CustomField>", "", "no element found"),
        (
            "objects/Lead/validationRules/Routing_Owner_Moved.validationRule-meta.xml",
            "Routing_Expected_Owner__c",
            "Expected__c",
            "Field Expected__c does not exist",
        ),
        (
            "objects/Lead_Assignment__c/fields/Lead__c.field-meta.xml",
            "<referenceTo>Lead<",
            "<referenceTo>Lede__c<",
            "there is no object Lede__c",
        ),
        (
            "objects/Round_Robin_Group__c/fields/Turn__c.field-meta.xml",
            "<precision>18<",
            "<precision>many<",
            "precision is no number",
        ),
    ],
)
def test_a_fault_in_the_metadata_names_its_file(
    folder: Path, path: str, before: str, after: str, complaint: str
) -> None:
    file = folder / path
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    with pytest.raises(MetadataFault) as fault:
        load(folder)
    assert complaint in str(fault.value)
    assert file.name in str(fault.value)


def test_an_absent_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetadataFault, match="objects"):
        load(tmp_path)
