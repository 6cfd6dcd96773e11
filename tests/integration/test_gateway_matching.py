"""Owners of matching accounts, contacts and earlier leads: found by e-mail or domain, and given the lead."""

from __future__ import annotations

from typing import Any

import pytest

from lead_router.core.addresses import address
from lead_router.core.model import Assign, Hold, MatchBy, MatchOn, Outcome, ToMatched
from lead_router.errors import Misconfigured
from lead_router.ports import Committed
from lead_router.salesforce import matching
from support.rest_org import RestOrg, best, worst


class Company(RestOrg):
    """An org whose first rule asks for matches, and whose records belong to Bob unless said otherwise."""

    def rule(self, target: str, on: str = "Email", **fields: Any) -> str:
        given = {"Name": "Known", "Precedence__c": 1, "Active__c": True, "Target_Match__c": target, "Match_On__c": on}
        return self.insert("Routing_Rule__c", **given, **fields)

    def account(self, **fields: Any) -> str:
        return self.insert("Account", **{"Name": "Acme", "OwnerId": self.refs["bob"], **fields})

    def contact(self, email: str, **fields: Any) -> str:
        given = {"LastName": "Known", "Email": email, "OwnerId": self.refs["bob"]}
        return self.insert("Contact", **{**given, **fields})

    def found(self, lead: str) -> list[tuple[MatchOn, MatchBy, str]]:
        snapshot = self.client.snapshot(self.client.configuration(), [lead], [])
        return [(match.on, match.by, match.record_id) for match in snapshot.matches.get(lead, ())]


@pytest.fixture(params=[best, worst])
def org(request: pytest.FixtureRequest) -> Company:
    made = Company(request.param())
    made.assign("Lead_Router_Matching")
    return made


def test_a_target_is_read_with_its_manner(org) -> None:
    """Blank words mean what the picklists have as defaults."""
    org.rule("Any", "Domain", Match_Off_Duty__c="Wait")
    org.insert("Routing_Rule__c", Name="Plain", Precedence__c=2, Active__c=True, Target_Match__c="Contact")
    first, second, _ = (rule.target for rule in org.client.configuration().rules)
    assert first == ToMatched((MatchOn.ACCOUNT, MatchOn.CONTACT, MatchOn.LEAD), MatchBy.DOMAIN, falls_through=False)
    assert second == ToMatched((MatchOn.CONTACT,), MatchBy.EMAIL, falls_through=True)


def test_the_owner_of_a_matching_contact_gets_the_lead_without_a_turn(org) -> None:
    """Owner, stamp and ledger move together; the rotation stands still."""
    org.rule("Contact")
    org.contact("a@acme.example")
    lead = org.lead("A@Acme.example")
    assert org.client.commit(org.batch([lead])) == Committed()
    (row,) = org.rows("Lead_Assignment__c")
    assert (row["Outcome__c"], row["Assigned_To__c"], row["Rule__c"]) == (Outcome.MATCHED, org.refs["bob"], "Known")
    assert (row["Turn_Key__c"], row["Group__c"], row["Member__c"]) == (None, None, None)
    assert (org.row(lead)["OwnerId"], org.row(lead)["Routing_Status__c"]) == (org.refs["bob"], "Assigned")
    assert org.row(org.refs["emea"])["Turn__c"] == 0
    other = org.lead("b@acme.example")
    assert org.client.commit(org.batch([other])) == Committed()
    assert org.row(other)["OwnerId"] == org.refs["ann"]


def test_records_are_asked_only_where_a_rule_asks(org) -> None:
    org.contact("a@acme.example")
    lead = org.lead("a@acme.example")
    configuration = org.client.configuration()
    before = org.calls()
    assert org.client.snapshot(configuration, [lead], []).matches == {}
    assert org.calls() - before == 1
    org.rule("Any", "Domain")
    configuration = org.client.configuration()
    before = org.calls()
    assert org.client.snapshot(configuration, [lead], []).matches[lead]
    assert org.calls() - before == 2
    assert org.client.snapshot(configuration, [org.lead()], []).matches == {}


