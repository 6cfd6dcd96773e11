"""What the org says about itself: versions, resources, limits, objects and fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from org_simulator.event_bodies import event_name
from org_simulator.wire.exchange import Reply
from org_simulator.wire.paths import relationship
from org_simulator.wire.world import API_VERSION_MAX, API_VERSION_MIN, Call, data_path, sobject_of

if TYPE_CHECKING:
    from org_simulator.schema import Field, SObject

SEASONS = ("Spring", "Summer", "Winter")
PUBLISHED_PER_HOUR = 250_000
DELIVERED_PER_DAY = 25_000


def versions() -> list[dict[str, str]]:
    """The API versions offered. Winter '27 is 68.0; three releases make a year."""
    return [
        {
            "label": f"{SEASONS[(number - 66) % 3]} '{26 + (number - 66) // 3 + ((number - 66) % 3 == 2):02d}",  # noqa: PLR2004
            "url": f"/services/data/v{number}.0",
            "version": f"{number}.0",
        }
        for number in range(API_VERSION_MIN, API_VERSION_MAX + 1)
    ]


def resources(call: Call, _captured: Sequence[str]) -> Reply:
    """GET /services/data/vXX.X: what is offered below."""
    names = ("composite", "limits", "query", "queryAll", "sobjects")
    return Reply(200, {name: data_path(call, name) for name in names})


def limits(call: Call, _captured: Sequence[str]) -> Reply:
    """GET /limits: allowances and what is left of them."""
    org = call.world.org
    allowances = {
        "DailyApiRequests": (org.calls_allowed, org.calls_allowed - org.calls_used),
        "DailyDeliveredPlatformEvents": (DELIVERED_PER_DAY, DELIVERED_PER_DAY),
        "HourlyPublishedPlatformEvents": (PUBLISHED_PER_HOUR, PUBLISHED_PER_HOUR),
    }
    return Reply(200, {name: {"Max": most, "Remaining": max(left, 0)} for name, (most, left) in allowances.items()})


def everything(call: Call, _captured: Sequence[str]) -> Reply:
    """GET /sobjects: every object, in short."""
    schema = call.schema
    objects = [*schema.objects.values(), *schema.platform_events.values()]
    return Reply(200, {"encoding": "UTF-8", "maxBatchSize": 200, "sobjects": [_short(call, each) for each in objects]})


def basics(call: Call, captured: Sequence[str]) -> Reply:
    """GET /sobjects/X: the object in short."""
    return Reply(200, {"objectDescribe": _short(call, _described(call, captured[0])), "recentItems": []})


def describe(call: Call, captured: Sequence[str]) -> Reply:
    """GET /sobjects/X/describe: the object with its fields, as far as the caller may see them."""
    sobject = _described(call, captured[0])
    fields = [_field(each) for each in sobject.fields.values()]
    content = {**_short(call, sobject), "fields": fields, "childRelationships": [], "recordTypeInfos": []}
    return Reply(200, content)


def _described(call: Call, name: str) -> SObject:
    return call.schema.platform_events.get(name.lower()) or _change_event(call, name) or sobject_of(call, name)


def _change_event(call: Call, name: str) -> SObject | None:
    """The change event of an object that is selected for Change Data Capture and that the caller may see.

    Of the event's own fields, ReplayId and ChangeEventHeader, a describe here tells nothing.
    """
    for sobject in call.schema.objects.values():
        event = event_name(sobject.name)
        if event.lower() == name.lower() and sobject.name in call.schema.cdc_entities:
            return replace(sobject, name=event, prefix="", label=f"{sobject.label} Change Event", validation_rules=())
    return None


def _short(call: Call, sobject: SObject) -> dict[str, Any]:
    event = sobject.name.endswith(("__e", "ChangeEvent"))
    urls = {"sobject": data_path(call, "sobjects", sobject.name)}
    return {
        "name": sobject.name,
        "label": sobject.label,
        "labelPlural": sobject.label_plural,
        "keyPrefix": sobject.prefix or None,
        "custom": sobject.custom,
        "createable": sobject.creates and not sobject.name.endswith("ChangeEvent"),
        "updateable": sobject.edits and not event,
        "deletable": not event,
        "queryable": not event,
        "retrieveable": not event,
        "undeletable": not event,
        "urls": {**urls, "describe": f"{urls['sobject']}/describe", "rowTemplate": f"{urls['sobject']}/{{ID}}"},
    }


def _field(field: Field) -> dict[str, Any]:
    text = field.type in {"string", "textarea", "picklist", "email", "phone", "url", "id", "reference"}
    return {
        "name": field.name,
        "label": field.label,
        "type": field.type,
        "length": field.length if text else 0,
        "byteLength": field.length * 3 if text else 0,
        "precision": field.precision,
        "scale": field.scale,
        "createable": field.createable,
        "updateable": field.updateable,
        "nillable": not (field.required or field.type in {"boolean", "id"}),
        "defaultedOnCreate": field.default is not None or field.type in {"boolean", "id"} or bool(field.auto_number),
        "defaultValue": field.default,
        "unique": field.unique,
        "caseSensitive": field.case_sensitive,
        "externalId": field.external_id,
        "idLookup": field.type == "id" or field.external_id or field.unique,
        "autoNumber": field.auto_number is not None,
        "calculated": False,
        "custom": field.name.endswith("__c"),
        "nameField": field.name == "Name",
        "filterable": field.filterable,
        "sortable": field.filterable,
        "restrictedPicklist": field.restricted,
        "picklistValues": [
            {"active": True, "defaultValue": each == field.default, "label": each, "validFor": None, "value": each}
            for each in field.picklist
        ],
        "referenceTo": list(field.reference_to),
        "relationshipName": relationship(field) if field.reference_to else None,
        "polymorphicForeignKey": len(field.reference_to) > 1,
    }
