"""A dead process of this host gives its claims back at once."""

from __future__ import annotations

from lead_router.loops.predecessors import dead_workers, worker_name

ALIVE = {7, 20}


def _dead(*names: str) -> tuple[str, ...]:
    return dead_workers(names, host="a.example", process_id=7, lives=ALIVE.__contains__)


def test_only_dead_processes_of_this_host_are_succeeded():
    """C8, C22: claims of the living, and of other hosts, are left to their leases."""
    dead, alive, elsewhere = (
        worker_name("a.example", 19, 1),
        worker_name("a.example", 20, 1),
        worker_name("b.example", 19, 1),
    )

    assert _dead(dead, alive, elsewhere) == (dead,)


def test_a_claim_under_our_own_process_id_was_a_predecessor_s():
    """In a container every process has the same id, and we have claimed nothing yet."""
    assert _dead(worker_name("a.example", 7, 1), worker_name("a.example", 7, 2)) == ("a.example/7/1", "a.example/7/2")


def test_names_of_another_make_are_left_alone():
    """A worker that an operator named otherwise is nobody's to bury."""
    assert _dead("a.example", "a.example/x/1", "a.example.19.1", "") == ()
