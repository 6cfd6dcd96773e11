"""Static resources of a folder of metadata: files beside their descriptions, and folders that are zipped on deploy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from org_simulator.metadata import MetadataFault, opened

if TYPE_CHECKING:
    from pathlib import Path

ENDING = ".resource-meta.xml"


def static_resources(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Content type and content by name; a resource that is a folder is left out, as nothing here reads zips."""
    found: dict[str, tuple[str, bytes]] = {}
    for description in sorted((folder / "staticresources").glob(f"*{ENDING}")):
        name = description.name.removesuffix(ENDING)
        kind = opened(description).text("contentType")
        files = [each for each in description.parent.glob(f"{name}.*") if each != description and each.is_file()]
        if len(files) == 1:
            found[name] = (kind, files[0].read_bytes())
        elif not (description.parent / name).is_dir():
            raise MetadataFault(f"{description}: there is no one file of this resource beside it")
    return found
