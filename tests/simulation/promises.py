"""What must hold at the end of every play, whatever the weather was; reckoned from what the org and the disks hold.

Each check answers one sentence per broken promise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lead_router.core.keys import untouched_round
from simulation import clocks, duties, hopping, rebuilt
from simulation.company import COUNTRIES
from simulation.play import PROMPT_S
from simulation.witness import Seen

if TYPE_CHECKING:
    from simulation.play import Play

Row = Mapping[str, Any]
LEAD, LEDGER, GROUP, MEMBER = "Lead", "Lead_Assignment__c", "Round_Robin_Group__c", "Round_Robin_Member__c"
WINDOW_S = 600  # of a submission, as the setting's default has it
SKEW_MS = 60_000  # by which a database's clock may be ahead of the org's
SILENT = ("clock: jump", "stream: lose_event", "stream: refuse_subscribe", "stream: refuse_handshake")
"""Faults after which only time or the next sweep helps: clocks set back, events that never were, refusals."""

WRITTEN = {"assigned", "fallback", "matched", "duplicate", "counted: taken by hand", "already routed"}


def broken(play: Play) -> list[str]:
    """All broken promises of a play, each with the name of its check."""
    return [f"{name}: {what}" for name, check in CHECKS.items() for what in check(play)]


def no_surprise(play: Play) -> Iterator[str]:
    """No step ends in a fault that nobody named."""
    yield from play.surprises


def nobody_lost(play: Play) -> Iterator[str]:
    """After the calm a lead that is there and not converted has an owner: everybody was on duty, nothing failed.

    Where a status asks for an owner, it was routed once at least.
    """
    firm = play.company
    routed = {row["Lead_Key__c"].partition(".")[0] for row in _ledger(play)}  # an undeleted lead may have lost its rows
    for lead in firm.rows(LEAD):
        unseen = lead["Status"] in firm.intake_statuses and lead["Id"] not in routed
        if lead["IsConverted"] or not (lead["OwnerId"] in firm.intakes or unseen):
            continue
        jobs = [job for host in play.hosts for job in host.jobs() if job["lead_id"] == lead["Id"]]
        told = [(job["status"], job["last_error"]) for job in jobs]
        yield f"{lead['Id']} waits: {told}"


def nobody_waits_for_a_sweep(play: Play) -> Iterator[str]:
    """Two minutes of calm bring everybody an owner, but where nothing told of a lead, or nobody was there for it.

    What a fault of the stream may have hidden is looked for at once; what it surely hid, by the next sweep.
    """
    if any(play.counts[fault] for fault in SILENT):
        return
    jobs = [job for host in play.hosts for job in host.jobs()]
    held = {job["lead_id"] for job in jobs if (job["last_error"] or "").startswith("held:")}
    for lead_id in sorted(play.late - held):
        yield f"{lead_id} waited for more than {PROMPT_S:.0f} s of calm"


def nobody_twice(play: Play) -> Iterator[str]:
    """A router gives out only what is unassigned at that very moment: a person's claim is kept.

    Where groups re-route or clocks run, a lead is taken only from whom its last routing gave it to, and there only if
    it has met another group since; where statuses ask for an owner, from anybody before its first routing, and after
    that if somebody has set the status back, and has not given the lead to someone since, as far as that was heard. A
    status that is set away between read and write claims nothing; nor is a lead known to be no more its routing's that
    came back to the same rep, before that was heard or shown by the trigger.
    """
    firm = play.company
    given: dict[str, str] = {}
    routings: dict[str, tuple[str, datetime]] = {}
    back = _set_back(play)
    for seen in play.witness.commits:
        for change in seen.of(LEAD):
            before, after = change.before or {}, change.after or {}
            former = before.get("OwnerId")
            if before and after and former != after["OwnerId"] and seen.ours:
                kept = given.get(change.id) == former or _unheard(play, seen, before, routings.get(change.id))
                again = "reroute" in firm.traits and kept and _met_another(play, change.id, seen.number)
                asked = _asked(play, change.id, seen) and (
                    not int(before["Routing_Round__c"] or 0) or _asks_still(play, seen, change.id, back)
                )
                late = kept and untouched_round(after["Routing_Idem_Key__c"] or "") is not None
                if former not in firm.intakes and not again and not asked and not late:
                    yield f"{change.id} was taken from {former} and given to {after['OwnerId']}"
            routed = seen.ours and _moved(change.before, change.after, "Routing_Round__c")
            if after and (former != after["OwnerId"] or routed):
                given[change.id] = str(after["OwnerId"]) if seen.ours else ""
            if after and routed:
                routings[change.id] = str(after["OwnerId"]), seen.at.replace(microsecond=0)


def _unheard(play: Play, seen: Seen, lead: Row, last: tuple[str, datetime] | None) -> bool:
    """Whether people gave the lead on since its last routing, and it is back, and its router cannot know of that."""
    if last is None or seen.step is None or lead["OwnerId"] != last[0] or not lead["Routing_Expected_Owner__c"]:
        return False
    heard = play.witness.steps[seen.step].given.get(lead["Id"])
    return heard is None or heard < last[1]


def _asked(play: Play, lead_id: str, seen: Seen) -> bool:
    """Whether its status asked for an owner while it had the one it was taken from, in the step that gave it out."""
    begun = play.witness.steps[seen.step].commits if seen.step is not None else seen.number
    states = [lead for lead in play.witness.states(lead_id, begun, seen.number) if lead is not None]
    asking = {lead["OwnerId"] for lead in states if lead["Status"] in play.company.intake_statuses}
    return states[-1]["OwnerId"] in asking


def _asks_still(play: Play, seen: Seen, lead_id: str, back: Mapping[tuple[str, int], datetime]) -> bool:
    """Whether the status was set back before this routing, and after any hand-over that its router had heard of."""
    at = back.get((lead_id, seen.number))
    given = play.witness.steps[seen.step].given.get(lead_id) if seen.step is not None else None
    return at is not None and (given is None or given < at.replace(microsecond=at.microsecond // 1000 * 1000))


def _set_back(play: Play) -> dict[tuple[str, int], datetime]:
    """The routings before which somebody had changed the lead's status since the last one, and when."""
    found: dict[tuple[str, int], datetime] = {}
    changed: dict[str, datetime] = {}
    routed: dict[str, datetime] = {}
    for seen in play.witness.commits:
        for change in seen.of(LEAD):
            if not seen.ours and _moved(change.before, change.after, "Status"):
                changed[change.id] = seen.at
            elif seen.ours and _moved(change.before, change.after, "Routing_Round__c"):
                at = changed.get(change.id)
                if at is not None and _later(play, seen, change.before or {}, at, routed.get(change.id)):
                    found[change.id, seen.number] = at
                routed[change.id] = seen.at.replace(microsecond=0)
    return found


