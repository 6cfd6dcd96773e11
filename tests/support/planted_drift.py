"""A company whose rotations are lived through by thousands of leads, and then tampered with in three places."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lead_router.core.drift import Drift
from support.tampering import erase, tamper
from support.worker_rig import Rig

WEIGHTS = {"north": (1, 1, 2, 3), "south": (5, 1, 1), "west": (1, 1, 1, 1, 1, 1)}
BATCH = 100  # leads that come together
RESET = 0.4  # of the leads come before an administrator resets a group


@dataclass(frozen=True)
class Planted:
    """Kind, group, epoch and turn of one drift."""

    kind: Drift
    group: str
    epoch: int
    turn: int


class Company:
    """Three groups; people change weights, reset an epoch and give leads back, as the leads come."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.rig = Rig(folder)
        self.dice = random.Random(seed)
        self.groups: dict[str, str] = {}
        org = self.rig.rest_org
        org.update(org.refs["all"], Active__c=False)
        for place, (key, weights) in enumerate(WEIGHTS.items(), 1):
            self.groups[key] = org.insert("Round_Robin_Group__c", Name=key, Key__c=key, Mode__c="Live", Epoch__c=0)
            rule = {"Name": key, "Precedence__c": place, "Active__c": True, "Target_Group__c": self.groups[key]}
            org.insert("Routing_Rule__c", Criteria__c=f"Country = '{key}'", **rule)
            for number, weight in enumerate(weights):
                name = f"{key}{number}"
                user = org.insert("User", Username=f"{name}@sim.example", LastName=name)
                org.insert("Round_Robin_Member__c", Group__c=self.groups[key], User__c=user, Weight__c=weight)
        self.rig.router = self.rig.worker(name="two")

    def live(self, leads: int) -> None:
        """So many leads, in batches, with people in between."""
        came = 0
        reset = False
        while came < leads:
            several = min(BATCH, leads - came)
            made = [self.rig.rest_org.lead(Country=self.dice.choice(list(WEIGHTS))) for _ in range(several)]
            self.rig.told(*made)
            self.rig.drain()
            came += several
            self._people(made)
            if not reset and came > RESET * leads:
                self.rig.rest_org.update(self.groups["west"], Epoch__c=1, Turn__c=0)
                reset = True
            self.rig.clock.advance(60)

    def _people(self, made: list[str]) -> None:
        org = self.rig.rest_org
        member = self.dice.choice(self.rows("Round_Robin_Member__c"))
        org.update(member["Id"], Weight__c=self.dice.choice((1, 1, 2, 5)))
        org.delete(self.dice.choice(made[1:]))
        org.update(made[0], OwnerId=org.queue("Lead_Intake"))
        self.rig.clock.advance(301)
        self.rig.upkeep().step()
        self.rig.drain()

    def plant(self) -> set[Planted]:
        """A row deleted in its epoch's middle, a group set back, a member whose last turn is another's."""
        org = self.rig.org
        rows = self.rows("Lead_Assignment__c")
        north = sorted((row for row in rows if row["Group__c"] == self.groups["north"]), key=lambda row: row["Turn__c"])
        gone = self.dice.choice(north[len(north) // 4 : 3 * len(north) // 4])
        erase(org, gone["Id"])
        south = org.store.tables["round_robin_group__c"].rows[self.groups["south"]]
        tamper(org, self.groups["south"], Turn__c=south["Turn__c"] - 3)
        west = [one for one in self.rows("Round_Robin_Member__c") if one["Group__c"] == self.groups["west"]]
        member = self.dice.choice(west)
        tamper(org, member["Id"], Last_Turn__c=member["Last_Turn__c"] - 1)
        return {
            Planted(Drift.MISSING, "north", 0, int(gone["Turn__c"])),
            Planted(Drift.TURN, "south", 0, int(south["Turn__c"]) - 2),
            Planted(Drift.LAST_TURN, "west", 1, int(member["Last_Turn__c"])),
        }

    def rows(self, sobject: str) -> list[Any]:
        return [row for row in self.rig.org.store.tables[sobject.lower()].rows.values() if not row["IsDeleted"]]
