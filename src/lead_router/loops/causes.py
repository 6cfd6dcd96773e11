"""Causes: whether a change may have made a lead want an owner, for the first time or again, and why."""

from __future__ import annotations

from collections.abc import Iterable

from lead_router.core.model import Cause, Configuration, Reroute, Switch
from lead_router.core.rules import rulebook
from lead_router.core.scoring import fields_of
from lead_router.core.soql.values import fold
from lead_router.core.terms import watched
from lead_router.ports import Change

CREATED = frozenset({"CREATE", "GAP_CREATE"})
UNSURE = frozenset({"UNDELETE", "GAP_UNDELETE", "GAP_UPDATE", "REQUESTED"})

_PARTS_OF_NAME = frozenset({"salutation", "firstname", "middlename", "lastname", "suffix"})


def cause_of(change: Change, configuration: Configuration) -> Cause | None:
    """Why a change asks who gets its lead, as far as the event tells; in doubt it asks. None: it surely does not.

    Whether the lead was routed before is for the ledger to say, when it is asked. A GAP_UPDATE does not tell what was
    changed: it asks as one that may have changed any field, yet not as one that set the status back, since statuses
    stay when owners change.
    """
    if change.change_type in UNSURE:
        return Cause.CHANGED if change.change_type == "GAP_UPDATE" and reroutes(configuration) else Cause.WAITING
    owner = change.fields.get("OwnerId")
    to_intake = owner in configuration.intake_owners
    status_asks = _status_asks(change, configuration)
    if change.change_type in CREATED:
        return Cause.WAITING if owner is None or to_intake or status_asks else None
    if change.change_type != "UPDATE":
        return None
    if owner is not None and not to_intake:
        return None  # someone gave it to someone, whatever else was changed with it
    if to_intake or status_asks:
        return Cause.WAITING if to_intake else Cause.STATUS
    return _by_its_fields(change, configuration)


def _by_its_fields(change: Change, configuration: Configuration) -> Cause | None:
    if reroutes(configuration) and _touches(change.changed_fields, _read_by_rules(configuration)):
        return Cause.CHANGED
    unassigned = rulebook(configuration).unassigned.fields
    return Cause.WAITING if _touches(change.changed_fields, (path.lower() for path in unassigned)) else None


def unassigned_under(change: Change, configuration: Configuration) -> str | None:
    """The owner that the lead had when it was unassigned, where the event tells both."""
    owner = change.fields.get("OwnerId")
    asks = owner in configuration.intake_owners or _status_asks(change, configuration)
    return owner if isinstance(owner, str) and asks else None


def _status_asks(change: Change, configuration: Configuration) -> bool:
    status = change.fields.get("Status")
    return isinstance(status, str) and fold(status) in {fold(one) for one in configuration.intake_statuses}


def reroutes(configuration: Configuration) -> bool:
    """Whether a lead may be taken from its owner because its fields were changed."""
    looked_for = configuration.rollout.reroutes is not Switch.OFF
    return looked_for and any(group.reroute is Reroute.REROUTE for group in configuration.roster)


def takes_back(configuration: Configuration) -> bool:
    """Whether a lead may be taken from its owner at all: changed fields, its status set back or a clock may do that."""
    set_back = configuration.rollout.reroutes is not Switch.OFF and bool(configuration.intake_statuses)
    return set_back or reroutes(configuration) or bool(watched(configuration))


def _read_by_rules(configuration: Configuration) -> set[str]:
    """What the rules' criteria ask for, in lower case."""
    book = rulebook(configuration)
    read = {path.lower() for rule in book.rules for path in rule.criteria.fields}
    scoring = configuration.scoring
    if scoring is not None and any(name.lower() in read for name in scoring.names):
        read |= {path.lower() for path in fields_of(scoring, book.types)}
    return read


def _touches(changed: Iterable[str], read: Iterable[str]) -> bool:
    """Whether a field was changed that criteria ask for; formula fields are in no event and never seen to change."""
    names = {_stored(path) for path in read}
    if "name" in names:
        names |= _PARTS_OF_NAME
    return any(field.lower() in names for field in changed)


def _stored(path: str) -> str:
    """The lead's own field by which a path, in lower case, begins: `recordtype.name` is kept as `recordtypeid`."""
    parent, _, nested = path.partition(".")
    if not nested:
        return parent
    own, custom, kind = parent.rpartition("__")
    return f"{own}{custom}c" if custom and kind == "r" else f"{parent}id"
