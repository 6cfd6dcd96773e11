"""Which fields a clause may name, and of what kind they are."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from enum import Enum, auto

from lead_router.core.soql.tree import Condition
from lead_router.errors import BadCriteria


class Kind(Enum):
    """How values compare."""

    ANY = auto()
    TEXT = auto()
    EXACT_TEXT = auto()
    ID = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    DATE = auto()
    DATETIME = auto()
    CHOICES = auto()


_KINDS = {
    **dict.fromkeys(("string", "picklist", "email", "phone", "url", "combobox", "textarea", "anytype"), Kind.TEXT),
    **dict.fromkeys(("id", "reference"), Kind.ID),
    **dict.fromkeys(("int", "long", "double", "currency", "percent"), Kind.NUMBER),
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "datetime": Kind.DATETIME,
    "multipicklist": Kind.CHOICES,
}

LONG_TEXT = "longtextarea"
"""A text area that SOQL does not filter; describe calls it textarea, with `filterable` false."""
UNFILTERABLE = "unfilterable"
"""A field of any other type whose describe says `filterable` false."""
_REFUSED = {
    LONG_TEXT: "is a long text and cannot be filtered",
    UNFILTERABLE: "cannot be filtered, as its describe says",
}


class Fields:
    """Field names in any letter case; without types every name is known and of kind ANY."""

    def __init__(self, types: Mapping[str, str] | None, case_sensitive: frozenset[str]) -> None:
        self._types = types
        self._names = {name.lower(): name for name in types or ()}
        self._case_sensitive = case_sensitive

    @property
    def typed(self) -> bool:
        """Whether names are spelt as records spell them."""
        return self._types is not None

    def path(self, condition: Condition) -> str:
        """The condition's field, spelt as in the types; raises BadCriteria for an unknown one."""
        if self._types is None:
            return condition.field
        name = self._names.get(condition.field.lower())
        if name is None:
            near = get_close_matches(condition.field.lower(), self._names, n=1)
            hint = f"; did you mean {self._names[near[0]]}?" if near else ""
            raise BadCriteria(f"there is no field {condition.field}{hint}", at=condition.at)
        return name

    def kind(self, condition: Condition) -> Kind:
        """How the condition's field compares; raises BadCriteria for an field unknown or not to be filtered."""
        exact = condition.field.lower() in self._case_sensitive
        if self._types is None:
            return Kind.EXACT_TEXT if exact else Kind.ANY
        name = self.path(condition)
        told = self._types[name].lower()
        if told in _REFUSED:
            raise BadCriteria(f"{name} {_REFUSED[told]}", at=condition.at)
        kind = _KINDS.get(told)
        if kind is None:
            raise BadCriteria(f"field {name} of type {self._types[name]} cannot be filtered", at=condition.at)
        return Kind.EXACT_TEXT if exact and kind is Kind.TEXT else kind
