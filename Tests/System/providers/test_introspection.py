"""Opaque access tokens of real servers: Authlib's introspection endpoint, and glewlwyd's."""

import pytest

from harness.client import contract
from harness.service import Service, run, write_config
from providers.authlib_provider import AuthlibProvider
from providers.browser import Browser
from providers.glewlwyd import Glewlwyd
from providers.relying_party import client_of, trusting

PATH = "/v1/access-tokens/verify"
AUTHENTICATIONS = ["client_secret_basic", "client_secret_post", "private_key_jwt"]


def asking(provider, id: str, audiences, client: dict, **settings) -> dict:
    """An entry that asks a provider about opaque tokens."""
    client = {name: value for name, value in client.items() if name != "redirect_uris"}
    return trusting(provider, id, audiences, tokens="opaque", clients=[client], **settings)


def verify(service: Service, token: str, provider: str, **members):
    return service.api.post(PATH, {"token": token, "provider": provider} | members)


@pytest.fixture(scope="module")
def authlib():
    with AuthlibProvider() as running:
        yield running


@pytest.fixture(scope="module")
def service(authlib, tmp_path_factory):
    # An issuer has one entry of each kind, and the entry has one client.
    services = {}
    for authentication in AUTHENTICATIONS:
        directory = tmp_path_factory.mktemp(authentication)
        entry = asking(authlib, "authlib", [f"{authlib.issuer}/api"], client_of(authlib, authentication, directory))
        services[authentication] = Service(entry).__enter__().wait_until_ready()
    yield services
    for running in services.values():
        running.__exit__(None, None, None)


@pytest.mark.parametrize("authentication", AUTHENTICATIONS)
def test_authlib_is_asked_with_each_authentication(authlib, service, authentication):
    sign_in = authlib.sign_in()
    running = service[authentication]

    response = verify(running, sign_in.access_token, "authlib", scopes=["openid"])

    assert response.status == 200, response
    assert response.json["identity"]["subject"] == authlib.subject
    assert response.json["authorization"]["client_id"] == sign_in.client_id
    assert response.json["token"]["audience"] == [f"{authlib.issuer}/api"]
    contract.assert_code(verify(running, sign_in.access_token, "authlib", scopes=["admin"]), "scope_missing")
    contract.assert_code(verify(running, "no-such-token", "authlib"), "token_inactive")
    authlib.revoke(sign_in.access_token)
    contract.assert_code(verify(running, sign_in.access_token, "authlib"), "token_inactive")


def test_a_revoked_token_passes_no_longer_than_the_cache_says(authlib, tmp_path):
    client = client_of(authlib, "client_secret_basic", tmp_path)
    entry = asking(authlib, "authlib", [f"{authlib.issuer}/api"], client, introspection={"cache": "1h"})
    with Service(entry) as running:
        running.wait_until_ready()
        token = authlib.sign_in().access_token
        before = authlib.questions
        for _ in range(3):
            assert verify(running, token, "authlib").status == 200
        assert authlib.questions == before + 1
        authlib.revoke(token)
        assert verify(running, token, "authlib").json["introspection"]["cached"] is True


def test_a_wrong_secret_is_told(authlib, tmp_path):
    client = client_of(authlib, "client_secret_basic", tmp_path, secret="wrong")
    entry = asking(authlib, "authlib", [f"{authlib.issuer}/api"], client)
    with Service(entry) as running:
        running.wait_until_ready()
        contract.assert_code(verify(running, "a", "authlib"), "client_rejected")
    config = write_config(tmp_path, {"providers": [entry]})
    result = run("config", "check", "--config", str(config), "--live")
    assert result.returncode == 1 and b"rejects the client" in result.stdout


@pytest.fixture(scope="module")
def glewlwyd():
    with Glewlwyd(["ES256"]) as running:
        yield running


@pytest.mark.parametrize("authentication", ["client_secret_basic", "client_secret_post"])
def test_glewlwyd_is_asked_about_its_own_jwts(glewlwyd, tmp_path, authentication):
    """Its access tokens are JWTs, but of no entry with tokens: access, so their issuer may be asked. Their audience is their
    scope."""
    client = client_of(glewlwyd, authentication, tmp_path)
    entry = asking(glewlwyd, "glewlwyd", ["openid"], client, required_scopes=["openid"])
    with Service(entry) as running:
        running.wait_until_ready()
        sign_in = glewlwyd.sign_in("ES256")
        said = Browser().post_form(
            f"{glewlwyd.issuer}/introspect", {"token": sign_in.access_token},
            basic=(glewlwyd.client_id("ES256"), glewlwyd.client_secret),
        ).expect().json
        assert said["active"] is True, said
        response = verify(running, sign_in.access_token, "glewlwyd")
        assert response.status == 200, (response, said)
        assert response.json["authorization"]["client_id"] == sign_in.client_id
        assert response.json["token"]["token_id"] == said.get("jti")
        contract.assert_code(verify(running, "no-such-token", "glewlwyd"), "token_inactive")


