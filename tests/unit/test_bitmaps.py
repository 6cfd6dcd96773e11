"""Which fields a bitmap names; the first two vectors and the mixed shape are those of Salesforce's guide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lead_router.salesforce.bitmaps import Named, fields_of

LEAD = [
    "ChangeEventHeader",
    "Name",
    "Title",
    "Company",
    "Address",
    "Phone",
    "MobilePhone",
    "Fax",
    "Email",
    "Website",
    "Description",
    "LeadSource",
    "Status",
    "Industry",
    "Rating",
    "AnnualRevenue",
    "NumberOfEmployees",
    "OwnerId",
    "HasOptedOutOfEmail",
    "IsConverted",
    "ConvertedDate",
    "ConvertedAccountId",
    "ConvertedContactId",
    "ConvertedOpportunityId",
    "IsUnreadByOwner",
    "CreatedDate",
    "CreatedById",
    "LastModifiedDate",
    "LastModifiedById",
    "DoNotCall",
    "HasOptedOutOfFax",
    "LastTransferDate",
]
PARTS = {
    "Name": ("Salutation", "FirstName", "LastName"),
    "Address": ("Street", "City", "State", "PostalCode", "Country"),
}
FIELDS = [Named(name, PARTS.get(name, ())) for name in LEAD]
CONVERTED = [
    "Status",
    "IsConverted",
    "ConvertedDate",
    "ConvertedAccountId",
    "ConvertedContactId",
    "ConvertedOpportunityId",
    "LastModifiedDate",
]


def numbered(count):
    return [Named(f"F{number}") for number in range(count)]


def test_a_converted_lead_names_what_the_guide_says():
    """A13: `0x08F81000` over the order of Lead's fields."""
    assert fields_of(FIELDS, ["0x08F81000"]) == CONVERTED


def test_a_merged_account_names_what_the_guide_says():
    """A13: `0x400800` is the fields 11 and 22, of an account Industry and LastModifiedDate."""
    assert fields_of(numbered(30), ["0x400800"]) == ["F11", "F22"]


def test_the_mixed_shape_of_the_guide():
    """A13: fields of the object first, then of its compounds, each list from its least significant bit."""
    fields = [Named(f"F{number}", {4: PARTS["Address"], 7: ("A", "B", "C")}.get(number, ())) for number in range(32)]
    top = ["F5", "F6", "F7", "F10", "F24", "F26", "F29", "F30"]
    assert fields_of(fields, ["0x650004E0", "4-0x10", "7-0x06"]) == [*top, "F4.Country", "F7.B", "F7.C"]


def test_owner_and_times():
    """The fields that change with an owner."""
    assert fields_of(FIELDS, ["0x89020000"]) == ["OwnerId", "IsUnreadByOwner", "LastModifiedDate", "LastTransferDate"]


@pytest.mark.parametrize("listed", [["1-0x2"], ["1-0x02"], ["1-0x0000000002"], ["0x0", "1-0X2"]])
def test_a_list_may_hold_nothing_but_a_compound_and_any_number_of_zeros(listed):
    """A13: no fixed width, either letter case, and the part alone is named where the object's own bits are none."""
    assert fields_of(FIELDS, listed) == ["Name.FirstName"]


@pytest.mark.parametrize("listed", [["0x" + "F" * 8 + "00000000"], ["40-0x1"], ["2-0x1"], ["1-0x8"], ["0x00"], []])
def test_bits_beyond_the_schema_name_nothing(listed):
    """A13: they never shift to another field."""
    assert fields_of(FIELDS, listed) == []


def test_plain_names_stand_for_themselves():
    """As CometD lists them."""
    assert fields_of(FIELDS, ["Status", "Name.FirstName", "A-B"]) == ["Status", "Name.FirstName", "A-B"]


@pytest.mark.parametrize("item", ["0x", "0xZZ", "1-0x", "x-0x1", "-5-0x1", " 1-0x1", "0x1" + "0" * 2000])
def test_what_is_no_bitmap_is_refused(item):
    """A13: a place before the first field is none either."""
    with pytest.raises(ValueError, match=r"bitmap|int\(\)"):
        fields_of(FIELDS, [item])


@given(some.sets(some.integers(0, len(FIELDS) - 1)), some.integers(0, 40))
def test_any_set_of_fields_is_read_as_it_was_written(places, zeros):
    """A13: for every set of fields and any padding."""
    bits = sum(1 << place for place in places)
    assert fields_of(FIELDS, [f"0x{'0' * zeros}{bits:X}"]) == [LEAD[place] for place in sorted(places)]
