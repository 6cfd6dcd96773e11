"""The extras fit what is shipped, hold no secret, and are deployed by nobody who does not ask for them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from apex import files, metadata
from apex.project import Project, Source
from apex.toolbox import Toolbox
from lead_router.core.model import Status
from lead_router.salesforce import names
from support import shipped_metadata as shipped

EXTRAS = shipped.PROJECT / "extras"
PROJECTS = {
    path.parent.name: Project(path.parent, shipped.PROJECT) for path in sorted(EXTRAS.glob("*/sfdx-project.json"))
}
BARE = Toolbox({})
KEY_FIELDS_MAX = 5
INFO_MAX = 1000
APEX_VARIABLE = re.compile(r"@InvocableVariable\([^)]*\)\s+public \w+ (\w+)")


def one(extra: str, kind: str) -> Source:
    """The one part of a kind in an extra."""
    (found,) = (source for source in PROJECTS[extra].sources if source.kind == kind)
    return found


def test_an_extra_is_a_project_apart():
    """A deployment of the project, or of its folder, takes none along; each has the project's API version."""
    whole = json.loads((shipped.PROJECT / "sfdx-project.json").read_text(encoding="utf-8"))
    assert [entry["path"] for entry in whole["packageDirectories"]] == ["force-app"]
    assert set(PROJECTS) == {"external-client-app", "lead-path", "route-this-lead"}
    for project in PROJECTS.values():
        apart = json.loads((project.folder / "sfdx-project.json").read_text(encoding="utf-8"))
        assert apart["sourceApiVersion"] == whole["sourceApiVersion"]
        assert apart["packageDirectories"] == [{"path": "force-app", "default": True}]


@pytest.mark.parametrize("extra", PROJECTS)
def test_an_extra_says_and_names_what_is_right(extra: str):
    """No file of a kind that nobody reads; words, lengths and references, some to the project it comes with."""
    project = PROJECTS[extra]
    assert [*files.check(project, BARE).findings, *metadata.check(project, BARE).findings] == []
    for source in project.sources:
        tags = [child.tag for child in source.root] if source.root is not None else []
        assert tags == sorted(tags, key=str.lower)


FLOW, BUTTON = "flows/Route_This_Lead.flow-meta.xml", "quickActions/Lead.Route_This_Lead.quickAction-meta.xml"
POLICY = "extlClntAppOauthPolicies/Lead_Router_Policy.ecaOauthPlcy-meta.xml"


@pytest.mark.parametrize(
    ("extra", "file", "old", "new"),
    [
        ("route-this-lead", FLOW, ">RouteLeadAction<", ">RouteLeadActor<"),
        ("route-this-lead", FLOW, "<actionType>apex<", "<actionType>emailSimple<"),
        ("route-this-lead", FLOW, "<targetReference>Fault<", "<targetReference>Faults<"),
        ("route-this-lead", FLOW, "<elementReference>recordId<", "<elementReference>record<"),
        ("route-this-lead", FLOW, "<assignToReference>reason<", "<assignToReference>reasons<"),
        ("route-this-lead", BUTTON, ">Route_This_Lead<", ">Route_That_Lead<"),
        ("external-client-app", POLICY, "<ipRelaxationPolicyType>Enforce</ipRelaxationPolicyType>", "<ip>Enforce</ip>"),
        ("external-client-app", POLICY, ">Lead_Router_Integration<", ">Lead_Router_Integrator<"),
        ("external-client-app", POLICY, "<externalClientApplication>Lead_Router<", "<externalClientApplication>Other<"),
    ],
)
def test_a_wrong_name_in_an_extra_is_found(extra: str, file: str, old: str, new: str, tmp_path: Path):
    """What a flow calls and where it leads, what a button opens, whom a client app is for."""
    project = Project(Path(shutil.copytree(EXTRAS / extra, tmp_path / extra)), shipped.PROJECT)
    path = project.folder / "force-app/main/default" / file
    whole = path.read_text(encoding="utf-8")
    assert old in whole
    path.write_text(whole.replace(old, new, 1), encoding="utf-8")
    assert [found.path for found in metadata.check(project, BARE).findings] == [f"force-app/main/default/{file}"]


