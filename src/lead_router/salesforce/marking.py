"""Marking: what leads show comes on and off, unless someone changed them since they were read.

The condition is Salesforce's own: `If-Unmodified-Since` on the row, to the second. Its documents compare with
LastModifiedDate, others with SystemModstamp, which is never earlier: with the latter sent, both refuse a later change.
The second refuses also what only the platform touched since; it is looked at again, as any other. It is not for
collections; one composite request takes 25 rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from lead_router.ports import LeadMoved, Mark, Overridden, Refusal
from lead_router.salesforce.codes import Kind, Trouble, tell, troubles
from lead_router.salesforce.names import LeadFields, Lengths, Objects
from lead_router.salesforce.queries import instant
from lead_router.salesforce.rest import Subanswer, Subrequest
from lead_router.salesforce.writes import cut, unchanged

GOOD = 300
_FAILED = 412  # "Precondition Failed", whatever its body says
_AGAIN = frozenset({Kind.MOVED, Kind.LOCK})


def parts(marks: Sequence[Mark | Overridden]) -> list[Subrequest]:
    """A subrequest for each lead, which writes what it is to show and nothing else."""
    return [
        Subrequest("PATCH", f"lead{number}", f"sobjects/{Objects.LEAD}/{one.lead.id}", _shown(one), unchanged(one.lead))
        for number, one in enumerate(marks)
    ]


def faults(marks: Sequence[Mark | Overridden], answers: Sequence[Subanswer]) -> dict[str, LeadMoved | Refusal]:
    """What became of the leads that were not marked, by id; the answers stand in the order of the marks."""
    found: dict[str, LeadMoved | Refusal] = {}
    for lead, answer in zip((one.lead for one in marks), answers, strict=True):
        if answer.status < GOOD:
            continue
        told = troubles(answer.body)
        if moved(answer, told):
            found[lead.id] = LeadMoved(lead.id)
        else:
            found[lead.id] = Refusal(lead.id, tell(told) or f"status {answer.status}")
    return found


def moved(answer: Subanswer, told: Sequence[Trouble]) -> bool:
    """Whether a write was refused because the lead was changed since, or is being changed now."""
    return answer.status == _FAILED or any(one.kind in _AGAIN for one in told)


def _shown(mark: Mark | Overridden) -> dict[str, str | None]:
    match mark:
        case Mark(status=status, text=text):
            shown = None if status is None else status.value
            return {LeadFields.STATUS: shown, LeadFields.ERROR: cut(text, Lengths.ERROR) or None}
        case Overridden(user_id=user, at=at):
            return {LeadFields.OVERRIDDEN_BY: user, LeadFields.OVERRIDDEN_AT: instant(at)}
