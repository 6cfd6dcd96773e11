"""What an error of Pub/Sub API asks for. Pure.

The trailer `error-code` decides where there is one, else the gRPC status. Salesforce's table of codes is public only in
part: a code that is not here is judged by its status.
"""

from __future__ import annotations

from typing import Final

from lead_router.core.hidden import scrub, without_numbers
from lead_router.salesforce.losses import Broken, Loss, Oversized, PositionExpired, Refused, TokenRefused

PREFIX = "sfdc.platform.eventbus.grpc."
TEXT_MAX = 200
LOOKED_AT_MAX = 1_000  # cut before it is scrubbed, half a secret would be told
TOO_LARGE = "message larger than max"  # gRPC's own words on this side, for an answer beyond our limit

_BY_CODE: Final[tuple[tuple[str, type[TokenRefused | PositionExpired | Refused | Broken]], ...]] = (
    ("service.auth.", TokenRefused),
    ("subscription.fetch.replayid.", PositionExpired),
    ("subscription.limit.exceeded", Refused),
    ("concurrent.client.limit.exceeded", Refused),
    ("service.unavailable", Broken),
)
_BY_STATUS: Final[dict[str, type[TokenRefused | Refused]]] = {
    "UNAUTHENTICATED": TokenRefused,
    "PERMISSION_DENIED": Refused,
    "NOT_FOUND": Refused,
    "INVALID_ARGUMENT": Refused,
    "UNIMPLEMENTED": Refused,
    "RESOURCE_EXHAUSTED": Refused,
}


def loss_of(status: str, error_code: str, details: str) -> Loss:
    """`status` by its name, `error_code` of the trailers, which may be empty; `details` is told only without a code."""
    if error_code:
        text = f"{status} {error_code}"[:TEXT_MAX]
        known = error_code.removeprefix(PREFIX)
        for sign, loss in _BY_CODE:
            if known.startswith(sign):
                return loss(text)
    else:
        text = without_numbers(scrub(f"{status}: {details[:LOOKED_AT_MAX]}"))[:TEXT_MAX]
        if status == "RESOURCE_EXHAUSTED" and TOO_LARGE in details:
            return Oversized(text)
    return _BY_STATUS.get(status, Broken)(text)
