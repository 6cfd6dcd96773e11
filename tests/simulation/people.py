"""What buyers, reps and administrators of a play do, whenever it suits the router least."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from org_simulator.bulk import save_all
from org_simulator.failures import Failure
from simulation import aimed
from simulation.company import COUNTRIES, SOURCES, WORKING, Company, instant

if TYPE_CHECKING:
    from org_simulator.transaction import Transaction

# ---- what they do: each answers what was done, or None where nothing could be ---------------------------------------


def comes(firm: Company, _leads: Sequence[str]) -> str:
    """One to three buyers fill in a form; some fill it in twice."""
    count = firm.dice.choice((2, 3, 3) if firm.plain else (1, 1, 1, 2, 3))
    several: list[dict[str, Any]] = []
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        for _ in range(count):
            firm.buyers += firm.dice.random() >= firm.habits[comes.__name__] or firm.buyers == 0
            fields = {
                "LastName": "Buyer",
                "Company": "Buyers Ltd",
                "Email": f"buyer{firm.buyers}@buyer.example",
                "Country": firm.country(),
                "LeadSource": firm.dice.choice(SOURCES),
                "OwnerId": firm.dice.choice(firm.intakes),
            }
            several.append(fields | aimed.owned(firm))
        firm.leads += _saved(firm, opened, several)
    return f"{count} came, the last {firm.leads[-1]}"


def comes_again(firm: Company, leads: Sequence[str]) -> str | None:
    """The buyer of a lead fills in the form once more."""
    lead = _one(firm, leads)
    if lead is None or len(firm.leads) >= LEADS_MAX:
        return None
    first = firm.row(lead) or {}
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        fields = {
            "LastName": "Buyer",
            "Company": "Buyers Ltd",
            "Email": first["Email"],
            "Country": firm.dice.choice(tuple(COUNTRIES)),
            "LeadSource": first["LeadSource"],
            "OwnerId": firm.dice.choice(firm.intakes),
        }
        firm.leads.append(opened.insert("Lead", fields))
    return f"the buyer of {lead} came again as {firm.leads[-1]}"


def takes(firm: Company, leads: Sequence[str]) -> str | None:
    rep, lead = firm.dice.choice(firm.reps), _one(firm, leads)
    if lead is None or not firm.row(rep)["IsActive"]:  # type: ignore[index]
        return None
    firm.save(rep, lead, OwnerId=rep)
    return f"{rep} takes {lead}"


def gives_back(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    intakes = [] if lead is None else [one for one in firm.intakes if one != firm.row(lead)["OwnerId"]]  # type: ignore[index]
    if lead is None or not intakes:
        return None
    intake = firm.dice.choice(intakes)
    firm.save(firm.org.admin_user_id, lead, OwnerId=intake)
    return f"{lead} is given back to {intake}"


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


def sets_status(firm: Company, leads: Sequence[str]) -> str | None:
    """A lead is worked upon; in some companies that status asks for an owner."""
    lead = _one(firm, leads)
    if lead is None or firm.row(lead)["IsConverted"]:  # type: ignore[index]
        return None
    status = firm.dice.choice((WORKING, WORKING, "Open - Not Contacted"))
    firm.save(firm.org.admin_user_id, lead, Status=status)
    return f"{lead} is {status}"


def recycles(firm: Company, leads: Sequence[str]) -> str | None:
    """A manager sets the status of a lead back, where that asks for an owner, and then gives the lead to a rep."""
    lead = _one(firm, leads)
    if lead is None or not firm.intake_statuses or firm.row(lead)["IsConverted"]:  # type: ignore[index]
        return None
    rep = firm.dice.choice(firm.reps)
    for change in ({"Status": WORKING}, {"Status": firm.dice.choice(sorted(firm.intake_statuses))}, {"OwnerId": rep}):
        firm.save(firm.org.admin_user_id, lead, **change)
    return f"{lead} is set back, and given to {rep}"


def transfers(firm: Company, leads: Sequence[str]) -> str | None:
    lead = _one(firm, leads)
    if lead is None:
        return None
    owner = firm.dice.choice((*firm.reps, *firm.intakes))
    firm.org.mass_transfer([lead], owner)
    return f"{lead} is transferred to {owner}"


def leaves(firm: Company, near: Sequence[str]) -> str:
    """A rep's user is deactivated, or comes back."""
    rep = _among(firm, near, firm.reps)
    active = not firm.row(rep)["IsActive"]  # type: ignore[index]
    firm.disturbed |= {member for member in firm.members.values() if firm.row(member)["User__c"] == rep}  # type: ignore[index]
    firm.save(firm.org.admin_user_id, rep, IsActive=active)
    return f"{rep} is active: {active}"


def rests(firm: Company, near: Sequence[str]) -> str:
    """A member is taken out, or comes back; or gets another weight."""
    member = _among(firm, near, tuple(firm.members.values()))
    firm.disturbed.add(member)
    change = firm.dice.choice(
        ({"Active__c": False}, {"Active__c": True}, {"Weight__c": 0}, {"Weight__c": firm.dice.randint(1, 5)})
    )
    firm.save(firm.org.admin_user_id, member, **change)
    return f"{member} is changed: {change}"


