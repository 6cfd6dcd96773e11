"""Whether a long run counts as flat, and where its section of the report goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.growth_report import table
from benchmarks.growth_watch import MIB, Sample, judged, paced
from benchmarks.report import rewritten


def samples(**grown: Callable[[int], int]) -> list[Sample]:
    """A hundred looks at a run that keeps to its measures, but for those that are given by the part done in percent."""
    flat = {"rss": 100 * MIB, "files": 20, "threads": 5, "database": 4 * MIB, "log": 4 * MIB}
    return [
        Sample(
            at_s=float(part),
            events=part * 1_000,
            part=part / 100,
            **(flat | {name: of(part) for name, of in grown.items() if name in flat}),
            rows={"done": grown.get("rows", lambda _: 1_000)(part)},
            pace=12.0,
        )
        for part in range(1, 101)
    ]


def test_a_run_that_keeps_to_its_measures_is_flat():
    """F10: what it took to get warm does not count."""
    warm = samples(rss=lambda part: (50 if part < 10 else 100) * MIB)

    assert {one.bound.name: one.flat for one in judged(warm)} == dict.fromkeys(
        ("rss", "files", "threads", "database", "log", "jobs"), True
    )


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("rss", lambda part: (100 + part // 5) * MIB),
        ("files", lambda part: 20 + part // 20),
        ("threads", lambda part: 5 + part // 50),
        ("database", lambda part: part * MIB),
        ("log", lambda part: part * MIB),
        ("rows", lambda part: part * 100),
    ],
)
def test_what_grows_is_named(name: str, of: Callable[[int], int]):
    """F10: each measure by itself."""
    grown = [one.bound.name for one in judged(samples(**{name: of})) if not one.flat]

    assert grown == ["jobs" if name == "rows" else name]


def test_a_section_takes_the_place_of_the_former_one():
    """Beside the others, which stay as they are; the first time it comes last."""
    both = rewritten("# A\n\none\n", "# B\n\ntwo\n")

    assert both == "# A\n\none\n\n# B\n\ntwo\n"
    assert rewritten(both, "# A\n\nthree\n") == "# A\n\nthree\n\n# B\n\ntwo\n"


def test_the_pace_is_that_of_the_seconds_before():
    """In thousands of events in twelve seconds, however long the looks are apart."""
    told = [(0.0, 0), (6.0, 1_000), (18.0, 5_000), (20.0, 6_000)]
    looks = [Sample(at_s, events, 0.5, 0, 0, 0, 0, 0) for at_s, events in told]

    assert [round(one.pace, 2) for one in paced(looks)] == [0.0, 2.0, 4.0, 4.29]


def test_a_log_is_flat_up_to_where_it_is_cut():
    """It is written back at quiet moments, so that it may be tenfold what it was early; past its bound it grows."""
    verdicts = [
        {
            one.bound.name: one.flat
            for one in judged(samples(log=lambda part, late=late: (1 if part < 50 else late) * MIB))
        }["log"]
        for late in (16, 17)
    ]

    assert verdicts == [True, False]


def test_each_measure_says_what_flat_means_for_it():
    """By how much it may grow, in its own unit, beside the verdict."""
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table(judged(samples())).splitlines()[2:]]

    assert {row[0]: (row[3], row[-1]) for row in rows} == {
        "memory of the process (RSS), MiB": ("10%", "yes"),
        "open files": ("2", "yes"),
        "threads": ("nothing", "yes"),
        "job database, MiB": ("25% and 1", "yes"),
        "its write-ahead log, MiB": ("25%, or up to 16", "yes"),
        "finished jobs per 1,000 events in 12 s": ("25% and 5", "yes"),
    }
