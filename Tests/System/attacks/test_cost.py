"""D. Cost: the most expensive input has a bounded cost, and does not make other callers wait."""

import json
import time

import pytest

from attacks.catalogue import ACCEPTED, rows
from harness.client import request_bytes
from harness.tokens import assemble, b64url, ec_key, integer, jws, parts

MIB = 1024 * 1024
# A modulus of 8192 bits. Its factors are unknown, which does not matter for a forgery.
LARGE = {"kty": "RSA", "n": integer((1 << 8191) + 0x5DEECE66D), "e": "AQAB"}
P521 = ec_key("p521", "P-521").jwk(kid=None)


def cpu_seconds(service) -> float:
    """The CPU time of the process, which does not depend on other load."""
    return time.clock_gettime((~service.process.pid << 3) | 2)


def cost(world, token: str, code: str, count: int = 60) -> float:
    """The CPU time of this many verifications in one batch."""
    body = json.dumps({"items": [{"id_token": token}] * count}).encode()
    before = cpu_seconds(world.service)
    response = world.service.api.post("/v1/verify/batch", body)
    spent = cpu_seconds(world.service) - before
    assert {result["error"]["code"] for result in response.json["results"]} == {code}
    return spent


DEAREST = rows(
    ("D01", "RSA of 8192 bits", LARGE, "RS512", bytes(8) + b"\5" * 1016),
    ("D01", "PSS of 8192 bits", LARGE, "PS512", bytes(8) + b"\5" * 1016),
    ("D01", "P-521", P521, "ES512", (b"\0" + b"\5" * 65) * 2),
)


@pytest.mark.parametrize(("jwk", "algorithm", "signature"), DEAREST)
def test_many_matching_keys_cost_no_more_than_four(world, jwk, algorithm, signature):
    """The key set is large, and the token has no kid to choose a key. The factor leaves room for noise."""
    claims = world.hostile.claims(filler="x" * 9000)
    anonymous = assemble({"alg": algorithm}, claims, signature)
    named = assemble({"alg": algorithm, "kid": "0"}, claims, signature)
    world.publish(*(jwk | {"kid": str(number)} for number in range(200)))
    for token in (anonymous, named):
        # Prepares each key, which costs extra on its first use.
        world.expect(token, "signature_invalid")
    one = cost(world, named, "signature_invalid")
    assert cost(world, anonymous, "signature_invalid") < 12 * one


@pytest.mark.parametrize(("jwk", "algorithm", "signature"), DEAREST)
def test_junk_is_refused_before_a_public_key_is_used(world, jwk, algorithm, signature):
    world.publish(jwk | {"kid": "dear"})
    header, claims = {"alg": algorithm, "kid": "dear"}, world.hostile.claims()
    dear = assemble(header, claims, signature)
    world.expect(dear, "signature_invalid")
    dearly = cost(world, dear, "signature_invalid")
    junk = {
        "token_malformed": dear[:-1] + "=",
        "header_unsupported": assemble(header | {"crit": ["x"]}, claims, signature),
        "algorithm_not_allowed": assemble(header | {"alg": "HS512"}, claims, signature),
        "key_not_found": assemble(header | {"kid": "unknown"}, claims | {"exp": 1}, signature),
    }
    cheaply = {code: cost(world, token, code) for code, token in junk.items()}
    assert {code: spent for code, spent in cheaply.items() if spent > dearly / 2} == {}, dearly


@pytest.mark.parametrize("signature", rows(("D01", "of another length", b"x" * 255), ("D01", "of no length", b"")))
def test_a_signature_of_a_wrong_length_costs_no_public_key_operation(world, signature):
    world.publish(LARGE | {"kid": "dear"})
    header, claims = {"alg": "RS512", "kid": "dear"}, world.hostile.claims()
    dear = assemble(header, claims, bytes(8) + b"\5" * 1016)
    world.expect(dear, "signature_invalid")
    dearly = cost(world, dear, "signature_invalid")
    assert cost(world, assemble(header, claims, signature), "signature_invalid") < dearly / 2


@pytest.mark.parametrize("clients", [pytest.param(1000, id="D03-1000 clients")])
def test_valid_tokens_pass_during_a_flood_of_forgeries(world, clients):
    key = world.op.key("rsa")
    forged = ".".join([*parts(jws(key, world.op.claims()))[:2], b64url(bytes(255) + b"\1")])
    octets = request_bytes("POST", "/v1/verify", json.dumps({"id_token": forged}).encode())
    crowd = 250
    for _ in range(clients // crowd):
        connections = [world.service.api.connect() for _ in range(crowd)]
        for connection in connections:
            connection.send(octets)
        for _ in range(10):
            world.expect(world.good(), ACCEPTED)
        for connection in connections:
            assert connection.response("POST", "/v1/verify").code == "signature_invalid"
            connection.close()


LARGEST = rows(
    ("D04", "good ones", lambda world: world.op.token(filler="x" * 11_000), None),
    ("D04", "expired ones", lambda world: world.op.token(filler="x" * 11_000, exp=1), "token_expired"),
    ("D04", "forged ones", lambda world: world.op.token(filler="x" * 11_000)[:-342] + "A" * 342, "signature_invalid"),
    (
        "D04",
        "unknown keys",
        lambda world: jws(world.op.key("rsa"), world.op.claims(exp=1), kid="x" * 8000),
        "key_not_found",
    ),
    ("D04", "malformed ones", lambda world: "." * 16_000, "token_malformed"),
)


@pytest.mark.parametrize(("make", "code"), LARGEST)
def test_large_tokens_do_not_leak(world, make, code):
    """2,000 tokens of each kind, or 30 MB."""
    body = json.dumps({"items": [{"id_token": make(world)}] * 200}).encode()

    def batch() -> None:
        results = world.service.api.post("/v1/verify/batch", body).json["results"]
        assert {result.get("error", {}).get("code") for result in results} == {code}

    for _ in range(3):
        batch()
    before = world.service.resident()
    for _ in range(10):
        batch()
    assert world.service.resident() < before + 16 * MIB


@pytest.mark.parametrize(
    "status", [pytest.param(status, id=f"D04-fetches that fail with {status}") for status in (500, 302, 200)]
)
def test_failed_fetches_do_not_leak_descriptors(world, status):
    world.publish()
    before = world.service.descriptors()
    world.publish_document(b"{", status)
    for _ in range(4):
        assert world.refresh()["last_error"]
    world.service.wait_until(lambda: world.service.descriptors() <= before + 2)
    world.publish()


@pytest.mark.last
@pytest.mark.parametrize("bound", [pytest.param(192, id="D04-the whole of these attacks")])
def test_memory_and_descriptors_are_bounded_after_all_attacks(world, bound):
    world.service.api.close()
    world.service.wait_until(lambda: world.service.descriptors() <= world.descriptors_at_first + 4)
    assert world.service.resident() < bound * MIB
