"""The command line's words."""

from __future__ import annotations

import argparse
import math
from datetime import datetime
from pathlib import Path

from lead_router import __version__
from lead_router.cli.manual import described

EPILOG = """exit codes:
  0  done, or everything is as it should be
  1  a fault while running, or `doctor`, `verify`, `rules check` or `rules test` found something, or
     a letter of `notices test` did not go out, or
     `status` found no router that runs, or not in the state that --live or --ready asks for,
     or `rules pull` left rules to be merged by hand
  2  wrong usage, or a setting or record that a person must change
  3  Salesforce or the database did not answer; try again later

`lead-router COMMAND --help` tells of each command, with examples.
"""

SHELLS = ("bash", "zsh", "fish")
CONSOLE = "127.0.0.1:9467"
NUMBER_MAX = 10**15  # databases count somewhat further
YEAR_MIN = 1970  # of an instant; members' days before it and after it are of years that exist
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
    _status(commands.add_parser("status", help="whether a router runs, queue, stream, and who is next in each group"))
    _reading(commands.add_parser("doctor", help="check the org and the settings, with remedies"))

    init = commands.add_parser("init", help="write a commented .env")
    init.add_argument("--to", type=Path, default=Path(".env"), metavar="FILE", help="where (default: .env)")
    init.add_argument("--force", action="store_true", help="overwrite the file if it exists")

    backup = commands.add_parser("backup", help="copy an SQLite job database while the router runs")
    backup.add_argument("to", type=Path, metavar="FILE", help="the copy; a file that is there is not overwritten")
    _reading(backup)

    _jobs(commands.add_parser("jobs", help="look at jobs; retry or discard dead ones"))
    _console(commands.add_parser("console", help="now, groups, a lead's story, dead jobs and plans in a browser"))

    _notices(commands.add_parser("notices", help="what channels were told; try them with a letter"))
    _preview(commands)
    _observe(commands.add_parser("observe", help="what groups that only observe would have done"))
    _touches(commands.add_parser("touches", help="time to an owner and to a first touch, and what the clock did"))
    _rules(commands.add_parser("rules", help="check, test, pull and push the rules"))

    _audit(commands.add_parser("audit", help="measure an org as it is, before anything is changed: reads alone"))
    _verify(commands.add_parser("verify", help="hold rotations, leads and jobs against the ledger, and repair them"))

    _demo(commands.add_parser("demo", help="route 1,000 leads of a simulated org, with a crash in the middle"))
    completion = commands.add_parser("completion", help="the script by which a shell completes these words")
    completion.add_argument("shell", choices=SHELLS, help="which shell")
    return described(root)


