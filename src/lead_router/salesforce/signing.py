"""The private key of the JWT bearer login, in whatever form a file, an environment or a secret store hands it over."""

from __future__ import annotations

import base64
import re

import jwt

from lead_router.errors import Misconfigured

_BEGIN = "-----BEGIN"
_LINE_END = re.compile(r"\\r\\n|\\n|\\r|\r\n|\r")


def pem(text: str) -> str:
    r"""The key with line ends of its own: they may come as `\n` in two characters, or the whole as base64.

    A text of another form is answered as it is; `check` refuses it.
    """
    plain = _LINE_END.sub("\n", text).strip()
    if plain.startswith(_BEGIN):
        return plain
    try:
        inner = base64.b64decode("".join(plain.split()), validate=True).decode("ascii")
    except ValueError:
        return plain
    return pem(inner) if inner.lstrip().startswith(_BEGIN) else plain


def check(key: str, setting: str) -> None:
    """Raises Misconfigured naming the setting, never the key, where nothing can be signed with it."""
    try:
        jwt.encode({}, key, algorithm="RS256")
    except (ValueError, TypeError, AttributeError, jwt.PyJWTError):  # AttributeError: a public key
        raise Misconfigured(f"{setting} holds no RSA private key in PEM form without a password") from None
