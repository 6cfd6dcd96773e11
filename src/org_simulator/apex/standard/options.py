"""Objects of the platform that are little more than their properties: DMLOptions, mail, finalizers' contexts."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import constant, method, static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.values import EnumValue, Id, ListValue, Native

RESULTS = ("SUCCESS", "UNHANDLED_EXCEPTION")
for _place, _name in enumerate(RESULTS):
    constant(
        f"ParentJobResult.{_name}",
        "ParentJobResult",
        lambda _name=_name, _place=_place: EnumValue("ParentJobResult", _name, _place),  # type: ignore[misc]
    )


@static("DMLOptions.new", "DMLOptions")
def new_options(_session: Any) -> Native:
    return Native(
        "DMLOptions",
        {
            "assignmentruleheader": Native("DMLOptions", {"usedefaultrule": None, "assignmentruleid": None}),
            "duplicateruleheader": Native("DMLOptions", {"allowsave": None, "runascurrentuser": None}),
            "emailheader": Native("DMLOptions", {"triggeruseremail": None, "triggerautoresponseemail": None}),
            "optallornone": None,
            "allowfieldtruncation": None,
        },
    )


def settled(options: Native) -> tuple[bool, bool]:
    """AllOrNone and whether assignment rules run; Unsupported for what would change more."""
    held = options.held
    header = held["assignmentruleheader"].held
    if header["assignmentruleid"] is not None or held["allowfieldtruncation"]:
        raise Unsupported("DMLOptions with a rule's id or field truncation")
    together = held["optallornone"]
    return together is not False, header["usedefaultrule"] is True


# ---- mail -----------------------------------------------------------------------------------------------------------


@static("SingleEmailMessage.new", "SingleEmailMessage")
def new_mail(_session: Any) -> Native:
    return Native("SingleEmailMessage", {})


def _setter(name: str) -> None:
    def keep(_session: Any, value: Native, given: Any) -> None:
        value.held[name] = given

    method(f"SingleEmailMessage.set{name}", "void", 1)(keep)


for _name in (
    *("ToAddresses", "Subject", "PlainTextBody", "HtmlBody", "TargetObjectId", "SaveAsActivity", "ReplyTo"),
    *("SenderDisplayName", "TreatTargetObjectAsRecipient", "CcAddresses", "BccAddresses"),
):
    _setter(_name)


REFUSALS = {
    "NO_MASS_MAIL_PERMISSION": "Single email is not enabled for your organization or profile. "
    "Single email must be enabled for you to use this feature.",
    "SINGLE_EMAIL_LIMIT_EXCEEDED": "Failed to send email",
}
"""What an org says that sends no mail for Apex at all, and one whose allowance of the day is used up."""


@static("Messaging.sendEmail", "List<Object>", 1, 2)
def send_email(session: Any, mails: Any, *_all_or_none: Any) -> ListValue:
    """Sent with the commit: kept in the org's outbox, by subject and addresses; EmailException if refused."""
    if mails is None:
        raise null_pointer()
    session.limits.use("email_invocations", 1)
    code = session.org.switches.apex_mail_refusal
    if code is not None:
        told = f"SendEmail failed. First exception on row 0; first error: {code}, {REFUSALS[code]}: []"
        raise thrown("EmailException", told)
    session.mails += [dict(each.held) for each in mails]
    return ListValue([Native("SaveResult", ("", True)) for _ in mails], mails.of)


# ---- finalizers -----------------------------------------------------------------------------------------------------


@static("System.attachFinalizer", "void", 1)
def attach_finalizer(session: Any, target: Any) -> None:
    if not session.asynchronous:
        raise Unsupported("System.attachFinalizer outside a queueable")
    session.finalizer = target


@method("FinalizerContext.getResult", "ParentJobResult")
def get_result(_session: Any, value: Native) -> EnumValue:
    place = 0 if value.held[1] is None else 1
    return EnumValue("ParentJobResult", RESULTS[place], place)


@method("FinalizerContext.getException", "Exception")
def get_exception(_session: Any, value: Native) -> Any:
    return value.held[1]


@method("FinalizerContext.getAsyncApexJobId|FinalizerContext.getRequestId", "Id")
def get_async_job_id(_session: Any, value: Native) -> Id:
    return Id(value.held[0])
