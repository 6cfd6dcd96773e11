"""The durable queue: SQLite by default, PostgreSQL for several routers."""

from lead_router.jobs.backing import Copy, back_up
from lead_router.jobs.opening import known_orgs, missing_file, open_store, whereabouts
from lead_router.jobs.place import alone, doubt
from lead_router.jobs.soundness import damage
from lead_router.jobs.store import ATTEMPTS_MAX, CLAIM_MAX, SqlJobStore

__all__ = [
    "ATTEMPTS_MAX",
    "CLAIM_MAX",
    "Copy",
    "SqlJobStore",
    "alone",
    "back_up",
    "damage",
    "doubt",
    "known_orgs",
    "missing_file",
    "open_store",
    "whereabouts",
]
