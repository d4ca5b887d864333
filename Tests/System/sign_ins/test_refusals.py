"""Every code with which a finish may be refused. Only the claim uses up the sign-in."""

import pytest

from harness.client import contract
from harness.service import Service, provider
from harness.tokens import assemble, ec_key, half_hash, jws, now, parts, rsa_key

from .calls import ON, begin, finish, refused


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("refusing", rsa_key("a key"))


@pytest.fixture(scope="module")
def weak(shared_server):
    return shared_server.issuer("refusing-weak", rsa_key("weak", bits=1024), rsa_key("strong"))


@pytest.fixture(scope="module")
def down(shared_server):
    issuer = shared_server.issuer("refusing-down", ec_key("down"))
    issuer.jwks.status = 500
    return issuer


@pytest.fixture(scope="module")
def service(issuer, weak, down):
    providers = [
        provider(issuer, max_token_age="1h", required_claims=["email"], authorized_parties=["client"], refused_claim_values={"groups": ["guests"]}),
        provider(weak, "weak", optional=True),
        provider(down, "down", optional=True),
    ]
    with Service(*providers, **ON) as service:
        service.wait_until_ready()
        yield service


def signed(issuer, begun: dict, header=None, **claims) -> str:
    usual = {"email": "ada@example.com", "nonce": begun["nonce"]}
    return jws(issuer.keys[0], issuer.claims(**(usual | claims)), **(header or {}))


# By code: changes to a valid token, and additional members of the finish.
TOKENS = {
    "header_unsupported": ({"header": {"typ": "at+jwt"}}, {}),
    "key_not_found": ({"header": {"kid": "another"}}, {}),
    "issuer_mismatch": ({"iss": "https://elsewhere.example"}, {}),
    "audience_mismatch": ({"aud": "another"}, {}),
    "authorized_party_mismatch": ({"azp": "another"}, {}),
    "token_expired": ({"exp": 1}, {}),
    "token_not_yet_valid": ({"nbf": 1 << 40}, {}),
    "claim_missing": ({"email": None}, {}),
    "claim_invalid": ({"email_verified": "maybe"}, {}),
    "groups_overage": ({"hasgroups": True}, {}),
    "nonce_missing": ({"nonce": None}, {}),
    "nonce_mismatch": ({"nonce": "another"}, {}),
    "at_hash_missing": ({}, {"access_token": "a"}),
    "at_hash_mismatch": ({"at_hash": half_hash("b", "RS256")}, {"access_token": "a"}),
    "c_hash_mismatch": ({"c_hash": half_hash("b", "RS256")}, {"code": "a"}),
}


@pytest.mark.parametrize("code", TOKENS)
def test_a_token_with_a_wrong_claim_uses_nothing_up(service, issuer, code):
    begun = begin(service)
    claims, members = TOKENS[code]
    refused(finish(service, begun, signed(issuer, begun, **claims), **members), code)
    assert finish(service, begun, signed(issuer, begun)).status == 200


def test_an_untrusted_or_old_token_uses_nothing_up(service, issuer):
    begun = begin(service, max_age=60)
    good = signed(issuer, begun)
    header, payload, _ = parts(good)
    refused(finish(service, begun, "no token"), "token_malformed")
    refused(finish(service, begun, assemble({"alg": "none"}, issuer.claims(), b"")), "algorithm_not_allowed")
    refused(finish(service, begun, f"{header}.{payload}." + "A" * 342), "signature_invalid")
    refused(finish(service, begun, signed(issuer, begun, iat=now() - 7200)), "token_too_old")
    refused(finish(service, begun, signed(issuer, begun, auth_time=now() - 7200)), "auth_time_too_old")
    assert finish(service, begun, good).status == 200
    begun = begin(service, subject="another")
    refused(finish(service, begun, signed(issuer, begun)), "subject_mismatch")


def test_a_provider_without_usable_keys_uses_nothing_up(service, weak, down):
    begun = begin(service, "weak")
    refused(finish(service, begun, weak.token(nonce=begun["nonce"])), "key_unsuitable")
    begun = begin(service, "down")
    response = finish(service, begun, down.token(nonce=begun["nonce"]))
    refused(response, "keys_unavailable")
    assert response.header("Retry-After")


def test_an_unreadable_request_uses_nothing_up(service):
    response = service.api.post("/v1/sign-ins/finish", b"{}", {"Content-Type": "text/plain"})
    refused(response, "content_type_unsupported")
    refused(service.api.post("/v1/sign-ins/finish", "x" * 100_000), "request_too_large")
    contract.assert_code(service.api.post("/v1/sign-ins", b"{}", {"Content-Type": "text/plain"}), "content_type_unsupported")


def test_metrics_name_the_provider_of_a_refused_finish(service, issuer):
    begun = begin(service)
    refused(finish(service, begun, None), "request_invalid")
    lines = service.admin.get("/metrics").text.splitlines()
    assert any(
        line.startswith('assay_sign_ins_finished_total{provider="oidc",code="request_invalid"}') for line in lines
    ), [line for line in lines if "finished" in line]
