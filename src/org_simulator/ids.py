"""Salesforce record ids: 15 characters that tell case apart, or the same with 3 characters of checksum."""

from __future__ import annotations

import re
from functools import lru_cache

SUFFIX_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
COUNTER_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""In ASCII order, so that a later record's id sorts after an earlier one's."""

SHORT_LENGTH = 15
LONG_LENGTH = 18
PREFIX_LENGTH = 3
COUNTER_LENGTH = 9
INSTANCE = "5f0"
KNOWN_MAX = 65_536
"""Ids whose checksum is remembered."""

_SHAPE = re.compile(r"[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?")


@lru_cache(maxsize=KNOWN_MAX)
def is_id(text: object) -> bool:
    """Whether `text` has the shape of an id, 15 or 18 characters with a right checksum."""
    if not isinstance(text, str) or _SHAPE.fullmatch(text) is None:
        return False
    return len(text) == SHORT_LENGTH or to18(text[:SHORT_LENGTH]) == text


@lru_cache(maxsize=KNOWN_MAX)
def to18(short: str) -> str:
    """The 18-character spelling of a 15-character id; an 18-character id comes back as it is.

    Each group of five characters gives one more: bit j is set where character j is an upper-case letter.
    """
    if len(short) == LONG_LENGTH:
        return short
    if len(short) != SHORT_LENGTH:
        raise ValueError(f"an id has 15 or 18 characters, not {len(short)}")
    suffix = ""
    for start in (0, 5, 10):
        bits = sum(1 << j for j, letter in enumerate(short[start : start + 5]) if "A" <= letter <= "Z")
        suffix += SUFFIX_ALPHABET[bits]
    return short + suffix


def to15(record_id: str) -> str:
    """The 15-character spelling, as formulas and error texts show ids."""
    return record_id[:SHORT_LENGTH]


def make_id(prefix: str, number: int) -> str:
    """The 18-character id of the `number`-th record under a three-character `prefix`."""
    counter = ""
    while number:
        number, digit = divmod(number, len(COUNTER_ALPHABET))
        counter = COUNTER_ALPHABET[digit] + counter
    return to18(prefix + INSTANCE + counter.rjust(COUNTER_LENGTH, "0"))