def _later(play: Play, seen: Seen, before: Row, at: datetime, routed: datetime | None) -> bool:
    """Whether the status was set after the last routing; a router outside takes nothing of that very second for later,
    but what the one inside left Queued.
    """
    outside = seen.step is not None and play.witness.steps[seen.step].router is not None
    strict = outside and before["Routing_Status__c"] != "Queued"
    return routed is None or (at.replace(microsecond=0) > routed if strict else at >= routed)


def _met_another(play: Play, lead_id: str, number: int) -> bool:
    """Whether the lead, since its last routing, was of a country whose turns are not those of the group it is with."""
    firm, before = play.company, play.witness.commits[:number]
    last = next(
        ((seen.number, row) for seen in reversed(before) for row in _rows(seen) if row["Lead__c"] == lead_id), None
    )
    if last is None:
        return False
    for lead in play.witness.states(lead_id, last[0], number):
        group = firm.groups[COUNTRIES[lead["Country"]]] if lead is not None else last[1]["Group__c"]
        if last[1]["Group__c"] not in {group, (firm.row(group) or {})["Fallback_Group__c"]}:
            return True
    return False


def _rows(seen: Seen) -> list[Row]:
    """The rows that a commit wrote into the ledger, the last first."""
    return [change.after or {} for change in reversed(seen.of(LEDGER))]


