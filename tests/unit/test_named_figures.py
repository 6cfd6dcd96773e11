"""The named figures of the benchmarks: what is kept, and which targets are reached."""

from __future__ import annotations

import json

import pytest

from benchmarks.named import Named, put, told


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
