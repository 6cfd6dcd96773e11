"""On duty: who may take leads now, whatever the lead."""

from __future__ import annotations

from lead_router.core.model import Group, Member


def off_duty(member: Member) -> str | None:
    """Why the member may take no leads now, or None if they may."""
    if not member.active:
        return "member not active"
    if not member.user_active:
        return "user not active"
    if member.weight <= 0:
        return "paused, weight 0"
    return None


def on_duty(group: Group) -> frozenset[str]:
    """Ids of the members that are on duty."""
    return frozenset(member.id for member in group.members if off_duty(member) is None)
