"""What one burst showed, and what several of them show together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

USER_PREFIX = "005"
PER = 1_000
"""API calls are told per so many leads."""


@dataclass(frozen=True, slots=True)
class Burst:
    """One run: `span_s` is from the first lead's creation to the last owner, waits are from creation to owner."""

    leads: int
    api_calls: int
    span_s: float
    p50_ms: float
    p95_ms: float
    max_ms: float

    @property
    def rate(self) -> float:
        """Leads per second."""
        return self.leads / self.span_s

    @property
    def calls(self) -> float:
        """API calls per 1,000 leads."""
        return self.api_calls * PER / self.leads


@dataclass(frozen=True, slots=True)
class Figures:
    """Medians over several bursts of `leads` leads; `rates` are the leads per second of each, ascending."""

    leads: int
    rates: tuple[float, ...]
    calls: float
    rate: float
    p50_ms: float
    p95_ms: float
    max_ms: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Both ways at one latency."""

    latency_ms: int
    router: Figures
    naive: Figures

    @property
    def faster(self) -> float:
        """How many times the naive loop's leads per second."""
        return self.router.rate / self.naive.rate

    @property
    def fewer(self) -> float:
        """How many times fewer API calls."""
        return self.naive.calls / self.router.calls


def burst(changes: Iterable[Mapping[str, Any]], leads: int, api_calls: int) -> Burst:
    """A burst from the org's change events, by its commit times. Raises ValueError unless each lead got an owner."""
    created: dict[str, int] = {}
    owned: dict[str, int] = {}
    for change in changes:
        header = change["ChangeEventHeader"]
        for lead_id in header["recordIds"]:
            if header["changeType"] == "CREATE":
                created[lead_id] = header["commitTimestamp"]
            elif str(change.get("OwnerId", "")).startswith(USER_PREFIX):
                owned.setdefault(lead_id, header["commitTimestamp"])
    if not leads == len(created) == len(owned):
        raise ValueError(f"{leads} leads were sent, {len(created)} created, {len(owned)} have an owner")
    waits = sorted(owned[lead_id] - created[lead_id] for lead_id in created)
    return Burst(
        leads=leads,
        api_calls=api_calls,
        span_s=(max(owned.values()) - min(created.values())) / 1000,
        p50_ms=percentile(waits, 50),
        p95_ms=percentile(waits, 95),
        max_ms=percentile(waits, 100),
    )


def percentile(ascending: Sequence[float], part: int) -> float:
    """The value that `part` percent do not exceed (nearest rank)."""
    return ascending[max(0, math.ceil(len(ascending) * part / 100) - 1)]


def figures(bursts: Sequence[Burst]) -> Figures:
    """The median of each figure by itself."""

    def middle(name: str) -> float:
        return float(statistics.median(getattr(one, name) for one in bursts))

    return Figures(
        leads=bursts[0].leads,
        rates=tuple(sorted(one.rate for one in bursts)),
        calls=middle("calls"),
        rate=middle("rate"),
        p50_ms=middle("p50_ms"),
        p95_ms=middle("p95_ms"),
        max_ms=middle("max_ms"),
    )


def as_dict(pair: Pair) -> dict[str, Any]:
    """The pair for JSON, ratios included."""
    return {**asdict(pair), "times_faster": round(pair.faster, 2), "times_fewer_calls": round(pair.fewer, 2)}
