"""Is the metadata right by what it says: words, lengths, names, and everything that it names?"""

from __future__ import annotations

from itertools import chain

from apex import references, reports, words
from apex.findings import Checked, Finding
from apex.known import Known
from apex.project import Project, Source
from apex.toolbox import Toolbox

# Kinds that name nothing; what stands neither here nor among those whose references are read is refused (`files.py`).
WITHOUT_REFERENCES = {
    "ApexClass",
    "ApexTrigger",
    "CustomLabels",
    "CustomNotificationType",
    "CustomPermission",
    "DashboardFolder",
    "ExternalClientApplication",
    "ReportFolder",
    "StaticResource",
}
READ = {*references.CHECKS, "ReportType", "Report", "Dashboard", *WITHOUT_REFERENCES}


def check(project: Project, toolbox: Toolbox) -> Checked:
    """Every file; Salesforce's own fields are checked where their list was made, which needs Java."""
    standard, notes = {}, []
    if (toolbox.built / "schema.json").exists():
        standard = {name: frozenset(fields) for name, fields in toolbox.standard_objects.items()}
    else:
        notes.append("names of Salesforce's own objects and fields: not checked, for want of Java")
    known = Known(project, standard)
    findings = [found for source in project.sources for found in _of(source, known)]
    return Checked(len(project.sources), "files", tuple(sorted(set(findings))), tuple(notes))


def _of(source: Source, known: Known) -> list[Finding]:
    said = chain(words.problems(source), references.problems(source, known), reports.problems(source, known))
    rows = (known.project.folder / source.path).read_text(encoding="utf-8").splitlines()
    return [
        Finding(source.path, next((at for at, row in enumerate(rows, 1) if where and where in row), 0), what)
        for where, what in said
    ]
