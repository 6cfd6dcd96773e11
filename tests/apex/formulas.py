"""Is every formula well-formed, and does it fit the fields it names and the place it stands in?

The formula library knows the language but four functions of validation rules; `formulas.mjs` declares these by type.
Salesforce's own picklists are texts to it, since the descriptions of standard fields do not tell them apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from apex.findings import Broken, Checked, Finding
from apex.project import NAMESPACE, Project, Source
from apex.schema import Entity, Schema, schema
from apex.toolbox import Toolbox
from apex.tools import placed

TYPES = {
    "Boolean": "boolean",
    "Date": "date",
    "Datetime": "datetime",
    "Decimal": "number",
    "Double": "number",
    "Id": "id",
    "Integer": "number",
    "Long": "number",
    "String": "string",
    "Time": "time",
}
CHOICES = {"Picklist": "picklist", "MultiselectPicklist": "multipicklist"}
RETURNS = {
    "Checkbox": "boolean",
    "Currency": "currency",
    "Date": "date",
    "DateTime": "datetime",
    "Number": "number",
    "Percent": "percent",
    "Text": "string",
    "TextArea": "string",
    "LongTextArea": "string",
    "Time": "time",
    "Email": "string",
    "Phone": "string",
    "Url": "string",
}
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/', re.DOTALL)
PATH = re.compile(r"\$?[A-Za-z_]\w*(?:\.\w+)*(?!\w*\s*\()")


def check(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Validation rules, computed fields and computed defaults."""
    known = schema(project, toolbox)
    asked = [entry for source in project.sources for entry in _asked(source, project, known)]
    ran = toolbox.node("formulas.mjs", given=json.dumps(asked))
    found = placed(ran, project, len(asked), "formulas")
    if isinstance(found, Broken):
        return found
    findings = (*found.findings, *(finding for source in project.sources for finding in _passed_over(source, project)))
    names = "ISCHANGED, ISNEW, PRIORVALUE and REGEX"
    return Checked(found.count, found.things, findings, (f"{names} are stood in for by declarations of their types",))


READ = {
    "CustomField": {"formula", "defaultValue"},
    "Report": {"calculatedFormula"},  # by `reports.py`, which looks at the columns that it names
    "ValidationRule": {"errorConditionFormula"},
}


def _passed_over(source: Source, project: Project) -> Iterator[Finding]:
    """Formulas in places that this step does not know: red, as nobody looked at them."""
    for element in source.root.iter() if source.root is not None else ():
        tag = element.tag.removeprefix(NAMESPACE)
        if tag.lower().endswith("formula") and tag not in READ.get(source.kind, ()) and (element.text or "").strip():
            yield Finding(
                source.path, line_of(project, source, tag), f"<{tag}> of {source.kind} is a formula not read here"
            )


def line_of(project: Project, source: Source, tag: str) -> int:
    """The first line with an element of this name; 0 where there is none."""
    rows = (project.folder / source.path).read_text(encoding="utf-8").splitlines()
    return next((at for at, row in enumerate(rows, 1) if f"<{tag}>" in row), 0)


def _asked(source: Source, project: Project, known: Schema) -> Iterator[dict[str, Any]]:
    wanted: list[tuple[str, str]] = []
    if source.kind == "ValidationRule":
        wanted = [("errorConditionFormula", "boolean")]
    elif source.kind == "CustomField":
        returns = RETURNS.get(source.text("type"), "any")
        wanted = [("formula", returns), ("defaultValue", returns)]
    for tag, returns in wanted:
        formula = next((found.text or "" for found in source.elements(tag)), "")
        if formula.strip():
            line = line_of(project, source, tag)
            types = _types(formula, known[source.owner.lower()], project, known)
            yield {"path": source.path, "line": line, "formula": formula, "returns": returns, "types": types}


def _types(formula: str, entity: Entity, project: Project, known: Schema) -> dict[str, Any]:
    """The types of the names that a formula uses, as far as they exist."""
    types: dict[str, Any] = {}
    for path in sorted(set(PATH.findall(QUOTED.sub(" ", formula)))):
        words = path.split(".")
        leaf = _leaf(words, entity, project, known)
        if leaf is not None:
            at = types
            for word in words[:-1]:
                at = at.setdefault(word, {"type": "object", "properties": {}})["properties"]
            at[words[-1]] = leaf
    return types


def _leaf(words: list[str], entity: Entity, project: Project, known: Schema) -> dict[str, str] | None:
    """The type of a name, or None where nothing is called so."""
    match words:
        case ["$Permission", name]:
            return {"type": "boolean"} if name in {part.name for part in project.of("customPermission")} else None
        case ["$CustomMetadata", kind, record, name]:
            there = f"{kind.removesuffix('__mdt')}.{record}" in {part.name for part in project.of("md")}
            return _value(name, known[kind.lower()], project) if there and kind.lower() in known else None
        case ["$User" | "$Profile" | "$Organization" | "$UserRole" as whole, *rest] if rest:
            return _leaf(rest, known[whole[1:].lower()], project, known)
        case [first, *rest] if rest:
            step = entity.fields.get(first.lower())
            parent = known.get(step.of.lower()) if step and step.kind in {"PARENT", "PARENTS"} else None
            return _leaf(rest, parent, project, known) if parent else None
        case _:
            return _value(words[0], entity, project)


def _value(name: str, entity: Entity, project: Project) -> dict[str, str] | None:
    field = entity.fields.get(name.lower())
    if field is None or field.kind != "VALUE":
        return None
    own = project.fields.get(entity.name, {}).get(name)
    return {"type": CHOICES.get(own.text("type") if own else "", TYPES.get(field.of, "any"))}
