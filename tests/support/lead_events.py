"""Change events of leads as CometD carries them; values are ours, shapes are Salesforce's."""

from __future__ import annotations

from lead_router.core.ids import to18

USER = to18("0055f000005mc66")
ORIGIN = "com/salesforce/api/rest/68.0;client=WebForm"


def lead_id(number: int) -> str:
    """The id of the n-th lead."""
    return to18(f"00Q5f00000{number:05d}")


def header(number: int, **other: object) -> dict:
    """The header of the n-th lead's creation, parts replaced by `other`; a part that is None is left out."""
    parts = {
        "entityName": "Lead",
        "recordIds": [lead_id(number)],
        "changeType": "CREATE",
        "changeOrigin": ORIGIN,
        "transactionKey": f"tx-{number}",
        "sequenceNumber": 1,
        "commitTimestamp": 1712694387000 + number,
        "commitNumber": 1082990428293 + number,
        "commitUser": USER,
        "changedFields": [],
    } | other
    return {name: value for name, value in parts.items() if value is not None}


def created(number: int, **other: object) -> dict:
    """The payload of the n-th lead's creation."""
    return {
        "ChangeEventHeader": header(number, **other),
        "Name": {"FirstName": "Ada", "LastName": f"Doe {number}"},
        "Company": "Acme",
        "Address": {"Street": "1 Main St", "City": "Paris", "Country": "FR"},
        "OwnerId": "00G5f000003Qr7bEAC",
    }


def identity(number: int) -> str:
    """The identity of the n-th creation."""
    return f"tx-{number}.1"
