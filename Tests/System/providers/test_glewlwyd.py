"""ID Tokens of glewlwyd: ten algorithms, from a JOSE library that shares no code with Assay's."""

import pytest

from harness.service import Service
from providers import independent
from providers.glewlwyd import ALGORITHMS, Glewlwyd
from providers.relying_party import accept, reject, sign_in_once, trusting

# For EdDSA, glewlwyd uses SHA-256, which a test below covers.
ALGORITHMS_WITH_HASHES = [algorithm for algorithm in ALGORITHMS if algorithm != "EdDSA"]


@pytest.fixture(scope="module")
def glewlwyd():
    with Glewlwyd() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(glewlwyd):
    with Service(trusting(glewlwyd, "glewlwyd", glewlwyd.client_ids), sign_ins={}) as running:
        yield running.wait_until_ready()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_token_of_every_algorithm_verifies(glewlwyd, service, algorithm):
    sign_in = glewlwyd.sign_in(algorithm)
    assert independent.is_signed_by_any(sign_in.id_token, independent.published_keys(glewlwyd.issuer))
    claims = independent.claims(sign_in.id_token)

    answer = accept(service, sign_in)

    identity, token = answer["identity"], answer["token"]
    assert (identity["provider"], identity["issuer"]) == ("glewlwyd", glewlwyd.issuer)
    assert identity["subject"] == claims["sub"]
    assert (identity["name"], identity["name_source"]) == (glewlwyd.name, "token")
    assert (identity["email"], identity["email_verified"]) == (glewlwyd.email, None)
    assert identity["email_trust"] == "unverified"
    assert (token["algorithm"], token["key_id"]) == (algorithm, glewlwyd.key_id(algorithm))
    assert (token["audience"], token["authorized_party"]) == ([sign_in.client_id], sign_in.client_id)
    assert (token["issued_at"], token["expires_at"]) == (claims["iat"], claims["exp"])
    assert (token["auth_time"], token["amr"]) == (0, claims["amr"])
    assert token["nonce_match"] == "plain"
    assert answer["keys"]["source"] == "network"
    assert answer["keys"]["stale"] is False


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_sign_in_can_be_finished_once(glewlwyd, service, algorithm):
    answer = sign_in_once(
        service, "glewlwyd", glewlwyd.client_id(algorithm), lambda nonce: glewlwyd.sign_in(algorithm, nonce)
    )
    assert answer["identity"]["name"] == glewlwyd.name


@pytest.mark.parametrize("algorithm", ALGORITHMS_WITH_HASHES)
def test_access_token_and_code_must_match_their_hashes(glewlwyd, service, algorithm):
    sign_in, other = glewlwyd.sign_in(algorithm), glewlwyd.sign_in(algorithm)

    accept(service, sign_in, access_token=sign_in.access_token, code=sign_in.code)
    reject(service, sign_in, "at_hash_mismatch", access_token=other.access_token)
    reject(service, sign_in, "c_hash_mismatch", code=other.code)


def test_sha_256_hashes_with_an_ed25519_signature_are_refused(glewlwyd, service):
    sign_in = glewlwyd.sign_in("EdDSA")

    accept(service, sign_in)
    reject(service, sign_in, "at_hash_mismatch", access_token=sign_in.access_token)


def test_the_nonce_of_another_sign_in_is_refused(glewlwyd, service):
    sign_in, other = glewlwyd.sign_in("RS256"), glewlwyd.sign_in("RS256")

    reject(service, sign_in, "nonce_mismatch", nonce=other.nonce)
    service.reject(sign_in.id_token, "nonce_required")


def test_a_token_for_another_client_is_refused(glewlwyd, service):
    sign_in = glewlwyd.sign_in("ES256")

    accept(service, sign_in, audience=sign_in.client_id)
    reject(service, sign_in, "audience_mismatch", audience=glewlwyd.client_id("RS256"))
    with Service(trusting(glewlwyd, "glewlwyd", [glewlwyd.client_id("RS256")])) as other_client:
        reject(other_client.wait_until_ready(), sign_in, "audience_mismatch")


