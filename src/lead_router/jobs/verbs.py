"""What every part of the store does with a statement: it is one org's, and goes to one engine."""

from __future__ import annotations

from typing import Any

from lead_router.jobs.engine import Engine, Row, Step


class Verbs:
    """The statements of one org on one engine."""

    def __init__(self, engine: Engine, *, org_id: str) -> None:
        self._engine = engine
        self._org_id = org_id

    def _step(self, statement: str, **values: Any) -> Step:
        return statement, {"org_id": self._org_id, **values}

    def _write(self, statement: str, **values: Any) -> list[Row]:
        return self._engine.write([self._step(statement, **values)])[0]

    def _read(self, statement: str, **values: Any) -> list[Row]:
        return self._engine.read([self._step(statement, **values)])[0]
