"""Assertions of Google IAP, Cloudflare Access and Pomerium."""

import pytest

from harness.service import NETWORK, Service
from harness.tokens import ec_key, jws, now, rsa_key

from .test_access_tokens import accepted, refused, verify

IAP = "https://cloud.google.com/iap"
PATH = "/projects/1234567890123/global/backendServices/42"
TEAM = "https://example.cloudflareaccess.com"
TAG = "4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"
ROUTE = "app.example.com"


class Gateway:
    """A gateway whose keys are at the tests' key server."""

    def __init__(self, server, name: str, key, **claims):
        self.issuer = server.issuer(name, key)
        self.key = key
        self.usual = {"exp": now() + 600, "iat": now()} | claims

    def provider(self, id: str, **settings) -> dict:
        return {"id": id, "preset": id, "jwks_uri": self.issuer.jwks_uri, "network": dict(NETWORK)} | settings

    def assertion(self, key=None, **claims) -> str:
        members = {name: value for name, value in (self.usual | claims).items() if value is not None}
        return jws(key or self.key, members)


@pytest.fixture(scope="module")
def iap(shared_server):
    return Gateway(
        shared_server, "iap", ec_key("iap"), iss=IAP, aud=PATH, sub="accounts.google.com:118133858486581853996",
        email="jane@example.com", hd="example.com",
    )  # fmt: skip


@pytest.fixture(scope="module")
def cloudflare(shared_server):
    return Gateway(
        shared_server, "cloudflare", rsa_key("cloudflare"), iss=TEAM, aud=[TAG], type="app", email="jane@example.com",
        sub="7335d417-61da-459d-899c-0a01c76a2f94",
    )  # fmt: skip


@pytest.fixture(scope="module")
def pomerium(shared_server):
    return Gateway(
        shared_server, "pomerium", ec_key("pomerium"), iss=ROUTE, aud=ROUTE, sub="u1", user="u1", jti="j1",
        email="jane@example.com", groups=["g1", "admins"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def service(iap, cloudflare, pomerium):
    providers = [
        iap.provider("google-iap", audiences=[PATH]),
        cloudflare.provider("cloudflare-access", domain="example.cloudflareaccess.com", audiences=[TAG]),
        pomerium.provider("pomerium", domain=ROUTE),
    ]  # fmt: skip
    with Service(*providers) as service:
        service.wait_until_ready()
        yield service


def test_google_iap_assertions_are_verified(service, iap):
    answer = accepted(service, iap.assertion())
    assert answer["identity"]["subject"] == "accounts.google.com:118133858486581853996"
    assert (answer["identity"]["hosted_domain"], answer["identity"]["email_trust"]) == ("example.com", "unverified")
    assert answer["token"]["audience"] == [PATH]
    refused(verify(service, iap.assertion(aud=PATH.replace("42", "43"))), "audience_mismatch")
    refused(verify(service, iap.assertion(rsa_key("iap"))), "algorithm_not_allowed")
    refused(verify(service, iap.assertion(sub=None)), "claim_missing", "sub")


def test_cloudflare_access_assertions_are_verified(service, cloudflare):
    assert accepted(service, cloudflare.assertion())["identity"]["issuer"] == TEAM
    refused(verify(service, cloudflare.assertion(type="org")), "claim_invalid", "type")
    refused(verify(service, cloudflare.assertion(type=None)), "claim_missing", "type")
    problem = refused(verify(service, cloudflare.assertion(sub="", common_name="a.access")), "claim_missing", "sub")
    assert "service_tokens" in problem["detail"]


def test_cloudflare_service_tokens_need_a_setting(cloudflare):
    settings = {"domain": "example.cloudflareaccess.com", "audiences": [TAG], "service_tokens": True}
    with Service(cloudflare.provider("cloudflare-access", **settings)) as service:
        service.wait_until_ready()
        answer = accepted(service, cloudflare.assertion(sub="", common_name="e36.access", email=None))
        assert answer["identity"]["subject"] == "common_name:e36.access"
        assert answer["authorization"]["client_id"] == "e36.access"
        refused(verify(service, cloudflare.assertion(sub="")), "claim_missing", "common_name")
        refused(verify(service, cloudflare.assertion(sub="", common_name="a", type="org")), "claim_invalid", "type")
        assert accepted(service, cloudflare.assertion())["authorization"]["client_id"] is None


def test_pomerium_assertions_are_verified(service, pomerium):
    for issuer in (ROUTE, f"https://{ROUTE}/"):
        answer = accepted(service, pomerium.assertion(iss=issuer))
        assert answer["identity"]["issuer"] == ROUTE
        assert answer["authorization"]["groups"] == ["g1", "admins"]
    refused(verify(service, pomerium.assertion(iss=f"https://{ROUTE}")), "provider_unknown")
    refused(verify(service, pomerium.assertion(aud="other.example.com")), "audience_mismatch")


def test_an_assertion_is_not_an_id_token(service, iap, cloudflare, pomerium):
    for gateway, id in ((iap, "google-iap"), (cloudflare, "cloudflare-access"), (pomerium, "pomerium")):
        for members in ({}, {"provider": id}):
            problem = service.reject(gateway.assertion(), "provider_unknown", **members)
            assert "/v1/access-tokens/verify" in problem["detail"]


def test_a_gateway_does_not_support_sign_ins(iap):
    with Service(iap.provider("google-iap", audiences=[PATH]), sign_ins={}) as service:
        service.wait_until_ready()
        assert service.api.post("/v1/sign-ins", {"provider": "google-iap"}).code == "sign_in_not_supported"
