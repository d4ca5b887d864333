"""Responses that omit a key: the key is dropped after two in a row, or at once if an operator asks for that."""

import pytest

from harness.fault_table import BROKEN
from harness.faults import FaultServer
from harness.keys import refresh, unavailable, unknown
from harness.service import NETWORK, Service, provider
from harness.tokens import Key, ec_key, jws, rsa_key

OLD, OTHER, NEW = ec_key("old"), ec_key("other"), ec_key("new")


@pytest.fixture
def server():
    with FaultServer("op", OLD, OTHER) as fault_server:
        yield fault_server


@pytest.fixture
def service(issuer):
    with Service(provider(issuer, jwks_uri=issuer.jwks_uri, network=NETWORK)) as running:
        yield running.wait_until_ready()


def omitted(service) -> list[str | None]:
    return [key["kid"] for key in service.provider_state("oidc")["keys"] if key["omitted"]]


def fetch(service, issuer) -> None:
    """Causes a fetch by an unknown key ID, at most twice per half minute."""
    asked = service.provider_state("oidc")["fetched_at"]
    service.reject(unknown(issuer), "key_not_found")
    state = service.provider_state("oidc")
    assert state["last_error"] is None and state["fetched_at"] >= asked


def test_a_key_omitted_by_one_response_stays_in_use(service, issuer):
    issuer.rotate(OTHER, NEW)
    issuer.jwks.headers = {"Cache-Control": "max-age=86400"}
    fetch(service, issuer)
    assert omitted(service) == ["old"]
    answer = service.accept(jws(OLD, issuer.claims()))
    assert answer["keys"] == {"source": "network", "age_seconds": answer["keys"]["age_seconds"], "stale": False}
    service.accept(jws(OTHER, issuer.claims()))
    service.accept(jws(NEW, issuer.claims()))
    service.reject(jws(NEW, issuer.claims(), kid="old"), "signature_invalid")


def test_a_key_omitted_by_two_responses_in_a_row_is_dropped(service, issuer):
    issuer.rotate(OTHER)
    fetch(service, issuer)
    service.accept(jws(OLD, issuer.claims()))
    fetch(service, issuer)
    service.reject(jws(OLD, issuer.claims()), "key_not_found")
    service.accept(jws(OTHER, issuer.claims()))
    assert omitted(service) == []


def test_a_refresh_keeps_keys_that_its_response_omits(service, issuer):
    issuer.rotate(OTHER)
    assert [key["kid"] for key in refresh(service)["keys"]] == ["other", "old"]
    assert omitted(service) == ["old"]
    service.accept(jws(OLD, issuer.claims()))
    assert [key["kid"] for key in refresh(service)["keys"]] == ["other"]


def test_a_refresh_drops_omitted_keys_on_request(service, issuer):
    issuer.rotate(OTHER)
    assert [key["kid"] for key in refresh(service, drops_omitted=True)["keys"]] == ["other"]
    service.reject(jws(OLD, issuer.claims()), "key_not_found")
    service.accept(jws(OTHER, issuer.claims()))


def test_a_new_key_with_the_same_id_replaces_the_old_one_at_once(service, issuer):
    issuer.rotate(Key(NEW.private, "old"), OTHER)
    service.accept(jws(OLD, issuer.claims()))
    fetch(service, issuer)
    service.reject(jws(OLD, issuer.claims()), "signature_invalid")
    service.accept(jws(NEW, issuer.claims(), kid="old"))
    assert omitted(service) == []


def test_an_unusable_key_does_not_replace_the_old_one(service, issuer):
    """The old key counts as omitted."""
    issuer.jwks.body = {"keys": [OLD.jwk(y=OLD.jwk()["x"]), OTHER.jwk()]}
    fetch(service, issuer)
    service.accept(jws(OLD, issuer.claims()))
    assert omitted(service) == ["old"]
    fetch(service, issuer)
    service.reject(jws(OLD, issuer.claims()), "key_unsuitable")


def test_one_of_two_keys_with_the_same_id_may_be_omitted(service, issuer):
    rsa, ec = rsa_key("one"), Key(OLD.private, "one")
    issuer.rotate(rsa, ec)
    refresh(service, drops_omitted=True)
    issuer.rotate(rsa)
    fetch(service, issuer)
    assert omitted(service) == ["one"]
    service.accept(jws(ec, issuer.claims()))
    service.accept(jws(rsa, issuer.claims()))
    fetch(service, issuer)
    service.reject(jws(ec, issuer.claims()), "key_not_found")
    service.accept(jws(rsa, issuer.claims()))


def test_a_key_whose_use_changes_to_encryption_is_dropped_at_once(service, issuer):
    issuer.jwks.body = {"keys": [OLD.jwk(use="enc"), OTHER.jwk()]}
    fetch(service, issuer)
    service.reject(jws(OLD, issuer.claims()), "key_not_found")
    assert omitted(service) == []


def test_a_response_that_omits_all_old_keys_keeps_them(service, issuer):
    issuer.rotate(NEW)
    fetch(service, issuer)
    assert omitted(service) == ["old", "other"]
    for key in (OLD, OTHER, NEW):
        service.accept(jws(key, issuer.claims()))
    fetch(service, issuer)
    assert omitted(service) == []
    for key in (OLD, OTHER):
        service.reject(jws(key, issuer.claims()), "key_not_found")


def test_keys_without_an_id_are_distinguished_by_value(service, issuer):
    one, two = Key(OLD.private, None), Key(OTHER.private, None)
    issuer.rotate(one, two)
    refresh(service, drops_omitted=True)
    issuer.rotate(two)
    fetch(service, issuer)
    assert omitted(service) == [None]
    service.accept(jws(one, issuer.claims()))
    service.accept(jws(two, issuer.claims()))
    fetch(service, issuer)
    service.reject(jws(one, issuer.claims()), "signature_invalid")


def test_omitted_keys_survive_a_restart(server, issuer, tmp_path):
    settings = provider(issuer, jwks_uri=issuer.jwks_uri), {"cache_directory": str(tmp_path)}
    with Service(settings[0], **settings[1]) as service:
        service.wait_until(lambda: list(tmp_path.glob("*.keys")))
        issuer.rotate(OTHER)
        fetch(service, issuer)
        assert omitted(service) == ["old"]
    server.misbehave(BROKEN)
    with Service(settings[0], **settings[1]) as service:
        service.wait_until_ready()
        assert service.accept(jws(OLD, issuer.claims()))["keys"]["source"] == "disk"
        service.accept(jws(OTHER, issuer.claims()))


def test_a_restart_does_not_bring_back_dropped_keys(server, issuer, tmp_path):
    settings = provider(issuer, jwks_uri=issuer.jwks_uri), {"cache_directory": str(tmp_path)}
    with Service(settings[0], **settings[1]) as service:
        service.wait_until(lambda: list(tmp_path.glob("*.keys")))
        [file] = tmp_path.glob("*.keys")
        before = file.read_bytes()
        issuer.rotate(OTHER)
        refresh(service, drops_omitted=True)
        service.wait_until(lambda: file.read_bytes() != before)
    server.misbehave(BROKEN)
    with Service(settings[0], **settings[1]) as service:
        service.wait_until_ready()
        service.accept(jws(OTHER, issuer.claims()))
        # The provider can't be reached, so it is unknown whether the missing key exists.
        unavailable(service, jws(OLD, issuer.claims()))
