"""An audit that could not be made is told as such, and one that found something is red."""

from __future__ import annotations

import json

from audit.verdict import verdict

SOUND = {"name": "requests", "version": "2.34.2", "vulns": []}
BAD = {"name": "old", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}, {"id": "GHSA-2"}]}
UNKNOWN = {"name": "ours", "skip_reason": "not found"}


def of(*packages):
    return verdict(json.dumps({"dependencies": packages, "fixes": []}))


def test_a_finding_is_red_and_names_the_version_that_mends_it():
    """Whoever reads the line knows what to raise."""
    code, lines = of(SOUND, BAD)
    assert code == 1
    assert lines[:2] == ["old 1.0: PYSEC-1, mended in 1.1", "old 1.0: GHSA-2, mended in no version yet"]


def test_sound_packages_are_counted():
    """Green, with what was looked at."""
    assert of(SOUND) == (0, ["audited 1 packages: no known vulnerabilities"])


def test_what_was_not_audited_is_said():
    """pip-audit itself calls it green when it could look nothing up: "No known vulnerabilities found"."""
    assert of(UNKNOWN) == (0, ["audit skipped: the service of advisories knows none of the 1 packages"])
    assert of(SOUND, UNKNOWN)[1][-1] == "audit skipped: 1 packages, not known there: ours"
    code, (line,) = verdict("", "ServiceError: no route")
    assert (code, line) == (0, "audit skipped: no answer of the service of advisories (ServiceError: no route)")
