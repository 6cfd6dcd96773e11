"""Does everything that report types, reports and dashboards name exist?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from apex.known import Known
from apex.project import Source, text

Found = Iterator[tuple[str, str]]
Place: TypeAlias = tuple[str, str]
"""An object and a field of it."""

GROUPINGS = (("groupingsDown", "field"), ("groupingsAcross", "field"))
GROUPINGS_MAX = {"groupingsDown": 3, "groupingsAcross": 2}
CHARTED = (("chart", "groupingColumn"), ("chart", "secondaryGroupingColumn"))
COLUMNS = (
    ("columns", "field"),
    *GROUPINGS,
    *CHARTED,
    ("chart", "chartSummaries", "column"),
    ("filter", "criteriaItems", "column"),
    ("buckets", "sourceColumnName"),
    ("aggregates", "downGroupingContext"),
    ("timeFrameFilter", "dateColumn"),
    ("sortColumn",),
)
LEVELS = frozenset({"RowCount", "GRAND_SUMMARY"})
SUMMED = re.compile(r"([\w.]+):(?:SUM|AVG|MIN|MAX|UNIQUE)")
PARENT = re.compile(r"PARENTGROUPVAL\([^,]+,\s*([\w.]+)\s*\)")


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
        elif _field_at(owner, name, known) is None:
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


def _field_at(owner: str, path: str, known: Known) -> Place | None:
    """The field at the end of a path of lookups; what lies behind a lookup of Salesforce's own is believed."""
    *steps, name = path.split(".")
    for step in steps:
        field = known.field(owner, step)
        if field is None:
            return (owner, path) if known.has_field(owner, step) else None
        owner = field.text("referenceTo")
    there = known.has_field(owner, name) or known.has_field(owner, f"{name}Id")
    return (owner, name) if there else None


def _report(source: Source, known: Known) -> Found:
    yield from _belongings(source, known)
    own = {*source.texts("buckets", "developerName"), *source.texts("aggregates", "developerName")}
    offered = _offered(source.text("reportType"), known)
    for name in (name for path in COLUMNS for name in source.texts(*path)):
        if name in own or name in LEVELS:
            continue
        if _place(name, known) is None:
            yield name, f"no such column: {name}"
        elif offered and name not in offered:
            yield name, f"the report type does not offer {name}"
    yield from _groupings(source)
    for formula in source.texts("aggregates", "calculatedFormula"):
        yield from _formula(formula, source, known)
    for entry in source.elements("filter", "criteriaItems"):
        place = _place(text(entry, "column"), known)
        choices = known.choices(*place) if place else None
        for value in text(entry, "value").split(","):
            if choices and value and value not in choices:
                yield value, f"{text(entry, 'column')} has no value '{value}'"


def _belongings(source: Source, known: Known) -> Found:
    kind = source.text("reportType")
    if kind.endswith("__c") and "$" not in kind and kind.removesuffix("__c") not in known.names("reportType"):
        yield kind, f"no such report type: {kind}"
    folder = source.folder[-1]
    if folder not in known.names("reportFolder") and folder != "unfiled$public":
        yield "", f"no such report folder: {folder}"


def _offered(kind: str, known: Known) -> frozenset[str]:
    """The columns that a report type of the project offers; none where it is Salesforce's own."""
    return frozenset(
        f"{text(entry, 'table')}${text(entry, 'field')}"
        for one in known.project.of("reportType")
        if f"{one.name}__c" == kind
        for entry in one.elements("sections", "columns")
    )


def _place(name: str, known: Known) -> Place | None:
    """Where a column is: `Object__c$Field__c`, `Object__c.Rows__r$Lookup__c.Field__c` or `Lead.Field__c`.

    A name that holds neither an object nor a field of the project is one of Salesforce's, and is believed.
    """
    way, _, field = name.rpartition("$") if "$" in name else name.rpartition(".")
    if not way or ("$" not in name and not field.endswith("__c")):
        return None if name.endswith("__c") else ("", name)
    owner = _reached(way, known)
    return None if owner is None else _field_at(owner, field, known)


def _groupings(source: Source) -> Found:
    grouped = {name for path in GROUPINGS for name in source.texts(*path)}
    for name in (name for path in CHARTED for name in source.texts(*path)):
        if name not in grouped:
            yield name, f"the chart shows {name}, by which nothing is grouped"
    for way, most in GROUPINGS_MAX.items():
        if len(source.elements(way)) > most:
            yield f"<{way}", f"grouped more than {most} times"
    for name in source.texts("columns", "field"):
        if name in grouped:
            yield name, f"{name} is a grouping, so it is no column"


def _formula(formula: str, source: Source, known: Known) -> Found:
    """A formula names a column by its object, not by the way to it: `Object__c.Field__c:SUM`."""
    summed = {name.replace("$", ".") for name in _by_object(source.texts("columns", "field"), known)}
    grouped = {name.replace("$", ".") for name in _by_object(source.texts("groupingsDown", "field"), known)}
    for name in SUMMED.findall(formula):
        if name not in summed:
            yield name, f"a formula over {name}, which is no column"
    for name in PARENT.findall(formula):
        if name not in grouped | LEVELS:
            yield name, f"a formula over {name}, by which nothing is grouped"


def _by_object(names: Iterator[str], known: Known) -> Iterator[str]:
    for name in names:
        way, _, field = name.rpartition("$")
        yield f"{_reached(way, known) if way else way}${field}"


def _dashboard(source: Source, known: Known) -> Found:
    there = {f"{report.folder[-1]}/{report.name}": report for report in known.project.of("report")}
    for way in (
        ("leftSection", "components"),
        ("middleSection", "components"),
        ("rightSection", "components"),
        ("dashboardGridLayout", "dashboardGridComponents", "dashboardComponent"),
    ):
        for component in source.elements(*way):
            name = text(component, "report")
            if name and name not in there:
                yield name, f"no such report: {name}"
            elif name and text(component, "useReportChart") == "true" and not there[name].elements("chart"):
                yield name, f"shows the chart of {name}, which has none"
    if source.folder[-1] not in known.names("dashboardFolder"):
        yield "", f"no such dashboard folder: {source.folder[-1]}"
