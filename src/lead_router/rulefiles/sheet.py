"""Leads from a CSV file, whose columns are API names of Lead fields."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lead_router.errors import Misconfigured
from lead_router.rulefiles import fieldvalues
from lead_router.rulefiles.cases import put
from lead_router.rulefiles.opened import legible

ROWS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """Leads' fields, nested as Salesforce's JSON nests them, and the line on which each stands."""

    leads: tuple[Mapping[str, Any], ...]
    lines: tuple[int, ...]


def read_sheet(path: Path, fields: Mapping[str, str]) -> Sheet:
    """The leads of a UTF-8 file; raises Misconfigured naming line and column, and never a value."""
    leads: list[Mapping[str, Any]] = []
    lines: list[int] = []
    try:
        with legible(path, "CSV UTF-8"), path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            columns = _columns(next(rows, []), fields, path)
            for row in rows:
                if not any(row):
                    continue
                if len(leads) == ROWS_MAX:
                    raise Misconfigured(f"{path.name} has more than {ROWS_MAX} leads: plan them in parts")
                leads.append(_lead(row, columns, f"{path.name}:{rows.line_num}", fields))
                lines.append(rows.line_num)
    except csv.Error as fault:
        raise Misconfigured(f"{path.name}: this is not CSV: {fault}") from None
    return Sheet(tuple(leads), tuple(lines))


def _columns(heads: Sequence[str], fields: Mapping[str, str], path: Path) -> tuple[str, ...]:
    if not any(head.strip() for head in heads):
        raise Misconfigured(f"{path.name}:1: the first line names the columns, and there is none")
    columns: list[str] = []
    for mark, word in (";", "semicolons"), ("\t", "tabs"):
        if len(heads) == 1 and mark in heads[0]:
            raise Misconfigured(f"{path.name}:1: {word} separate the columns: save it as CSV with commas")
    for head in heads:
        try:
            column = fieldvalues.spelt(head.strip(), fields)
        except Misconfigured as fault:
            raise Misconfigured(f"{path.name}:1: {fault}") from None
        if column in columns:
            raise Misconfigured(f"{path.name}:1: column {column} stands there twice")
        columns.append(column)
    return tuple(columns)


def _lead(row: Sequence[str], columns: Sequence[str], at: str, fields: Mapping[str, str]) -> dict[str, Any]:
    if len(row) != len(columns):
        raise Misconfigured(f"{at}: {len(row)} values for {len(columns)} columns")
    lead: dict[str, Any] = {}
    for column, cell in zip(columns, row, strict=True):
        try:
            put(lead, column, fieldvalues.of_text(column, fields[column], cell))
        except Misconfigured as fault:
            raise Misconfigured(f"{at}: {fault}") from None
    return lead
