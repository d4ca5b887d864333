"""`POST /v1/explain` and `assay explain` with an access token: every check, and the verification's code."""

import json

import pytest

from harness import commands
from harness.client import contract
from harness.service import Service, provider, run, write_config
from harness.tokens import Key, jws, now, rsa_key

from .test_access_tokens import API, PATH, access, access_token

NAMES = [
    *("token_form", "provider", "header", "algorithm", "signer", "key", "signature", "issuer", "key_issuer", "token_kind"),
    *("audience", "client", "expiry", "not_before", "issued_at", "token_age", "authenticated_after", "subject"),
    *("required_claims", "claim_values", "service_account", "identity", "expected_subject", "binding", "scopes"),
]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("explained", rsa_key("op"))


@pytest.fixture(scope="module")
def users(shared_server):
    return shared_server.issuer("explained-users", rsa_key("users"))


@pytest.fixture(scope="module")
def settings(issuer, users):
    return [access(issuer, authorized_parties=["app", "desk"], max_token_age="1h"), provider(users, "users")]


@pytest.fixture(scope="module")
def service(settings):
    with Service(*settings) as service:
        service.wait_until_ready()
        yield service


def explain(service, token, **members) -> dict:
    """The explanation. Asserts that it has the verification's code."""
    response = service.admin.post("/v1/explain", {"token": token} | members)
    assert response.status == 200, response
    answer = response.json
    assert [check["name"] for check in answer["checks"]] == NAMES
    verified = service.api.post(PATH, {"token": token} | members)
    assert answer["code"] == (None if verified.status == 200 else verified.json["code"])
    assert answer["valid"] == (verified.status == 200)
    return answer


def states(answer: dict) -> dict[str, str]:
    return {check["name"]: check["state"] for check in answer["checks"]}


def test_a_valid_token_passes_every_check(service, issuer):
    answer = explain(service, access_token(issuer), scopes=["orders:read"])
    assert answer["summary"] == "The token is valid: the provider api issued it for this API."
    assert answer["provider"] == "api" and answer["keys"]["state"] == "ready" and answer["token"]["claims"]
    left_out = [name for name, state in states(answer).items() if state != "passed"]
    assert left_out == [
        "signer", "key_issuer", "authenticated_after", "claim_values", "service_account", "expected_subject",
    ]  # fmt: skip
    assert {state for state in states(answer).values()} == {"passed", "not_asked"}


@pytest.mark.parametrize(
    "check, code, found, words",
    [
        ("header", "header_unsupported", {"typ": "JWT"}, ("does not declare an access token", "access_token")),
        ("audience", "audience_mismatch", {"aud": "https://other.example/"}, ("has other audiences", "audiences of the provider api")),
        ("client", "authorized_party_mismatch", {"client_id": "stranger"}, ("does not list", "authorized_parties")),
        ("client", "claim_missing", {"client_id": None}, ("has no client_id", "set client_claims")),
        ("expiry", "token_expired", {"exp": 1}, ("expired", "refresh the token")),
        ("token_age", "token_too_old", {"iat": now() - 7200}, ("max_token_age", "max_token_age")),
        ("subject", "claim_missing", {"sub": None}, ("has no sub", "is an access token")),
        ("required_claims", "claim_missing", {"jti": None}, ("jti", "required_claims")),
        ("scopes", "claim_invalid", {"scope": 5}, ("invalid in an access token", "is an access token")),
    ],
)
def test_each_check_says_what_is_wrong_and_what_to_do(service, issuer, check, code, found, words):
    header = {"typ": found["typ"]} if "typ" in found else None
    claims = issuer.claims(aud=API, client_id="app", jti="a", scope="orders:read") | ({} if header else found)
    claims = {name: value for name, value in claims.items() if value is not None}
    token = jws(issuer.keys[0], claims, **({"typ": "at+jwt"} | (header or {})))
    answer = explain(service, token)
    assert (answer["code"], answer["likely_cause"]["check"]) == (code, check)
    [failed] = [each for each in answer["checks"] if each["state"] == "failed"]
    assert failed["name"] == check
    assert words[0] in failed["explanation"] and words[1] in failed["fix"]
    assert "ID Token" not in failed["explanation"] + failed["fix"]


