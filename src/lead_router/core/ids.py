"""Salesforce record ids: 15 case-sensitive characters, or 18 with a checksum of the case (salesforce-facts 5.5)."""

from __future__ import annotations

import re

_SHAPE = re.compile(r"[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?")
_CHECK = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
_SHORT = 15
_CHUNK = 5
USER = "005"
QUEUE = "00G"


def is_id(text: str) -> bool:
    """Whether the text is a 15-character id, or an 18-character one whose checksum is right in any letter case."""
    if _SHAPE.fullmatch(text) is None:
        return False
    return len(text) == _SHORT or _checksum(text[:_SHORT]) == text[_SHORT:].upper()


def to18(record_id: str) -> str:
    """The 18-character form of a 15- or 18-character id; raises ValueError for anything else."""
    if not is_id(record_id):
        raise ValueError("not a Salesforce id: 15 or 18 letters and digits with the right checksum are expected")
    return record_id[:_SHORT] + _checksum(record_id[:_SHORT])


def is_user(owner_id: str) -> bool:
    """Whether the owner is a person; leads may be owned by queues too."""
    return owner_id.startswith(USER)


def _checksum(short: str) -> str:
    return "".join(
        _CHECK[sum(1 << place for place, char in enumerate(short[start : start + _CHUNK]) if "A" <= char <= "Z")]
        for start in range(0, _SHORT, _CHUNK)
    )
