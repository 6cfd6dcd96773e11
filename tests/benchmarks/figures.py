"""What a burst or a row of lone leads showed, by the org's own commit times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

USER_PREFIX = "005"
PER = 1_000
"""API calls are told per so many leads."""
TOGETHER = 200
"""Leads that one commit takes at most."""


@dataclass(frozen=True, slots=True)
class Play:
    """How many leads come at once, into how many groups, at which latency of the org's API."""

    leads: int
    groups: int
    latency_ms: int


@dataclass(frozen=True, slots=True)
class Burst:
    """One run, by the milliseconds from the first lead's creation to each owner, and the waits from creation to owner.

    Both ascend; `owned_ms` are from a later moment where a way began later. `peak_mb` is the most memory that the
    router held, `lost` how many leads did not move the rotation on.
    """

    api_calls: int
    owned_ms: tuple[int, ...]
    waits_ms: tuple[int, ...]
    peak_mb: float = 0.0
    lost: int = 0

    @property
    def leads(self) -> int:
        """How many came."""
        return len(self.waits_ms)

    @property
    def span_s(self) -> float:
        """From the first lead's creation, or the way's beginning, to the last owner."""
        return self.owned_ms[-1] / 1000

    @property
    def rate(self) -> float:
        """Leads per second."""
        return self.leads / self.span_s

    @property
    def calls(self) -> float:
        """API calls per 1,000 leads."""
        return self.api_calls * PER / self.leads


@dataclass(frozen=True, slots=True)
class Lone:
    """Leads that came one after the other, each while the router had nothing to do; waits are from creation to owner.

    `bare_ms` is what the same read and the same write took a client that does nothing else, the median on the same org,
    `bare_most_ms` the slowest of them. `rest_mb` is the memory that the router held afterwards, `stages` where the
    waits went (`lone_stages.staged`).
    """

    latency_ms: int
    waits_ms: tuple[float, ...]
    bare_ms: float
    rest_mb: float
    bare_most_ms: float = 0.0
    stages: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def stage_ms(self, name: str, part: int) -> float:
        """What `part` percent of the leads spent in a stage at most."""
        return percentile(sorted(self.stages[name]), part)

    def wait_ms(self, part: int) -> float:
        """What `part` percent of the leads waited at most."""
        return percentile(sorted(self.waits_ms), part)

    def overhead_ms(self, part: int) -> float:
        """The same beyond the two bare round trips: the event's way and the router's own work."""
        return self.wait_ms(part) - self.bare_ms


@dataclass(frozen=True, slots=True)
class Seen:
    """All that was measured: the loop by latency, and its threaded form by latency and number of threads."""

    lone: tuple[Lone, ...]
    router: Mapping[Play, tuple[Burst, ...]]
    loop: Mapping[int, tuple[Burst, ...]]
    threaded: Mapping[int, Mapping[int, tuple[Burst, ...]]]

    def fastest(self, latency_ms: int, lost_max: float = 1.0) -> tuple[int, Burst]:
        """The number of threads that gave most leads a second, of those that lost no greater part of the turns.

        Where all lost more, the one that lost least.
        """
        middles = [(threads, middle(bursts)) for threads, bursts in self.threaded[latency_ms].items()]
        kept = [(threads, one) for threads, one in middles if one.lost <= lost_max * one.leads]
        least = min(middles, key=lambda pair: pair[1].lost / pair[1].leads)
        return max(kept or [least], key=lambda pair: pair[1].rate)


def floor_calls(leads: int) -> int:
    """A read and a write for each batch that a commit can take."""
    return 2 * math.ceil(leads / TOGETHER)


def burst(
    changes: Iterable[Mapping[str, Any]],
    leads: int,
    api_calls: int,
    *,
    peak_mb: float = 0.0,
    lost: int = 0,
    began_ms: int | None = None,
) -> Burst:
    """A burst from the org's change events. Raises ValueError unless each lead got an owner.

    `began_ms` is when a way began that had the leads before it, in milliseconds since 1970.
    """
    created, owned = commits(changes)
    if not leads == len(created) == len(owned):
        raise ValueError(f"{leads} leads were sent, {len(created)} created, {len(owned)} have an owner")
    first = min(created.values()) if began_ms is None else began_ms
    return Burst(
        api_calls=api_calls,
        owned_ms=tuple(sorted(at - first for at in owned.values())),
        waits_ms=tuple(sorted(owned[lead_id] - created[lead_id] for lead_id in created)),
        peak_mb=peak_mb,
        lost=lost,
    )


def commits(changes: Iterable[Mapping[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    """By lead, when it was created and when it first was a user's, in milliseconds of the org."""
    created: dict[str, int] = {}
    owned: dict[str, int] = {}
    for change in changes:
        header = change["ChangeEventHeader"]
        for lead_id in header["recordIds"]:
            if header["changeType"] == "CREATE":
                created[lead_id] = header["commitTimestamp"]
            elif str(change.get("OwnerId", "")).startswith(USER_PREFIX):
                owned.setdefault(lead_id, header["commitTimestamp"])
    return created, owned


def percentile(ascending: Sequence[float], part: int) -> float:
    """The value that `part` percent do not exceed (nearest rank)."""
    return ascending[max(0, math.ceil(len(ascending) * part / 100) - 1)]


def middle(bursts: Sequence[Burst]) -> Burst:
    """The burst whose rate is the median; of an even number the faster of the two in the middle."""
    return sorted(bursts, key=lambda one: one.rate)[len(bursts) // 2]
