"""Complete sign-ins in the browser, from the authorization URL to the revocation, and each way to authenticate clients."""

import pytest

from grants.grants import refresh, refused, revoke
from harness.service import Service
from providers import independent, jwk
from providers.authlib_provider import AuthlibProvider
from providers.glewlwyd import Glewlwyd
from providers.mock_provider import MockProvider
from providers.relying_party import client_of, trusting
from sign_ins.calls import ON, begin

PROVIDERS = {"authlib": AuthlibProvider, "glewlwyd": lambda: Glewlwyd(["ES256"]), "mock": MockProvider}
AUTHENTICATIONS = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"]


@pytest.fixture(scope="module")
def running():
    """The providers, each of which starts when a test first needs it."""
    started = {}

    def start(name: str):
        if name not in started:
            started[name] = PROVIDERS[name]().__enter__()
        return started[name]

    yield start
    for provider in started.values():
        provider.__exit__(None, None, None)


@pytest.fixture(scope="module", params=PROVIDERS)
def provider(request, running):
    return running(request.param)


def trust(provider, client: dict) -> Service:
    """Assay with one client of the provider, which is called `op`."""
    endpoints = {"endpoints": {"token": f"{provider.issuer}/token"}} if "assertion_audience" in client else {}
    return Service(trusting(provider, "op", [client["id"]], clients=[client], **endpoints), **ON).wait_until_ready()


@pytest.fixture(scope="module")
def service(provider, tmp_path_factory):
    with trust(provider, client_of(provider, "client_secret_basic", tmp_path_factory.mktemp("client"))) as service:
        yield service


def begun(service: Service, provider, **members) -> dict:
    return begin(service, "op", redirect_uri=provider.redirect_uri, **members)


def finish(service: Service, begun: dict, response: dict, **members):
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response} | members)


def signed_in(service: Service, provider, **members) -> dict:
    """Runs a sign-in from the authorization URL to the identity; returns the answer."""
    started = begun(service, provider, **members)
    response = finish(service, started, provider.answer_for(started["authorization_url"]))
    assert response.status == 200, response
    return response.json


def test_a_user_signs_in_refreshes_and_revokes(provider, service):
    started = begun(service, provider, context="/basket")
    came_back = provider.answer_for(started["authorization_url"])
    response = finish(service, started, came_back, redirect_uri=provider.redirect_uri)
    assert response.status == 200, response
    answer = response.json
    grant, claims = answer["grant"], independent.claims(answer["grant"]["id_token"])
    assert independent.is_signed_by_any(grant["id_token"], independent.published_keys(provider.issuer))
    assert (answer["identity"]["subject"], answer["context"]) == (claims["sub"], "/basket")
    assert (claims["nonce"], answer["token"]["nonce_match"]) == (started["nonce"], "plain")
    refused(finish(service, started, came_back), "sign_in_replayed", True)

    token = grant["refresh_token"]
    refreshed = refresh(service, "op", token, claims["sub"])
    assert refreshed.status == 200, refreshed
    assert refreshed.json["grant"]["access_token"] != grant["access_token"]
    token = refreshed.json["grant"]["refresh_token"] or token
    if isinstance(provider, MockProvider):
        # This provider has no revocation endpoint.
        refused(revoke(service, "op", token=token), "revocation_not_supported", False)
        return
    assert revoke(service, "op", token=token).status == 204
    if isinstance(provider, Glewlwyd):
        # The response has no body, so it does not say what was wrong.
        refused(refresh(service, "op", token, claims["sub"]), "provider_answer_invalid", True)
    else:
        refused(refresh(service, "op", token, claims["sub"]), "grant_invalid", True, "invalid_grant")


def test_the_state_of_another_sign_in_is_refused_and_uses_nothing_up(provider, service):
    mine, another = begun(service, provider), begun(service, provider)
    response = provider.answer_for(mine["authorization_url"])
    refused(finish(service, another, response), "state_mismatch", False)
    refused(finish(service, mine, response | {"state": another["state"]}), "state_mismatch", False)
    assert finish(service, mine, response).status == 200


def test_a_code_of_another_sign_in_is_refused(provider, service):
    attackers, victims = begun(service, provider), begun(service, provider)
    injected = provider.answer_for(attackers["authorization_url"])["code"]
    response = provider.answer_for(victims["authorization_url"]) | {"code": injected}
    problem = finish(service, victims, response)
    if isinstance(provider, MockProvider):
        # This provider does not check PKCE, so only the nonce protects the sign-in.
        refused(problem, "nonce_mismatch", True)
    elif isinstance(provider, Glewlwyd):
        refused(problem, "provider_refused", True, "other")
    else:
        refused(problem, "grant_invalid", True, "invalid_grant")
    refused(finish(service, victims, response), "sign_in_replayed", True)


@pytest.mark.parametrize("authentication", AUTHENTICATIONS)
@pytest.mark.parametrize("name", ["authlib", "glewlwyd"])
def test_clients_can_authenticate_in_every_way(running, name, authentication, tmp_path):
    provider = running(name)
    with trust(provider, client_of(provider, authentication, tmp_path)) as service:
        answer = signed_in(service, provider)
        token, subject = answer["grant"]["refresh_token"], answer["identity"]["subject"]
        refreshed = refresh(service, "op", token, subject)
        assert refreshed.status == 200, refreshed
        token = refreshed.json["grant"]["refresh_token"] or token
        revoked = revoke(service, "op", token=token)
        if name == "glewlwyd" and not authentication.startswith("client_secret"):
            # The revocation endpoint requires an assertion for itself, and refuses public clients.
            refused(revoked, "provider_answer_invalid", False)
        else:
            assert revoked.status == 204, revoked


@pytest.mark.parametrize("authentication", AUTHENTICATIONS)
@pytest.mark.parametrize("name", ["authlib", "glewlwyd"])
def test_a_client_that_fails_to_authenticate_is_reported(running, name, authentication, tmp_path):
    provider = running(name)
    # A confidential client claims to be public, and others have a wrong secret or key.
    wrong = {"secret": "another-secret", "key": jwk.new_client_key()}
    if authentication == "none":
        wrong["id"] = provider.client_id_with("client_secret_basic")
    with trust(provider, client_of(provider, authentication, tmp_path, **wrong)) as service:
        started = begun(service, provider)
        problem = finish(service, started, provider.answer_for(started["authorization_url"]))
        if (name, authentication) == ("glewlwyd", "private_key_jwt"):
            # The response has no body, so it does not say what was wrong.
            refused(problem, "provider_answer_invalid", True)
        else:
            refused(problem, "client_rejected", True, "unauthorized_client" if name == "glewlwyd" else "invalid_client")
