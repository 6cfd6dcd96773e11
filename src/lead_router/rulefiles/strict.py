"""YAML with the types of its core schema and nothing more: NO, on, 010, 22:30 and 2026-01-31 stay texts.

Whole numbers, decimal fractions, true, false and null are what they look like; tags, anchors and keys given twice are
refused. Every value knows its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import yaml

from lead_router.errors import Misconfigured
from lead_router.rulefiles.nouns import Place

Scalar: TypeAlias = str | int | float | bool | None

_PLAIN = "tag:yaml.org,2002:"
_API_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_SIGNS = list("-+0123456789")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value."""

    value: Scalar
    at: Place


@dataclass(frozen=True, slots=True)
class Row:
    """A mapping; `keys_at` says where each key stands."""

    entries: Mapping[str, Part]
    keys_at: Mapping[str, Place]
    at: Place


@dataclass(frozen=True, slots=True)
class Column:
    """A sequence."""

    items: tuple[Part, ...]
    at: Place


Part: TypeAlias = Leaf | Row | Column


class _Loader(yaml.SafeLoader):
    """Knows the scalars named above; anchors and aliases are refused, so that a small file stays small."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own way

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:  # an alias bears the name of its anchor
            raise yaml.MarkedYAMLError(None, None, "anchors and aliases are not used here", event.start_mark)
        return super().compose_node(parent, index)


for _tag, _pattern, _first in (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", _SIGNS),
    ("float", r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)(?:[eE][-+]?[0-9]+)?", _SIGNS),
):
    _Loader.add_implicit_resolver(f"{_PLAIN}{_tag}", re.compile(f"(?:{_pattern})$"), _first)


def read(text: str, file: str) -> Part | None:
    """The document's value, None for an empty file; raises Misconfigured naming file and line."""
    try:
        loader = _Loader(text)
    except yaml.YAMLError as fault:
        raise Misconfigured(f"{file}: this is not YAML: {str(fault).splitlines()[0]}") from None
    try:
        node = loader.get_single_node()
        return None if node is None else _part(node, file)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line = mark.line + 1 if mark else 1
        raise Misconfigured(f"{file}:{line}: {fault.problem or fault.context or 'this is not YAML'}") from None
    except yaml.YAMLError as fault:
        raise Misconfigured(f"{file}: this is not YAML: {str(fault).splitlines()[0]}") from None
    except RecursionError:
        raise Misconfigured(f"{file}: values are nested too deeply") from None
    finally:
        loader.dispose()


def entries(part: Part, known: Iterable[str], what: str) -> Row:
    """The part as a mapping with none but known keys; raises Misconfigured naming the nearest right one."""
    if not isinstance(part, Row):
        raise Misconfigured(f"{part.at}: {what} is a mapping: `key: value` lines")
    names = tuple(known)
    for key in part.entries:
        if key not in names:
            raise Misconfigured(f"{part.keys_at[key]}: {what} has no key '{key}'{nearest(key, names)}")
    return part


def items(part: Part, what: str) -> tuple[Part, ...]:
    """The part as a sequence."""
    if not isinstance(part, Column):
        raise Misconfigured(f"{part.at}: {what} is a list: `- ` lines")
    return part.items


def text(part: Part, what: str) -> str:
    """The part as a text; a number, true or null is refused, quotes make them texts."""
    if isinstance(part, Leaf) and isinstance(part.value, str):
        return part.value
    shown = f", not {plain(part.value)}: put it in quotes if you mean the text" if isinstance(part, Leaf) else ""
    raise Misconfigured(f"{part.at}: {what} is a text{shown}")


def whole(part: Part, what: str) -> int:
    """The part as a whole number."""
    if isinstance(part, Leaf) and isinstance(part.value, int) and not isinstance(part.value, bool):
        return part.value
    shown = f", not {plain(part.value)}" if isinstance(part, Leaf) else ""
    raise Misconfigured(f"{part.at}: {what} is a whole number{shown}")


def flag(part: Part, what: str) -> bool:
    """The part as true or false."""
    if isinstance(part, Leaf) and isinstance(part.value, bool):
        return part.value
    shown = f", not {plain(part.value)}" if isinstance(part, Leaf) else ""
    raise Misconfigured(f"{part.at}: {what} is true or false{shown}")


def needed(row: Row, key: str, what: str) -> Part:
    """The value of a key that must be there."""
    part = row.entries.get(key)
    if part is None:
        raise Misconfigured(f"{row.at}: {what} has no {key}")
    return part


def api_name(part: Part, what: str) -> str:
    """The part as a Salesforce field's API name."""
    name = text(part, what).strip()
    if not _API_NAME.fullmatch(name):
        raise Misconfigured(f"{part.at}: {what} is an API name such as NumberOfEmployees, not '{name}'")
    return name


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` in any letter case, or nothing."""
    spelt = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), spelt, n=1)
    return f"; did you mean '{spelt[near[0]]}'?" if near else ""


def plain(value: Scalar) -> str:
    """A value as a file has it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _part(node: yaml.Node, file: str) -> Part:
    at = Place(file, node.start_mark.line + 1)
    match node:
        case yaml.ScalarNode():
            return Leaf(_scalar(node, at), at)
        case yaml.SequenceNode(tag=tag) if tag == f"{_PLAIN}seq":
            return Column(tuple(_part(one, file) for one in node.value), at)
        case yaml.MappingNode(tag=tag) if tag == f"{_PLAIN}map":
            return _row(node, file, at)
        case _:
            raise Misconfigured(f"{at}: tags such as {node.tag} are not used here")


def _row(node: yaml.MappingNode, file: str, at: Place) -> Row:
    found: dict[str, Part] = {}
    keys_at: dict[str, Place] = {}
    for key_node, value_node in node.value:
        key_at = Place(file, key_node.start_mark.line + 1)
        if not isinstance(key_node, yaml.ScalarNode):
            raise Misconfigured(f"{key_at}: a key is a text")
        key = str(key_node.value)
        if key in found:
            raise Misconfigured(f"{key_at}: the key '{key}' is given twice, first in line {keys_at[key].line}")
        found[key], keys_at[key] = _part(value_node, file), key_at
    return Row(found, keys_at, at)


def _scalar(node: yaml.ScalarNode, at: Place) -> Scalar:
    match node.tag.removeprefix(_PLAIN):
        case "str":
            return str(node.value)
        case "null":
            return None
        case "bool":
            return bool(node.value == "true")
        case "int":
            return _number(int, node.value, at)
        case "float":
            return _number(float, node.value, at)
        case _:
            raise Misconfigured(f"{at}: tags such as {node.tag} are not used here")


def _number(kind: type[int | float], value: str, at: Place) -> int | float:
    try:
        return kind(value)
    except ValueError:
        raise Misconfigured(f"{at}: this number cannot be read") from None
