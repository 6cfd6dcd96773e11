"""What `Trigger` is while a trigger runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from org_simulator.apex.records import Record
from org_simulator.apex.types import ID, Type
from org_simulator.apex.values import EnumValue, ListValue, MapValue, key

EVENTS = (
    *("BEFORE_INSERT", "BEFORE_UPDATE", "BEFORE_DELETE"),
    *("AFTER_INSERT", "AFTER_UPDATE", "AFTER_DELETE", "AFTER_UNDELETE"),
)


@dataclass(frozen=True, slots=True)
class Context:
    """`new` and `old` are None where the event has none."""

    when: str
    verb: str
    new: list[Record] | None
    old: list[Record] | None
    kind: Type

    def variable(self, name: str) -> Any:  # noqa: PLR0911 - one per kind of variable
        """A trigger variable by its lower-cased name."""
        match name:
            case "new" | "old":
                records = self.new if name == "new" else self.old
                return None if records is None else ListValue(list(records), self.kind)
            case "newmap":
                return self._map(self.new) if self.when == "after" or self.verb == "update" else None
            case "oldmap":
                return self._map(self.old)
            case "size":
                return len(self.new if self.new is not None else self.old or ())
            case "operationtype":
                return operation(self.when, self.verb)
            case "isexecuting":
                return True
            case "isbefore" | "isafter":
                return name == f"is{self.when}"
            case _:
                return name == f"is{self.verb}"

    def _map(self, records: list[Record] | None) -> MapValue | None:
        if records is None:
            return None
        return MapValue(ID, self.kind, {key(each.id): (each.id, each) for each in records})


def operation(when: str, verb: str) -> EnumValue:
    """The constant of TriggerOperation."""
    name = f"{when}_{verb}".upper()
    return EnumValue("TriggerOperation", name, EVENTS.index(name))
