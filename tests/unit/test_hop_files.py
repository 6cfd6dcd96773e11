"""The files of score and enrichment are read strictly: each fault names file, line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from lead_router.app.hops import Hops, hops_of
from lead_router.core.enrichment import Mapped, Slot
from lead_router.errors import Misconfigured
from lead_router.rulefiles.providers import read_provider
from lead_router.rulefiles.scores import read_scoring
from lead_router.settings import load

GOOD = """\
url: "https://api.example.com/find?d={Email|domain}&n={Company?}"
headers:
  Authorization: "Bearer {secret}"
fields:
  Industry: company.industry
  NumberOfEmployees: people[0].company.size
  Rating: {path: grade, overwrite: true}
"""
SCORES = """\
field: Lead_Score__c
criteria:
  - {name: big, criteria: NumberOfEmployees >= 500, points: 50}
  - criteria: LeadSource = 'Web'
    points: -15
"""
SECRET = "canary-Secret0987654321"


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "hop.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_provider_s_file_says_whom_to_ask_by_what_and_for_what(file):
    """With defaults for what it leaves out."""
    found = read_provider(file(GOOD))
    asking = found.asking
    assert asking.url == (
        "https://api.example.com/find?d=",
        Slot("Email", domain=True),
        "&n=",
        Slot("Company", optional=True),
    )
    assert asking.fields == (
        Mapped("Industry", ("company", "industry")),
        Mapped("NumberOfEmployees", ("people", 0, "company", "size")),
        Mapped("Rating", ("grade",), overwrite=True),
    )
    assert (asking.method, asking.deadline_s, asking.timeout_s, asking.tries, asking.together) == ("GET", 2, 5, 16, 8)
    assert found.headers == {"Authorization": "Bearer {secret}"}


def test_a_body_s_texts_are_templates_too(file):
    """Nested as the provider wants it."""
    body = 'method: post\nbody: {person: {mail: "{Email}"}, kind: lead}\n'
    found = read_provider(file('url: "https://x.example/find"\nfields: {Industry: a}\n' + body)).asking
    assert (found.method, found.body) == ("POST", {"person": {"mail": (Slot("Email"),)}, "kind": ("lead",)})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("https://api.example.com/", "http://api.example.com/"), r"hop.yaml:1: url begins with https"),
        (("https://api.example.com/find?d=", "https://"), r"hop.yaml:1: url looks like"),
        (("api.example.com", "{Company}.example.com"), r"hop.yaml:1: url looks like"),
        (("api.example.com", "user:pw@api.example.com"), r"hop.yaml:1: url looks like"),
        (("{Email|domain}", "{Email|upper}"), r"hop.yaml:1: braces stand around a lead's field"),
        (("{Email|domain}", "{secret}"), r"hop.yaml:1: \{secret\} belongs in a header alone"),
        (("{Email|domain}", "x"), None),
        (("d={Email|domain}&n={Company?}", "d=x"), r"names no field of the lead"),
        (("Bearer {secret}", "Bearer abc"), r"hop.yaml:3: write \{secret\} .*LEAD_ROUTER_ENRICHMENT_SECRET"),
        (("Industry: company.industry", "OwnerId: company.owner"), r"hop.yaml:5: OwnerId says who a lead is or whose"),
        (("Industry: company.industry", "Email: mail"), r"hop.yaml:5: Email says"),
        (("Industry: company.industry", "Routing_Round__c: r"), r"hop.yaml:5: Routing_Round__c says"),
        (("Industry: company.industry", "rating: a"), r"hop.yaml:7: Rating is given twice, as rating above"),
        (("Industry: company.industry", "Industry: a..b"), r"hop.yaml:5: the path of Industry looks like"),
        (("Industry: company.industry", "Industry: 7"), r"hop.yaml:5: the path of Industry is a text"),
        (("overwrite: true", "overwrite: ja"), r"hop.yaml:7: overwrite is true or false"),
        (("fields:", "feilds:"), r"hop.yaml:4: .*no key 'feilds'; did you mean 'fields'\?"),
        (("fields:", "deadline_s: 100\nfields:"), r"hop.yaml:4: deadline_s is a number from 0 to 30"),
        (("fields:", "tries: 2.5\nfields:"), r"hop.yaml:4: tries is a whole number"),
        (("fields:", "body: {a: b}\nfields:"), r"hop.yaml:4: a body goes with `method: POST`"),
        (("fields:", "method: PUT\nfields:"), r"hop.yaml:4: method is GET or POST"),
    ],
)
def test_a_fault_in_a_provider_s_file_is_named_with_its_line_and_remedy(file, change, told):
    """Nothing is guessed at."""
    path = file(GOOD.replace(*change))
    if told is None:
        read_provider(path)
        return
    with pytest.raises(Misconfigured, match=told):
        read_provider(path)


def test_loopback_may_be_plain(file):
    """A provider on this machine, and no other."""
    read_provider(file(GOOD.replace("https://api.example.com", "http://127.0.0.1:8080")))


def test_a_score_s_file_says_its_names_and_points(file):
    """A criterion without a name is called by its clause."""
    found = read_scoring(file(SCORES))
    assert (found.name, found.field, found.source) == ("Lead_Score__c", "Lead_Score__c", "hop.yaml")
    assert [(one.name, one.points, one.at) for one in found.criteria] == [
        ("big", 50, "hop.yaml:3"),
        ("LeadSource = 'Web'", -15, "hop.yaml:4"),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("field: Lead_Score__c\n", ""), r"hop.yaml:1: give the score a name"),
        (("points: 50", "points: many"), r"hop.yaml:3: points is a whole number"),
        (("points: 50", "points: 5000000"), r"hop.yaml:3: points are at most"),
        ((">= 500", ">="), r"hop.yaml:3: criteria, character"),
        (("points: -15", "score: -15"), r"hop.yaml:5: a criterion has no key 'score'"),
        ((SCORES[SCORES.index("criteria:") :], "criteria: []\n"), r"scoring has 1 to 500 criteria, not 0"),
        (("Lead_Score__c", "Lead Score"), r"hop.yaml:1: field is an API name"),
    ],
)
def test_a_fault_in_a_score_s_file_is_named_with_its_line_and_remedy(file, change, told):
    """As in a rule's."""
    with pytest.raises(Misconfigured, match=told):
        read_scoring(file(SCORES.replace(*change)))


