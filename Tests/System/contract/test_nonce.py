"""The nonce over HTTP: which forms the settings accept. `Tests/IDTokenTests/NonceTests.swift` tests near misses."""

import pytest

from harness.tokens import jws, sha256_base64url, sha256_hex


def test_apples_nonce_claim_is_the_hash_of_the_raw_nonce(service, apple):
    answer = service.accept(apple.token(nonce=sha256_hex("raw")), nonce="raw")
    assert answer["token"]["nonce_match"] == "sha256_hex"
    service.reject(apple.token(nonce="raw"), "nonce_mismatch", nonce="raw")


def test_other_providers_nonce_claim_is_the_raw_nonce(service, oidc, google):
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


def test_settings_may_allow_only_base64url(service, world):
    issuer = world["nonce-base64url"]
    service.accept(issuer.token(nonce=sha256_base64url("raw")), nonce="raw")
    service.reject(issuer.token(nonce="raw"), "nonce_mismatch", nonce="raw")


def test_token_and_request_must_both_have_a_nonce_or_neither(service, world, oidc):
    service.accept(oidc.token())
    service.reject(oidc.token(nonce="raw"), "nonce_required")
    service.reject(oidc.token(), "nonce_missing", nonce="raw")
    issuer = world["nonce-required"]
    service.reject(issuer.token(), "nonce_required")
    service.accept(issuer.token(nonce="raw"), nonce="raw")


def test_settings_may_turn_the_nonce_check_off(service, world):
    issuer = world["nonce-off"]
    for claims, members in [({}, {"nonce": "raw"}), ({"nonce": "raw"}, {}), ({"nonce": "a"}, {"nonce": "b"}), ({}, {})]:
        assert service.accept(issuer.token(**claims), **members)["token"]["nonce_match"] is None


def test_a_nonce_claim_that_is_not_a_string_is_invalid(service, oidc):
    assert service.reject(oidc.token(nonce=["raw"]), "claim_invalid", nonce="raw")["claim"] == "nonce"


def test_the_nonce_is_checked_each_time_a_token_is_sent(service, oidc):
    token = jws(oidc.key("P-256"), oidc.claims(nonce="first"))
    service.accept(token, nonce="first")
    service.reject(token, "nonce_mismatch", nonce="second")
    service.reject(token, "nonce_required")
    service.accept(token, nonce="first")
