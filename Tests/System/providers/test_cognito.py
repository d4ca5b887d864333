"""Tokens like Cognito's: no nonce, access tokens that resemble ID Tokens, and one key for all issuers."""

import pytest

from harness.service import Service
from providers import independent
from providers.cognito import Cognito
from providers.relying_party import accept, reject, trusting


@pytest.fixture(scope="module")
def cognito():
    with Cognito() as server:
        yield server


@pytest.fixture(scope="module")
def pool(cognito):
    return cognito.new_pool()


@pytest.fixture(scope="module")
def other_pool(cognito):
    return cognito.new_pool()


@pytest.fixture(scope="module")
def service(pool, other_pool):
    """Assay with both pools. There is no discovery document at the issuers' URLs."""
    with Service(
        trusting(pool, "pool", [pool.client_id], jwks_uri=pool.jwks_uri),
        trusting(other_pool, "other-pool", [other_pool.client_id], jwks_uri=other_pool.jwks_uri),
    ) as running:
        yield running.wait_until_ready()


def test_a_token_without_a_nonce_verifies(pool, service):
    sign_in = pool.sign_in()
    assert independent.is_signed_by_any(sign_in.id_token, independent.keys_at(pool.jwks_uri))

    answer = accept(service, sign_in)

    assert (answer["identity"]["provider"], answer["identity"]["issuer"]) == ("pool", pool.issuer)
    assert answer["identity"]["subject"] == independent.claims(sign_in.id_token)["sub"]
    assert answer["identity"]["email"] == pool.email
    assert answer["token"]["nonce_match"] is None


def test_a_token_without_the_expected_nonce_is_refused(pool, service):
    reject(service, pool.sign_in(), "nonce_missing", nonce="a-nonce-of-the-backend")


def test_an_access_token_is_refused_despite_the_right_issuer_and_key(pool, service):
    access_token = pool.sign_in().access_token
    assert independent.is_signed_by_any(access_token, independent.keys_at(pool.jwks_uri))

    problem = service.reject(access_token, "claim_missing")

    assert problem["claim"] == "aud"


def test_pools_that_share_a_key_are_distinguished(pool, other_pool, service):
    keys = independent.keys_at(pool.jwks_uri)
    sign_in = other_pool.sign_in()
    assert keys == independent.keys_at(other_pool.jwks_uri)

    assert accept(service, sign_in)["identity"]["provider"] == "other-pool"
    reject(service, sign_in, "issuer_mismatch", provider="pool")


def test_an_unconfigured_pool_is_refused_despite_a_trusted_key(cognito, service):
    reject(service, cognito.new_pool().sign_in(), "provider_unknown")
