"""The named figures of report.json: each with its unit, its target and what it is measured against."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.report import HERE, rewritten, table

FILE = HERE / "report.json"
HEADING = "# The figures and their targets"
_WORDS = {">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class Named:
    """One figure of one run. `target` is `">=40"` or `"<=12"`, in `unit`; `baseline` says in words against what."""

    value: float
    unit: str
    target: str
    baseline: str

    @property
    def reached(self) -> bool:
        """Whether the value is within its target. Raises KeyError for a target that begins otherwise."""
        return bool(_WORDS[self.target[:2]](self.value, float(self.target[2:])))


TOLD: dict[str, Named] = {}
"""All that was told in this process, for those who run one benchmark after the other."""


def put(figures: Mapping[str, Named], file: Path = FILE) -> None:
    """Write the figures into the file, by name; those of other benchmarks stay. The report beside it tells of all."""
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    known = {**before, **{name: _told(one) for name, one in figures.items()}}
    file.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n", encoding="utf-8")
    page = file.with_name("REPORT.md")
    if page.exists():
        every = {name: Named(**one) for name, one in sorted(known.items())}
        page.write_text(rewritten(page.read_text("utf-8"), section(every)), encoding="utf-8")


def section(figures: Mapping[str, Named]) -> str:
    """All named figures as a section of the report, with their targets, and which are missed."""
    rows = [("figure", "measured", "target", "", "beside")]
    for name, one in figures.items():
        rows.append((name, f"{one.value:,g} {one.unit}", one.target, _verdict(one), one.baseline))
    reached = sum(one.reached for one in figures.values())
    text = f"{reached} of {len(figures)} are reached. What bounds the others stands in their sections."
    return f"{HEADING}\n\n{text} The same, for machines: `report.json`.\n\n{table(rows)}\n"


def told(figures: Mapping[str, Named]) -> str:
    """The figures as lines for a terminal, each with its target and whether it is reached; noted in `TOLD`."""
    TOLD.update(figures)
    return "\n".join(
        f"{name}: {one.value:,.3g} {one.unit} (target {one.target}{_missed(one)}; {one.baseline})"
        for name, one in figures.items()
    )


def _told(one: Named) -> dict[str, object]:
    """Rounded, but not to where a target is reached that was missed."""
    near = replace(one, value=round(one.value, 3))
    return asdict(near if near.reached == one.reached else one)


def _verdict(one: Named) -> str:
    return "reached" if one.reached else "MISSED"


def _missed(one: Named) -> str:
    return "" if one.reached else ", NOT REACHED"
