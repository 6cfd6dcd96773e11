"""Invocable methods of Apex: `/actions/custom/apex/CLASS`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from org_simulator.failures import not_found
from org_simulator.wire.errors import bad_request
from org_simulator.wire.exchange import Reply
from org_simulator.wire.rows import body
from org_simulator.wire.world import Call


def invoke(call: Call, captured: Sequence[str]) -> Reply:
    """POST: one answer for each of `inputs`, in their order; 404 where no such action runs here."""
    automation = call.world.org.automation
    inputs = body(call).get("inputs")
    if automation is None or not automation.has_action(captured[0]):
        raise not_found()
    if not isinstance(inputs, list) or not all(isinstance(each, Mapping) for each in inputs):
        raise bad_request("JSON_PARSER_ERROR", "The inputs of an action must be a list of objects")
    found = automation.invoke_action(call.user_id, captured[0], inputs)
    return Reply(
        200, [{"actionName": captured[0], "errors": None, "isSuccess": True, "outputValues": each} for each in found]
    )
