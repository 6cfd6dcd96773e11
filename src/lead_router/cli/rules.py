"""`rules`: check, test, pull, push."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lead_router import app
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json
from lead_router.ports import Finding
from lead_router.rulefiles import (
    ORG_FILE,
    ORG_RULES_FILE,
    RULES_FILE,
    Added,
    Altered,
    Difference,
    FileRule,
    Removed,
    Tried,
)


def rules(words: argparse.Namespace) -> int:
    """One verb; the exit codes stand in `--help`."""
    match words.verb:
        case "check":
            return _check(words)
        case "test":
            return _test(words)
        case "pull":
            return _pull(words)
        case _:
            return _push(words)


def show(findings: list[Finding]) -> str:
    """Findings line by line, each with its remedy."""
    lines: list[str] = []
    for one in findings:
        mark = "ok" if one.ok else "warn" if one.warning else "FAIL"
        lines.append(f"{mark:<5} {one.name}: {one.detail}")
        if not one.ok and one.remedy:
            lines.append(f"      remedy: {one.remedy}")
    return "\n".join(lines)


def _check(words: argparse.Namespace) -> int:
    found = app.check_files(words.files) if words.files is not None else app.check_org(settings_of(words))
    print(as_json(found) if words.json else show(found))
    return int(any(not one.ok and (words.strict or not one.warning) for one in found))


def _test(words: argparse.Namespace) -> int:
    trial = app.tried_files(words.files)
    results, failed = trial.results, [one for one in trial.results if one.fault]
    if words.json:
        print(as_json([*map(_untried, trial.faults), *map(_tried, results)]))
        return int(bool(failed or trial.faults))
    if trial.faults:
        print(show(list(trial.faults)))
        print("no case was tried: mend the rules first")
        return 1
    for one in failed:
        print(f"FAIL  {one.case.at} {one.case.name}: {one.fault}")
    print(f"{len(results) - len(failed)} of {len(results)} cases as expected")
    return int(bool(failed))


def _untried(one: Finding) -> dict[str, Any]:
    """A fault of the rules, in the shape of a case that failed."""
    return {"case": None, "at": one.name, "rule": None, "target": None, "fault": f"{one.detail}; {one.remedy}"}


def _tried(one: Tried) -> dict[str, Any]:
    rule = None if one.rule is None else one.rule.name
    where = None if one.rule is None else str(one.rule.where)
    return {"case": one.case.name, "at": str(one.case.at), "rule": rule, "target": where, "fault": one.fault or None}


def _pull(words: argparse.Namespace) -> int:
    got = app.pull(settings_of(words), words.to, force=words.force)
    code = int(got.wrote is app.Wrote.BESIDE)
    if words.json:
        print(
            as_json(
                {
                    "written": got.wrote is app.Wrote.RULES,
                    "wrote": got.wrote,
                    "differences": [_difference(one) for one in got.differences],
                }
            )
        )
        return code
    for one in () if got.first else got.differences:
        print(one)
    print(_pulled(got, words.to))
    return code


def _pulled(got: app.Got, folder: Path) -> str:
    match got.wrote:
        case app.Wrote.RULES:
            return f"wrote {folder}: {_since(got)}"
        case app.Wrote.KNOWN:
            return f"wrote {folder / ORG_FILE}; kept {folder / RULES_FILE}, its changes are not pushed yet"
        case app.Wrote.BESIDE:
            return (
                f"kept {folder / RULES_FILE}, its changes are not pushed yet; the org's rules are in "
                f"{folder / ORG_RULES_FILE}: merge them by hand into {RULES_FILE}, then `lead-router rules push "
                f"--from {folder}`: it makes the org's rules those of {RULES_FILE}"
            )


def _since(got: app.Got) -> str:
    many = len(got.differences)
    if got.first:
        return f"{_counted(many)}, pulled for the first time"
    if not many:
        return "no rule differs from the last pull"
    return f"{_counted(many)} {'differs' if many == 1 else 'differ'} from the last pull"


def _counted(many: int) -> str:
    return f"{many} rule{'s' * (many != 1)}"


def _push(words: argparse.Namespace) -> int:
    move = app.push(settings_of(words), words.folder, yes=words.yes, delete_all=words.delete_all)
    if words.json:
        print(as_json({"written": move.written, "differences": [_difference(one) for one in move.differences]}))
        return 0
    for one in move.differences:
        print(one)
    if not move.differences:
        print("the org's rules are those of the files")
    elif move.written:
        print(f"{_counted(len(move.differences))} written, in one transaction")
    else:
        print(f"{_counted(len(move.differences))} would change, nothing was written: add --yes to write")
    return 0


def _difference(one: Difference) -> dict[str, Any]:
    match one:
        case Added(rule=rule):
            return {"change": "added", "before": None, "after": _rule(rule)}
        case Removed(rule=rule):
            return {"change": "removed", "before": _rule(rule), "after": None}
        case Altered(before=before, after=after):
            return {"change": "altered", "before": _rule(before), "after": _rule(after)}


def _rule(rule: FileRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "precedence": rule.precedence,
        "criteria": rule.criteria,
        "target": str(rule.where),
        "active": rule.active,
    }
