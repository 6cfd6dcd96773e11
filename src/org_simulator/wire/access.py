"""What a user may see: the org's schema without the objects and fields that no permission set of the user opens.

The administrator sees everything. For all others custom objects, accounts and contacts need read access, custom objects
also the rights to create and to edit, the settings of logins the right to manage users, tasks and events the right to
access activities, and custom fields field-level security; required fields and master-detail references have none and
come with their object. What users may do with standard objects is their profile's, which is not told apart here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from org_simulator.schema import Field, PermissionSet, Schema, SObject
    from org_simulator.wire.world import World

MANAGE_USERS = "ManageUsers"
ACCESS_ACTIVITIES = "ActivitiesAccess"


def view(world: World, user_id: str) -> Schema:
    """The schema as this user sees it; fields that the user may not edit are neither createable nor updateable."""
    org = world.org
    if user_id == org.admin_user_id:
        return org.schema
    names = tuple(sorted(org.permission_sets(user_id)))
    with world.lock:
        if names not in world.views:
            world.views[names] = opened_by(org.schema, [org.schema.permission_sets[name] for name in names])
        return world.views[names]


def opened_by(schema: Schema, sets: list[PermissionSet]) -> Schema:
    """The schema as far as these permission sets open it."""
    editable: dict[str, bool] = {}
    for each in sets:
        for name, edit in each.fields.items():
            editable[name] = edit or editable.get(name, False)
    hidden = {name for name, sobject in schema.objects.items() if sobject.custom} | {"account", "contact"}
    hidden -= {name for each in sets for name, permission in each.objects.items() if permission.read}
    if not any(MANAGE_USERS in each.user_permissions for each in sets):
        hidden.add("userlogin")
    if not any(ACCESS_ACTIVITIES in each.user_permissions for each in sets):
        hidden |= {"task", "event"}
    objects = {name: _seen(sobject, editable) for name, sobject in schema.objects.items() if name not in hidden}
    rights = [permission for each in sets for permission in each.objects.values()]
    creates = {right.sobject.lower() for right in rights if right.create}
    edits = {right.sobject.lower() for right in rights if right.edit}
    for name, sobject in objects.items():
        if sobject.custom:
            objects[name] = replace(sobject, creates=name in creates, edits=name in edits)
    return replace(schema, objects=objects)


def _seen(sobject: SObject, editable: Mapping[str, bool]) -> SObject:
    fields: dict[str, Field] = {}
    for name, field in sobject.fields.items():
        edit = editable.get(f"{sobject.name}.{field.name}".lower())
        if not field.name.endswith("__c") or field.required or field.master or edit is True:
            fields[name] = field
        elif edit is False:
            fields[name] = replace(field, createable=False, updateable=False)
    return replace(sobject, fields=fields)