def test_the_path_has_a_word_for_reps_at_each_status():
    """Every status is a step, in their order, with guidance and with fields that a rep may read."""
    path = one("lead-path", "PathAssistant")
    assert (path.text("entityName"), path.text("fieldName")) == ("Lead", names.LeadFields.STATUS)
    assert (path.text("recordTypeName"), path.text("active")) == ("__MASTER__", "true")
    assert list(path.texts("pathAssistantSteps", "picklistValueName")) == [status.value for status in Status]
    (rep,) = (item for item in shipped.of("permissionset") if item.name == names.Permissions.REP_SET)
    readable = set(shipped.texts(rep.root, "fieldPermissions", "field"))
    for step in path.elements("pathAssistantSteps"):
        fields = shipped.texts(step, "fieldNames")
        assert {f"Lead.{field}" for field in fields} <= readable
        assert 0 < len(fields) <= KEY_FIELDS_MAX
        assert 0 < len(shipped.text(step, "info") or "") <= INFO_MAX


def test_the_button_calls_the_action_and_shows_its_answer():
    """The action names the flow; the flow's call fits the class that it calls, and each of its ways leads somewhere."""
    action, flow = one("route-this-lead", "QuickAction"), one("route-this-lead", "Flow")
    assert (action.text("type"), action.text("flowDefinition")) == ("Flow", flow.name)
    assert action.name.split(".")[0] == "Lead"
    (call,) = flow.elements("actionCalls")
    (code,) = shipped.SOURCES.rglob(f"{shipped.text(call, 'actionName')}.cls")
    given, told = code.read_text(encoding="utf-8").split("class Answer")
    assert set(shipped.texts(call, "inputParameters", "name")) <= set(APEX_VARIABLE.findall(given))
    assert set(shipped.texts(call, "outputParameters", "name")) <= set(APEX_VARIABLE.findall(told))
    assert shipped.texts(call, "inputParameters", "name") == ["leadId"]
    parts = {*flow.texts("actionCalls", "name"), *flow.texts("screens", "name")}
    assert _texts(flow, "targetReference") == parts
    variables = set(flow.texts("variables", "name"))
    shown = set(re.findall(r"\{!(\w+)\}", " ".join(flow.texts("screens", "fields", "fieldText"))))
    assert _texts(flow, "elementReference") | _texts(flow, "assignToReference") | shown == variables
    asked = {shipped.text(entry, "name") for entry in flow.elements("variables") if _is_input(entry)}
    assert asked == {"recordId"}


def test_the_client_app_is_for_the_router_alone_and_holds_no_secret():
    """One app, for holders of the integration set; what is yours stands in it as a word to be replaced."""
    app = one("external-client-app", "ExternalClientApplication")
    parts = [source for source in PROJECTS["external-client-app"].sources if source is not app]
    assert {source.text("externalClientApplication") for source in parts} == {app.name}
    policy = one("external-client-app", "ExtlClntAppOauthConfigurablePolicies")
    assert policy.text("permittedUsersPolicyType") == "AdminApprovedPreAuthorized"
    assert policy.text("commaSeparatedPermissionSet") == names.Permissions.INTEGRATION_SET
    scopes = one("external-client-app", "ExtlClntAppOauthSettings").text("commaSeparatedOauthScopes")
    assert scopes.split(", ") == ["Api", "RefreshToken"]
    assert all(source.root is not None for source in [app, *parts])
    texts = {
        (source.kind, child.tag): child.text or ""
        for source in [app, *parts]
        if source.root is not None
        for child in source.root
    }
    assert sorted(text for text in texts.values() if text.startswith("YOUR_")) == ["YOUR_CERTIFICATE", "YOUR_EMAIL"]
    assert [tag for _, tag in texts if tag.lower().endswith(("consumerkey", "consumersecret"))] == [
        f"{shipped.NAMESPACE}{tag}" for tag in ("shouldRotateConsumerKey", "shouldRotateConsumerSecret")
    ]


def test_the_extras_are_told_of():
    """Each has its line, and each word to be replaced its step."""
    told = (EXTRAS / "README.md").read_text(encoding="utf-8")
    assert [extra for extra in PROJECTS if f"| `{extra}` |" not in told] == []
    assert {"YOUR_EMAIL", "YOUR_CERTIFICATE"} <= set(re.findall(r"`(\w+)`", told))
    assert [path for path in EXTRAS.rglob("*") if path.suffix in {".key", ".crt", ".pem"}] == []


def _texts(source: Source, tag: str) -> set[str]:
    """All texts of a tag, wherever it stands."""
    return {
        found.text or "" for found in (source.root.iter(shipped.NAMESPACE + tag) if source.root is not None else ())
    }


def _is_input(variable: ET.Element) -> bool:
    return shipped.text(variable, "isInput") == "true"