def all_or_nothing(play: Play) -> Iterator[str]:
    """Owner, stamp, ledger row and rotation move together or not at all."""
    for seen in _ours(play):
        rows = [change.after or {} for change in seen.of(LEDGER)]
        moved = {change.id: change for change in seen.of(LEAD) if _given(change.before, change.after)}
        given = {row["Lead__c"]: row for row in rows if row["Outcome__c"] != "Manual"}
        if moved.keys() != given.keys():
            yield f"commit {seen.number}: owners of {sorted(moved)} moved, the ledger tells of {sorted(given)}"
            continue
        for lead_id, change in moved.items():
            row, after = given[lead_id], change.after or {}
            stamp = (after["OwnerId"], after["Routing_Idem_Key__c"], int(after["Routing_Round__c"] or 0))
            if stamp != (row["Assigned_To__c"], row["Idempotency_Key__c"], int(row["Round__c"])):
                yield f"commit {seen.number}: {lead_id} bears {stamp}, the ledger another"
            if row["Assigned_From__c"] != (change.before or {})["OwnerId"]:
                yield f"commit {seen.number}: {lead_id} was taken from another than the ledger says"
        yield from _rotation_moved(seen, rows)


def _rotation_moved(seen: Seen, rows: list[Row]) -> Iterator[str]:
    turns = sum(1 for row in rows if row["Turn_Key__c"])
    stepped = 0
    for change in seen.of(GROUP):
        stepped += int((change.after or {})["Turn__c"]) - int((change.before or {})["Turn__c"])
    if turns != stepped:
        yield f"commit {seen.number}: {turns} turns in the ledger, {stepped} in the rotation"


def turns_have_no_hole(play: Play) -> Iterator[str]:
    """The turns of a group's epoch are 1 to n, each once, and the group stands at the last."""
    turns: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for row in _ledger(play):
        if row["Turn_Key__c"]:
            turns[row["Group__c"], int(row["Epoch__c"])].append(int(row["Turn__c"]))
    for (group, epoch), found in turns.items():
        if found != list(range(1, len(found) + 1)):
            yield f"{group} epoch {epoch}: turns {found}"
    for group in play.company.rows(GROUP):
        last = len(turns[group["Id"], int(group["Epoch__c"])])
        if int(group["Turn__c"]) != last:
            yield f"{group['Key__c']} stands at turn {group['Turn__c']}, the ledger at {last}"


def rounds_have_no_hole(play: Play) -> Iterator[str]:
    """The rounds of a lead are 1 to n, each once."""
    rounds: defaultdict[str, list[int]] = defaultdict(list)
    for row in _ledger(play):
        rounds[row["Lead_Key__c"].partition(".")[0]].append(int(row["Round__c"]))
    for lead_id, found in rounds.items():
        if found != list(range(1, len(found) + 1)):
            yield f"{lead_id}: rounds {found}"


def ledger_is_rotation(play: Play) -> Iterator[str]:
    """Each member received as many leads as the ledger says, and the last of them by its last turn."""
    received: defaultdict[str, list[int]] = defaultdict(list)
    for row in _ledger(play):
        if row["Turn_Key__c"]:
            received[row["Member__c"]].append(int(row["Turn__c"]))
    for member in play.company.rows(MEMBER):
        found = received[member["Id"]]
        if int(member["Leads_Received__c"] or 0) != len(found):
            yield f"{member['Id']} counts {member['Leads_Received__c']} leads, the ledger {len(found)}"
        elif found and int(member["Last_Turn__c"] or 0) != found[-1]:
            yield f"{member['Id']} had turn {member['Last_Turn__c']} last, by the ledger {found[-1]}"


