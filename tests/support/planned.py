"""A company whose leads are planned and then really routed: every kind of decision comes up, and no clock changes one.

There are rules by source, country and state, weights, members who take only some leads, caps a day and on open leads
that run out, an absence, closed hours with a fallback and without, a group that only observes, an owner named by a
rule, and submissions that come twice, some of them so that another rule is met the second time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from support.company import FORM, PERSON

SEED = 11
STATES = 20  # with a rule each
TWICE = 0.1  # of the leads are one of the last NEAR, sent once more
NEAR = 30
ELSEWHERE = 0.5  # of those, name another country than the first time, and so meet another rule
AWAY = timedelta(days=30)
COUNTRIES = ("Austria", "Brazil", "Germany", "India", "Japan", "Norway", "Spain", "Sweden", "Switzerland", "Wales")
SOURCES = ("Web", "Web", "Web", "Other", "Partner Referral", "Event")
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    "desk": (1, 2, 3, 5, 1, 1, 1, 1, 2, 2, 1, 1),
    "partners": (3, 2, 1, 1),
    "dach": (1, 1, 1, 2, 2, 1, 1, 1),
    "nordics": (2, 1, 1, 1),
    "iberia": (18, 18, 32, 32),
    "night": (1, 1),
    "latam": (1, 1),
    "india": (1, 1, 2),
}
CRITERIA = {
    "partners": "LeadSource = 'Partner Referral' AND AnnualRevenue >= 500000",
    "dach": "Country IN ('Austria', 'Germany', 'Switzerland')",
    "nordics": "Country = 'Norway' OR Country = 'Sweden'",
    "iberia": "Country LIKE 'Sp%' AND (NOT Rating = 'Cold')",
    "night": "Country = 'Japan'",
    "latam": "Country = 'Brazil'",
    "india": "Country = 'India'",
    "desk": None,
}
GROUPS: Mapping[str, Mapping[str, str]] = {
    "dach": {"Fallback_Group__c": "@desk"},
    "nordics": {"Fallback_Queue__c": "Default_Assigned"},
    "night": {"Business_Hours__c": "@shut"},
    "latam": {"Business_Hours__c": "@shut", "Fallback_Group__c": "@desk"},
    "india": {"Mode__c": "Observe"},
}
ACCEPTS = {
    "desk-3": "AnnualRevenue < 800000",
    "partners-1": "Rating = 'Hot'",
    "dach-0": "Country = 'Austria'",
    "nordics-2": "Country != 'Norway'",
    "iberia-3": "Rating IN ('Hot', 'Warm')",
}


def scenario(leads: int, at: datetime) -> dict[str, Any]:
    """The company as the simulated org loads it, at that time; of `leads` leads some come when caps are used up."""
    absence = {"Start__c": (at - AWAY).isoformat(), "End__c": (at + AWAY).isoformat()}
    records = [
        _record("User", "form", Username=FORM, LastName="Form"),
        _record("User", "person", Username=PERSON, LastName="Person"),
        _record("BusinessHours", "shut", Name="Shut", IsActive=True, TimeZoneSidKey="UTC"),
        *(record for key in WEIGHTS for record in _group(key, leads)),
        _record("Member_Absence__c", "absence", User__c="@partners-2-user", **absence),
        _rule(1, "Events", "LeadSource = 'Event'", Target_User__c="@person"),
    ]
    for state in range(STATES):
        criteria = f"State = 'S{state}' AND NumberOfEmployees > {40 * state}"
        records.append(_rule(2 + state, f"State {state}", criteria, Target_Group__c="@dach" if state % 2 else "@desk"))
    for place, (key, clause) in enumerate(CRITERIA.items(), start=2 + STATES):
        records.append(_rule(place, key, clause, Target_Group__c=f"@{key}"))
    return {"records": records}


def leads(count: int) -> list[dict[str, Any]]:
    """The leads' fields, in order; the owner is the caller's to give."""
    dice = random.Random(SEED)
    made: list[dict[str, Any]] = []
    for number in range(count):
        twice = bool(made) and dice.random() < TWICE
        made.append(_again(made[-dice.randint(1, min(NEAR, number))], number) if twice else _lead(number, dice))
    return made


def _again(first: Mapping[str, Any], number: int) -> dict[str, Any]:
    dice = random.Random(number)  # of its own, so that the other leads are the same whatever is done here
    return {**first, "Country": dice.choice(COUNTRIES)} if dice.random() < ELSEWHERE else dict(first)


def _lead(number: int, dice: random.Random) -> dict[str, Any]:
    return {
        "LastName": f"Buyer {number}",
        "Company": "Buyers Ltd",
        "Email": f"buyer{number}@buyer.example",
        "Country": dice.choice(COUNTRIES),
        "State": f"S{dice.randrange(3 * STATES)}",
        "LeadSource": dice.choice(SOURCES),
        "Rating": dice.choice(("Hot", "Warm", "Cold", None)),
        "AnnualRevenue": dice.randrange(1_000_000),
        "NumberOfEmployees": dice.randrange(1_000),
    }


def _group(key: str, leads: int) -> list[dict[str, Any]]:
    fields = {"Name": key.title(), "Key__c": key, "Mode__c": "Live", **GROUPS.get(key, {})}
    records = [_record("Round_Robin_Group__c", key, **fields)]
    for place, weight in enumerate(WEIGHTS[key]):
        name = f"{key}-{place}"
        records.append(_record("User", f"{name}-user", Username=f"{name}@company.example", LastName=name))
        member = {"Group__c": f"@{key}", "User__c": f"@{name}-user", "Weight__c": weight, "Sort_Order__c": place}
        caps = _caps(key, place, leads)
        records.append(_record("Round_Robin_Member__c", name, **member, **caps, Accepts__c=ACCEPTS.get(name)))
    return records


def _caps(key: str, place: int, leads: int) -> dict[str, int]:
    """All of dach, and half of the nordics, have enough after a while."""
    if key == "dach":
        return {"Daily_Cap__c": leads // 60 + place}
    return {"Open_Lead_Cap__c": leads // 50 + place} if key == "nordics" else {}


def _rule(precedence: int, name: str, criteria: str | None, **target: str) -> dict[str, Any]:
    fields = {"Name": name, "Precedence__c": precedence, "Active__c": True, "Criteria__c": criteria, **target}
    return _record("Routing_Rule__c", f"rule-{name}", **fields)


def _record(sobject: str, ref: str, **fields: Any) -> dict[str, Any]:
    return {
        "sobject": sobject,
        "ref": ref,
        "fields": {name: value for name, value in fields.items() if value is not None},
    }
