"""Which change events an org publishes to this user, as the doctor tells it."""

from __future__ import annotations

from collections.abc import Sequence

from lead_router.errors import ContractMismatch
from lead_router.ports import Finding
from lead_router.salesforce.names import Objects
from lead_router.salesforce.rest import Rest

_SELECT = "select Lead in Setup under Change Data Capture, or deploy salesforce_metadata"
_SELECT_CONFIGURATION = (
    "select them in Setup under Change Data Capture, deploy salesforce_metadata, "
    "or set LEAD_ROUTER_CONFIGURATION_EVENTS=false"
)


def change_events(rest: Rest) -> Finding:
    """Whether the stream of leads may be heard."""
    if not _published(rest, Objects.LEAD_CHANGE):
        told = f"{Objects.LEAD_CHANGE} is not described: Lead may not be selected, or this user may not see it"
        return Finding("change events", ok=False, detail=told, remedy=_SELECT, warning=True)
    return Finding("change events", ok=True, detail=f"{Objects.LEAD_CHANGE} is described")


def configuration_events(rest: Rest, entities: Sequence[str]) -> list[Finding]:
    """Whether changes of configuration may be heard; no finding where nobody listens."""
    name = "configuration events"
    if missing := [entity for entity in entities if not _published(rest, entity)]:
        told = f"{' and '.join(missing)} not described: such changes are seen by the timed reload alone"
        return [Finding(name, ok=False, detail=told, remedy=_SELECT_CONFIGURATION, warning=True)]
    return [Finding(name, ok=True, detail=f"{' and '.join(entities)} are described")] if entities else []


def _published(rest: Rest, event: str) -> bool:
    """An org describes a change event that it can publish; whether the object is selected is only seen in Setup."""
    try:
        rest.get(f"sobjects/{event}/describe")
    except ContractMismatch:
        return False
    return True
