"""What an audit answers: nouns alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lead_router.audit.judging.doubles import Double, Twin
from lead_router.audit.judging.keeping import Left, Off
from lead_router.audit.judging.polling import Poll
from lead_router.audit.judging.resets import Reset, Restarts
from lead_router.audit.judging.shares import Shares
from lead_router.audit.judging.waits import Waits
from lead_router.audit.judging.writers import Rivals, Written
from lead_router.core.decay import WITHIN_FIVE


@dataclass(frozen=True, slots=True)
class Assumed:
    """What no history tells: minutes from owner to first call, and the chance of qualifying within five minutes."""

    reaction_min: float = 1.0
    within_five: float = WITHIN_FIVE


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that costs leads or fairness. `lost` are expected qualified leads, None where the curve tells nothing.

    `gain` is how many of them the change would win back; `leads` are the ids of the leads it is about.
    """

    kind: str
    title: str
    told: str
    leads: tuple[str, ...]
    of: int
    change: str
    lost: float | None = None
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Thin:
    """A question on which too little is known: `have` of `need` of what it takes, in the singular."""

    question: str
    have: int
    need: int
    what: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What became of the leads of a span; instants in seconds since 1970. `findings` come the costliest first."""

    since: float
    until: float
    zone: str
    hours: str
    leads: int
    owned: int
    changes: int
    history: bool
    findings: tuple[Finding, ...]
    waits: Waits
    shares: tuple[Shares, ...]
    cycles: tuple[tuple[str, ...], ...]
    resets: tuple[Reset, ...]
    restarts: tuple[Restarts, ...]
    doubles: tuple[Double, ...]
    twins: tuple[Twin, ...]
    polls: tuple[Poll, ...]
    writers: tuple[Written, ...]
    rivals: tuple[Rivals, ...]
    left: tuple[Left, ...]
    off: Off
    told: tuple[str, ...]
    thin: tuple[Thin, ...]
    assumed: Assumed
    placed: bool = True
    """Whether the time zone of the hours is told; else hours of the day are UTC's, and nothing is found by them."""
    calls: int = 0
    names: Mapping[str, str] = field(default_factory=dict)
    """Of all users and queues that the answers name, by id."""

    def name(self, owner: str) -> str:
        """The name of a user or queue; the id where none is known."""
        return self.names.get(owner) or owner or "not told"