def test_an_account_matches_by_its_contacts_or_its_website(org) -> None:
    """The record changed last comes first; a domain is a whole one, wherever it stands in the address of a site."""
    org.rule("Account", "Domain")
    by_contact, by_site = org.account(), org.account(Website="https://www.ACME.example/about", OwnerId=org.refs["ann"])
    org.account(Website="notacme.example")
    org.account(Website="acme.example.org")
    org.account(Website="other.example/acme.example")
    org.clock.advance(60)
    org.contact("z@acme.example", AccountId=by_contact)
    org.contact("y@sub.acme.example", AccountId=org.account())
    org.contact("x@acme.example")
    lead = org.lead("new@acme.example")
    found = [(MatchOn.ACCOUNT, MatchBy.DOMAIN, by_contact), (MatchOn.ACCOUNT, MatchBy.DOMAIN, by_site)]
    assert org.found(lead) == found


def test_a_public_domain_tells_of_no_company(org) -> None:
    org.rule("Any", "Domain")
    org.contact("one@gmail.com")
    assert org.found(org.lead("two@gmail.com")) == []


def test_the_last_changed_contact_comes_first_and_one_that_is_exact_is_enough(org) -> None:
    org.rule("Contact")
    older, newer = org.contact("a@acme.example"), org.contact("a@acme.example", OwnerId=org.refs["ann"])
    org.contact("b@acme.example")
    lead = org.lead("a@acme.example")
    org.clock.advance(60)
    org.update(older, Title="Chief")
    assert [record for _, _, record in org.found(lead)] == [older, newer]


def test_only_an_earlier_lead_matches(org) -> None:
    """Neither the lead itself nor one that came later."""
    org.rule("Lead")
    first = org.lead("a@acme.example", OwnerId=org.refs["bob"])
    org.clock.advance(60)
    lead = org.lead("a@acme.example")
    later = org.lead("a@acme.example")
    assert org.found(lead) == [(MatchOn.LEAD, MatchBy.EMAIL, first)]
    assert [record for _, _, record in org.found(later)] == [lead, first]
    assert org.client.commit(org.batch([lead])) == Committed()
    assert org.row(lead)["OwnerId"] == org.refs["bob"]


@pytest.mark.parametrize("word", ["Next Rule", "Wait"])
def test_an_owner_who_is_away_is_passed_over_or_waited_for(org, word) -> None:
    org.rule("Contact", Match_Off_Duty__c=word)
    org.contact("a@acme.example")
    away = {"Start__c": "2026-11-29T00:00:00Z", "End__c": "2026-12-04T08:00:00Z"}
    org.insert("Member_Absence__c", User__c=org.refs["bob"], **away)
    (decision,) = org.decided([org.lead("a@acme.example")])
    if word == "Wait":
        assert isinstance(decision, Hold)
        assert decision.until is not None
        assert decision.until.isoformat() == "2026-12-04T08:00:00+00:00"
    else:
        assert isinstance(decision, Assign)
        assert (decision.owner_id, decision.outcome) == (org.refs["ann"], Outcome.ASSIGNED)
        assert "absent" in decision.explanation


def test_what_is_known_of_an_owner_comes_with_the_match(org) -> None:
    """Also of one who is no member: active, frozen, and whether leads may be read."""
    org.rule("Contact")
    (profile,) = (row["Id"] for row in org.rows("Profile") if "API Only" in row["Name"])
    cut_off = org.insert("User", Username="c@sim.example", LastName="Cut", ProfileId=profile)
    gone = org.insert("User", Username="g@sim.example", LastName="Gone")
    org.grant("ManageUsers")
    org.freeze(org.refs["ann"])
    for number, owner in enumerate((cut_off, gone, org.refs["ann"], org.refs["bob"])):
        org.contact(f"p{number}@acme.example", OwnerId=owner)
    org.update(gone, IsActive=False)
    leads = [org.lead(f"p{number}@acme.example") for number in range(4)]
    found = org.client.snapshot(org.client.configuration(), leads, []).matches
    matches = [found[lead][0] for lead in leads]
    assert [match.name for match in matches] == ["Cut", "Gone", "Ann", "Bob"]
    assert [match.user_active for match in matches] == [True, False, True, True]
    assert [match.frozen for match in matches] == [False, False, True, False]
    assert [match.reads_leads for match in matches][::3] == [False, True]


