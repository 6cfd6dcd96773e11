from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TEXT_AREA_MAX_CHARS = 255


@dataclass(frozen=True, slots=True)
class Field:
    """One field; `type` is the describe type (string, textarea, picklist, double, int, currency, percent, boolean,
    date, datetime, id, reference, email, phone, url).

    `length` in characters; `precision` and `scale` in digits; `master` marks a master-detail reference;
    `on_delete` is what becomes of a reference when its target goes: SetNull, Restrict or Cascade.
    """

    name: str
    type: str
    label: str = ""
    length: int = 0
    precision: int = 0
    scale: int = 0
    required: bool = False
    unique: bool = False
    case_sensitive: bool = False
    external_id: bool = False
    reference_to: tuple[str, ...] = ()
    relationship: str | None = None
    picklist: tuple[str, ...] = ()
    restricted: bool = False
    default: Any = None
    createable: bool = True
    updateable: bool = True
    master: bool = False
    on_delete: str = "SetNull"
    auto_number: str | None = None
    child_relationship: str | None = None
    """What a parent calls the records that point at it by this field, without its `__r`."""

    @property
    def filterable(self) -> bool:
        """Whether a clause may name the field: SOQL filters no text area of more than 255 characters."""
        return self.type != "textarea" or self.length <= TEXT_AREA_MAX_CHARS


@dataclass(frozen=True, slots=True)
class Rule:
    """A validation rule: refuses a save when `condition` is true."""

    name: str
    formula: str
    message: str
    display_field: str | None
    active: bool
    condition: Callable[[Any], bool] = field(compare=False, repr=False, default=lambda _scope: False)


@dataclass(frozen=True, slots=True)
class SObject:
    """One object; `fields` by lower-cased name. `owned` objects have OwnerId."""

    name: str
    prefix: str
    label: str
    label_plural: str
    fields: Mapping[str, Field]
    validation_rules: tuple[Rule, ...] = ()
    custom: bool = False
    owned: bool = False
    creates: bool = True
    """Whether who sees it may create records of it; `edits` likewise."""
    edits: bool = True


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and the objects it may own."""

    developer_name: str
    name: str
    sobjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectPermission:
    """What a permission set allows on an object."""

    sobject: str
    create: bool
    read: bool
    edit: bool
    delete: bool
    view_all: bool
    modify_all: bool


@dataclass(frozen=True, slots=True)
class PermissionSet:
    """A permission set; `fields` maps `object.field` (lower case) to whether it may be edited."""

    name: str
    label: str
    custom_permissions: frozenset[str]
    user_permissions: frozenset[str]
    objects: Mapping[str, ObjectPermission]
    fields: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Schema:
    """All that the metadata says, together with the standard objects."""

    objects: Mapping[str, SObject]
    platform_events: Mapping[str, SObject]
    cdc_entities: frozenset[str]
    permission_sets: Mapping[str, PermissionSet]
    custom_permissions: Mapping[str, str]
    queues: Mapping[str, Queue]
    custom_metadata: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Object and fields of each record of custom metadata."""
    notification_types: tuple[Mapping[str, Any], ...] = ()
    """The fields of each type of custom notification."""
    static_resources: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    """Content type and content by name."""
