"""The four edges of a rotation, in either router: who got each lead, and where the rotation stood behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from support.both_play import (
    Play,
    both_ways,
    finds_the_group_empty,
    goes_on_holiday,
    joins,
    leaves,
    matches_another_group,
)

pytestmark = pytest.mark.apex

TURN = 1_000_000_000
"""How far a turn moves a member of weight 1 on."""


@dataclass(frozen=True)
class End:
    """Where a story ends: owners by lead, turns by group, and by member (in the order they joined) the next turn, the
    last turn, and how many leads they received.
    """

    owners: str
    turns: dict[str, int]
    members: list[tuple[float | None, float | None, float]]


EDGES: dict[Callable[[Play], None], End] = {
    joins: End(
        "Ann Bob Ann Bob Ann Bob Cem Ann Bob Cem Ann",
        {"emea": 11},
        [(5 * TURN, 11, 5), (4 * TURN, 9, 4), (4 * TURN, 10, 2)],
    ),
    leaves: End("Ann Bob Ann Bob Bob", {"emea": 5}, [(3 * TURN, 5, 3)]),
    goes_on_holiday: End("Bob Bob Bob Ann Bob Ann", {"emea": 6}, [(4 * TURN, 6, 2), (4 * TURN, 5, 4)]),
    matches_another_group: End("Bob", {"emea": 1, "hot": 1}, [(TURN, 1, 1), (None, None, 0), (TURN, 1, 1)]),
    finds_the_group_empty: End("Ann Ann Bob", {"emea": 0, "spare": 2}, [(None, None, 0)] * 2 + [(2 * TURN, 2, 2)]),
}
"""A newcomer starts with the others. Who leaves takes nothing along. Who was away comes next, without a flood. A lead
that changes groups takes a turn of the new one and gives none back. An empty group gives no turn: its fallback group
does, then its manager has the lead.
"""


@pytest.mark.parametrize("story", EDGES, ids=lambda story: story.__name__)
def test_at_the_edges_of_a_rotation(tmp_path, story: Callable[[Play], None]):
    """A rep joins; leaves, or is on holiday; a lead's group changes after its assignment; a group is empty. Both
    routers end there, and tell it in the same words.
    """
    inside, outside, hard = both_ways(tmp_path, story)
    assert end(inside) == EDGES[story]
    assert end(outside) == EDGES[story]
    assert inside == outside == hard


def end(told: dict[str, Any]) -> End:
    return End(
        " ".join(lead[0] for lead in told["leads"]),
        {key: int(turn or 0) for key, turn, _ in told["groups"]},
        [member[:3] for member in told["members"]],
    )
