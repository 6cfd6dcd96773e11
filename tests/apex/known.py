"""What a reference may point at: the project's parts, and as much of Salesforce's own as is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from apex.project import Project, Source

# Salesforce's own names for the fields of a custom object, in layouts, list views and reports.
COMMON = frozenset(
    [
        "Id",
        "Name",
        "OwnerId",
        "Owner",
        "CreatedById",
        "CreatedBy",
        "CreatedDate",
        "LastModifiedById",
        "LastModifiedBy",
        "LastModifiedDate",
        "RecordTypeId",
        "SystemModstamp",
        "CurrencyIsoCode",
    ]
)
# And of a custom metadata type.
SETTING = frozenset(["MasterLabel", "DeveloperName", "QualifiedApiName", "Language", "NamespacePrefix", "IsProtected"])


@dataclass(frozen=True)
class Known:
    """Names of a project; `standard` are Salesforce's objects and fields, or empty where nobody could read them."""

    project: Project
    standard: dict[str, frozenset[str]]

    @cached_property
    def objects(self) -> frozenset[str]:
        """The project's own objects."""
        return frozenset(source.name for source in self.project.of("object") if "__" in source.name)

    @cached_property
    def children(self) -> dict[tuple[str, str], str]:
        """The object of a child relationship, by parent and name."""
        return {
            (field.text("referenceTo"), field.text("relationshipName") + "__r"): owner
            for owner, fields in self.project.fields.items()
            for field in fields.values()
            if field.text("relationshipName")
        }

    def names(self, suffix: str) -> frozenset[str]:
        """The names of the project's parts of one suffix."""
        return frozenset(source.name for source in self.project.of(suffix))

    def has_object(self, name: str) -> bool:
        """Whether an object is there; any of Salesforce's is believed where theirs are not at hand."""
        if "__" in name:
            return name in self.objects
        return not self.standard or name in self.standard

    def field(self, owner: str, name: str) -> Source | None:
        """One of the project's fields."""
        return self.project.fields.get(owner, {}).get(name)

    def has_field(self, owner: str, name: str) -> bool:
        """Whether an object has a field by its API name."""
        if name.endswith("__c"):
            return self.field(owner, name) is not None
        if "__" in owner:
            return name in COMMON or (owner.endswith("__mdt") and name in SETTING)
        return not self.standard or name in self.standard.get(owner, ())

    def choices(self, owner: str, name: str) -> frozenset[str] | None:
        """The words of a picklist of the project; None for every other field."""
        field = self.field(owner, name)
        if field is None or field.text("type") != "Picklist":
            return None
        return frozenset(field.texts("valueSet", "valueSetDefinition", "value", "fullName"))
