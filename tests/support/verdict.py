"""The verdict: what the org's own records say about the promises, read through the REST API by an administrator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from support.simulator import CALL_S, Simulator
from support.third_program import log_in

Row = dict[str, Any]

LEADS = (
    "SELECT Id, OwnerId, Routing_Idem_Key__c, Routing_Round__c, Routing_Status__c, Routing_Group__c, Routing_Error__c, "
    "Routing_Duplicate_Of__c, Routed_At__c FROM Lead"
)
LEDGER = (
    "SELECT Id, Lead__c, Group__c, Member__c, Assigned_To__c, Epoch__c, Turn__c, Turn_Key__c, Round__c, Outcome__c, "
    "Idempotency_Key__c, Lead_Key__c FROM Lead_Assignment__c"
)
GROUPS = "SELECT Id, Key__c, Epoch__c, Turn__c, Clock__c FROM Round_Robin_Group__c"
MEMBERS = (
    "SELECT Id, Group__c, User__c, Weight__c, Next_Turn__c, Last_Turn__c, Leads_Received__c FROM Round_Robin_Member__c"
)


@dataclass(frozen=True)
class Books:
    """The org's records at one moment."""

    leads: dict[str, Row]
    ledger: list[Row]
    groups: list[Row]
    members: list[Row]

    def rows_of(self, lead_id: str) -> list[Row]:
        """The lead's ledger rows."""
        return [row for row in self.ledger if row["Lead__c"] == lead_id]


def books(org: Simulator) -> Books:
    """Read everything, page by page."""
    salesforce = log_in(org, None)

    def rows(soql: str) -> list[Row]:
        return [dict(row) for row in salesforce.query_all(soql)["records"]]

    return Books({row["Id"]: row for row in rows(LEADS)}, rows(LEDGER), rows(GROUPS), rows(MEMBERS))


def all_owned(org: Simulator, count: int) -> bool:
    """Whether the ledger holds `count` rows: cheap, for waiting."""
    return bool(org.control("state")["counts"].get("Lead_Assignment__c", 0) >= count)


def routed_once(seen: Books, lead_ids: Iterable[str]) -> None:
    """Each of the leads has a person as owner, a stamp, and exactly one ledger row that says the same."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in seen.ledger:
        rows[row["Lead__c"]].append(row)
    for lead_id in lead_ids:
        lead = seen.leads[lead_id]
        assert lead["OwnerId"].startswith("005"), lead
        assert len(rows[lead_id]) == 1, (lead, rows[lead_id])
        (row,) = rows[lead_id]
        assert (row["Idempotency_Key__c"], row["Assigned_To__c"]) == (lead["Routing_Idem_Key__c"], lead["OwnerId"])
        assert (row["Round__c"], lead["Routing_Round__c"], lead["Routed_At__c"] is not None) == (1, 1, True)
        assert row["Lead_Key__c"] == f"{lead_id}.1"


def turns_in_order(seen: Books, *, shares: bool = True) -> None:
    """Turns of each group are 1..n without hole or repeat, and its rotation rows agree with the ledger.

    With `shares`, nobody is a whole lead or more away from the fair share of the turns.
    """
    for group in seen.groups:
        given = [row for row in seen.ledger if row["Group__c"] == group["Id"] and row["Turn__c"] is not None]
        turns = sorted(int(row["Turn__c"]) for row in given)
        assert turns == list(range(1, len(given) + 1)), group["Key__c"]
        assert int(group["Turn__c"]) == len(given), group
        keys = {row["Turn_Key__c"] for row in given}
        assert keys == {f"{group['Key__c']}.{int(group['Epoch__c'])}.{turn}" for turn in turns}
        own = Counter(row["Member__c"] for row in given)
        last = {row["Member__c"]: int(row["Turn__c"]) for row in sorted(given, key=lambda row: row["Turn__c"])}
        members = [member for member in seen.members if member["Group__c"] == group["Id"]]
        weight = sum(int(member["Weight__c"]) for member in members)
        for member in members:
            received, last_turn = int(member["Leads_Received__c"] or 0), member["Last_Turn__c"]
            assert received == own[member["Id"]], (group, member)
            assert (None if last_turn is None else int(last_turn)) == last.get(member["Id"]), member
            fair = len(given) * int(member["Weight__c"]) / weight
            assert not shares or abs(own[member["Id"]] - fair) <= 1, (member, own[member["Id"]], fair)


def promises_kept(org: Simulator, lead_ids: Collection[str]) -> Books:
    """All promises at once for these leads, which are all there are; the books, for more."""
    seen = books(org)
    assert set(seen.leads) == set(lead_ids)
    assert len(seen.ledger) == len(lead_ids)
    routed_once(seen, lead_ids)
    turns_in_order(seen)
    return seen


def owners_given(org: Simulator) -> dict[str, list[str]]:
    """The owners that each lead got after its creation, in the order of their commits, as the change events tell."""
    given: dict[str, list[str]] = defaultdict(list)
    for change in lead_changes(org):
        for lead_id in change["ChangeEventHeader"]["recordIds"]:
            if change["ChangeEventHeader"]["changeType"] == "UPDATE" and "OwnerId" in change:
                given[lead_id].append(change["OwnerId"])
    return given


def lead_changes(org: Simulator) -> list[Row]:
    """Every change of a lead so far, in the order of the commits: a subscriber from the first event on."""
    session = org.open_session()
    session.headers["Authorization"] = f"Bearer {org.token()}"

    def said(channel: str, **members: Any) -> list[Row]:
        content = [{"channel": channel, "id": "1", **members}]
        answers: list[Row] = session.post(f"{org.url}/cometd/68.0", json=content, timeout=CALL_S).json()
        return answers

    (hello,) = said("/meta/handshake", version="1.0", supportedConnectionTypes=["long-polling"])
    client = {"clientId": hello["clientId"]}
    said("/meta/subscribe", **client, subscription=LEAD_CHANGES, ext={"replay": {LEAD_CHANGES: -2}})
    at_once = {**client, "connectionType": "long-polling", "advice": {"timeout": 0}}
    changes: list[Row] = []
    while told := [one["data"]["payload"] for one in said("/meta/connect", **at_once) if "data" in one]:
        changes += told
    said("/meta/disconnect", **client)
    return changes


LEAD_CHANGES = "/data/LeadChangeEvent"
