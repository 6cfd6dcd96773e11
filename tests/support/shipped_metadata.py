"""What `salesforce_metadata/` says, read as plainly as possible: no default of Salesforce is applied."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

PROJECT = Path(__file__).parents[2] / "salesforce_metadata"
SOURCES = PROJECT / "force-app" / "main" / "default"
NAMESPACE = "{http://soap.sforce.com/2006/04/metadata}"


class Item(NamedTuple):
    """One file: `name` and `suffix` of `<name>.<suffix>-meta.xml`, `folder` below the sources, and its content."""

    path: Path
    name: str
    suffix: str
    folder: str
    root: ET.Element

    @property
    def owner(self) -> str:
        """The object whose folder holds the file."""
        return self.folder.split("/")[1]

    def text(self, tag: str) -> str | None:
        """The text of the first element of that name below the root."""
        return text(self.root, tag)


def text(element: ET.Element, *tags: str) -> str | None:
    """The text at a path of element names."""
    found = element.find("/".join(NAMESPACE + tag for tag in tags))
    return None if found is None else found.text


def texts(element: ET.Element, *tags: str) -> list[str]:
    """All texts at a path of element names."""
    return [found.text or "" for found in element.findall("/".join(NAMESPACE + tag for tag in tags))]


def children(element: ET.Element, tag: str) -> list[ET.Element]:
    """The elements of that name directly below."""
    return element.findall(NAMESPACE + tag)


@cache
def items() -> tuple[Item, ...]:
    """Every metadata file, in path order."""
    return tuple(_read(path) for path in sorted(SOURCES.rglob("*-meta.xml")))


def of(suffix: str) -> list[Item]:
    """The files of one suffix: `field`, `object`, `validationRule` and so on."""
    return [item for item in items() if item.suffix == suffix]


def fields(owner: str) -> dict[str, Item]:
    """The fields of an object by name."""
    return {item.name: item for item in of("field") if item.owner == owner}


def field(path: str) -> Item | None:
    """The field named `Object.Field__c`."""
    owner, _, name = path.partition(".")
    return fields(owner).get(name)


def is_listable(item: Item) -> bool:
    """Whether a permission set may list the field: Salesforce refuses required and master-detail fields there."""
    return item.text("required") != "true" and item.text("type") != "MasterDetail"


def _read(path: Path) -> Item:
    name, _, suffix = path.name.removesuffix("-meta.xml").rpartition(".")
    root = ET.parse(path).getroot()  # noqa: S314  # files of this repository
    return Item(path, name, suffix, path.parent.relative_to(SOURCES).as_posix(), root)
