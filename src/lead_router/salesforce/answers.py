"""What is taken of an answer: no more than a limit, unpacked, and nothing that its request kept secret.

Login pages, proxies and error texts may repeat what was sent; what they repeat would go on into logs, the job database
and the leads themselves.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs, quote, quote_plus

import requests

ANSWER_MAX_BYTES = 64 * 1024 * 1024  # unpacked; a composite of five full pages of wide records has a third of it
CHUNK_BYTES = 16 * 1024  # as sent: gzip unpacks one to a thousand times of it
SECRET_MIN = 8  # characters; a shorter one would be found in any text

_HIDDEN = b"[hidden]"
_KEPT_SECRET = ("client_secret", "assertion", "refresh_token")


class TooLarge(requests.RequestException):
    """The answer was longer than the limit, and was left where it was."""


def take(answer: requests.Response, limit_bytes: int) -> None:
    """Read the body, which its `content` then is, without what the request kept secret. Raises TooLarge."""
    if answer.raw is None:
        return
    body = bytearray()
    for chunk in answer.iter_content(CHUNK_BYTES):
        body += chunk
        if len(body) > limit_bytes:
            answer.close()
            raise TooLarge(f"an answer exceeds {limit_bytes} bytes")
    # The one place where requests keeps what was read; there is no public way to hand a body back.
    answer._content = redacted(bytes(body), secrets_of(answer.request))  # noqa: SLF001


def secrets_of(request: requests.PreparedRequest) -> list[str]:
    """What the request must not be heard to say: its bearer token, and the secrets of a login form."""
    found = [request.headers.get("Authorization", "").removeprefix("Bearer ")]
    if isinstance(request.body, str) and "urlencoded" in request.headers.get("Content-Type", ""):
        form: Mapping[str, list[str]] = parse_qs(request.body)
        found += [value for name in _KEPT_SECRET for value in form.get(name, ())]
    return found


def redacted(body: bytes, secrets: Iterable[str]) -> bytes:
    """The body without these texts, as such or as JSON, URLs and base64 write them."""
    for secret in secrets:
        if len(secret) >= SECRET_MIN:
            for form in _forms(secret):
                body = body.replace(form, _HIDDEN)
    return body


def _forms(secret: str) -> list[bytes]:
    plain = secret.encode()
    written = (secret, quote(secret, safe=""), quote(secret), quote_plus(secret), json.dumps(secret)[1:-1])
    coded = (base64.b64encode(plain), base64.urlsafe_b64encode(plain))
    return list(dict.fromkeys([*(text.encode() for text in written), *(each.rstrip(b"=") for each in coded)]))
