"""What an org holds before anyone has worked in it: users, permission sets, queues, hours."""

from __future__ import annotations

import base64
from calendar import day_name
from typing import TYPE_CHECKING

from org_simulator import people
from org_simulator.ids import make_id
from org_simulator.people import DEFAULT_PROFILE
from org_simulator.standard import CONVERTED_STATUS, LEAD_STATUSES
from org_simulator.store import FIRST_ID_MIN

if TYPE_CHECKING:
    from org_simulator.org import Org
    from org_simulator.transaction import Transaction

DEFAULT_QUEUE = "Default_Assigned"
"""Where the org's own assignment rule sends web leads."""

INTEGRATION_SET = "Lead_Router_Integration"
ADMIN_USERNAME = "admin@simulated.example"
INTEGRATION_USERNAME = "lead.router@simulated.example"
PROFILES = {
    "System Administrator": ("Account", "Contact", "Lead", "Opportunity"),
    DEFAULT_PROFILE: ("Account", "Contact", "Lead", "Opportunity"),
    "Minimum Access - API Only Integrations": (),
}
"""Profiles, and what their users may read without a permission set."""


def found(org: Org) -> tuple[str, str]:
    """Fill a new org; answers the ids of administrator and integration user."""
    admin_id = make_id("005", org.dice.randrange(1, FIRST_ID_MIN))
    with org.system_transaction(admin_id) as tx:
        profiles = [people.add_profile(tx, name, reads) for name, reads in PROFILES.items()]
        tx.insert(
            "User",
            {
                "Id": admin_id,
                "Username": ADMIN_USERNAME,
                "FirstName": "Ada",
                "LastName": "Admin",
                "Email": ADMIN_USERNAME,
                "ProfileId": profiles[0],
            },
        )
        integration_id = tx.insert(
            "User",
            {
                "Username": INTEGRATION_USERNAME,
                "LastName": "Lead Router",
                "Email": INTEGRATION_USERNAME,
                "ProfileId": profiles[2],
            },
        )
        _organization(org, tx)
        _permissions(org, tx, integration_id)
        _queues(org, tx)
        for sobject, fields in org.schema.custom_metadata:
            tx.insert(sobject, fields)
        for fields in org.schema.notification_types:
            tx.insert("CustomNotificationType", fields)
        for name, (kind, content) in org.schema.static_resources.items():
            body = base64.b64encode(content).decode()
            tx.insert("StaticResource", {"Name": name, "ContentType": kind, "Body": body})
    return admin_id, integration_id


def _organization(org: Org, tx: Transaction) -> None:
    tx.insert(
        "Organization",
        {
            "Id": org.org_id,
            "Name": "Simulated Org",
            "OrganizationType": "Developer Edition",
            "InstanceName": "SIM1",
            "IsSandbox": True,
        },
    )
    midnight = {f"{day}{end}Time": "00:00:00.000Z" for day in day_name for end in ("Start", "End")}
    always = {"Name": "Default", "IsDefault": True, "TimeZoneSidKey": "America/Los_Angeles"}
    tx.insert("BusinessHours", always | midnight)
    for place, status in enumerate(LEAD_STATUSES, start=1):
        fields = {"MasterLabel": status, "ApiName": status, "SortOrder": place}
        tx.insert("LeadStatus", {**fields, "IsDefault": place == 1, "IsConverted": status == CONVERTED_STATUS})


def _permissions(org: Org, tx: Transaction, integration_id: str) -> None:
    custom = {
        name: tx.insert("CustomPermission", {"DeveloperName": name, "MasterLabel": label})
        for name, label in org.schema.custom_permissions.items()
    }
    for permission_set in org.schema.permission_sets.values():
        set_id = tx.insert("PermissionSet", {"Name": permission_set.name, "Label": permission_set.label})
        people.add_rights(tx, set_id, permission_set.objects)
        for name in sorted(permission_set.custom_permissions & custom.keys()):
            access = {"ParentId": set_id, "SetupEntityId": custom[name], "SetupEntityType": "CustomPermission"}
            tx.insert("SetupEntityAccess", access)
        if permission_set.name == INTEGRATION_SET:
            tx.insert("PermissionSetAssignment", {"AssigneeId": integration_id, "PermissionSetId": set_id})


def _queues(org: Org, tx: Transaction) -> None:
    queues = {name: (queue.name, queue.sobjects) for name, queue in org.schema.queues.items()}
    queues.setdefault(DEFAULT_QUEUE, ("Default Assigned", ("Lead",)))
    for developer_name, (name, sobjects) in queues.items():
        queue_id = tx.insert("Group", {"Name": name, "DeveloperName": developer_name, "Type": "Queue"})
        for sobject in sobjects:
            tx.insert("QueueSobject", {"QueueId": queue_id, "SobjectType": sobject})
