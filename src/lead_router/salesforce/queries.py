"""The queries, as texts. Every value that comes from outside is quoted here and nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar
from urllib.parse import quote

from lead_router.errors import Misconfigured
from lead_router.salesforce.names import (
    AbsenceFields,
    GroupFields,
    HolidayFields,
    LeadFields,
    LedgerFields,
    MemberFields,
    Objects,
    Relations,
    RightsFields,
    RuleFields,
    Standard,
    Weekly,
)
from lead_router.salesforce.rest import DATA_PATH, Subrequest

T = TypeVar("T")

URL_MAX = 15_000  # characters of a subrequest's URL; Salesforce answers 414 or 431 above 16,384 with all headers
USERS_MAX = 400  # users in one query: 21 characters each, quoted
COUNTED = "counted"  # the name of a count
KEYS_MAX = 400  # submission keys in one query: 35 characters each, quoted

BASE_LEAD_FIELDS = frozenset(
    {
        Standard.OWNER,
        Standard.OWNER_TYPE,
        Standard.CREATED_AT,
        Standard.CHANGED_AT,
        Standard.CHANGED_BY,
        Standard.MODIFIED_AT,
        Standard.STATUS,
        Standard.IS_CONVERTED,
        Standard.EMAIL,
        Standard.PHONE,
        LeadFields.STAMP,
        LeadFields.ROUND,
        LeadFields.EXPECTED_OWNER,
        LeadFields.STATUS,
        LeadFields.ERROR,
        LeadFields.OVERRIDDEN_BY,
        LeadFields.OVERRIDDEN_AT,
        LeadFields.ROUTED_AT,
        LeadFields.GROUP,
    }
)
_LEDGER_FIELDS = (
    Standard.ID,
    LedgerFields.LEAD,
    LedgerFields.LEAD_KEY,
    LedgerFields.ROUND,
    LedgerFields.IDEMPOTENCY_KEY,
    LedgerFields.SUBMISSION_EVEN,
    LedgerFields.SUBMISSION_ODD,
    LedgerFields.ASSIGNED_TO,
    LedgerFields.OUTCOME,
    LedgerFields.GROUP,
    LedgerFields.ASSIGNED_FROM,
    LedgerFields.TURN,
    Standard.CREATED_AT,
    f"{Relations.LEDGER_LEAD}.{Standard.OWNER}",
)
GROUP_FIELDS = (
    GroupFields.KEY,
    Standard.NAME,
    GroupFields.MODE,
    GroupFields.EPOCH,
    GroupFields.TURN,
    GroupFields.CLOCK,
    GroupFields.FALLBACK_QUEUE,
    GroupFields.FALLBACK_GROUP,
    GroupFields.BUSINESS_HOURS,
    GroupFields.MANAGER,
    f"{Relations.GROUP_MANAGER}.{Standard.IS_ACTIVE}",
    GroupFields.REROUTE,
    GroupFields.COUNT_MANUAL,
    GroupFields.ACCEPT_WITHIN,
    GroupFields.ACCEPT_CHAIN_MAX,
)
MEMBER_FIELDS = (
    Standard.ID,
    MemberFields.GROUP,
    MemberFields.USER,
    f"{Relations.MEMBER_USER}.{Standard.NAME}",
    f"{Relations.MEMBER_USER}.{Standard.IS_ACTIVE}",
    f"{Relations.MEMBER_USER}.{Standard.TIME_ZONE}",
    MemberFields.WEIGHT,
    MemberFields.SORT_ORDER,
    MemberFields.ACTIVE,
    MemberFields.NEXT_TURN,
    MemberFields.LAST_TURN,
    MemberFields.LEADS_RECEIVED,
    MemberFields.BUSINESS_HOURS,
    MemberFields.DAILY_CAP,
    MemberFields.CAP_DAY,
    MemberFields.CAP_COUNT,
    MemberFields.OPEN_LEAD_CAP,
    MemberFields.ACCEPTS,
)
_RULE_FIELDS = (
    Standard.ID,
    Standard.NAME,
    RuleFields.PRECEDENCE,
    RuleFields.CRITERIA,
    RuleFields.TARGET_GROUP,
    RuleFields.TARGET_USER,
    f"{Relations.RULE_USER}.{Standard.NAME}",
    f"{Relations.RULE_USER}.{Standard.IS_ACTIVE}",
    RuleFields.TARGET_QUEUE,
    RuleFields.TARGET_MATCH,
    RuleFields.MATCH_ON,
    RuleFields.MATCH_OFF_DUTY,
)


def text(value: str) -> str:
    """A SOQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def like(pattern: str, value: str) -> str:
    """A SOQL string literal for LIKE: the value stands at `{}`, its own `%` and `_` are no wildcards."""
    literal = text(value)[1:-1].replace("%", "\\%").replace("_", "\\_")
    return f"'{pattern.format(literal)}'"


