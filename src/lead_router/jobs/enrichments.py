"""Enrichments: leads that providers are asked about, each once, and what they answered."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lead_router.jobs import enriching as sql
from lead_router.jobs.engine import Row, Step
from lead_router.jobs.verbs import Verbs
from lead_router.jobs.writing import in_ms, listed, storable
from lead_router.ports import Again, EnrichmentView, Found, Known, NewJob, Over, Settlement, Stage, Taken, Wanted


class SqlEnrichments(Verbs):
    """See Enrichments."""

    def take_enrichments(self, stage: Stage, *, limit: int, lease_s: float) -> list[Taken]:
        """Reads first, as it is asked all the time. Not synced: a claim that a lost machine forgot is made again."""
        if limit < 1 or not self._read(sql.DUE[stage]):
            return []
        values = {"limit": limit, "lease_ms": in_ms(lease_s), "token": uuid.uuid4().hex}
        rows = self._engine.write([self._step(sql.TAKE[stage], **values)], synced=False)[0]
        return [_taken(row) for row in sorted(rows, key=lambda row: (-row["asked_at"], row["lead_id"]))]

    def settle(self, settled: Sequence[tuple[Taken, Settlement]]) -> int:
        """An answer is paid for: it is kept with the job made due, or neither is."""
        if not settled:
            return 0
        rows = listed(_settled(one, how) for one, how in sorted(settled, key=lambda pair: pair[0].lead_id))
        over = sorted(one.lead_id for one, how in settled if not isinstance(how, Again))
        due = self._step(sql.ASK_UNCLAIMED, rows=listed({"lead_id": lead_id} for lead_id in over))
        return len(self._engine.write([self._step(sql.SETTLE, rows=rows), due])[1])

    def enrichments(self, lead_ids: Sequence[str]) -> Mapping[str, Known]:
        """What is known of these leads, by id."""
        rows = self._read(sql.KNOWN, rows=listed({"lead_id": lead_id} for lead_id in lead_ids)) if lead_ids else []
        return {row["lead_id"]: Known(row["status"], _result(row)) for row in rows}

    def answered(self, inputs: Sequence[str], *, within_s: float) -> Mapping[str, tuple[Mapping[str, Any], float]]:
        """The newest answer of each."""
        asked = listed({"inputs": one} for one in sorted(set(inputs)))
        rows = self._read(sql.ANSWERED, rows=asked, within_ms=in_ms(within_s)) if inputs and within_s > 0 else []
        return {row["inputs"]: (json.loads(row["result"]), row["age_ms"] / 1000) for row in rows}

    def enrichment(self) -> EnrichmentView:
        """All of it at a glance."""
        (row,) = self._read(sql.COUNTED)
        return EnrichmentView(row["asked"], row["found"], row["failed"])

    def forget_enrichments(self, *, older_than_s: float, limit: int) -> int:
        """The oldest first; also those that wait for a provider which nobody asks any more."""
        return len(self._write(sql.FORGET, older_ms=in_ms(older_than_s), limit=limit))

    def _wanted(self, jobs: Iterable[NewJob], wanted: Wanted, fence: Mapping[str, Any]) -> Step:
        """To be carried out before the jobs are recorded."""
        rows = listed({"lead_id": job.lead_id, "idempotency_key": job.idempotency_key} for job in jobs)
        return self._step(sql.WANT, rows=rows, stage=wanted.stage, delay_ms=in_ms(wanted.delay_s), **fence)


def _taken(row: Row) -> Taken:
    return Taken(
        lead_id=row["lead_id"],
        token=row["claim_token"],
        attempts=row["attempts"],
        age_s=row["age_ms"] / 1000,
        inputs=row["inputs"],
        result=_result(row),
        answered_age_s=(row["answered_age_ms"] or 0) / 1000,
    )


def _result(row: Row) -> Mapping[str, Any] | None:
    return None if row["result"] is None else dict(json.loads(row["result"]))


def _settled(one: Taken, how: Settlement) -> Mapping[str, Any]:
    held = {"lead_id": one.lead_id, "token": one.token, "delay_ms": 0}
    match how:
        case Found(inputs, result, delay_s, age_s):
            kept = {"inputs": inputs, "result": json.dumps(dict(result)), "answered_age_ms": in_ms(age_s)}
            return {**held, "verb": "found", "delay_ms": in_ms(delay_s), **kept}
        case Again(delay_s, reason, counts):
            verb = "again" if counts else "release"
            return {**held, "verb": verb, "delay_ms": in_ms(delay_s), "reason": storable(reason)}
        case Over(reason, failed):
            return {**held, "verb": "failed" if failed else "done", "reason": storable(reason)}
