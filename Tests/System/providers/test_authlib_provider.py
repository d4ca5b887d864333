"""Sign-ins at a provider with faults but valid signatures: cases from OpenID's certification of relying parties."""

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.client import request_bytes
from harness.service import Service
from providers import independent
from providers.authlib_provider import AuthlibProvider
from providers.jwk import ALGORITHMS
from providers.relying_party import accept, reject, sign_in_once, trusting

CLIENT = AuthlibProvider.client_id
HOUR = 3600


def trust(provider, sign_ins: dict | None = None, **settings) -> Service:
    top = {} if sign_ins is None else {"sign_ins": sign_ins}
    return Service(trusting(provider, "authlib", [CLIENT], **settings), **top)


@pytest.fixture(scope="module")
def provider():
    with AuthlibProvider() as running:
        yield running


@pytest.fixture(scope="module")
def service(provider):
    with trust(provider) as running:
        yield running.wait_until_ready()


def test_an_honest_sign_in_verifies(provider, service):
    sign_in = provider.sign_in()

    answer = accept(service, sign_in, access_token=sign_in.access_token)

    assert (answer["identity"]["issuer"], answer["identity"]["subject"]) == (provider.issuer, provider.subject)
    assert (answer["token"]["algorithm"], answer["token"]["key_id"]) == ("ES256", "first")
    assert answer["token"]["nonce_match"] == "plain"


def test_a_sign_in_can_be_finished_once(provider):
    with trust(provider, sign_ins={}) as service:
        service.wait_until_ready()
        answer = sign_in_once(service, "authlib", CLIENT, lambda nonce: provider.sign_in(nonce=nonce))
        assert answer["identity"]["subject"] == provider.subject


def test_a_token_without_a_nonce_verifies_only_without_one(provider, service):
    sign_in = provider.sign_in(with_nonce=False)

    assert accept(service, sign_in)["token"]["nonce_match"] is None
    reject(service, sign_in, "nonce_missing", nonce="a-nonce-of-the-backend")


def hours_from_now(count: int) -> int:
    return int(time.time()) + count * HOUR


