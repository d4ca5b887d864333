"""Signed introspection responses (RFC 9701), and the provider's keys, which are fetched for nothing else."""

import pytest

from harness.service import Service
from harness.token_endpoint import INTROSPECTION, answered
from harness.tokens import Key, ec_key, now, rsa_key

from .opaque import accepted, active, members, opaque, refused, signed, token, verify

JWT = "application/token-introspection+jwt"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("signed-introspection", rsa_key("sign"))


@pytest.fixture(scope="module")
def service(issuer, endpoint, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    entries = [
        opaque(issuer, endpoint, directory, clock_skew="5s", introspection={"cache": "10m"}),
    ]
    with Service(*entries) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(autouse=True)
def healed(endpoint):
    yield
    endpoint.heal()


def test_keys_are_fetched_only_for_a_signed_answer(server, endpoint, tmp_path):
    issuer = server.issuer("op", rsa_key("sign"))
    with Service(opaque(issuer, endpoint, tmp_path, introspection={"signed": "required"})) as service:
        # The endpoint is known, so nothing has to be fetched.
        service.wait_until_ready()
        assert (issuer.discovery.count, issuer.jwks.count) == (0, 0)
        endpoint.always(signed(issuer.keys[0], issuer), INTROSPECTION)
        answer = accepted(service)
        assert (issuer.discovery.count, issuer.jwks.count) == (1, 1)
        assert answer["keys"]["source"] == "network" and answer["keys"]["stale"] is False
        assert (answer["token"]["algorithm"], answer["token"]["key_id"]) == (None, None)
        assert endpoint.last(INTROSPECTION).headers["accept"] == JWT
        accepted(service)
        assert (issuer.discovery.count, issuer.jwks.count) == (1, 1)


def test_the_endpoint_is_discovered_without_keys(server, endpoint, tmp_path):
    issuer = server.issuer("op", rsa_key("sign"))
    document = issuer.discovery_document(introspection_endpoint=endpoint.url + INTROSPECTION)
    # A server that signs nothing needs no keys.
    del document["jwks_uri"]
    issuer.discovery.reset(document)
    issuer.discovery.hold()
    entry = opaque(issuer, endpoint, tmp_path)
    del entry["introspection"]["endpoint"]
    with Service(entry) as service:
        issuer.discovery.wait_for(1)
        assert service.api.get("/readyz").status == 503
        refused(verify(service), "provider_unavailable")
        issuer.discovery.release()
        service.wait_until_ready()
        endpoint.always(active(), INTROSPECTION)
        accepted(service)
        assert (issuer.discovery.count, issuer.jwks.count) == (1, 0)


def test_a_document_without_the_endpoint_is_told(server, endpoint, tmp_path):
    issuer = server.issuer("op", rsa_key("sign"))
    entry = opaque(issuer, endpoint, tmp_path)
    del entry["introspection"]["endpoint"]
    with Service(entry) as service:
        issuer.discovery.wait_for(1)
        service.wait_for(lambda: any("introspection_endpoint" in line for line in service.log))
        assert service.api.get("/readyz").json["providers"] == [{"id": "legacy", "state": "unavailable"}]
        refused(verify(service), "provider_unavailable")


def test_a_new_key_is_found_with_its_first_answer(service, issuer, endpoint):
    endpoint.always(signed(issuer.keys[0], issuer), INTROSPECTION)
    accepted(service)
    issuer.rotate(ec_key("next"))
    endpoint.always(signed(issuer.keys[0], issuer), INTROSPECTION)
    accepted(service)


def test_a_signed_answer_is_cached_with_its_keys(service, issuer, endpoint):
    endpoint.always(signed(issuer.keys[0], issuer), INTROSPECTION)
    text = token()
    accepted(service, text)
    again = accepted(service, text)
    assert again["introspection"]["cached"] is True and again["keys"]["source"] == "network"
    endpoint.always(signed(issuer.keys[0], issuer, {"active": False}), INTROSPECTION)
    refused(verify(service), "token_inactive")


FAULTS = {
    "typ missing": ({"header": {"typ": None}}, "typ"),
    "typ JWT": ({"header": {"typ": "JWT"}}, "typ"),
    "of another issuer": ({"iss": "https://other.example"}, "iss"),
    "without iss": ({"iss": None}, "iss"),
    "for another client": ({"aud": "other"}, "aud"),
    "without aud": ({"aud": None}, "aud"),
    "old": ({"iat": -70}, "iat"),
    "from the future": ({"iat": 30}, "iat"),
    "without iat": ({"iat": None}, "iat"),
    "without content": ({"token_introspection": None}, "token_introspection"),
    "with a list": ({"token_introspection": []}, "token_introspection"),
    "with active a text": ({"token_introspection": {"active": "true"}}, "active"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_signed_answer_that_could_mean_something_else_is_refused(service, issuer, endpoint, name):
    changes, told = FAULTS[name]
    changes = dict(changes)
    if isinstance(changes.get("iat"), int):
        changes["iat"] += now()
    endpoint.always(signed(issuer.keys[0], issuer, **changes), INTROSPECTION)
    assert told in refused(verify(service), "provider_answer_invalid")["detail"]


def test_an_answer_with_another_signature_is_refused(service, issuer, endpoint):
    endpoint.always(signed(Key(ec_key("forged").private, issuer.keys[0].kid), issuer), INTROSPECTION)
    assert "signature" in refused(verify(service), "provider_answer_invalid")["detail"]
    endpoint.always(answered(b"e30.e30.AA", headers={"Content-Type": JWT}), INTROSPECTION)
    refused(verify(service), "provider_answer_invalid")
    endpoint.always(answered(b"{}", headers={"Content-Type": JWT}), INTROSPECTION)
    refused(verify(service), "provider_answer_invalid")


def test_only_the_member_token_introspection_is_read(service, issuer, endpoint):
    endpoint.always(signed(issuer.keys[0], issuer, {"active": False}, active=True, sub="user-1"), INTROSPECTION)
    refused(verify(service), "token_inactive")
    endpoint.always(signed(issuer.keys[0], issuer, members(sub=None), sub="user-2"), INTROSPECTION)
    assert accepted(service)["identity"] is None


def test_where_answers_must_be_signed_plain_json_is_refused(issuer, endpoint, tmp_path):
    with Service(opaque(issuer, endpoint, tmp_path, introspection={"signed": "required"})) as service:
        service.wait_until_ready()
        endpoint.always(active(), INTROSPECTION)
        assert "signed" in refused(verify(service), "provider_answer_invalid")["detail"]
        endpoint.always(signed(issuer.keys[0], issuer), INTROSPECTION)
        accepted(service)


def test_without_keys_a_signed_answer_says_nothing(server, endpoint, tmp_path):
    issuer = server.issuer("op", rsa_key("sign"))
    issuer.jwks.status = 500
    with Service(opaque(issuer, endpoint, tmp_path)) as service:
        service.wait_until_ready()
        endpoint.always(signed(issuer.keys[0], issuer), INTROSPECTION)
        refused(verify(service), "keys_unavailable")
        # Plain answers need no keys.
        endpoint.always(active(), INTROSPECTION)
        accepted(service)
