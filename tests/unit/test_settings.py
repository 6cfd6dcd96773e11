"""Settings are refused by name, with the remedy, and never by showing a secret."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lead_router.errors import Misconfigured
from lead_router.settings import Settings, example, host_and_port, load, secret_text


def test_defaults_hold_without_any_variable():
    """An empty environment gives the documented defaults."""
    assert load({}) == Settings()


def test_an_unknown_setting_is_refused_with_the_nearest_name():
    """A22, F13: a misspelt setting never passes in silence."""
    with pytest.raises(
        Misconfigured, match=r"LEAD_ROUTER_INTAKE_QUEUE is not a setting; did you mean LEAD_ROUTER_INTAKE_QUEUES\?"
    ):
        load({"LEAD_ROUTER_INTAKE_QUEUE": "Inbound"})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [(b"LEAD_ROUTER_X=1\n", "LEAD_ROUTER_X (in {})"), (b"LEAD_ROUTER_LEASE_S=1\n", "LEASE_S"), (b"\xff\xfe", "UTF-8")],
    ids=["unknown", "out of range", "no text"],
)
def test_a_fault_of_a_file_names_the_file(tmp_path, text, wrong):
    """Of several settings files the one at fault is told; the environment's own settings name none."""
    file = tmp_path / "my.env"
    file.write_bytes(text)
    with pytest.raises(Misconfigured, match=re.escape(wrong.format(file))):
        load({}, file)


def test_a_folder_is_no_settings_file(tmp_path):
    """Nor is a file that is not there."""
    with pytest.raises(Misconfigured, match="is a folder: name a settings file"):
        load({}, tmp_path)
    with pytest.raises(Misconfigured, match="does not exist: run `lead-router init`"):
        load({}, tmp_path / "none.env")


def test_foreign_variables_are_ignored():
    """Only the router's own prefix is looked at."""
    assert load({"PATH": "/bin", "LEAD": "x"}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DUPLICATES", "on", "must be 'off', 'observe' or 'live'"),
        ("STREAM_START", "latest", "must be 'new' or 'retained'"),
        ("LOCK_TOUCH", "perhaps", "must be true or false"),
        ("BATCH_MAX", "many", "must be a whole number"),
        ("BATCH_MAX", "0", "must be at least 1"),
        ("BATCH_MAX", "500", "must be at most 200"),
        ("POLL_S", "soon", "must be a number"),
        ("POLL_S", "0", "must be more than 0"),
    ],
)
def test_a_wrong_value_is_told_with_what_it_must_be(name, value, told):
    """In our words, behind the setting's name."""
    with pytest.raises(Misconfigured, match=f"^{re.escape(f'LEAD_ROUTER_{name}: {told}')}$"):
        load({f"LEAD_ROUTER_{name}": value})


def test_quotes_around_a_value_are_refused():
    """F5: a container's env file keeps quotes; a value with quotes would silently not match."""
    with pytest.raises(Misconfigured, match="LEAD_ROUTER_USERNAME has quotes"):
        load({"LEAD_ROUTER_USERNAME": '"router@example.com"'})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEAD_ROUTER_LEASE_S", "20"),
        ("LEAD_ROUTER_BATCH_MAX", "500"),
        ("LEAD_ROUTER_BATCH_MAX", "many"),
        ("LEAD_ROUTER_STREAM_START", "latest"),
        ("LEAD_ROUTER_DUPLICATES", "no"),
        ("LEAD_ROUTER_STREAM_CHANNEL", "LeadChangeEvent"),
        ("LEAD_ROUTER_UNASSIGNED", "Country = "),
        ("LEAD_ROUTER_OPEN_LEADS", "Status LIKE"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name, value):
    """One clear error naming the setting; a lease, for one, outlasts the longest call (B1, C1)."""
    with pytest.raises(Misconfigured, match=name) as refused:
        load({name: value})

    assert refused.value.__cause__ is None


