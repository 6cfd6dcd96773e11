"""An org's past measured as it is: read through a port, judged by rules that are told, shown as one page.

`reading` brings rows together, `judging` is pure, `report` draws. Nothing here writes to an org.
"""

from lead_router.audit.judging.answers import Assumed, Audit
from lead_router.audit.judging.verdict import judge
from lead_router.audit.reading.cells import email_digest, phone_digest
from lead_router.audit.reading.exports import Exports
from lead_router.audit.reading.gathering import gather
from lead_router.audit.report.page import page
from lead_router.audit.report.terminal import summary

__all__ = ["Assumed", "Audit", "Exports", "email_digest", "gather", "judge", "page", "phone_digest", "summary"]
