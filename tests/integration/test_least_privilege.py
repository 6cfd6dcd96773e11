"""The shipped permission set is enough to route, and doctor names whatever is missing from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.errors import LeadRouterError
from lead_router.ports import Committed
from lead_router.salesforce import doctor
from lead_router.salesforce.doctor import NEEDS, diagnose
from lead_router.salesforce.names import Permissions
from support.rest_org import RestOrg, best

SET = Permissions.INTEGRATION_SET


@pytest.fixture(scope="module")
def org():
    return RestOrg(best())


@pytest.fixture
def shipped(org):
    """The set as it is shipped; whatever a test takes from it is given back."""
    sets = org.org.schema.permission_sets
    found = sets[SET]
    yield found
    sets[SET] = found
    org.world.views.clear()


def only(org, permissions):
    org.org.schema.permission_sets[SET] = permissions
    org.world.views.clear()


def faults(org):
    return {one.name: one for one in diagnose(org.rest, org.holder, org.client) if not one.ok and not one.warning}


def test_the_shipped_set_alone_routes_a_lead(org):
    """The integration user has it and no other, reads no field that it does not open, and writes the whole commit."""
    assert org.org.permission_sets(org.org.integration_user_id) == (SET,)
    lead = org.lead("ada@buyer.example", Phone="030 1234567")
    assert faults(org) == {}
    assert org.client.commit(org.batch([lead])) == Committed()
    assert org.row(lead)["OwnerId"] in {org.refs["ann"], org.refs["bob"]}


def test_each_field_that_the_set_lacks_is_named(org, shipped):
    """Not to be seen, or to be seen and not to be written: doctor tells object, field and set."""
    needed = {f"{need.sobject}.{name}": name in need.changes | need.creates for need in NEEDS for name in need.fields}
    by_path = {path.lower(): path for path in needed if path.endswith("__c")}
    missed = []
    for path, edit in shipped.fields.items():
        if path not in by_path:
            continue
        sobject, _, name = by_path[path].partition(".")
        lesser = [{key: value for key, value in shipped.fields.items() if key != path}]
        if edit and needed[by_path[path]]:
            lesser.append({**shipped.fields, path: False})
        for fields in lesser:
            only(org, replace(shipped, fields=fields))
            need = next(need for need in NEEDS if need.sobject == sobject)
            (found,) = doctor._guarded(sobject, lambda need=need: doctor._object(org.rest, need))
            if found.ok or name not in found.detail or SET not in found.remedy:
                missed.append((path, len(fields)))
    assert missed == []
    assert len(by_path) > 60


RIGHTS = [
    (need.sobject, right)
    for need in NEEDS
    if need.sobject != "Lead"  # what may be done with a standard object is the profile's, in the simulated org
    for right, asked in (("read", True), ("create", need.creates), ("edit", need.changes))
    if asked
]


@pytest.mark.parametrize(("sobject", "right"), RIGHTS)
def test_each_right_on_an_object_that_the_set_lacks_is_named(org, shipped, sobject, right):
    """Before anything is routed; the commit would fail as a whole."""
    rights = shipped.objects[sobject.lower()]
    only(org, replace(shipped, objects={**shipped.objects, sobject.lower(): replace(rights, **{right: False})}))
    found = faults(org)[sobject]
    assert SET in found.remedy
    if right != "read":
        assert {"create": "createable", "edit": "updateable"}[right] in found.detail


@pytest.mark.parametrize("sobject", ["Round_Robin_Group__c", "Round_Robin_Member__c", "Lead_Assignment__c"])
def test_without_a_right_to_write_nothing_of_a_commit_is_kept(org, shipped, sobject):
    """All or nothing: the lead stays where it was."""
    lead = org.lead()
    batch = org.batch([lead])
    rights = replace(shipped.objects[sobject.lower()], create=False, edit=False)
    only(org, replace(shipped, objects={**shipped.objects, sobject.lower(): rights}))
    try:
        kept = org.client.commit(batch)
    except LeadRouterError:
        kept = None
    assert kept != Committed()
    assert org.row(lead)["OwnerId"] == org.queue("Lead_Intake")
