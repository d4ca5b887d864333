"""Clients that a real provider authenticates by the certificate of their connections, and tokens that it binds to it (glewlwyd)."""

import base64
import hashlib

import pytest

from grants.grants import refresh, refused, revoke
from grants.test_certificates import Identity
from harness.certificates import Authority
from harness.contract import assert_code
from harness.service import NETWORK, Service
from providers import independent
from providers.glewlwyd import CERTIFIED_NAME, Glewlwyd
from providers.relying_party import trusting
from sign_ins.calls import ON

from .test_browser_sign_ins import begun, finish


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def provider(authority):
    with Glewlwyd(["ES256"], authority) as provider:
        yield provider


@pytest.fixture(scope="module")
def identity(authority, tmp_path_factory):
    return Identity(authority, tmp_path_factory.mktemp("client"), host=CERTIFIED_NAME)


def trust(provider, authority, identity, **more) -> Service:
    network = NETWORK | {"ca_file": str(authority.certificate_file)}
    client = identity.client(provider.client_id_with("tls_client_auth"), sender_constraint="certificate")
    client |= {"redirect_uris": [provider.redirect_uri]}
    identities = trusting(provider, "op", [client["id"]], clients=[client], user_info=True) | {"network": network}
    tokens = trusting(provider, "api", ["openid"], tokens="access", binding="certificate") | {"network": network}
    return Service(identities, tokens, **ON, **more).wait_until_ready()


@pytest.fixture(scope="module")
def service(provider, authority, identity):
    with trust(provider, authority, identity) as service:
        yield service


def signed_in(service, provider) -> dict:
    started = begun(service, provider)
    response = finish(service, started, provider.answer_for(started["authorization_url"]))
    assert response.status == 200, response
    return response.json


def thumbprint(identity) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(identity.der).digest()).rstrip(b"=").decode()


def test_a_whole_life_of_a_bound_grant(provider, service, identity):
    answer = signed_in(service, provider)
    grant, subject = answer["grant"], answer["identity"]["subject"]
    assert answer["identity"]["email"] == provider.email
    assert independent.claims(grant["access_token"])["cnf"] == {"x5t#S256": thumbprint(identity)}

    refreshed = refresh(service, "op", grant["refresh_token"], subject)
    assert refreshed.status == 200, refreshed
    assert independent.claims(refreshed.json["grant"]["access_token"])["cnf"] == {"x5t#S256": thumbprint(identity)}
    assert revoke(service, "op", token=grant["refresh_token"]).status == 204
    refused(refresh(service, "op", grant["refresh_token"], subject), "provider_answer_invalid", True)


def test_its_access_tokens_are_the_certificates_alone(provider, service, authority, identity, tmp_path):
    token = signed_in(service, provider)["grant"]["access_token"]

    def verify(bearer: Identity | None):
        presented = {"certificate": bearer.certificate_file.read_text()} if bearer else {}
        return service.api.post("/v1/access-tokens/verify", {"provider": "api", "token": token} | presented)

    assert verify(identity).status == 200, verify(identity)
    assert_code(verify(Identity(authority, tmp_path)), "binding_mismatch")
    assert_code(verify(None), "binding_required")


def test_a_certificate_with_another_name_is_refused(provider, authority, tmp_path):
    with trust(provider, authority, Identity(authority, tmp_path, host="other.example")) as service:
        started = begun(service, provider)
        response = finish(service, started, provider.answer_for(started["authorization_url"]))
        # The refusal has no body that says so.
        refused(response, "provider_answer_invalid", True)