def test_a_secret_is_never_shown():
    """F1, F2: neither the text nor the repr of settings shows a secret."""
    settings = load({"LEAD_ROUTER_CLIENT_SECRET": "canary-1"})
    with pytest.raises(Misconfigured) as refused:
        load({"LEAD_ROUTER_CLIENT_SECRET": "canary-1", "LEAD_ROUTER_CLIENT_SECRET_FILE": "/nowhere"})

    assert "canary" not in repr(settings) + str(settings) + str(refused.value)


def test_the_environment_wins_over_the_file(tmp_path: Path):
    """A file holds the usual values, the environment the exception."""
    file = tmp_path / ".env"
    file.write_text("LEAD_ROUTER_CLIENT_ID=from-file\nLEAD_ROUTER_USERNAME='quoted is fine here'\n")

    settings = load({"LEAD_ROUTER_CLIENT_ID": "from-environment"}, file)

    assert (settings.client_id, settings.username) == ("from-environment", "quoted is fine here")


def test_a_named_file_that_is_absent_is_refused(tmp_path: Path):
    """The remedy is named."""
    with pytest.raises(Misconfigured, match="lead-router init"):
        load({}, tmp_path / "absent.env")


def test_a_secret_file_loses_the_newline_of_its_editor(tmp_path: Path):
    """F2: a trailing newline would break the header it is put in."""
    file = tmp_path / "secret"
    file.write_text("s3cret\r\n")

    assert secret_text(file, "LEAD_ROUTER_CLIENT_SECRET_FILE") == "s3cret"


def test_the_address_of_the_database_may_stand_in_a_file(tmp_path: Path):
    """F1: its password is then in no environment, which others on a host or in a cluster may be shown."""
    file = tmp_path / "database"
    file.write_text("postgresql://router:canary@db/x\n")
    filed = {"LEAD_ROUTER_DATABASE_FILE": str(file)}

    assert load(filed).database == "postgresql://router:canary@db/x"
    assert load({}).database == "sqlite:///lead-router.db"
    for wrong in ({**filed, "LEAD_ROUTER_DATABASE": "sqlite:///x.db"}, {"LEAD_ROUTER_DATABASE_FILE": str(tmp_path)}):
        with pytest.raises(Misconfigured, match="LEAD_ROUTER_DATABASE_FILE") as refused:
            load(wrong)
        assert "canary" not in str(refused.value)


def test_an_unreadable_secret_file_names_the_setting(tmp_path: Path):
    """Bad input names the setting, not the secret."""
    with pytest.raises(Misconfigured, match="LEAD_ROUTER_PRIVATE_KEY_FILE: cannot read"):
        secret_text(tmp_path / "absent.pem", "LEAD_ROUTER_PRIVATE_KEY_FILE")


def test_the_example_can_be_loaded_once_uncommented(tmp_path: Path):
    """What `init` writes is valid: each shown value is the default."""
    file = tmp_path / ".env"
    lines = [line.removeprefix("# ") for line in example().splitlines() if line.startswith("# LEAD_ROUTER_")]
    file.write_text("\n".join(lines))

    assert load({}, file) == Settings()


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("9466", ("127.0.0.1", 9466)),
        ("10.0.0.1:80", ("10.0.0.1", 80)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:9466", ("::1", 9466)),
    ],
)
def test_an_address_for_health_is_a_port_or_has_one(address, place):
    """A port alone is of the loopback address: nothing is opened to others unless it is written down."""
    assert host_and_port(load({"LEAD_ROUTER_HEALTH_ADDRESS": address}).health_address) == place


@pytest.mark.parametrize("address", ["localhost", ":9466", "::1:9466", "127.0.0.1:", "70000", "9466/healthz", "[]:1"])
def test_another_address_for_health_is_refused(address):
    """The text shows how one looks."""
    with pytest.raises(Misconfigured, match=r"LEAD_ROUTER_HEALTH_ADDRESS must be a port, .*: 127\.0\.0\.1:9466"):
        load({"LEAD_ROUTER_HEALTH_ADDRESS": address})
