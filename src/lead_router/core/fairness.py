"""Fairness: how far from its fair share is each member whom the promise of less than one lead is about?"""

from __future__ import annotations

from datetime import datetime

from lead_router.core.duty import moment_of, on_duty
from lead_router.core.model import Configuration, Group, Member
from lead_router.core.rotation import gaps


def on_duty_now(group: Group, configuration: Configuration, at: datetime) -> list[Member]:
    """Members who may take leads; caps on open leads are not counted, as nobody asks the org for them."""
    ids = on_duty(group, moment_of(configuration, at))
    return [member for member in group.members if member.id in ids]


def off_fair(group: Group, configuration: Configuration, at: datetime) -> dict[str, float]:
    """By how many leads each is ahead of its fair share, negative where behind: of those on duty that take every lead.

    Below one by the rules of the rotation. Absences are no part of it: who is away is owed nothing, and has no figure.
    """
    return gaps(group.clock, [one for one in on_duty_now(group, configuration, at) if not one.accepts.strip()])