def ledger_is_leads(play: Play) -> Iterator[str]:
    """A lead is with whom the ledger says, unless somebody else changed its owner after that; and shows it.

    One that was converted while it was asked again shows that for ever: a converted lead refuses to be written.
    """
    last: dict[str, Row] = {}
    for row in _ledger(play):
        if row["Lead__c"]:
            last[row["Lead__c"]] = row
    touched = _touched_by_others(play)
    for lead_id, row in last.items():
        lead = play.company.row(lead_id)
        if lead is None or touched.get(lead_id, -1) > _commit_of(play, row["Id"]):
            continue
        if row["Outcome__c"] == "Manual":
            continue  # it tells who took the lead, and leaves the lead as it is
        if lead["OwnerId"] != row["Assigned_To__c"]:
            yield f"{lead_id} is with {lead['OwnerId']}, the ledger gave it to {row['Assigned_To__c']}"
        shown = {"Duplicate": "Duplicate"}.get(row["Outcome__c"], "Assigned")
        if lead["Routing_Status__c"] != shown and not lead["IsConverted"]:
            yield f"{lead_id} shows {lead['Routing_Status__c']}, {lead['Routing_Error__c']}; it is {shown}"


def jobs_come_to_an_end(play: Play) -> Iterator[str]:
    """Every job is done, since everybody is on duty; none died, since nothing lasted that would kill one."""
    for host in play.hosts:
        for job in host.jobs():
            if job["status"] == "dead":
                yield f"job {job['id']} of {host.name} is dead: {job['last_error']}"
            elif job["status"] != "done":
                yield f"job {job['id']} of {host.name} is {job['status']}: {job['last_error']}"


def jobs_tell_the_truth(play: Play) -> Iterator[str]:
    """A job that says that it routed its lead stands in the ledger; done stays done and leaves nobody behind."""
    yield from play.witness.faults
    stamps = {row["Idempotency_Key__c"] for row in _ledger(play)}
    for host in play.hosts:
        for job in host.jobs():
            if (job["outcome"] or "") in WRITTEN and job["idempotency_key"] not in stamps:
                yield f"job {job['id']} of {host.name} says {job['outcome']}, and the ledger knows nothing of it"


def assignments_are_told(play: Play) -> Iterator[str]:
    """What a router gave out is written down to be told, once on each disk, however its job came to its end.

    But for what was no longer so when a job found that it had routed its lead, or of a job that is newer than that; and
    for what the Apex wrote under a sweep's key, which is the same for all, and this job knew nothing of.
    """
    rows = {row["Idempotency_Key__c"]: row for row in _ledger(play) if row["Outcome__c"] != "Manual"}
    rounds: defaultdict[str, int] = defaultdict(int)
    for row in _ledger(play):
        rounds[row["Lead__c"]] = max(rounds[row["Lead__c"]], int(row["Round__c"]))
    written = [host.look("SELECT notice_key FROM notice WHERE org_id = :org_id") for host in play.hosts]
    told = {row["notice_key"] for rows_of_host in written for row in rows_of_host}
    touched = _touched_by_others(play)
    for host in play.hosts:
        for job in host.jobs():
            row = rows.get(job["idempotency_key"])
            if row is None or job["status"] != "done" or job["idempotency_key"] in told:
                continue
            lead = play.company.row(job["lead_id"])
            later = rounds[job["lead_id"]] > int(row["Round__c"])
            by_itself = job["outcome"] in {"assigned", "fallback", "matched", "duplicate"}
            newer = job["created_at"] > _milliseconds(row["CreatedDate"]) + SKEW_MS
            gone = lead is None or lead["IsConverted"] or lead["OwnerId"] != row["Assigned_To__c"]
            gone = gone or row["Lead__c"] is None  # it was deleted, and undeleted at most
            taken = gone or touched.get(job["lead_id"], -1) > _commit_of(play, row["Id"])
            apart = _by_apex(play, row["Id"]) and not job["outcome"].endswith("already routed")
            if not later and not apart and (by_itself or not (newer or taken or play.counts["clock: jump"])):
                yield f"{job['lead_id']} was given out by job {job['id']} of {host.name}, and nobody is told of it"


