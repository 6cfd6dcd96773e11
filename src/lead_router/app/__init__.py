"""The composition root: builds the real parts from settings, and offers what the command line needs."""

from lead_router.app.auditing import Asked, audit_files, audit_org
from lead_router.app.departed import Departed
from lead_router.app.explaining import Explained, explained
from lead_router.app.looking import START_ROUTER, Status, backup, diagnose, open_jobs, status
from lead_router.app.noticing import Tried, try_channels
from lead_router.app.observing import GroupReport, observe_report
from lead_router.app.planning import Plan, plan
from lead_router.app.ruling import Got, Move, Trial, Wrote, check_files, check_org, pull, push, tried_files
from lead_router.app.running import run
from lead_router.app.touching import GroupTouches, TouchReport, touch_report
from lead_router.app.verifying import Proposed, Verified, verified
from lead_router.audit import Assumed, Audit
from lead_router.audit import page as audit_page
from lead_router.audit import summary as audit_summary

__all__ = [
    "START_ROUTER",
    "Asked",
    "Assumed",
    "Audit",
    "Departed",
    "Explained",
    "Got",
    "GroupReport",
    "GroupTouches",
    "Move",
    "Plan",
    "Proposed",
    "Status",
    "TouchReport",
    "Trial",
    "Tried",
    "Verified",
    "Wrote",
    "audit_files",
    "audit_org",
    "audit_page",
    "audit_summary",
    "backup",
    "check_files",
    "check_org",
    "diagnose",
    "explained",
    "observe_report",
    "open_jobs",
    "plan",
    "pull",
    "push",
    "run",
    "status",
    "touch_report",
    "tried_files",
    "try_channels",
    "verified",
]
