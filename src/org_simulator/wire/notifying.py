"""Custom notifications: `/actions/standard/customNotificationAction`, as the Actions Developer Guide has it.

Documented: the inputs with their sizes, the answer to a success, the right "Send Custom Notifications" (in orgs made in
Winter '21 or later), that recipients who are not active get none, and that of more than 10,000 actions within an hour
of the clock the rest is lost. Not documented, and switches: how a refusal looks, and whether a lost one is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from org_simulator.failures import Failure
from org_simulator.wire.errors import bad_request
from org_simulator.wire.exchange import Reply
from org_simulator.wire.rows import body
from org_simulator.wire.world import Call, Notification

ACTION = "customNotificationAction"
RIGHT = "SendCustomNotifications"
TITLE_MAX, BODY_MAX, RECIPIENTS_MAX = 250, 750, 500  # characters, characters, ids
PER_HOUR = 10_000
_SUCCESS = {"SuccessMessage": "Your custom notification is processed successfully."}


def notify(call: Call, _captured: Sequence[str]) -> Reply:
    """POST: one answer for each of `inputs`, in their order; status 400 where one of them is refused."""
    inputs = body(call).get("inputs")
    if not isinstance(inputs, list) or not all(isinstance(each, Mapping) for each in inputs):
        raise bad_request("JSON_PARSER_ERROR", "The inputs of an action must be a list of objects")
    if not _may(call):
        return _refuse(call, "INSUFFICIENT_ACCESS", f"You need the user permission {RIGHT} to send notifications")
    if call.world.org.switches.notifications_beyond_limit_refused and _sent(call) >= PER_HOUR:
        return _refuse(call, "LIMIT_EXCEEDED", f"More than {PER_HOUR} notifications within the hour")
    answers = [_answered(call, each) for each in inputs]
    return Reply(200 if all(each["isSuccess"] for each in answers) else 400, answers)


def _refuse(call: Call, code: str, told: str) -> Reply:
    """By the switch: an error of the request, or an answer of the action."""
    form = call.world.org.switches.notification_refused_as
    if form == "request":
        raise Failure(code, told, http=403)
    return Reply(200 if form == "good answer" else 400, [_failed(code, told)])


def _sent(call: Call) -> int:
    """Of this hour of the clock."""
    world = call.world
    hour = world.org.clock.now().replace(minute=0, second=0, microsecond=0)
    with world.lock:
        while world.notified and world.notified[0] < hour:
            world.notified.popleft()
        return len(world.notified)


def _may(call: Call) -> bool:
    org = call.world.org
    if call.user_id == org.admin_user_id or not org.switches.notifications_need_right:
        return True
    return any(RIGHT in org.schema.permission_sets[name].user_permissions for name in org.permission_sets(call.user_id))


def _answered(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    wrong = _wrong(call, given)
    if wrong is not None:
        return _failed("INVALID_ARGUMENT_TYPE", wrong)
    _deliver(call, given)
    return {"actionName": ACTION, "errors": None, "isSuccess": True, "outputValues": _SUCCESS}


def _failed(code: str, told: str) -> dict[str, Any]:
    errors = [{"statusCode": code, "message": told, "fields": []}]
    return {"actionName": ACTION, "errors": errors, "isSuccess": False, "outputValues": None}


def _wrong(call: Call, given: Mapping[str, Any]) -> str | None:
    lacking = [name for name in ("customNotifTypeId", "recipientIds", "title", "body") if not given.get(name)]
    if lacking:
        return f"Missing required input parameter: {lacking[0]}"
    if not (given.get("targetId") or given.get("targetPageRef")):
        return "Specify a targetId or a targetPageRef"
    if len(given["title"]) > TITLE_MAX or len(given["body"]) > BODY_MAX:
        return f"At most {TITLE_MAX} characters of title and {BODY_MAX} of body are possible"
    if not isinstance(given["recipientIds"], list) or len(given["recipientIds"]) > RECIPIENTS_MAX:
        return f"Recipients are a list of at most {RECIPIENTS_MAX} ids"
    with call.world.org.store.mutex:
        types = call.world.org.store.tables["customnotificationtype"].rows
        return None if given["customNotifTypeId"] in types else "There is no such custom notification type"


def _deliver(call: Call, given: Mapping[str, Any]) -> None:
    world, now = call.world, call.world.org.clock.now()
    with world.lock:
        world.notified.append(now)
    if _sent(call) > PER_HOUR:
        return
    for user_id in _people(call, given["recipientIds"]):
        sent = (given["customNotifTypeId"], user_id, given["title"], given["body"], given.get("targetId"), now)
        with world.lock:
            world.notifications.append(Notification(*sent))


def _people(call: Call, recipients: Sequence[str]) -> list[str]:
    """Active users, those of groups and queues among them."""
    tables = call.world.org.store.tables
    found: dict[str, None] = {}
    with call.world.org.store.mutex:
        users = tables["user"].rows
        for recipient in recipients:
            if recipient in users:
                found[recipient] = None
            for row in tables["groupmember"].rows.values():
                if row["GroupId"] == recipient and not row["IsDeleted"]:
                    found[row["UserOrGroupId"]] = None
        return [user_id for user_id in found if user_id in users and users[user_id]["IsActive"]]
