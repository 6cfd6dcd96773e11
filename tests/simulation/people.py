"""The company of a play, and what buyers, reps and administrators do, whenever it suits the router least."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from org_simulator.clock import ManualClock
from org_simulator.failures import Failure
from org_simulator.org import Org
from org_simulator.wire import scenario

COUNTRIES = {"Norway": "north", "Spain": "south"}
REPS = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay")


@dataclass
class Company:
    """Two groups and their reps; `disturbed` are members whose share of turns nobody can reckon any more."""

    org: Org
    clock: ManualClock
    dice: random.Random
    refs: Mapping[str, str] = field(default_factory=dict)
    leads: list[str] = field(default_factory=list)
    members: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    reps: list[str] = field(default_factory=list)
    disturbed: set[str] = field(default_factory=set)
    buyers: int = 0

    def found(self) -> None:
        """Draw who works where."""
        self.refs = scenario.load(self.org, _scenario(self.dice))
        self.groups = {key: self.refs[key] for key in COUNTRIES.values()}
        self.members = {name: found for name, found in self.refs.items() if name.startswith("m_")}
        self.reps = [self.refs[rep] for rep in REPS]

    @property
    def intake(self) -> str:
        return str(self.org.queue_id("Lead_Intake"))

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
        """After the storm: everybody is back, every group is live, nobody is on leave."""
        admin = self.org.admin_user_id
        for rep in self.reps:
            if not self.row(rep)["IsActive"]:  # type: ignore[index]
                self.save(admin, rep, IsActive=True)
        for member in self.members.values():
            self.save(admin, member, Active__c=True, Weight__c=max(1, int(self.row(member)["Weight__c"])))  # type: ignore[index]
        for group in self.groups.values():
            self.save(admin, group, Mode__c="Live")
        for absence in self.rows("Member_Absence__c"):
            with self.org.transaction(admin, auto_assign=False) as opened:
                opened.delete("Member_Absence__c", absence["Id"])


def _scenario(dice: random.Random) -> dict[str, Any]:
    records: list[dict[str, Any]] = [
        {"sobject": "User", "ref": rep, "fields": {"Username": f"{rep.lower()}@sim.example", "LastName": rep}}
        for rep in REPS
    ]
    chosen = {"north": REPS[: dice.randint(2, 3)], "south": REPS[3 : 3 + dice.randint(2, 3)]}
    counts = dice.random() < 0.3
    for key, reps in chosen.items():
        group = {"Name": key.title(), "Key__c": key, "Mode__c": "Live", "Epoch__c": 1, "Count_Manual__c": counts}
        records.append({"sobject": "Round_Robin_Group__c", "ref": key, "fields": group})
        for order, rep in enumerate(reps, start=1):
            fields = {"Group__c": f"@{key}", "User__c": f"@{rep}", "Sort_Order__c": order}
            fields["Weight__c"] = dice.choice((1, 1, 1, 2, 3))
            records.append({"sobject": "Round_Robin_Member__c", "ref": f"m_{rep}", "fields": fields})
    for place, (country, key) in enumerate(COUNTRIES.items(), start=1):
        criteria = f"Country = '{country}'" if place < len(COUNTRIES) else None
        rule = {"Name": key, "Precedence__c": place, "Active__c": True, "Criteria__c": criteria}
        records.append(
            {"sobject": "Routing_Rule__c", "ref": f"r_{key}", "fields": {**rule, "Target_Group__c": f"@{key}"}}
        )
    return {"records": records, "assignment_rule": "@queue:Default_Assigned"}


# ---- what they do: each answers what was done, or None where nothing could be ---------------------------------------


def comes(firm: Company, _leads: Sequence[str]) -> str:
    """One to three buyers fill in a form; some fill it in twice."""
    count = firm.dice.choice((1, 1, 1, 2, 3))
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        for _ in range(count):
            firm.buyers += firm.dice.random() < 0.85 or firm.buyers == 0
            fields = {
                "LastName": "Buyer",
                "Company": "Buyers Ltd",
                "Email": f"buyer{firm.buyers}@buyer.example",
                "Country": firm.dice.choice(tuple(COUNTRIES)),
                "OwnerId": firm.intake,
            }
            firm.leads.append(opened.insert("Lead", fields))
    return f"{count} came, the last {firm.leads[-1]}"


def takes(firm: Company, leads: Sequence[str]) -> str | None:
    rep, lead = firm.dice.choice(firm.reps), _one(firm, leads)
    if lead is None or not firm.row(rep)["IsActive"]:  # type: ignore[index]
        return None
    firm.save(rep, lead, OwnerId=rep)
    return f"{rep} takes {lead}"


def gives_back(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    if lead is None or firm.row(lead)["OwnerId"] == firm.intake:  # type: ignore[index]
        return None
    firm.save(firm.org.admin_user_id, lead, OwnerId=firm.intake)
    return f"{lead} is given back"


def edits(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    if lead is None:
        return None
    country = firm.dice.choice(tuple(COUNTRIES))
    firm.save(firm.org.admin_user_id, lead, Country=country, Title=f"Title {firm.dice.randrange(9)}")
    return f"{lead} is of {country}"


def deletes(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    if lead is None:
        return None
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        opened.delete("Lead", lead)
    return f"{lead} is deleted"


def undeletes(firm: Company, leads: Sequence[str]) -> str | None:
    gone = [lead for lead in firm.leads if firm.row(lead) is None]
    if not gone:
        return None
    lead = firm.dice.choice(gone)
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        opened.undelete("Lead", lead)
    return f"{lead} is undeleted"


def converts(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    if lead is None:
        return None
    firm.org.convert_lead(lead)
    return f"{lead} is converted"


def merges(firm: Company, leads: Sequence[str]) -> str | None:
    lead, other = _one(firm, leads), _one(firm, ())
    if lead is None or other is None or lead == other:
        return None
    winner, loser = firm.dice.sample((lead, other), 2)
    firm.org.merge_leads(winner, loser)
    return f"{loser} is merged into {winner}"


def transfers(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    if lead is None:
        return None
    owner = firm.dice.choice((*firm.reps, firm.intake))
    firm.org.mass_transfer([lead], owner)
    return f"{lead} is transferred to {owner}"


def leaves(firm: Company, _leads: Sequence[str]) -> str:
    """A rep's user is deactivated, or comes back."""
    rep = firm.dice.choice(firm.reps)
    active = not firm.row(rep)["IsActive"]  # type: ignore[index]
    firm.disturbed |= {member for member in firm.members.values() if firm.row(member)["User__c"] == rep}  # type: ignore[index]
    firm.save(firm.org.admin_user_id, rep, IsActive=active)
    return f"{rep} is active: {active}"


