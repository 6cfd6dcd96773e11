"""Sending: one commit, until it is known what became of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import structlog

from lead_router.core.model import Batch
from lead_router.errors import OutcomeUnknown
from lead_router.ports import Committed, Org, Receipt

_log = structlog.get_logger(__name__)

UNKNOWN_TRIES = 3
JITTER_S = (0.05, 0.5)


def sent(org: Org, several: Sequence[Batch], *, pause: Callable[[float], None], dice: random.Random) -> Receipt:
    """The receipt of one commit of these batches. Raises OutcomeUnknown where no answer nor the ledger tells it."""
    for _ in range(UNKNOWN_TRIES):
        try:
            return org.commit(*several)
        except OutcomeUnknown as fault:
            _log.warning("outcome_unknown", leads=sum(len(one.writes) for one in several), error=str(fault))
            pause(dice.uniform(*JITTER_S))
            if org.committed(*several):
                return Committed()
    raise OutcomeUnknown("no answer to a commit, and the ledger does not hold it yet")
