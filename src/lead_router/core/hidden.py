"""Texts without secrets and e-mail addresses, by their shape. Each pattern takes time in proportion to the text."""

from __future__ import annotations

import re

HIDDEN = "[hidden]"

# Salesforce's session ids start with the org's id and an exclamation mark; JWTs start with a base64 `{"`.
_SECRETS = re.compile(
    r"00D[A-Za-z0-9]{12,15}(?:!|%21)[A-Za-z0-9._]+|eyJ[\w-]++\.[\w-]++\.[\w-]*|-----BEGIN[^-]*PRIVATE KEY-----.*",
    re.DOTALL,
)
_BEARER = re.compile(r"(?i)\b(bearer|oauth|basic)\s+[A-Za-z0-9._~+/=!-]{8,}")
_PARAMETER = re.compile(
    r"(?i)\b(client_secret|assertion|refresh_token|access_token|password|token)"
    r"(=|[\"']?\s*:\s*[\"']?)[^\s&\"',}]+"
)
_URL_PASSWORD = re.compile(r"((?<!\w)\w++://[^/\s:@]*):(?!<secret>@)[^/\s@]+@")  # an example's stands in our own texts
_EMAIL = re.compile(r"[\w.+%-][\w.+%'-]{0,80}?(?:@|%40)[\w-]+(?:\.[\w-]+)+")  # 64 are allowed before the sign
_PHONE = re.compile(r"(?<![A-Za-z0-9])(?:\+|%2B)?\d[\d ()./-]{6,40}\d(?![A-Za-z0-9])")
_WORD = re.compile(r"\w*")  # each of the shapes above holds something else besides; ids and names are most of a log


def scrub(text: str) -> str:
    """The text without tokens, keys, passwords and e-mail addresses."""
    if _WORD.fullmatch(text):
        return text
    text = _SECRETS.sub(HIDDEN, text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    text = _PARAMETER.sub(rf"\1\2{HIDDEN}", text)
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", text)
    return _EMAIL.sub(HIDDEN, text) if "@" in text or "%40" in text else text


def without_numbers(text: str) -> str:
    """The text without what looks like a telephone number, as times and long numbers with signs in them do too."""
    return _PHONE.sub("[number]", text)
