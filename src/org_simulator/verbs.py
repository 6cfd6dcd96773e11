"""What happens without the REST API: people convert, merge, transfer many in the org's own pages; the org touches."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from org_simulator import failures, removing
from org_simulator.standard import CONVERTED_STATUS
from org_simulator.values import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from org_simulator.org import Org

CLOSE_AFTER = timedelta(days=90)


def convert_lead(org: Org, lead_id: str) -> tuple[str, str, str]:
    """Account, contact, opportunity, then the lead, in one transaction; validation rules do not run (org default)."""
    with org.system_transaction(org.admin_user_id) as tx:
        record_id = tx.checked_id("Lead", lead_id)
        tx.triggers = False  # the org default: conversion passes triggers and validation by
        with org.store.mutex:
            tx.lock(record_id)
        lead = tx.row("Lead", record_id)
        if lead is None:
            raise failures.entity_is_deleted()
        if lead["IsConverted"]:
            raise failures.converted_lead()
        account_id = tx.insert("Account", {"Name": lead["Company"]})
        person = {name: lead[name] for name in ("FirstName", "LastName", "Email", "Phone", "Title")}
        contact_id = tx.insert("Contact", {**person, "AccountId": account_id})
        today = org.clock.now().date()
        deal = {"Name": lead["Company"], "StageName": "Prospecting", "AccountId": account_id}
        opportunity_id = tx.insert("Opportunity", {**deal, "CloseDate": (today + CLOSE_AFTER).isoformat()})
        converted = {
            "Status": CONVERTED_STATUS,
            "IsConverted": True,
            "ConvertedDate": today.isoformat(),
            "ConvertedAccountId": account_id,
            "ConvertedContactId": contact_id,
            "ConvertedOpportunityId": opportunity_id,
        }
        tx.update("Lead", record_id, converted)
    return account_id, contact_id, opportunity_id


def merge_leads(org: Org, winner: str, loser: str) -> None:
    """The loser goes to the recycle bin with MasterRecordId, then the winner is updated, in one transaction."""
    with org.system_transaction(org.admin_user_id) as tx:
        kept, gone = tx.checked_id("Lead", winner), tx.checked_id("Lead", loser)
        with org.store.mutex:
            tx.lock(*sorted({kept, gone}))
            removing.delete(tx, org.schema.objects["lead"], gone, master_record_id=kept)
        tx.update("Lead", kept, {})


def mass_transfer(org: Org, record_ids: Iterable[str], owner_id: str) -> None:
    """Give leads to an owner as list views do: validation and assignment rules do not run."""
    with org.system_transaction(org.admin_user_id) as tx:
        for record_id in sorted(tx.checked_id("Lead", each) for each in record_ids):
            lead = tx.row("Lead", record_id)
            if lead is not None and lead["IsConverted"]:
                raise failures.converted_lead()
            tx.update("Lead", record_id, {"OwnerId": owner_id})


def touch(org: Org, lead_id: str) -> None:
    """What the platform does by itself, as where a picklist value is renamed: SystemModstamp moves, no event comes.

    Source: "Difference between SystemModStamp and LastModifiedDate", Salesforce Help 000387261.
    """
    with org.system_transaction(org.admin_user_id) as tx:
        record_id = tx.checked_id("Lead", lead_id)
        with org.store.mutex:
            tx.lock(record_id)
            lead = tx.row("Lead", record_id)
            if lead is None:
                raise failures.entity_is_deleted()
            now = stamp(org.clock.now(), whole_seconds=org.switches.created_date_whole_seconds)
            tx.write("Lead", record_id, {**lead, "SystemModstamp": now}, None)
