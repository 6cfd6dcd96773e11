"""Clearing: status and text come off leads that wait for nothing, unless someone changed them meanwhile.

The condition is Salesforce's own: `If-Unmodified-Since` on the row, to the second. Its documents compare with
LastModifiedDate, others with SystemModstamp, which is never earlier: with the latter sent, both refuse a later change.
"""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import format_datetime

from lead_router.core.model import Lead
from lead_router.ports import Idle, LeadMoved, Refusal
from lead_router.salesforce.codes import Kind, tell, troubles
from lead_router.salesforce.names import LeadFields, Objects, Standard
from lead_router.salesforce.records import moment
from lead_router.salesforce.rest import Subanswer, Subrequest
from lead_router.salesforce.writes import LEAD_HEADERS

LEADS_MAX = 25  # subrequests of one composite request; the condition is not for collections

_GOOD = 300
_FAILED = 412  # "Precondition Failed", whatever its body says
_AGAIN = frozenset({Kind.MOVED, Kind.LOCK})


def parts(leads: Sequence[Idle]) -> list[Subrequest]:
    """A subrequest for each lead, which writes status and text and nothing else."""
    return [
        Subrequest("PATCH", f"lead{number}", f"sobjects/{Objects.LEAD}/{one.lead.id}", _shown(one), _headers(one.lead))
        for number, one in enumerate(leads)
    ]


def faults(leads: Sequence[Idle], answers: Sequence[Subanswer]) -> list[LeadMoved | Refusal]:
    """What became of the leads that were not cleared; the answers stand in their order."""
    found: list[LeadMoved | Refusal] = []
    for lead, answer in zip((one.lead for one in leads), answers, strict=True):
        if answer.status < _GOOD:
            continue
        told = troubles(answer.body)
        if answer.status == _FAILED or any(one.kind in _AGAIN for one in told):
            found.append(LeadMoved(lead.id))
        else:
            found.append(Refusal(lead.id, tell(told) or f"status {answer.status}"))
    return found


def _shown(idle: Idle) -> dict[str, str | None]:
    return {LeadFields.STATUS: None if idle.shows is None else idle.shows.value, LeadFields.ERROR: None}


def _headers(lead: Lead) -> dict[str, str]:
    return {
        **LEAD_HEADERS,
        "If-Unmodified-Since": format_datetime(moment(lead.fields[Standard.CHANGED_AT]), usegmt=True),
    }
