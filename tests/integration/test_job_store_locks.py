"""SQLite's locks belong to the process: a router's must hold whatever else the process or its neighbours open."""

from __future__ import annotations

import multiprocessing
import os

from lead_router.jobs import open_store
from support.databases import ORG, new_job


def _glance(url: str) -> None:
    """What a command does beside a running router: open, look, close."""
    store = open_store(url, org_id=ORG)
    store.record([new_job(2)])
    store.close()


def test_a_command_beside_a_running_router_leaves_its_log_alone(embedded):
    """A process that closes any descriptor of a file loses all its locks on it (POSIX).

    A router opens the file several times, one store per loop. If that cost its locks, the next command to close the
    file would take itself for the last and delete the write-ahead log under the router: from then on neither would see
    the other's writes, and the router's would be gone with it.
    """
    router = embedded.open()
    router.record([new_job(1)])
    embedded.open().queue()
    log = embedded.path.with_name(embedded.path.name + "-wal")
    before = log.stat().st_ino
    command = multiprocessing.get_context("spawn").Process(target=_glance, args=(embedded.url,))
    command.start()
    command.join(30)
    assert command.exitcode == 0
    assert log.stat().st_ino == before
    assert router.queue().queued == 2


def test_a_new_file_is_its_owners_alone(embedded):
    """Whatever the umask."""
    former = os.umask(0)
    try:
        embedded.open()
    finally:
        os.umask(former)
    assert embedded.path.stat().st_mode & 0o777 == 0o600
