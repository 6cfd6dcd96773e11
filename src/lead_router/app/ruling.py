"""`lead-router rules`: check, test, pull and push, between files and the org."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lead_router.app.foreseeing import refuse_unloadable
from lead_router.app.orgrules import OrgRules, group_keys, queue_names, read_rules, targets, write_rules
from lead_router.app.wiring import Wired, now, wire
from lead_router.core.duty import moment_of, off_duty
from lead_router.core.model import Configuration, Group, Snapshot
from lead_router.core.rules import rulebook
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria, BadRules, Misconfigured
from lead_router.ports import Finding
from lead_router.rulefiles import (
    ORG_FILE,
    ORG_RULES_FILE,
    RULES_FILE,
    Difference,
    Folder,
    Pulled,
    Surroundings,
    Tried,
    check,
    differences,
    drift,
    org_text,
    read_folder,
    rules_text,
    tried,
)
from lead_router.salesforce.configuration import ACCEPTS, field_types
from lead_router.salesforce.names import Objects
from lead_router.salesforce.ungated import ungated
from lead_router.settings import Settings


class Wrote(StrEnum):
    """Which rules a pull wrote: the files' own, none because they had edits, or the org's beside those edits."""

    RULES = "rules"
    KNOWN = "known"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class Got:
    """What became of the org's rules since the last pull, and what this one wrote of them.

    `first` says that there was no earlier pull of this org, so that every rule is new.
    """

    differences: tuple[Difference, ...]
    wrote: Wrote
    first: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """What a push changes in the org; `written` says whether it did."""

    differences: tuple[Difference, ...]
    written: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of a folder's cases; none is tried on rules with `faults`, which no org would take."""

    faults: tuple[Finding, ...]
    results: tuple[Tried, ...]


def check_files(folder: Path) -> list[Finding]:
    """Findings about a folder's rules; raises Misconfigured where a file cannot be read."""
    read = read_folder(folder)
    return check(read.rules, _around(read.pulled))


def check_org(settings: Settings) -> list[Finding]:
    """Findings about the org's rules, groups and members."""
    return check_org_in(wire(settings))


def check_org_in(wired: Wired) -> list[Finding]:
    """The same for an org within reach."""
    rules = [one.rule for one in read_rules(wired.rest).rules]
    types = field_types(wired.rest.get(f"sobjects/{Objects.LEAD}/describe"))
    try:
        configuration = wired.org.configuration()
    except Misconfigured as fault:
        found = [one for one in check(rules, Surroundings(types, {})) if not one.ok and "no group" not in one.detail]
        told = any(not one.ok and not one.warning for one in found)
        first = "" if told else f"{fault}; "
        detail = f"{first}groups and members were not looked at"
        return [*found, Finding("configuration", ok=False, detail=detail, remedy="mend this first, then check again")]
    snapshot = wired.org.snapshot(configuration, (), ())
    around = Surroundings(types, _on_duty_ever(configuration, snapshot), frozenset(configuration.queues))
    members = [one for group in _by_key(snapshot) for one in _members(group, configuration, snapshot)]
    of_rules = frozenset(rulebook(configuration).warnings)  # told by `check`
    others = [
        Finding("configuration", ok=False, detail=told, remedy="change the record that is named", warning=True)
        for told in configuration.warnings
        if told not in of_rules and ACCEPTS not in told  # these are told by member
    ]
    return [*check(rules, around), *members, *ungated(configuration, snapshot.groups.values()), *others]


def tried_files(folder: Path) -> Trial:
    """The folder's cases, tried on its rules unless these cannot be used; raises Misconfigured where there are none."""
    read = read_folder(folder)
    if not read.cases:
        raise Misconfigured(f"the folder {folder} holds no cases: write some under `cases:` in a file of their own")
    bad = _faults(read)
    if bad:
        return Trial(tuple(bad), ())
    return Trial((), tuple(tried(read.cases, read.rules, _around(read.pulled).fields, now())))


def _faults(read: Folder) -> list[Finding]:
    """What `check` says against the rules, without what it only warns of."""
    return [one for one in check(read.rules, _around(read.pulled)) if not one.ok and not one.warning]