def absent(firm: Company, near: Sequence[str]) -> str:
    rep, now = _among(firm, near, firm.reps), firm.clock.now()
    firm.disturbed |= {member for member in firm.members.values() if firm.row(member)["User__c"] == rep}  # type: ignore[index]
    end = now + timedelta(minutes=firm.dice.choice((1, 20, 300)))
    with firm.org.transaction(firm.org.admin_user_id, auto_assign=False) as opened:
        opened.insert(
            "Member_Absence__c",
            {"User__c": rep, "Start__c": instant(now - timedelta(minutes=1)), "End__c": instant(end)},
        )
    return f"{rep} is absent until {end}"


def limits(firm: Company, near: Sequence[str]) -> str | None:
    """A member's caps, or the leads that the member takes, are changed, where the company has such."""
    choices: list[dict[str, Any]] = []
    if "accepts" in firm.traits:
        choices += [{"Accepts__c": f"LeadSource = '{firm.dice.choice(SOURCES)}'"}, {"Accepts__c": None}]
    if "daily caps" in firm.traits:
        choices += [{"Daily_Cap__c": firm.dice.choice((None, 0, 1, 2))}]
    if "open caps" in firm.traits:
        choices += [{"Open_Lead_Cap__c": firm.dice.choice((None, 0, 1, 2))}]
    if not choices:
        return None
    member = _among(firm, near, tuple(firm.members.values()))
    firm.disturbed.add(member)
    change = firm.dice.choice(choices)
    firm.save(firm.org.admin_user_id, member, **change)
    return f"{member} is limited: {change}"


def turns_mode(firm: Company, near: Sequence[str]) -> str:
    group = _among(firm, near, tuple(firm.groups.values()))
    mode = firm.dice.choice(("Off", "Observe", "Live", "Live") if "late" not in firm.traits else ("Live", "Off"))
    firm.save(firm.org.admin_user_id, group, Mode__c=mode)
    return f"{group} is {mode}"


def resets(firm: Company, near: Sequence[str]) -> str:
    """An administrator raises a group's epoch; its turns begin anew."""
    group = _among(firm, near, tuple(firm.groups.values()))
    epoch = int(firm.row(group)["Epoch__c"]) + 1  # type: ignore[index]
    firm.save(firm.org.admin_user_id, group, Epoch__c=epoch, Turn__c=0)
    return f"{group} begins epoch {epoch}"


LEADS_MAX = 14
ONE_BY_ONE = 0.3
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
    (sets_status, 1),
    (recycles, 2),
    (comes_again, 2),
)
ON_GROUPS: tuple[tuple[Act, int], ...] = (
    (leaves, 3),
    (rests, 3),
    (absent, 1),
    (turns_mode, 1),
    (resets, 3),
    (limits, 2),
)
HABITS = (0.0, 1.0, 1.0, 4.0)
AGAIN = (0.0, 0.15, 0.15, 0.6)  # how many of the buyers fill in the form a second time


def settle(firm: Company) -> None:
    """Draw what the people of this play are fond of, and what they never do; in plain ones they never touch a group,
    nor give a lead back.
    """
    firm.habits = {each.__name__: firm.dice.choice(HABITS) for each, _ in ON_LEADS}
    firm.habits |= {each.__name__: 0.0 if firm.plain else firm.dice.choice(HABITS) for each, _ in ON_GROUPS}
    if "late" in firm.traits:
        firm.habits[turns_mode.__name__] = 10.0
    if "statuses" in firm.traits:
        firm.habits[sets_status.__name__] = 4.0
    firm.habits[comes.__name__] = firm.dice.choice(AGAIN)
    if firm.plain:
        firm.habits |= {each.__name__: 0.0 for each in (gives_back, transfers, comes_again, comes)}


def act(firm: Company, acts: Sequence[tuple[Act, int]], near: Sequence[str]) -> str | None:
    """One of the acts, by weight and habit, upon what is `near`; what the org refuses is told and changes nothing."""
    weights = [weight * firm.habits[each.__name__] for each, weight in acts]
    if not any(weights):
        return None
    chosen = firm.dice.choices([each for each, _ in acts], weights)[0]
    try:
        return chosen(firm, near)
    except Failure as refused:
        return f"{chosen.__name__} was refused: {refused.code}"


def _one(firm: Company, leads: Sequence[str]) -> str | None:
    """A living lead: one of these, or any."""
    living = [lead for lead in leads if firm.row(lead) is not None]
    living = living or [lead for lead in firm.leads if firm.row(lead) is not None]
    return firm.dice.choice(living) if living else None


def _saved(firm: Company, opened: Transaction, several: Sequence[Mapping[str, Any]]) -> list[str]:
    """New leads, saved at once, so that a trigger sees them together; now and then one by one where there is one."""
    if firm.org.automation is not None and firm.dice.random() < ONE_BY_ONE:
        return [opened.insert("Lead", fields) for fields in several]
    found = save_all(opened, "insert", "Lead", [(None, fields) for fields in several], together=True)
    for one in found:
        if isinstance(one, Failure):
            raise one
    return [str(one) for one in found]


def _among(firm: Company, near: Sequence[str], all_of_them: Sequence[str]) -> str:
    """One of those in flight, or any."""
    return firm.dice.choice([one for one in near if one in all_of_them] or all_of_them)
