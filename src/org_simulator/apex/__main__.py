"""`python -m org_simulator.apex test ROOT`: run the Apex tests below a folder of Salesforce metadata."""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from org_simulator.apex.faults import ParserMissing, Unparsable, Unsupported
from org_simulator.apex.program import load
from org_simulator.apex.running import Report, run_tests
from org_simulator.clock import ManualClock
from org_simulator.events import change_log
from org_simulator.metadata import MetadataFault
from org_simulator.org import Org
from org_simulator.schema import load as load_schema
from org_simulator.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Sequence

SKIPPED = 3
START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 all passed and enough was covered, 1 not so, 2 nothing could be run, 3 the parser is absent."""
    options = _options(arguments)
    try:
        started = time.perf_counter()
        org = _org(options.root, pessimistic=options.switches == "pessimistic")
        program = load(options.root, org.schema)
        report = run_tests(org, program, options.only)
    except ParserMissing as absent:
        print(f"SKIPPED: {absent}", file=sys.stderr)
        return SKIPPED
    except (MetadataFault, Unparsable, Unsupported) as fault:
        print(f"org_simulator.apex: {fault}", file=sys.stderr)
        return 2
    seconds = time.perf_counter() - started
    print(json.dumps(_plain(report, seconds), indent=2) if options.json else _text(report, seconds))
    if not report.outcomes:
        return 2
    enough = report.coverage() * 100 >= options.minimum
    return 0 if enough and not report.failed else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("org_simulator.apex", description="Run Apex without an org.")
    commands = parser.add_subparsers(required=True)
    test = commands.add_parser("test", help="run the @IsTest methods below a folder")
    add = test.add_argument
    add("root", type=Path, help="a project's metadata: a folder that has force-app/main/default, or that folder")
    add("--only", default="", metavar="TEXT", help="tests whose Class.method contains this")
    add("--minimum", type=float, default=0, metavar="PERCENT", help="lines that must be covered")
    add("--switches", choices=("default", "pessimistic"), default="default")
    add("--json", action="store_true")
    return parser.parse_args(arguments)


def _org(root: Path, *, pessimistic: bool) -> Org:
    switches = Switches.pessimistic() if pessimistic else Switches()
    org = Org(load_schema(root), clock=ManualClock(START), switches=switches)
    change_log(org)
    return org


def _text(report: Report, seconds: float) -> str:
    lines = []
    for each in report.outcomes:
        word = "FAIL" if each.failure else "pass"
        used = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in each.used.items() if count)
        lines.append(f"{word}  {each.name}  {each.seconds * 1000:.0f} ms  {used}")
        lines += [f"      {part}" for part in each.failure.splitlines()]
    for file, (whole, hit) in sorted(report.lines.items()):
        missed = _ranges(sorted(whole - hit))
        lines.append(f"{100 * len(hit) / len(whole):5.1f} %  {file}{f'  not reached: {missed}' if missed else ''}")
    passed = len(report.outcomes) - len(report.failed)
    lines.append(
        f"{passed} of {len(report.outcomes)} tests passed, {report.coverage() * 100:.1f} % of lines, {seconds:.1f} s"
    )
    return "\n".join(lines)


def _ranges(lines: list[int]) -> str:
    return ", ".join(map(str, lines))


def _plain(report: Report, seconds: float) -> dict[str, object]:
    return {
        "passed": len(report.outcomes) - len(report.failed),
        "failed": len(report.failed),
        "seconds": round(seconds, 3),
        "coverage": round(report.coverage() * 100, 2),
        "tests": [
            {"name": each.name, "failure": each.failure, "seconds": round(each.seconds, 4), "limits": each.used}
            for each in report.outcomes
        ],
        "files": {
            file: {"lines": len(whole), "covered": len(hit), "missed": sorted(whole - hit)}
            for file, (whole, hit) in sorted(report.lines.items())
        },
    }


if __name__ == "__main__":
    sys.exit(main())
