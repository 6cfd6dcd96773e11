"""Salesforce record ids: 15 case-sensitive characters, or 18 with a checksum of the case (salesforce-facts 5.5)."""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase, digits

_SHAPE = re.compile(r"[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?")
SHORT, LONG = 15, 18  # characters
UNFIT = f"its last {LONG - SHORT} characters do not fit the others: copy it again"
# Five characters' case, "1" for upper, the first of them in the lowest place: one character of the checksum.
_CHECK = {f"{case:05b}"[::-1]: char for case, char in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345")}
_CASE = str.maketrans(ascii_uppercase + ascii_lowercase + digits, "1" * 26 + "0" * 36)
USER = "005"
QUEUE = "00G"


def is_id(text: str) -> bool:
    """Whether the text is a 15-character id, or an 18-character one whose checksum is right in any letter case."""
    return _SHAPE.fullmatch(text) is not None and text[SHORT:].upper() in {"", _checksum(text)}


def to18(record_id: str) -> str:
    """The 18-character form of a 15- or 18-character id; raises ValueError, saying what is wrong with anything else."""
    if _SHAPE.fullmatch(record_id) is None:
        raise ValueError(f"not a Salesforce id: {SHORT} or {LONG} letters and digits are expected")
    checksum = _checksum(record_id)
    if record_id[SHORT:].upper() not in {"", checksum}:
        raise ValueError(f"not a Salesforce id: {UNFIT}")
    return record_id[:SHORT] + checksum


def is_user(owner_id: str) -> bool:
    """Whether the owner is a person; leads may be owned by queues too."""
    return owner_id.startswith(USER)


def _checksum(record_id: str) -> str:
    case = record_id[:SHORT].translate(_CASE)
    return _CHECK[case[:5]] + _CHECK[case[5:10]] + _CHECK[case[10:]]
