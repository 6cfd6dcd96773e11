"""The company of a play: groups, reps and rules, another for each seed, and who comes back when the storm is over."""

from __future__ import annotations

import random
from calendar import day_name
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from org_simulator.clock import ManualClock
from org_simulator.org import Org
from org_simulator.wire import scenario

COUNTRIES = {"Norway": "north", "Spain": "south"}
REPS = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay")
SOURCES = ("Web", "Phone Inquiry")
FIRST_INTAKE, SECOND_INTAKE = "Lead_Intake", "Second_Intake"
WORKING = "Working - Contacted"  # makes a lead unassigned, in companies that say so
PLAIN = 0.1  # the share of such companies
ASKING = 0.2  # the share of those where statuses ask for owners, beside the others
ZONES = ("UTC", "America/Los_Angeles", "Europe/Paris")
TRAITS = (
    "accepts",
    "daily caps",
    "fallback group",
    "fallback queue",
    "hours",
    "late",
    "manager",
    "manual turns",
    "open caps",
    "reroute",
    "second intake",
    "statuses",
)
LIMITS: Mapping[str, Any] = {
    "Accepts__c": None,
    "Daily_Cap__c": None,
    "Open_Lead_Cap__c": None,
    "Business_Hours__c": None,
}
"""What may keep a member from a lead, and its values where nothing does."""


@dataclass
class Company:
    """Two groups and their reps; `disturbed` are members whose share of turns nobody can reckon any more.

    `traits` are the features that this company uses, `habits` how fond its people are of what; `users` are those that
    routers log in as. A `plain` one uses none, and nobody's share is disturbed: there the rotation itself is seen.
    `aside` are dice for what was added later: by them other plays go as before.
    """

    org: Org
    clock: ManualClock
    dice: random.Random
    aside: random.Random
    refs: Mapping[str, str] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    leads: list[str] = field(default_factory=list)
    members: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    reps: list[str] = field(default_factory=list)
    intakes: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    disturbed: set[str] = field(default_factory=set)
    habits: dict[str, float] = field(default_factory=dict)
    plain: bool = False
    buyers: int = 0

    def found(self) -> None:
        """Draw who works where, and by which rules."""
        self.plain = self.dice.random() < PLAIN
        often = 0.0 if self.plain else self.dice.choice((0.0, 0.15, 0.4))
        self.traits = frozenset(trait for trait in TRAITS if self.dice.random() < often)
        if self.aside.random() < ASKING and not self.plain:
            self.traits |= {"statuses"}
        self.refs = scenario.load(self.org, _scenario(self.dice, self.traits, plain=self.plain))
        self.groups = {key: self.refs[key] for key in COUNTRIES.values()}
        self.members = {name: found for name, found in self.refs.items() if name.startswith("m_")}
        self.reps = [self.refs[rep] for rep in REPS]
        self.intakes = tuple(str(self.org.queue_id(name)) for name in self.intake_names)
        self.users = (self.org.integration_user_id, self._another_user("Second"), self._another_user("Third"))
        limited = {one["Id"] for one in self.rows("Round_Robin_Member__c") if any(one[name] for name in LIMITS)}
        self.disturbed |= limited
        if "hours" in self.traits:
            self.disturbed |= set(self.members.values())

    def country(self) -> str:
        """Where a buyer comes from: in plain companies most often from the south, where the turns soon tell weights."""
        return "Spain" if self.plain and self.dice.random() < 0.9 else self.dice.choice(tuple(COUNTRIES))

    @property
    def intake_names(self) -> tuple[str, ...]:
        """The queues whose leads wait for an owner."""
        return (FIRST_INTAKE, SECOND_INTAKE) if "second intake" in self.traits else (FIRST_INTAKE,)

    @property
    def intake_statuses(self) -> tuple[str, ...]:
        """The statuses whose leads wait for an owner until they were routed once, and again when set back to."""
        return (WORKING,) if "statuses" in self.traits else ()

    def row(self, record_id: str) -> Mapping[str, Any] | None:
        """A record as it is, None where it is deleted."""
        sobject = self.org.sobject_of(record_id[:3])
        assert sobject is not None
        found = self.org.store.tables[sobject.lower()].rows.get(record_id)
        return None if found is None or found["IsDeleted"] else found

    def rows(self, sobject: str) -> list[Mapping[str, Any]]:
        """Records that are not deleted, in order of creation."""
        return [row for row in self.org.store.tables[sobject.lower()].rows.values() if not row["IsDeleted"]]

    def save(self, user_id: str, record_id: str, **fields: Any) -> None:
        """A change by a user."""
        sobject = self.org.sobject_of(record_id[:3])
        assert sobject is not None
        with self.org.transaction(user_id, auto_assign=False) as opened:
            opened.update(sobject, record_id, fields)

    def mends(self) -> None:
        """After the storm everybody is back, every group is live, nobody is on leave or kept from any lead.

        What is so already is not written: a company where nothing changed gives no router a reason to look again.
        """
        for rep in self.reps:
            self._mend(rep, IsActive=True)
        for member in self.members.values():
            weight = max(1, int((self.row(member) or {})["Weight__c"]))
            self._mend(member, Active__c=True, Weight__c=weight, **LIMITS)
        for group in self.groups.values():
            self._mend(group, Mode__c="Live", Business_Hours__c=None)
        for absence in self.rows("Member_Absence__c"):
            with self.org.transaction(self.org.admin_user_id, auto_assign=False) as opened:
                opened.delete("Member_Absence__c", absence["Id"])

    def _mend(self, record_id: str, **fields: Any) -> None:
        row = self.row(record_id) or {}
        changed = {name: value for name, value in fields.items() if row[name] != value}
        if changed:
            self.save(self.org.admin_user_id, record_id, **changed)

    def _another_user(self, name: str) -> str:
        """A user with the same rights as the first router's."""
        first = self.row(self.org.integration_user_id) or {}
        granted = self._granted(self.org.integration_user_id)
        with self.org.system_transaction(self.org.admin_user_id) as opened:
            fields = {"Username": f"{name}@sim.example", "LastName": name, "ProfileId": first["ProfileId"]}
            user_id = str(opened.insert("User", fields))
        with self.org.system_transaction(self.org.admin_user_id) as opened:
            for each in sorted(granted - self._granted(user_id)):
                opened.insert("PermissionSetAssignment", {"AssigneeId": user_id, "PermissionSetId": each})
        return user_id

    def _granted(self, user_id: str) -> set[str]:
        rows = self.rows("PermissionSetAssignment")
        return {row["PermissionSetId"] for row in rows if row["AssigneeId"] == user_id}


