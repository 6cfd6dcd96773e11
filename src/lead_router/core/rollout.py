"""Rollout: how far each feature that changes who gets a lead is let in. Frozen, without verbs."""

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


ALL_LIVE = Rollout()
