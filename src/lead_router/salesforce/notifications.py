"""Letters as Salesforce's own notifications: the bell of Lightning, and the mobile app, of whom a lead was given to.

By the standard action `customNotificationAction` (Actions Developer Guide): title of at most 250 and body of at most
750 characters, 10,000 actions an hour of which the rest is lost, one API call each. How a refusal looks is not
documented: one by a right or a limit keeps all letters back, whatever its form; what is not clearly one is unclear.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any, Final

from lead_router.errors import LeadRouterError, OutcomeUnknown, Permanent, RateLimited, Rejected, Transient
from lead_router.ports.notices import Declined, Delivered, Delivery, Down, Letter, Unclear
from lead_router.salesforce import queries
from lead_router.salesforce.codes import tell, troubles
from lead_router.salesforce.names import Permissions, Standard
from lead_router.salesforce.rest import Rest

ACTION: Final = "actions/standard/customNotificationAction"
TYPES: Final = "CustomNotificationType"
LEAD_ROUTED: Final = "Lead_Routed"
"""The type of ours, of those that the metadata brings, that tells a rep of a lead."""

TITLE_MAX: Final = 250
BODY_MAX: Final = 750
PACE_S: Final = 0.4
"""Seconds between two, so that an hour holds fewer than 10,000."""

SPARED: Final = 0.9
"""The share of the day's API calls beyond which the rest is left to routing."""

REST_S: Final = 60.0
_RIGHTS: Final = ("INSUFFICIENT_ACCESS", "FUNCTIONALITY_NOT_ENABLED", "INSUFFICIENT_ACCESS_OR_READONLY")
_LIMIT: Final = "LIMIT"  # in the codes of all that is used up
_ASSIGN: Final = f"assign the permission set {Permissions.NOTICES_SET} to this user"
_DEPLOY: Final = f"the notification type {LEAD_ROUTED} is not there: deploy salesforce_metadata"


class Bell:
    """See Messenger. A call takes no longer than any other of the client's."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._lock = threading.Lock()
        self._type_id = ""

    def send(self, letter: Letter) -> Delivery:
        """To the user, or to the people of the queue; its target opens the lead."""
        used = self._rest.usage()
        if used.used is not None and used.allowed and used.used >= used.allowed * SPARED:
            return Down(f"{used.used} of {used.allowed} API calls are used: the rest is left to routing", REST_S)
        try:
            one = {
                "customNotifTypeId": self._type(),
                "recipientIds": [letter.user_id],
                "title": _cut(letter.title, TITLE_MAX),
                "body": _cut("\n".join(letter.lines), BODY_MAX),
                "targetId": letter.lead_id,
            }
            return _judged(self._rest.send("POST", ACTION, {"inputs": [one]}))
        except OutcomeUnknown as fault:
            return Unclear(str(fault))
        except Rejected as fault:
            return _refused(fault.codes, str(fault))
        except LeadRouterError as fault:
            return _down(fault)

    def _type(self) -> str:
        with self._lock:
            if self._type_id:
                return self._type_id
        where = f"WHERE {Standard.DEVELOPER_NAME} = {queries.text(LEAD_ROUTED)}"
        rows = self._rest.query(queries.select((Standard.ID,), TYPES, where))
        if not rows:
            raise Permanent(_DEPLOY)
        with self._lock:
            self._type_id = str(rows[0][Standard.ID])
            return self._type_id


def _judged(answer: Any) -> Delivery:
    (one,) = answer if isinstance(answer, list) and len(answer) == 1 else (None,)
    if not isinstance(one, dict) or "isSuccess" not in one:
        return Unclear("answered in an unknown shape")
    if one["isSuccess"] is True:
        return Delivered()
    found = troubles(answer)
    return _refused([trouble.code for trouble in found], tell(found) or "refused without a reason")


def _refused(codes: Collection[str], text: str) -> Down | Declined:
    if any(code in _RIGHTS for code in codes):
        return Down(f"{text}; {_ASSIGN}", REST_S)
    return Down(text, REST_S) if any(_LIMIT in code for code in codes) else Declined(text)


def _down(fault: LeadRouterError) -> Down:
    match fault:
        case RateLimited(retry_after=retry_after):
            return Down(str(fault), retry_after)
        case Transient():
            return Down(f"{type(fault).__name__}: {fault}")
        case _:
            return Down(str(fault), REST_S)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