def events_become_jobs(play: Play) -> Iterator[str]:
    """No event is acknowledged and lost: of each creation up to a stored position there is a job.

    Events that expired are not heard; and after a renumbering an id from before may by chance name a later event. Only
    a sweep finds those between, so the next position that is stored begins anew.
    """
    for host in play.hosts:
        keys = {job["idempotency_key"] for job in host.jobs()}
        for serial, lead_id, key in play.creations:
            heard = any(first < serial <= last for first, last in host.heard.values())
            if heard and key not in keys:
                yield f"{lead_id} came by event {serial}, which {host.name} stored a position behind, without a job"


def attempts_are_refunded(play: Play) -> Iterator[str]:
    """An attempt is used up only where a process died or the database failed; a fault of Salesforce costs none.

    Each of those costs a job one at most, and so does a lease that is over.
    """
    costly = ("process", "database", "answer: slow", "clock")
    lost = sum(count for name, count in play.counts.items() if name.startswith(costly))
    for host in play.hosts:
        for job in host.jobs():
            if job["attempts"] > 1 + lost:
                yield f"job {job['id']} of {host.name} used {job['attempts']} attempts, {lost} were lost"


def shares_are_fair(play: Play) -> Iterator[str]:
    """Two who were always on duty never differ by more than one turn of each, in leads per weight."""
    if any(row["Outcome__c"] == "Manual" for row in _ledger(play)) or _returned(play):
        return
    members = {row["Id"]: row for row in play.company.rows(MEMBER) if row["Id"] not in play.company.disturbed}
    got: dict[str, float] = dict.fromkeys(members, 0.0)
    for row in _ledger(play):
        if row["Turn_Key__c"] and row["Member__c"] in members:
            one = members[row["Member__c"]]
            got[one["Id"]] += 1 / int(one["Weight__c"])
            for other in members.values():
                bound = 1 / int(one["Weight__c"]) + 1 / int(other["Weight__c"])
                if other["Group__c"] == one["Group__c"] and got[one["Id"]] - got[other["Id"]] > bound + 1e-6:
                    yield f"{one['Id']} is {got[one['Id']] - got[other['Id']]:.2f} ahead of {other['Id']}"


def no_held_lead_is_overtaken(play: Play) -> Iterator[str]:
    """A member goes to a newer lead only if no older lead that waited when the step began could have that member."""
    for seen in _ours(play):
        if seen.step is None:
            continue
        begun = play.witness.steps[seen.step]
        written = {(change.after or {})["Lead__c"] for change in seen.of(LEDGER)}
        for change in seen.of(LEDGER):
            row = change.after or {}
            if not row["Turn_Key__c"] or row["Outcome__c"] == "Manual":
                continue
            for lead_id, (group, since_ms) in begun.waiting.items():
                came = _milliseconds(row["Event_At__c"])
                # Of one moment, the Apex goes by ids; a router outside knows more of when than the ledger tells.
                first = since_ms < came or (begun.router is None and (since_ms, lead_id) < (came, row["Lead__c"]))
                older = group in {row["Group__c"], ""} and first
                if older and lead_id not in written and _could_have(play, lead_id, row, begun.commits, seen.number):
                    yield f"{lead_id} waited for {group}, {row['Lead__c']} was given {row['Turn_Key__c']}"


def nobody_off_duty_is_given_a_lead(play: Play) -> Iterator[str]:
    """No turn goes to a member who was inactive, weighed nothing or had no active user when the step began."""
    for seen, begun, row in duties.turns(play):
        member = play.witness.state(row["Member__c"], begun)
        user = play.witness.state(member["User__c"], begun) if member is not None else None
        if member is None or user is None or not play.witness.still(user["Id"], begun, seen.number):
            continue
        plays = member["Active__c"] and int(member["Weight__c"] or 0) > 0 and user["IsActive"]
        if not plays and _as_it_was(play, member, begun, seen.number):
            yield f"{member['Id']} was given {row['Turn_Key__c']} off duty"


