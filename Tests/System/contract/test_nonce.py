"""The nonce: required, missing, mismatched, and in which form it matches."""

import pytest

from harness.tokens import jws, sha256_base64url, sha256_hex


def test_apple_echoes_the_hash_of_the_raw_nonce(service, apple):
    answer = service.accept(apple.token(nonce=sha256_hex("raw")), nonce="raw")
    assert answer["token"]["nonce_match"] == "sha256_hex"


def test_the_claims_own_value_is_no_proof_of_the_raw_nonce(service, apple):
    """Who holds only the token knows the hash, not what was hashed."""
    token = apple.token(nonce=sha256_hex("raw"))
    service.reject(token, "nonce_mismatch", nonce=sha256_hex("raw"))
    service.reject(apple.token(nonce="raw"), "nonce_mismatch", nonce="raw")
    service.reject(apple.token(nonce=sha256_base64url("raw")), "nonce_mismatch", nonce="raw")


@pytest.mark.parametrize(
    "change", [str.upper, lambda text: text[:-1], lambda text: text + "0", lambda text: " " + text]
)
def test_the_hash_is_compared_in_full_and_in_lower_case(service, apple, change):
    service.reject(apple.token(nonce=change(sha256_hex("raw"))), "nonce_mismatch", nonce="raw")


def test_others_echo_the_raw_nonce(service, oidc, google):
    assert service.accept(oidc.token(nonce="raw"), nonce="raw")["token"]["nonce_match"] == "plain"
    assert service.accept(google.token(nonce="raw"), nonce="raw")["token"]["nonce_match"] == "plain"
    service.reject(oidc.token(nonce=sha256_hex("raw")), "nonce_mismatch", nonce="raw")


@pytest.mark.parametrize(
    ("claimed", "match"),
    [("raw", "plain"), (sha256_hex("raw"), "sha256_hex"), (sha256_base64url("raw"), "sha256_base64url")],
)
def test_settings_may_allow_every_form(service, world, claimed, match):
    issuer = world["nonce-any"]
    assert service.accept(issuer.token(nonce=claimed), nonce="raw")["token"]["nonce_match"] == match
    service.reject(issuer.token(nonce=claimed), "nonce_mismatch", nonce="other")


def test_settings_may_allow_base64url_alone(service, world):
    issuer = world["nonce-base64url"]
    service.accept(issuer.token(nonce=sha256_base64url("raw")), nonce="raw")
    service.reject(issuer.token(nonce=sha256_base64url("raw") + "="), "nonce_mismatch", nonce="raw")
    service.reject(issuer.token(nonce="raw"), "nonce_mismatch", nonce="raw")
    service.reject(issuer.token(nonce=sha256_hex("raw")), "nonce_mismatch", nonce="raw")


def test_a_nonce_in_the_token_alone_is_refused(service, apple, oidc):
    for issuer in (apple, oidc):
        service.reject(issuer.token(nonce="raw"), "nonce_required")
        service.reject(issuer.token(nonce=""), "nonce_required")


def test_a_nonce_in_the_request_alone_is_refused(service, apple, oidc):
    for issuer in (apple, oidc):
        service.reject(issuer.token(), "nonce_missing", nonce="raw")
        service.reject(issuer.token(nonce_supported=True), "nonce_missing", nonce="raw")


def test_a_nonce_in_neither_is_fine_unless_required(service, world, oidc):
    service.accept(oidc.token())
    issuer = world["nonce-required"]
    service.reject(issuer.token(), "nonce_required")
    service.reject(issuer.token(nonce="raw"), "nonce_required")
    service.reject(issuer.token(), "nonce_missing", nonce="raw")
    service.accept(issuer.token(nonce="raw"), nonce="raw")


def test_settings_may_switch_the_check_off(service, world):
    issuer = world["nonce-off"]
    for claims, members in [({}, {"nonce": "raw"}), ({"nonce": "raw"}, {}), ({"nonce": "a"}, {"nonce": "b"}), ({}, {})]:
        assert service.accept(issuer.token(**claims), **members)["token"]["nonce_match"] is None


@pytest.mark.parametrize("claimed", ["", "ra", "aw", "raw ", " raw", "RAW", "raw\n", "rawraw", "räw"])
def test_a_nonce_is_compared_in_full(service, oidc, claimed):
    service.reject(oidc.token(nonce=claimed), "nonce_mismatch", "nonce_missing", nonce="raw")


def test_a_nonce_is_not_normalized(service, oidc):
    service.reject(oidc.token(nonce="e\u0301"), "nonce_mismatch", nonce="\u00e9")
    service.accept(oidc.token(nonce="\u00e9"), nonce="\u00e9")
    service.reject(oidc.token(nonce="raw"), "nonce_mismatch", nonce="raw\n")


@pytest.mark.parametrize("value", [5, True, ["raw"], {"raw": 1}], ids=repr)
def test_a_nonce_claim_that_is_no_string_is_invalid(service, oidc, value):
    assert service.reject(oidc.token(nonce=value), "claim_invalid", nonce="raw")["claim"] == "nonce"


def test_a_nonce_has_1_to_512_characters(service, oidc):
    service.reject(oidc.token(nonce=""), "request_invalid", nonce="")
    for nonce in ("x", "x" * 512, "é" * 512):
        service.accept(oidc.token(nonce=nonce), nonce=nonce)
    service.reject(oidc.token(nonce="x" * 513), "request_invalid", nonce="x" * 513)
    service.reject(oidc.token(nonce="é" * 513), "request_invalid", nonce="é" * 513)


def test_the_nonce_is_checked_each_time_a_token_is_repeated(service, oidc):
    token = jws(oidc.key("P-256"), oidc.claims(nonce="first"))
    service.accept(token, nonce="first")
    service.reject(token, "nonce_mismatch", nonce="second")
    service.reject(token, "nonce_required")
    service.accept(token, nonce="first")
