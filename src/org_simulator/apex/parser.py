"""Sources to Salesforce's own syntax tree, by the native parser that the npm package prettier-plugin-apex brings."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from org_simulator.apex.faults import ParserMissing, Place, Unparsable

PACKAGE = "node_modules/@prettier-apex/apex-ast-serializer-{}"
PLACES = ("", "tests/apex")
"""Folders whose node_modules may have it: a project's own, and where a checkout of this one installs its tools."""

CACHE = "node_modules/.cache/apex-ast"
_ROOT = "apex.jorje.semantic.compiler.parser.ParserOutput"
TIMEOUT_S = 60.0


def binary(start: Path | None = None) -> Path:
    """The parser, from the node_modules of `start`, this checkout or the working directory; ParserMissing if absent."""
    machine = "arm64" if platform.machine().lower() in {"arm64", "aarch64"} else "x64"
    name = f"{platform.system().lower()}-{machine}"
    below = Path(PACKAGE.format(name)) / f"apex-ast-serializer-{name}"
    begins = [start] if start else []
    for begin in (*begins, Path(__file__).resolve().parent, Path.cwd()):
        for found in (folder / place / below for folder in (begin, *begin.parents) for place in PLACES):
            if os.access(found, os.X_OK):
                return found
    raise ParserMissing("Apex does not run here: its parser is not installed (make apex-tools installs it)")


def parse(file: Path, parser: Path, *, shown: str = "") -> dict[str, Any]:
    """The syntax tree's unit; Unparsable with the first fault, under the name `shown`."""
    return parse_text(file.read_bytes(), parser, shown or str(file))


def parse_text(source: bytes, parser: Path, shown: str) -> dict[str, Any]:
    """As `parse`, of text at hand. What was parsed once is kept by its content, beside the parser's package."""
    kept = _kept(parser, source)
    if kept is not None and kept.exists():
        unit: dict[str, Any] = json.loads(kept.read_bytes())
        return unit
    unit = _parsed(source, parser, shown)
    if kept is not None:
        _keep(kept, unit)
    return unit


def _parsed(source: bytes, parser: Path, shown: str) -> dict[str, Any]:
    done = subprocess.run([str(parser)], input=source, capture_output=True, timeout=TIMEOUT_S, check=False)  # noqa: S603 - the parser that was found
    if done.returncode != 0:
        raise Unparsable(Place(shown, 1), done.stderr.decode(errors="replace").strip()[:300])
    answer = json.loads(done.stdout)[_ROOT]
    for fault in answer["parseErrors"]:
        place = fault.get("error", {}).get("error", {}).get("loc", {})
        raise Unparsable(Place(shown, place.get("line", 1)), fault.get("message", "cannot be parsed"))
    unit: dict[str, Any] = answer["unit"]
    return unit


def _kept(parser: Path, source: bytes) -> Path | None:
    for folder in parser.parents:
        if folder.name == "node_modules":
            digest = hashlib.sha256(f"{parser.stat().st_size}:".encode() + source).hexdigest()
            return folder.parent / CACHE / f"{digest}.json"
    return None


def _keep(kept: Path, unit: dict[str, Any]) -> None:
    """Write beside and move into place, so that two runs at once never read half a file; a failure costs nothing."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(unit, separators=(",", ":")))
        part.replace(kept)
    except OSError:
        return
