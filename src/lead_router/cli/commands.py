"""What each command prints and answers; the work is done in `app`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from lead_router import app, log
from lead_router.app.looking import GroupStatus, silence
from lead_router.app.naming import group_told
from lead_router.cli.asking import why_not_ready
from lead_router.cli.given import file_of, settings_of
from lead_router.cli.notices import channels_table
from lead_router.cli.show import as_json, readable, table
from lead_router.core.ages import age
from lead_router.core.model import Mode
from lead_router.errors import Misconfigured
from lead_router.ports import JobStore, ListenerView, QueueView
from lead_router.ports.notices import NoticeView
from lead_router.settings import PREFIX, example, exposed


def run(words: argparse.Namespace) -> int:
    """`run`: route until told to stop."""
    settings = settings_of(words)
    return app.run(settings, exposed(settings, file_of(words)))


def status(words: argparse.Namespace) -> int:
    """`status`: the queue at a glance."""
    settings = settings_of(words)
    seen = replace(app.status(settings), not_ready=why_not_ready(settings.health_address))
    code = _code(seen)
    if words.json:
        print(as_json(seen))
        return code
    print(f"job database: {seen.database}")
    print(f"router: {_router(seen)}")
    print("".join(f"not ready: {reason}\n" for reason in seen.not_ready))
    queue = seen.queue
    counts = (queue.queued, queue.due, queue.held, queue.working, queue.done, queue.dead, queue.quarantined)
    print(table(("queued", "due", "held", "working", "done", "dead", "quarantined"), [counts]))
    print(f"\noldest open job: {age(queue.oldest_open_age_s)}")
    print(
        f"last sweep began: {age(queue.last_sweep_age_s)}{' ago' * (queue.last_sweep_age_s is not None)}"
        + (f" (asked for: {queue.sweep_requested})" * bool(queue.sweep_requested))
    )
    for warning in seen.warnings:
        print(f"warning: {warning}")
    streams = [(s.channel, readable(s.replay_id), age(s.age_s)) for s in queue.streams]
    print("\n" + (table(("stream", "position", "age"), streams) if streams else "no stream position stored yet"))
    print(_listening(queue), end="")
    if seen.channels:
        print(f"\n{channels_table(seen.channels)}")
    if seen.org_fault is not None:
        print(f"\ngroups: {'Salesforce did not answer: ' * seen.org_away}{seen.org_fault}")
        return code
    print("\n" + table(("group", "mode", "turns", "on duty", "next"), [_group(one) for one in seen.groups]))
    return code


def _group(one: GroupStatus) -> tuple[object, ...]:
    nobody = "nobody: it is off" if one.mode is Mode.OFF else "nobody on duty"
    coming = ", ".join(one.next_members) or nobody
    return group_told(one.key, one.name), one.mode, one.turn, one.on_duty, coming


def _code(seen: app.Status) -> int:
    if seen.org_fault is not None:
        return 3 if seen.org_away else 2
    return 0 if seen.no_router is None else 1


def _router(seen: app.Status) -> str:
    if seen.no_router is not None:
        return f"NONE RUNS: {seen.no_router}\n        remedy: {app.START_ROUTER}"
    return "runs, " + " and ".join(f"{one.holder} listens" for one in seen.queue.listeners if one.listens)


def _listening(queue: QueueView) -> str:
    heads = ("listener", "channel", "since", "stream")
    rows = [(one.holder, one.channel, age(one.age_s), _heard(one)) for one in queue.listeners if one.listens]
    return f"\n{table(heads, rows)}\n" if rows else ""


def _heard(one: ListenerView) -> str:
    if one.silent_since is not None:
        return silence(one)
    return "subscribed" if one.subscribed else "connecting"


def doctor(words: argparse.Namespace) -> int:
    """`doctor`: what is not as it should be, and the remedy."""
    with log.quiet():
        return _doctor(words)


def _doctor(words: argparse.Namespace) -> int:
    settings = settings_of(words)
    findings = app.diagnose(settings, exposed(settings, file_of(words)))
    failed = [finding for finding in findings if not finding.ok and not finding.warning]
    code = 0 if not failed else 3 if all(finding.away for finding in failed) else 1
    if words.json:
        print(as_json(findings))
        return code
    for finding in findings:
        mark = "ok" if finding.ok else "warn" if finding.warning else "FAIL"
        print(f"{mark:<5} {finding.name}: {finding.detail}")
        if not finding.ok and finding.remedy:
            print(f"      remedy: {finding.remedy}")
    return code


def init(words: argparse.Namespace) -> int:
    """`init`: write a commented settings file, readable by its owner alone."""
    path: Path = words.to
    try:
        if path.exists() and not words.force:
            raise Misconfigured(f"{path} exists: edit it, or add --force to overwrite it")
        path.write_text(example(), encoding="utf-8")
        path.chmod(0o600)
    except OSError as fault:
        raise Misconfigured(f"{path} cannot be written: {fault.strerror}; name another file with --to") from None
    named = "" if path == Path(".env") else f" --env-file {path}"
    print(
        f"wrote {path}: fill in {PREFIX}LOGIN_URL, {PREFIX}CLIENT_ID and a secret or key, "
        f"then run `lead-router{named} doctor`"
    )
    return 0


def backup(words: argparse.Namespace) -> int:
    """`backup`: a copy of the job database, beside a router that runs."""
    copy = app.backup(settings_of(words), words.to)
    print(as_json(copy) if words.json else f"copied to {copy.path}, {copy.size_bytes:,} bytes, whole and checked")
    return 0


def demo(words: argparse.Namespace) -> int:
    """`demo`: the whole thing on this machine, with a report."""
    from lead_router.demo import play  # noqa: PLC0415 - only this command needs it

    pubsub = words.stream == "pubsub"
    return play(seed=words.seed, leads=words.leads, pubsub=pubsub, as_json=words.json, console=words.console)


def console(words: argparse.Namespace) -> int:
    """`console`: pages in a browser, until told to stop."""
    from lead_router.console import serve  # noqa: PLC0415 - as above

    return serve(settings_of(words), words.address)


def jobs(words: argparse.Namespace) -> int:
    """`jobs`: list, show, retry, discard."""
    store = app.open_jobs(settings_of(words))
    try:
        match words.verb:
            case "list":
                return _list(store, words)
            case "show":
                return _show(store, words)
            case "retry":
                return _changed(store, store.revive(words.job), words, "queued again")
            case _:
                return _changed(store, store.discard(words.job, words.reason), words, "discarded")
    finally:
        store.close()


def _list(store: JobStore, words: argparse.Namespace) -> int:
    seen = store.jobs(status=words.status, limit=words.limit + 1)
    rows = seen[: words.limit]
    if words.json:
        print(as_json(rows))
        return 0
    if not rows:
        print("no jobs" if words.status is None else f"no {words.status} jobs")
        return 0
    heads = ("job", "status", "lead", "attempts", "next run", "created", "outcome or last error")
    told = [
        (
            r.id,
            r.status,
            r.lead_id,
            f"{r.attempts}/{r.max_attempts}",
            r.next_run_at,
            r.created_at,
            r.outcome or r.last_error,
        )
        for r in rows
    ]
    print(table(heads, told))
    if len(seen) > len(rows):
        print(f"the newest {len(rows)} of more: --limit N shows N", file=sys.stderr)
    return 0


def _show(store: JobStore, words: argparse.Namespace) -> int:
    job = store.job(words.job)
    if job is None:
        return _absent(words)
    notices = store.notices_of(job.lead_id, limit=SHOWN_NOTICES)
    if words.json:
        print(as_json({**asdict(job), "notices": notices}))
        return 0
    former = "last error before it was done" if job.status == "done" else "last_error"
    told: list[tuple[str, object]] = [(name, getattr(job, name)) for name in _SHOWN]
    told += [(former, job.last_error), ("payload", json.dumps(dict(job.payload)))]
    told += [(f"notice {one.id}, {one.channel}", _became(one)) for one in notices]
    print(table(("field", "value"), told))
    return 0


SHOWN_NOTICES = 20  # of the job's lead
_SHOWN = (
    "id",
    "status",
    "lead_id",
    "idempotency_key",
    "attempts",
    "max_attempts",
    "created_at",
    "next_run_at",
    "locked_by",
    "lease_until",
    "completed_at",
    "outcome",
)


def _became(notice: NoticeView) -> str:
    return notice.status if notice.last_error is None else f"{notice.status}: {notice.last_error}"


def _absent(words: argparse.Namespace) -> int:
    print(f"lead-router: there is no job {words.job}", file=sys.stderr)
    return 2


def _changed(store: JobStore, done: bool, words: argparse.Namespace, text: str) -> int:
    if words.json:
        print(as_json({"job": words.job, "changed": done}))
    elif done:
        print(f"job {words.job}: {text}")
    elif store.job(words.job) is None:
        return _absent(words)
    else:
        print(
            f"lead-router: job {words.job} is not dead: nothing was changed (see `lead-router jobs show {words.job}`)",
            file=sys.stderr,
        )
    return 0 if done else 2
