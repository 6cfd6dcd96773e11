"""The shipped metadata, copied and changed: what an org looks like where an admin added or forgot something."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2] / "salesforce_metadata"
OBJECTS = Path("force-app/main/default/objects")
RULE = """<?xml version="1.0" encoding="UTF-8"?>
<ValidationRule xmlns="http://soap.sforce.com/2006/04/metadata">
    <fullName>{name}</fullName>
    <active>true</active>
    <errorConditionFormula>{formula}</errorConditionFormula>
    <errorMessage>{text}</errorMessage>
</ValidationRule>
"""


def copied(to: Path) -> Path:
    """A copy of the shipped metadata at `to`."""
    return Path(shutil.copytree(ROOT, to))


def add_rule(metadata: Path, sobject: str, name: str, formula: str, text: str) -> None:
    """Add an active validation rule; the formula is XML text."""
    folder = metadata / OBJECTS / sobject / "validationRules"
    (folder / f"{name}.validationRule-meta.xml").write_text(RULE.format(name=name, formula=formula, text=text))


def drop_field(metadata: Path, sobject: str, field: str) -> None:
    """As if the field had never been deployed."""
    (metadata / OBJECTS / sobject / "fields" / f"{field}.field-meta.xml").unlink()


def drop_object(metadata: Path, sobject: str) -> None:
    """As if the object had never been deployed."""
    shutil.rmtree(metadata / OBJECTS / sobject)
