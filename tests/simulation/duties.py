"""Promises about who may have a lead: hours, caps, accepted leads, modes, and fallbacks. See `promises`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from lead_router.core.keys import untouched_round
from simulation.company import COUNTRIES
from simulation.witness import Seen

if TYPE_CHECKING:
    from simulation.play import Play

Row = Mapping[str, Any]
LEAD, LEDGER = "Lead", "Lead_Assignment__c"
EARLY_ENDS = time(9, 30)  # UTC, of the one record of business hours that companies use
SKEWED = "clock: jump"
ASIDE = frozenset({"Manual", "Duplicate"})  # outcomes that no cap is asked for, and that may be decided later


def turns(play: Play) -> Iterator[tuple[Seen, int, Row]]:
    """Each ledger row of a turn that was not taken by hand: its commit, the first commit of its step, the row."""
    for seen in play.witness.commits:
        if seen.ours and seen.step is not None:
            for change in seen.of(LEDGER):
                row = change.after or {}
                if row["Turn_Key__c"] and row["Outcome__c"] != "Manual":
                    yield seen, play.witness.steps[seen.step].commits, row


def members_accept_what_they_get(play: Play) -> Iterator[str]:
    """No turn goes to a member whose criteria, as they stood all through the step, the lead does not meet."""
    for seen, begun, row in turns(play):
        member, lead = play.witness.state(row["Member__c"], begun), play.witness.state(row["Lead__c"], begun)
        if member is None or lead is None or not member["Accepts__c"]:
            continue
        accepts = f"LeadSource = '{lead['LeadSource']}'"
        if member["Accepts__c"] != accepts and _same(play, member, "Accepts__c", begun, seen.number):
            yield f"{member['Id']} takes {member['Accepts__c']}, and was given {row['Lead__c']}"


def daily_caps_hold(play: Play) -> Iterator[str]:
    """No member gets a turn more in a day of theirs than the cap says; only what is taken by hand goes past it."""
    if play.counts[SKEWED]:
        return
    got: dict[tuple[str, str], int] = {}
    for seen in play.witness.commits:
        for change in seen.of(LEDGER):
            row = change.after or {}
            if not (seen.ours and row["Turn_Key__c"]) or seen.step is None:
                continue
            begun = play.witness.steps[seen.step]
            member = play.witness.state(row["Member__c"], begun.commits) or {}
            zone = ZoneInfo(str((play.company.row(str(member["User__c"])) or {})["TimeZoneSidKey"]))
            day = seen.at.astimezone(zone).date().isoformat()
            if begun.at.astimezone(zone).date().isoformat() != day:
                continue  # it may count for either day
            place = (str(member["Id"]), day)
            got[place] = got.get(place, 0) + 1
            cap = member["Daily_Cap__c"]
            over = cap is not None and got[place] > int(cap) and row["Outcome__c"] != "Manual"
            if over and _same(play, member, "Daily_Cap__c", begun.commits, seen.number):
                yield f"{member['Id']} had {got[place]} turns on {day}, and may have {cap:.0f}"


def open_caps_hold(play: Play) -> Iterator[str]:
    """No turn goes to a user whose open leads had reached the cap, if nobody else moved leads of theirs meanwhile."""
    for seen, begun, row in turns(play):
        member = play.witness.state(row["Member__c"], begun)
        if member is None or member["Open_Lead_Cap__c"] is None:
            continue
        user = member["User__c"]
        if _moved_by_others(play, user, begun, seen):
            continue
        held = sum(1 for lead in _leads_before(play, seen.number) if _counts(lead, user))
        beside = [change.after or {} for change in seen.of(LEDGER)]
        for other in beside:
            if other["Id"] == row["Id"]:
                break
            held += other["Assigned_To__c"] == user and other["Outcome__c"] not in ASIDE
        cap = int(member["Open_Lead_Cap__c"])
        if held >= cap and _same(play, member, "Open_Lead_Cap__c", begun, seen.number):
            yield f"{user} had {held} open leads of {cap}, and was given {row['Lead__c']}"


def hours_are_kept(play: Play) -> Iterator[str]:
    """No turn goes to a member outside the hours that were the member's or the group's all through the step."""
    if play.counts[SKEWED]:
        return
    for seen, begun, row in turns(play):
        member, group = play.witness.state(row["Member__c"], begun), play.witness.state(row["Group__c"], begun)
        if member is None or group is None or not (member["Business_Hours__c"] or group["Business_Hours__c"]):
            continue
        kept = _same(play, member, "Business_Hours__c", begun, seen.number)
        kept = kept and _same(play, group, "Business_Hours__c", begun, seen.number)
        since = play.witness.steps[seen.step or 0].at
        closed = since.time() > EARLY_ENDS and seen.at.time() > EARLY_ENDS and since.date() == seen.at.date()
        if kept and closed:
            yield f"{member['Id']} was given {row['Lead__c']} at {seen.at:%H:%M}"


def only_live_groups_give(play: Play) -> Iterator[str]:
    """No turn is taken from a group that was off, or only observed, all through the step."""
    for seen, begun, row in turns(play):
        group = play.witness.state(row["Group__c"], begun)
        if group and group["Mode__c"] != "Live" and _same(play, group, "Mode__c", begun, seen.number):
            yield f"{group['Key__c']} is {group['Mode__c']}, and gave {row['Turn_Key__c']}"


def nobody_absent_is_given_a_lead(play: Play) -> Iterator[str]:
    """No turn goes to who was on leave all through the step, if the router had read of that leave before it."""
    if play.counts[SKEWED]:
        return
    for seen, begun, row in turns(play):
        step = play.witness.steps[seen.step or 0]
        member = play.witness.state(row["Member__c"], begun) or {}
        for absence in play.witness.absences:
            leave = play.witness.state(absence, step.configured)
            if leave is None or leave["User__c"] != member.get("User__c") or not _lasts(leave, step.at, seen.at):
                continue
            if play.witness.still(absence, step.configured, seen.number):
                yield f"{member['Id']} was given {row['Turn_Key__c']} on leave"


def groups_are_those_of_the_rules(play: Play) -> Iterator[str]:
    """A turn is of the group that the lead's fields, as they were all through the step, choose; or of its fallback.

    The first-touch clock stays with the group that gave the lead last.
    """
    for seen, begun, row in turns(play):
        lead = play.witness.state(row["Lead__c"], begun)
        late = untouched_round(row["Idempotency_Key__c"]) is not None
        if lead is None or late or not play.witness.still(lead["Id"], begun, seen.number):
            continue
        group = play.company.groups[COUNTRIES[lead["Country"]]]
        fallback = (play.company.row(group) or {})["Fallback_Group__c"]
        if row["Group__c"] not in {group, fallback}:
            yield f"{lead['Id']} of {lead['Country']} took {row['Turn_Key__c']}"


def fallbacks_have_a_reason(play: Play) -> Iterator[str]:
    """A lead goes past its group only if none of its members could have it: none that was never kept from anything."""
    for seen in play.witness.commits:
        if not seen.ours or seen.step is None:
            continue
        begun = play.witness.steps[seen.step].commits
        for change in seen.of(LEDGER):
            row = change.after or {}
            lead = play.witness.state(row["Lead__c"], begun) if row["Outcome__c"] == "Fallback" else None
            if lead is None or int(row["Round__c"]) > 1 or not play.witness.still(lead["Id"], begun, seen.number):
                continue
            group = play.company.groups[COUNTRIES[lead["Country"]]]
            for member in play.company.rows("Round_Robin_Member__c"):
                if member["Group__c"] == group and member["Id"] not in play.company.disturbed:
                    yield f"{lead['Id']} fell back, and {member['Id']} could have had it"


def _same(play: Play, row: Row, name: str, begun: int, before: int) -> bool:
    """Whether the field of the record had one value all through the step."""
    states = play.witness.states(row["Id"], begun, before)
    return all(state is not None and state[name] == row[name] for state in states)


def _lasts(leave: Row, since: datetime, until: datetime) -> bool:
    """Whether the leave covers both instants."""
    return datetime.fromisoformat(leave["Start__c"]) <= since and until < datetime.fromisoformat(leave["End__c"])


def _leads_before(play: Play, number: int) -> Iterator[Row]:
    for lead_id in play.company.leads:
        lead = play.witness.state(lead_id, number)
        if lead is not None:
            yield lead


def _counts(lead: Row, user: str) -> bool:
    return lead["OwnerId"] == user and not lead["IsConverted"] and not lead["Status"].startswith("Closed")


def _moved_by_others(play: Play, user: str, begun: int, seen: Seen) -> bool:
    for other in play.witness.commits[begun : seen.number]:
        for change in other.of(LEAD):
            touches = user in {(change.before or {}).get("OwnerId"), (change.after or {}).get("OwnerId")}
            if touches and other.step != seen.step:
                return True
    return False
