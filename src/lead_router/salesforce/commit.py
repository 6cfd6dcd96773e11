"""What became of a commit: the answers to its parts, to a receipt. Pure.

Only the first failures count: Salesforce rolls the others back and says so with codes of their own, or even reports
success for them. Records are known by their position alone; a failed one bears no id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lead_router.core.ids import SHORT
from lead_router.core.model import Follow, Group, Member, Write
from lead_router.errors import ContractMismatch, RowLocked
from lead_router.ports import (
    AlreadyRouted,
    Committed,
    Fault,
    Gone,
    GroupStuck,
    LeadMoved,
    Receipt,
    Refusal,
    Refused,
    RepGone,
    SiblingRouted,
    TurnTaken,
)
from lead_router.salesforce.codes import Kind, Trouble, surprise, tell, troubles
from lead_router.salesforce.names import LeadFields, LedgerFields, Markers, Standard
from lead_router.salesforce.rest import Subanswer
from lead_router.salesforce.writes import Composed, Step, Subject

FAILED = 300  # HTTP statuses from here on are failures

_PRECONDITION, _MODIFIED = 412, "ENTITY_FAILED_IFLASTMODIFIED_ON_UPDATE"

_LOCKED = "UNABLE_TO_LOCK_ROW"
_CUT = "..."  # the end of a list that was too long: "... (15 more)"
_RECORD_ID = re.compile(r"\b[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?\b")
_DUPLICATE = re.compile(r"duplicate value found: (\S+) duplicates value on record", re.IGNORECASE)
_ROSTER = frozenset({LedgerFields.GROUP, LedgerFields.MEMBER})
_NOT_OF_OWNER = frozenset({Kind.RULE, Kind.TRIGGER, Kind.DUPLICATE, Kind.SECONDARY})
_NO_ACCESS = "INSUFFICIENT_ACCESS_OR_READONLY"
_OF_THE_LEDGER = frozenset({_NO_ACCESS, "REQUIRED_FIELD_MISSING"})  # no lead's own: they would befall every row
_OF_LEADS = frozenset({Step.LEDGER, Step.LOCK, Step.LEADS})
_SURPRISES = frozenset({Kind.SESSION, Kind.LIMIT, Kind.CONTRACT, Kind.SETUP, Kind.LOGIN})


@dataclass(frozen=True, slots=True)
class Failure:
    """A record, or a part as a whole where `subject` is None, with all errors that are its own."""

    step: Step
    subject: Subject | None
    troubles: tuple[Trouble, ...]


def receipt(composed: Composed, answers: Sequence[Subanswer]) -> Receipt:
    """The receipt of a commit's answers.

    Raises RowLocked where locks are all that failed, ContractMismatch where the answer is not as agreed, and
    the fault of the service where the answer names one.
    """
    failures = [failure for answer in answers for failure in _failures(composed, answer)]
    if not failures:
        return Committed()
    primary = [failure for failure in map(_own, failures) if failure.troubles]
    if not primary:
        return Refused((Refusal(None, "Salesforce rolled everything back and named no cause", again=True),))
    faults: list[Fault] = []
    locks: list[Trouble] = []
    for failure in _named(primary):
        found = _fault(failure)
        if found is None:
            locks += failure.troubles
        elif found not in faults:
            faults.append(found)
    if not faults:
        raise RowLocked(tell(locks), lead_ids=_locked_leads(composed, locks))
    return Refused(tuple(faults))


def _locked_leads(composed: Composed, locks: Sequence[Trouble]) -> frozenset[str]:
    """The commit's leads that are locked; none where an error names another record, none or not all, or is a trigger's.

    An error may name all records of its part, the locked ones among them.
    """
    subjects = composed.subjects[Step.LEDGER]
    leads = {one.lead.id[:SHORT]: one.lead.id for one in subjects if not isinstance(one, Group | Member)}
    named = [[one[:SHORT] for one in _RECORD_ID.findall(lock.text)] for lock in locks]
    told = all(lock.code == _LOCKED and _CUT not in lock.text for lock in locks)
    if not told or not all(each and leads.keys() >= set(each) for each in named):
        return frozenset()
    return frozenset(leads[one] for each in named for one in each)


def _failures(composed: Composed, answer: Subanswer) -> Iterator[Failure]:
    guard = composed.guards.get(answer.reference)
    if guard is not None:
        moved = Trouble(_MODIFIED, "") if answer.status == _PRECONDITION else Trouble(f"HTTP_{answer.status}", "")
        if answer.status >= FAILED:
            yield Failure(Step.LOCK, guard, troubles(answer.body) or (moved,))
        return
    step = Step(answer.reference)
    if answer.status >= FAILED:
        yield Failure(step, None, troubles(answer.body) or (Trouble(f"HTTP_{answer.status}", ""),))
        return
    subjects = composed.subjects.get(step)
    if subjects is None:  # the one group, which is no collection
        return
    results = answer.body
    if not isinstance(results, list) or len(results) != len(subjects):
        raise ContractMismatch(f"the part '{step}' of {len(subjects)} records was answered with another number")
    for subject, result in zip(subjects, results, strict=True):
        if not isinstance(result, dict) or "success" not in result:
            raise ContractMismatch(f"the part '{step}' was answered in an unknown shape")
        if result["success"] is not True:
            yield Failure(step, subject, troubles(result.get("errors")) or (Trouble("NO_ERROR_GIVEN", ""),))


def _own(failure: Failure) -> Failure:
    """The failure without what other records caused."""
    own = tuple(trouble for trouble in failure.troubles if trouble.kind is not Kind.SECONDARY)
    return Failure(failure.step, failure.subject, own)


def _named(primary: Sequence[Failure]) -> list[Failure]:
    """The failures, as far as they name a record: code that throws for one has all records of its part refused with
    the same answer, so that such answers to several leads are one that names none.
    """
    thrown = [
        failure
        for failure in primary
        if failure.step in _OF_LEADS and failure.subject and {each.kind for each in failure.troubles} == {Kind.TRIGGER}
    ]
    if len(thrown) == 1:
        return list(primary)
    rest = [failure for failure in primary if failure not in thrown]
    return rest + [Failure(failure.step, None, failure.troubles) for failure in thrown[:1]]


def _fault(failure: Failure) -> Fault | None:
    """What a failure means; None for a lock. An answer to a lost race outranks a refusal, a refusal outranks a lock."""
    found = failure.troubles
    if failure.step in {Step.GROUP, Step.MEMBERS} and any(_turn_lost(trouble) for trouble in found):
        return TurnTaken()
    surprising = [trouble for trouble in found if trouble.kind in _SURPRISES]
    if surprising:
        raise surprise(surprising, write=False)
    if all(trouble.kind is Kind.LOCK for trouble in found):
        return None
    match failure.subject:
        case None if failure.step is Step.GROUP:
            fault: Fault = _stuck("the group's turn cannot be written", found)
        case None:
            fault = Refusal(None, tell(found), again=_worth_another(found))
        case Group():
            fault = _stuck("a group's turn cannot be written", found)
        case Member(id=member_id):
            fault = _stuck(f"the next turn of member {member_id} cannot be written", found)
        case _ if failure.step is Step.LEDGER and not _OF_THE_LEDGER.isdisjoint(trouble.code for trouble in found):
            fault = _stuck("no row of the ledger can be written", found)
        case write:
            lost = (_lost(failure.step, write, trouble) for trouble in found)
            fault = next((fault for fault in lost if fault is not None), None) or _refusal(write, found)
    return fault


def _turn_lost(trouble: Trouble) -> bool:
    """Whether the rotation moved since it was read, or the group or member was deleted."""
    gone = trouble.kind in {Kind.GONE, Kind.REFERENCE} or trouble.code == "NOT_FOUND"
    return gone or Markers.TURN_MOVED in trouble.text


def _stuck(what: str, found: tuple[Trouble, ...]) -> GroupStuck:
    return GroupStuck(f"{what}: {tell(found)}; see which validation rule, trigger or permission stands in the way")


def _lost(step: Step, write: Write, trouble: Trouble) -> Fault | None:
    """The lost race that an error tells of, if it does."""
    lead_id = write.lead.id
    follows = isinstance(write, Follow)
    match trouble.kind:
        case Kind.DUPLICATE:
            return _duplicate(step, lead_id, trouble)
        case Kind.GONE if not (follows and LeadFields.DUPLICATE_OF in trouble.fields):
            return Gone(lead_id, "converted" if trouble.code == "CANNOT_UPDATE_CONVERTED_LEAD" else "deleted")
        case Kind.REFERENCE if LedgerFields.LEAD in trouble.fields:
            return Gone(lead_id, "deleted")
        case Kind.REFERENCE if not _ROSTER.isdisjoint(trouble.fields):
            return TurnTaken()  # a member or the group was deleted since it was read
        case kind:
            # A lead that follows may name a first lead that is gone, or merged into another.
            moved = kind in {Kind.GONE, Kind.MOVED} or (kind is Kind.REFERENCE and follows and step is Step.LEADS)
            return LeadMoved(lead_id) if moved or Markers.OWNER_MOVED in trouble.text else None


def _duplicate(step: Step, lead_id: str, trouble: Trouble) -> Fault:
    """Which unique key was taken. Where Salesforce prints `<unknown>`, deciding again settles it from the ledger."""
    named = _DUPLICATE.search(trouble.text)
    key = named[1].rpartition(".")[2] if named and step is Step.LEDGER else ""
    match key:
        case LedgerFields.TURN_KEY:
            return TurnTaken()
        case LedgerFields.IDEMPOTENCY_KEY:
            return AlreadyRouted(lead_id)
        case LedgerFields.SUBMISSION_EVEN | LedgerFields.SUBMISSION_ODD:
            return SiblingRouted(lead_id)
        case _:
            return LeadMoved(lead_id)


def _refusal(write: Write, found: tuple[Trouble, ...]) -> Fault:
    if all(trouble.kind is Kind.LOCK or _of_owner(trouble) for trouble in found):
        return RepGone(write.owner_id)
    return Refusal(write.lead.id, tell(found), again=_worth_another(found))


def _of_owner(trouble: Trouble) -> bool:
    """Whether the chosen owner is refused: gone, inactive, without rights, or a queue that takes no leads."""
    return trouble.kind is Kind.OWNER or (Standard.OWNER in trouble.fields and trouble.kind not in _NOT_OF_OWNER)


def _worth_another(found: tuple[Trouble, ...]) -> bool:
    """Whether no error is known to last: a code that nobody wrote down here, a breakdown inside Salesforce, or a right
    that somebody took from the integration user and may give back.
    """
    return all(
        trouble.kind in {Kind.UNKNOWN, Kind.SERVER, Kind.LOCK} or trouble.code == _NO_ACCESS for trouble in found
    )
