"""Floods of tokens with unknown key IDs: the load on the provider is bounded, and other callers are not affected."""

import concurrent.futures
import itertools
import json
import time

import pytest

from harness.client import request_bytes
from harness.contract import assert_code
from harness.fault_table import held, reply
from harness.faults import Fault, FaultServer
from harness.keys import unknown, verdicts
from harness.load import Load
from harness.metrics import Metrics
from harness.service import NETWORK, Service, provider
from harness.tokens import b64url, ec_key, json_bytes, jws, now

OLD, NEW = ec_key("old"), ec_key("new")
FETCHES, WINDOW, LEAST_PAUSE = 2, 30, 0.5
numbers = itertools.count()


@pytest.fixture
def server():
    with FaultServer("op", OLD) as fault_server:
        yield fault_server


def serve(issuer, **settings) -> Service:
    return Service(provider(issuer, jwks_uri=issuer.jwks_uri, network=NETWORK), log={"requests": False}, **settings)


def strangers(issuer, count: int, **claims) -> list[str]:
    """Plausible tokens, each with a different unknown key ID. They share one signature, which is valid for none."""
    _, payload, signature = jws(ec_key("nobody's"), issuer.claims(**claims)).split(".")
    headers = ({"alg": "ES256", "kid": f"made-up-{next(numbers)}"} for _ in range(count))
    return [f"{b64url(json_bytes(header))}.{payload}.{signature}" for header in headers]


def flood(service, tokens: list[str]) -> set[str]:
    """Sends tokens over several connections at once; returns the verdicts."""
    chunks = [tokens[start : start + 250] for start in range(0, len(tokens), 250)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return set(itertools.chain.from_iterable(pool.map(lambda chunk: verdicts(service, chunk), chunks)))


def background(service, issuer) -> Load:
    """Sends a valid token and an invalid one in a loop."""
    bad = issuer.token(aud="someone else")
    return Load(service.api.address, {"oidc": [(issuer.token(), None), (bad, "audience_mismatch")]})


def spent_fetches(service) -> float:
    return Metrics(service.admin.get("/metrics").text).value("assay_unknown_key_fetches_total", provider="oidc")


def test_thousands_of_unknown_key_ids_cause_two_fetches_in_half_a_minute(server, issuer):
    with serve(issuer) as service:
        service.wait_until_ready()
        with background(service, issuer) as load:
            began = time.monotonic()
            assert flood(service, strangers(issuer, 4000)) == {"key_not_found"}
            allowed = FETCHES * (1 + (time.monotonic() - began) // WINDOW)
            load.passes("oidc")
        assert FETCHES <= server.connections - 1 <= allowed
        assert spent_fetches(service) == server.connections - 1
        assert server.most_at_once == 1
        # After a rotation during the flood, an operator's refresh finds the new key.
        issuer.rotate(NEW, OLD)
        assert service.admin.post("/v1/providers/oidc/refresh").status == 200
        assert service.accept(issuer.token())["token"]["key_id"] == "new"


def test_a_flood_while_a_key_server_fails_causes_few_fetches(server, issuer):
    with serve(issuer) as service:
        service.wait_until_ready()
        server.misbehave(Fault(reply(status="500 Internal Server Error")))
        with background(service, issuer) as load:
            began = time.monotonic()
            assert flood(service, strangers(issuer, 2000)) == {"keys_unavailable"}
            elapsed = time.monotonic() - began
            load.passes("oidc")
        # The service's own retries come on top.
        allowed = FETCHES * (1 + elapsed // WINDOW) + 1 + (time.monotonic() - began) / LEAST_PAUSE
        assert server.connections - 1 <= allowed
        assert spent_fetches(service) <= FETCHES * (1 + elapsed // WINDOW)
        assert server.most_at_once == 1


def test_a_flood_waits_for_a_hanging_key_server_no_longer_than_keys_timeout(server, issuer):
    with serve(issuer, limits={"keys_timeout": "1s"}) as service:
        service.wait_until_ready()
        server.misbehave(Fault(held()))
        with background(service, issuer) as load:
            assert flood(service, strangers(issuer, 1000)) == {"keys_unavailable"}
            assert server.holds()
            load.passes("oidc")
        assert server.most_at_once == 1
        assert spent_fetches(service) == 1


def test_waiting_requests_with_unknown_keys_do_not_starve_others(server, issuer):
    """With the maximum number of requests waiting for keys, tokens with known keys are answered as usual."""
    with serve(issuer, limits={"keys_timeout": "30s", "max_in_flight": 8}) as service:
        service.wait_until_ready()
        server.misbehave(Fault(held()))
        connections = [service.api.connect(timeout=60) for _ in range(20)]
        for connection, token in zip(connections, strangers(issuer, 20), strict=True):
            connection.send(request_bytes("POST", "/v1/verify", json.dumps({"id_token": token}).encode()))
        service.wait_until(
            lambda: Metrics(service.admin.get("/metrics").text).value("assay_requests_in_flight") >= 8
        )
        for _ in range(20):
            service.accept(issuer.token())
        server.heal()
        codes = []
        for connection in connections:
            response = connection.response("POST", "/v1/verify")
            assert_code(response, "key_not_found", "keys_unavailable", "overloaded")
            codes.append(response.code)
            connection.close()
        assert codes.count("overloaded") >= 1
        assert len(codes) - codes.count("overloaded") >= 8


JUNK = {
    "another issuer": {"iss": "https://elsewhere.example.com"},
    "another audience": {"aud": "someone else"},
    "expired": {"exp": now() - 3600},
    "no expiry": {"exp": None},
}


def test_tokens_that_would_be_refused_anyway_cause_no_fetch(server, issuer):
    with serve(issuer) as service:
        service.wait_until_ready()
        junk = [token for claims in JUNK.values() for token in strangers(issuer, 1000, **claims)]
        with background(service, issuer) as load:
            assert flood(service, junk) == {"key_not_found", "provider_unknown"}
            load.passes("oidc")
        assert server.connections == 1
        # Nothing was cached: a new key is found at the first attempt.
        issuer.rotate(NEW, OLD)
        service.accept(issuer.token())
        assert server.connections == 2


def test_a_flood_at_one_provider_does_not_use_up_anothers_fetches(server, issuer):
    with FaultServer("other", ec_key("other-1")) as other:
        second = provider(other.issuer, "other", network=NETWORK)
        first = provider(issuer, jwks_uri=issuer.jwks_uri, network=NETWORK)
        with Service(first, second, log={"requests": False}) as service:
            service.wait_until_ready()
            assert flood(service, strangers(issuer, 1000)) == {"key_not_found"}
            service.reject(unknown(issuer), "key_not_found")
            for number in ("other-2", "other-3"):
                other.issuer.rotate(ec_key(number), *other.issuer.keys)
                service.accept(other.issuer.token())
            assert server.connections == 1 + FETCHES
