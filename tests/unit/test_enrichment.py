"""Which request a lead makes, and what of an answer fits the lead's fields."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_router.core.enrichment import Asking, Mapped, Slot, asked_with, digest, fitted, picked, requested, to_fill

TYPES = {
    "Industry": "picklist",
    "NumberOfEmployees": "int",
    "AnnualRevenue": "currency",
    "Seen__c": "date",
    "At__c": "datetime",
    "Tags__c": "multipicklist",
    "Live__c": "boolean",
}


def asking(*url, body=None, fields=()):
    return Asking("GET", url or ("https://x.example/",), body, tuple(fields), 2.0, 5.0, 3, 4, 60.0)


@given(st.text(min_size=1, max_size=100))
def test_a_value_in_a_url_comes_out_as_it_went_in(value):
    """Whatever a form was filled with, it stays one parameter of one request to one host."""
    made = requested(asking("https://x.example/find?q=", Slot("Company"), "&key=1"), {"Company": value})
    plain = " ".join(value.split())
    if made is None:
        assert plain in {"", ".", ".."}
        return
    parts = urlsplit(made.url)
    assert (parts.netloc, parts.path, parts.fragment) == ("x.example", "/find", "")
    found = parse_qs(parts.query, keep_blank_values=True, errors="replace")
    assert found == {"q": [plain.encode("utf-8", "replace").decode()], "key": ["1"]}


@pytest.mark.parametrize("value", ["", "  ", None, ".", "..", {"a": 1}, "x" * 256, True])
def test_a_lead_without_what_it_is_asked_by_is_not_asked_about(value):
    """Nor with a value that would lead elsewhere, or is no name."""
    assert requested(asking("https://x.example/", Slot("Company")), {"Company": value}) is None
    assert requested(asking("https://x.example/", Slot("Company", optional=True)), {"Company": value}) is not None


@pytest.mark.parametrize(
    ("email", "domain"),
    [
        ("Ann@Acme.Example", "acme.example"),
        ("a@b@acme.example", "acme.example"),
        ("ann@gmail.com", None),
        ("ann", None),
    ],
)
def test_a_domain_is_asked_by_where_it_is_a_company_s(email, domain):
    """Nobody is found by a public mail service's domain."""
    made = requested(asking("https://x.example/?d=", Slot("Email", domain=True)), {"Email": email})
    assert (made and made.url) == (domain and f"https://x.example/?d={domain}")


def test_a_body_is_json_of_its_templates_and_the_request_s_digest_tells_it_apart():
    """Only the fields that the templates name are told."""
    form = {"person": {"email": (Slot("Email"),), "kind": ("lead",)}}
    ask = asking("https://x.example/", body=form)
    one, two = (requested(ask, {"Email": f'{name}"@x.example', "Phone": "1"}) for name in "ab")
    assert one.body == '{"person": {"email": "a\\"@x.example", "kind": "lead"}}'
    assert requested(ask, {"Phone": "1"}) is None
    assert digest(one) == digest(requested(ask, {"Email": 'a"@x.example'})) != digest(two)
    assert asked_with(ask) == {"Email"}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("string", " Steel ", "Steel"),
        ("string", 12, "12"),
        ("string", {"name": "Steel"}, None),
        ("string", True, None),
        ("int", 40, 40),
        ("int", "40", 40),
        ("int", 40.0, 40),
        ("int", 40.5, None),
        ("int", "about 40", None),
        ("int", True, None),
        ("double", float("inf"), None),
        ("double", float("nan"), None),
        ("int", 10**400, None),
        ("double", -(10**400), None),
        ("string", 10**400, None),
        ("string", "\ud800Mills\0", "?Mills"),
        ("multipicklist", ["A\0", "B\udfff"], "A;B?"),
        ("currency", "1000.50", 1000.5),
        ("boolean", True, True),
        ("boolean", "yes", None),
        ("date", "2026-01-31T08:00:00Z", "2026-01-31"),
        ("date", "31.1.2026", None),
        ("datetime", "2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000+00:00"),
        ("multipicklist", ["A", "B"], "A;B"),
        ("multipicklist", ["A", 1], None),
        ("reference", "005000000000001AAA", None),
    ],
)
def test_a_value_fits_its_field_or_is_left_out(kind, value, expected):
    """A provider's types are not the org's."""
    assert fitted(value, kind) == expected


def test_values_are_found_by_their_paths_and_what_does_not_fit_is_named():
    """A missing branch is no value, a wrong type is told by its field."""
    ask = asking(
        fields=[
            Mapped("Industry", ("company", "industry")),
            Mapped("NumberOfEmployees", ("company", "size")),
            Mapped("AnnualRevenue", ("rounds", 0, "amount")),
            Mapped("Live__c", ("company", "industry", "live")),
        ]
    )
    answer = {"company": {"industry": "Steel", "size": [1, 2]}, "rounds": [{"amount": 5}]}
    assert picked(ask, answer, TYPES) == ({"Industry": "Steel", "AnnualRevenue": 5}, ("NumberOfEmployees",))
    assert picked(ask, [], TYPES) == picked(ask, "x", TYPES) == picked(ask, None, TYPES) == ({}, ())


def test_what_the_org_has_wins_unless_the_mapping_overwrites():
    """And what is mapped no more is not written either."""
    ask = asking(fields=[Mapped("Industry", ("i",)), Mapped("Rating", ("r",), overwrite=True)])
    result = {"Industry": "Steel", "Rating": "Hot", "Gone__c": 1}
    assert to_fill(ask, result, {"Industry": " ", "Rating": "Cold"}) == {"Industry": "Steel", "Rating": "Hot"}
    assert to_fill(ask, result, {"Industry": "Iron", "Rating": "Hot"}) == {}
    assert to_fill(None, result, {}) == {}
