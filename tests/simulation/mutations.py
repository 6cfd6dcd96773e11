"""The simulation is tested: production code is broken one line at a time, and some promise must turn red.

    PYTHONPATH=tests python -m simulation.mutations [--seeds 300] [--enough 5] [--only NAME …] [--write]

Each mutation is made in a copy of the sources. One that no seed notices is a hole in the promises, unless another line
keeps them too: then both are broken, and that must be noticed. `--write` puts what was found into MUTATIONS.md.
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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tests/apex/node_modules"
TABLE = Path(__file__).with_name("MUTATIONS.md")
HEAD = """# What the plays notice

Written by `PYTHONPATH=tests python -m simulation.mutations --write`: production is broken as `mutations.py` says, seeds
are played until some are red, and the promises of `promises.py` and `duties.py` that turned red are counted by seeds.
Where a row says "not seen" another line keeps the promises; what is broken together with that line follows it. Rows not
played yet are missing.

| Broken | Red promises | Red seeds |
|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Mutation:
    """In `file`, below `src/lead_router` (or the repository, with a leading slash), `old` becomes `new`, once.

    `kept` says what keeps every promise all the same, where something does: the line saves work, or is a second guard.
    `guards` are the mutations that break what keeps them; with all of these made, some promise must turn red.
    """

    name: str
    file: str
    old: str
    new: str
    kept: str = ""
    guards: tuple[str, ...] = ()


_OBJECTS = "/salesforce_metadata/force-app/main/default/objects"
_ORG = ("no-owner-guard", "no-turn-guard", "no-job-key", "no-lead-key", "no-turn-key")
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
        "AND l.channel = :fence_channel AND l.generation = CAST(:fence AS BIGINT) AND l.holder = :fence_holder\n    ))",
        "AND l.channel = :fence_channel\n    ))",
    ),
    Mutation(
        "fence-renew",
        "loops/routing.py",
        "kept = self._store.renew(tuple(self.open.values()), lease_s=self._lease_s)",
        "kept = {job.id for job in self.open.values()}",
        kept="the org's rules refuse what another process has routed meanwhile",
        guards=_ORG,
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
        "        recorded = self._recorded(",
        "        self._source.stored(delivery)\n        recorded = self._recorded(",
    ),
    Mutation(
        "no-owner-guard",
        f"{_OBJECTS}/Lead/validationRules/Routing_Owner_Moved.validationRule-meta.xml",
        "<active>true</active>",
        "<active>false</active>",
    ),
    Mutation(
        "no-turn-guard",
        f"{_OBJECTS}/Round_Robin_Group__c/validationRules/Turn_Moved.validationRule-meta.xml",
        "<active>true</active>",
        "<active>false</active>",
    ),
    *(
        Mutation(
            name,
            f"{_OBJECTS}/Lead_Assignment__c/fields/{field}.field-meta.xml",
            "<unique>true</unique>",
            "<unique>false</unique>",
            kept=other and f"{other} refuses the same write",
            guards=_ORG,
        )
        for name, field, other in (
            ("no-job-key", "Idempotency_Key__c", "the lead's key, or the rule of its owner"),
            ("no-lead-key", "Lead_Key__c", "the rule of its owner"),
            ("no-turn-key", "Turn_Key__c", ""),
        )
    ),
    Mutation(
        "unknown-is-committed",
        "loops/sending.py",
        "            if org.committed(*several):",
        "            if True:",
    ),
    Mutation(
        "unknown-is-lost",
        "loops/sending.py",
        "            if org.committed(*several):",
        "            if False:",
        kept="the org's rules and keys refuse the identical request, each for itself",
        guards=_ORG,
    ),
    Mutation(
        "set-back-from-anybody",
        "core/reopening.py",
        "return later and stands and not _given_since(table, lead, ask.event_at)",
        "return later and stands",
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
        kept="the event of whatever moved it asks anew",
        guards=("returns-unheard",),
    ),
    Mutation(
        "returns-unheard",
        "loops/intake.py",
        "                cause = cause_of(change, configuration)\n",
        "                owner = change.fields.get('OwnerId')\n"
        "                if change.change_type == 'UPDATE' and owner in configuration.intake_owners:\n"
        "                    continue\n                cause = cause_of(change, configuration)\n",
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
        kept="decided anew it finds its own key in the ledger",
        guards=("own-key-unread",),
    ),
    Mutation(
        "own-key-unread",
        "core/reopening.py",
        'if ask.idempotency_key in table.routed:\n        return Settled("already routed")',
        'if False:\n        return Settled("already routed")',
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
        "        if reason is None:\n            return False\n        seen = found = missed = 0",
        "        if reason is None or reason:\n            return False\n        seen = found = missed = 0",
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
        "            self._store.request_sweep(reason)\n            self._unmade = None\n            raise",
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
        "        self._store.end([(job, Release(after_s, why, keeps_place=True)) for job in routing.open.values()])",
        "        del after_s",
    ),
    Mutation(
        "breaker-for-ever", "loops/breaker.py", "return max(0.0, self._until - self._monotonic())", "return self._until"
    ),
    Mutation("released-as-retry", "loops/worker.py", "Release(after_s, why, keeps_place=True)", "Bury(why)"),
    Mutation("held-loses-its-place", "jobs/writing.py", '{"keeps": "place"} if keeps_place else {}', "{}"),
    Mutation(
        "sweep-without-lease",
        "jobs/sweeping.py",
        "      AND (kept_until IS NULL OR kept_until > {now})\n",
        "",
    ),
    Mutation(
        "returned-without-sweep",
        "loops/routing.py",
        "        sweep = RETURNED if any(one.returned for one in made if isinstance(one, Skip)) else None",
        "        sweep = None",
    ),
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
    ),
    Mutation(
        "absent-get-leads",
        "core/duty.py",
        "return _absent(member, moment) or _outside(member, group, moment)",
        "return _outside(member, group, moment)",
    ),
    Mutation(
        "first-rule-for-all",
        "core/rules.py",
        "(one.rule for one in book.rules if one.criteria.matches(lead.seen, at))",
        "(one.rule for one in book.rules)",
    ),
    Mutation(
        "status-asks-nobody",
        "core/rules.py",
        "return not routed_before and status_is_intake(book, lead, at)",
        "return False",
    ),
    Mutation(
        "set-back-for-ever",
        "core/rules.py",
        "return not routed_before and status_is_intake(book, lead, at)",
        "return status_is_intake(book, lead, at)",
    ),
    Mutation(
        "same-group-anew",
        "core/reopening.py",
        "if chosen is None or group.id in {one.id for one in chain(chosen, table.groups)}:",
        "if chosen is None:",
    ),
    Mutation(
        "clock-takes-from-all",
        "core/terms.py",
        "if lead.is_converted or row.assigned_to != lead.owner_id or given_on(snapshot, lead, row):",
        "if lead.is_converted:",
    ),
)