def test_an_algorithm_that_is_not_configured_is_refused(glewlwyd):
    with Service(trusting(glewlwyd, "glewlwyd", glewlwyd.client_ids, algorithms=["PS256", "ES256"])) as strict:
        strict.wait_until_ready()
        accept(strict, glewlwyd.sign_in("ES256"))
        accept(strict, glewlwyd.sign_in("PS256"))
        reject(strict, glewlwyd.sign_in("RS256"), "algorithm_not_allowed")
        reject(strict, glewlwyd.sign_in("PS384"), "algorithm_not_allowed")


def test_the_signature_of_another_token_is_refused(glewlwyd, service):
    sign_in, other = glewlwyd.sign_in("ES512"), glewlwyd.sign_in("ES512")
    signed, _, _ = sign_in.id_token.rpartition(".")
    _, _, signature = other.id_token.rpartition(".")

    service.reject(f"{signed}.{signature}", "signature_invalid", nonce=sign_in.nonce)


def test_an_auth_time_of_zero_does_not_count_as_absent(glewlwyd, service):
    reject(service, glewlwyd.sign_in("ES384"), "auth_time_too_old", max_age=3600)


def test_an_access_token_is_not_an_id_token(glewlwyd, service):
    service.reject(glewlwyd.sign_in("RS256").access_token, "header_unsupported", provider="glewlwyd")


def test_an_encrypted_id_token_is_refused(glewlwyd, service):
    sign_in = glewlwyd.sign_in_at(glewlwyd.encrypted_client_id)
    assert independent.header(sign_in.id_token)["enc"] == "A256GCM"

    reject(service, sign_in, "token_malformed", provider="glewlwyd")


def test_a_batch_verifies_tokens_of_every_algorithm(glewlwyd, service):
    sign_ins = [glewlwyd.sign_in(algorithm) for algorithm in ALGORITHMS]
    items = [{"id_token": sign_in.id_token, "nonce": sign_in.nonce} for sign_in in sign_ins]
    items[3]["nonce"] = sign_ins[4].nonce

    results = service.api.post("/v1/verify/batch", {"items": items}).json["results"]

    assert results[3]["error"]["code"] == "nonce_mismatch"
    assert [result["token"]["algorithm"] for result in results[:3] + results[4:]] == ALGORITHMS[:3] + ALGORITHMS[4:]


@pytest.fixture
def small_glewlwyd():
    """A provider for a test that changes it."""
    with Glewlwyd(["ES256", "HS256"]) as provider:
        yield provider


@pytest.fixture
def small_service(small_glewlwyd):
    with Service(trusting(small_glewlwyd, "glewlwyd", small_glewlwyd.client_ids)) as running:
        yield running.wait_until_ready()


def test_a_new_key_is_found_with_its_first_token(small_glewlwyd, small_service):
    accept(small_service, small_glewlwyd.sign_in("ES256"))

    small_glewlwyd.rotate()

    answer = accept(small_service, small_glewlwyd.sign_in("ES256"))
    assert answer["token"]["key_id"] == "es256-1"


def test_tokens_of_an_old_key_verify_while_it_is_published(small_glewlwyd, small_service):
    before = small_glewlwyd.sign_in("ES256")

    small_glewlwyd.rotate(keep_old=True)

    assert accept(small_service, small_glewlwyd.sign_in("ES256"))["token"]["key_id"] == "es256-1"
    assert accept(small_service, before)["token"]["key_id"] == "es256-0"


def test_a_token_with_a_symmetric_signature_is_refused(small_glewlwyd, small_service):
    sign_in = small_glewlwyd.sign_in("HS256")
    assert independent.header(sign_in.id_token)["alg"] == "HS256"

    reject(small_service, sign_in, "algorithm_not_allowed")


def test_keys_with_no_store_stay_in_use_during_an_outage(small_glewlwyd, small_service):
    first, second = small_glewlwyd.sign_in("ES256"), small_glewlwyd.sign_in("ES256")
    accept(small_service, first)

    small_glewlwyd.stop()

    accept(small_service, second)
