"""`python -m apex.removal` writes what takes the shipped metadata out of an org again, in two deletions.

`stop` takes out what acts and shows; no record is lost. `erase` takes out objects and fields, with their records. It
comes second, because an org refuses to delete an object that Apex still names (Metadata API Developer Guide, "Deleting
Components from an Organization"). What is part of a listed object goes with it, and is not listed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from apex.project import Project, Source

ROOT = Path(__file__).parents[2]
STOP, ERASE = "stop", "erase"
STEPS = {
    "ApexClass": STOP,
    "ApexTrigger": STOP,
    "CustomApplication": STOP,
    "CustomField": ERASE,
    "CustomNotificationType": STOP,
    "CustomObject": ERASE,
    "CustomPermission": ERASE,
    "CustomTab": ERASE,
    "Dashboard": STOP,
    "DashboardFolder": ERASE,
    "ListView": STOP,
    "PermissionSet": STOP,
    "PlatformEventChannelMember": STOP,
    "Queue": ERASE,
    "Report": STOP,
    "ReportFolder": ERASE,
    "ReportType": ERASE,
    "StaticResource": ERASE,
    "ValidationRule": STOP,
}
LISTED_AS = {"DashboardFolder": "Dashboard", "ReportFolder": "Report"}
IN_FOLDERS = {
    "Dashboard": "dashboards",
    "DashboardFolder": "dashboards",
    "Report": "reports",
    "ReportFolder": "reports",
}
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<Package xmlns="http://soap.sforce.com/2006/04/metadata">\n'


class Unplaced(Exception):
    """A kind of metadata of which STEPS does not say when it is deleted."""


def files(project: Project) -> dict[str, str]:
    """The text of each file below `removal`, by path. Raises Unplaced."""
    version = json.loads((project.folder / "sfdx-project.json").read_text(encoding="utf-8"))["sourceApiVersion"]
    found: dict[str, dict[str, set[str]]] = {STOP: {}, ERASE: {}}
    for source in project.sources:
        for step, kind, name in _deleted(source):
            found[step].setdefault(kind, set()).add(name)
    return {
        f"removal/{step}/{name}": text
        for step, listed in found.items()
        for name, text in (
            ("package.xml", f"{HEAD}    <version>{version}</version>\n</Package>\n"),
            ("destructiveChanges.xml", _manifest(listed, version)),
        )
    }


def _deleted(source: Source) -> Iterator[tuple[str, str, str]]:
    """When, as what and by which name a file's part is deleted; nothing for a part of one of the project's objects."""
    if source.kind in {"Layout", "CustomMetadata"} or (source.kind != "CustomObject" and "__" in source.owner):
        return
    if source.kind not in STEPS:
        raise Unplaced(f"{source.path}: say in apex/removal.py when a {source.kind} is deleted")
    yield STEPS[source.kind], LISTED_AS.get(source.kind, source.kind), _name(source)


def _name(source: Source) -> str:
    if source.kind in IN_FOLDERS:
        folders = source.folder[source.folder.index(IN_FOLDERS[source.kind]) + 1 :]
        return "/".join((*folders, source.name))
    return f"{source.owner}.{source.name}" if source.owner and source.kind != "CustomObject" else source.name


def _manifest(listed: dict[str, set[str]], version: str) -> str:
    blocks = (
        "    <types>\n"
        + "".join(f"        <members>{name}</members>\n" for name in sorted(names))
        + f"        <name>{kind}</name>\n    </types>\n"
        for kind, names in sorted(listed.items())
    )
    return f"{HEAD}{''.join(blocks)}    <version>{version}</version>\n</Package>\n"


def main() -> int:
    """Write the files of the shipped project."""
    project = Project(ROOT / "salesforce_metadata")
    for path, text in files(project).items():
        (project.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (project.folder / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
