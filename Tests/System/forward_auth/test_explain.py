"""`POST /v1/explain` and `assay explain` with a policy: the token's checks, then what the policy requires."""

import json

import pytest

from harness import commands
from harness.client import contract
from harness.service import Service, provider, run, write_config
from harness.tokens import now, rsa_key

from .test_forward_auth import API, access_token, ask, bearer

REQUIREMENTS = ["policy_scopes", "policy_claims", "policy_email", "policy_age", "policy_headers"]
POLICIES = [
    {"id": "open", "providers": ["api", "users"]},
    {"id": "scopes", "providers": ["api"], "require": {"scopes": ["orders:read", "orders:write"]}},
    {"id": "claims", "providers": ["users"], "require": {"claim_values": {"hd": ["example.com"]}}},
    {"id": "domain", "providers": ["users"], "require": {"email_domains": ["example.com"]}},
    {"id": "fresh", "providers": ["users"], "require": {"max_age": "1h"}},
    {"id": "names", "providers": ["users"], "headers": {"X-Name": "name"}},
]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("policies-api", rsa_key("gateway"))


@pytest.fixture(scope="module")
def users(shared_server):
    return shared_server.issuer("policies-users", rsa_key("users"))


@pytest.fixture(scope="module")
def settings(issuer, users):
    providers = [provider(issuer, "api", tokens="access", audiences=[API]), provider(users, "users")]
    return {"providers": providers, "forward_auth": {"policies": POLICIES}}


@pytest.fixture(scope="module")
def service(settings):
    with Service(*settings["providers"], forward_auth=settings["forward_auth"]) as service:
        service.wait_until_ready()
        yield service


def explain(service, policy: str, token: str) -> dict:
    """The explanation. Asserts that it agrees with the decision."""
    response = service.admin.post("/v1/explain", {"token": token, "policy": policy})
    assert response.status == 200, response
    answer = response.json
    assert [check["name"] for check in answer["checks"]][-5:] == REQUIREMENTS
    decision = ask(service, policy, bearer(token))
    assert answer["valid"] == (decision.status == 200)
    return answer


def failed(answer: dict) -> list[tuple[str, str]]:
    return [(check["name"], check["code"]) for check in answer["checks"] if check["state"] == "failed"]


def test_a_token_that_passes_is_explained_as_such(service, issuer, users):
    for token in (access_token(issuer), users.token(nonce="n")):
        answer = explain(service, "open", token)
        assert answer["summary"] == "The policy open lets requests with this token pass."
        assert failed(answer) == [] and answer["likely_cause"] is None


@pytest.mark.parametrize(
    "policy, claims, check, code, words",
    [
        ("claims", {"hd": "other.example"}, "policy_claims", "requirement_not_met", "require.claim_values of the policy claims"),
        ("domain", {"email": "a@example.com"}, "policy_email", "requirement_not_met", "require.email_domains"),
        ("fresh", {"auth_time": now() - 7200}, "policy_age", "requirement_not_met", "require.max_age"),
        ("names", {"name": "n" * 5000}, "policy_headers", "values_too_long", "headers of the policy names"),
    ],
)
def test_unmet_requirements_are_explained(service, users, policy, claims, check, code, words):
    answer = explain(service, policy, users.token(**claims))
    assert failed(answer) == [(check, code)]
    assert (answer["code"], answer["likely_cause"]["check"]) == (code, check)
    assert words in answer["likely_cause"]["fix"]
    assert "n" * 20 not in json.dumps(answer["checks"]) and "other.example" not in json.dumps(answer["checks"][-5:])


def test_missing_scopes_are_explained(service, issuer):
    answer = explain(service, "scopes", access_token(issuer))
    assert failed(answer) == [("policy_scopes", "scope_missing")]
    check = answer["checks"][-5]
    assert (check["expected"], check["found"]) == ("orders:read, orders:write", "orders:read")
    assert explain(service, "scopes", access_token(issuer, scope="orders:write orders:read"))["valid"]


def test_requirements_are_not_checked_for_invalid_tokens(service, issuer, users):
    answer = explain(service, "domain", users.token(exp=1))
    assert answer["code"] == "token_expired" and failed(answer) == [("expiry", "token_expired")]
    states = {check["name"]: check["state"] for check in answer["checks"]}
    assert states["policy_email"] == states["policy_headers"] == "not_reached"
    assert states["policy_scopes"] == "not_asked"
    # A configured provider that the policy does not list.
    assert explain(service, "scopes", users.token())["code"] == "provider_unknown"
    assert explain(service, "open", "x.y")["code"] == "token_malformed"


def test_an_invalid_request_is_refused(service, issuer):
    token = access_token(issuer)
    for members in ({"policy": "nobody"}, {"policy": 5}, {"policy": "open", "provider": "api"}):
        contract.assert_code(service.admin.post("/v1/explain", {"token": token} | members), "request_invalid")


def test_the_command_explains_policies(settings, issuer, tmp_path):
    config = write_config(tmp_path, settings)
    result = run(*commands.explain(config, "--policy", "scopes"), stdin=access_token(issuer))
    assert result.returncode == 1 and "require.scopes of the policy scopes" in result.stdout.decode(), result
    result = run(*commands.explain(config, "--json", "--policy", "open"), stdin=access_token(issuer))
    assert (result.returncode, json.loads(result.stdout)["valid"]) == (0, True)
