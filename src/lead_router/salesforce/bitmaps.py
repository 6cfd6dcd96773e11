"""Which fields a change event of Pub/Sub API speaks of: bitmaps over its schema, as Salesforce's guide reads them.

`0x0A` has bit i for field i of the schema, counted from the least significant bit (field 0 is ChangeEventHeader);
`4-0x10` the same for the parts of field 4, a compound. Neither has a fixed width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BITS_MAX = 4096  # more fields than an object can have


@dataclass(frozen=True, slots=True)
class Named:
    """A field of a schema; `parts` are those of a compound, in their order."""

    name: str
    parts: tuple[str, ...] = ()


def fields_of(fields: Sequence[Named], listed: Iterable[str]) -> list[str]:
    """The names, parts as `Name.FirstName`; bits beyond the schema name nothing. Raises ValueError for no bitmap.

    A plain name, as CometD has it, stands for itself.
    """
    found: list[str] = []
    for item in listed:
        parent, _, bits = item.rpartition("-")
        if not bits.lower().startswith("0x"):
            found.append(item)
        elif parent:
            place = _place(parent)
            compound = fields[place] if place < len(fields) else Named("")
            found += [f"{compound.name}.{part}" for part in _set(bits, compound.parts)]
        else:
            found += _set(bits, [field.name for field in fields])
    return found


def _place(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("a bitmap of no field")
    return int(text)


def _set(bits: str, names: Sequence[str]) -> list[str]:
    number = int(bits, 16)
    if number.bit_length() > BITS_MAX:
        raise ValueError(f"a bitmap of {number.bit_length()} bits")
    return [name for place, name in enumerate(names) if number >> place & 1]
