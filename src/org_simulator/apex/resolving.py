"""From names as written to types: classes of the sources, records of the schema, types of the platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from org_simulator.apex.classes import EXCEPTIONS, ApexClass
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import STATICS
from org_simulator.apex.tree import TypeName
from org_simulator.apex.types import OBJECT, PRIMITIVES, SOBJECT, Type

if TYPE_CHECKING:
    from org_simulator.schema import Schema, SObject

COLLECTIONS = {
    "list": ("List", 1),
    "set": ("Set", 1),
    "map": ("Map", 2),
    "iterable": ("List", 1),
    "iterator": ("Iterator", 1),
}
NAMESPACES = {"system", "database", "schema", "apexpages", "connectapi", "eventbus", "messaging"}
NATIVES = {
    each.rpartition(".")[2].lower(): each
    for each in (
        *("Database.SaveResult", "Database.UpsertResult", "Database.DeleteResult", "Database.UndeleteResult"),
        *("Database.Error", "Database.QueryLocator", "Database.BatchableContext", "Database.DMLOptions"),
        *("Savepoint", "QueueableContext", "SchedulableContext", "Type", "AccessLevel", "StatusCode", "LoggingLevel"),
        *("TriggerOperation", "AggregateResult", "TimeZone", "Pattern", "Matcher", "JSONGenerator", "UUID"),
        *("Schema.SObjectType", "Schema.SObjectField", "Schema.DescribeSObjectResult", "Schema.DescribeFieldResult"),
        *("Schema.PicklistEntry", "Schema.DisplayType", "Schema.SoapType", "Schema.RecordTypeInfo"),
        *("Messaging.CustomNotification", "Quiddity", "Request", "TriggerContext", "DmlOptions.AssignmentRuleHeader"),
        *("Messaging.SingleEmailMessage", "ParentJobResult", "RoundingMode", "TestEventBus"),
        *("SObjectAccessDecision", "Queueable", "Schedulable", "Batchable", "Database.Stateful", "Comparable"),
        *("Comparator", "Callable", "Finalizer", "FinalizerContext", "HttpCalloutMock", "TestEventBus"),
    )
}
"""Types of the platform by their last name in lower case."""

INTERFACES = {
    *("queueable", "schedulable", "batchable", "stateful", "comparable", "comparator", "callable", "finalizer"),
    *("allowscallouts", "httpcalloutmock", "iterable", "iterator", "installhandler"),
}


class Resolver:
    """Finds types; `classes` are the top-level ones by lower-cased name."""

    def __init__(self, schema: Schema, classes: Mapping[str, ApexClass]) -> None:
        self.schema = schema
        self.classes = classes

    def type(self, written: TypeName, at: ApexClass | None) -> Type:
        """The type of this name as seen from a class; Unsupported if there is none."""
        found = self.find(written.path, at)
        if found is None:
            raise Unsupported(f"type {written}")
        args = tuple(self.type(each, at) for each in written.args)
        shape = COLLECTIONS.get(found.name.lower()) if found.sobject is None and found.cls is None else None
        if shape is not None:
            args = args or (OBJECT,) * shape[1]
            return Type(shape[0], args)
        return Type(found.name, args, found.sobject, found.cls) if args else found

    def find(self, path: tuple[str, ...], at: ApexClass | None) -> Type | None:
        """The type that a dotted path names, None if it names none."""
        low = tuple(part.lower() for part in path)
        if (cls := self._class(low, at)) is not None:
            return Type(cls.name, cls=cls)
        if low[0] in NAMESPACES and len(low) > 1 and low[0] != "messaging":
            low, path = low[1:], path[1:]
        if len(low) != 1:
            last = NATIVES.get(low[-1])
            return Type(last.rpartition(".")[2]) if last is not None and last.lower() == ".".join(low) else None
        return self._single(low[0], path[0])

    def _single(self, low: str, written: str) -> Type | None:  # noqa: PLR0911 - one per kind of type
        if low in PRIMITIVES:
            return PRIMITIVES[low]
        if low in COLLECTIONS:
            return Type(COLLECTIONS[low][0])
        if low == "sobject":
            return SOBJECT
        if low in EXCEPTIONS:
            return Type(EXCEPTIONS[low].name, cls=EXCEPTIONS[low])
        described = self.sobject(low)
        if described is not None:
            return Type(described.name, sobject=described.name)
        if low in NATIVES:
            return Type(NATIVES[low].rpartition(".")[2])
        return Type(written) if low in STATICS else None

    def sobject(self, low: str) -> SObject | None:
        """An object of the schema or a platform event."""
        return self.schema.objects.get(low) or self.schema.platform_events.get(low)

    def _class(self, low: tuple[str, ...], at: ApexClass | None) -> ApexClass | None:
        found: ApexClass | None = None
        seen = at
        while seen is not None and found is None:
            if seen.name.lower().rpartition(".")[2] == low[0]:
                found = seen
            found = found or next((each.inner[low[0]] for each in seen.chain() if low[0] in each.inner), None)
            seen = seen.outer
        found = found or self.classes.get(low[0])
        for part in low[1:]:
            found = None if found is None else found.inner.get(part)
        return found
