"""A company for tests from outside: groups with reps, rules by country, a web form, and a person who takes leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORM = "form@company.example"
PERSON = "person@company.example"
QUEUE = "@queue:Lead_Intake"

GROUPS: dict[str, dict[str, int]] = {
    "north": {"Ann": 1, "Ben": 1, "Cem": 1},
    "south": {"Dia": 3, "Eli": 2, "Fay": 1, "Gil": 1},
}
COUNTRIES = {"north": "Norway", "south": "Spain"}


def scenario(
    groups: Mapping[str, Mapping[str, int]] = GROUPS, countries: Mapping[str, str] = COUNTRIES
) -> dict[str, Any]:
    """The company as the simulated org loads it: reps with weights by group; the last group takes every other lead."""
    records = [_user(FORM, "Form", "form"), _user(PERSON, "Person", "person")]
    for place, (key, reps) in enumerate(groups.items(), start=1):
        records.append(_record("Round_Robin_Group__c", key, Name=key.title(), Key__c=key, Mode__c="Live"))
        for order, (rep, weight) in enumerate(reps.items(), start=1):
            records.append(_user(f"{rep.lower()}@company.example", rep, rep))
            member = {"Group__c": f"@{key}", "User__c": f"@{rep}", "Weight__c": weight, "Sort_Order__c": order}
            records.append(_record("Round_Robin_Member__c", f"member-{rep}", **member))
        last = place == len(groups)
        rule = {"Name": f"To {key}", "Precedence__c": 10 * place, "Active__c": True, "Target_Group__c": f"@{key}"}
        criteria = None if last else f"Country = '{countries[key]}'"
        records.append(_record("Routing_Rule__c", f"rule-{key}", **rule, Criteria__c=criteria))
    return {"records": records}


def lead(number: int, **fields: Any) -> dict[str, Any]:
    """The lead of buyer `number`, in either group by turns; the owner is the caller's to give."""
    country = list(COUNTRIES.values())[number % len(COUNTRIES)]
    email = f"buyer{number}@buyer.example"
    return {"LastName": f"Buyer {number}", "Company": "Buyers Ltd", "Email": email, "Country": country, **fields}


def _user(username: str, name: str, ref: str) -> dict[str, Any]:
    fields = {"Username": username, "LastName": name, "Email": username, "IsActive": True}
    return {"sobject": "User", "ref": ref, "fields": fields}


def _record(sobject: str, ref: str, **fields: Any) -> dict[str, Any]:
    return {"sobject": sobject, "ref": ref, "fields": fields}
