"""Is every file of a kind that the steps read? One that all of them passed over would look checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from apex.findings import Checked, Finding
from apex.metadata import READ
from apex.project import Project
from apex.toolbox import Toolbox

APEX = (".cls", ".trigger")
METADATA = "-meta.xml"
RESOURCES = "staticresources"


def check(project: Project, _toolbox: Toolbox) -> Checked:
    """Every file below `force-app`; red is what no step would look into."""
    return Checked(len(project.files), "files", tuple(sorted(_strange(project))))


def _strange(project: Project) -> Iterator[Finding]:
    for source in project.sources:
        if source.kind not in READ and source.root is not None:
            yield Finding(source.path, 0, f"<{source.kind}> is a kind of metadata that no step reads")
    for path in project.files:
        if not path.endswith((METADATA, *APEX)) and not _is_resource(PurePosixPath(path), project):
            yield Finding(path, 0, "a kind of file that no step reads")


def _is_resource(path: PurePosixPath, project: Project) -> bool:
    """Whether it is what a static resource holds: bytes to an org, whatever they say."""
    for part in (path, *path.parents):
        if part.parent.name == RESOURCES:
            return f"{part.with_suffix('')}.resource{METADATA}" in project.files
    return False
