"""Explanations say which kind of token was sent, and where to send it."""

import json

import pytest

from harness import commands
from harness.gateways import LoadBalancer
from harness.service import Service, provider, run
from harness.tokens import rsa_key

from .test_access_tokens import TENANT, access, access_token

SEND = "POST /v1/access-tokens/verify"


def explain(service, token, **members) -> dict:
    response = service.admin.post("/v1/explain", {"id_token": token} | members)
    assert response.status == 200, response
    answer = response.json
    assert not answer["valid"]
    return answer


def says(answer: dict, *texts: str) -> None:
    cause = answer["likely_cause"]
    for text in texts:
        assert text in cause["explanation"] + " " + cause["fix"], cause


@pytest.fixture(scope="module")
def both(shared_server):
    return shared_server.issuer("kinds-both", rsa_key("both"))


@pytest.fixture(scope="module")
def alone(shared_server):
    return shared_server.issuer("kinds-access", rsa_key("alone"))


@pytest.fixture(scope="module")
def balancer(shared_server):
    return LoadBalancer(shared_server, "kinds")


@pytest.fixture(scope="module")
def service(both, alone, balancer):
    providers = [provider(both), access(both), access(alone, "alone"), balancer.provider()]
    with Service(*providers) as service:
        service.wait_until_ready()
        yield service


def test_an_access_token_sent_as_an_id_token_is_recognized(service, both):
    answer = explain(service, access_token(both))
    assert answer["code"] == "header_unsupported"
    says(answer, "is an access token, not an ID Token: its typ is at+jwt", SEND, "the provider api")
    answer = explain(service, access_token(both, {"typ": "JWT"}))
    assert answer["code"] == "audience_mismatch"
    says(answer, "is an access token, not an ID Token: it has scope", SEND, "the provider api")


def test_an_access_token_of_an_access_token_only_issuer_is_recognized(service, alone):
    for members in ({}, {"provider": "alone"}):
        answer = explain(service, access_token(alone), **members)
        assert (answer["code"], answer["provider"]) == ("provider_unknown", "alone")
        says(answer, "is an access token (its typ is at+jwt), which the provider alone verifies", f"Send it to {SEND}")


def test_an_id_token_of_an_access_token_only_issuer_is_recognized(service, alone):
    answer = explain(service, alone.token(nonce="n"))
    says(answer, "is an ID Token (it has nonce), but the provider alone verifies only access tokens", "without tokens: access")
    answer = explain(service, alone.token())
    says(answer, "alone verifies only access tokens and gateways' assertions", f"Send the token to {SEND}")


def test_a_load_balancers_assertion_is_recognized(service, balancer):
    answer = explain(service, balancer.assertion())
    assert answer["code"] == "token_malformed"
    says(answer, "is the assertion of an AWS load balancer", f"Send it to {SEND}", "aws-alb")


def test_an_id_token_that_fails_otherwise_is_not_called_an_access_token(service, both):
    for token in (both.token(aud="other"), both.token(exp=1), both.token(aud="other", scope="openid", nonce="n")):
        assert "access token" not in explain(service, token)["likely_cause"]["explanation"]


# By preset: its parameters, and the claims that only its access tokens have.
DIALECTS = {
    "auth0": ({"domain": "example.eu.auth0.com"}, {"azp": "app", "scope": "openid"}),
    "authentik": ({}, {"uid": "x1", "azp": "app"}),
    "azure-b2c": ({"subdomain": "example", "tenant": TENANT, "policy": "B2C_1"}, {"tfp": "B2C_1", "scp": "read", "azp": "app"}),
    "cognito": ({"pool": "eu-west-1_A"}, {"token_use": "access", "client_id": "app"}),
    "entra-external": ({"subdomain": "example", "tenant": TENANT}, {"ver": "2.0", "azpacr": "1", "azp": "app"}),
    "keycloak": ({}, {"typ": "Bearer", "azp": "app"}),
    "kinde": ({"domain": "example.kinde.com"}, {"azp": "app", "scp": ["read"], "gty": ["authorization_code"]}),
    "microsoft": ({"tenant": TENANT}, {"ver": "2.0", "azpacr": "1", "azp": "app"}),
    "microsoft-v1": ({"tenant": TENANT}, {"ver": "1.0", "appidacr": "1", "appid": "app"}),
    "okta": ({"domain": "example.okta.com", "authorization_server": "default"}, {"cid": "app", "scp": ["read"]}),
    "oidc": ({}, {"client_id": "app", "jti": "1"}),
    "ory": ({}, {"client_id": "app", "scp": ["read"], "jti": "1"}),
    "spring-authorization-server": ({}, {"scope": ["read"], "jti": "1"}),
    "zitadel": ({}, {"jti": "1"}),
}


@pytest.mark.parametrize("preset", DIALECTS)
def test_each_presets_access_tokens_are_recognized(server, preset):
    parameters, claims = DIALECTS[preset]
    issuer = server.issuer("dialect", rsa_key("dialect"))
    common = {"preset": preset, "jwks_uri": issuer.jwks_uri} | parameters
    common |= {"key_issuers": []} if preset.startswith("microsoft") else {}
    entries = [provider(issuer, "login", **common, audiences=["client"]), access(issuer, "api", **common)]
    with Service(*entries) as service:
        service.wait_until_ready()
        declared = {"typ": "at+jwt" if preset == "oidc" else "JWT"}
        token = access_token(issuer, declared, **({"scope": None, "client_id": None, "jti": None} | claims))
        assert service.api.post("/v1/access-tokens/verify", {"token": token}).status == 200
        says(explain(service, token, provider="login"), "is an access token, not an ID Token", SEND, "the provider api")


def test_the_command_gives_the_same_advice(service, alone, both):
    for token, text in ((access_token(alone), "which the provider alone verifies"), (access_token(both), "not an ID Token")):
        result = run(*commands.explain(service.config, "--json"), stdin=token)
        assert text in json.loads(result.stdout)["likely_cause"]["explanation"]
        assert SEND in run(*commands.explain(service.config), stdin=token).stdout.decode()


def test_problems_name_the_right_endpoint(service, both, alone, balancer):
    problem = service.api.post("/v1/access-tokens/verify", {"token": both.token(), "provider": "oidc"}).json
    assert problem["code"] == "provider_unknown" and "/v1/verify" in problem["detail"]
    for name in ("alone", "alb"):
        problem = service.verify(alone.token(), provider=name).json
        assert problem["code"] == "provider_unknown" and "/v1/access-tokens/verify" in problem["detail"]
