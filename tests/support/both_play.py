"""Stories told to an org that either router routes: what happens to reps, groups and leads, and what it then shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from lead_router.core.choice import WAIT_RETRY_S
from lead_router.core.keys import change_key
from lead_router.core.model import Cause
from lead_router.ports import NewJob
from lead_router.salesforce.configuration import Intake
from org_simulator.switches import Switches
from support.both_routers import Both

MOVED = ("Next_Turn__c", "Last_Turn__c", "Leads_Received__c", "Cap_Day__c", "Cap_Count__c")
INSIDE, OUTSIDE = "In_CRM", "Off"


class Play:
    """A story told to one org; `arrive` and `change` let its router act, whichever it is."""

    def __init__(self, both: Both, mode: str) -> None:
        self.both, self.org, self.mode = both, both.rest_org, mode
        self.leads: list[str] = []

    def arrive(self, count: int = 1, **fields: Any) -> None:
        first = len(self.leads)
        leads = [{"Email": f"buyer{first + place}@buyer.example"} | fields for place in range(count)]
        made = self.both.post(*leads)
        self.leads += made
        self.route(*made)

    def change(self, place: int, cause: Cause, **fields: Any) -> None:
        self.both.rig.clock.advance(5)
        self.both.patch(self.leads[place], **fields)
        self.both.rig.clock.advance(1)
        self.route(self.leads[place], cause=cause)

    def route(self, *lead_ids: str, cause: Cause | None = None) -> None:
        if self.mode == OUTSIDE:
            if cause is None:
                self.both.rig.told(*lead_ids)
            else:
                self._tell_of_change(lead_ids[0], cause)
            worker = self.both.rig.worker()  # with the configuration as it is now
            self.both.rig.drain(worker)
            self.both.rig.clock.advance(WAIT_RETRY_S)  # a lead that was held behind an older one is asked again
            self.both.rig.drain(worker)
        else:
            self.both.work()

    def look(self) -> None:
        """What waits is asked again."""
        if self.mode == OUTSIDE:
            self.both.rig.drain(self.both.rig.worker())
        else:
            self.both.sweep()

    def _tell_of_change(self, lead_id: str, cause: Cause) -> None:
        now = self.both.rig.clock.now()
        payload = {"event_at": now.isoformat(), "cause": cause.value}
        key = change_key(self.both.org.org_id, lead_id, f"changed-{cause.value}.{now.timestamp():.0f}")
        self.both.rig.store.record([NewJob(key, lead_id, lead_id, payload)])

    def member(self, name: str) -> str:
        return self.org.refs[name]

    def told(self) -> dict[str, Any]:
        """What the org shows, without ids that differ from org to org."""
        names = {row["Id"]: row["LastName"] for row in self.org.rows("User")}
        names |= {row["Id"]: row["Name"] for row in self.org.rows("Group")}
        numbers = {lead_id: f"lead {place}" for place, lead_id in enumerate(self.leads)}
        ledger = [
            {
                "turn": row["Turn_Key__c"],
                "lead": numbers[row["Lead__c"]],
                "round": row["Round__c"],
                "to": names[row["Assigned_To__c"]],
                "from": names[row["Assigned_From__c"]],
                "outcome": row["Outcome__c"],
                "rule": row["Rule__c"],
                "keys": bool(row["Submission_Even__c"]),
                "text": _plain(row["Explanation__c"], numbers),
                "passed over": row["Passed_Over__c"],
            }
            for row in self.both.ledger()
        ]
        return {
            "ledger": ledger,
            "leads": [self._lead(lead_id, names, numbers) for lead_id in self.leads],
            "groups": [
                (row["Key__c"], row["Turn__c"], row["Clock__c"]) for row in self.org.rows("Round_Robin_Group__c")
            ],
            "members": self._columns("Round_Robin_Member__c", *MOVED),
        }

    def _columns(self, sobject: str, *names: str) -> list[tuple[Any, ...]]:
        return [tuple(row[name] for name in names) for row in self.org.rows(sobject)]

    def _lead(self, lead_id: str, names: dict[str, str], numbers: dict[str, str]) -> tuple[Any, ...]:
        row = self.org.row(lead_id)
        wanted = ("Routing_Status__c", "Routing_Round__c", "Routing_Group__c")
        first = row["Routing_Duplicate_Of__c"]
        error = _plain(row["Routing_Error__c"] or "", numbers)
        return (names[row["OwnerId"]], *(row[name] for name in wanted), first and numbers[first], error)


def both_ways(path: Path, story: Callable[[Play], None], *, statuses: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What the org shows behind the story: told to the router inside, to the one outside, and to the one inside where
    every dispute is settled against the routers. A lead of one of the `statuses` waits, whoever owns it.
    """
    told = []
    for mode, switches in ((INSIDE, Switches()), (OUTSIDE, Switches()), (INSIDE, Switches.pessimistic())):
        place = path / str(len(told))
        place.mkdir()
        both = Both(place, mode, switches=switches, intake=Intake(statuses=statuses))
        both.say(Intake_Statuses__c=",".join(statuses))
        play = Play(both, mode)
        story(play)
        told.append(play.told())
        play.both.rig.close()
    return told


def _plain(text: str, numbers: dict[str, str]) -> str:
    for lead_id, number in numbers.items():
        text = text.replace(lead_id, number)
    return text


def joins(play: Play) -> None:
    play.arrive(5)
    user = play.org.insert("User", LastName="Cem", Username="cem@sim.example")
    play.org.insert("Round_Robin_Member__c", Group__c=play.member("emea"), User__c=user, Sort_Order__c=3)
    play.arrive(6)


def leaves(play: Play) -> None:
    play.arrive(3)
    play.org.delete(play.member("ann_emea"))
    play.arrive(2)


def goes_on_holiday(play: Play) -> None:
    now = play.both.rig.clock.now()
    start, end = ((now + timedelta(hours=hours)).isoformat() for hours in (-1, 3))
    away = play.org.insert("Member_Absence__c", User__c=play.member("ann"), Start__c=start, End__c=end)
    play.arrive(3)
    play.org.delete(away)
    play.arrive(3)


def matches_another_group(play: Play) -> None:
    play.org.update(play.member("emea"), Reroute__c="Reroute")
    hot = play.org.insert("Round_Robin_Group__c", Name="Hot", Key__c="hot", Mode__c="Live")
    play.org.insert("Round_Robin_Member__c", Group__c=hot, User__c=play.member("bob"))
    rule = {"Name": "Hot", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Rating = 'Hot'"}
    play.org.insert("Routing_Rule__c", **rule, Target_Group__c=hot)
    play.arrive(1)
    play.change(0, Cause.CHANGED, Rating="Hot")


def finds_the_group_empty(play: Play) -> None:
    for name in ("ann_emea", "bob_emea"):
        play.org.update(play.member(name), Active__c=False)
    spare = play.org.insert("Round_Robin_Group__c", Name="Spare", Key__c="spare", Mode__c="Live")
    play.org.insert("Round_Robin_Member__c", Group__c=spare, User__c=play.member("ann"))
    play.arrive(1)
    play.org.update(play.member("emea"), Fallback_Group__c=spare)
    play.arrive(1, Email="another@buyer.example")
    play.org.update(play.member("emea"), Fallback_Group__c=None, Manager__c=play.member("bob"))
    play.arrive(1, Email="third@buyer.example")
