"""What comes with a user: a profile, whose rights are a permission set of its own, and the settings of the login."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from org_simulator.sobjects import ObjectPermission
    from org_simulator.transaction import Transaction

DEFAULT_PROFILE = "Standard User"


def default_profile(tx: Transaction) -> str | None:
    """The profile of users that are made without one."""
    return tx.find("Profile", "Name", DEFAULT_PROFILE)


def entered(tx: Transaction, user_id: str) -> None:
    """A new user has login settings, and is assigned the permission set that the profile owns."""
    system, tx.system = tx.system, True
    try:
        tx.insert("UserLogin", {"UserId": user_id})
        profile = (tx.any_row("User", user_id) or {}).get("ProfileId")
        for owned in tx.rows_by("PermissionSet", "ProfileId", [profile] if profile else []) or ():
            tx.insert("PermissionSetAssignment", {"AssigneeId": user_id, "PermissionSetId": owned["Id"]})
    finally:
        tx.system = system


def add_profile(tx: Transaction, name: str, reads: Iterable[str]) -> str:
    """A profile whose users may read the objects; answers its id."""
    profile_id = tx.insert("Profile", {"Name": name})
    owned = {"Name": f"X{profile_id}", "Label": name, "IsOwnedByProfile": True, "ProfileId": profile_id}
    set_id = tx.insert("PermissionSet", owned)
    for sobject in reads:
        tx.insert("ObjectPermissions", {"ParentId": set_id, "SobjectType": sobject, "PermissionsRead": True})
    return profile_id


def add_rights(tx: Transaction, set_id: str, objects: Mapping[str, ObjectPermission]) -> None:
    """Rows for what a permission set allows on objects."""
    for allowed in objects.values():
        rights = {
            "PermissionsCreate": allowed.create,
            "PermissionsRead": allowed.read,
            "PermissionsEdit": allowed.edit,
            "PermissionsDelete": allowed.delete,
            "PermissionsViewAllRecords": allowed.view_all,
            "PermissionsModifyAllRecords": allowed.modify_all,
        }
        tx.insert("ObjectPermissions", {"ParentId": set_id, "SobjectType": allowed.sobject, **rights})
