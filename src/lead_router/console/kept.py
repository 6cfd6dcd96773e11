"""Kept: the plans that were made lately, each for the browser that asked; and as a file for a spreadsheet."""

from __future__ import annotations

import csv
import io
import secrets
import threading
from collections import OrderedDict
from dataclasses import fields

from lead_router.app import Plan
from lead_router.app.planning import Planned

KEPT_MAX = 8
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}")
"""What makes a spreadsheet take a cell for a formula, or may once it has cut blanks away."""


class KeptPlans:
    """The KEPT_MAX plans that were made last; only who asked for one finds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plans: OrderedDict[str, tuple[str, str, Plan]] = OrderedDict()

    def keep(self, visitor: str, name: str, plan: Plan) -> str:
        """The key by which the plan of that file is found."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self._plans[key] = (visitor, name, plan)
            while len(self._plans) > KEPT_MAX:
                self._plans.popitem(last=False)
        return key

    def found(self, visitor: str, key: str) -> tuple[str, Plan] | None:
        """The file's name and its plan, None where it is another's, or gone."""
        with self._lock:
            owner, name, plan = self._plans.get(key, ("", "", None))
        return (name, plan) if plan is not None and owner == visitor else None


def as_csv(plan: Plan) -> str:
    """The columns of `lead-router plan --format csv`, in which no cell is a formula."""
    out = io.StringIO()
    names = [one.name for one in fields(Planned)]
    rows = csv.writer(out, lineterminator="\r\n")
    rows.writerow(names)
    rows.writerows([inert(getattr(one, name)) for name in names] for one in plan.leads)
    return out.getvalue()


def inert(cell: object) -> object:
    """The cell as a text that no spreadsheet carries out; numbers as they are."""
    if isinstance(cell, str) and cell.lstrip(" ").startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell
