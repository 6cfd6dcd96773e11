"""The command line."""

from __future__ import annotations

import errno
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence

from lead_router.cli import closed
from lead_router.cli.arguments import parser
from lead_router.errors import BadRules, LeadRouterError, Transient

INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Carry out one command; the exit codes stand in `--help`, 130 is that of Ctrl-C."""
    closed.fill()
    try:
        asked = parser().parse_args(words)
        if asked.command == "run":
            _end_before_the_start()
        return _carried_out(asked)
    except KeyboardInterrupt:
        return INTERRUPTED


def _end_before_the_start() -> None:
    """Until the router listens to signals itself, SIGTERM and SIGINT end it as one that has nothing to drain."""

    def end(_number: int, _frame: object) -> None:
        os._exit(0)  # an exception would be raised within any import, and be told as its fault

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def _carried_out(asked: Namespace) -> int:
    # A second that `--help` need not wait for, nor a probe that comes every few seconds.
    if asked.command == "status" and asked.asked is not None:
        from lead_router.cli import asking  # noqa: PLC0415

        return _told(asking.ask, asked)
    if asked.command == "completion":
        from lead_router.cli import completing  # noqa: PLC0415

        return _told(completing.completion, asked)
    from lead_router.cli import auditing, commands, explaining, notices, preview, rules, touching, verifying  # noqa: PLC0415

    carry_out: dict[str, Callable[[Namespace], int]] = {
        "run": commands.run,
        "status": commands.status,
        "doctor": commands.doctor,
        "init": commands.init,
        "backup": commands.backup,
        "jobs": commands.jobs,
        "console": commands.console,
        "demo": commands.demo,
        "plan": preview.plan,
        "explain": explaining.explain,
        "observe": preview.observe,
        "rules": rules.rules,
        "audit": auditing.audit,
        "notices": notices.notices,
        "verify": verifying.verify,
        "touches": touching.touches,
    }
    return _told(carry_out[asked.command], asked)


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def _told(carry_out: Callable[[Namespace], int], asked: Namespace) -> int:
    from lead_router.core.hidden import scrub  # noqa: PLC0415 - as above

    try:
        code = carry_out(asked)
        sys.stdout.flush()
    except LeadRouterError as fault:
        text = str(fault) if isinstance(fault, BadRules) else scrub(str(fault))
        print(f"lead-router: {text}", file=sys.stderr)
        return 3 if isinstance(fault, Transient) else 2
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not a fault of ours, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as fault:
        if fault.errno not in _FULL:
            raise
        # A full disk under `> file`: what was asked for was done, and could not be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"lead-router: the answer could not be written: {fault.strerror}", file=sys.stderr)
        return 1
    return code