def test_requirements_of_the_request_are_explained(service, issuer):
    token = access_token(issuer)
    answer = explain(service, token, scopes=["orders:read", "orders:write"])
    [failed] = [each for each in answer["checks"] if each["state"] == "failed"]
    assert (failed["name"], failed["code"]) == ("scopes", "scope_missing")
    assert (failed["expected"], failed["found"]) == ("orders:read, orders:write", "openid, orders:read")
    assert "does not grant orders:write" in failed["explanation"]
    answer = explain(service, token, subject="another")
    assert answer["code"] == "subject_mismatch"
    assert "user-1" not in json.dumps([answer["checks"], answer["summary"]])
    answer = explain(service, token, authenticated_after=now() + 5)
    assert answer["code"] == "session_revoked"


def test_errors_in_the_request_have_the_verifications_codes(service, issuer):
    token = access_token(issuer)
    for members in ({"audience": "https://third.example/"}, {"provider": "nobody"}, {"nonce": "n"}, {"scopes": 5}):
        verified = service.api.post(PATH, {"token": token} | members)
        explained = service.admin.post("/v1/explain", {"token": token} | members)
        assert verified.status == explained.status >= 400
        assert verified.json["code"] == explained.json["code"]
    contract.assert_code(service.admin.post("/v1/explain", {"token": token, "id_token": token}), "request_invalid")


def replaced(issuer):
    """Another key with the same ID."""
    return Key(rsa_key("other").private, issuer.keys[0].kid)


def test_several_failures_have_one_likely_cause(service, issuer, users):
    answer = explain(service, access_token(issuer, key=replaced(issuer), aud="x", exp=1))
    assert answer["code"] == "signature_invalid"
    assert {name for name, state in states(answer).items() if state == "failed"} == {"signature", "audience", "expiry"}
    assert "the signature is not verified" in answer["checks"][NAMES.index("audience")]["explanation"]
    answer = explain(service, issuer.token(nonce="n", aud=API))
    assert answer["summary"].startswith("The token is an ID Token, not an access token: it has nonce")
    assert "POST /v1/verify" in answer["likely_cause"]["fix"]
    answer = explain(service, users.token(nonce="n"))
    assert (answer["code"], answer["provider"]) == ("provider_unknown", None)
    assert "is an ID Token (it has nonce), which the provider users verifies" in answer["summary"]


def test_an_opaque_token_is_explained(service, shared_server):
    answer = explain(service, "x.y")
    assert answer["code"] == "token_malformed"
    assert set(states(answer).values()) == {"failed", "not_reached"}
    stranger = shared_server.issuer("explained-stranger", rsa_key("stranger"))
    answer = explain(service, access_token(stranger))
    assert (answer["code"], answer["provider"], answer["keys"]) == ("provider_unknown", None, None)


def test_the_command_explains_access_tokens(settings, issuer, tmp_path):
    config = write_config(tmp_path, {"providers": settings})
    options = ["--tokens", "access", "--scope", "orders:read"]
    result = run(*commands.explain(config, "--json", *options), stdin=access_token(issuer))
    assert (result.returncode, json.loads(result.stdout)["valid"]) == (0, True)
    result = run(*commands.explain(config, *options, "--scope", "orders:write"), stdin=access_token(issuer))
    assert result.returncode == 1
    assert "does not grant orders:write" in result.stdout.decode()
    for wrong in (["--scope", "x"], ["--tokens", "access", "--nonce", "n"], ["--policy", "p", "--provider", "api"]):
        result = run(*commands.explain(config, *wrong), stdin="x")
        assert result.returncode == 64, result