def instant(at: datetime) -> str:
    """A time as records have it."""
    return f"{at.isoformat(timespec='seconds').removesuffix('+00:00')}Z"


def _scenario(dice: random.Random, traits: frozenset[str], *, plain: bool) -> dict[str, Any]:
    records = [*_people(dice), *_queues(traits), *_hours(traits)]
    least, most = (3, 3) if plain else dice.choice(((2, 3), (2, 3), (1, 2)))
    chosen = {"south": REPS[3 : 3 + dice.randint(least, most)], "north": REPS[: dice.randint(least, most)]}
    for key, reps in chosen.items():
        records.append({"sobject": "Round_Robin_Group__c", "ref": key, "fields": _group(dice, key, traits)})
        for order, rep in enumerate(reps, start=1):
            fields = {"Group__c": f"@{key}", "User__c": f"@{rep}", "Sort_Order__c": order, **_limits(dice, traits)}
            fields["Weight__c"] = dice.choice((1, 2, 3) if plain else (1, 1, 1, 2, 3))
            records.append({"sobject": "Round_Robin_Member__c", "ref": f"m_{rep}", "fields": fields})
    for place, (country, key) in enumerate(COUNTRIES.items(), start=1):
        criteria = f"Country = '{country}'" if place < len(COUNTRIES) else None
        rule = {"Name": key, "Precedence__c": place, "Active__c": True, "Criteria__c": criteria}
        records.append(
            {"sobject": "Routing_Rule__c", "ref": f"r_{key}", "fields": {**rule, "Target_Group__c": f"@{key}"}}
        )
    return {"records": records, "assignment_rule": "@queue:Default_Assigned"}


def _people(dice: random.Random) -> list[dict[str, Any]]:
    zone = dice.choice(ZONES)
    names = (*REPS, "Gus")
    return [
        {
            "sobject": "User",
            "ref": rep,
            "fields": {"Username": f"{rep.lower()}@sim.example", "LastName": rep, "TimeZoneSidKey": zone},
        }
        for rep in names
    ]


def _queues(traits: frozenset[str]) -> list[dict[str, Any]]:
    if "second intake" not in traits:
        return []
    queue = {"Name": "Second Intake", "DeveloperName": SECOND_INTAKE, "Type": "Queue"}
    return [
        {"sobject": "Group", "ref": "second", "fields": queue},
        {"sobject": "QueueSobject", "fields": {"QueueId": "@second", "SobjectType": "Lead"}},
    ]


def _hours(traits: frozenset[str]) -> list[dict[str, Any]]:
    """Plays begin shortly before these hours end."""
    if "hours" not in traits:
        return []
    week = {f"{day}StartTime": "00:00" for day in day_name} | {f"{day}EndTime": "09:30" for day in day_name}
    fields = {"Name": "Early", "IsActive": True, "TimeZoneSidKey": "UTC", **week}
    return [{"sobject": "BusinessHours", "ref": "early", "fields": fields}]


def _group(dice: random.Random, key: str, traits: frozenset[str]) -> dict[str, Any]:
    group: dict[str, Any] = {"Name": key.title(), "Key__c": key, "Mode__c": "Live", "Epoch__c": 1}
    if "late" in traits and dice.random() < 0.7:
        group["Mode__c"] = "Off"
    group["Count_Manual__c"] = "manual turns" in traits
    if "reroute" in traits:
        group["Reroute__c"] = "Reroute"
    if "fallback group" in traits and key == "north":
        group["Fallback_Group__c"] = "@south"
    if "fallback queue" in traits and dice.random() < 0.5:
        group["Fallback_Queue__c"] = "Default_Assigned"
    if "manager" in traits and dice.random() < 0.5:
        group["Manager__c"] = "@Gus"
    if "hours" in traits and dice.random() < 0.5:
        group["Business_Hours__c"] = "@early"
    return group


def _limits(dice: random.Random, traits: frozenset[str]) -> dict[str, Any]:
    """What keeps a new member from some leads."""
    found: dict[str, Any] = {}
    if "accepts" in traits and dice.random() < 0.5:
        found["Accepts__c"] = f"LeadSource = '{dice.choice(SOURCES)}'"
    if "daily caps" in traits:
        found["Daily_Cap__c"] = dice.choice((None, 1, 2, 3))
    if "open caps" in traits:
        found["Open_Lead_Cap__c"] = dice.choice((None, 1, 2, 4))
    if "hours" in traits and dice.random() < 0.3:
        found["Business_Hours__c"] = "@early"
    return found
