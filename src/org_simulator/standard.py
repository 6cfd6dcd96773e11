from __future__ import annotations

import re

from org_simulator.sobjects import Field, SObject
from org_simulator.standard_fields import FIELDS
from org_simulator.system_fields import system_fields

_LINE = re.compile(
    r"(?P<name>\w+) (?P<type>\w+)(?:\((?P<size>[\d.]+)\))?(?P<flags>(?: (?:required|readonly|unique|restricted))*)"
    r"(?: ->(?P<target>\w+))?(?: =\"(?P<default>[^\"]*)\")?"
)

LEAD_SOURCES = ("Web", "Phone Inquiry", "Partner Referral", "Purchased List", "Other")
LEAD_STATUSES = ("Open - Not Contacted", "Working - Contacted", "Closed - Converted", "Closed - Not Converted")
CONVERTED_STATUS = "Closed - Converted"
INDUSTRIES = ("Agriculture", "Banking", "Education", "Finance", "Healthcare", "Manufacturing", "Retail", "Technology")
RECURRENCES = (
    "RecursDaily",
    "RecursEveryWeekday",
    "RecursWeekly",
    "RecursMonthly",
    "RecursMonthlyNth",
    "RecursYearly",
    "RecursYearlyNth",
)
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
PICKLISTS = {
    "Lead.Salutation": ("Mr.", "Ms.", "Mrs.", "Dr.", "Prof.", "Mx."),
    "Lead.LeadSource": LEAD_SOURCES,
    "Lead.Status": LEAD_STATUSES,
    "Lead.Industry": INDUSTRIES,
    "Lead.Rating": ("Hot", "Warm", "Cold"),
    "Account.Industry": INDUSTRIES,
    "Opportunity.LeadSource": LEAD_SOURCES,
    "Opportunity.StageName": ("Prospecting", "Qualification", "Closed Won", "Closed Lost"),
    "Task.Status": ("Not Started", "In Progress", "Completed", "Waiting on someone else", "Deferred"),
    "Task.Priority": ("High", "Normal", "Low"),
    "Task.TaskSubtype": ("Task", "Email", "Call", "ListEmail"),
    "Holiday.RecurrenceType": RECURRENCES,
    "Holiday.RecurrenceInstance": ("First", "Second", "Third", "Fourth", "Last"),
    "Holiday.RecurrenceMonthOfYear": MONTHS,
    "Group.Type": ("Regular", "Queue", "Role", "Organization"),
}
POLYMORPHIC = {
    "GroupMember.UserOrGroupId": ("Group", "User"),
    "Task.WhoId": ("Contact", "Lead"),
    "Event.WhoId": ("Contact", "Lead"),
}
TASK_CLOSED = "Completed"


def standard_objects() -> dict[str, SObject]:
    """The standard objects by name, without anything an org has added."""
    sections = [section.splitlines() for section in FIELDS.split("# ") if section]
    objects = [_sobject(head, lines) for head, *lines in sections]
    return {sobject.name: sobject for sobject in objects}


def _sobject(head: str, lines: list[str]) -> SObject:
    identity, label, plural = head.split(" | ")
    name, prefix, ownership = identity.split()
    owned = ownership == "owned"
    fields = [_field(name, line) for line in lines if line]
    every = {**system_fields(owned=owned), **{field.name.lower(): field for field in fields}}
    return SObject(name, prefix, label, plural, every, owned=owned)


def _field(sobject: str, line: str) -> Field:
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise ValueError(f"{sobject}: {line}")
    name, kind, target = parts["name"], parts["type"], parts["target"]
    flags = parts["flags"].split()
    size, _, scale = (parts["size"] or "0").partition(".")
    reference_to = POLYMORPHIC.get(f"{sobject}.{name}", (target,) if target else ())
    return Field(
        name=name,
        type=kind,
        label=_label(name),
        length=18 if kind == "reference" else 0 if scale else int(size),
        precision=int(size) if scale else 0,
        scale=int(scale or 0),
        required="required" in flags,
        unique="unique" in flags,
        reference_to=reference_to,
        relationship=name.removesuffix("Id") if reference_to else None,
        picklist=PICKLISTS.get(f"{sobject}.{name}", ()),
        restricted="restricted" in flags,
        default=(parts["default"] == "true") if kind == "boolean" else parts["default"],
        createable="readonly" not in flags,
        updateable="readonly" not in flags,
    )


def _label(name: str) -> str:
    """`ConvertedAccountId` reads `Converted Account ID`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace(" Id", " ID")
