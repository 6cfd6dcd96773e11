"""What takes the metadata out of an org names every part of it, once, and nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from apex import removal
from apex.project import Project
from lead_router.salesforce import names
from support import shipped_metadata as shipped

FILES = removal.files(Project(shipped.PROJECT))
AGAIN = "write it anew: PYTHONPATH=tests python -m apex.removal"


@cache
def listed(step: str) -> set[tuple[str, str]]:
    """Type and name of each part that a step deletes."""
    path = shipped.PROJECT / "removal" / step / "destructiveChanges.xml"
    root = ET.parse(path).getroot()  # noqa: S314  # a file of this repository
    return {
        (shipped.text(types, "name") or "", member)
        for types in shipped.children(root, "types")
        for member in shipped.texts(types, "members")
    }


def test_the_removal_is_that_of_what_is_shipped():
    """A part that was added or taken away since is added or taken away here too."""
    there = {
        path.relative_to(shipped.PROJECT).as_posix(): path.read_text(encoding="utf-8")
        for path in (shipped.PROJECT / "removal").rglob("*")
        if path.is_file()
    }
    assert there == FILES, AGAIN


@pytest.mark.parametrize("item", shipped.items(), ids=lambda item: item.path.name.removesuffix("-meta.xml"))
def test_every_part_is_deleted_once(item: shipped.Item):
    """By its own name, or with the object that it is part of; never in both deletions."""
    kind = item.root.tag.removeprefix(shipped.NAMESPACE)
    kind = removal.LISTED_AS.get(kind, kind)
    all_ = [part for step in (removal.STOP, removal.ERASE) for part in listed(step)]
    gone = {name for kind, name in listed(removal.ERASE) if kind == "CustomObject"}
    owner = item.owner if item.folder.startswith("objects/") else ""
    match item.suffix:
        case "layout":
            assert item.name.partition("-")[0] in gone
        case "md":
            assert f"{item.name.partition('.')[0]}__mdt" in gone
        case "object" | "tab":
            assert item.name in gone
        case "report" | "reportFolder" | "dashboard" | "dashboardFolder":
            within = item.path.relative_to(shipped.SOURCES).parts[1:-1]
            assert all_.count((kind, "/".join((*within, item.name)))) == 1
        case _ if owner in gone:
            assert (kind, f"{owner}.{item.name}") not in all_
        case _:
            assert all_.count((kind, f"{owner}.{item.name}" if owner else item.name)) == 1, AGAIN


def test_no_record_is_lost_by_the_first_deletion():
    """Objects and fields, which take their records with them, are left to the second; what uses them is not."""
    first, second = ({kind for kind, _ in listed(step)} for step in (removal.STOP, removal.ERASE))
    assert {"CustomObject", "CustomField"} & first == set()
    assert {"ApexClass", "ApexTrigger", "PermissionSet", "ValidationRule"} & second == set()
    assert ("ValidationRule", f"Lead.{names.ValidationRules.OWNER_MOVED}") in listed(removal.STOP)


def test_a_kind_whose_place_is_not_known_is_refused(tmp_path: Path):
    """A new kind of metadata cannot be shipped without saying when it is deleted."""
    (tmp_path / "force-app/flows").mkdir(parents=True)
    (tmp_path / "sfdx-project.json").write_text('{"sourceApiVersion": "68.0"}', encoding="utf-8")
    text = '<Flow xmlns="http://soap.sforce.com/2006/04/metadata"/>'
    (tmp_path / "force-app/flows/Route.flow-meta.xml").write_text(text, encoding="utf-8")
    with pytest.raises(removal.Unplaced, match=r"Route\.flow"):
        removal.files(Project(tmp_path))