def submissions_are_given_once(play: Play) -> Iterator[str]:
    """A second lead of a submission follows where the first one has a person all the while, and uses no turn.

    Who was refused as an owner once is passed over for some minutes more, so only who was never inactive counts here.
    """
    for seen, begun, row in duties.turns(play):
        lead = play.witness.state(row["Lead__c"], begun)
        if lead is None or int(row["Round__c"]) > 1:
            continue
        for first in _ledger(play):
            other = play.witness.state(first["Lead__c"] or "", begun)
            shared = first["Submission_Even__c"] and first["Lead__c"] != lead["Id"] and other is not None
            if not shared or other["Email"] != lead["Email"] or _apart(lead, other):  # type: ignore[index]
                continue
            owner_id = str(other["OwnerId"])  # type: ignore[index]
            person = owner_id.startswith("005") and play.witness.always(owner_id, "IsActive")
            written = _commit_of(play, first["Id"]) < begun
            if written and person and play.witness.still(first["Lead__c"], begun, seen.number):
                yield f"{lead['Id']} took {row['Turn_Key__c']}, its submission's {first['Lead__c']} has an owner"


def echoes_make_no_jobs(play: Play) -> Iterator[str]:
    """Our own writes come back as events and are dropped.

    So are leads that the Apex gives: no client's name stands on its writes, and its stamp tells them apart. Where a gap
    came in place of a write that bears no client's name, as those of both writers inside, nothing does.
    """
    ours = {
        f"{change.transaction_key}.{change.sequence}": "client=" in change.origin
        for seen in _ours(play)
        for change in seen.of(LEAD)
    }
    for host in play.hosts:
        for job in host.jobs():
            named = ours.get(job["idempotency_key"].split(".", 2)[2])
            if named or (named is False and '"GAP_' not in job["payload"]):
                yield f"job {job['id']} of {host.name} was made by our own write"


def overrides_are_true(play: Play) -> Iterator[str]:
    """Whom a lead names as having changed its owner did so: who made a router inside act by a save did not."""
    for seen in _ours(play):
        for change in seen.of(LEAD):
            user = (change.after or {}).get("Routing_Overridden_By__c")
            if not user or not _moved(change.before, change.after, "Routing_Overridden_By__c"):
                continue
            if not any(_gave(play, other, change.id, user) for other in play.witness.commits[: seen.number]):
                yield f"{change.id} names {user}, who gave it to nobody"


CHECKS: Mapping[str, Callable[[Play], Iterator[str]]] = {
    "no surprise": no_surprise,
    "nobody lost": nobody_lost,
    "nobody waits": nobody_waits_for_a_sweep,
    "nobody twice": nobody_twice,
    "all or nothing": all_or_nothing,
    "turns": turns_have_no_hole,
    "rounds": rounds_have_no_hole,
    "ledger = rotation": ledger_is_rotation,
    "ledger = leads": ledger_is_leads,
    "jobs end": jobs_come_to_an_end,
    "jobs tell the truth": jobs_tell_the_truth,
    "told": assignments_are_told,
    "events become jobs": events_become_jobs,
    "attempts": attempts_are_refunded,
    "fairness": shares_are_fair,
    "no overtaking": no_held_lead_is_overtaken,
    "off duty": nobody_off_duty_is_given_a_lead,
    "submissions": submissions_are_given_once,
    "accepted leads": duties.members_accept_what_they_get,
    "daily caps": duties.daily_caps_hold,
    "open caps": duties.open_caps_hold,
    "hours": duties.hours_are_kept,
    "modes": duties.only_live_groups_give,
    "absences": duties.nobody_absent_is_given_a_lead,
    "groups": duties.groups_are_those_of_the_rules,
    "fallbacks": duties.fallbacks_have_a_reason,
    "echoes": echoes_make_no_jobs,
    "overrides": overrides_are_true,
    "nothing drifted": rebuilt.nothing_drifted,
    **clocks.CHECKS,
    **hopping.CHECKS,
}


