"""Filling: values for fields of leads, written on the same condition as what leads show (`marking`)."""

from __future__ import annotations

from collections.abc import Sequence

from lead_router.ports import Fill, LeadMoved, Unfilled
from lead_router.salesforce.codes import troubles
from lead_router.salesforce.marking import GOOD, moved
from lead_router.salesforce.names import Objects
from lead_router.salesforce.rest import Subanswer, Subrequest
from lead_router.salesforce.writes import unchanged


def parts(fills: Sequence[Fill]) -> list[Subrequest]:
    """A subrequest for each lead."""
    return [
        Subrequest("PATCH", f"lead{number}", f"sobjects/{Objects.LEAD}/{one.lead.id}", one.values, unchanged(one.lead))
        for number, one in enumerate(fills)
    ]


def faults(fills: Sequence[Fill], answers: Sequence[Subanswer]) -> dict[str, LeadMoved | Unfilled]:
    """What became of the leads that were not filled, by id; the answers stand in the order of the fills."""
    found: dict[str, LeadMoved | Unfilled] = {}
    for one, answer in zip(fills, answers, strict=True):
        if answer.status < GOOD:
            continue
        told = troubles(answer.body)
        if moved(answer, told):
            found[one.lead.id] = LeadMoved(one.lead.id)
        else:
            named = frozenset(name for trouble in told for name in trouble.fields)
            codes = ", ".join(dict.fromkeys(trouble.code for trouble in told)) or f"status {answer.status}"
            found[one.lead.id] = Unfilled(one.lead.id, named, codes)
    return found
