"""OAuth of the simulated org: three ways in, one way out, and the exact words for everybody else."""

from __future__ import annotations

from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from org_simulator.wire import adapter, tls
from org_simulator.wire.oauth import REFRESH_TOKEN
from org_simulator.wire.world import ConnectedApp
from support import simulator

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
USERNAME = "lead.router@simulated.example"
CLIENT = {"client_id": "lead-router", "client_secret": "simulator"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A certificate the app knows, its private key, and a private key nobody knows."""
    certificate, key = tls.ensure(tmp_path_factory.mktemp("keys"), "client")
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    foreign = stranger.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.read_bytes(), key.read_bytes(), foreign


@pytest.fixture
def org(keys):
    return simulator.world(app=ConnectedApp(certificate=keys[0]))


@pytest.fixture
def session(org):
    return adapter.session(org)


def _ask(org, session, resource="token", auth=None, **form):
    answer = session.post(f"{org.base_url}/services/oauth2/{resource}", data=form, auth=auth)
    return answer.status_code, answer.json() if answer.content else None


def _assertion(org, key, **claims):
    now = org.org.clock.now()
    usual = {"iss": "lead-router", "sub": USERNAME, "aud": "https://login.salesforce.com"}
    return jwt.encode({**usual, "exp": now + timedelta(minutes=3), **claims}, key, algorithm="RS256")


def _refusal(error, description):
    return 400, {"error": error, "error_description": description}


def test_a_signed_jwt_gets_a_token_that_works(org, session, keys):
    status, granted = _ask(org, session, grant_type=GRANT, assertion=_assertion(org, keys[1]))
    assert (status, granted["token_type"], granted["instance_url"]) == (200, "Bearer", org.base_url)
    assert granted["id"].endswith(f"/{org.org.org_id}/{org.org.integration_user_id}")
    assert granted["access_token"].startswith(org.org.org_id[:15] + "!")
    assert "refresh_token" not in granted
    headers = {"Authorization": f"Bearer {granted['access_token']}"}
    who = session.get(f"{org.base_url}/services/oauth2/userinfo", headers=headers).json()
    assert (who["organization_id"], who["user_id"]) == (org.org.org_id, org.org.integration_user_id)
    assert session.get(f"{org.base_url}/services/data/v68.0/limits", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("claims", "error", "description"),
    [
        ({"aud": "https://elsewhere.example"}, "invalid_grant", "Audience validation failed"),
        ({"sub": "nobody@x.example"}, "invalid_grant", "user hasn't approved this consumer"),
        ({"iss": "another-app"}, "invalid_client_id", "client identifier invalid"),
        ({"exp": 1_000_000_000}, "invalid_grant", "invalid assertion"),
    ],
)
def test_a_jwt_with_a_wrong_claim_is_refused_by_its_name(org, session, keys, claims, error, description):
    answer = _ask(org, session, grant_type=GRANT, assertion=_assertion(org, keys[1], **claims))
    assert answer == _refusal(error, description)


def test_a_jwt_is_good_only_for_a_user_who_approved_the_app(org, session, keys):
    with org.org.transaction(org.org.admin_user_id) as opened:
        opened.insert("User", {"Username": "rep@x.example", "LastName": "Rep"})
    answer = _ask(org, session, grant_type=GRANT, assertion=_assertion(org, keys[1], sub="rep@x.example"))
    assert answer == _refusal("invalid_grant", "user hasn't approved this consumer")


def test_a_jwt_of_a_foreign_key_or_no_jwt_is_refused(org, session, keys):
    refused = _refusal("invalid_grant", "invalid assertion")
    for assertion in (_assertion(org, keys[2]), jwt.encode({"iss": "lead-router"}, "x" * 32), "nonsense", ""):
        assert _ask(org, session, grant_type=GRANT, assertion=assertion) == refused


def test_client_credentials_run_as_the_integration_user(org, session):
    """In the body or as HTTP Basic."""
    for sent in ({**CLIENT}, {"auth": ("lead-router", "simulator")}):
        status, granted = _ask(org, session, grant_type="client_credentials", **sent)
        assert (status, granted["id"].rpartition("/")[2]) == (200, org.org.integration_user_id)


@pytest.mark.parametrize(
    ("form", "error", "description"),
    [
        ({"client_id": "x"}, "invalid_client_id", "client identifier invalid"),
        ({"client_secret": "x"}, "invalid_client", "invalid client credentials"),
        ({"grant_type": "password"}, "unsupported_grant_type", "grant type not supported"),
    ],
)
def test_wrong_credentials_are_refused_by_their_name(org, session, form, error, description):
    answer = _ask(org, session, **{"grant_type": "client_credentials", **CLIENT, **form})
    assert answer == _refusal(error, description)


def test_a_refresh_token_works_until_it_is_revoked(org, session):
    form = {"grant_type": "refresh_token", "refresh_token": REFRESH_TOKEN, **CLIENT}
    status, granted = _ask(org, session, **form)
    assert (status, "refresh_token" in granted) == (200, False)
    assert _ask(org, session, "revoke", token=REFRESH_TOKEN) == (200, None)
    assert _ask(org, session, **form) == _refusal("invalid_grant", "expired access/refresh token")


def test_a_revoked_token_is_dead_everywhere(org, session):
    _, granted = _ask(org, session, grant_type="client_credentials", **CLIENT)
    headers = {"Authorization": f"OAuth {granted['access_token']}"}
    assert session.get(f"{org.base_url}/services/data/v68.0/limits", headers=headers).status_code == 200
    assert _ask(org, session, "revoke", token=granted["access_token"])[0] == 200
    assert session.get(f"{org.base_url}/services/data/v68.0/limits", headers=headers).status_code == 401
    assert session.get(f"{org.base_url}/services/oauth2/userinfo", headers=headers).status_code == 403
    assert _ask(org, session, "revoke", token=granted["access_token"])[0] == 400


@pytest.mark.parametrize(
    ("change", "description"), [({"active": False}, "inactive user"), ({"frozen": True}, "authentication failure")]
)
def test_a_user_who_may_not_log_in_gets_no_token_and_loses_the_one_there_was(org, session, change, description):
    form = {"grant_type": "client_credentials", **CLIENT}
    _, granted = _ask(org, session, **form)
    session.post(f"{org.base_url}/simulator/user", json={"username": USERNAME, **change})
    assert _ask(org, session, **form) == _refusal("invalid_grant", description)
    headers = {"Authorization": f"Bearer {granted['access_token']}"}
    assert session.get(f"{org.base_url}/services/data/v68.0/limits", headers=headers).status_code == 401


def test_without_a_certificate_no_jwt_is_good(keys):
    org = simulator.world(app=ConnectedApp())
    answer = _ask(org, adapter.session(org), grant_type=GRANT, assertion=_assertion(org, keys[1]))
    assert answer == _refusal("invalid_grant", "invalid assertion")
