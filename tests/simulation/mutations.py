"""The simulation is tested: production code is broken one line at a time, and some promise must turn red.

    PYTHONPATH=tests python -m simulation.mutations [--seeds 150] [--only NAME …]

Each mutation is made in a copy of the sources. One that no seed notices is a hole in the promises, unless another line
keeps them too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Mutation:
    """In `file`, below `src/lead_router` (or the repository, with a leading slash), `old` becomes `new`, once.

    `kept` says what keeps every promise all the same, where something does: the line saves work, or is a second guard.
    """

    name: str
    file: str
    old: str
    new: str
    kept: str = ""


_HELD = (
    "WHERE routing_job.id = CAST(r.value ->> 'id' AS BIGINT) AND routing_job.claim_token = r.value ->> 'token'\n"
    "      AND routing_job.status = 'working'"
)

MUTATIONS = (
    Mutation(
        "fence-end",
        "jobs/statements.py",
        f"lease_until = NULL\n    FROM {{rows}}\n    {_HELD}",
        f"lease_until = NULL\n    FROM {{rows}}\n    {_HELD.partition(' AND ')[0]}",
    ),
    Mutation(
        "fence-listener",
        "jobs/listener_statements.py",
        "AND l.channel = :fence_channel AND l.generation = CAST(:fence AS BIGINT)\n    ))",
        "AND l.channel = :fence_channel\n    ))",
        kept="an older position only hears events again, and their jobs are there",
    ),
    Mutation(
        "fence-renew",
        "loops/routing.py",
        "if lost:",
        "if False:",
        kept="the ledger's keys refuse the second one; it saves calls",
    ),
    Mutation(
        "position-first",
        "jobs/store.py",
        "        answers = self._engine.write(steps)\n        if hold",
        "        answers = [*self._engine.write(steps[:-1]), *self._engine.write(steps[-1:])]\n        if hold",
    ),
    Mutation(
        "stored-before-record",
        "loops/intake.py",
        "        recorded = self._store.record(",
        "        self._source.stored(delivery)\n        recorded = self._store.record(",
    ),
    Mutation(
        "no-owner-guard",
        "/salesforce_metadata/force-app/main/default/objects/Lead/validationRules/Routing_Owner_Moved.validationRule-meta.xml",
        "<active>true</active>",
        "<active>false</active>",
    ),
    Mutation(
        "no-turn-guard",
        "/salesforce_metadata/force-app/main/default/objects/Round_Robin_Group__c/validationRules/Turn_Moved.validationRule-meta.xml",
        "<active>true</active>",
        "<active>false</active>",
    ),
    Mutation(
        "unknown-is-committed",
        "loops/routing.py",
        "                if self._org.committed(batch):",
        "                if True:",
    ),
    Mutation(
        "unknown-is-lost",
        "loops/routing.py",
        "                if self._org.committed(batch):",
        "                if False:",
        kept="the identical request meets its own key and ends as already routed",
    ),
    Mutation(
        "turn-taken-is-done",
        "loops/receipts.py",
        "            case TurnTaken():\n                pass",
        "            case TurnTaken():\n                endings |= {job.lead_id: Done('taken') for job in jobs}",
    ),
    Mutation(
        "moved-is-done",
        "loops/receipts.py",
        "                moved.add(lead_id)",
        "                endings[lead_id] = Done('moved')",
    ),
    Mutation(
        "gone-is-buried",
        "loops/receipts.py",
        'endings[lead_id] = Done(f"skipped: {reason}")',
        "endings[lead_id] = Bury(reason)",
    ),
    Mutation(
        "rep-gone-is-buried",
        "loops/receipts.py",
        "                unfit.add(user_id)",
        "                endings |= {job.lead_id: Bury(user_id) for job in jobs}",
    ),
    Mutation(
        "already-routed-again",
        "loops/receipts.py",
        'endings[lead_id] = Done("already routed")',
        "moved.add(lead_id)",
        kept="decided anew it finds its own stamp",
    ),
    Mutation(
        "no-refund", "jobs/statements.py", "THEN attempts - 1 ELSE attempts END", "THEN attempts ELSE attempts END"
    ),
    Mutation(
        "lease-for-ever",
        "jobs/statements.py",
        "(j.status = 'queued' OR j.lease_until <= {now})",
        "(j.status = 'queued')",
    ),
    Mutation("no-auto-assign-header", "salesforce/writes.py", '"FALSE"', '"TRUE"'),
    Mutation(
        "echoes-heard",
        "salesforce/changes.py",
        '    if f"client={client}" in change.origin.split(";")[1:]:\n        return True\n',
        "    return False\n",
        kept="a change to a person's ownership asks for nothing",
    ),
    Mutation("debt-clamp", "core/rotation.py", "OWED_TURNS = 2", "OWED_TURNS = 0"),
    Mutation("stride-of-one", "core/rotation.py", "return SECOND // member.weight", "return SECOND"),
    Mutation(
        "no-overtaking-check", "core/choice.py", "    if older is None:\n        return None\n", "    return None\n"
    ),
    Mutation(
        "waiting-not-kept",
        "loops/asks.py",
        "hold.group_id, hold.ask.event_at, submission)",
        "None, hold.ask.event_at, submission)",
    ),
    Mutation(
        "no-sweep",
        "loops/upkeep.py",
        "        if reason is None:\n            return False\n        seen = found = 0",
        "        if reason is None or reason:\n            return False\n        seen = found = 0",
    ),
    Mutation(
        "gap-without-sweep",
        "loops/intake.py",
        'sweep = delivery.gap or ("unreadable event" if unreadable else None)',
        "sweep = None",
    ),
    Mutation(
        "sweep-forgotten-on-fault",
        "loops/upkeep.py",
        "            self._store.request_sweep(reason)\n            raise",
        "            raise",
    ),
    Mutation(
        "round-of-lead-alone",
        "core/table.py",
        "return max(lead.round, *(row.round for row in table.rows.get(lead.id, ())), 0)",
        "return 0",
    ),
    Mutation(
        "owned-is-routed",
        "core/reopening.py",
        'return Settled("already owned") if again is None else',
        "return Wanted() if again is None else",
    ),
    Mutation(
        "no-release-of-claims",
        "loops/worker.py",
        "        self._store.end([(job, Release(delay, why)) for job in routing.open.values()])",
        "        del delay",
    ),
    Mutation(
        "breaker-for-ever", "loops/breaker.py", "return max(0.0, self._until - self._monotonic())", "return self._until"
    ),
    Mutation("released-as-retry", "loops/worker.py", "Release(delay, why)", "Bury(why)"),
    Mutation(
        "renumbered-position-kept",
        "salesforce/replay.py",
        "        self.position = self._at(self._ids.retained)\n        self._open = self._ids.retained",
        "        pass",
        kept="the expired id is refused again, and again all that is retained is heard",
    ),
    Mutation(
        "members-not-written",
        "salesforce/writes.py",
        "        MemberFields.LEADS_RECEIVED: member.leads_received,\n",
        "",
    ),
    Mutation(
        "duplicates-take-turns",
        "core/siblings.py",
        "        if _is_person(owner_id, siblings):\n            return Trail(lead_id, owner_id)\n    waiting",
        "        pass\n    waiting",
    ),
    Mutation(
        "inactive-get-leads",
        "core/duty.py",
        "    if not member.user_active:",
        "    if False:",
        kept="Salesforce refuses the owner, who is then left out",
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m simulation.mutations", description=__doc__)
    parser.add_argument("--seeds", type=int, default=150)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    blind = 0
    for mutation in MUTATIONS:
        if asked.only and mutation.name not in asked.only:
            continue
        found = _play(mutation, asked)
        told = f"not seen: {mutation.kept}" if mutation.kept else "NOT SEEN"
        red = ", ".join(f"{name} {count}" for name, count in found.most_common()) or told
        blind += not found and not mutation.kept
        sys.stdout.write(f"{mutation.name:28}{red}\n")
        sys.stdout.flush()
    return 1 if blind else 0


def _play(mutation: Mutation, asked: argparse.Namespace) -> Counter[str]:
    """Broken promises of the mutated sources, each by the number of seeds that saw it."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        for name in ("src", "salesforce_metadata", "tests/simulation"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        mutate(mutation, copy)
        words = [
            "--seeds",
            str(asked.seeds),
            "--first",
            str(asked.first),
            "--processes",
            str(asked.processes),
            "--json",
        ]
        ended = subprocess.run(
            [sys.executable, "-m", "simulation", *words],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'tests'}"},
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode not in {0, 1} or not ended.stdout:
        return Counter({f"did not run: {ended.stderr[-300:]}": 1})
    seeds = json.loads(ended.stdout)
    return Counter(name for several in seeds.values() for name in {what.partition(":")[0] for what in several})


def source(mutation: Mutation, root: Path) -> Path:
    """The file that is broken."""
    return root / mutation.file[1:] if mutation.file.startswith("/") else root / "src/lead_router" / mutation.file


def mutate(mutation: Mutation, root: Path) -> None:
    """Break the one line; raises ValueError where it is not there once."""
    path = source(mutation, root)
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        raise ValueError(f"{mutation.name}: the line is there {text.count(mutation.old)} times")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
