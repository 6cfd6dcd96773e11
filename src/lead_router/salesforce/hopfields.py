"""Which lead fields the hops read and write, whether they are there, and whether this user may write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lead_router.core.enrichment import Asking, asked_with, fitted
from lead_router.core.scoring import Scoring, fields_of
from lead_router.errors import BadCriteria
from lead_router.ports import Finding
from lead_router.salesforce.names import Objects
from lead_router.salesforce.rest import Rest

_NUMBERS = frozenset({"int", "long", "double", "currency", "percent"})
SCORE_TYPE = "double"


def with_score(scoring: Scoring | None, types: Mapping[str, str]) -> Mapping[str, str]:
    """The types of lead fields, and of the score under its own name, as far as types are known.

    Raises BadCriteria, as for a rule that names a field which is not there.
    """
    if scoring is None or not types:
        return types
    known = {name.lower() for name in types}
    if scoring.field is not None and scoring.field not in types:
        raise BadCriteria(f"{scoring.source}: field names {scoring.field}, but Lead has no such field to read")
    if scoring.name != scoring.field and scoring.name.lower() in known:
        raise BadCriteria(f"{scoring.source}: Lead has a field {scoring.name}: give the score another name, or `field`")
    return types if scoring.name == scoring.field else {**types, scoring.name: SCORE_TYPE}


def read_for(scoring: Scoring | None, used: Iterable[str], types: frozenset[tuple[str, str]]) -> frozenset[str]:
    """The fields to read so that what is `used` can be asked: what the score is made of, not the score's own name."""
    if scoring is None:
        return frozenset(used)
    own = {scoring.name} if scoring.name != scoring.field else set()
    return (frozenset(used) | fields_of(scoring, types)) - own


def hop_fields(rest: Rest, scoring: Scoring | None, asking: Asking | None) -> list[Finding]:
    """A finding for each hop that is on. One API call."""
    described = rest.get(f"sobjects/{Objects.LEAD}/describe")
    fields = {str(field["name"]): field for field in described["fields"]}
    found = [] if scoring is None else [_scoring(scoring, fields)]
    return found if asking is None else [*found, _enrichment(asking, fields)]


def _scoring(scoring: Scoring, fields: Mapping[str, Mapping[str, Any]]) -> Finding:
    counted = f"{len(scoring.criteria)} criteria, in rules {' or '.join(sorted(scoring.names))}"
    if scoring.field is None:
        return Finding("scoring", ok=True, detail=f"{counted}; written to no field")
    faults = _unwritable(fields, [scoring.field])
    if not faults and str(fields[scoring.field]["type"]) not in _NUMBERS:
        faults = [f"{scoring.field} is no number"]
    if faults:
        return Finding("scoring", ok=False, detail="; ".join(faults), remedy=_remedy(scoring.source), warning=True)
    return Finding("scoring", ok=True, detail=f"{counted}; written to {scoring.field}")


def _enrichment(asking: Asking, fields: Mapping[str, Mapping[str, Any]]) -> Finding:
    mapped = [one.field for one in asking.fields]
    faults = [f"it asks by {name}, which is not there or hidden" for name in sorted(asked_with(asking) - fields.keys())]
    faults += _unwritable(fields, mapped)
    known = (name for name in mapped if name in fields)
    faults += [f"{name} names a record, which no provider knows" for name in known if not _takes(fields[name])]
    if faults:
        return Finding("enrichment", ok=False, detail="; ".join(faults), remedy=_remedy(asking.source), warning=True)
    url = str(asking.url[0]).partition("?")[0]
    overwritten = [one.field for one in asking.fields if one.overwrite]
    over = f" (overwriting {', '.join(overwritten)})" if overwritten else ""
    told = f"{asking.method} {url}… by {', '.join(sorted(asked_with(asking)))}; writes {', '.join(mapped)}{over}"
    return Finding("enrichment", ok=True, detail=f"{told}; a lead waits {asking.deadline_s:g} s for it at most")


def _takes(field: Mapping[str, Any]) -> bool:
    return fitted("2026-01-31", str(field["type"])) is not None or str(field["type"]) in {*_NUMBERS, "boolean"}


def _unwritable(fields: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    missing = [f"{name} is not there, or hidden from this user" for name in names if name not in fields]
    denied = [name for name in names if name in fields and not fields[name].get("updateable", False)]
    return [*missing, *([f"this user cannot write: {', '.join(denied)}"] if denied else [])]


def _remedy(source: str) -> str:
    return f"give this user the right to edit the field by a permission set of your own, or name another in {source}"
