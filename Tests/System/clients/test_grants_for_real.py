"""Codes, refreshes and revocations in each language, with a running Assay and a scripted token endpoint."""

import pytest

from clients.languages import API_KEY
from harness.issuer import KeyServer
from harness.service import Service, provider
from harness.token_endpoint import REVOCATION, TOKEN, error, grant
from harness.tokens import sha256_hex

REDIRECT_URI = "https://example.com/callback/oidc"
REFRESH = {"provider": "oidc", "refresh_token": "the-old-token", "subject": "user-1"}


@pytest.fixture(scope="module")
def issuer():
    with KeyServer() as key_server:
        yield key_server.issuer("grants")


@pytest.fixture(scope="module")
def service(issuer, endpoint, tmp_path_factory):
    secret = tmp_path_factory.mktemp("client") / "secret"
    secret.write_text("secret\n")
    secret.chmod(0o600)
    client = {"id": "client", "auth": "client_secret_basic", "secret_file": str(secret), "redirect_uris": [REDIRECT_URI]}
    endpoints = {name: endpoint.endpoints[name] for name in ("token", "revocation")}
    trusted = provider(issuer, clients=[client], endpoints=endpoints)
    with Service(trusted, sign_ins={}, api_keys=[sha256_hex(API_KEY)]) as service:
        yield service.wait_until_ready()


@pytest.fixture
def asking(program, service, endpoint):
    endpoint.heal()
    return program(f"http://{service.api.address}", API_KEY)


def test_a_finish_exchanges_the_code(asking, endpoint, issuer):
    begun = asking.call("begin", provider="oidc", context="/basket")["begun"]
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"]), refresh_token="the-token"))
    members = {"sign_in": begun["sign_in"], "code": "the-code", "redirect_uri": REDIRECT_URI}
    finished = asking.call("finish", **members)["finished"]
    assert (finished["identity"]["subject"], finished["context"]) == ("user-1", "/basket")
    assert finished["grant"]["refresh_token"] == "the-token"
    assert endpoint.last().form == {"grant_type": "authorization_code", "code": "the-code", "redirect_uri": REDIRECT_URI}
    assert asking.call("finish", **members) == {"error": 422, "code": "sign_in_replayed", "spent": True}
    assert endpoint.received() == 1


def test_a_refused_code_ends_the_sign_in(asking, endpoint):
    begun = asking.call("begin", provider="oidc")["begun"]
    endpoint.play(error("invalid_grant"))
    said = asking.call("finish", sign_in=begun["sign_in"], code="the-code")
    assert said == {"error": 422, "code": "grant_invalid", "spent": True, "provider_error": "invalid_grant"}


def test_a_refresh_returns_new_tokens_and_the_identity(asking, endpoint, issuer):
    token = issuer.token(sub="user-1")
    endpoint.play(grant(id_token=token, refresh_token="the-new-token", scope="openid email"))
    members = {"audience": "client", "issuer": issuer.url, "scopes": ["openid", "email"]}
    refreshed = asking.call("refresh", **REFRESH | members)["refreshed"]
    assert (refreshed["identity"]["subject"], refreshed["grant"]["scopes"]) == ("user-1", ["openid", "email"])
    assert (refreshed["grant"]["refresh_token"], refreshed["grant"]["id_token"]) == ("the-new-token", token)
    assert endpoint.last().form == {
        "grant_type": "refresh_token", "refresh_token": "the-old-token", "scope": "openid email",
    }  # fmt: skip
    endpoint.play(grant())
    assert set(asking.call("refresh", **REFRESH)["refreshed"]) == {"grant"}


@pytest.mark.parametrize(
    ("act", "status", "code", "spent", "name"),
    [
        (error("invalid_grant"), 422, "grant_invalid", True, "invalid_grant"),
        (error("invalid_client", "401 Unauthorized"), 502, "client_rejected", False, "invalid_client"),
        (error("unheard_of"), 422, "provider_refused", False, "other"),
    ],
)
def test_a_refused_refresh_says_what_is_spent(asking, endpoint, act, status, code, spent, name):
    endpoint.play(act)
    said = asking.call("refresh", **REFRESH)
    assert said == {"error": status, "code": code, "spent": spent, "provider_error": name}
    assert endpoint.received() == 1


def test_another_users_token_is_refused(asking, endpoint, issuer):
    endpoint.play(grant(id_token=issuer.token(sub="user-2")))
    assert asking.call("refresh", **REFRESH) == {"error": 422, "code": "subject_mismatch", "spent": True}


def test_a_token_is_revoked(asking, endpoint):
    said = asking.call("revoke", provider="oidc", token="the-token", token_type_hint="refresh_token", audience="client")
    assert said == {"revoked": True}
    assert endpoint.last(REVOCATION).form == {"token": "the-token", "token_type_hint": "refresh_token"}
    endpoint.play(error("invalid_client"), path=REVOCATION)
    said = asking.call("revoke", provider="oidc", token="the-token")
    assert said == {"error": 502, "code": "client_rejected", "spent": False, "provider_error": "invalid_client"}


def test_a_codes_grant_is_revoked(asking, endpoint, issuer):
    endpoint.play(grant(id_token=issuer.token(sub="user-1"), refresh_token="the-token"), grant(id_token=issuer.token(sub="user-2")))
    request = {"provider": "oidc", "code": "the-code", "redirect_uri": REDIRECT_URI, "audience": "client"}
    request |= {"subject": "user-1", "issuer": issuer.url}
    assert asking.call("revoke_by_code", **request) == {"revoked": True}
    assert endpoint.last(TOKEN).form == {"grant_type": "authorization_code", "code": "the-code", "redirect_uri": REDIRECT_URI}
    assert endpoint.last(REVOCATION).form["token"] == "the-token"
    said = asking.call("revoke_by_code", **request)
    assert said == {"error": 422, "code": "subject_mismatch", "spent": True}
    assert (endpoint.received(TOKEN), endpoint.received(REVOCATION)) == (2, 1)
