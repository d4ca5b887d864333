"""Every code with which the ID Token of a grant may be refused. Then the grant is not returned, and nothing is revoked."""

import pytest

from harness.service import Service
from harness.token_endpoint import REVOCATION, TOKEN, grant
from harness.tokens import assemble, ec_key, half_hash, jws, now, parts, rsa_key

from .grants import refresh, refused, revoke, with_client


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("grants-refused", rsa_key("op"), rsa_key("weak", bits=1024))


@pytest.fixture(scope="module")
def service(shared_server, issuer, endpoint, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    down = shared_server.issuer("grants-down", ec_key("down"))
    down.jwks.status = 500
    strict = {"max_token_age": "1h", "required_claims": ["email"], "authorized_parties": ["client"], "refused_claim_values": {"groups": ["guests"]}}
    providers = [
        with_client(issuer, endpoint, directory, **strict),
        with_client(down, endpoint, directory, "down", optional=True),
    ]
    with Service(*providers, limits={"provider_timeout": "2s"}) as service:
        service.wait_until_ready()
        service.down = down
        yield service


def signed(issuer, header: dict | None = None, **claims) -> str:
    return jws(issuer.keys[0], issuer.claims(**({"email": "ada@example.com"} | claims)), **(header or {}))


def with_bad_signature(issuer) -> str:
    header, payload, _ = parts(signed(issuer))
    return f"{header}.{payload}." + "A" * 342


# By code: an ID Token that is refused with this code.
TOKENS = {
    "token_malformed": lambda issuer: "no token",
    "header_unsupported": lambda issuer: signed(issuer, {"typ": "at+jwt"}),
    "algorithm_not_allowed": lambda issuer: assemble({"alg": "none"}, issuer.claims(), b""),
    "key_not_found": lambda issuer: signed(issuer, {"kid": "another"}),
    "key_unsuitable": lambda issuer: signed(issuer, {"kid": "weak"}),
    "signature_invalid": with_bad_signature,
    "issuer_mismatch": lambda issuer: signed(issuer, iss="https://elsewhere.example"),
    "audience_mismatch": lambda issuer: signed(issuer, aud="another"),
    "authorized_party_mismatch": lambda issuer: signed(issuer, azp="another"),
    "token_expired": lambda issuer: signed(issuer, exp=1),
    "token_not_yet_valid": lambda issuer: signed(issuer, nbf=1 << 40),
    "token_too_old": lambda issuer: signed(issuer, iat=now() - 7200),
    "claim_missing": lambda issuer: signed(issuer, email=None),
    "claim_invalid": lambda issuer: signed(issuer, email_verified="maybe"),
    "groups_overage": lambda issuer: signed(issuer, hasgroups=True),
    "at_hash_mismatch": lambda issuer: signed(issuer, at_hash=half_hash("another", "RS256")),
    "subject_mismatch": lambda issuer: signed(issuer, sub="somebody-else"),
}


def check(response, code: str) -> None:
    refused(response, code, True)
    assert b"an access token" not in response.body and b"a refresh token" not in response.body


@pytest.mark.parametrize("code", TOKENS)
def test_a_refresh_with_an_invalid_id_token_is_refused(service, endpoint, issuer, code):
    endpoint.play(grant(id_token=TOKENS[code](issuer)))
    check(refresh(service), code)
    assert endpoint.received(TOKEN) == 1


# Only this request has a code, so only here is its hash checked.
@pytest.mark.parametrize("code", [*TOKENS, "c_hash_mismatch"])
def test_a_revocation_with_an_invalid_id_token_is_refused(service, endpoint, issuer, code):
    bad = TOKENS.get(code, lambda issuer: signed(issuer, c_hash=half_hash("another", "RS256")))
    endpoint.play(grant(id_token=bad(issuer)))
    check(revoke(service, code="c1", subject="user-1"), code)
    assert endpoint.received(TOKEN) == 1 and endpoint.received(REVOCATION) == 0


def test_a_valid_id_token_is_accepted(service, endpoint, issuer):
    good = grant(id_token=signed(issuer))
    endpoint.play(good, good)
    assert refresh(service).json["identity"]["subject"] == "user-1"
    assert revoke(service, code="c1", subject="user-1").status == 204


def test_without_keys_a_refresh_succeeds_and_a_code_is_not_sent(service, endpoint):
    endpoint.play(grant(id_token=service.down.token()))
    answer = refresh(service, "down").json
    assert answer["problem"]["code"] == "keys_unavailable" and answer["identity"] is None
    assert answer["grant"]["access_token"] == "an access token"
    endpoint.forget()
    response = revoke(service, "down", code="c1")
    refused(response, "keys_unavailable", False)
    assert int(response.header("Retry-After")) >= 1 and endpoint.received(TOKEN) == 0
