"""200 leads saved by one call of the REST API, routed by the trigger: who got how many, and at what cost in limits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from org_simulator.apex.automation import Automation
from org_simulator.apex.session import Session
from support.both_routers import Both

LEADS = 200
REPS = 3
LIMITS = {
    "queries": "SOQL queries",
    "query_rows": "query rows",
    "dml_statements": "DML statements",
    "dml_rows": "DML rows",
}
"""Limits of a transaction that are told; CPU time and heap are the platform's machines' to measure."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a save took of each limit, the most that a transaction may take, and leads by group and owner."""

    used: dict[str, int]
    most: dict[str, int]
    shares: dict[str, Counter[str]]
    turns: dict[str, list[int]]


class Measured(Automation):
    """Remembers the Apex side of each transaction."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sessions: list[Session] = []

    def session(self, tx: Any, *, asynchronous: bool = False) -> Session:
        found = super().session(tx, asynchronous=asynchronous)
        if found not in self.sessions:
            self.sessions.append(found)
        return found


def saved(path: Path, groups: int) -> Seen:
    """The leads come in turns from as many countries as there are groups of three reps, each by a rule of its own."""
    both = Both(path, "In_CRM")
    both.org.automation = measured = Measured(both.org, both.org.automation.program)
    keys = [f"g{place}" for place in range(1, groups + 1)]
    for place, key in enumerate(keys, start=1):
        _group(both, place, key)
    both.post(*({"Email": f"b{place}@buyer.example", "Country": keys[place % groups]} for place in range(LEADS)))
    [session] = measured.sessions
    ledger = both.ledger()
    both.rig.close()
    by_key = {key: [row for row in ledger if row["Turn_Key__c"].startswith(f"{key}.")] for key in keys}
    return Seen(
        {name: session.limits.used[name] for name in LIMITS},
        {name: session.limits.most[name] for name in LIMITS},
        {key: Counter(row["Assigned_To__c"] for row in rows) for key, rows in by_key.items()},
        {key: sorted(int(row["Turn__c"]) for row in rows) for key, rows in by_key.items()},
    )


def _group(both: Both, place: int, key: str) -> None:
    org = both.rest_org
    pool = org.insert("Round_Robin_Group__c", Name=key, Key__c=key, Mode__c="Live")
    for rep in range(1, REPS + 1):
        user = org.insert("User", LastName=f"{key} rep {rep}", Username=f"{key}.{rep}@sim.example")
        org.insert("Round_Robin_Member__c", Group__c=pool, User__c=user, Sort_Order__c=rep)
    rule = {"Name": key, "Precedence__c": place, "Active__c": True, "Criteria__c": f"Country = '{key}'"}
    org.insert("Routing_Rule__c", **rule, Target_Group__c=pool)
