"""SOQL's semantics, one row per rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from lead_router.core.soql import compile_where

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)  # a Wednesday
LEAD = {
    "Id": "00Q5f000005bwLFEAY",
    "OwnerId": "00G5f000005bwLF",
    "Owner": {"Type": "Queue", "Name": "Intake"},
    "LeadSource": "Web",
    "Company": "50% off_now \\ co",
    "City": "Jose\u0301ville",
    "AnnualRevenue": 1_000_000.0,
    "NumberOfEmployees": 0,
    "HasOptedOutOfEmail": False,
    "IsUnreadByOwner": True,
    "Email": None,
    "Phone": "",
    "Interests__c": "Solar;Heat Pump",
    "Born__c": "2026-03-01",
    "CreatedDate": "2026-03-04T09:30:00.000+0000",
}
TYPES = {
    "Id": "id",
    "OwnerId": "reference",
    "Owner.Type": "string",
    "Owner.Name": "string",
    "LeadSource": "picklist",
    "Company": "string",
    "City": "string",
    "AnnualRevenue": "currency",
    "NumberOfEmployees": "int",
    "HasOptedOutOfEmail": "boolean",
    "IsUnreadByOwner": "boolean",
    "Email": "email",
    "Phone": "phone",
    "Interests__c": "multipicklist",
    "Born__c": "date",
    "CreatedDate": "datetime",
}

TRUE = [
    "",
    "   ",
    "LeadSource = 'web'",
    "leadsource = 'WEB'",
    "LeadSource <> 'Phone'",
    "LeadSource != null",
    "Email = null",
    "Email = ''",
    "Phone = null",
    "Email != 'a@example.com'",
    "Email NOT IN ('a@example.com')",
    "Email IN ('a@example.com', null)",
    "NOT Email LIKE '%@example.com'",
    "NOT (Email = 'a@example.com')",
    "LeadSource > 'wea' AND LeadSource < 'WEC'",
    "AnnualRevenue >= 1000000",
    "AnnualRevenue = 1000000.00",
    "NumberOfEmployees = 0",
    "NumberOfEmployees > -1",
    "NumberOfEmployees IN (0, 1)",
    "NumberOfEmployees != null",
    "HasOptedOutOfEmail = false",
    "HasOptedOutOfEmail = null",
    "HasOptedOutOfEmail != TRUE",
    "IsUnreadByOwner = True",
    "Company LIKE '50\\\\%%'",
    "Company LIKE '%off\\\\_now%'",
    "Company LIKE '%\\\\\\\\ co'",
    "Company LIKE '__\\\\% OFF%'",
    "Company LIKE '%%'",
    "Company LIKE '%o%now%'",
    "City = 'Jos\u00e9ville'",
    "City LIKE 'JOS\u00c9%'",
    "City LIKE 'jos_ville'",
    "Id = '00Q5f000005bwLF'",
    "Id IN ('00Q5f000005bwLF', '00Q5f000005bwLG')",
    "OwnerId = '00G5f000005bwLFEAY'",
    "Id >= '00Q5f000005bwLF'",
    "Owner.Type = 'queue'",
    "Interests__c INCLUDES ('solar')",
    "Interests__c INCLUDES ('Wind', 'Heat Pump;Solar')",
    "Interests__c EXCLUDES ('Wind', 'Solar;Wind')",
    "CreatedDate = TODAY",
    "CreatedDate = THIS_WEEK AND CreatedDate = THIS_MONTH",
    "CreatedDate > YESTERDAY",
    "CreatedDate >= TODAY AND CreatedDate <= TODAY",
    "CreatedDate < TOMORROW",
    "CreatedDate = LAST_N_DAYS:1",
    "CreatedDate != LAST_N_WEEKS:2",
    "CreatedDate = 2026-03-04T10:30:00+01:00",
    "CreatedDate < 2026-03-04T09:30:01Z",
    "Born__c = 2026-03-01",
    "Born__c = LAST_N_DAYS:3",
    "Born__c = THIS_WEEK",
    "Born__c < TODAY",
    "Born__c IN (TODAY, 2026-03-01)",
    "(LeadSource = 'Web' OR Email = null) AND (NOT Phone != null)",
    "((((LeadSource = 'Web'))))",
]
FALSE = [
    "LeadSource = 'We'",
    "LeadSource = null",
    "LeadSource IN ('Phone', null)",
    "LeadSource NOT IN ('WEB')",
    "Email LIKE '%'",
    "Email > 'a'",
    "Email < 'z'",
    "NumberOfEmployees = null",
    "NumberOfEmployees IN (1, null)",
    "HasOptedOutOfEmail != null",
    "IsUnreadByOwner = null",
    "Company LIKE '50_ off'",
    "Company LIKE 'off'",
    "Company LIKE '%off'",
    "Company LIKE 'off%'",
    "Company LIKE '%offer%'",
    "Company LIKE '5%5%'",
    "LeadSource LIKE 'W_b_'",
    "Id = '00Q5f000005bwLf'",
    "Id NOT IN ('00Q5f000005bwLFEAY')",
    "OwnerId = '00g5f000005bwLF'",
    "Interests__c INCLUDES ('Solar;Wind')",
    "Interests__c EXCLUDES ('Solar')",
    "Interests__c = 'Solar'",
    "CreatedDate = YESTERDAY",
    "CreatedDate > TODAY",
    "CreatedDate = NEXT_N_DAYS:3",
    "CreatedDate = LAST_MONTH",
    "Born__c = LAST_N_DAYS:2",
    "Born__c > 2026-03-01",
]


@pytest.mark.parametrize("clause", TRUE)
@pytest.mark.parametrize("types", [TYPES, None], ids=["typed", "untyped"])
def test_a_record_that_salesforce_would_find_is_found(clause, types):
    clause = clause.replace("\\\\", "\\")
    assert compile_where(clause, types).matches(LEAD, NOW)


@pytest.mark.parametrize("clause", FALSE)
@pytest.mark.parametrize("types", [TYPES, None], ids=["typed", "untyped"])
def test_a_record_that_salesforce_would_not_find_is_not_found(clause, types):
    assert not compile_where(clause, types).matches(LEAD, NOW)


def test_ids_that_differ_only_in_case_are_two_and_both_lengths_are_one():
    """E5: 15 and 18 characters of one record are equal; two ids that differ in letter case are not."""
    criteria = compile_where("OwnerId IN ('0055f000005mc66', '0055f000005mc66AAA')", {"OwnerId": "reference"})
    assert criteria.matches({"OwnerId": "0055f000005mc66AAA"}, NOW)
    assert not criteria.matches({"OwnerId": "0055f000005Mc66"}, NOW)


def test_a_name_matches_in_either_unicode_form():
    """E8: composed and decomposed accents are one text."""
    criteria = compile_where("LastName = 'Jose\u0301' OR LastName IN ('Zoe\u0308', 'x')")
    assert criteria.matches({"LastName": "JOS\u00c9"}, NOW)
    assert criteria.matches({"LastName": "zo\u00eb"}, NOW)


def test_a_field_that_became_empty_is_empty_and_one_that_is_not_there_too():
    """E10, A14: null, an empty text and a missing field are one: no value."""
    criteria = compile_where("Country = null")
    assert [criteria.matches(lead, NOW) for lead in ({}, {"Country": None}, {"Country": ""}, {"Country": "DE"})] == [
        True,
        True,
        True,
        False,
    ]


def test_a_country_code_that_looks_like_a_word_of_the_language_is_text():
    """E16: 'NO' is Norway."""
    assert compile_where("Country IN ('SE', 'NO', 'OR')").matches({"Country": "NO"}, NOW)


def test_a_parent_that_does_not_exist_has_no_values():
    """A lead without a parent record matches `= null` on the parent's field, and no other value."""
    assert compile_where("Owner.Name = null").matches({"Owner": None}, NOW)
    assert not compile_where("Owner.Name = 'x'").matches({"Owner": None}, NOW)


