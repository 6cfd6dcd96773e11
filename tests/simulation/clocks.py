"""The first-touch clock in plays: some companies have one, their reps touch some leads, and what must then hold."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lead_router.core.keys import untouched_round
from org_simulator.failures import Failure
from simulation.company import Company
from simulation.witness import Seen

if TYPE_CHECKING:
    from simulation.play import Play

Row = Mapping[str, Any]
CLOCKED = 0.2  # the share of such companies
OFTEN = 0.3  # of the times at which somebody meddles, somebody touches a lead
GIVEN = 0.4  # of these, the share of leads that are given to somebody else
OPEN, CLOSED = "Open - Not Contacted", "Closed - Not Converted"
MOVES_MAX = 2  # as the setting's default has it
SKEWED = "clock: jump"


def settle(firm: Company, seed: int) -> random.Random | None:
    """Whether this company has a clock: the dice of those who touch its leads, by which other plays go as before."""
    dice = random.Random(f"first touch {seed}")
    if dice.random() >= CLOCKED:
        return None
    for group in firm.groups.values():
        manager = (firm.row(group) or {})["Manager__c"] or dice.choice((firm.refs["Gus"], None))
        firm.save(firm.org.admin_user_id, group, Accept_Within__c=dice.choice((1, 5, 15)), Manager__c=manager)
    (right,) = (row["Id"] for row in firm.rows("PermissionSet") if row["Name"] == "Lead_Router_Activities")
    with firm.org.system_transaction(firm.org.admin_user_id) as opened:
        for user in firm.users:
            opened.insert("PermissionSetAssignment", {"AssigneeId": user, "PermissionSetId": right})
    return dice


def touches(firm: Company, dice: random.Random, near: Sequence[str]) -> str | None:
    """The owner of a lead calls the buyer, or says that the lead is worked on; or somebody gives it to another rep."""
    living = [lead for lead in near or firm.leads if firm.row(lead) is not None]
    if not living:
        return None
    lead = dice.choice(living)
    owner = str((firm.row(lead) or {})["OwnerId"])
    if owner not in firm.reps:
        return None
    try:
        if firm.aside.random() < GIVEN:
            other = firm.aside.choice([rep for rep in firm.reps if rep != owner])
            firm.save(firm.org.admin_user_id, lead, OwnerId=other)
            return f"{lead} is given to {other}"
        if dice.random() < 0.5:
            firm.save(owner, lead, Status=CLOSED)
            return f"{owner} closes {lead}"
        with firm.org.transaction(owner) as opened:
            opened.insert("Task", {"WhoId": lead, "Subject": "Call", "Status": "Completed"})
    except Failure as refused:
        return f"to touch {lead} was refused: {refused.code}"
    return f"{owner} calls about {lead}"


# ---- promises -------------------------------------------------------------------------------------------------------


def moves(play: Play) -> Iterator[tuple[Seen, Row, Row]]:
    """What the clock did: the commit, the ledger's row, and the lead as it was just before."""
    for seen in play.witness.commits:
        for change in seen.of("Lead_Assignment__c"):
            row = change.after or {}
            lead = play.witness.state(row["Lead__c"], seen.number) if change.kind == "CREATE" else None
            if lead is not None and untouched_round(row["Idempotency_Key__c"]) is not None:
                yield seen, row, lead


def touched_leads_stay(play: Play) -> Iterator[str]:
    """The clock takes a lead only from the owner that a turn gave it, whose time is over, and who has not touched it.

    A call that is logged between read and write is not seen; a change of the lead itself always is.
    """
    for seen, row, lead in moves(play):
        if lead["Status"] != OPEN or lead["IsConverted"]:
            yield f"{lead['Id']} was touched, {lead['Status']}, and taken from {lead['OwnerId']}"
        if row["Assigned_From__c"] != lead["OwnerId"] or int(row["Round__c"]) != int(lead["Routing_Round__c"] or 0) + 1:
            yield f"{lead['Id']} was taken from {row['Assigned_From__c']} in round {row['Round__c']}"
        if lead["LastModifiedById"] == lead["OwnerId"]:
            yield f"{lead['Id']} was changed by its owner, and taken from {lead['OwnerId']}"
        given_at = datetime.fromisoformat(str(lead["Routed_At__c"]))
        begun = play.witness.steps[seen.step].commits if seen.step is not None else seen.number
        for other in play.witness.commits[:begun]:
            calls = [change.after or {} for change in other.of("Task")]
            if any(call.get("WhoId") == lead["Id"] for call in calls) and other.at > given_at:
                yield f"{lead['Id']} was called about at {other.at}, and taken from {lead['OwnerId']}"
        group = play.witness.state(row["Group__c"], seen.number) or {}
        lay_s = (seen.at - given_at).total_seconds()
        if not play.counts[SKEWED] and lay_s < int(group["Accept_Within__c"]) * 60 - 1:
            yield f"{lead['Id']} lay for {lay_s} s, and had {group['Accept_Within__c']} minutes"


def the_clock_comes_to_rest(play: Play) -> Iterator[str]:
    """In a row it moves a lead twice at most, then to the manager; and to no other who had it before."""
    rows: dict[str, list[Row]] = {}
    for row in play.company.rows("Lead_Assignment__c"):
        rows.setdefault(row["Lead_Key__c"].partition(".")[0], []).append(row)
    for lead_id, several in rows.items():
        in_a_row, had = 0, set[str]()
        for row in sorted(several, key=lambda one: int(one["Round__c"])):
            by_clock = untouched_round(row["Idempotency_Key__c"]) is not None
            in_a_row = in_a_row + 1 if by_clock else 0
            if in_a_row > MOVES_MAX + (row["Outcome__c"] == "Fallback"):
                yield f"{lead_id} was moved {in_a_row} times in a row"
            if by_clock and row["Outcome__c"] != "Fallback" and row["Assigned_To__c"] in had:
                yield f"{lead_id} came to {row['Assigned_To__c']} again"
            if row["Lead__c"] == lead_id:  # else it was deleted, and with it its past
                had.add(row["Assigned_To__c"])


CHECKS = {"touched leads": touched_leads_stay, "clock rests": the_clock_comes_to_rest}
