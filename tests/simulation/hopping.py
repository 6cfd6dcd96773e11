"""Enrichment in plays: some companies ask a provider, people type meanwhile, and what must then hold."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from lead_router.core.enrichment import Asking, Mapped, Request, Slot
from lead_router.ports import Answer, Answered, Faulted, NothingKnown, Pending, Unfit
from org_simulator.failures import Failure
from simulation.company import Company
from support.hop_rig import Later

if TYPE_CHECKING:
    from simulation.play import Play

HOPPED = 0.2  # the share of such companies
OFTEN = 0.3  # of the times at which somebody meddles, somebody types
FIELD, TYPED = "Industry", "Typed"
ASKING = Asking(
    method="GET",
    url=("https://provider.example/?mail=", Slot("Email"), "&company=", Slot("Company", optional=True)),
    body=None,
    fields=(Mapped(FIELD, ("industry",)),),
    deadline_s=2.0,
    timeout_s=5.0,
    tries=16,
    together=2,
    cache_s=3_600.0,
)
ANSWERS = (0.5, 0.7, 0.8, 0.85, 0.9)  # up to which share of calls: an answer, a fault, none known, looking, refused


class Outside:
    """A provider, one for all routers of a play, that fails as often as it answers."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(f"provider {seed}")
        self.well = False
        self.told: set[str] = set()

    def ask(self, request: Request) -> Answer:
        """What it says of this lead is always the same."""
        drawn = 0.0 if self.well else self.dice.random()
        if drawn < ANSWERS[0]:
            self.told.add(industry(request.url))
            return Answered({"industry": industry(request.url)})
        if drawn < ANSWERS[1]:
            return Faulted("status 500", self.dice.choice((0.0, 0.0, 30.0)))
        if drawn < ANSWERS[2]:
            return NothingKnown()
        return Pending(5.0) if drawn < ANSWERS[3] else Unfit("status 422") if drawn < ANSWERS[4] else Faulted("a page")

    def took_s(self) -> float:
        """Seconds of a call."""
        return 0.1 if self.well else self.dice.choice((0.1, 0.3, 1.0, 4.0, 20.0))


def industry(url: str) -> str:
    """What the provider knows of whoever is asked about by this address."""
    return f"Trade {sum(map(ord, url)) % 9}"


def settle(seed: int) -> Outside | None:
    """Whether this company asks a provider, by dice that leave other plays as they were."""
    return Outside(seed) if random.Random(f"hops {seed}").random() < HOPPED else None


def calls(play: Play, outside: Outside) -> Later:
    """The lines of one process to the provider."""
    return Later(play.clock, outside.took_s)


def at_once(_calls: Collection[Future[Answer]]) -> None:
    """Nobody waits in a play: time passes elsewhere."""


def types(firm: Company, outside: Outside, near: Sequence[str]) -> str | None:
    """Somebody fills the field by hand, just as it may be read or written."""
    living = [lead for lead in near or firm.leads if firm.row(lead) is not None]
    if not living or outside.dice.random() >= OFTEN:
        return None
    lead = outside.dice.choice(living)
    try:
        firm.save(firm.org.admin_user_id, lead, **{FIELD: TYPED})
    except Failure as refused:
        return f"to type on {lead} was refused: {refused.code}"
    return f"somebody types on {lead}"


# ---- promises -------------------------------------------------------------------------------------------------------


def changes(play: Play) -> Iterator[tuple[str, Any, Any]]:
    """The routers' own writes of the field: lead, before and after."""
    for seen in play.witness.commits:
        for change in seen.of("Lead") if seen.ours else ():
            before, after = (change.before or {}).get(FIELD), (change.after or {}).get(FIELD)
            if change.before is not None and change.after is not None and before != after:
                yield change.id, before, after


def what_was_typed_stays(play: Play) -> Iterator[str]:
    """A router fills a field that is blank at that very moment, and no other."""
    yield from (f"{lead}: {before} became {after}" for lead, before, after in changes(play) if before is not None)


def what_is_written_was_answered(play: Play) -> Iterator[str]:
    """And without a provider, nothing is."""
    told = play.outside.told if play.outside is not None else set()
    yield from (f"{lead} bears {after}, which nobody told" for lead, _, after in changes(play) if after not in told)


CHECKS = {"typed": what_was_typed_stays, "answered": what_is_written_was_answered}
