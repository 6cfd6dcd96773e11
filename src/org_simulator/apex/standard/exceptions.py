"""Exception and what its kinds tell more."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.classes import shown
from org_simulator.apex.platform import constant, method
from org_simulator.apex.raising import thrown
from org_simulator.apex.types import STRING
from org_simulator.apex.values import EnumValue, Instance, ListValue, Native
from org_simulator.failures import Failure

CODES = (
    *("UNABLE_TO_LOCK_ROW", "DUPLICATE_VALUE", "FIELD_CUSTOM_VALIDATION_EXCEPTION", "REQUIRED_FIELD_MISSING"),
    *("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "INACTIVE_OWNER_OR_USER", "INVALID_CROSS_REFERENCE_KEY"),
    *("ENTITY_IS_DELETED", "STRING_TOO_LONG", "INSUFFICIENT_ACCESS_OR_READONLY", "MISSING_ARGUMENT"),
    *("INVALID_FIELD_FOR_INSERT_UPDATE", "CANNOT_UPDATE_CONVERTED_LEAD", "NUMBER_OUTSIDE_VALID_RANGE"),
    *("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "INVALID_OPERATION", "NOT_FOUND", "DELETE_FAILED"),
    *("INVALID_EMAIL_ADDRESS", "TRANSFER_REQUIRES_READ", "OP_WITH_INVALID_USER_TYPE_EXCEPTION", "MALFORMED_ID"),
    *("DUPLICATE_EXTERNAL_ID", "UNKNOWN_EXCEPTION", "UNDELETE_FAILED", "INVALID_FIELD", "MIXED_DML_OPERATION"),
)


def status_code(name: str) -> EnumValue:
    """A constant of StatusCode."""
    return EnumValue("StatusCode", name, 0)


for _code in CODES:
    constant(f"StatusCode.{_code}", "StatusCode", lambda _code=_code: status_code(_code))  # type: ignore[misc]


@method("Exception.getMessage", "String")
def get_message(_session: Any, value: Instance) -> Any:
    found = value.values.get("message")
    return "Script-thrown exception" if found is None else found


@method("Exception.setMessage", "void", 1)
def set_message(_session: Any, value: Instance, text: str) -> None:
    value.values["message"] = text


@method("Exception.initCause", "void", 1)
def init_cause(_session: Any, value: Instance, cause: Instance) -> None:
    value.values["cause"] = cause


@method("Exception.getCause", "Exception")
def get_cause(_session: Any, value: Instance) -> Any:
    return value.values.get("cause")


@method("Exception.getTypeName", "String")
def get_type_name(_session: Any, value: Instance) -> str:
    return shown(value.cls)


@method("Exception.getStackTraceString", "String")
def get_stack_trace(_session: Any, value: Instance) -> str:
    return "\n".join(f"Class.{name}: line {line}, column 1" for name, line in _trace(value))


@method("Exception.getLineNumber", "Integer")
def get_line_number(_session: Any, value: Instance) -> int:
    return next((line for _, line in _trace(value)), 0)


def _trace(value: Instance) -> list[tuple[str, int]]:
    found = value.values.get("\0trace")
    return found if isinstance(found, list) else []


def _failed(value: Instance, at: int) -> tuple[int, Any, Failure]:
    found = value.extra if isinstance(value.extra, list) else []
    if not 0 <= at < len(found):
        raise thrown("ListException", f"List index out of bounds: {at}")
    place: tuple[int, Any, Failure] = found[at]
    return place


@method("Exception.getNumDml", "Integer")
def get_num_dml(_session: Any, value: Instance) -> int:
    return len(value.extra) if isinstance(value.extra, list) else 0


@method("Exception.getDmlMessage", "String", 1)
def get_dml_message(_session: Any, value: Instance, at: int) -> str:
    return _failed(value, at)[2].message


@method("Exception.getDmlType", "StatusCode", 1)
def get_dml_type(_session: Any, value: Instance, at: int) -> EnumValue:
    return status_code(_failed(value, at)[2].code)


@method("Exception.getDmlStatusCode", "String", 1)
def get_dml_status_code(_session: Any, value: Instance, at: int) -> str:
    return _failed(value, at)[2].code


@method("Exception.getDmlId", "String", 1)
def get_dml_id(_session: Any, value: Instance, at: int) -> Any:
    return _failed(value, at)[1]


@method("Exception.getDmlIndex", "Integer", 1)
def get_dml_index(_session: Any, value: Instance, at: int) -> int:
    return _failed(value, at)[0]


@method("Exception.getDmlFieldNames", "List<String>", 1)
def get_dml_field_names(_session: Any, value: Instance, at: int) -> ListValue:
    return ListValue(list(_failed(value, at)[2].fields), STRING)


# ---- Database.Error -------------------------------------------------------------------------------------------------


@method("Error.getMessage", "String")
def error_message(_session: Any, value: Native) -> str:
    return str(value.held[1])


@method("Error.getStatusCode", "StatusCode")
def error_code(_session: Any, value: Native) -> EnumValue:
    return status_code(value.held[0])


@method("Error.getFields", "List<String>")
def error_fields(_session: Any, value: Native) -> ListValue:
    return ListValue(list(value.held[2]), STRING)