@pytest.mark.parametrize(
    ("code", "claim", "changes"),
    [
        ("issuer_mismatch", None, {"iss": "https://attacker.example.com"}),
        ("claim_missing", "iss", {"iss": None}),
        ("audience_mismatch", None, {"aud": "another-client"}),
        ("audience_mismatch", None, {"aud": CLIENT + "-2"}),
        ("audience_mismatch", None, {"aud": [CLIENT, "another-client"]}),
        ("claim_missing", "aud", {"aud": None}),
        ("claim_missing", "aud", {"aud": []}),
        ("claim_invalid", "aud", {"aud": [CLIENT, 5]}),
        ("authorized_party_mismatch", None, {"aud": [CLIENT, "another-client"], "azp": "another-client"}),
        ("token_expired", None, {"exp": hours_from_now(-1)}),
        ("claim_missing", "exp", {"exp": None}),
        ("claim_invalid", "exp", {"exp": str(hours_from_now(1))}),
        ("token_not_yet_valid", None, {"nbf": hours_from_now(1)}),
        ("token_not_yet_valid", None, {"iat": hours_from_now(1)}),
        ("claim_missing", "iat", {"iat": None}),
        ("claim_missing", "sub", {"sub": None}),
        ("claim_missing", "sub", {"sub": ""}),
        ("claim_invalid", "sub", {"sub": 12345}),
        ("claim_invalid", "events", {"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}),
        ("claim_invalid", "email_verified", {"email_verified": "yes"}),
        ("nonce_mismatch", None, {"nonce": "the-nonce-of-another-sign-in"}),
        ("nonce_missing", None, {"nonce": None}),
        ("at_hash_mismatch", None, {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}),
        ("at_hash_missing", None, {"at_hash": None}),
    ],
)
def test_a_wrong_claim_is_refused_despite_a_valid_signature(provider, service, code, claim, changes):
    with provider.claims(**changes):
        sign_in = provider.sign_in()
    assert independent.is_signed_by_any(sign_in.id_token, independent.published_keys(provider.issuer))

    problem = reject(service, sign_in, code, provider="authlib", access_token=sign_in.access_token)

    assert problem.get("claim") == claim


def test_an_unconfigured_issuer_is_refused(provider, service):
    with provider.claims(iss=provider.issuer + "/"):
        reject(service, provider.sign_in(), "provider_unknown")


def test_a_trusted_audience_is_accepted_beside_the_client(provider, service):
    with provider.claims(aud=["another-client", CLIENT], azp=CLIENT):
        answer = accept(service, provider.sign_in())

    assert answer["token"]["audience"] == ["another-client", CLIENT]
    assert answer["token"]["authorized_party"] == CLIENT


def test_a_tampered_signature_is_refused(provider, service):
    sign_in = provider.sign_in()
    signed, _, signature = sign_in.id_token.rpartition(".")
    tampered = ("B" if signature.startswith("A") else "A") + signature[1:]

    service.reject(f"{signed}.{tampered}", "signature_invalid", nonce=sign_in.nonce)


def test_a_discovery_document_of_another_issuer_is_not_trusted(provider):
    document = f"{provider.issuer}/.well-known/openid-configuration"
    with provider.claims(iss=f"{provider.issuer}/tenant"):
        sign_in = provider.sign_in()

    settings = trusting(provider, "authlib", [CLIENT], discovery_url=document) | {"issuer": f"{provider.issuer}/tenant"}
    with Service(settings) as service:
        response = service.verify(sign_in.id_token, nonce=sign_in.nonce)

    assert (response.status, response.code) == (503, "keys_unavailable")
    assert int(response.header("Retry-After")) > 0


@pytest.fixture
def changing_provider():
    """A provider for a test that changes its keys."""
    with AuthlibProvider() as running:
        yield running


def test_every_algorithm_verifies_with_one_key_set(changing_provider):
    sign_ins = {}
    for algorithm in ALGORITHMS:
        changing_provider.rotate(algorithm, key_id=f"the-{algorithm}", keep_old=True)
        sign_ins[algorithm] = changing_provider.sign_in()

    with trust(changing_provider) as service:
        service.wait_until_ready()
        for algorithm, sign_in in sign_ins.items():
            # Authlib omits `at_hash` if it does not know the algorithm's hash.
            hashed = {"access_token": sign_in.access_token} if "at_hash" in independent.claims(sign_in.id_token) else {}
            assert bool(hashed) == (algorithm != "Ed25519")
            token = accept(service, sign_in, **hashed)["token"]
            assert (token["algorithm"], token["key_id"]) == (algorithm, f"the-{algorithm}")


def test_a_rotation_just_before_the_first_token_is_handled(changing_provider):
    with trust(changing_provider) as service:
        service.wait_until_ready()
        changing_provider.rotate(key_id="second")
        assert accept(service, changing_provider.sign_in())["token"]["key_id"] == "second"


def test_a_second_rotation_soon_after_is_handled(changing_provider):
    with trust(changing_provider) as service:
        service.wait_until_ready()
        for key_id in ["second", "third"]:
            changing_provider.rotate(key_id=key_id)
            assert accept(service, changing_provider.sign_in())["token"]["key_id"] == key_id


@pytest.mark.parametrize("key_ids", [("second", "third"), (None, None)])
def test_concurrent_sign_ins_after_a_rotation_all_verify(changing_provider, key_ids):
    with trust(changing_provider) as service:
        service.wait_until_ready()
        accept(service, changing_provider.sign_in())
        # Twice, because one rotation must not use up the budget for unknown keys.
        for key_id in key_ids:
            changing_provider.rotate(key_id=key_id)
            sign_ins = [changing_provider.sign_in() for _ in range(32)]
            assert verdicts_at_once(service, sign_ins) == {200: len(sign_ins)}


def verdicts_at_once(service: Service, sign_ins: list) -> Counter:
    """Sends one request per sign-in, all at once over separate connections; returns their statuses."""
    all_connected = threading.Barrier(len(sign_ins))

    def verify(sign_in) -> int:
        with service.api.connect() as connection:
            body = json.dumps({"id_token": sign_in.id_token, "nonce": sign_in.nonce}).encode()
            all_connected.wait(10)
            connection.send(request_bytes("POST", "/v1/verify", body))
            return connection.response("POST", "/v1/verify").status

    with ThreadPoolExecutor(len(sign_ins)) as executor:
        return Counter(executor.map(verify, sign_ins))


def test_a_rotation_to_an_unlisted_algorithm_is_handled(changing_provider):
    with trust(changing_provider) as service:
        service.wait_until_ready()
        accept(service, changing_provider.sign_in())
        changing_provider.rotate("PS384", key_id="second")
        assert accept(service, changing_provider.sign_in())["token"]["algorithm"] == "PS384"


def test_a_key_on_an_unsupported_curve_is_ignored(changing_provider):
    known = changing_provider.sign_in()
    changing_provider.rotate("ES256K", key_id="second", keep_old=True)
    with trust(changing_provider) as service:
        service.wait_until_ready()
        accept(service, known)
        reject(service, changing_provider.sign_in(), "algorithm_not_allowed")


def test_a_token_without_a_key_id_verifies_with_the_only_key(changing_provider):
    changing_provider.rotate(key_id=None)
    with trust(changing_provider) as service:
        service.wait_until_ready()
        assert accept(service, changing_provider.sign_in())["token"]["key_id"] is None


def test_a_token_without_a_key_id_verifies_with_one_of_several_keys(changing_provider):
    sign_ins = [changing_provider.sign_in()]
    for _ in range(2):
        changing_provider.rotate(key_id=None, keep_old=True)
        sign_ins.append(changing_provider.sign_in())
    with trust(changing_provider) as service:
        service.wait_until_ready()
        for sign_in in sign_ins:
            accept(service, sign_in)


def test_a_forged_token_does_not_hide_a_later_rotation(changing_provider):
    changing_provider.rotate(key_id=None)
    with trust(changing_provider) as service:
        service.wait_until_ready()
        sign_in, other = changing_provider.sign_in(), changing_provider.sign_in()
        signed, _, _ = sign_in.id_token.rpartition(".")
        _, _, signature = other.id_token.rpartition(".")
        service.reject(f"{signed}.{signature}", "signature_invalid", nonce=sign_in.nonce)

        changing_provider.rotate(key_id=None)
        accept(service, changing_provider.sign_in())


def test_a_refresh_finds_a_key_that_was_replaced_under_its_id(changing_provider):
    with trust(changing_provider) as service:
        service.wait_until_ready()
        accept(service, changing_provider.sign_in())
        changing_provider.rotate(key_id="first")
        assert service.admin.post("/v1/providers/authlib/refresh").status == 200
        accept(service, changing_provider.sign_in())
