"""What the org refuses, in Salesforce's own codes and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from org_simulator.ids import to15

UNKNOWN = "<unknown>"


class Failure(Exception):
    """One record or request was refused; `also` holds further errors of the same record, in order.

    `code` is the StatusCode, `http` the status of a single-row request, `extra` further members of the error object.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        fields: Iterable[str] = (),
        http: int = 400,
        extra: Mapping[str, Any] | None = None,
        also: Iterable[Failure] = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.fields = tuple(fields)
        self.http = http
        self.extra: dict[str, Any] = dict(extra or {})
        self.also = tuple(also)

    @property
    def all(self) -> tuple[Failure, ...]:
        """This failure and those that came with it."""
        return (self, *self.also)


def together(failures: list[Failure], *, only_first: bool) -> Failure:
    """One failure that bears all of `failures` (at least one), or only the first."""
    first = failures[0]
    if not only_first:
        first.also = tuple(failures[1:])
    return first


def row_locked(record_ids: Iterable[str], http: int) -> Failure:
    """Another transaction held these rows for longer than the limit."""
    ids = [to15(record_id) for record_id in record_ids]
    text = f"unable to obtain exclusive access to this record or {len(ids)} records: {','.join(ids)}"
    return Failure("UNABLE_TO_LOCK_ROW", text, http=http)


def duplicate_value(field: str, record_id: str, *, named: bool) -> Failure:
    """A unique index holds this value already; `record_id` has it."""
    name, holder = (field, to15(record_id)) if named else (UNKNOWN, UNKNOWN)
    text = f"duplicate value found: {name} duplicates value on record with id: {holder}"
    return Failure("DUPLICATE_VALUE", text)


def validation_failed(message: str, field: str | None) -> Failure:
    """A validation rule fired."""
    return Failure("FIELD_CUSTOM_VALIDATION_EXCEPTION", message, fields=(field,) if field else ())


def entity_is_deleted() -> Failure:
    """The record lies in the recycle bin."""
    return Failure("ENTITY_IS_DELETED", "entity is deleted", http=404)


def not_found() -> Failure:
    """No such record or resource."""
    return Failure("NOT_FOUND", "The requested resource does not exist", http=404)


def malformed_id(label: str, value: object, field: str = "Id") -> Failure:
    """`value` is no id, or the id of another kind of record."""
    return Failure("MALFORMED_ID", f"{label}: id value of incorrect type: {value}", fields=(field,))


def no_such_column(field: str, sobject: str) -> Failure:
    """The object has no such field."""
    return Failure("INVALID_FIELD", f"No such column '{field}' on sobject of type {sobject}")


def not_filterable(field: str) -> Failure:
    """A clause names a field that SOQL does not filter, such as a long text area."""
    return Failure("INVALID_FIELD", f"field '{field}' can not be filtered in a query call")


def read_only(fields: Iterable[str]) -> Failure:
    """These fields are not the caller's to write."""
    names = tuple(fields)
    text = (
        f"Unable to create/update fields: {', '.join(names)}. Please check the security settings of this field and "
        "verify that it is read/write for your profile or permission set."
    )
    return Failure("INVALID_FIELD_FOR_INSERT_UPDATE", text, fields=names)


def required_missing(fields: Iterable[str]) -> Failure:
    """Required fields are blank."""
    names = tuple(fields)
    return Failure("REQUIRED_FIELD_MISSING", f"Required fields are missing: [{', '.join(names)}]", fields=names)


def bad_picklist_value(label: str, field: str, value: str) -> Failure:
    """A restricted picklist does not offer this value."""
    text = f"{label}: bad value for restricted picklist field: {value}"
    return Failure("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", text, fields=(field,))


def string_too_long(label: str, field: str, value: str, length: int) -> Failure:
    """A text is longer than its field."""
    text = f"{label}: data value too large: {value} (max length={length})"
    return Failure("STRING_TOO_LONG", text, fields=(field,))


def number_out_of_range(label: str, field: str, value: float) -> Failure:
    """A number has more digits before its point than its field."""
    text = f"{label}: value outside of valid range on numeric field: {value}"
    return Failure("NUMBER_OUTSIDE_VALID_RANGE", text, fields=(field,))


def wrong_json_type(wanted: str, value: object) -> Failure:
    """A JSON value is of another kind than its field."""
    kinds: dict[type, str] = {str: "STRING", bool: "BOOLEAN", int: "NUMBER_INT", float: "NUMBER_FLOAT"}
    kind = kinds.get(type(value), "OBJECT")
    text = f"Cannot deserialize instance of {wanted} from VALUE_{kind} value {value}"
    return Failure("JSON_PARSER_ERROR", text)


def bad_reference(field: str | None = None, http: int = 400) -> Failure:
    """A reference names a record that does not exist (404 where it is the record asked for)."""
    return Failure(
        "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", fields=(field,) if field else (), http=http
    )


def inactive_owner(user_id: str, sobject: str) -> Failure:
    """The new owner is a deactivated user."""
    text = f"operation performed with inactive user [{to15(user_id)}] as owner of {sobject.lower()}"
    return Failure("INACTIVE_OWNER_OR_USER", text, fields=("OwnerId",))


def queue_refused() -> Failure:
    """The queue may not own records of this kind."""
    return Failure("INVALID_OPERATION", "Queue not associated with this SObject type", fields=("OwnerId",))


def invalid_email(label: str, field: str, value: str) -> Failure:
    """A text that is no e-mail address."""
    return Failure("INVALID_EMAIL_ADDRESS", f"{label}: invalid email address: {value}", fields=(field,))


def converted_lead() -> Failure:
    """A converted lead is read-only."""
    return Failure("CANNOT_UPDATE_CONVERTED_LEAD", "cannot reference converted lead")


def insufficient_access(http: int) -> Failure:
    """The user may not do this to this record."""
    return Failure("INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id", http=http)


def invalid_type(sobject: str) -> Failure:
    """No such object."""
    text = f"sObject type '{sobject}' is not supported."
    return Failure("INVALID_TYPE", text, http=404)


def delete_refused(sobject: str, children: Iterable[str]) -> Failure:
    """Other records forbid the deletion."""
    names = ", ".join(to15(child) for child in children)
    text = f"Your attempt to delete {sobject} could not be completed because it is associated with: {names}"
    return Failure("DELETE_FAILED", text)
