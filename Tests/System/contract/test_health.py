"""`/livez`, `/readyz`, `/v1/providers`, and a refresh on demand."""

import json
import time

import pytest

from harness.client import request_bytes
from harness.contract import assert_code
from harness.service import Service, provider
from harness.tokens import ec_key, rsa_key

OLD, NEW = ec_key("old"), ec_key("new")


def test_liveness_does_not_depend_on_providers(server):
    issuer = server.issuer("op", OLD)
    issuer.discovery.status = 500
    with Service(provider(issuer)) as service:
        for listener in (service.api, service.admin):
            assert listener.get("/livez").status == 200
            assert listener.get("/readyz").status == 503


def test_readiness_names_each_provider_and_its_state(server):
    up, down = server.issuer("up", OLD), server.issuer("down", OLD)
    down.jwks.status = 500
    with Service(provider(up, "up-one"), provider(down, "down-one")) as service:
        service.wait_until(lambda: service.provider_state("up-one")["state"] == "ready")
        for listener in (service.api, service.admin):
            response = listener.get("/readyz")
            assert response.status == 503
            assert response.header("Content-Type").startswith("application/json")
            states = find_states(response.json)
            assert states == {"up-one": "ready", "down-one": "unavailable"}, response
        down.jwks.status = 200
        service.wait_until_ready()


def find_states(value) -> dict:
    """States by provider, whether the response has a mapping or a list of objects."""
    found = {}
    if isinstance(value, list):
        for entry in value:
            found |= find_states(entry)
    elif isinstance(value, dict):
        if "id" in value and "state" in value:
            return {value["id"]: value["state"]}
        for name, member in value.items():
            if member in ("ready", "stale", "unavailable"):
                found[name] = member
            else:
                found |= find_states(member)
    return found


def test_readiness_does_not_wait_for_an_optional_provider(server):
    needed, optional = server.issuer("needed", OLD), server.issuer("optional", OLD)
    optional.jwks.status = 500
    with Service(provider(needed, "needed"), provider(optional, "optional", optional=True)) as service:
        service.wait_until_ready()
        assert_code(service.verify(optional.token()), "keys_unavailable")
        service.accept(needed.token())
        needed_state = service.provider_state("needed")["state"]
        assert (needed_state, service.provider_state("optional")["state"]) == ("ready", "unavailable")


def test_providers_are_listed_with_their_keys(server):
    first = server.issuer("first", rsa_key("r"), ec_key("e"))
    first.jwks.body = {"keys": [rsa_key("r").jwk(alg="RS256"), ec_key("e").jwk(use=None)]}
    second = server.issuer("second", OLD)
    second.discovery.status = 500
    before = time.time()
    with Service(provider(first, "first"), provider(second, "second")) as service:
        service.wait_until(lambda: service.provider_state("first")["state"] == "ready")
        service.wait_until(lambda: service.provider_state("second")["last_error"])
        listing = service.admin.get("/v1/providers").json
        assert set(listing) == {"providers", "service"}
        assert set(listing["service"]) == {"version", "started_at"}
        assert before - 2 <= listing["service"]["started_at"] <= time.time() + 2
        listed, missing = listing["providers"]
        assert (listed["id"], listed["issuer"], listed["state"]) == ("first", first.url, "ready")
        assert listed["audiences"] == ["client"]
        assert {"r", "e"} == {key.get("kid", key.get("key_id")) for key in listed["keys"]}
        by_type = {key["kty"]: key for key in listed["keys"]}
        assert (by_type["RSA"]["alg"], by_type["RSA"]["use"]) == ("RS256", "sig")
        assert (by_type["EC"].get("alg"), by_type["EC"].get("use")) == (None, None)
        assert listed["last_error"] is None
        assert before - 2 <= listed["fetched_at"] <= time.time() + 2
        assert listed["fetched_at"] + 60 < listed["next_fetch_at"] <= time.time() + 86400
        assert (missing["id"], missing["state"], missing["keys"]) == ("second", "unavailable", [])
        assert missing["fetched_at"] is None
        assert missing["last_error"]
        text = json.dumps(listing)
        assert rsa_key("r").jwk()["n"] not in text


def test_a_refresh_fetches_at_once_and_returns_the_new_state(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.rotate(NEW)
        response = service.admin.post("/v1/providers/oidc/refresh")
        assert response.status == 200
        assert response.json == service.provider_state("oidc") | {"next_fetch_at": response.json["next_fetch_at"]}
        assert issuer.jwks.count == 2
        service.accept(issuer.token())
        assert issuer.jwks.count == 2


def test_a_failed_refresh_returns_the_error_and_keeps_the_keys(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.jwks.status = 500
        state = service.admin.post("/v1/providers/oidc/refresh").json
        assert state["last_error"]
        assert [key.get("kid", key.get("key_id")) for key in state["keys"]] == ["old"]
        service.accept(issuer.token())


@pytest.mark.parametrize("status", [200, 500])
def test_a_refresh_never_joins_a_fetch_that_began_before_it(server, status):
    """The older fetch may miss the change that the operator wants to see."""
    path = "/v1/providers/oidc/refresh"
    refresh = request_bytes("POST", path, b"")
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.jwks.status = status
        issuer.jwks.hold()
        with service.admin.connect() as first, service.admin.connect() as second:
            first.send(refresh)
            issuer.jwks.wait_for(2)
            # Sent together: once the first is answered, the second has been read.
            second.send(request_bytes("GET", "/livez") + refresh)
            assert second.response("GET", "/livez").status == 200
            issuer.jwks.release()
            for connection in (first, second):
                assert connection.response("POST", path).status == 200
        assert issuer.jwks.count == 3


def test_repeated_refreshes_fetch_at_most_once_a_second(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        began = time.monotonic()
        connections = [service.admin.connect() for _ in range(8)]
        for connection in connections * 2:
            connection.send(request_bytes("POST", "/v1/providers/oidc/refresh", b""))
        for connection in connections * 2:
            assert connection.response("POST", "/v1/providers/oidc/refresh").json["state"] == "ready"
        for connection in connections:
            connection.close()
        assert issuer.jwks.count <= 3 + (time.monotonic() - began)


@pytest.mark.parametrize("query", ["drop_omitted", "drop_omitted=1", "drop_omited=true", "drop_omitted=true&x=1"])
def test_unknown_refresh_parameters_are_refused(service, query):
    assert_code(service.admin.post(f"/v1/providers/oidc/refresh?{query}"), "request_invalid")


@pytest.mark.parametrize(
    "path",
    ["/v1/providers/nobody/refresh", "/v1/providers//refresh", "/v1/providers/oidc/", "/v1/providers/oidc/refresh/x"],
)
def test_a_refresh_of_an_unknown_provider_is_not_found(service, path):
    assert_code(service.admin.post(path), "provider_unknown", "not_found")


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_probes_may_use_head(service, path):
    response = service.api.request("HEAD", path)
    assert response.status in (200, 405)
    assert response.body == b""
    assert service.api.get(path).status == 200
