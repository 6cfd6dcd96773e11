"""`lead-router run` with one number out of its bounds: for how many seconds finished jobs are kept, the one argument.

A day's worth of jobs comes and goes in minutes then. What prunes, how, and everything else is the production process.
"""

from __future__ import annotations

import os
import sys

from lead_router.app import run
from lead_router.loops import upkeep
from lead_router.settings import load

DAY_S = 86_400.0
LOOKS_PER_KEEP = 5

if __name__ == "__main__":
    kept_s = float(sys.argv[1])
    upkeep.FORGET_EVERY_S = kept_s / LOOKS_PER_KEEP
    sys.exit(run(load(os.environ).model_copy(update={"keep_done_days": kept_s / DAY_S})))
