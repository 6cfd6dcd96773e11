from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from org_simulator.formula import FormulaFault, compile_formula
from org_simulator.metadata import MetadataFault, Source, read
from org_simulator.resources import notification_types, static_resources
from org_simulator.sobjects import Field, ObjectPermission, PermissionSet, Queue, Rule, Schema, SObject
from org_simulator.standard import standard_objects

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Field",
    "MetadataFault",
    "ObjectPermission",
    "PermissionSet",
    "Queue",
    "Rule",
    "SObject",
    "Schema",
    "default_metadata",
    "load",
]

FOLDER = "salesforce_metadata"
PACKAGE = Path("force-app/main/default")


def default_metadata() -> Path:
    """The `salesforce_metadata` folder in this package, of its checkout, or of the working directory, in this order."""
    for folder in (*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents):
        if (folder / FOLDER / PACKAGE).is_dir():
            return folder / FOLDER
    raise MetadataFault(f"no {FOLDER}/{PACKAGE} above {Path(__file__).parent} or {Path.cwd()}: name the folder")


def load(metadata: Path) -> Schema:
    """Read source-format metadata (project folder or `force-app/main/default`); MetadataFault names the file."""
    folder = metadata / PACKAGE if (metadata / PACKAGE).is_dir() else metadata
    if not (folder / "objects").is_dir():
        raise MetadataFault(f"{folder}: there is no objects folder")
    source = read(folder)
    objects = {name.lower(): sobject for name, sobject in standard_objects().items()}
    for name, sobject in source.objects.items():
        standard = objects.get(name.lower())
        objects[name.lower()] = sobject if standard is None else _extended(standard, sobject)
    _check_references(objects, source)
    permissions = frozenset(source.custom_permissions)
    ruled = {name: _ruled(sobject, permissions, source) for name, sobject in objects.items()}
    return Schema(
        objects=ruled,
        platform_events={name.lower(): event for name, event in source.platform_events.items()},
        cdc_entities=source.cdc_entities,
        permission_sets=source.permission_sets,
        custom_permissions=source.custom_permissions,
        queues=source.queues,
        custom_metadata=tuple(source.custom_metadata),
        notification_types=notification_types(folder),
        static_resources=static_resources(folder),
    )


def _extended(standard: SObject, custom: SObject) -> SObject:
    """A standard object with the custom fields and rules of the metadata."""
    added = {name: field for name, field in custom.fields.items() if name.endswith("__c")}
    return replace(standard, fields={**standard.fields, **added}, validation_rules=custom.validation_rules)


def _check_references(objects: Mapping[str, SObject], source: Source) -> None:
    for sobject in objects.values():
        for field in sobject.fields.values():
            for target in field.reference_to:
                if target.lower() not in objects:
                    file = source.files.get(f"{sobject.name}.{field.name}", sobject.name)
                    raise MetadataFault(f"{file}: there is no object {target}")


def _ruled(sobject: SObject, permissions: frozenset[str], source: Source) -> SObject:
    """The object with its rules' formulas compiled."""
    types = {field.name: field.type for field in sobject.fields.values()}
    compiled: list[Rule] = []
    for rule in sobject.validation_rules:
        file = source.files.get(f"{sobject.name}.{rule.name}", rule.name)
        try:
            condition = compile_formula(rule.formula, types, permissions)
        except FormulaFault as fault:
            raise MetadataFault(f"{file}: {fault}") from None
        if rule.display_field is not None and rule.display_field.lower() not in sobject.fields:
            raise MetadataFault(f"{file}: there is no field {rule.display_field}")
        compiled.append(replace(rule, condition=condition))
    return replace(sobject, validation_rules=tuple(compiled))
