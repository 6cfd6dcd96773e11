"""What earlier processes left: what dead ones of this host held is given back at once, held jobs are asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog

from lead_router.ports import JobStore

_log = structlog.get_logger(__name__)


def worker_name(host: str, process_id: int, number: int) -> str:
    """The name under which a worker claims: `host/process/number`; only its own host can tell whether it lives."""
    return f"{host}/{process_id}/{number}"


def listener_name(host: str, process_id: int) -> str:
    """The name under which a process listens: `host/process/listener`."""
    return f"{host}/{process_id}/listener"


def dead_workers(
    holders: Iterable[str], *, host: str, process_id: int, lives: Callable[[int], bool]
) -> tuple[str, ...]:
    """Those holders that ran on this host and are dead.

    A holder with our own process id is dead too where we hold nothing yet: in a container every process
    has the same one. The host's name must be its own: two hosts of one name would end each other's leases, which costs
    work and, by the claims' tokens, never a lead.
    """
    dead = []
    for name in sorted(holders):
        where, _, rest = name.rpartition("/")[0].rpartition("/")
        if where == host and rest.isdigit() and (int(rest) == process_id or not lives(int(rest))):
            dead.append(name)
    return tuple(dead)


def succeed(store: JobStore, *, host: str, process_id: int, lives: Callable[[int], bool]) -> None:
    """Take over from dead processes of this host; to be called before this process claims anything.

    Held jobs are due now, since rules and settings may be others than those by which they were held.
    """
    for name in dead_workers(store.holders(), host=host, process_id=process_id, lives=lives):
        _log.info("claims_abandoned", worker=name, jobs=store.abandon(name))
    store.ask_held()
