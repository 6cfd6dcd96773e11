"""The hops before the decision, built from settings and their files: scoring, and a provider that enriches."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from lead_router.core.enrichment import Asking
from lead_router.core.scoring import Scoring
from lead_router.errors import Misconfigured
from lead_router.hops.http_json import HttpJson
from lead_router.loops.current import Current
from lead_router.loops.enriching import Enriching
from lead_router.loops.filling import Filling
from lead_router.loops.promptness import Promptness
from lead_router.ports import Answer, JobStore, Org, Provider
from lead_router.ports.meter import ENRICHMENT_S, ENRICHMENTS, NO_METER, Meter
from lead_router.rulefiles.providers import PLACEHOLDER, read_provider
from lead_router.rulefiles.scores import read_scoring
from lead_router.settings import PREFIX, Settings, secret_text

WAIT_S = 0.1


@dataclass(frozen=True, slots=True)
class Hops:
    """What is switched on; `provider` goes with `enrichment`."""

    scoring: Scoring | None = None
    enrichment: Asking | None = None
    provider: Provider | None = None

    @property
    def loops(self) -> bool:
        """Whether there is anything for a loop to do."""
        return self.enrichment is not None or (self.scoring is not None and self.scoring.field is not None)


def hops_of(settings: Settings) -> Hops:
    """What the settings switch on; raises Misconfigured naming file, line or setting, and the remedy."""
    scoring = None if settings.scoring_file is None else read_scoring(settings.scoring_file)
    if settings.enrichment_file is None:
        return Hops(scoring)
    found = read_provider(settings.enrichment_file)
    secret = _secret(settings)
    if found.wants_secret != bool(secret):
        lacks = "is set, but no header of it has" if secret else "is not set, but a header of it has"
        raise Misconfigured(f"{found.asking.source}: {PREFIX}ENRICHMENT_SECRET {lacks} {PLACEHOLDER}")
    headers = {name: value.replace(PLACEHOLDER, secret) for name, value in found.headers.items()}
    provider = HttpJson(headers, timeout_s=found.asking.timeout_s, ca_file=settings.ca_file)
    return Hops(scoring, found.asking, provider)


def _secret(settings: Settings) -> str:
    if settings.enrichment_secret_file is not None:
        secret = secret_text(settings.enrichment_secret_file, f"{PREFIX}ENRICHMENT_SECRET_FILE")
    else:
        secret = settings.enrichment_secret.get_secret_value().strip() if settings.enrichment_secret else ""
    if not secret.isprintable() or not secret.isascii():
        raise Misconfigured(f"{PREFIX}ENRICHMENT_SECRET: it holds what no header may: copy it again")
    return secret


def enriching(
    org: Org,
    store: JobStore,
    current: Current,
    hops: Hops,
    promptness: Promptness,
    *,
    now: Callable[[], datetime],
    wake: Callable[[], None],
    meter: Meter = NO_METER,
) -> Enriching:
    """The loop of both hops, on the calling thread."""
    lines = 1 if hops.enrichment is None else hops.enrichment.together
    return Enriching(
        org,
        store,
        current,
        hops.provider,
        promptness,
        Filling(org, store, current, now=now),
        pool=ThreadPoolExecutor(lines, thread_name_prefix="enriching"),
        wait=_a_moment,
        monotonic=time.monotonic,
        wake=wake,
        told=partial(measured, meter),
    )


def measured(meter: Meter, outcome: str, seconds: float) -> None:
    """The provider was asked, and answered so after so long; or the answer was known."""
    meter.count(ENRICHMENTS, outcome)
    if outcome != "known":
        meter.observe(ENRICHMENT_S, seconds)


def _a_moment(calls: Collection[Future[Answer]]) -> object:
    return wait_for(calls, timeout=WAIT_S, return_when=FIRST_COMPLETED)
