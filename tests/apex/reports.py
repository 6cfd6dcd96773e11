"""Does everything that report types, reports and dashboards name exist?"""

from __future__ import annotations

from collections.abc import Iterator

from apex.known import Known
from apex.project import Source, text

Found = Iterator[tuple[str, str]]
COLUMNS = (
    ("columns", "field"),
    ("groupingsDown", "field"),
    ("groupingsAcross", "field"),
    ("filter", "criteriaItems", "column"),
    ("aggregates", "developerName"),
    ("timeFrameFilter", "dateColumn"),
)


def problems(source: Source, known: Known) -> Found:
    """What a file names and nobody has: the name as it stands in the file, and a sentence."""
    match source.kind:
        case "ReportType":
            yield from _report_type(source, known)
        case "Report":
            yield from _report(source, known)
        case "Dashboard":
            yield from _dashboard(source, known)
        case _:
            pass


def _report_type(source: Source, known: Known) -> Found:
    base = source.text("baseObject")
    if not known.has_object(base):
        yield base, f"no such object: {base}"
    for entry in source.elements("sections", "columns"):
        table, name = text(entry, "table"), text(entry, "field")
        owner = _reached(table, known)
        if owner is None or not table.startswith(base):
            yield table, f"no such way from {base}: {table}"
        elif "." not in name and not known.has_field(owner, name):
            yield name, f"no such field of {owner}: {name}"
    joined = [base]
    for entry in source.elements("join"):
        relation = text(entry, "relationship")
        joined.append(relation)
        if relation.endswith("__r") and _reached(".".join(joined), known) is None:
            yield relation, f"no such child relationship of {joined[-2]}: {relation}"


def _reached(path: str, known: Known) -> str | None:
    """The object at the end of a path of child relationships or lookups; None where it leads nowhere."""
    owner, *steps = path.split(".")
    if not known.has_object(owner):
        return None
    for step in steps:
        field = known.field(owner, step.removesuffix("__r") + "__c") or known.field(owner, step)
        child = known.children.get((owner, step))
        if child is None and field is None:
            return None
        owner = child or (field.text("referenceTo") if field else "")
    return owner


def _report(source: Source, known: Known) -> Found:
    kind = source.text("reportType")
    if kind.endswith("__c") and "$" not in kind and kind.removesuffix("__c") not in known.names("reportType"):
        yield kind, f"no such report type: {kind}"
    folder = source.folder[-1]
    if folder not in known.names("reportFolder") and folder != "unfiled$public":
        yield "", f"no such report folder: {folder}"
    for path in COLUMNS:
        for name in source.texts(*path):
            yield from _column(name, known)
    for entry in source.elements("filter", "criteriaItems"):
        place = _place(text(entry, "column"), known)
        choices = known.choices(*place) if place else None
        for value in text(entry, "value").split(","):
            if choices and value and value not in choices:
                yield value, f"{text(entry, 'column')} has no value '{value}'"


def _column(name: str, known: Known) -> Found:
    """A column of ours: `Object__c$Field__c`, `Object__c.Rows__r$Field__c` or `Lead.Field__c`."""
    if not name.endswith("__c"):
        return
    place = _place(name, known)
    if place is None or not known.has_field(*place):
        yield name, f"no such column: {name}"


def _place(name: str, known: Known) -> tuple[str, str] | None:
    way, _, field = name.rpartition("$") if "$" in name else name.rpartition(".")
    owner = _reached(way, known) if way else None
    return None if owner is None else (owner, field)


def _dashboard(source: Source, known: Known) -> Found:
    there = {f"{report.folder[-1]}/{report.name}" for report in known.project.of("report")}
    for way in (
        ("leftSection", "components", "report"),
        ("middleSection", "components", "report"),
        ("rightSection", "components", "report"),
        ("dashboardGridLayout", "dashboardGridComponents", "dashboardComponent", "report"),
    ):
        for name in source.texts(*way):
            if name not in there:
                yield name, f"no such report: {name}"
    if source.folder[-1] not in known.names("dashboardFolder"):
        yield "", f"no such dashboard folder: {source.folder[-1]}"
