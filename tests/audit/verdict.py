"""What an audit of the installed packages found, from what pip-audit printed."""

from __future__ import annotations

import json
from typing import Any

SKIPPED = "audit skipped: "
SHOWN = 5  # names of packages that nobody could look up


def verdict(printed: str, failure: str = "") -> tuple[int, list[str]]:
    """The exit code and the lines to print. `printed` is pip-audit's JSON; without one, `failure` says why.

    A finding is 1. Where the service of advisories did not answer, or knew none of the packages, nothing was audited:
    that is said, and is no fault of this code.
    """
    try:
        packages: list[dict[str, Any]] = json.loads(printed)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, [f"{SKIPPED}no answer of the service of advisories ({failure or 'it printed nothing'})"]
    known = [package for package in packages if "skip_reason" not in package]
    unknown = sorted(package["name"] for package in packages if "skip_reason" in package)
    if not known:
        return 0, [f"{SKIPPED}the service of advisories knows none of the {len(packages)} packages"]
    found = [_told(package, vulnerability) for package in known for vulnerability in package["vulns"]]
    lines = [*found, f"audited {len(known)} packages: {len(found) or 'no'} known vulnerabilities"]
    if unknown:
        more = f" and {len(unknown) - SHOWN} more" * (len(unknown) > SHOWN)
        lines.append(f"{SKIPPED}{len(unknown)} packages, not known there: {', '.join(unknown[:SHOWN])}{more}")
    return (1 if found else 0), lines


def _told(package: dict[str, Any], vulnerability: dict[str, Any]) -> str:
    fixed = ", ".join(vulnerability.get("fix_versions") or ()) or "no version yet"
    return f"{package['name']} {package['version']}: {vulnerability['id']}, mended in {fixed}"
