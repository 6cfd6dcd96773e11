"""`@{name.path}` inside a composite: the value that an earlier subrequest answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from org_simulator.failures import Failure

_REFERENCE = re.compile(r"@\{([^}]+)\}")
_STEP = re.compile(r"([A-Za-z0-9_]+)|\[(\d+)\]")


def names(url: str, content: Any) -> set[str]:
    """The subrequests that a url and a body refer to."""
    found = {match.group(1) for match in _REFERENCE.finditer(url)}
    _collect(content, found)
    return {re.split(r"[.\[]", each, maxsplit=1)[0] for each in found}


def _collect(content: Any, found: set[str]) -> None:
    if isinstance(content, str):
        found.update(match.group(1) for match in _REFERENCE.finditer(content))
    elif isinstance(content, Mapping):
        for each in content.values():
            _collect(each, found)
    elif isinstance(content, list):
        for each in content:
            _collect(each, found)


def in_url(url: str, known: Mapping[str, Any]) -> str:
    """The url with its references replaced; raises PROCESSING_HALTED where one has no value."""
    return _REFERENCE.sub(lambda match: quote(str(_value(match.group(1), known)), safe=""), url)


def in_content(content: Any, known: Mapping[str, Any]) -> Any:
    """The body with its references replaced; a text that is nothing but a reference becomes the value itself."""
    if isinstance(content, str):
        if "@{" not in content:
            return content
        whole = _REFERENCE.fullmatch(content)
        if whole is not None:
            return _value(whole.group(1), known)
        return _REFERENCE.sub(lambda match: str(_value(match.group(1), known)), content)
    if isinstance(content, Mapping):
        return {name: in_content(each, known) for name, each in content.items()}
    if isinstance(content, list):
        return [in_content(each, known) for each in content]
    return content


def _value(path: str, known: Mapping[str, Any]) -> Any:
    at: Any = known
    for match in _STEP.finditer(path):
        name, place = match.groups()
        if name is not None and isinstance(at, Mapping) and name in at:
            at = at[name]
        elif place is not None and isinstance(at, list) and int(place) < len(at):
            at = at[int(place)]
        else:
            owner = re.split(r"[.\[]", path, maxsplit=1)[0]
            text = f"Invalid reference specified. No value for {path} found in {owner}"
            raise Failure("PROCESSING_HALTED", text)
    return at
