"""Which algorithms a provider's tokens may use. `Tests/JOSETests` and `attacks/test_signature.py` test signatures."""

import pytest

from harness.service import Service, provider
from harness.tokens import ALGORITHMS, b64url, jws, parts, rsa_key


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_answer_has_the_headers_algorithm_and_key_id(service, oidc, algorithm):
    kind = ALGORITHMS[algorithm]
    token = jws(oidc.key(kind), oidc.claims(), algorithm=algorithm)
    said = service.accept(token)["token"]
    assert (said["algorithm"], said["key_id"]) == (algorithm, kind)
    header, payload, signature = parts(token)
    service.reject(f"{header}.{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}", "signature_invalid")


def test_settings_can_exclude_rsa(service, world):
    issuer = world["es256-only"]
    service.reject(jws(issuer.key("rsa"), issuer.claims()), "algorithm_not_allowed")
    service.accept(jws(issuer.key("P-256"), issuer.claims()))


@pytest.mark.parametrize("algorithm", ["ES256", "PS256", "EdDSA"])
def test_the_presets_of_apple_and_google_allow_only_rs256(service, apple, google, oidc, algorithm):
    for issuer in (apple, google):
        token = jws(oidc.key(ALGORITHMS[algorithm]), issuer.claims(), algorithm=algorithm)
        service.reject(token, "algorithm_not_allowed")


def test_the_signature_is_checked_before_the_claims(service, oidc):
    header, payload, _ = parts(oidc.token(exp=1, aud="someone else", sub=""))
    service.reject(f"{header}.{payload}.{b64url(bytes(256))}", "signature_invalid")


@pytest.mark.parametrize(
    ("code", "header"),
    [
        ("token_malformed", {"alg": "RS256", "kid": 5}),
        ("header_unsupported", {"alg": "RS256", "kid": "rsa", "crit": ["exp"]}),
        ("algorithm_not_allowed", {"alg": "none", "kid": "rsa"}),
        ("key_not_found", {"alg": "RS256", "kid": "RSA"}),
    ],
)
def test_a_bad_header_is_refused(service, oidc, code, header):
    service.reject(jws(oidc.key("rsa"), oidc.claims(), header=header), code)


def test_a_small_key_is_unsuitable(server):
    issuer = server.issuer("op", rsa_key("small", 1024), rsa_key("rsa"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready().reject(issuer.token(), "key_unsuitable")