# ---- what the checks look at ----------------------------------------------------------------------------------------


def _by_apex(play: Play, row_id: str) -> bool:
    step = play.witness.commits[_commit_of(play, row_id)].step
    return step is not None and play.witness.steps[step].router is None


def _ours(play: Play) -> list[Seen]:
    return [seen for seen in play.witness.commits if seen.ours]


def _as_it_was(play: Play, member: Row, begun: int, before: int) -> bool:
    """Whether nobody but the rotation changed the member during the step, not even for a moment."""
    names = ("Active__c", "Weight__c")
    seen = (one or member for one in play.witness.states(member["Id"], begun, before))
    return all(one[name] == member[name] for one in seen for name in names)


def _apart(lead: Row, other: Row) -> bool:
    """Whether the leads came so far from each other that they are two submissions."""
    came = [datetime.fromisoformat(one["CreatedDate"]) for one in (lead, other)]
    return abs((came[0] - came[1]).total_seconds()) > WINDOW_S


def _ledger(play: Play) -> list[Row]:
    """All rows, in order of commit and of turns within it."""
    return play.company.rows(LEDGER)


def _given(before: Row | None, after: Row | None) -> bool:
    """Whether the lead has another owner, or the same one anew."""
    return any(_moved(before, after, name) for name in ("OwnerId", "Routing_Round__c"))


def _moved(before: Row | None, after: Row | None, name: str) -> bool:
    return before is not None and after is not None and before[name] != after[name]


def _gave(play: Play, seen: Seen, lead_id: str, user: str) -> bool:
    """Whether the user gave the lead to a person or queue by this commit, in their own save."""
    if seen.ours:
        return False
    given = [one for one in seen.of(LEAD) if one.id == lead_id and _moved(one.before, one.after, "OwnerId")]
    return any(one.user_id == user and (one.after or {})["OwnerId"] not in play.company.intakes for one in given)


def _touched_by_others(play: Play) -> dict[str, int]:
    """By lead, the number of the last commit by which somebody else changed its owner."""
    found: dict[str, int] = {}
    for seen in play.witness.commits:
        for change in seen.of(LEAD):
            if not seen.ours and _moved(change.before, change.after, "OwnerId"):
                found[change.id] = seen.number
    return found


def _commit_of(play: Play, row_id: str) -> int:
    return next(seen.number for seen in play.witness.commits for change in seen.of(LEDGER) if change.id == row_id)


def _group_of(play: Play, lead: Row) -> str:
    return play.company.groups[COUNTRIES[lead["Country"]]]


def _returned(play: Play) -> bool:
    """Whether a lead was routed anew: who had it before was not eligible for it."""
    return any(int(row["Round__c"]) > 1 for row in _ledger(play))


def _could_have(play: Play, lead_id: str, row: Row, begun: int, number: int) -> bool:
    """Whether a waiting lead lay in an intake, of the same group, all through the step, not routed until then.

    The member, who was given another lead, must take such leads too; a second lead of a submission follows the first.
    """
    lead, member = play.witness.state(lead_id, begun), play.witness.state(row["Member__c"], begun)
    if lead is None or lead["OwnerId"] not in play.company.intakes or lead["IsConverted"]:
        return False
    accepts = None if member is None else member["Accepts__c"]
    if accepts and accepts != f"LeadSource = '{lead['LeadSource']}'":
        return False
    others = (play.witness.state(one, number) for one in play.company.leads if one != lead_id)
    follows = any(other is not None and other["Email"] == lead["Email"] for other in others)
    routed = int(lead["Routing_Round__c"] or 0) > 0
    return (
        not routed
        and not follows
        and _group_of(play, lead) == row["Group__c"]
        and play.witness.still(lead_id, begun, number)
    )


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)
