"""The image, the compose file and the Kubernetes manifests: what they promise, and that they say the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lead_router.cli.arguments import parser
from lead_router.loops.runner import DRAIN_S
from lead_router.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NEEDED = {"pyproject.toml", "README.md", "LICENSE", "src", "salesforce_metadata"}
KUBERNETES = "1.32"


def steps():
    """The image's stages, each a list of (word, text); a step that goes on over lines is one."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    starts = [at for at, (word, _) in enumerate(lines) if word == "FROM"]
    return [lines[at:end] for at, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


def told(stage, word):
    return [text for one, text in stage if one == word]


def documents(path):
    return list(yaml.safe_load_all((DEPLOY / path).read_text(encoding="utf-8")))


def tool(name):
    """A program of this interpreter's environment or of the path; the test skips, in sight, where there is none."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here")
    return found


def accepted(*words):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_image_is_built_in_one_stage_and_run_in_another():
    """No build tool, no pip and no source goes on; what is copied is what the build needs."""
    build, final = steps()
    copied = {word for text in told(build, "COPY") for word in text.split()[:-1]}

    assert copied == NEEDED
    assert told(final, "COPY") == ["--from=build /opt/lead-router /opt/lead-router"]
    assert "pip uninstall --yes pip" in told(final, "RUN")[0]
    assert "--no-compile" not in told(build, "RUN")[0]


def test_the_image_runs_as_a_user_with_a_number_and_without_a_shell():
    """A name could not be checked from outside; a shell would not hand SIGTERM on."""
    _, final = steps()
    (user,) = told(final, "USER")
    forms = [*told(final, "ENTRYPOINT"), *told(final, "CMD"), told(final, "HEALTHCHECK")[0].partition("CMD ")[2]]

    assert re.fullmatch(r"([1-9]\d+):\1", user)
    assert [json.loads(form) for form in forms] == [["lead-router"], ["run"], ["lead-router", "status", "--live"]]
    assert parser().parse_args(json.loads(forms[2])[1:]).asked == "live"


def test_all_of_them_give_a_stop_the_time_of_the_drain_and_the_same_user():
    """One number in three files."""
    (user,) = told(steps()[1], "USER")
    (compose,) = documents("compose.yml")
    pod = documents("kubernetes/router.yaml")[0]["spec"]["template"]["spec"]

    assert int(compose["services"]["router"]["stop_grace_period"].removesuffix("s")) > DRAIN_S
    assert pod["terminationGracePeriodSeconds"] > DRAIN_S
    assert user == f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert f"uid={user.partition(':')[0]}" in compose["services"]["router"]["tmpfs"][1]


def test_what_they_set_are_settings():
    """A misspelt one would be refused at the start; a service's own variables must not come in between."""
    (compose,) = documents("compose.yml")
    deployment = documents("kubernetes/router.yaml")[0]
    pod = deployment["spec"]["template"]["spec"]
    named = {
        *compose["services"]["router"]["environment"],
        *documents("kubernetes/settings.yaml")[0]["data"],
        *(one["name"] for one in pod["containers"][0]["env"]),
    }
    known = {f"LEAD_ROUTER_{name.upper()}" for name in Settings.model_fields}

    assert {name for name in named if name.startswith("LEAD_ROUTER_")} <= known
    assert pod["enableServiceLinks"] is False


def test_secrets_are_files_and_files_alone():
    """No secret stands in a variable of compose, and each that is named is defined and given to somebody."""
    (compose,) = documents("compose.yml")
    given = {name for service in compose["services"].values() for name in service["secrets"]}
    variables = {k: v for one in compose["services"].values() for k, v in one["environment"].items()}

    assert given == set(compose["secrets"])
    assert all("file" in secret for secret in compose["secrets"].values())
    assert [name for name in variables if re.search("SECRET|PASSWORD|KEY", name) and not name.endswith("_FILE")] == []


def test_the_pods_are_restricted_spread_and_probed():
    """Kubernetes' own profile `restricted`, a root that cannot be written, and two of which one always stays."""
    deployment, budget, *_ = documents("kubernetes/router.yaml")
    pod = deployment["spec"]["template"]["spec"]
    (router,) = pod["containers"]
    inside = router["securityContext"]
    probes = {name: router[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}

    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["seccompProfile"]) == (
        True,
        {"type": "RuntimeDefault"},
    )
    assert (inside["allowPrivilegeEscalation"], inside["readOnlyRootFilesystem"]) == (False, True)
    assert inside["capabilities"] == {"drop": ["ALL"]}
    assert probes == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    assert (deployment["spec"]["replicas"], budget["spec"]["minAvailable"]) == (2, 1)
    assert parser().parse_args(router["args"]).command == "run"


def test_a_linter_finds_nothing_in_the_image():
    """hadolint, where it is."""
    accepted(tool("hadolint"), str(DEPLOY / "Dockerfile"))


def test_the_compose_file_meets_its_specification():
    """The published schema, where its checker is."""
    accepted(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yml"))


def test_the_manifests_meet_the_schemas_of_kubernetes():
    """Strictly: a field that does not exist is a fault. The monitor is another operator's kind, and is not checked."""
    files = [str(DEPLOY / "kubernetes" / name) for name in ("router.yaml", "settings.yaml")]
    accepted(tool("kubernetes-validate"), "-k", KUBERNETES, "--strict", *files)


@pytest.mark.skipif(shutil.which("logrotate") is None, reason="no logrotate here")
def test_logrotate_reads_its_file(tmp_path):
    """The way of those who write the log to a file; the log's writer keeps its file, so it is copied and cut."""
    rules = (DEPLOY / "logrotate.conf").read_text(encoding="utf-8")
    log = tmp_path / "lead-router.log"
    log.write_text('{"event": "router_started"}\n', encoding="utf-8")
    mine = tmp_path / "rules"
    mine.write_text(re.sub(r"/var/log/\S+", str(log), re.sub(r"\n\s*su .*", "", rules)), encoding="utf-8")
    mine.chmod(0o600)
    accepted("logrotate", "--force", "--state", str(tmp_path / "state"), str(mine))

    assert (log.read_text(), (tmp_path / "lead-router.log.1").read_text().count("\n")) == ("", 1)
