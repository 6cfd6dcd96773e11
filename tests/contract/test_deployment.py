"""The image, the compose file and the Kubernetes manifests: what they promise, and that they say the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from lead_router.cli.arguments import parser
from lead_router.console.gate import OPEN_PATHS
from lead_router.console.places import TOKEN_MIN, place_of
from lead_router.errors import Misconfigured
from lead_router.loops.runner import DRAIN_S
from lead_router.settings import Settings
from support.image import stages

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NEEDED = {"pyproject.toml", "README.md", "LICENSE", "src", "salesforce_metadata"}


def told(stage, word):
    return [text for one, text in stage if one == word]


def documents(path):
    return list(yaml.safe_load_all((DEPLOY / path).read_text(encoding="utf-8")))


def pod_of(name):
    return documents(f"kubernetes/{name}.yaml")[0]["spec"]["template"]["spec"]


def accepted(*words):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_image_is_built_in_one_stage_and_run_in_another():
    """No build tool, no pip and no source goes on; what is copied is what the build needs."""
    build, final = stages()
    copied = {word for text in told(build, "COPY") for word in text.split()[:-1]}

    assert copied == NEEDED
    assert told(final, "COPY") == ["--from=build /opt/lead-router /opt/lead-router"]
    assert "pip uninstall --yes pip" in told(final, "RUN")[0]
    assert "--no-compile" not in told(build, "RUN")[0]


def test_nothing_but_what_the_image_is_built_from_goes_to_who_builds_it():
    """A settings file, a key or a job database of the checkout must not leave the machine."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]

    assert rules[0] == "*"
    assert {line[1:] for line in rules if line.startswith("!")} == NEEDED


def test_the_image_runs_as_a_user_with_a_number_and_without_a_shell():
    """A name could not be checked from outside; a shell would not hand SIGTERM on."""
    _, final = stages()
    (user,) = told(final, "USER")
    forms = [*told(final, "ENTRYPOINT"), *told(final, "CMD"), told(final, "HEALTHCHECK")[0].partition("CMD ")[2]]

    assert re.fullmatch(r"([1-9]\d+):\1", user)
    assert [json.loads(form) for form in forms] == [["lead-router"], ["run"], ["lead-router", "status", "--live"]]
    assert parser().parse_args(json.loads(forms[2])[1:]).asked == "live"


def test_all_of_them_give_a_stop_the_time_of_the_drain_and_the_same_user():
    """One number in three files."""
    (user,) = told(stages()[1], "USER")
    (compose,) = documents("compose.yml")
    pod = documents("kubernetes/router.yaml")[0]["spec"]["template"]["spec"]

    assert int(compose["services"]["router"]["stop_grace_period"].removesuffix("s")) > DRAIN_S
    assert pod["terminationGracePeriodSeconds"] > DRAIN_S
    assert user == f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert f"uid={user.partition(':')[0]}" in compose["services"]["router"]["tmpfs"][1]


def test_what_they_set_are_settings():
    """A misspelt one would be refused at the start; a service's own variables must not come in between."""
    (compose,) = documents("compose.yml")
    pods = [pod_of(name) for name in ("router", "console")]
    named = {
        *compose["services"]["router"]["environment"],
        *compose["services"]["console"]["environment"],
        *documents("kubernetes/settings.yaml")[0]["data"],
        *(one["name"] for one in pods[1]["containers"][0]["env"]),
    }
    known = {f"LEAD_ROUTER_{name.upper()}" for name in Settings.model_fields}

    assert {name for name in named if name.startswith("LEAD_ROUTER_")} <= known
    assert [pod["enableServiceLinks"] for pod in pods] == [False, False]


def test_secrets_are_files_and_files_alone():
    """No secret stands in a variable of compose, and each that is named is defined and given to somebody."""
    (compose,) = documents("compose.yml")
    given = {name for service in compose["services"].values() for name in service["secrets"]}
    variables = {k: v for one in compose["services"].values() for k, v in one["environment"].items()}

    assert given == set(compose["secrets"])
    assert all("file" in secret for secret in compose["secrets"].values())
    assert [
        name for name in variables if re.search("SECRET|PASSWORD|KEY|TOKEN", name) and not name.endswith("_FILE")
    ] == []