def test_case_sensitive_fields_compare_exactly():
    """SOQL compares unique case-sensitive fields by letter case, all others without."""
    types = {"Key__c": "string"}
    exact = compile_where("Key__c IN ('aB') OR Key__c LIKE 'aB.%'", types, case_sensitive={"key__c"})
    assert [exact.matches({"Key__c": key}, NOW) for key in ("aB", "ab", "aB.1", "ab.1")] == [True, False, True, False]
    untyped = compile_where("Key__c = 'aB'", case_sensitive={"Key__c"})
    assert not untyped.matches({"Key__c": "ab"}, NOW)


def test_a_multi_select_picklist_equals_the_same_choices_in_any_order():
    """Equality of a multi-select picklist is equality of what is chosen."""
    assert compile_where("Interests__c = 'heat pump;solar'", TYPES).matches(LEAD, NOW)
    assert not compile_where("Interests__c = 'solar'", TYPES).matches(LEAD, NOW)


def test_a_fifteen_letter_word_is_no_id_without_types():
    """Fifteen letters may be a word: compared as text unless the field is named like an id."""
    assert compile_where("Industry = 'pharmaceuticals'").matches({"Industry": "Pharmaceuticals"}, NOW)


def test_values_of_another_shape_than_the_clause_expects_do_not_match():
    """A record that does not fit the clause is no match and no exception."""
    odd = {"A": ["x"], "Owner": 7}
    for clause in (
        "A = 'x'",
        "A > 1",
        "A = TODAY",
        "A = 2026-01-01",
        "A INCLUDES ('x')",
        "A LIKE 'x'",
        "Owner.X = 'y'",
    ):
        assert not compile_where(clause).matches(odd, NOW)
    for value in ("2026-99-99", "2026-01-01T99:00:00Z", True, 3):
        assert not compile_where("A = TODAY").matches({"A": value}, NOW)
        assert not compile_where("A = TODAY", {"A": "date"}).matches({"A": value}, NOW)
        assert not compile_where("A = TODAY", {"A": "datetime"}).matches({"A": value}, NOW)