def pull(settings: Settings, folder: Path, *, force: bool) -> Got:
    """Write the org's rules and what is known of the org to files; edits that were not pushed stay, without `force`.

    Where the org's rules changed as well, they are put beside the edited ones, to be merged by hand. Raises
    Misconfigured for edits of rules of another org.
    """
    return pull_in(wire(settings), folder, force=force)


def pull_in(wired: Wired, folder: Path, *, force: bool) -> Got:
    """The same for an org within reach."""
    folder.mkdir(parents=True, exist_ok=True)
    read = read_folder(folder)
    _refuse_elsewhere(folder, read)
    org = read_rules(wired.rest)
    rules = tuple(one.rule for one in org.rules)
    pulled = _seen(wired, org)
    known = read.pulled if read.pulled is not None and read.pulled.org_id == pulled.org_id else None
    before = () if known is None else known.rules
    wrote = Wrote.RULES if force else _writable(folder, read, pulled)
    match wrote:
        case Wrote.RULES:
            (folder / RULES_FILE).write_text(rules_text(rules), encoding="utf-8")
            (folder / ORG_RULES_FILE).unlink(missing_ok=True)
        case Wrote.BESIDE:
            (folder / ORG_RULES_FILE).write_text(rules_text(rules), encoding="utf-8")
        case Wrote.KNOWN:
            pass
    (folder / ORG_FILE).write_text(org_text(pulled), encoding="utf-8")
    return Got(differences(before, rules), wrote, first=known is None)


def push(settings: Settings, folder: Path, *, yes: bool, delete_all: bool = False) -> Move:
    """What makes the org's rules those of the files; done only with `yes`, in one transaction.

    Raises Misconfigured where the org's rules are no longer as they were pulled, the files' rules cannot be used, or
    there are none: no file of rules, or an empty one without `delete_all`.
    """
    return push_in(wire(settings), folder, yes=yes, delete_all=delete_all)


def push_in(wired: Wired, folder: Path, *, yes: bool, delete_all: bool = False) -> Move:
    """The same for an org within reach."""
    read = read_folder(folder)
    if read.pulled is None:
        raise Misconfigured(f"{folder} holds no {ORG_FILE}: pull first, a push goes by what was pulled")
    if read.pulled.org_id != wired.tokens.token().org_id:
        raise Misconfigured(f"these files were pulled from org {read.pulled.org_id}, not from this one: pull from it")
    bad = _faults(read)
    if bad:
        raise BadRules("\n".join(f"{one.name}: {one.detail}; {one.remedy}" for one in bad))
    org = read_rules(wired.rest)
    found = differences(org.rules, read.rules)
    _refuse_nothing(folder, read, org, delete_all=delete_all)
    moved = drift(read.pulled.rules, org.rules)
    if moved and found:
        told = "\n".join(str(one) for one in moved)
        raise Misconfigured(
            f"the org's rules were changed since they were pulled; pull, merge, and push again:\n{told}"
        )
    ids = targets(wired.rest, found)
    if found:
        refuse_unloadable(wired, read.rules, found, ids)
    if found and not yes:
        return Move(found, written=False)
    if found:
        write_rules(wired.rest, org, found, ids)
    if found or moved:  # a push whose answer was lost has left the org as the files want it
        (folder / ORG_FILE).write_text(org_text(_seen(wired, read_rules(wired.rest))), encoding="utf-8")
    (folder / ORG_RULES_FILE).unlink(missing_ok=True)
    return Move(found, written=bool(found))


def _refuse_nothing(folder: Path, read: Folder, org: OrgRules, *, delete_all: bool) -> None:
    """A wrong checkout, or a file that was not saved, must not empty the org."""
    if read.rules or not org.rules:
        return
    if not (folder / RULES_FILE).is_file():
        raise Misconfigured(f"{folder / RULES_FILE} is missing: check it out, or pull; nothing was written")
    if not delete_all:
        raise Misconfigured(
            f"{folder} holds no rules, a push would delete all {len(org.rules)} rules of the org: if that is meant, "
            "add --delete-all"
        )


