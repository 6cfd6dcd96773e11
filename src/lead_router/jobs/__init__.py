"""The durable queue: SQLite by default, PostgreSQL for several routers."""

from lead_router.jobs.opening import known_orgs, open_store
from lead_router.jobs.place import doubt
from lead_router.jobs.store import ATTEMPTS_MAX, CLAIM_MAX, SqlJobStore

__all__ = ["ATTEMPTS_MAX", "CLAIM_MAX", "SqlJobStore", "doubt", "known_orgs", "open_store"]
