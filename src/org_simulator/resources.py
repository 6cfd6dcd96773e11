"""What else a folder of metadata holds: static resources, and types of custom notifications.

A resource is a file beside its description, or a folder that is zipped on deploy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from org_simulator.metadata import Element, MetadataFault, opened

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


def notification_types(folder: Path) -> tuple[dict[str, Any], ...]:
    """The fields of each type of custom notification in `force-app/main/default`, by name."""
    ending = ".notiftype-meta.xml"
    return tuple(
        _notification(file.name.removesuffix(ending), opened(file))
        for file in sorted((folder / "notificationtypes").glob(f"*{ending}"))
    )


def _notification(name: str, element: Element) -> dict[str, Any]:
    return {
        "DeveloperName": name,
        "CustomNotifTypeName": element.text("customNotifTypeName", name),
        "MasterLabel": element.text("masterLabel", name),
        "Description": element.text("description") or None,
        "Desktop": element.flag("desktop"),
        "Mobile": element.flag("mobile"),
    }