def test_matches_without_the_right_to_read_accounts_are_refused_by_name() -> None:
    """Told when the configuration is read, not as a failure of each lead; earlier leads need no such right."""
    org = Company(best())
    org.rule("Lead")
    org.client.configuration()
    org.insert("Routing_Rule__c", Name="K", Precedence__c=2, Active__c=True, Target_Match__c="Account")
    with pytest.raises(Misconfigured, match=r"matching Contact.*Lead_Router_Matching"):
        org.client.configuration()
    org.assign("Lead_Router_Matching")
    org.client.configuration()


def test_a_busy_domain_hides_no_other(org, monkeypatch) -> None:
    """More records than one answer holds: each value is asked for by itself."""
    monkeypatch.setattr(matching, "ROWS_MAX", 3)
    org.rule("Contact", "Domain")
    quiet = org.contact("q@quiet.example")
    org.clock.advance(60)
    for number in range(5):
        org.contact(f"p{number}@busy.example")
    one, other = org.lead("new@quiet.example"), org.lead("new@busy.example")
    found = org.client.snapshot(org.client.configuration(), [one, other], []).matches
    assert [match.record_id for match in found[one]] == [quiet]
    assert len(found[other]) == 3


def test_two_hundred_long_addresses_are_asked_in_queries_that_fit(org) -> None:
    """P37: no URL is too long, whatever the addresses, and none is left out."""
    org.rule("Any", "Domain")
    org.insert("Routing_Rule__c", Name="K", Precedence__c=2, Active__c=True, Target_Match__c="Any")
    leads = [org.lead(f"p{number}@{'long' * 13}{number:03}.example") for number in range(200)]
    org.contact(f"other@{'long' * 13}199.example")
    org.contact(f"p0@{'long' * 13}000.example")
    found = org.client.snapshot(org.client.configuration(), leads, []).matches
    assert set(found) == {leads[0], leads[199]}


def test_odd_signs_in_what_is_asked_for_are_found_as_they_are(org) -> None:
    """B14: no key is part of a path; in a query each is quoted and encoded once, and finds its own record alone."""
    odd = [
        "a+b@x.example",
        "50%@x.example",
        "o'neil&co=1@x.example",
        "x?y#z/w@x.example",
        "a_b@x.example",
        "ä@x.example",
    ]
    org.rule("Contact")
    leads = {name: org.lead(name) for name in odd}
    contacts = {name: org.contact(name) for name in odd}
    org.contact("aXb@x.example")  # what `_` would find as a sign of LIKE
    found = org.client.snapshot(org.client.configuration(), list(leads.values()), []).matches

    told = {lead: [match.record_id for match in matches] for lead, matches in found.items()}
    assert told == {leads[name]: [contacts[name]] for name in odd}


@pytest.mark.parametrize(
    ("email", "found"),
    [
        (" A@Acme.Example ", ("a@acme.example", "acme.example")),
        ("o'neil@acme.example", ("o'neil@acme.example", "acme.example")),
        ("a@acme", None),
        ("a b@acme.example", None),
        ("a@ac%me.example", None),
        ("a@b@acme.example", None),
        ("", None),
        (None, None),
    ],
)
def test_an_address_is_one_that_can_be_asked_for(org, email, found) -> None:
    """Signs that mean something to LIKE never reach a query."""
    lead = next(iter(org.client.snapshot(org.client.configuration(), [org.lead()], []).leads.values()))
    fields = {**lead.fields, "Email": email}
    assert address(type(lead)(lead.id, lead.owner_id, lead.created_at, 0, None, None, False, fields)) == found  # noqa: FBT003
