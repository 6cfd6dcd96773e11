from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Row: TypeAlias = "Mapping[str, Any]"
"""A record as stored: the schema's field names, values as Salesforce's JSON has them. Never changed in place."""

CREATE = "CREATE"
UPDATE = "UPDATE"
DELETE = "DELETE"
UNDELETE = "UNDELETE"


@dataclass(frozen=True, slots=True)
class RowChange:
    """One save of a committed transaction. `before` is None for CREATE, `after` is None for DELETE.

    `origin` is the finished `changeOrigin` (empty for changes made by the org itself); `sequence` counts from 1 in
    the transaction; `commit_number` rises with every commit.
    """

    sobject: str
    id: str
    kind: str
    before: Row | None
    after: Row | None
    at: datetime
    user_id: str
    origin: str
    transaction_key: str
    sequence: int
    commit_number: int
