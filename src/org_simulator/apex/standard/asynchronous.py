"""Work that is asked to run after the commit: Queueable, Batchable, Schedulable; and mail to administrators."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.jobs import Job
from org_simulator.apex.platform import method, static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.values import Id, Native
from org_simulator.ids import make_id

BATCH = 200  # records that a batch's execute gets, where no size is given


def _job(session: Any, kind: str, target: Any, **more: Any) -> Id:
    if target is None:
        raise null_pointer()
    number = session.org.dice.randrange(1, 10**9)
    job_id = Id(make_id("707", number))
    session.jobs.append(Job(kind, target, str(job_id), session.tx.user_id, more))
    return job_id


@static("System.enqueueJob", "Id", 1, 2)
def enqueue_job(session: Any, target: Any, *delay: Any) -> Id:
    """A delay in minutes is taken and not waited for."""
    if delay and not isinstance(delay[0], int):
        raise Unsupported("System.enqueueJob with AsyncOptions")
    session.limits.use("queueable_jobs", 1)
    if not target.cls.is_named("queueable"):
        raise Unsupported(f"System.enqueueJob of {target.cls.name}")
    return _job(session, "queueable", target)


@static("Database.executeBatch", "Id", 1, 2)
def execute_batch(session: Any, target: Any, size: int = BATCH) -> Id:
    return _job(session, "batch", target, size=size)


@static("System.schedule", "Id", 3)
def schedule(session: Any, name: Any, when: Any, target: Any) -> Id:
    """Kept by name; it runs when the org is told to (no clock of its own fires it), and at stopTest."""
    if None in {name, when}:
        raise null_pointer()
    fields = when.split()
    if len(fields) not in {6, 7}:
        raise thrown("StringException", f"Illegal cron expression format ({when})")
    return _job(session, "schedulable", target, name=name, when=when)


@static("System.abortJob", "void", 1)
def abort_job(session: Any, job_id: Any) -> None:
    session.jobs[:] = [job for job in session.jobs if job.id != job_id]


@method("QueueableContext.getJobId|BatchableContext.getJobId|SchedulableContext.getTriggerId", "Id")
def get_job_id(_session: Any, value: Native) -> Id:
    return Id(value.held)


__all__ = ["BATCH"]
