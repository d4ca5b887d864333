"""Opaque tokens at gateways, in explanations, and in `config check --live`."""

import json
import time

import pytest

from grants.grants import SECRET
from harness import commands
from harness.client import contract
from harness.issuer import KeyServer
from harness.service import Service, provider, run, write_config
from harness.token_endpoint import INTROSPECTION, TokenEndpoint, answered, error, held
from harness.tokens import ec_key, jws, now

from .opaque import API, active, opaque, signed, token

POLICY = "/v1/forward-auth/"
INVALID = 'Bearer error="invalid_token"'


@pytest.fixture(scope="module")
def issuers():
    with KeyServer() as server:
        yield {name: server.issuer(name, ec_key(name)) for name in ("op", "jwt", "elsewhere")}


@pytest.fixture(scope="module")
def service(endpoint, issuers, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    access = {"tokens": "access", "audiences": [API]}
    providers = [
        opaque(issuers["op"], endpoint, directory),
        provider(issuers["op"], "users"),
        provider(issuers["jwt"], "jwt", **access),
        provider(issuers["elsewhere"], "elsewhere", **access),
    ]
    policies = [
        {"id": "both", "providers": ["jwt", "legacy"], "require_key": False},
        {"id": "scoped", "providers": ["legacy"], "require_key": False, "require": {"scopes": ["orders:write"]}},
        {"id": "mail", "providers": ["legacy"], "require_key": False, "require": {"email_domains": ["example.com"]}},
        {"id": "same", "providers": ["users", "legacy"], "require_key": False},
        {
            "id": "all", "providers": ["legacy"], "require_key": False,
            "headers": {"X-Sub": "subject", "X-Client": "client_id", "X-Until": "expires_at", "X-Issuer": "issuer", "X-Id": "token_id"},
        },
    ]  # fmt: skip
    forward_auth = {"introspection_timeout": "500ms", "policies": policies}
    with Service(*providers, forward_auth=forward_auth, limits={"provider_timeout": "3s"}) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(autouse=True)
def healed(endpoint):
    endpoint.usually(active(), INTROSPECTION)
    yield
    endpoint.heal()


def ask(service, policy: str, text: str | None = None):
    return service.api.get(POLICY + policy, {"Authorization": "Bearer " + (text or token())})


def test_an_active_token_passes_with_its_values(service):
    response = ask(service, "both")
    assert response.status == 200
    assert (response.header("X-Auth-Subject"), response.header("X-Auth-Scopes")) == ("user-1", "orders:read openid")


def test_without_a_subject_the_fields_about_it_are_empty(service, endpoint, issuers):
    endpoint.always(active(sub=None, exp=None), INTROSPECTION)
    response = ask(service, "all")
    assert [response.header(name) for name in ("X-Sub", "X-Client", "X-Until", "X-Issuer", "X-Id")] == ["", "app", "", "", ""]


def test_an_inactive_token_is_denied_and_one_without_answer_undecided(service, endpoint):
    endpoint.always(answered({"active": False}), INTROSPECTION)
    response = ask(service, "both")
    assert (response.status, response.header("WWW-Authenticate")) == (401, INVALID)
    for act in (error("invalid_client", "401 Unauthorized"), error("invalid_request"), answered(b"x"), answered({}, "503 No")):
        endpoint.always(act, INTROSPECTION)
        assert ask(service, "both").status == 503


def test_a_policy_s_requirements_apply(service, endpoint):
    response = ask(service, "scoped")
    assert (response.status, response.header("WWW-Authenticate")) == (
        403, 'Bearer error="insufficient_scope", scope="orders:write"',
    )  # fmt: skip
    assert ask(service, "mail").status == 403
    endpoint.always(active(email="a@example.com", email_verified=True), INTROSPECTION)
    assert ask(service, "mail").status == 200
    endpoint.always(active(email="a@example.com", email_verified=True, sub=None), INTROSPECTION)
    assert ask(service, "mail").status == 403


def test_each_token_goes_to_its_own_entry(service, endpoint, issuers):
    def access_token(issuer) -> str:
        return jws(issuer.keys[0], issuer.claims(aud=API, client_id="app", jti="1"), typ="at+jwt")

    assert ask(service, "both", access_token(issuers["jwt"])).status == 200
    for text in (access_token(issuers["elsewhere"]), access_token(issuers["jwt"])[:-8] + "AAAAAAAA"):
        assert ask(service, "both", text).status == 401
    # An ID Token of an issuer with both kinds.
    assert ask(service, "same", issuers["op"].token()).status == 200
    assert endpoint.received(INTROSPECTION) == 0
    assert ask(service, "both", access_token(issuers["op"])).status == 200
    assert ask(service, "same").status == 200
    assert endpoint.received(INTROSPECTION) == 2


def test_a_gateway_waits_no_longer_than_its_own_timeout(service, endpoint):
    endpoint.always(held(), INTROSPECTION)
    begun = time.monotonic()
    assert ask(service, "both").status == 503
    assert 0.4 < time.monotonic() - begun < 2.9


def test_an_explanation_asks_and_says_what_is_wrong(service, endpoint):
    def explain(**members) -> dict:
        response = service.admin.post("/v1/explain", {"token": token()} | members)
        assert response.status == 200, response
        return response.json

    good = explain(provider="legacy")
    assert (good["valid"], good["code"], good["provider"]) == (True, None, "legacy")
    assert [check["name"] for check in good["checks"]][:4] == ["token_form", "provider", "active", "issuer"]
    assert "user-1" not in json.dumps(good)
    endpoint.always(active(aud="https://other.example", exp=now() - 900), INTROSPECTION)
    bad = explain(provider="legacy")
    assert (bad["valid"], bad["code"]) == (False, "audience_mismatch")
    assert [check["name"] for check in bad["checks"] if check["state"] == "failed"] == ["audience", "expiry"]
    endpoint.always(answered({"active": False}), INTROSPECTION)
    assert explain(provider="legacy")["code"] == "token_inactive"
    endpoint.always(answered({"active": 1}), INTROSPECTION)
    assert explain(provider="legacy")["code"] == "provider_answer_invalid"
    assert explain()["code"] == "provider_unknown"
    assert explain(provider="legacy", token="a b")["code"] == "token_malformed"
    endpoint.always(active(), INTROSPECTION)
    policy = explain(policy="scoped")
    assert (policy["valid"], policy["code"]) == (False, "scope_missing")
    assert policy["checks"][-1]["name"] == "policy_headers"
    contract.assert_code(
        service.admin.post("/v1/explain", {"token": token(), "provider": "legacy", "audience": "x"}), "audience_not_configured"
    )


@pytest.fixture
def check(server, tmp_path):
    issuer = server.issuer("op", ec_key("op"))

    def findings(endpoint, discovered=False, **settings) -> tuple[int, list[tuple[str, str, str]]]:
        entry = opaque(issuer, endpoint, tmp_path, **settings)
        if discovered:
            del entry["introspection"]["endpoint"]
            issuer.discovery.reset(issuer.discovery_document(introspection_endpoint=endpoint.url + INTROSPECTION))
        config = write_config(tmp_path, {"providers": [entry]})
        result = run(*commands.config_check(config), "--live", "--json")
        assert SECRET not in result.stdout.decode() + result.stderr.decode()
        found = json.loads(result.stdout)["providers"][0]["findings"]
        return result.returncode, [(item["subject"], item["level"], item["message"]) for item in found]

    findings.issuer = issuer
    return findings


def test_the_live_check_asks_about_a_made_up_token(check):
    with TokenEndpoint() as endpoint:
        status, found = check(endpoint)
        assert (status, [level for _, level, _ in found]) == (0, ["ok", "ok"])
        assert "not active" in found[-1][2]
        assert [call.form["token"] for call in endpoint.calls] == ["assay-made-this-up"]
        assert (check.issuer.discovery.count, check.issuer.jwks.count) == (0, 0)
        status, found = check(endpoint, discovered=True)
        assert status == 0 and any(subject == "discovery" for subject, _, _ in found)
        assert check.issuer.jwks.count == 0
        endpoint.always(signed(check.issuer.keys[0], check.issuer), INTROSPECTION)
        status, found = check(endpoint, introspection={"signed": "required"})
        assert status == 0 and "signs its answers" in found[-1][2]
        assert check.issuer.jwks.count == 1
        for act, told in (
            (error("invalid_client", "401 Unauthorized"), "rejects the client"),
            (active(), "made-up token is active"),
            (answered(b"<html>"), "can't be used"),
        ):
            endpoint.always(act, INTROSPECTION)
            status, found = check(endpoint)
            assert (status, found[-1][1]) == (1, "failure") and told in found[-1][2]
