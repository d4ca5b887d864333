"""Grants that a real provider binds to the key of DPoP proofs, and its nonces (glewlwyd)."""

import pytest

from grants.grants import refresh, refused, revoke
from harness import reload
from harness.service import Service
from providers.browser import Browser
from providers.glewlwyd import Glewlwyd
from providers.relying_party import client_of, trusting
from sign_ins.calls import ON

from .test_browser_sign_ins import begun, finish


@pytest.fixture(scope="module", params=["without nonces", "with nonces"])
def provider(request):
    nonces = {"oauth_dpop_nonce_mandatory": True, "oauth_dpop_nonce_counter": 8} if request.param == "with nonces" else {}
    with Glewlwyd(["ES256"], oauth_dpop_allowed=True, oauth_dpop_iat_duration=60, **nonces) as provider:
        provider.has_nonces = bool(nonces)
        yield provider


@pytest.fixture(scope="module")
def service(provider, tmp_path_factory):
    client = client_of(provider, "client_secret_basic", tmp_path_factory.mktemp("client"))
    client |= {"sender_constraint": "dpop", "dpop_origins": [provider.issuer.split("/api")[0]]}
    with Service(trusting(provider, "op", [client["id"]], clients=[client], user_info=True), **ON) as service:
        yield service.wait_until_ready()


def test_a_whole_life_of_a_bound_grant(provider, service):
    started = begun(service, provider)
    response = finish(service, started, provider.answer_for(started["authorization_url"]))
    assert response.status == 200, response
    grant, subject = response.json["grant"], response.json["identity"]["subject"]
    assert grant["token_type"] == "DPoP"
    refusals = reload.metrics(service).value("assay_provider_calls_total", provider="op", endpoint="token", outcome="provider_refused")
    assert (refusals > 0) is provider.has_nonces
    # UserInfo was read with a proof.
    assert response.json["identity"]["email"] == provider.email

    refreshed = refresh(service, "op", grant["refresh_token"], subject, binding=grant["binding"])
    assert refreshed.status == 200, refreshed
    token = refreshed.json["grant"]["access_token"]
    # The backend's own call: a bearer of the token gets nothing.
    url = provider.issuer + "/userinfo"
    assert Browser().request("GET", url, headers={"Authorization": f"Bearer {token}"}).status == 401
    nonce = None
    for _ in range(2):
        request = {"provider": "op", "binding": refreshed.json["grant"]["binding"], "access_token": token, "method": "GET", "url": url}
        proof = service.api.post("/v1/grants/proof", request | ({"nonce": nonce} if nonce else {})).json["dpop"]
        page = Browser().request("GET", url, headers={"Authorization": f"DPoP {token}", "DPoP": proof})
        nonce = page.headers.get("DPoP-Nonce")
        if page.status == 200:
            break
    assert page.status == 200, page
    assert revoke(service, "op", token=grant["refresh_token"], binding=grant["binding"]).status == 204
    refused(refresh(service, "op", grant["refresh_token"], subject, binding=grant["binding"]), "provider_answer_invalid", True)


def test_another_key_refreshes_nothing(provider, service):
    """The provider knows whose key it is."""
    grants = []
    for _ in range(2):
        started = begun(service, provider)
        answer = finish(service, started, provider.answer_for(started["authorization_url"])).json
        grants.append((answer["grant"], answer["identity"]["subject"]))
    (one, subject), (other, _) = grants
    response = refresh(service, "op", one["refresh_token"], subject, binding=other["binding"])
    assert response.status in (422, 502), response
    assert refresh(service, "op", one["refresh_token"], subject, binding=one["binding"]).status == 200