def instant(value: datetime) -> str:
    """A SOQL date-time literal, in UTC, to the millisecond."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def among(field: str, values: Iterable[str]) -> str:
    """`field IN (…)`, without blanks, which would be three characters each in a URL."""
    return f"{field} IN ({','.join(text(value) for value in values)})"


def select(fields: Iterable[str], sobject: str, tail: str = "") -> str:
    """`SELECT … FROM …`, with what follows it."""
    return f"SELECT {','.join(fields)} FROM {sobject} {tail}".rstrip()  # noqa: S608 - values pass `text`


def rules() -> str:
    """Active rules by precedence."""
    tail = f"WHERE {RuleFields.ACTIVE} = true ORDER BY {RuleFields.PRECEDENCE}, {Standard.ID}"
    return select(_RULE_FIELDS, Objects.RULE, tail)


def groups() -> str:
    """All groups."""
    return select((Standard.ID, *GROUP_FIELDS), Objects.GROUP, f"ORDER BY {Standard.ID}")


def members() -> str:
    """All members; a group's rows stand together. Read behind the groups: what moved between makes a commit refused."""
    return select(MEMBER_FIELDS, Objects.MEMBER, f"ORDER BY {MemberFields.GROUP}, {Standard.ID}")


def queues() -> str:
    """All queues; public groups live in the same object and may bear the same names."""
    return select((Standard.ID, Standard.DEVELOPER_NAME), Objects.QUEUE, f"WHERE {Standard.TYPE} = 'Queue'")


def users(usernames: Collection[str]) -> str:
    """Users by username."""
    return select((Standard.ID, "Username"), Objects.USER, f"WHERE {among('Username', sorted(usernames))}")


def user_names(user_ids: Sequence[str]) -> str:
    """The names of these users."""
    return select((Standard.ID, Standard.NAME), Objects.USER, f"WHERE {among(Standard.ID, user_ids)}")


def business_hours() -> str:
    """Active hours with their week."""
    fields = (Standard.ID, Standard.NAME, Standard.TIME_ZONE, *Weekly.START, *Weekly.END)
    return select(fields, Objects.BUSINESS_HOURS, f"WHERE {Standard.IS_ACTIVE} = true ORDER BY {Standard.ID}")


def holidays(since: datetime) -> str:
    """Holidays that recur, or fall on the day of `since` or later."""
    fields = (Standard.ID, Standard.NAME, *(name for key, name in vars(HolidayFields).items() if key.isupper()))
    tail = f"WHERE {HolidayFields.RECURS} = true OR {HolidayFields.DAY} >= {since.date().isoformat()}"
    return select(fields, Objects.HOLIDAY, f"{tail} ORDER BY {Standard.ID}")


def absences(at: datetime) -> str:
    """Absences that are not over, whichever of their dates is the later one."""
    fields = (Standard.ID, Standard.NAME, AbsenceFields.USER, AbsenceFields.START, AbsenceFields.END)
    tail = f"WHERE {AbsenceFields.END} > {instant(at)} OR {AbsenceFields.START} > {instant(at)}"
    return select(fields, Objects.ABSENCE, f"{tail} ORDER BY {Standard.ID}")


def frozen() -> str:
    """Users that may not log in for now; only who may manage users sees them."""
    return select((Standard.USER,), Objects.USER_LOGIN, f"WHERE {Standard.IS_FROZEN} = true")


