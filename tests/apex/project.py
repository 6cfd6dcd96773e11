"""A project in source format: where its parts are, and what its metadata files hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree as ET

NAMESPACE = "{http://soap.sforce.com/2006/04/metadata}"


@dataclass(frozen=True)
class Source:
    """One file `<name>.<suffix>-meta.xml`; `root` is None where it is no XML."""

    path: str
    name: str
    suffix: str
    folder: tuple[str, ...]
    root: ET.Element | None

    @property
    def kind(self) -> str:
        """The root element's name, such as `CustomField`."""
        return "" if self.root is None else self.root.tag.removeprefix(NAMESPACE)

    @property
    def owner(self) -> str:
        """The object whose folder holds the file; empty where none does."""
        return self.folder[self.folder.index("objects") + 1] if "objects" in self.folder[:-1] else ""

    def text(self, *tags: str) -> str:
        """The text of the first element at a path of names; empty where there is none."""
        return next(self.texts(*tags), "")

    def texts(self, *tags: str) -> Iterator[str]:
        """All texts at a path of names."""
        return ((found.text or "").strip() for found in self.elements(*tags))

    def elements(self, *tags: str) -> list[ET.Element]:
        """All elements at a path of names."""
        return [] if self.root is None else self.root.findall("/".join(NAMESPACE + tag for tag in tags))


def text(element: ET.Element, *tags: str) -> str:
    """The text of the first element at a path of names below an element; empty where there is none."""
    return (element.findtext("/".join(NAMESPACE + tag for tag in tags)) or "").strip()


@dataclass(frozen=True)
class Project:
    """A folder with an `sfdx-project.json`; reads each file at most once.

    `on` is the folder of a project that is deployed before it: its parts may be named, and are not checked again.
    """

    folder: Path
    on: Path | None = None

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Every file below `force-app`, as a path from the project's folder, in order."""
        found = (self.folder / "force-app").rglob("*")
        return tuple(sorted(path.relative_to(self.folder).as_posix() for path in found if path.is_file()))

    @cached_property
    def apex(self) -> tuple[str, ...]:
        """The classes and triggers among the files."""
        return tuple(path for path in self.files if path.endswith((".cls", ".trigger")))

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """The metadata among the files."""
        return tuple(self._read(path) for path in self.files if path.endswith("-meta.xml"))

    @cached_property
    def there(self) -> tuple[Source, ...]:
        """All sources that may be named."""
        return self.sources if self.on is None else (*self.sources, *Project(self.on).sources)

    def of(self, suffix: str) -> list[Source]:
        """The sources of one suffix that may be named, such as `field`."""
        return [source for source in self.there if source.suffix == suffix]

    @cached_property
    def fields(self) -> dict[str, dict[str, Source]]:
        """The fields of projects that may be named, by object and name."""
        found: dict[str, dict[str, Source]] = {}
        for source in self.of("field"):
            found.setdefault(source.owner, {})[source.name] = source
        return found

    def _read(self, path: str) -> Source:
        *folder, file = path.split("/")
        name, _, suffix = file.removesuffix("-meta.xml").rpartition(".")
        try:
            root = ET.parse(self.folder / path).getroot()  # noqa: S314  # files of this repository
        except ET.ParseError:
            root = None
        return Source(path, name, suffix, tuple(folder), root)