def rests(firm: Company, _leads: Sequence[str]) -> str:
    """A member is taken out, or comes back; or gets another weight."""
    member = firm.dice.choice(tuple(firm.members.values()))
    firm.disturbed.add(member)
    change = firm.dice.choice(
        ({"Active__c": False}, {"Active__c": True}, {"Weight__c": 0}, {"Weight__c": firm.dice.randint(1, 5)})
    )
    firm.save(firm.org.admin_user_id, member, **change)
    return f"{member} is changed: {change}"


def absent(firm: Company, _leads: Sequence[str]) -> str:
    rep, now = firm.dice.choice(firm.reps), firm.clock.now()
    firm.disturbed |= {member for member in firm.members.values() if firm.row(member)["User__c"] == rep}  # type: ignore[index]
    end = now + timedelta(minutes=firm.dice.choice((1, 20, 300)))
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        opened.insert(
            "Member_Absence__c",
            {"User__c": rep, "Start__c": _instant(now - timedelta(minutes=1)), "End__c": _instant(end)},
        )
    return f"{rep} is absent until {end}"


def turns_mode(firm: Company, _leads: Sequence[str]) -> str:
    key = firm.dice.choice(tuple(firm.groups))
    mode = firm.dice.choice(("Off", "Observe", "Live", "Live"))
    firm.save(firm.org.admin_user_id, firm.groups[key], Mode__c=mode)
    return f"{key} is {mode}"


def resets(firm: Company, _leads: Sequence[str]) -> str:
    """An administrator raises a group's epoch; its turns begin anew."""
    key = firm.dice.choice(tuple(firm.groups))
    epoch = int(firm.row(firm.groups[key])["Epoch__c"]) + 1  # type: ignore[index]
    firm.save(firm.org.admin_user_id, firm.groups[key], Epoch__c=epoch, Turn__c=0)
    return f"{key} begins epoch {epoch}"


Act = Callable[[Company, Sequence[str]], "str | None"]
ON_LEADS: tuple[tuple[Act, int], ...] = (
    (takes, 5),
    (gives_back, 4),
    (edits, 4),
    (deletes, 3),
    (undeletes, 1),
    (converts, 3),
    (merges, 2),
    (transfers, 3),
)
ON_GROUPS: tuple[tuple[Act, int], ...] = ((leaves, 3), (rests, 3), (absent, 1), (turns_mode, 1), (resets, 3))


def act(firm: Company, acts: Sequence[tuple[Act, int]], leads: Sequence[str]) -> str | None:
    """One of the acts, by weight; what the org refuses is told and changes nothing."""
    chosen = firm.dice.choices([each for each, _ in acts], [weight for _, weight in acts])[0]
    try:
        return chosen(firm, leads)
    except Failure as refused:
        return f"{chosen.__name__} was refused: {refused.code}"


def _one(firm: Company, leads: Sequence[str]) -> str | None:
    """A living lead: one of these, or any."""
    living = [lead for lead in leads if firm.row(lead) is not None]
    living = living or [lead for lead in firm.leads if firm.row(lead) is not None]
    return firm.dice.choice(living) if living else None


def _instant(at: Any) -> str:
    return f"{at.isoformat(timespec='seconds').removesuffix('+00:00')}Z"
