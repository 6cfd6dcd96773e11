"""The judge and the table of the queue benchmark."""

from __future__ import annotations

import json

import pytest

from benchmarks import queues, queues_report
from benchmarks import queues_floor as floor
from benchmarks.queues import WrongWork, judge, rate, works
from benchmarks.queues_report import FREE, ORDERED, SINGLE

GIVEN = works(4, 2)  # keys 0 1 0 1


def test_each_job_once_in_the_order_of_its_key_is_right():
    """Keys may overtake one another; one transaction may end several jobs at the same moment."""
    judge(GIVEN, [(1, 10), (0, 20), (2, 20), (3, 30)], "a way")


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ([(0, 1), (1, 2), (2, 3)], "3 of them were run, 3 times"),
        ([(0, 1), (1, 2), (2, 3), (3, 4), (3, 5)], "4 of them were run, 5 times"),
        ([(2, 1), (1, 2), (0, 3), (3, 4)], "job 2 was run before an earlier one of its key"),
    ],
    ids=["lost", "twice", "overtaken"],
)
def test_figures_of_wrong_work_are_not_told(seen, told):
    """A lost job, one run twice, and one that overtook another of its key."""
    with pytest.raises(WrongWork, match=told):
        judge(GIVEN, seen, "a way")


def test_ratios_are_of_medians_at_the_worst_number_of_workers():
    """And a way that was not run has none."""
    runs = {("PostgreSQL", one): [90.0, 100.0, 300.0] for one in (*ORDERED, *FREE, SINGLE)}
    runs |= {("procrastinate, no sync", one): [rate] for one, rate in zip(ORDERED, (5.0, 20.0, 10.0), strict=True)}
    found = queues_report.named(runs)

    assert {name: one.value for name, one in found.items()} == {"queue_drain_ordered_vs_procrastinate": 5.0}
    assert not found["queue_drain_ordered_vs_procrastinate"].reached


def test_jobs_are_worked_off_against_the_same_durability():
    """The named ratio leaves the others' synced workers alone, however slow those are."""
    runs = {("PostgreSQL", one): [100.0] for one in FREE}
    runs |= {("pgqueuer", one): [1.0] for one in FREE} | {("pgqueuer, no sync", one): [80.0] for one in FREE}
    runs |= {("pgqueuer", SINGLE): [1.0]}

    assert queues_report.named(runs)["queue_drain_unordered_vs_pgqueuer_batched"].value == 1.25
    lines = queues_report.table(runs).splitlines()
    assert "as synced" in lines[2]


def test_the_benchmark_runs_whatever_is_installed(tmp_path, capsys, monkeypatch):
    """At its smallest, with one way alone: every figure has a rate, and a line of the table."""
    monkeypatch.setattr(queues, "WAYS", {"SQLite": queues.WAYS["SQLite"]})
    monkeypatch.setattr(queues, "WORKERS", (1,))
    monkeypatch.setattr(queues_report, "FIGURES", (SINGLE, ORDERED[0]))

    assert queues.main(["--jobs", "40", "--runs", "1", "--json", str(tmp_path / "seen.json")]) == 0
    assert len(json.loads((tmp_path / "seen.json").read_text())["per second"]) == 3  # with the bare row
    assert "| handed in one by one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seen", "told"),
    [([(0, 5_000), (1, 5_000), (2, 6_000), (3, 7_000)], 1e6), ([(0, 2_000), (1, 2_000)], 2e6)],
    ids=["by and by", "all at once"],
)
def test_a_rate_leaves_the_start_of_workers_out(seen, told):
    """Two jobs in 2 microseconds after the first; where none came after it, the word to go at 1,000 ns counts."""
    assert rate(1_000, seen) == told


def test_the_floor_says_what_no_queue_can_reach():
    """A commit of 1 ms beside others of 1.25 and 4: three times the first would be faster than any commit."""
    rates = {floor.SHARED: 1000.0, floor.EMBEDDED: 2000.0, "pgqueuer": 800.0, "procrastinate": 250.0}
    told = queues_report.beneath({(name, SINGLE): [rate] for name, rate in rates.items()})

    assert "that commit alone is 25% of a job of procrastinate, 80% of a job of pgqueuer." in told
    assert "would be 4.00 times procrastinate and 1.25 times pgqueuer: 3 times pgqueuer was out of reach" in told
    assert "2,000 a second: a queue that did nothing else would be 8.00 times procrastinate and 2.50 times" in told


def test_floors_are_no_columns_of_the_table():
    """A bare row is not worked off."""
    runs = {("PostgreSQL", SINGLE): [1.0], (floor.SHARED, SINGLE): [2.0]}

    assert floor.SHARED not in queues_report.table(runs)


def test_the_section_names_its_command_its_jobs_and_its_floor():
    """2,000 jobs: of 200 handed in one by one ten are first ones of a turn, of 2,000 by the hundred a thousand are."""
    runs = {("SQLite", one): [10.0, 20.0] for one in (SINGLE, *ORDERED)} | {(floor.EMBEDDED, SINGLE): [30.0, 50.0]}
    section = queues_report.section(runs, queues.sizes(2_000), "python -m benchmarks.queues --jobs 2000", "a machine")
    told = " ".join(section.split())

    assert "`PYTHONPATH=tests python -m benchmarks.queues --jobs 2000`" in told
    assert all(text in told for text in ("of 2 runs", "190 jobs", "1,000 by the hundred", "2,000 are"))
    assert "| the floor: one bare row, synced | 40 (30 to 50) |" in told
