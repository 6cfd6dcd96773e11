"""The named figures of the benchmarks: what is kept, and which targets are reached."""

from __future__ import annotations

import json

import pytest

from benchmarks import __main__ as bench
from benchmarks.named import HEADING, Named, put, told


@pytest.mark.parametrize(
    ("value", "target", "reached"),
    [(40.0, ">=40", True), (39.9, ">=40", False), (12, "<=12", True), (12.1, "<=12", False), (0.15, "<=0.15", True)],
)
def test_a_target_is_reached_up_to_its_edge(value, target, reached):
    """Both directions, the edge included; the line for a terminal says which it is."""
    one = Named(value, "times", target, "the loop")

    assert (one.reached, "NOT REACHED" in told({"burst": one})) == (reached, not reached)


def test_figures_of_other_benchmarks_stay(tmp_path):
    """One benchmark run anew replaces its own figures only."""
    file = tmp_path / "report.json"
    put({"b": Named(1, "ms", "<=10", "x"), "a": Named(2, "ms", "<=10", "x")}, file)
    put({"b": Named(3, "ms", "<=10", "y")}, file)

    kept = json.loads(file.read_text("utf-8"))
    assert {name: one["value"] for name, one in kept.items()} == {"a": 2, "b": 3}
    assert kept["b"] == {"value": 3, "unit": "ms", "target": "<=10", "baseline": "y"}


def test_the_report_tells_first_which_targets_are_missed(tmp_path):
    """Where the section stands it is written anew, and what other benchmarks wrote stays."""
    page = tmp_path / "REPORT.md"
    page.write_text(f"{HEADING}\n\nold\n\n# Another\n\nkept\n", encoding="utf-8")
    figures = {"slow": Named(12, "ms", "<=10", "a bare trip"), "quick": Named(2, "ms", "<=10", "x")}
    put(figures, tmp_path / "report.json")

    first, other = page.read_text("utf-8").split("# Another")
    (row,) = [line for line in first.splitlines() if line.startswith("| slow")]
    assert ("MISSED" in row, "1 of 2 are reached" in first) == (True, True)
    assert ("old" in first, "kept" in other) == (False, True)


def test_rounding_reaches_no_target(tmp_path):
    """A value that missed its target by a hair is written as it is."""
    file = tmp_path / "report.json"
    put({"near": Named(1.3004, "times", "<=1.3", "x"), "fine": Named(1.23456, "times", "<=1.3", "x")}, file)

    assert {name: one["value"] for name, one in json.loads(file.read_text("utf-8")).items()} == {
        "near": 1.3004,
        "fine": 1.235,
    }


def test_a_part_that_fails_does_not_hinder_the_others(monkeypatch, capsys):
    """It is told with its fault, and the whole ends with 1."""

    def broken(_words):
        raise TimeoutError("the org does not answer")

    monkeypatch.setattr(bench, "PARTS", {"broken": bench.Part(broken), "whole": bench.Part(lambda _words: 0)})

    assert bench.main(["broken", "whole"]) == 1
    told = capsys.readouterr()
    assert "the org does not answer" in told.err
    assert "broken: 0 s, FAILED" in told.out
    assert "whole: 0 s\n" in told.out


def test_the_end_of_all_parts_tells_their_seconds_and_the_targets_missed(monkeypatch, capsys):
    """Whoever looks at the last lines alone knows where the time went and what is not reached."""

    def measured(_words):
        told({"slow": Named(12, "ms", "<=10", "a bare trip"), "quick": Named(2, "ms", "<=10", "x")})
        return 0

    monkeypatch.setattr(bench, "PARTS", {"one": bench.Part(measured), "two": bench.Part(lambda _words: 0)})

    assert bench.main(["one", "two"]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "one: 0 s",
        "two: 0 s",
        "all: 0 s",
        "targets: 1 of 2 reached, missed:",
        "slow: 12 ms (target <=10, NOT REACHED; a bare trip)",
    ]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (bench.race, ["--quick"]),
        (bench.race, ["--runs", "199"]),
        (bench.core, ["--quick"]),
        (bench.stock, ["--rows", "1000"]),
        (bench.stock, ["--engine", "SQLite"]),
    ],
)
def test_a_run_too_small_for_its_figure_is_not_recorded(part, words, capsys):
    """It would stand beside its target as if it were the one asked for."""
    with pytest.raises(SystemExit):
        part.main([*words, "--record"])

    assert "nothing to record" in capsys.readouterr().err
