"""Whether a long run counts as flat, and where its section of the report goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.growth_watch import MIB, Sample, judged
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
