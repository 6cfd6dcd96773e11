"""What single values of metadata may be: words, lengths, names, and what must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from apex.project import NAMESPACE, Source, text
from apex.tables import ELEMENTS, LENGTHS, NEEDED, NEEDED_BY_TYPE, WORDS

NAME = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*(?:__(?:c|e|mdt|r))?")
NAME_MAX = 40  # without the suffix
TEXT_MAX = 255
LONG_TEXT = range(256, 131_073)
DIGITS_MAX = 18


def problems(source: Source) -> Iterator[tuple[str, str]]:
    """What is wrong in one file: the text in the file where it stands, or empty, and a sentence."""
    if source.root is None:
        yield "", "not well-formed"
        return
    yield from _missing(source)
    yield from _unknown(source)
    yield from _words(source)
    yield from _lengths(source)
    if source.kind == "CustomField":
        yield from _field(source)
    if source.kind in {"CustomField", "CustomObject", "ListView", "ValidationRule", "PermissionSet", "Queue"}:
        yield from _named(source.name)
    if source.kind == "CustomTab" and not re.fullmatch(r"Custom\d+: .+", source.text("motif")):
        yield source.text("motif"), f"no such tab style: {source.text('motif')}"


def _missing(source: Source) -> Iterator[tuple[str, str]]:
    needed = NEEDED.get(source.kind, ())
    if source.kind == "CustomObject":
        # What extends a standard object has none of a custom object's elements.
        needed = needed if "__" in source.name else ()
        needed += ("nameField/type", "sharingModel", "deploymentStatus") if source.name.endswith("__c") else ()
    if source.kind == "CustomField":
        needed += NEEDED_BY_TYPE.get(source.text("type"), ()) if not source.text("formula") else ()
    for name in needed:
        if not source.elements(*name.split("/")):
            yield "", f"lacks <{name.replace('/', '><')}>"
        elif not any(len(found) or (found.text or "").strip() for found in source.elements(*name.split("/"))):
            yield f"<{name}", f"<{name}> is empty"


def _unknown(source: Source) -> Iterator[tuple[str, str]]:
    """Elements of kinds whose shape no schema at hand describes."""
    known = ELEMENTS.get(source.kind)
    for element in source.root if source.root is not None and known is not None else ():
        tag = element.tag.removeprefix(NAMESPACE)
        if tag not in (known or ()):
            yield f"<{tag}", f"{tag} is not a known element of {source.kind}"


def _words(source: Source) -> Iterator[tuple[str, str]]:
    for path, allowed in WORDS.get(source.kind, {}).items():
        for word in source.texts(*path.split("/")):
            if word not in allowed:
                yield f">{word}<", f"{path} may not be '{word}'"


def _lengths(source: Source) -> Iterator[tuple[str, str]]:
    for path, limit in LENGTHS.get(source.kind, {}).items():
        for found in source.texts(*path.split("/")):
            if len(found) > limit:
                yield found.splitlines()[0], f"{path} has {len(found)} characters, and may have {limit}"


def _field(source: Source) -> Iterator[tuple[str, str]]:
    kind, length = source.text("type"), source.text("length")
    if kind == "Text" and length and not 1 <= int(length) <= TEXT_MAX:
        yield "<length", f"a text of length {length}: 1 to {TEXT_MAX}"
    if kind == "LongTextArea" and length and int(length) not in LONG_TEXT:
        yield "<length", f"a long text of length {length}: {LONG_TEXT.start} to {LONG_TEXT.stop - 1}"
    if kind == "Number" and int(source.text("precision") or 0) > DIGITS_MAX:
        yield "<precision", f"more than {DIGITS_MAX} digits"
    if kind == "Lookup" and source.text("required") == "true" and source.text("deleteConstraint") == "SetNull":
        yield "<deleteConstraint", "a required lookup cannot be set to nothing"
    if source.text("relationshipName"):
        yield from _named(source.text("relationshipName"))
    yield from _picklist(source.elements("valueSet", "valueSetDefinition", "value"))


def _picklist(values: list[ET.Element]) -> Iterator[tuple[str, str]]:
    words = [text(value, "fullName") for value in values]
    for word in sorted({word for word in words if words.count(word) > 1}):
        yield f">{word}<", f"the value '{word}' stands twice"
    if sum(text(value, "default") == "true" for value in values) > 1:
        yield "<default>true", "more than one value is the default"
    for value in values:
        for needed in ("fullName", "default", "description", "label"):
            if value.find(NAMESPACE + needed) is None:
                yield text(value, "fullName"), f"a value lacks <{needed}>"


def _named(name: str) -> Iterator[tuple[str, str]]:
    if not NAME.fullmatch(name):
        yield name, f"'{name}' is no API name"
    elif len(re.sub("__[a-z]+$", "", name)) > NAME_MAX:
        yield name, f"'{name}' is longer than {NAME_MAX} characters"