RANGES = [
    ("TODAY", "2026-03-04", "2026-03-05"),
    ("YESTERDAY", "2026-03-03", "2026-03-04"),
    ("TOMORROW", "2026-03-05", "2026-03-06"),
    ("LAST_WEEK", "2026-02-22", "2026-03-01"),
    ("THIS_WEEK", "2026-03-01", "2026-03-08"),
    ("NEXT_WEEK", "2026-03-08", "2026-03-15"),
    ("LAST_MONTH", "2026-02-01", "2026-03-01"),
    ("THIS_MONTH", "2026-03-01", "2026-04-01"),
    ("NEXT_MONTH", "2026-04-01", "2026-05-01"),
    ("LAST_QUARTER", "2025-10-01", "2026-01-01"),
    ("THIS_QUARTER", "2026-01-01", "2026-04-01"),
    ("NEXT_QUARTER", "2026-04-01", "2026-07-01"),
    ("LAST_YEAR", "2025-01-01", "2026-01-01"),
    ("THIS_YEAR", "2026-01-01", "2027-01-01"),
    ("NEXT_YEAR", "2027-01-01", "2028-01-01"),
    ("LAST_90_DAYS", "2025-12-04", "2026-03-05"),
    ("NEXT_90_DAYS", "2026-03-05", "2026-06-03"),
    ("LAST_N_DAYS:1", "2026-03-03", "2026-03-05"),
    ("NEXT_N_DAYS:2", "2026-03-05", "2026-03-07"),
    ("N_DAYS_AGO:2", "2026-03-02", "2026-03-03"),
    ("LAST_N_WEEKS:2", "2026-02-15", "2026-03-01"),
    ("NEXT_N_WEEKS:1", "2026-03-08", "2026-03-15"),
    ("N_WEEKS_AGO:1", "2026-02-22", "2026-03-01"),
    ("LAST_N_MONTHS:3", "2025-12-01", "2026-03-01"),
    ("NEXT_N_MONTHS:2", "2026-04-01", "2026-06-01"),
    ("N_MONTHS_AGO:3", "2025-12-01", "2026-01-01"),
    ("LAST_N_QUARTERS:1", "2025-10-01", "2026-01-01"),
    ("NEXT_N_QUARTERS:1", "2026-04-01", "2026-07-01"),
    ("N_QUARTERS_AGO:2", "2025-07-01", "2025-10-01"),
    ("LAST_N_YEARS:2", "2024-01-01", "2026-01-01"),
    ("NEXT_N_YEARS:1", "2027-01-01", "2028-01-01"),
    ("N_YEARS_AGO:2", "2024-01-01", "2025-01-01"),
]


@pytest.mark.parametrize(("literal", "first", "end"), RANGES)
def test_a_date_literal_is_a_half_open_range_of_days(literal, first, end):
    """D20: the first instant of the range is in, the first instant after it is out; on dates and on datetimes."""
    start, stop = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (first, end))
    criteria = compile_where(f"At = {literal}")
    before = timedelta(microseconds=1)
    seen = [criteria.matches({"At": at}, NOW) for at in (start - before, start, stop - before, stop)]
    assert seen == [False, True, True, False]
    days = [criteria.matches({"At": day}, NOW) for day in (start.date() - timedelta(1), start.date(), stop.date())]
    assert days == [False, True, False]


def test_a_day_begins_at_midnight_of_the_given_zone():
    """P67: the zone that the caller names decides when a date literal's day begins."""
    east = timezone(timedelta(hours=10))
    criteria = compile_where("At = TODAY", zone=east)
    late = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)  # already the 5th in the east
    assert criteria.matches({"At": "2026-03-04T14:00:00Z"}, late)
    assert not criteria.matches({"At": "2026-03-04T13:59:59Z"}, late)
