"""Histories by seed: whatever happens to routers, wire, stream, database, clock and org, every promise holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from simulation.__main__ import replay
from simulation.mutations import MUTATIONS, TABLE, Mutation, copied, experiments, source
from simulation.play import played
from simulation.promises import broken
from simulation.shared import shared
from support.postgres import Server

SEEDS, BLOCK, SEEDS_SHARED = 300, 10, 6
TESTS = Path(__file__).parents[1]
FINGERPRINTS = """
from simulation.play import played
for seed in range(4):
    with played(seed) as play:
        print(play.fingerprint)
"""


@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_every_promise_holds_in_every_history(first: int):
    """No lead lost or routed twice, no turn or round left out, in any of these plays (see promises.py)."""
    for seed in range(first, first + BLOCK):
        with played(seed) as play:
            assert broken(play) == [], replay(seed)


@pytest.mark.apex
def test_the_shipped_apex_gives_leads_beside_the_routers_outside():
    """In one rotation with them, under the same promises; where its parser is missing a stand-in plays, in sight."""
    counts: Counter[str] = Counter()
    for seed in range(3):
        with played(seed, apex=True) as play:
            assert broken(play) == [], replay(seed, apex=True)
            counts.update(play.counts)

    assert counts["routers: trigger"] == 3
    assert min(counts["ledger: inside"], counts["ledger: outside"]) > 0


def test_routers_that_platform_events_ask_keep_every_promise():
    """Instead of changes they hear `Lead_Routing_Requested__e`; no job of theirs is made by an event of changes."""
    told: Counter[str] = Counter()
    for seed in range(3):
        with played(seed, requests=True) as play:
            assert broken(play) == [], replay(seed, requests=True)
            jobs = [job for host in play.hosts for job in host.jobs()]
            told.update(json.loads(job["payload"]).get("change_type", "by itself") for job in jobs)

    assert told["REQUESTED"] > 0
    assert not {"CREATE", "UPDATE", "UNDELETE"} & told.keys()


@pytest.mark.postgres
@pytest.mark.parametrize("seed", range(SEEDS_SHARED))
def test_every_promise_holds_on_postgresql(seed: int, postgres_server: Server):
    """The same on the other engine, whose clock goes on by itself: a seed's history is not the same each time."""
    with (
        shared(postgres_server.new_database) as databases,
        played(seed, engine=databases.engine, elapsed=databases.elapsed) as play,
    ):
        assert broken(play) == []


def test_a_seed_tells_the_same_history_again():
    """In this process and in another one that hashes differently: no set, dice or clock of the host has a say."""
    here = []
    for seed in range(4):
        with played(seed) as play:
            here.append(play.fingerprint)
    environment = {**os.environ, "PYTHONHASHSEED": "11", "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)])}

    there = subprocess.run(
        [sys.executable, "-c", FINGERPRINTS], env=environment, capture_output=True, text=True, check=True
    )

    assert [line for line in there.stdout.splitlines() if len(line) == 64] == here
    assert len(set(here)) == 4


def test_many_seeds_are_spread_over_processes():
    """What `make soak` runs: each process of the pool plays its seeds, and all are counted."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)])}
    words = [sys.executable, "-m", "simulation", "--seeds", "3", "--processes", "2"]

    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "3 seeds in" in ended.stdout


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_what_a_mutation_breaks_is_there(mutation: Mutation):
    """The line stands in production once, and is changed: else the table of mutations would tell of nothing."""
    assert source(mutation, TESTS.parent).read_text(encoding="utf-8").count(mutation.old) == 1
    assert mutation.old != mutation.new


def test_a_copy_to_be_broken_holds_all_that_a_play_is_made_of(tmp_path: Path):
    """Else no mutation could be played, and no row of the table be written again."""
    copied(tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{tmp_path / 'tests'}"}
    words = [sys.executable, "-c", "import simulation.single; print(simulation.single.__file__)"]

    ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert (ended.stdout.strip(), ended.stderr) == (str(tmp_path / "tests/simulation/single.py"), "")


def test_the_table_of_mutations_has_no_hole():
    """Each row is of what can be broken still, in its order, and none says that nobody saw what nothing else keeps."""
    text = TABLE.read_text(encoding="utf-8")
    rows = [line.split(" | ")[0][2:] for line in text.splitlines() if " | " in line][1:]

    assert rows == [name for name in experiments() if name in rows]
    assert "NOT SEEN" not in text
