"""Is this org ready to route in? Every finding names its remedy. Reads only; about ten API calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lead_router.core.duty import Moment, moment_of, off_duty, on_duty
from lead_router.core.model import Configuration, Group, Mode, ToGroup
from lead_router.errors import (
    ContractMismatch,
    LeadRouterError,
    LoginRefused,
    Misconfigured,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Transient,
    Unreachable,
)
from lead_router.ports import Finding, Org
from lead_router.salesforce import queries
from lead_router.salesforce.auth import SKEW_MAX_S, TokenHolder
from lead_router.salesforce.names import (
    API_VERSION,
    AbsenceFields,
    Channels,
    GroupFields,
    LeadFields,
    LedgerFields,
    MemberFields,
    Objects,
    Permissions,
    RuleFields,
    Standard,
)
from lead_router.salesforce.reading import read
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.selection import change_events, configuration_events
from lead_router.salesforce.statuses import unknown_statuses
from lead_router.salesforce.ungated import ungated

CALLS_LEFT_MIN = 0.1  # share of the daily allowance
COUNTED_MAX = 2_000  # unassigned leads that are counted: a query's first page

_DEPLOY = f"deploy salesforce_metadata and assign the permission set {Permissions.INTEGRATION_SET} to this user"
_ASSIGN = f"assign the permission set {Permissions.INTEGRATION_SET} to this user"
_NETWORK = (
    "check LEAD_ROUTER_LOGIN_URL, and the way there: name resolution, proxy, port 443 "
    "(plain http is for an org on this machine alone)"
)


@dataclass(frozen=True, slots=True)
class Need:
    """What the router must find on an object, and what it must be able to create or change there."""

    sobject: str
    fields: frozenset[str]
    creates: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()


def _all(holder: type) -> frozenset[str]:
    return frozenset(value for name, value in vars(holder).items() if name.isupper() and isinstance(value, str))


NEEDS = (
    Need(
        Objects.LEAD,
        _all(LeadFields) | {Standard.EMAIL, Standard.PHONE, Standard.STATUS},
        changes=_all(LeadFields) | {Standard.OWNER},
    ),
    Need(
        Objects.GROUP,
        _all(GroupFields),
        changes=frozenset({GroupFields.TURN, GroupFields.CLOCK, GroupFields.EXPECTED_TURN}),
    ),
    Need(
        Objects.MEMBER,
        _all(MemberFields),
        changes=frozenset(
            {
                MemberFields.NEXT_TURN,
                MemberFields.LAST_TURN,
                MemberFields.LEADS_RECEIVED,
                MemberFields.CAP_DAY,
                MemberFields.CAP_COUNT,
            }
        ),
    ),
    Need(Objects.RULE, _all(RuleFields)),
    Need(Objects.ABSENCE, _all(AbsenceFields) - {AbsenceFields.REASON}),  # why someone is away is theirs
    Need(Objects.LEDGER, _all(LedgerFields), creates=_all(LedgerFields)),
)


def diagnose(
    rest: Rest,
    tokens: TokenHolder,
    org: Org,
    *,
    usernames: Sequence[str] = (),
    notices: Sequence[str] = Channels.CONFIGURATION,
) -> list[Finding]:
    """All findings, in the order in which a person would put things right. Stops where nothing further can be seen.

    `usernames` are those whose leads are unassigned, `notices` the change events that tell of configuration. What is as
    needed has no remedy and is no warning.
    """
    found = _examined(rest, tokens, org, usernames, notices)
    return [replace(finding, remedy="", warning=False) if finding.ok else finding for finding in found]


def _examined(
    rest: Rest, tokens: TokenHolder, org: Org, usernames: Sequence[str], notices: Sequence[str]
) -> list[Finding]:
    login = _guarded("login", lambda: [_login(tokens)])
    if not all(finding.ok for finding in login):
        return login
    api = _guarded("API version", lambda: _limits(rest))
    found = [*login, _clock(tokens), *api]
    if not all(finding.ok or finding.warning for finding in api):
        return found
    for need in NEEDS:
        found += _guarded(need.sobject, lambda need=need: _object(rest, need))  # type: ignore[misc]
    found += _guarded("change events", lambda: [change_events(rest)])
    found += _guarded("configuration events", lambda: configuration_events(rest, notices))
    found += _guarded("frozen users", lambda: [_frozen(rest)])
    return found + _guarded("configuration", lambda: _routing(rest, org, usernames))


def refuse_lacking(rest: Rest) -> None:
    """Raises ContractMismatch naming the first object that lacks a field or right, and the remedy. Six API calls.

    Found late, such a lack would hold up every lead: a commit that names an unknown field fails as a whole.
    """
    for need in NEEDS:
        try:
            found = _object(rest, need)
        except ContractMismatch as fault:
            raise ContractMismatch(f"{need.sobject}: {fault}; {_DEPLOY}") from None
        for finding in found:
            if not finding.ok:
                raise ContractMismatch(f"{finding.name}: {finding.detail}; {finding.remedy}")


def _guarded(name: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(look())
    except LeadRouterError as fault:
        away = isinstance(fault, Transient)
        return [Finding(name, ok=False, detail=str(fault), remedy=_remedy(fault), away=away)]


def _remedy(fault: LeadRouterError) -> str:
    return next((remedy for kinds, remedy in _REMEDIES if isinstance(fault, kinds)), _LATER)


_LATER = "look again later; should it stay so, see status.salesforce.com"
_REMEDIES: tuple[tuple[tuple[type[LeadRouterError], ...], str], ...] = (
    ((ContractMismatch,), _DEPLOY),
    ((Misconfigured,), "do what it says; then look again"),
    ((LoginRefused,), "put right the setting that is at fault, or the app in Setup"),
    ((RateLimited,), "wait, or find who uses the API calls in Setup under System Overview"),
    ((Unreachable, OutcomeUnknown), _NETWORK),
    ((Rejected,), _ASSIGN),
)


def _login(tokens: TokenHolder) -> Finding:
    token = tokens.token()
    return Finding("login", ok=True, detail=f"user {token.user_id} in org {token.org_id}, {token.instance_url}")


def _clock(tokens: TokenHolder) -> Finding:
    if tokens.skew_s is None:
        return Finding("clock", ok=False, detail="Salesforce told no time", warning=True, remedy="compare it by hand")
    return Finding(
        "clock",
        ok=abs(tokens.skew_s) <= SKEW_MAX_S,
        detail=f"{abs(tokens.skew_s):.0f} s {'ahead of' if tokens.skew_s > 0 else 'behind'} Salesforce",
        remedy="set this machine's clock by NTP: logins and latencies depend on it",
        warning=True,
    )


def _limits(rest: Rest) -> list[Finding]:
    limits = rest.get("limits")
    version = Finding("API version", ok=True, detail=f"v{API_VERSION} answers")
    daily = limits.get("DailyApiRequests") if isinstance(limits, dict) else None
    if not isinstance(daily, dict) or not daily.get("Max"):
        return [version]
    share = daily["Remaining"] / daily["Max"]
    left = Finding(
        "API calls left",
        ok=share >= CALLS_LEFT_MIN,
        detail=f"{daily['Remaining']} of {daily['Max']} in the rolling day",
        remedy="find who uses them in Setup under System Overview; the router waits when none are left",
        warning=True,
    )
    return [version, left]


def _object(rest: Rest, need: Need) -> list[Finding]:
    described = rest.get(f"sobjects/{need.sobject}/describe")
    fields = {str(field["name"]): field for field in described["fields"]}
    missing = sorted(need.fields - fields.keys())
    if missing:
        told = f"not there, or hidden from this user: {', '.join(missing)}"
        return [Finding(need.sobject, ok=False, detail=told, remedy=_DEPLOY)]
    denied = [
        *_denied(described, fields, need.creates, "createable"),
        *_denied(described, fields, need.changes, "updateable"),
    ]
    if denied:
        return [Finding(need.sobject, ok=False, detail=f"this user cannot write: {', '.join(denied)}", remedy=_ASSIGN)]
    return [Finding(need.sobject, ok=True, detail=f"{len(need.fields)} fields, rights as needed")]


def _denied(
    described: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]], names: frozenset[str], right: str
) -> list[str]:
    if not names:
        return []
    if not described.get(right, True):
        return [f"any record ({right} is false)"]
    return sorted(name for name in names if not fields.get(name, {}).get(right, False))


def _frozen(rest: Rest) -> Finding:
    """A frozen user can own leads, so that nothing but this right keeps leads from one."""
    if read(rest, [queries.part("frozen", queries.frozen())], {"frozen"}):
        return Finding("frozen users", ok=True, detail="seen, and passed over")
    told = "not to be seen without the right 'Manage Users': deactivate members rather than freeze them"
    return Finding("frozen users", ok=True, detail=told)


def _routing(rest: Rest, org: Org, usernames: Sequence[str]) -> list[Finding]:
    configuration = org.configuration()
    counts = f"{_counted(configuration.rules, 'active rule')}, {_counted(configuration.group_keys, 'group')}"
    found = [Finding("configuration", ok=True, detail=counts), _unassigned(org, configuration, usernames)]
    found += unknown_statuses(rest, configuration.intake_statuses)
    found += [
        Finding("configuration", ok=False, detail=warning, remedy="change the record that is named", warning=True)
        for warning in configuration.warnings
    ]
    now = org.snapshot(configuration, [], [])
    found += ungated(configuration, now.groups.values())
    moment = moment_of(configuration, now.taken_at, now.open_leads, now.unfit)
    return found + [_group(configuration, now.groups[group_id], moment) for group_id in sorted(now.groups)]


def _unassigned(org: Org, configuration: Configuration, usernames: Sequence[str]) -> Finding:
    """What counts as unassigned, and how many leads do now."""
    queues = sorted(name for name, queue in configuration.queues.items() if queue in configuration.intake_owners)
    counting = (
        ("owned by the queue", queues),
        ("owned by the user", usernames),
        ("with the status", sorted(configuration.intake_statuses)),
    )
    told = "; ".join(f"{what} {' or '.join(names)}" for what, names in counting if names)
    if configuration.unassigned.strip():
        told += "; narrowed by LEAD_ROUTER_UNASSIGNED"
    waiting = len(next(iter(org.unassigned(configuration, COUNTED_MAX)), ()))
    many = f"{COUNTED_MAX:,} or more" if waiting == COUNTED_MAX else str(waiting)
    return Finding("unassigned leads", ok=True, detail=f"{many} now: leads {told}; no other lead is ever routed")


_HELD = "its leads are held"


def _counted(things: Sequence[object] | Mapping[Any, object], what: str) -> str:
    return f"{len(things)} {what}{'s' * (len(things) != 1)}"


def _group(configuration: Configuration, group: Group, moment: Moment) -> Finding:
    name = f"group {group.key}"
    used = any(rule.target == ToGroup(group.id) for rule in configuration.rules)
    inactive = [member.name or member.user_id for member in group.members if member.active and not member.user_active]
    ever, duty = on_duty(group), len(on_duty(group, moment))
    if used and group.mode is not Mode.OFF and not ever:
        remedy = "add members, or activate one whose user is active and whose weight is above 0"
        return Finding(name, ok=False, detail="nobody is on duty: its leads wait or fall back", remedy=remedy)
    if used and group.mode is Mode.LIVE and not duty:
        offs = ((one.name or one.user_id, off_duty(one, group, moment)) for one in group.members)
        told = f"nobody is on duty now: {'; '.join(f'{name} {off.text}' for name, off in offs if off)}"
        remedy = "wait until one is; should somebody be, change the absence, hours or cap that is named"
        return Finding(name, ok=False, detail=told, remedy=remedy, warning=True)
    if inactive:
        told = f"members whose user is inactive: {', '.join(inactive)}"
        return Finding(name, ok=False, detail=told, remedy="deactivate or replace these members", warning=True)
    if used and group.mode is not Mode.LIVE:
        left = "its leads are left alone and its decisions only recorded" if group.mode is Mode.OBSERVE else _HELD
        told = f"rules name it, but its mode is {group.mode}: {left}"
        return Finding(name, ok=False, detail=told, remedy="set its mode to Live when it shall route", warning=True)
    return Finding(name, ok=True, detail=f"{group.mode}, {duty} on duty now, turn {group.turn}")
