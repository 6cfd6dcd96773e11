"""A private key is read in whatever form it is handed over, or refused by the name of its setting."""

from __future__ import annotations

import base64
import logging
from argparse import Namespace

import pytest
import structlog
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from lead_router.app import running
from lead_router.app.wiring import login_of
from lead_router.cli import commands
from lead_router.errors import Misconfigured
from lead_router.salesforce.auth import checked
from lead_router.settings import exposed, load

FILE, VALUE = "LEAD_ROUTER_PRIVATE_KEY_FILE", "LEAD_ROUTER_PRIVATE_KEY"
LOGIN = {
    "LEAD_ROUTER_LOGIN_URL": "https://acme.my.salesforce.com",
    "LEAD_ROUTER_CLIENT_ID": "client",
    "LEAD_ROUTER_USERNAME": "router@acme.example",
}
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def written(key, form=serialization.PrivateFormat.PKCS8, lock=None) -> str:
    lock = lock or serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, lock).decode()


PEM = written(KEY)
OLD = written(KEY, serialization.PrivateFormat.TraditionalOpenSSL)
FORMS = {
    "plain": PEM,
    "with RSA in its first line": OLD,
    "no newline at the end": PEM.rstrip(),
    "newlines around": f"\n\n{PEM}\n\n",
    "carriage returns": PEM.replace("\n", "\r\n"),
    "carriage returns alone": PEM.replace("\n", "\r"),
    "escaped": PEM.replace("\n", "\\n"),
    "escaped with carriage returns": PEM.replace("\n", "\\r\\n"),
    "escaped, and a newline": PEM.replace("\n", "\\n") + "\r\n",
    "base64": base64.b64encode(PEM.encode()).decode(),
    "base64 in lines": base64.encodebytes(OLD.encode()).decode(),
}
PUBLIC = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
BAD = {
    "cut off": PEM[:400],
    "no key": "canary canary",
    "base64 of no key": base64.b64encode(b"canary").decode(),
    "public": PUBLIC.decode(),
    "of another kind": written(ec.generate_private_key(ec.SECP256R1())),
    "locked": written(KEY, lock=serialization.BestAvailableEncryption(b"x")),
    "of OpenSSH": written(KEY, serialization.PrivateFormat.OpenSSH),
    "not ASCII": "-----BEGIN PRIVATE KEY-----\nä\n-----END PRIVATE KEY-----",
}


def given(tmp_path, how: str, text: str):
    """The login of settings that hand the key over as a file, in the environment or in a settings file."""
    if how == FILE:
        path = tmp_path / "router.pem"
        path.write_bytes(text.encode())
        return checked(login_of(load({**LOGIN, FILE: str(path)})))
    if how == VALUE:
        return checked(login_of(load({**LOGIN, VALUE: text})))
    path = tmp_path / "router.env"
    path.write_text(f'{VALUE}="{text}"\n', encoding="utf-8")
    return checked(login_of(load(LOGIN, path)))


@pytest.mark.parametrize("how", [FILE, VALUE, "settings file"])
@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_read_in_every_form_it_comes_in(tmp_path, how, form):
    """F2, F5: secret stores, containers and editors change line ends, escape them or wrap the whole."""
    found = given(tmp_path, how, FORMS[form]).private_key
    assert serialization.load_pem_private_key(found.encode(), None).private_numbers() == KEY.private_numbers()


@pytest.mark.parametrize("how", [FILE, VALUE])
@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_key_is_refused_by_its_setting(tmp_path, how, bad):
    """F2: at the start, by name, and nothing of the value is shown."""
    with pytest.raises(Misconfigured) as refused:
        given(tmp_path, how, BAD[bad])
    assert str(refused.value) == f"{how} holds no RSA private key in PEM form without a password"
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("how", [FILE, VALUE])
@pytest.mark.parametrize("quote", "\"'")
def test_quotes_around_a_key_are_named(tmp_path, how, quote):
    """F5: a value with quotes is told so, whether a file or the environment holds them."""
    with pytest.raises(Misconfigured, match=f"{how}.*quotes.*remove them") as refused:
        given(tmp_path, how, f"{quote}{PEM}{quote}\n")
    assert PEM[100:140] not in str(refused.value)


