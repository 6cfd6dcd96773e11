"""Whether a lead can have the statuses that operators named."""

from __future__ import annotations

from collections.abc import Collection

from lead_router.core.soql.values import fold
from lead_router.ports import Finding
from lead_router.salesforce.names import Objects, Standard
from lead_router.salesforce.rest import Rest

SETTING = "LEAD_ROUTER_INTAKE_STATUSES"


def unknown_statuses(rest: Rest, statuses: Collection[str]) -> list[Finding]:
    """A finding for each of the statuses that is no active value of the picklist, with the values that are.

    Letter case does not count, as it does not where leads are judged.
    """
    if not statuses:
        return []
    described = rest.get(f"sobjects/{Objects.LEAD}/describe")["fields"]
    own = [field.get("picklistValues") or () for field in described if field["name"] == Standard.STATUS]
    values = [str(one["value"]) for several in own for one in several if one.get("active")]
    known = {fold(value) for value in values}
    remedy = f"name one of: {', '.join(values)}" if values else "give the field values in Setup"
    wrong = sorted(status for status in statuses if fold(status) not in known)
    told = (f"{SETTING} names '{status}', which no lead can have" for status in wrong)
    return [Finding("intake statuses", ok=False, detail=one, remedy=remedy) for one in told]
