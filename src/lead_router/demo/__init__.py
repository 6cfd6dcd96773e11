"""The whole thing on one machine: a simulated org, a form, the router, and a crash in mid-burst."""

from lead_router.demo.performance import play

__all__ = ["play"]