def test_the_secret_is_the_settings_and_shows_nowhere(file, tmp_path):
    """In a setting or a file of its own; one that no header wants, or that is missing, is a slip."""
    path = file(GOOD)
    keyed = tmp_path / "key"
    keyed.write_text(f"{SECRET}\n", encoding="utf-8")
    plain = {"LEAD_ROUTER_ENRICHMENT_FILE": str(path)}
    for setting in ({"LEAD_ROUTER_ENRICHMENT_SECRET": SECRET}, {"LEAD_ROUTER_ENRICHMENT_SECRET_FILE": str(keyed)}):
        settings = load(plain | setting)
        made = hops_of(settings)
        assert made.provider._headers["Authorization"] == f"Bearer {SECRET}"
        assert SECRET not in repr(made) + repr(settings)
    with pytest.raises(Misconfigured, match="ENRICHMENT_SECRET is not set, but a header"):
        hops_of(load(plain))
    with pytest.raises(Misconfigured, match="both"):
        load({"LEAD_ROUTER_ENRICHMENT_SECRET": SECRET, "LEAD_ROUTER_ENRICHMENT_SECRET_FILE": str(keyed)})
    with pytest.raises(Misconfigured, match="what no header may") as fault:
        hops_of(load(plain | {"LEAD_ROUTER_ENRICHMENT_SECRET": f"{SECRET}\nX: y"}))
    assert SECRET not in str(fault.value)
    file(GOOD.replace("Authorization", "X-Page").replace("Bearer {secret}", "1"))
    with pytest.raises(Misconfigured, match="is set, but no header"):
        hops_of(load(plain | {"LEAD_ROUTER_ENRICHMENT_SECRET": SECRET}))


def test_without_files_no_hop_is_on():
    """The default."""
    assert hops_of(load({})) == Hops()
    assert not Hops().loops
