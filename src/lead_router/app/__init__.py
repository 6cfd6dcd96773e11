"""The composition root: builds the real parts from settings, and offers what the command line needs."""

from lead_router.app.looking import diagnose, open_jobs, status
from lead_router.app.running import run

__all__ = ["diagnose", "open_jobs", "run", "status"]