def readers(user_ids: Sequence[str]) -> str:
    """Those of the users whose profile or permission sets let them read leads, once for each of these sets."""
    reading = f"{RightsFields.SOBJECT} = {text(Objects.LEAD)} AND {RightsFields.READS} = true"
    sets = select((RightsFields.PARENT,), Objects.OBJECT_RIGHTS, f"WHERE {reading}")
    tail = f"WHERE {among(RightsFields.ASSIGNEE, user_ids)} AND {RightsFields.SET} IN ({sets})"
    return select((RightsFields.ASSIGNEE,), Objects.SET_ASSIGNMENT, tail)


def open_leads(user_ids: Sequence[str], clause: str) -> str:
    """How many leads each user owns that are not converted and meet the clause; who owns none is not told of."""
    parts = [f"{Standard.IS_CONVERTED} = false", among(Standard.OWNER, user_ids)]
    if clause.strip():
        parts.append(f"({clause})")
    tail = f"WHERE {' AND '.join(parts)} GROUP BY {Standard.OWNER}"
    return select((Standard.OWNER, f"COUNT({Standard.ID}) {COUNTED}"), Objects.LEAD, tail)


def gone(lead_ids: Sequence[str]) -> str:
    """Deleted leads, with those they were merged into; to be asked of the recycle bin."""
    fields = (Standard.ID, Standard.MERGED_INTO)
    return select(fields, Objects.LEAD, f"WHERE {among(Standard.ID, lead_ids)} AND {Standard.IS_DELETED} = true")


def leads(fields: frozenset[str], lead_ids: Sequence[str]) -> str:
    """Leads by id; deleted ones do not come."""
    columns = (Standard.ID, *sorted(fields - {Standard.ID}))
    return select(columns, Objects.LEAD, f"WHERE {among(Standard.ID, lead_ids)}")


def ledger(field: str, values: Sequence[str]) -> str:
    """Ledger rows by one of their keys."""
    return select(_LEDGER_FIELDS, Objects.LEDGER, f"WHERE {among(field, values)}")


def submissions(keys: Sequence[str]) -> str:
    """Ledger rows that hold one of these submission keys, each looked for in the column of its bucket's parity."""
    even = sorted(key for key in keys if key.startswith("e"))
    odd = sorted(key for key in keys if not key.startswith("e"))
    columns = ((LedgerFields.SUBMISSION_EVEN, even), (LedgerFields.SUBMISSION_ODD, odd))
    held = " OR ".join(among(column, values) for column, values in columns if values)
    return select(_LEDGER_FIELDS, Objects.LEDGER, f"WHERE {held}")


def committed(lead_keys: Sequence[str]) -> str:
    """The idempotency keys under which rounds of leads were given out."""
    fields = (LedgerFields.LEAD_KEY, LedgerFields.IDEMPOTENCY_KEY)
    return select(fields, Objects.LEDGER, f"WHERE {among(LedgerFields.LEAD_KEY, lead_keys)}")


def part(reference: str, soql: str, *, deleted: bool = False) -> Subrequest:
    """A query as part of a composite request; raises Misconfigured where its URL is longer than URL_MAX.

    With `deleted` it also finds what is in the recycle bin.
    """
    path = _path(soql, deleted=deleted)
    if len(DATA_PATH) + len(path) > URL_MAX:
        raise Misconfigured(
            f"the query '{reference}' has {len(path)} characters, {URL_MAX} are possible: let rules use fewer fields"
        )
    return Subrequest("GET", reference, path)


def fits(soql: str) -> bool:
    """Whether the query can be part of a composite request."""
    return len(DATA_PATH) + len(_path(soql)) <= URL_MAX


def _path(soql: str, *, deleted: bool = False) -> str:
    return ("queryAll?q=" if deleted else "query?q=") + quote(soql, safe="'(),*=:")


def chunks(values: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The values in tuples of at most `size`."""
    waiting = iter(values)
    while chunk := tuple(islice(waiting, size)):
        yield chunk
