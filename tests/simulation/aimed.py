"""What people do just where it hurts: reps go as they are given a lead; leads that reps own ask for an owner by status,
or are of another group for a moment.

All of it by dice of its own: other plays tell what they told before it was there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from org_simulator.failures import Failure
from simulation.company import COUNTRIES, WORKING, Company, instant

GOES, ASKS, FLIPS = 0.5, 0.5, 0.5  # of the times at which somebody meddles with a commit, or with a lead
OWNED, ASKING = 0.35, 0.6  # of those who come where statuses ask, who have a rep; of these, whose status asks at once
OPEN = "Open - Not Contacted"
MEMBER = "Round_Robin_Member__c"


def owned(firm: Company) -> dict[str, Any]:
    """What a new lead has where somebody made it for a rep: that owner, and often a status that asks for another."""
    dice = firm.aside
    if not firm.intake_statuses or dice.random() >= OWNED:
        return {}
    active = [rep for rep in firm.reps if (firm.row(rep) or {})["IsActive"]]
    if not active:
        return {}
    return {"OwnerId": dice.choice(active), "Status": WORKING if dice.random() < ASKING else OPEN}


def goes(firm: Company, near: Sequence[str]) -> str | None:
    """One of the reps that a commit names is deactivated, on leave, taken out or no member any more; not in plain
    companies.
    """
    reps = [rep for rep in near if rep in firm.reps]
    if firm.plain or not reps or firm.aside.random() >= GOES:
        return None
    rep = firm.aside.choice(reps)
    firm.disturbed |= {one["Id"] for one in _places(firm, rep)}
    return _tried(firm.aside.choice((_deactivated, _absent, _absent, _taken_out, _removed)), firm, rep)


def asks(firm: Company, near: Sequence[str]) -> str | None:
    """The status of a lead in flight is set to one that asks for an owner, or away from it; of a rep's lead first."""
    living = [row for lead in near if (row := firm.row(lead)) is not None and not row["IsConverted"]]
    if not firm.intake_statuses or not living or firm.aside.random() >= ASKS:
        return None
    lead = firm.aside.choice([row for row in living if row["OwnerId"] in firm.reps] or living)
    status = OPEN if lead["Status"] == WORKING and firm.aside.random() < 0.5 else WORKING
    try:
        firm.save(firm.org.admin_user_id, lead["Id"], Status=status)
    except Failure as refused:
        return f"to set {lead['Id']} was refused: {refused.code}"
    return f"{lead['Id']} is set to {status}"


def flips(firm: Company, near: Sequence[str]) -> str | None:
    """Where groups re-route, a rep's lead in flight is set to another country, and often back to its own at once."""
    owned = [lead for lead in near if (firm.row(lead) or {"OwnerId": ""})["OwnerId"] in firm.reps]
    if "reroute" not in firm.traits or not owned or firm.aside.random() >= FLIPS:
        return None
    lead = firm.aside.choice(owned)
    own = (firm.row(lead) or {})["Country"]
    other = next(country for country in COUNTRIES if country != own)
    countries = (other, own) if firm.aside.random() < 0.7 else (other,)
    try:
        for country in countries:
            firm.save(firm.org.admin_user_id, lead, Country=country)
    except Failure as refused:
        return f"to edit {lead} was refused: {refused.code}"
    return f"{lead} is of {' and then of '.join(countries)}"


def _tried(way: Callable[[Company, str], str], firm: Company, rep: str) -> str:
    try:
        return way(firm, rep)
    except Failure as refused:
        return f"{rep} cannot go: {refused.code}"


def _deactivated(firm: Company, rep: str) -> str:
    firm.save(firm.org.admin_user_id, rep, IsActive=False)
    return f"{rep} is deactivated"


def _absent(firm: Company, rep: str) -> str:
    now = firm.clock.now()
    end = now + timedelta(minutes=firm.aside.choice((20, 300)))
    fields = {"User__c": rep, "Start__c": instant(now - timedelta(minutes=1)), "End__c": instant(end)}
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        opened.insert("Member_Absence__c", fields)
    return f"{rep} goes on leave until {end}"


def _taken_out(firm: Company, rep: str) -> str:
    for place in _places(firm, rep):
        firm.save(firm.org.admin_user_id, place["Id"], Active__c=False)
    return f"{rep} is taken out"


def _removed(firm: Company, rep: str) -> str:
    """Where the group has another member left: one without members would keep its leads for ever."""
    gone = [
        place["Id"]
        for place in _places(firm, rep)
        if sum(one["Group__c"] == place["Group__c"] for one in firm.rows(MEMBER)) > 1
    ]
    for member in gone:
        with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
            opened.delete(MEMBER, member)
    firm.members = {name: one for name, one in firm.members.items() if one not in gone}
    return f"{rep} is no member any more: {' '.join(gone) or 'the last one stays'}"


def _places(firm: Company, rep: str) -> list[Any]:
    return [one for one in firm.rows(MEMBER) if one["User__c"] == rep]
