"""What the manual says of each command, by the words that call it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_DONE: Final = "done, or everything is as it should be"
_FAULT: Final = "a fault while running"


@dataclass(frozen=True, slots=True)
class Page:
    """One command's page. `found` is what exit code 1 means, if it has one; each example is a line and what it is for.

    `alone`: it asks neither Salesforce nor a database server, so 3 is none of its exit codes.
    """

    text: str
    examples: tuple[tuple[str, str], ...]
    done: str = _DONE
    found: str = ""
    alone: bool = False


_OPERATING: Final = {
    "run": Page(
        "Listens for new and changed leads and routes them until SIGTERM or Ctrl-C, which it drains on within 20 "
        "seconds. Waits for an org or a database that is away, and refuses to start, in words, for what a person must "
        "change. Any number may run on one PostgreSQL database, one on an SQLite file. Its log is JSON lines on "
        "standard error.",
        (
            ("lead-router run", "route, with the settings of the environment and of .env"),
            ("lead-router run --env-file /etc/lead-router/lead-router.env", "the same with a settings file by name"),
        ),
        done="drained and ended",
        found="a loop died, or something hung for longer than the drain may take",
    ),
    "status": Page(
        "Tells whether a router runs and who listens, how full the queue is, where the stream stands, and who is next "
        "in each group. With --live or --ready it asks one question of the router that runs with these settings, as "
        "probes of containers do; that takes a tenth of a second and asks Salesforce nothing.",
        (
            ("lead-router status", "the first look when something seems wrong"),
            ("lead-router status --live", "a container's health check: would a restart help?"),
            ("lead-router status --ready --json", "are leads heard of and routed, for machines"),
        ),
        found="no router runs, or not in the state that --live or --ready asks for",
    ),
    "doctor": Page(
        "Checks settings, job database, login, metadata, permissions, rules, groups and the stream, and prints a "
        "remedy under each fault. Writes nothing. Run it after each change of settings, metadata or permissions.",
        (
            ("lead-router doctor", "everything, with remedies"),
            ("lead-router doctor --json", "the findings for machines"),
        ),
        found="something FAILs; warnings alone are 0",
    ),
    "init": Page(
        "Writes a settings file in which each setting stands with its meaning and its default, readable by its owner "
        "alone. Fill in the address of the org, the client id and a secret or key.",
        (
            ("lead-router init", ".env in this folder"),
            ("lead-router init --to /etc/lead-router/lead-router.env", "where the systemd unit reads it"),
        ),
        alone=True,
    ),
    "backup": Page(
        "Copies an SQLite job database to a file of its own, whole and of one moment, while the router runs; routing "
        "waits for none of it. The copy is checked before it gets its name, and no file is overwritten. How to put "
        "it back stands in deploy/RUNBOOK.md. For PostgreSQL it names the pg_dump command to use.",
        (
            ("lead-router backup /var/backups/lead-router.db", "a copy, beside a router that runs"),
            ("lead-router backup --json copy.db", "where it is, and how large, for machines"),
        ),
    ),
    "completion": Page(
        "Prints the script by which a shell completes the commands, verbs, options and their values.",
        (
            ("lead-router completion bash > /etc/bash_completion.d/lead-router", "for all users of bash"),
            ("lead-router completion zsh > /usr/local/share/zsh/site-functions/_lead-router", "for all users of zsh"),
            ("lead-router completion fish > ~/.config/fish/completions/lead-router.fish", "for one user of fish"),
        ),
        alone=True,
    ),
    "demo": Page(
        "Routes leads of a simulated org on this machine, with real processes, a kill -9 in the middle and a restart, "
        "and judges the result. Needs neither Salesforce nor settings.",
        (
            ("lead-router demo", "1,000 leads; some 20 seconds"),
            ("lead-router demo --console", "and afterwards go on, with the console open on that org"),
            ("lead-router demo --leads 200 --seed 7 --stream pubsub", "another story, over Pub/Sub API"),
        ),
        found="a promise did not hold",
        alone=True,
    ),
    "console": Page(
        "Serves a small set of pages to a browser: what waits now, the groups and who is next, a lead's whole story, "
        "dead jobs with retry and discard, and plans. Needs the extra 'operations'. It listens on this machine alone "
        "unless told otherwise, and for others only with a token: LEAD_ROUTER_CONSOLE_TOKEN_FILE.",
        (
            ("lead-router console", "on 127.0.0.1, port 9467"),
            ("lead-router console --address 127.0.0.1:8080", "on another port"),
            ("lead-router console --address 0.0.0.0:9467", "for others, behind a proxy that speaks TLS"),
        ),
        found=_FAULT,
    ),
}

_JOBS: Final = {
    "jobs": Page(
        "Looks at jobs, of which there is one for each lead that was heard of, and retries or discards those that are "
        "dead. A dead job's lead waits for a person.",
        (("lead-router jobs list --status dead", "which leads wait for a person, and why"),),
    ),
    "jobs list": Page(
        "Lists jobs, newest first, with their attempts and their outcome or last error.",
        (
            ("lead-router jobs list --status dead", "which leads wait for a person, and why"),
            ("lead-router jobs list --status queued --limit 500 --json", "what is due or held, for machines"),
        ),
    ),
    "jobs show": Page(
        "Shows one job's whole story: its lead, its key, its attempts, its times and what it was made from.",
        (("lead-router jobs show 4711", "job 4711"),),
    ),
    "jobs retry": Page(
        "Queues a dead job again, with all its attempts. Mend first what its error names, or it dies again.",
        (("lead-router jobs retry 4711", "try job 4711 once more"),),
    ),
    "jobs discard": Page(
        "Ends a dead job for good; its lead stays where it is until somebody changes it. The reason is kept with it.",
        (('lead-router jobs discard 4711 --reason "test lead"', "leave its lead alone"),),
    ),
}

_DECIDING: Final = {
    "plan": Page(
        "Tells who would get each lead of a batch, with the reason, and how many leads each rep would get. Writes "
        "nothing: the turns are played through in memory from where they stand.",
        (
            (
                'lead-router plan --soql "CreatedDate = LAST_N_DAYS:7" --anew',
                "last week's leads, had they just come in",
            ),
            ("lead-router plan --csv leads.csv --format csv", "leads of a file, before they are imported"),
            (
                'lead-router plan --soql "CreatedDate = TODAY" --at 2026-12-24T20:00:00+01:00',
                "today's leads, judged by the hours and absences of that evening",
            ),
        ),
    ),
    "explain": Page(
        "Tells one lead's whole decision: what the ledger says of it, what its job waits for, every rule with met or "
        "not met, and every member with the reason why they could or could not take it.",
        (
            ("lead-router explain 00Q5g00000AbCdEEAV", "why this rep, or why nobody"),
            ("lead-router explain 00Q5g00000AbCdEEAV --json", "the same for machines"),
        ),
    ),
    "notices": Page(
        "What channels outside (Slack, Teams, e-mail, the bell of Lightning) were told of assignments, and whether "
        "they can be told anything. Which there are stands in the file that LEAD_ROUTER_NOTICE_FILE names.",
        (("lead-router notices test", "one letter to each channel"),),
        found="a letter of `notices test` did not go out",
    ),
    "notices list": Page(
        "Notices, newest first: to whom, on which channel, and what became of each. failed was given up; unknown may "
        "have gone out and is not sent again; dropped was no longer so.",
        (("lead-router notices list --status failed", "what was given up, and why"),),
    ),
    "notices test": Page(
        "Sends one letter to each channel, now, past the outbox; Salesforce's own notification goes to the user that "
        "--to names.",
        (
            ("lead-router notices test --channel sales-team", "after its address was changed"),
            ("lead-router notices test --channel salesforce --to 005000000000001AAA", "may it send notifications?"),
        ),
        done="all of them went out",
        found="one did not, with its reason",
    ),
    "observe": Page(
        "Tells what groups in mode Observe would have done.",
        (("lead-router observe report", "beside what really happened"),),
    ),
    "observe report": Page(
        "Compares what groups in mode Observe would have done with what really happened: how often the same owner, "
        "what share each rep, how much sooner.",
        (("lead-router observe report", "the figures to look at before a group goes Live"),),
    ),
    "touches": Page(
        "Tells of the leads of the last days how long half of them, and 95 in 100, waited for an owner and for a first "
        "call, task or event, by group; and what the first-touch clock did: reminders, re-routes, leads that came to a "
        "manager. Reads the ledger, activities and the job database, and writes nothing.",
        (
            ("lead-router touches", "the last week"),
            ("lead-router touches --days 30 --json", "the last month, for machines"),
        ),
    ),
    "rules": Page(
        "Checks and tests rules, and keeps them in files beside the org: pull, edit, test, push.",
        (
            ("lead-router rules check", "the org's rules, as they are"),
            ("lead-router rules pull --to rules", "begin to keep them in files"),
        ),
        found="`check` or `test` found something, or `pull` left rules to be merged by hand",
    ),
    "rules check": Page(
        "Finds unknown fields, wrong types, rules that no lead reaches, and groups without members.",
        (
            ("lead-router rules check", "the org's rules"),
            ("lead-router rules check --files rules --strict", "rules in files, where warnings count too"),
        ),
        found="it found something",
    ),
    "rules test": Page(
        "Tries the cases of a folder on its rules: which rule and group each lead of a table meets. Needs no org.",
        (("lead-router rules test --files rules", "all cases of the folder"),),
        found="a case came out otherwise, or the rules are wrong",
        alone=True,
    ),
    "rules pull": Page(
        "Writes the org's rules to a folder, and keeps changes there that were not pushed.",
        (("lead-router rules pull --to rules", "make the folder, or bring it up to date"),),
        found="rules are left to be merged by hand",
    ),
    "rules push": Page(
        "Shows what would change in the org, and with --yes changes it, unless the org's rules moved meanwhile.",
        (
            ("lead-router rules push --from rules", "show the differences"),
            ("lead-router rules push --from rules --yes", "write them"),
        ),
    ),
    "audit": Page(
        "Measures an org as it is, before anything is changed: leads with two owners within minutes, leads that "
        "waited, uneven shares, rotations that began anew, pollers, owners who are gone; what each cost, and the "
        "smallest change that would help. Only reads, and needs nothing of ours in the org. Where too little is known, "
        "it says how much is there, and what it takes.",
        (
            ("lead-router audit --html report.html", "the last 90 days of the org, as one file with charts"),
            ("lead-router audit --csv exports --zone Europe/Paris --json", "exported files, for machines"),
        ),
    ),
    "verify": Page(
        "Rebuilds every rotation from the ledger and holds groups, members, leads and jobs against it; each drift is "
        "told with its first turn and its likely cause. Routers may go on meanwhile. --repair shows what it "
        "would write, and writes after a yes, at a terminal or by --yes, under the rules that each commit is under; "
        "never the ledger or an owner.",
        (
            ("lead-router verify", "all groups, their leads and the jobs"),
            ("lead-router verify --group emea --repair", "what would be written for one group, and a question"),
            (
                "lead-router verify --repair --yes",
                "write it unasked, unless a turn is taken meanwhile, and judge again",
            ),
            ("lead-router verify --since 2026-01-01T00:00:00Z", "older rows were archived, and may lack"),
        ),
        done="no drift",
        found="it found a drift, or a repair left some",
    ),
}

PAGES: Final = {**_OPERATING, **_JOBS, **_DECIDING}
"""The key is the words after `lead-router`; a command that a release does not have is passed over."""
