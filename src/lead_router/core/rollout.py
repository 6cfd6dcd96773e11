"""Rollout: how far each feature that changes who gets a lead is let in, and on which terms. Frozen, without verbs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Switch(StrEnum):
    """A feature is as though it did not exist, is asked and told of but not followed, or is in force."""

    OFF = "off"
    OBSERVE = "observe"
    LIVE = "live"


@dataclass(frozen=True, slots=True)
class Rollout:
    """The operators' switches, as they were when the program started."""

    duplicates: Switch = Switch.LIVE
    matched_owner: Switch = Switch.LIVE
    reroutes: Switch = Switch.LIVE
    first_touch: Switch = Switch.OFF


AS_SET_OUT = Rollout()
"""What an operator has who sets nothing."""

ALL_LIVE = Rollout(first_touch=Switch.LIVE)


@dataclass(frozen=True, slots=True)
class FirstTouch:
    """What the first-touch clock goes by, where a group does not say otherwise.

    `untouched` is a SOQL WHERE clause over Lead; `reminder` the share of the time after which the owner is reminded, 0
    for never; `reroutes` how often in a row the clock gives a lead to another member before the manager has it.
    """

    untouched: str = "Status = 'Open - Not Contacted'"
    reminder: float = 0.5
    reroutes: int = 2


BY_DEFAULT = FirstTouch()
