"""The command line's words."""

from __future__ import annotations

import argparse
from pathlib import Path

from lead_router import __version__

EPILOG = """exit codes:
  0  done, or everything is as it should be
  1  a fault while running, or `doctor` found something
  2  wrong usage, or a setting or record that a person must change
  3  Salesforce or the database did not answer; try again later
"""

_JOB = "the job's number, as `jobs list` shows it"
_ENV_FILE = "settings file (default: .env if there is one)"


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    root = argparse.ArgumentParser(
        prog="lead-router",
        description="Gives each new Salesforce lead to the right rep, once, in turn, within seconds.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"lead-router {__version__}")
    root.add_argument("--env-file", type=Path, metavar="FILE", help=_ENV_FILE)
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    _settings(commands.add_parser("run", help="listen and route until SIGTERM"))
    _reading(commands.add_parser("status", help="queue, stream, and who is next in each group"))
    _reading(commands.add_parser("doctor", help="check the org and the settings, with remedies"))

    init = commands.add_parser("init", help="write a commented .env")
    init.add_argument("--to", type=Path, default=Path(".env"), metavar="FILE", help="where (default: .env)")
    init.add_argument("--force", action="store_true", help="overwrite the file if it exists")

    _jobs(commands.add_parser("jobs", help="look at jobs; retry or discard dead ones"))

    demo = commands.add_parser("demo", help="route 1,000 leads of a simulated org, with a crash in the middle")
    demo.add_argument("--seed", type=int, default=1, help="the same seed tells the same story (default: 1)")
    demo.add_argument("--leads", type=int, default=1_000, metavar="N", help="how many leads (default: 1000)")
    _json(demo)
    return root


def _settings(command: argparse.ArgumentParser) -> None:
    """`--env-file` may stand behind the command as well; not given there, it leaves alone what stood before."""
    command.add_argument("--env-file", type=Path, metavar="FILE", default=argparse.SUPPRESS, help=_ENV_FILE)


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON value, for machines")


def _reading(command: argparse.ArgumentParser) -> None:
    _settings(command)
    _json(command)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _jobs(command: argparse.ArgumentParser) -> None:
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="jobs, newest first")
    listing.add_argument("--status", choices=("queued", "working", "done", "dead"), help="only these")
    listing.add_argument("--limit", type=_at_least_one, default=50, metavar="N", help="how many (default: 50)")
    _reading(listing)
    for verb, text in (("show", "one job's whole story"), ("retry", "queue a dead job again")):
        one = verbs.add_parser(verb, help=text)
        one.add_argument("job", type=int, help=_JOB)
        _reading(one)
    discard = verbs.add_parser("discard", help="end a dead job for good")
    discard.add_argument("job", type=int, help=_JOB)
    discard.add_argument("--reason", required=True, help="kept with the job")
    _reading(discard)