def _refuse_elsewhere(folder: Path, read: Folder) -> None:
    elsewhere = next((rule.at.file for rule in read.rules if rule.at.file != RULES_FILE), None)
    if elsewhere is not None:
        raise Misconfigured(f"{folder / elsewhere} holds rules too: pull writes {RULES_FILE} alone; move them there")


def _writable(folder: Path, read: Folder, org: Pulled) -> Wrote:
    """Whether the files hold edits that a pull would lose, and whether the org's rules changed besides."""
    before = read.pulled
    if not read.rules or not differences(org.rules, read.rules):
        return Wrote.RULES
    if before is not None and not differences(before.rules, read.rules):
        return Wrote.RULES
    if before is not None and before.org_id != org.org_id:
        raise Misconfigured(
            f"{folder / RULES_FILE} has changes that were not pushed to org {before.org_id}: push them there, or add "
            "--force to lose them"
        )
    # A merge that an earlier pull asked for is not done while its file lies there.
    if before is None or drift(before.rules, org.rules) or (folder / ORG_RULES_FILE).exists():
        return Wrote.BESIDE
    return Wrote.KNOWN


def _seen(wired: Wired, org: OrgRules) -> Pulled:
    """What a pull writes down; of an org whose configuration is refused, so that it can be mended, without duty."""
    try:
        configuration = wired.org.configuration()
        groups = _on_duty_ever(configuration, wired.org.snapshot(configuration, (), ()))
    except Misconfigured:
        groups = dict.fromkeys(group_keys(wired.rest), 1)
    return Pulled(
        org_id=wired.tokens.token().org_id,
        rules=org.rules,
        fields=field_types(wired.rest.get(f"sobjects/{Objects.LEAD}/describe")),
        groups=groups,
        queues=queue_names(wired.rest),
    )


def _around(pulled: Pulled | None) -> Surroundings:
    if pulled is None:
        return Surroundings()
    return Surroundings(pulled.fields or None, pulled.groups, frozenset(pulled.queues))


def _by_key(snapshot: Snapshot) -> list[Group]:
    return sorted(snapshot.groups.values(), key=lambda group: group.key)


def _on_duty_ever(configuration: Configuration, snapshot: Snapshot) -> Mapping[str, int]:
    moment = moment_of(configuration, snapshot.taken_at, snapshot.open_leads, snapshot.unfit)
    return {
        group.key: sum(1 for one in group.members if not ((off := off_duty(one, group, moment)) and off.lasting))
        for group in _by_key(snapshot)
    }


def _members(group: Group, configuration: Configuration, snapshot: Snapshot) -> Iterator[Finding]:
    """Members that only an admin can bring on duty, and those whose criteria cannot be used."""
    moment = moment_of(configuration, snapshot.taken_at, snapshot.open_leads, snapshot.unfit)
    if not group.members:
        yield Finding(f"group '{group.key}'", ok=False, warning=True, detail="has no members", remedy="add members")
    for one in sorted(group.members, key=lambda one: (one.sort_order, one.id)):
        name = f"group '{group.key}' member {one.name}"
        off = off_duty(one, group, moment)
        if off is not None and off.lasting:
            remedy = "mend this, or take the member out of the group"
            yield Finding(name, ok=False, warning=True, detail=f"can never be on duty: {off.text}", remedy=remedy)
        if not one.reads_leads:
            yield Finding(name, ok=False, warning=True, detail="cannot read leads", remedy="give the user that right")
        if one.user_id in configuration.intake_owners:
            detail, remedy = (
                "is an intake user, and gets no lead",
                "take it out of LEAD_ROUTER_INTAKE_USERS or the group",
            )
            yield Finding(name, ok=False, warning=True, detail=detail, remedy=remedy)
        try:
            compile_where(one.accepts, configuration.field_types or None)
        except BadCriteria as fault:
            detail = f"{ACCEPTS}, character {fault.at + 1}: {fault}"
            yield Finding(name, ok=False, detail=detail, remedy="correct them; until then the member gets no lead")
