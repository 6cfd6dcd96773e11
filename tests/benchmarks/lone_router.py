"""`lead-router run` that notes when it hears of a lead, records it, and so on; the one argument is the file for it.

Each step is carried out as it is in production: before or after it the time is put on a list, which is written at
the end.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lead_router.app import run
from lead_router.jobs.store import SqlJobStore
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.subscription import Subscription
from lead_router.settings import load

MARKS: list[tuple[str, float]] = []
"""A word and milliseconds since 1970, as they come."""


def noted(owner: type, verb: str, before: str, after: str, *, counts: Callable[[Any], Any] = lambda _: True) -> None:
    """Note when the verb began and when it ended, if what it answered `counts`."""
    real = getattr(owner, verb)

    @functools.wraps(real)
    def timed(*values: Any, **more: Any) -> Any:
        began = time.time()
        answer = real(*values, **more)
        if counts(answer):
            MARKS.extend(((before, began * 1000), (after, time.time() * 1000)))
        return answer

    setattr(owner, verb, timed)


if __name__ == "__main__":
    noted(Subscription, "poll", "polled", "heard", counts=lambda delivery: delivery.changes)
    noted(SqlJobStore, "record", "recording", "recorded", counts=lambda recorded: recorded.created)
    noted(SqlJobStore, "claim", "claiming", "claimed", counts=bool)
    noted(SalesforceOrg, "snapshot", "reading", "read")
    noted(SalesforceOrg, "commit", "writing", "written")
    noted(SqlJobStore, "end", "ending", "ended")
    try:
        code = run(load(os.environ))
    finally:
        Path(sys.argv[1]).write_text(json.dumps(MARKS), encoding="ascii")
    sys.exit(code)