def instant(text: str) -> datetime:
    """An instant with its zone, `2026-12-01T09:00:00+01:00`."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or found.year < YEAR_MIN:
        raise argparse.ArgumentTypeError("an instant has a date, a time and a zone: 2026-12-01T09:00:00+01:00")
    return found


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument("--seed", type=int, default=1, help="the same seed tells the same story (default: 1)")
    command.add_argument("--leads", type=int, default=1_000, metavar="N", help="how many leads (default: 1000)")
    command.add_argument("--stream", choices=("cometd", "pubsub"), default="cometd", help="how events come (cometd)")
    command.add_argument("--console", action="store_true", help="go on afterwards, with the console open, until Ctrl-C")
    _json(command)


def _console(command: argparse.ArgumentParser) -> None:
    where = f"where it listens (default: {CONSOLE})"
    command.add_argument("--address", default=CONSOLE, metavar="HOST:PORT", help=where)
    _settings(command)


def _preview(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    plan = commands.add_parser("plan", help="who would get each lead of a batch; nothing is written")
    source = plan.add_mutually_exclusive_group(required=True)
    source.add_argument("--csv", type=Path, metavar="FILE", help="leads; the columns are API names of Lead fields")
    source.add_argument("--soql", metavar="TEXT", help="leads of the org: a WHERE clause, or SELECT … FROM Lead …")
    plan.add_argument("--anew", action="store_true", help="take each lead as though it had just come in, unassigned")
    plan.add_argument("--format", choices=("table", "csv", "json"), default="table")
    plan.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    explain = commands.add_parser("explain", help="one lead's whole decision, rule by rule and member by member")
    explain.add_argument("lead", help="its id")
    _json(explain)
    for one in (plan, explain):
        _settings(one)
        one.add_argument("--at", type=instant, metavar="INSTANT", help="judge hours, absences and caps at this instant")


def _audit(command: argparse.ArgumentParser) -> None:
    _reading(command)
    days = "leads of so many days (default: 90); of files all are taken"
    command.add_argument("--days", type=_days, metavar="N", help=days)
    csv = "exported Lead.csv, LeadHistory.csv and User.csv instead of an org; Group.csv or Queue.csv if there is one"
    command.add_argument("--csv", type=Path, metavar="DIR", help=csv)
    command.add_argument("--html", type=Path, metavar="FILE", help="write the report there, one file with its charts")
    command.add_argument("--force", action="store_true", help="replace the report if it exists")
    command.add_argument(
        "--zone", metavar="NAME", help="time zone, as Europe/Paris (default: the org's; UTC for files)"
    )
    hours = "business hours, with their zone: --hours 'Mon-Fri 9-17' --zone Europe/Paris (default: the org's)"
    command.add_argument("--hours", metavar="TEXT", help=hours)
    command.add_argument("--day-first", action="store_true", help="dates such as 3/4/2026 in the files are 3 April")
    reaction = "minutes from owner to first call that costs are reckoned with (default: 1)"
    command.add_argument("--reaction", type=_minutes, default=1.0, metavar="MIN", help=reaction)


def _verify(command: argparse.ArgumentParser) -> None:
    command.add_argument("--group", metavar="KEY", help="one group alone, without jobs")
    command.add_argument(
        "--since",
        type=instant,
        metavar="INSTANT",
        help="rows before it may have been archived (default: LEAD_ROUTER_LEDGER_SINCE)",
    )
    command.add_argument("--repair", action="store_true", help="show what the ledger proves, old and new; then ask")
    command.add_argument(
        "--yes", action="store_true", help="with --repair: write it without asking, unless it moved meanwhile"
    )
    _reading(command)


def _rules(command: argparse.ArgumentParser) -> None:
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    check = verbs.add_parser("check", help="unknown fields, wrong types, rules no lead reaches, groups without members")
    check.add_argument("--files", type=Path, metavar="DIR", help="rule files instead of the org's rules")
    check.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    test = verbs.add_parser("test", help="try the table cases of a folder on its rules, without an org")
    test.add_argument("--files", type=Path, metavar="DIR", required=True, help="the folder of rules and cases")
    pull = verbs.add_parser("pull", help="write the org's rules to files")
    made = "the folder; made if it is not there"
    pull.add_argument("--files", "--to", type=Path, metavar="DIR", required=True, dest="to", help=made)
    pull.add_argument("--force", action="store_true", help="overwrite changes that were not pushed, instead of keeping")
    push = verbs.add_parser("push", help="show what would change in the org, and with --yes change it")
    rules = "the folder of rules"
    push.add_argument("--files", "--from", type=Path, metavar="DIR", required=True, dest="folder", help=rules)
    push.add_argument("--yes", action="store_true", help="write, unless the org's rules changed since they were pulled")
    push.add_argument("--delete-all", action="store_true", help="go on where the files hold no rules at all")
    for one in (check, pull, push):
        _settings(one)
    for one in (check, test, pull, push):
        _json(one)


def _observe(command: argparse.ArgumentParser) -> None:
    reports = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    _reading(reports.add_parser("report", help="agreement, shares and time, beside what really happened"))


def _touches(command: argparse.ArgumentParser) -> None:
    command.add_argument("--days", type=_days, default=7, metavar="N", help="how many days back (default: 7)")
    _reading(command)


def _settings(command: argparse.ArgumentParser) -> None:
    """`--env-file` may stand behind the command as well; not given there, it leaves alone what stood before."""
    command.add_argument("--env-file", type=Path, metavar="FILE", default=argparse.SUPPRESS, help=_ENV_FILE)


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON value, for machines")


def _reading(command: argparse.ArgumentParser) -> None:
    _settings(command)
    _json(command)


def _status(command: argparse.ArgumentParser) -> None:
    _reading(command)
    asked = command.add_mutually_exclusive_group()
    live, ready = "does the running router live? a restart helps if not", "are leads heard of and routed?"
    asked.add_argument("--live", action="store_const", const="live", dest="asked", help=live)
    asked.add_argument("--ready", action="store_const", const="ready", dest="asked", help=ready)


def _at_least_one(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    if number > NUMBER_MAX:
        raise argparse.ArgumentTypeError(f"{number} is more than {NUMBER_MAX}")
    return number


DAYS_MAX = 3_650  # of a span that is looked back on


def _days(text: str) -> int:
    number = _at_least_one(text)
    if number > DAYS_MAX:
        raise argparse.ArgumentTypeError(f"{number} is more than {DAYS_MAX}, ten years")
    return number


def _minutes(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number of minutes")
    return number


def _notices(command: argparse.ArgumentParser) -> None:
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="notices, newest first")
    states = ("queued", "sending", "sent", "failed", "unknown", "dropped")
    listing.add_argument("--status", choices=states, help="only these")
    listing.add_argument("--limit", type=_at_least_one, default=50, metavar="N", help="how many (default: 50)")
    test = verbs.add_parser("test", help="send one letter to each channel, now")
    test.add_argument("--channel", metavar="NAME", help="only this one")
    test.add_argument("--to", metavar="USER", help="id of the user whom Salesforce's own notification goes to")
    for one in (listing, test):
        _reading(one)


def _jobs(command: argparse.ArgumentParser) -> None:
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="jobs, newest first")
    listing.add_argument("--status", choices=("queued", "working", "done", "dead"), help="only these")
    listing.add_argument("--limit", type=_at_least_one, default=50, metavar="N", help="how many (default: 50)")
    _reading(listing)
    for verb, text in (("show", "one job's whole story"), ("retry", "queue a dead job again")):
        one = verbs.add_parser(verb, help=text)
        one.add_argument("job", type=_at_least_one, help=_JOB)
        _reading(one)
    discard = verbs.add_parser("discard", help="end a dead job for good")
    discard.add_argument("job", type=_at_least_one, help=_JOB)
    discard.add_argument("--reason", required=True, help="kept with the job")
    _reading(discard)
