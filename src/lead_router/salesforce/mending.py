"""Mending: what the ledger proves, written back under the conditions that every commit is under.

The group is written with turn and clock, and with the epoch and turn that were seen: the rule Turn_Moved refuses it,
and with it all, where a turn was taken since. A lead is written with the owner that was seen, into a higher round: the
rule Routing_Owner_Moved refuses it where it was given out, or changed hands, since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lead_router.core.drift import Change, Field, Stamp
from lead_router.core.keys import expected_turn
from lead_router.core.model import Group
from lead_router.errors import ContractMismatch
from lead_router.ports.books import Mended
from lead_router.salesforce.codes import tell, troubles
from lead_router.salesforce.names import GroupFields, LeadFields, MemberFields, Objects
from lead_router.salesforce.rest import Subanswer, Subrequest
from lead_router.salesforce.writes import COLLECTION, LEAD_HEADERS, collection

LEADS_MAX: Final = 200  # records of one collection
_GOOD = 300
_NAMES: Final[Mapping[Field, str]] = {
    Field.TURN: GroupFields.TURN,
    Field.CLOCK: GroupFields.CLOCK,
    Field.LAST_TURN: MemberFields.LAST_TURN,
    Field.NEXT_TURN: MemberFields.NEXT_TURN,
    Field.RECEIVED: MemberFields.LEADS_RECEIVED,
    Field.ROUND: LeadFields.ROUND,
    Field.STAMP: LeadFields.STAMP,
}


def parts(group: Group, changes: Sequence[Change]) -> list[Subrequest]:
    """The group, then its members, ids ascending; at most 200 of them."""
    turned = {
        GroupFields.TURN: group.turn,
        GroupFields.CLOCK: group.clock,
        GroupFields.EXPECTED_TURN: expected_turn(group.epoch, group.turn),
        **_fields(one for one in changes if one.record_id == group.id),
    }
    made = [Subrequest("PATCH", "group", f"sobjects/{Objects.GROUP}/{group.id}", turned)]
    members = sorted({one.record_id for one in changes if one.record_id != group.id})
    written = [
        {"id": member, **_fields(one for one in changes if one.record_id == member)} for member in members[:LEADS_MAX]
    ]
    if written:
        made.append(Subrequest("PATCH", "members", COLLECTION, collection(Objects.MEMBER, written)))
    return made


def told(changes: Sequence[Change], answers: Sequence[Subanswer]) -> Mended:
    """What became of a group's repair."""
    faults: list[str] = []
    for answer in answers:
        if answer.status >= _GOOD:
            faults.append(tell(troubles(answer.body)) or f"status {answer.status}")
        elif isinstance(answer.body, list):
            refused = (one for one in answer.body if isinstance(one, dict) and one.get("success") is not True)
            faults += [tell(troubles(one.get("errors"))) or "refused without a reason" for one in refused]
    records = tuple(dict.fromkeys(one.record_id for one in changes))
    return Mended(refused=dict.fromkeys(records, faults[0])) if faults else Mended(written=records)


def unfit(changes: Sequence[Change], stamp: Stamp | None) -> str | None:
    """Why a lead, as it is a moment before, is not to be written: of itself, the rule lets a round be lowered."""
    if stamp is None:
        return "it was deleted meanwhile"
    rises = any(one.field is Field.ROUND and isinstance(one.new, int) and one.new > stamp.round for one in changes)
    return None if rises else "it is in that round, or a higher one, by now"


def lead_part(changes: Mapping[str, Sequence[Change]], owners: Mapping[str, str]) -> Subrequest:
    """At most 200 leads, ids ascending, each by itself."""
    written = [
        {"id": lead_id, LeadFields.EXPECTED_OWNER: owners[lead_id], **_fields(several)}
        for lead_id, several in sorted(changes.items())
    ]
    body = collection(Objects.LEAD, written, all_or_none=False)
    return Subrequest("PATCH", "leads", COLLECTION, body, LEAD_HEADERS)


def told_leads(lead_ids: Sequence[str], answer: Subanswer) -> Mended:
    """What became of the leads, in the order in which they were sent."""
    ids = sorted(lead_ids)
    if answer.status >= _GOOD:
        return Mended(refused=dict.fromkeys(ids, tell(troubles(answer.body)) or f"status {answer.status}"))
    if not isinstance(answer.body, list) or len(answer.body) != len(ids):
        raise ContractMismatch("leads were answered in another number than was sent")
    good = tuple(lead_id for lead_id, one in zip(ids, answer.body, strict=True) if one.get("success") is True)
    bad = {
        lead_id: tell(troubles(one.get("errors"))) or "refused without a reason"
        for lead_id, one in zip(ids, answer.body, strict=True)
        if lead_id not in good
    }
    return Mended(good, bad)


def _fields(changes: Any) -> dict[str, Any]:
    return {_NAMES[one.field]: one.new for one in changes}
