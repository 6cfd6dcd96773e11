"""Enrichment: what a provider outside is asked of a lead, and where its answers are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from lead_router.core.enrichment import Request

Stage: TypeAlias = Literal["asked", "found"]
"""A provider is to be asked; or what is known is to be written on the lead."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A recording's leads are to be looked at by the loop that enriches, in `delay_s` seconds and from `stage` on.

    Their jobs are due as soon as the provider has answered, or in `wait_s` seconds; at once where an answer is known.
    """

    stage: Stage = "asked"
    wait_s: float = 0.0
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A claimed lead; only the claim that holds the token may settle it. `result` is what was answered for `inputs`."""

    lead_id: str
    token: str
    attempts: int
    age_s: float
    inputs: str | None = None
    result: Mapping[str, Any] | None = None
    answered_age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to the request `inputs`, `age_s` old: values by lead field. It is to be written in `delay_s`."""

    inputs: str
    result: Mapping[str, Any]
    delay_s: float
    age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Again:
    """Take it again in `delay_s` seconds; the attempt counts only where it was the lead's own."""

    delay_s: float
    reason: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing more is to be done: `reason` says why; `failed` that something was and could not be."""

    reason: str
    failed: bool = False


Settlement: TypeAlias = Found | Again | Over


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows of a lead's enrichment; `result` is None where no provider has answered yet."""

    status: str
    result: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class EnrichmentView:
    """How many leads wait for a provider, and how many to be written; how many were given up."""

    asked: int
    found: int
    failed: int


class Enrichments(Protocol):
    """The part of the job store that keeps enrichment. Raises StoreUnavailable as the rest of it does."""

    def take_enrichments(self, stage: Stage, *, limit: int, lease_s: float) -> list[Taken]:
        """Claim due leads of a stage, the newest first; each claim uses an attempt, and ends with its lease."""
        ...

    def settle(self, settled: Sequence[tuple[Taken, Settlement]]) -> int:
        """End claims, in one transaction with making the jobs due that waited for them; how many jobs those are."""
        ...

    def enrichments(self, lead_ids: Sequence[str]) -> Mapping[str, Known]:
        """What is known of these leads, by id."""
        ...

    def answered(self, inputs: Sequence[str], *, within_s: float) -> Mapping[str, tuple[Mapping[str, Any], float]]:
        """Answers to these very requests, not older than that, each with its age in seconds."""
        ...

    def enrichment(self) -> EnrichmentView:
        """All of it at a glance."""
        ...

    def forget_enrichments(self, *, older_than_s: float, limit: int) -> int:
        """Delete up to `limit` leads that were asked for longer ago, whatever came of it; how many it were."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """The provider's JSON."""

    body: Any


@dataclass(frozen=True, slots=True)
class NothingKnown:
    """The provider does not know this lead."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The provider is looking; it is to be asked again, in `retry_after` seconds if it says so."""

    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Unfit:
    """The provider refuses this very request; asking again does not help. `text` holds no value of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Faulted:
    """The provider is at fault, or the way there: all leads would meet it. `retry_after` is what it asks for, in s."""

    text: str
    retry_after: float = 0.0


Answer: TypeAlias = Answered | NothingKnown | Pending | Unfit | Faulted


class Provider(Protocol):
    """A provider outside. `ask` takes no longer than its own time-out, raises nothing, and may be called at once from
    several threads.
    """

    def ask(self, request: Request) -> Answer:
        """One call; no answer's text names a value or a secret."""
        ...
