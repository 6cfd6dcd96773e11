"""A scenario is the org's first records, as JSON: who works here, which groups there are, who owns what.

    {"records": [{"sobject": "User", "ref": "ada", "fields": {...}},
                 {"sobject": "Round_Robin_Member__c", "fields": {"User__c": "@ada", ...}}],
     "assignment_rule": "@queue:Default_Assigned"}

`@ref` is the id of an earlier record, `@queue:Name` of a queue, `@admin` and `@integration` of the two first users.
`assignment_rule` names the owner that the org's lead assignment rule gives, or is null for no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from org_simulator.org import Org

QUEUE = "@queue:"


class BadScenario(ValueError):
    """The scenario cannot be loaded; the text names the place."""


def load(org: Org, scenario: Mapping[str, Any]) -> dict[str, str]:
    """Write all records in one transaction, as administrator and without assignment rules; answers id by ref.

    Raises BadScenario for a name that is not there, Failure for a record that the org refuses.
    """
    unknown = scenario.keys() - {"records", "assignment_rule"}
    if unknown:
        raise BadScenario(f"unknown part of the scenario: {', '.join(sorted(unknown))}")
    refs: dict[str, str] = {}
    with org.transaction(org.admin_user_id, auto_assign=False) as opened:
        for place, record in enumerate(scenario.get("records", ())):
            try:
                sobject = org.schema.objects[record["sobject"].lower()].name
                fields = {name: _value(org, refs, value) for name, value in record.get("fields", {}).items()}
            except KeyError as fault:
                raise BadScenario(f"record {place}: {fault} is not known") from fault
            record_id = opened.insert(sobject, fields)
            if "ref" in record:
                refs[record["ref"]] = record_id
    if "assignment_rule" in scenario:
        owner = _value(org, refs, scenario["assignment_rule"])
        org.assignment_rule = None if owner is None else lambda _lead: str(owner)
    return refs


def _value(org: Org, refs: Mapping[str, str], value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    if value.startswith(QUEUE):
        queue = org.queue_id(value.removeprefix(QUEUE))
        if queue is None:
            raise KeyError(value)
        return queue
    return {"admin": org.admin_user_id, "integration": org.integration_user_id, **refs}[value[1:]]