@dataclass(frozen=True, slots=True)
class Found:
    """Of so many `seeds` played, so many were `red`; `promises` counts each broken one by the seeds that saw it."""

    seeds: int
    red: int
    promises: Counter[str]

    def told(self) -> str:
        """The promises, by how many seeds saw each."""
        return ", ".join(f"{name} {count}" for name, count in self.promises.most_common())


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m simulation.mutations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=300, help="how many at most (%(default)s)")
    parser.add_argument(
        "--enough", type=int, default=5, help="so many are red: the next mutation is made (%(default)s)"
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed (%(default)s)")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="how many play (%(default)s, the cores)"
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help=f"these rows of {TABLE.name}; else all")
    parser.add_argument("--write", action="store_true", help=f"put the rows into {TABLE.name}, where the others stay")
    asked = parser.parse_args()
    blind = 0
    for name, several in experiments().items():
        if asked.only and not {name, name.partition(" ")[0]} & set(asked.only):
            continue
        found = _play(several, asked)
        kept = several[0].kept if len(several) == 1 else ""
        blind += not found.red and not kept
        told = found.told() or (f"not seen: {kept}" if kept else "NOT SEEN")
        row = f"| {name} | {told} | {found.red} of {found.seeds} |"
        sys.stdout.write(row + "\n")
        sys.stdout.flush()
        if asked.write:
            write({name: row})
    return 1 if blind else 0


def experiments() -> dict[str, tuple[Mutation, ...]]:
    """What is broken at once, by the first words of its row: each line alone, and with it all that keeps its promise.

    Where several lines keep it these are broken without it too, so that the difference is seen.
    """
    known = {mutation.name: mutation for mutation in MUTATIONS}
    found: dict[str, tuple[Mutation, ...]] = {}
    for one in MUTATIONS:
        found[one.name] = (one,)
        if one.name not in one.guards and one.guards:
            found[f"{one.name} and {_title(one.guards)}"] = (one, *(known[name] for name in one.guards))
    found[_title(_ORG)] = tuple(known[name] for name in _ORG)
    return found


def _title(guards: tuple[str, ...]) -> str:
    return "no-guard-in-the-org" if guards == _ORG else " and ".join(guards)


def write(rows: Mapping[str, str]) -> None:
    """Put the rows into the table; rows of mutations that were not made now stay, those of none that there is go."""
    before = {
        line.split(" | ")[0][2:]: line for line in TABLE.read_text(encoding="utf-8").splitlines() if " | " in line
    }
    known = {**before, **rows}
    TABLE.write_text("\n".join([HEAD, *(known[name] for name in experiments() if name in known), ""]), encoding="utf-8")


def _play(several: tuple[Mutation, ...], asked: argparse.Namespace) -> Found:
    """What the mutated sources break, in as many seeds as it takes. Raises RuntimeError where they cannot be played."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        copied(copy)
        for mutation in several:
            mutate(mutation, copy)
        names = ("seeds", "first", "enough", "processes")
        words = [word for name in names for word in (f"--{name}", str(getattr(asked, name)))]
        ended = subprocess.run(
            [sys.executable, "-m", "simulation", *words, "--json"],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'tests'}"},
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode not in {0, 1} or not ended.stdout:
        raise RuntimeError(ended.stderr[-300:])
    seeds: dict[str, list[str]] = json.loads(ended.stdout)
    red = [{what.partition(":")[0] for what in broken} for broken in seeds.values() if broken]
    return Found(len(seeds), len(red), Counter(name for one in red for name in sorted(one)))


def copied(copy: Path) -> None:
    """Put all that a play is made of into the folder."""
    for name in ("src", "salesforce_metadata", "tests/simulation", "tests/support"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    if TOOLS.is_dir():  # of the parser: without it no copy plays the trigger
        (copy / "tests/apex").mkdir()
        (copy / "tests/apex/node_modules").symlink_to(TOOLS, target_is_directory=True)


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
