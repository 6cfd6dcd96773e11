"""The reports and their dashboard: complete, about the queue that is shipped, readable by who keeps the groups."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lead_router.salesforce import names
from support import shipped_metadata as shipped

TILE = ("dashboardGridLayout", "dashboardGridComponents", "dashboardComponent")
TYPE_COLUMNS = [
    (item, shipped.text(entry, "table") or "", shipped.text(entry, "field") or "")
    for item in shipped.of("reportType")
    for section in shipped.children(item.root, "sections")
    for entry in shipped.children(section, "columns")
]


def own_fields(table: str, path: str) -> Iterator[shipped.Item]:
    """The project's fields that a column of a report type shows, with the lookups that lead there."""
    owner, *steps = table.split(".")
    for step in steps:
        children = (item for item in shipped.of("field") if f"{item.text('relationshipName')}__r" == step)
        owner = next(item.owner for item in children if item.text("referenceTo") == owner)
    for name in path.split("."):
        field = shipped.field(f"{owner}.{name}")
        if field is not None:
            yield field
            owner = field.text("referenceTo") or ""


def test_the_dashboard_shows_every_report_once_by_its_own_chart():
    """Share, time to owner, unassigned, failed, re-routes, passed over: each is one tile."""
    (dashboard,) = shipped.of("dashboard")
    reports = {f"Lead_Routing/{item.name}": item for item in shipped.of("report")}
    assert sorted(shipped.texts(dashboard.root, *TILE, "report")) == sorted(reports)
    assert len(reports) == 6
    assert set(shipped.texts(dashboard.root, *TILE, "useReportChart")) == {"true"}
    assert [name for name, item in reports.items() if not shipped.children(item.root, "chart")] == []


def test_the_dashboard_names_no_user():
    """It deploys to any org, and shows nobody more than they may see."""
    (dashboard,) = shipped.of("dashboard")
    assert (dashboard.text("dashboardType"), dashboard.text("runningUser")) == ("LoggedInUser", None)


def test_tiles_stand_beside_each_other_within_the_grid():
    """No tile covers another, and none sticks out."""
    (dashboard,) = shipped.of("dashboard")
    (grid,) = shipped.children(dashboard.root, "dashboardGridLayout")
    taken: list[tuple[int, int]] = []
    for tile in shipped.children(grid, "dashboardGridComponents"):
        column, wide, row, high = (
            int(shipped.text(tile, tag) or 0) for tag in ("columnIndex", "colSpan", "rowIndex", "rowSpan")
        )
        assert column + wide <= int(shipped.text(grid, "numberOfColumns") or 0)
        taken += [(x, y) for x in range(column, column + wide) for y in range(row, row + high)]
    assert len(taken) == len(set(taken))


def test_unassigned_leads_are_those_of_the_queue_that_is_shipped():
    """A report names a queue by its label."""
    (queue,) = shipped.of("queue")
    entries = [entry for item in shipped.of("report") for entry in item.root.iter(f"{shipped.NAMESPACE}criteriaItems")]
    owners = [shipped.text(entry, "value") for entry in entries if shipped.text(entry, "column") == "Lead$Owner"]
    assert owners == [queue.text("name")]


def test_reports_of_leads_leave_converted_ones_out():
    """A lead that is converted while it shows Queued, Held or Failed takes no write any more, and waits for nobody."""
    (kind,) = (item.name for item in shipped.of("reportType") if item.text("baseObject") == names.Objects.LEAD)
    of_leads = [item for item in shipped.of("report") if item.text("reportType") == f"{kind}__c"]
    asked = [
        [
            tuple(shipped.text(entry, tag) for tag in ("column", "operator", "value"))
            for entry in item.root.iter(f"{shipped.NAMESPACE}criteriaItems")
        ]
        for item in of_leads
    ]
    assert len(of_leads) == 2
    assert all(("Lead$IsConverted", "equals", "0") in criteria for criteria in asked)


@pytest.mark.parametrize(("item", "table", "path"), TYPE_COLUMNS, ids=lambda part: getattr(part, "name", part))
def test_who_keeps_groups_may_read_what_reports_show(item: shipped.Item, table: str, path: str):
    """A column that its reader may not see is missing from the report without a word."""
    (admin,) = (one for one in shipped.of("permissionset") if one.name == names.Permissions.ADMIN_SET)
    readable = {
        shipped.text(entry, "field")
        for entry in shipped.children(admin.root, "fieldPermissions")
        if shipped.text(entry, "readable") == "true"
    }
    shown = [field for field in own_fields(table, path) if shipped.is_listable(field)]
    assert item.text("deployed") == "true"
    assert [f"{field.owner}.{field.name}" for field in shown if f"{field.owner}.{field.name}" not in readable] == []
