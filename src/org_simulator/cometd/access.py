"""Who may hear of which changes: Change Data Capture ignores sharing and asks for View All instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from org_simulator.event_bodies import event_name

if TYPE_CHECKING:
    from org_simulator.org import Org

_ALL = frozenset({"ViewAllData", "ModifyAllData"})


def heard(org: Org, user_id: str) -> frozenset[str]:
    """The channels of the entities whose every record this user may view."""
    sobjects = [sobject.name for sobject in org.schema.objects.values()]
    if user_id == org.admin_user_id:
        return frozenset(map(_channel, sobjects))
    granted = [org.schema.permission_sets[name] for name in org.permission_sets(user_id)]
    if any(each.user_permissions & _ALL for each in granted):
        return frozenset(map(_channel, sobjects))
    viewed = {
        permission.sobject.lower()
        for each in granted
        for permission in each.objects.values()
        if permission.view_all or permission.modify_all
    }
    return frozenset(_channel(name) for name in sobjects if name.lower() in viewed)


def _channel(sobject: str) -> str:
    return f"/data/{event_name(sobject)}"