def test_a_key_is_given_once_and_for_a_user(tmp_path):
    """Two sources that may differ are one too many; a key alone says not who logs in."""
    with pytest.raises(Misconfigured, match=f"{VALUE} or {FILE}, not both"):
        load({**LOGIN, VALUE: PEM, FILE: str(tmp_path / "x.pem")})
    with pytest.raises(Misconfigured, match=f"{VALUE} needs LEAD_ROUTER_USERNAME"):
        load({VALUE: PEM})
    assert PEM[40:80] not in repr(load({**LOGIN, VALUE: PEM}))


def test_a_mark_of_an_editor_before_a_secret_is_no_part_of_it(tmp_path):
    """F2: some editors begin a file with U+FEFF, which no header may hold."""
    path = tmp_path / "secret"
    path.write_bytes(b"\xef\xbb\xbfs3cret\r\n")
    settings = load({"LEAD_ROUTER_CLIENT_SECRET_FILE": str(path)})
    assert login_of(settings).client_secret == "s3cret"


@pytest.mark.parametrize(("mode", "told"), [(0o600, False), (0o400, False), (0o640, True), (0o644, True)])
def test_a_file_of_secrets_that_others_may_read_is_named(tmp_path, mode, told):
    """One text for each such file: setting, path, mode and remedy."""
    secret, key, filed = (tmp_path / name for name in ("secret", "key", "my.env"))
    secret.write_text("s3cret", encoding="utf-8")
    key.write_text(PEM, encoding="utf-8")
    filed.write_text("LEAD_ROUTER_DATABASE=postgresql://router:pass@db/x\n", encoding="utf-8")
    for path in (secret, key, filed):
        path.chmod(mode)
    settings = load({**LOGIN, "LEAD_ROUTER_CLIENT_SECRET_FILE": str(secret), FILE: str(key)}, filed)
    named = {"LEAD_ROUTER_CLIENT_SECRET_FILE": secret, FILE: key, "--env-file": filed} if told else {}
    assert exposed(settings, filed) == [
        f"{setting}: {path} may be read by others than its owner (mode {mode:04o}): chmod 600 {path}"
        for setting, path in named.items()
    ]


def test_a_file_with_the_address_of_the_database_is_named_as_well(tmp_path):
    """F1: it holds a password."""
    filed = tmp_path / "database"
    filed.write_text("postgresql://router:pass@db/x", encoding="utf-8")
    filed.chmod(0o640)
    (told,) = exposed(load({"LEAD_ROUTER_DATABASE_FILE": str(filed)}))
    assert told.startswith("LEAD_ROUTER_DATABASE_FILE: ")
    assert "pass@" not in told


def test_a_settings_file_without_a_secret_may_be_read_by_all(tmp_path):
    """Not every settings file holds one."""
    filed = tmp_path / "my.env"
    filed.write_text("LEAD_ROUTER_BATCH_MAX=10\n", encoding="utf-8")
    filed.chmod(0o644)
    assert exposed(load({}, filed), filed) == []


def test_the_start_logs_one_line_for_such_a_file(tmp_path, monkeypatch, capsys):
    """Told before anything is asked of Salesforce, so also where the login fails."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret-canary", encoding="utf-8")
    secret.chmod(0o644)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAD_ROUTER_CLIENT_SECRET_FILE", str(secret))
    # A logger keeps what it was configured with at its first use: not this one's, for the tests that follow.
    monkeypatch.setattr(running, "_log", structlog.get_logger("lead_router.app.running"))
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    try:
        with pytest.raises(Misconfigured, match="LEAD_ROUTER_CLIENT_ID"):
            commands.run(Namespace(env_file=None))
    finally:
        root.handlers[:], root.level = handlers, level
        structlog.configure(**before)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "router_warned" in line]
    assert "LEAD_ROUTER_CLIENT_SECRET_FILE" in line
    assert "canary" not in line


def test_the_doctor_warns_of_such_a_file(tmp_path, monkeypatch, capsys):
    """Whoever looks before the first start is told as well; it is no FAIL, since leads are routed all the same."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret-canary", encoding="utf-8")
    secret.chmod(0o644)
    monkeypatch.chdir(tmp_path)
    for name, value in {"LOGIN_URL": "http://localhost:9", "CLIENT_ID": "x", "CLIENT_SECRET_FILE": str(secret)}.items():
        monkeypatch.setenv(f"LEAD_ROUTER_{name}", value)
    assert commands.doctor(Namespace(env_file=None, json=False)) == 3
    told = capsys.readouterr().out
    assert f"warn  secrets: LEAD_ROUTER_CLIENT_SECRET_FILE: {secret} may be read by others" in told
    assert f"remedy: chmod 600 {secret}\n" in told
    assert "canary" not in told
