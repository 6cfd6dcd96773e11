"""The tables and the named figure of the stock benchmark, and that it runs."""

from __future__ import annotations

import json
from dataclasses import replace

from benchmarks import stock, stock_report
from benchmarks.stock_jobs import Cost
from benchmarks.stock_org import Routed, Swept
from benchmarks.stock_report import Seen, named

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


def test_a_long_run_has_a_section_that_a_short_one_leaves_alone(tmp_path, monkeypatch):
    """Dated, with its command; either writes its own part of the report and no other."""
    monkeypatch.setattr(stock_report, "HERE", tmp_path)
    monkeypatch.setattr(stock_report, "CHART", tmp_path / "stock.svg")
    page = tmp_path / "REPORT.md"
    page.write_text("# Another\n\nkept\n", encoding="utf-8")
    long, short = (
        Seen([EMPTY], [Swept(leads, 9.0, 4.0, 502, leads, 2**20, 2**27)], [Routed(leads, 2, 0.1)])
        for leads in (1_000_000, 2_000)
    )

    stock_report.record_long(long, "a machine", "python -m benchmarks.stock --leads 1000000 --record", "2026-03-04")
    stock_report.record(short, "a machine")
    stock_report.record(short, "a machine")
    other, first, second = page.read_text(encoding="utf-8").split("# ")[1:]

    assert other == "Another\n\nkept\n\n"
    assert "1,000,000 |       502 |" in first
    assert "Written on 2026-03-04 by `PYTHONPATH=tests python -m benchmarks.stock --leads 1000000 --record`" in first
    assert "2,000 |       502 |" in second
    assert "128 |" in second