def test_no_secret_of_kubernetes_is_a_variable():
    """Each that is defined is mounted, and each file that a setting names is one of those."""
    settings, secret = documents("kubernetes/settings.yaml")
    pod = documents("kubernetes/router.yaml")[0]["spec"]["template"]["spec"]
    (router,) = pod["containers"]
    (mount,) = [one for one in router["volumeMounts"] if one["name"] == "secrets"]
    laid = {f"{mount['mountPath']}/{one['path']}": one["key"] for one in pod["volumes"][0]["secret"]["items"]}

    assert set(laid.values()) == set(secret["stringData"])
    assert {value for name, value in settings["data"].items() if name.endswith("_FILE")} == set(laid)
    assert "env" not in router


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


def test_the_console_is_as_restricted_as_the_router():
    """The same pod but for its container's own: user, root, rights; its probes need neither token nor Salesforce."""
    router, console = pod_of("router"), pod_of("console")
    (other,), (one,) = router.pop("containers"), console.pop("containers")
    shared = ("image", "envFrom", "securityContext", "volumeMounts")
    own = {"topologySpreadConstraints", "terminationGracePeriodSeconds", "volumes"}
    mine, theirs = (pod["volumes"][0] for pod in (console, router))
    items = [item for source in mine["projected"]["sources"] for item in source["secret"]["items"]]
    service, labels = documents("kubernetes/console.yaml")[2], documents("kubernetes/console.yaml")[0]["metadata"]

    assert {k: v for k, v in console.items() if k not in own} == {k: v for k, v in router.items() if k not in own}
    assert {name: one[name] for name in shared} == {name: other[name] for name in shared}
    assert {one[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")} <= OPEN_PATHS
    assert items[:-1] == theirs["secret"]["items"]
    assert mine["projected"]["defaultMode"] == theirs["secret"]["defaultMode"] == 0o400
    assert (
        service["spec"]["selector"] == labels["labels"] != documents("kubernetes/router.yaml")[0]["metadata"]["labels"]
    )


def test_wherever_others_reach_the_console_it_asks_for_a_token(tmp_path):
    """In a container it listens to all; without the token's file, which is a secret, it would not start."""
    (compose,) = documents("compose.yml")
    service, (pod,) = compose["services"]["console"], pod_of("console")["containers"]
    environment = {one["name"]: one["value"] for one in pod["env"]}
    token = tmp_path / "token"
    token.write_text("x" * TOKEN_MIN)

    for words in (service["command"], pod["args"]):
        asked = parser().parse_args(words)
        assert asked.command == "console"
        with pytest.raises(Misconfigured, match="open to whoever reaches"):
            place_of(Settings(), asked.address)
        assert place_of(Settings(console_token_file=token), asked.address).token
    assert service["environment"]["LEAD_ROUTER_CONSOLE_TOKEN_FILE"] == "/run/secrets/console_token"
    assert environment["LEAD_ROUTER_CONSOLE_TOKEN_FILE"] == "/run/secrets/lead-router/console-token"
    assert service["ports"] == ["127.0.0.1:9467:9467"]
    assert service["profiles"] == ["console"]


@pytest.mark.skipif(shutil.which("logrotate") is None, reason="no logrotate here")
def test_logrotate_reads_its_file(tmp_path):
    """The way of those who write the log to a file; the log's writer keeps its file, so it is copied and cut."""
    rules = (DEPLOY / "logrotate.conf").read_text(encoding="utf-8")
    log = tmp_path / "lead-router.log"
    log.write_text('{"event": "router_started"}\n', encoding="utf-8")
    mine = tmp_path / "rules"
    mine.write_text(re.sub(r"\S*/var/log/\S+", str(log), rules), encoding="utf-8")
    mine.chmod(0o600)
    accepted("logrotate", "--force", "--state", str(tmp_path / "state"), str(mine))

    assert (log.read_text(), (tmp_path / "lead-router.log.1").read_text().count("\n")) == ("", 1)
