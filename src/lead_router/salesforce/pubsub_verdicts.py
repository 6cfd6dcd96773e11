"""What an error of Pub/Sub API asks for. Pure.

The trailer `error-code` decides where there is one, else the gRPC status. Salesforce's table of codes is public only in
part: a code that is not here is judged by its status.
"""

from __future__ import annotations

import re
from typing import Final

from lead_router.core.hidden import HIDDEN, scrub, without_numbers
from lead_router.salesforce.losses import Broken, Loss, Oversized, PositionExpired, Refused, TokenRefused

PREFIX = "sfdc.platform.eventbus.grpc."
TEXT_MAX = 200
LOOKED_AT_MAX = 1_000  # cut before it is scrubbed, half a secret would be told
TOO_LARGE = "message larger than max"  # gRPC's own words on this side, for an answer beyond our limit

_BY_CODE: Final[tuple[tuple[str, type[TokenRefused | PositionExpired | Refused | Broken], str], ...]] = (
    ("service.auth.", TokenRefused, ""),
    ("subscription.fetch.replayid.", PositionExpired, ""),
    ("subscription.limit.exceeded", Refused, "the org's allowance of delivered events is used up"),
    ("concurrent.client.limit.exceeded", Refused, "the org's allowance of subscribers is used up"),
    ("service.unavailable", Broken, ""),
)
_BY_STATUS: Final[dict[str, type[TokenRefused | Refused]]] = {
    "UNAUTHENTICATED": TokenRefused,
    "PERMISSION_DENIED": Refused,
    "NOT_FOUND": Refused,
    "INVALID_ARGUMENT": Refused,
    "RESOURCE_EXHAUSTED": Refused,
}
_ENDPOINT, _CA_FILE = "LEAD_ROUTER_PUBSUB_ENDPOINT", "LEAD_ROUTER_CA_FILE"
_OTHER = f"no Pub/Sub API is there: check {_ENDPOINT}, and whether a proxy lets HTTP/2 through"
# What gRPC writes on this side where no Pub/Sub API has answered, whatever status it gives that.
_ON_THE_WAY: Final[tuple[tuple[str, str], ...]] = (
    ("CERTIFICATE_VERIFY_FAILED", f"its certificate was not accepted: a proxy's own authority belongs in {_CA_FILE}"),
    ("Received http2 header with status", _OTHER),
    ("WRONG_VERSION_NUMBER", _OTHER),
    ("ALPN", _OTHER),
    ("Failed parsing HTTP/2", _OTHER),
    ("errors resolving", f"its name is not known here: check {_ENDPOINT} and the name server"),
    ("DNS resolution failed", f"its name is not known here: check {_ENDPOINT} and the name server"),
    ("failed to connect to all addresses", f"no connection: check {_ENDPOINT} and what the firewall lets out"),
)
_LAST = "last error: "
_CODED = re.compile(r"[A-Za-z0-9+/=_-]{40,}")  # longer than an rpc id: base64 of a token, say


def loss_of(status: str, error_code: str, details: str) -> Loss:
    """`status` by its name, `error_code` of the trailers, which may be empty; `details` is told only without a code."""
    if error_code:
        code = scrub(error_code[:LOOKED_AT_MAX])
        known = code.removeprefix(PREFIX)
        for sign, loss, why in _BY_CODE:
            if known.startswith(sign):
                return loss(_shown(f"{status} {code}{': ' * bool(why)}{why}"))
        return _BY_STATUS.get(status, Broken)(_shown(f"{status} {code}"))
    details = details[:LOOKED_AT_MAX]
    if status == "UNIMPLEMENTED":
        return Broken(_shown(f"{_OTHER} ({status}: {scrub(details)})"))
    for sign, cause in _ON_THE_WAY:
        if sign in details:
            return Broken(_shown(f"{cause} ({status}: {scrub(details.rpartition(_LAST)[2])})"))
    text = _shown(f"{status}: {scrub(details)}")
    if status == "RESOURCE_EXHAUSTED" and TOO_LARGE in details:
        return Oversized(text)
    return _BY_STATUS.get(status, Broken)(text)


def _shown(text: str) -> str:
    return _CODED.sub(HIDDEN, without_numbers(text))[:TEXT_MAX]
