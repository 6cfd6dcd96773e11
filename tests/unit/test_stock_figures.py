"""The tables and the named figure of the stock benchmark, and that it runs."""

from __future__ import annotations

import json
from dataclasses import replace

from benchmarks import stock
from benchmarks.stock_jobs import Cost
from benchmarks.stock_report import named

EMPTY = Cost("SQLite", 0, 50.0, 40.0, 30.0, 1, {"routing_job_once": 1})


def test_the_worse_engine_is_named():
    """Each against its own empty table; without a million rows nothing is told."""
    full = replace(EMPTY, rows=1_000_000, claim=44.0)
    shared, slow = replace(EMPTY, engine="PostgreSQL"), replace(full, engine="PostgreSQL", claim=80.0)
    (figure,) = named([EMPTY, full, shared, slow]).values()

    assert (figure.value, figure.reached) == (2.0, False)
    assert named([EMPTY, full])["claim_cost_at_1m_vs_empty"].reached
    assert named([EMPTY]) == {}


def test_the_benchmark_runs_at_its_smallest(tmp_path, capsys):
    """One engine, a few rows and leads: every table has its lines, and each lead that waits got a job."""
    seen = tmp_path / "seen.json"
    words = ["--rows", "1000", "--turns", "1", "--engine", "SQLite", "--leads", "3", "--ledger", "5"]

    assert stock.main([*words, "--json", str(seen)]) == 0
    found = json.loads(seen.read_text(encoding="utf-8"))
    assert [one["rows"] for one in found["costs"]] == [0, 1_000]
    assert [(one["leads"], one["jobs"], one["calls"]) for one in found["sweeps"]] == [(3, 3, 2)]
    assert [one["calls"] for one in found["ledgers"]] == [2]
    assert "| ledger rows |" in capsys.readouterr().out
