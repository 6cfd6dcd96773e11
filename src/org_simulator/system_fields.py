from __future__ import annotations

from org_simulator.sobjects import Field

OWNERS = ("Group", "User")


def _kept(name: str, kind: str, label: str, *, target: str | None = None) -> Field:
    return Field(
        name,
        kind,
        label,
        18 if kind in {"id", "reference"} else 0,
        reference_to=(target,) if target else (),
        relationship=name.removesuffix("Id") if target else None,
        createable=False,
        updateable=False,
    )


def system_fields(*, owned: bool) -> dict[str, Field]:
    """The fields every object has, kept by the org; `owned` objects have an owner, a user or a queue."""
    fields = [
        _kept("Id", "id", "Record ID"),
        _kept("IsDeleted", "boolean", "Deleted"),
        _kept("CreatedDate", "datetime", "Created Date"),
        _kept("CreatedById", "reference", "Created By ID", target="User"),
        _kept("LastModifiedDate", "datetime", "Last Modified Date"),
        _kept("LastModifiedById", "reference", "Last Modified By ID", target="User"),
        _kept("SystemModstamp", "datetime", "System Modstamp"),
    ]
    if owned:
        owner = Field(
            "OwnerId", "reference", "Owner ID", 18, reference_to=OWNERS, relationship="Owner", on_delete="Restrict"
        )
        fields.insert(1, owner)
    return {field.name.lower(): field for field in fields}


def custom_metadata_fields() -> dict[str, Field]:
    """The fields every type of custom metadata has."""
    fields = (
        Field("DeveloperName", "string", "Custom Metadata Record Name", 40, required=True),
        Field("MasterLabel", "string", "Label", 40),
        Field("Label", "string", "Label", 40),
        Field("QualifiedApiName", "string", "Qualified API Name", 70),
        Field("NamespacePrefix", "string", "Namespace Prefix", 15),
        Field("Language", "string", "Master Language", 40),
    )
    return {field.name.lower(): field for field in fields}
