"""O. No oracle: a caller who can't sign learns nothing about whether the claims would have been accepted."""

import pytest

from attacks.forge import OUTSIDER, OUTSIDER_EC
from attacks.target import attacked
from harness.client import request_bytes
from harness.issuer import KeyServer
from harness.service import Service, provider
from harness.tokens import json_bytes, jws, now, sha256_hex

# Values that must not be revealed or logged. None of the service's own messages contains them.
NONCE = "nonce-of-this-very-sign-in"
REQUEST = {
    "provider": "op",
    "nonce": NONCE,
    "audience": "client",
    "max_age": 3600,
    "access_token": "access-token-of-this-sign-in",
    "code": "authorization-code-of-this-sign-in",
    "include_claims": True,
}

# Correct and incorrect claims; times are relative to now.
FAULTS = {
    "nothing": {},
    "expired": {"exp": -3600},
    "expires in the far future": {"exp": 10**9},
    "no exp": {"exp": None},
    "exp a text": {"exp": "tomorrow"},
    "not yet valid": {"nbf": 3600},
    "issued in the future": {"iat": 3600},
    "no iat": {"iat": None},
    "an old auth_time": {"auth_time": -7200},
    "another audience": {"aud": "another client"},
    "an audience of another type": {"aud": 5},
    "two audiences": {"aud": ["client", "stranger"]},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://attacker.example.com"},
    "an issuer that is configured": {"iss": "accounts.google.com"},
    "no issuer": {"iss": None},
    "no subject": {"sub": None},
    "a subject of another type": {"sub": 5},
    "another nonce": {"nonce": "a nonce of another sign-in"},
    "the nonce's hash": {"nonce": sha256_hex(NONCE)},
    "no nonce": {"nonce": None},
    "another at_hash": {"at_hash": "AAAA"},
    "another c_hash": {"c_hash": "AAAA"},
    "an event": {"events": {}},
    "another party": {"azp": "stranger"},
    "an address": {"email": "victim@example.com", "email_verified": "perhaps"},
}
TIMES = ("exp", "nbf", "iat", "auth_time")

# Reasons to refuse a token, whatever its claims.
DOUBTS = {
    "signature_invalid": lambda claims: jws(OUTSIDER, claims, kid="rsa"),
    "signature_invalid of an elliptic curve": lambda claims: jws(OUTSIDER_EC, claims, kid="P-256"),
    "signature_invalid without a kid": lambda claims: jws(OUTSIDER, claims, kid=None),
    "key_not_found": lambda claims: jws(OUTSIDER, claims, kid="nobody's"),
    "algorithm_not_allowed": lambda claims: jws(OUTSIDER, claims, kid="rsa", alg="HS256"),
    "header_unsupported": lambda claims: jws(OUTSIDER, claims, kid="rsa", crit=["exp"]),
}


def faulty(issuer, fault: str) -> dict:
    """Claims with one of the faults."""
    time = now()
    changes = FAULTS[fault].items()
    moved = {name: time + value if name in TIMES and type(value) is int else value for name, value in changes}
    return issuer.claims(**({"nonce": NONCE} | moved))


@pytest.fixture(scope="module")
def outage():
    """A service with one provider that is down and one that is up."""
    with KeyServer() as server:
        up, down = server.issuer("up", OUTSIDER_EC), server.issuer("down", OUTSIDER_EC)
        down.jwks.status = 503
        with attacked(Service(provider(up, "up"), provider(down, "down")), up.token) as target:
            target.service.wait_until(lambda: target.service.provider_state("up")["state"] == "ready")
            yield target, down


def answer(world, token: str, path: str) -> list[bytes]:
    """The complete answer, head and body, without the date. The request ID is always the same."""
    request = {"id_token": token} | REQUEST
    body = json_bytes(request if path == "/v1/verify" else {"items": [request]})
    headers = {"X-Request-Id": "oracle", "Connection": "close"}
    with world.service.api.connect() as connection:
        connection.send(request_bytes("POST", path, body, headers))
        octets = b""
        while received := connection.socket.recv(65536):
            octets += received
    return [line for line in octets.split(b"\r\n") if not line.startswith(b"Date: ")]


@pytest.mark.parametrize("path", ["/v1/verify", "/v1/verify/batch"])
@pytest.mark.parametrize("doubt", [pytest.param(doubt, id=f"O01-{doubt}") for doubt in DOUBTS])
def test_answers_to_untrusted_tokens_are_identical_whatever_their_claims(world, doubt, path):
    answers = {name: answer(world, DOUBTS[doubt](faulty(world.op, name)), path) for name in FAULTS}
    assert f'"code":"{doubt.split(" ")[0]}"'.encode() in answers["nothing"][-1]
    assert {name: lines for name, lines in answers.items() if lines != answers["nothing"]} == {}


@pytest.mark.parametrize("claims", [pytest.param(name, id=f"O03-{name}") for name in FAULTS])
def test_without_keys_the_answer_does_not_depend_on_the_claims(outage, claims):
    target, issuer = outage
    request = REQUEST | {"id_token": jws(issuer.keys[0], faulty(issuer, claims)), "provider": "down"}
    problem = target.expect(request, "keys_unavailable")
    assert problem == target.ask(request | {"id_token": issuer.token()}).json | {"request_id": problem["request_id"]}


@pytest.mark.parametrize("provider", [pytest.param(name, id=f"O02-{name}") for name in ("op", "apple", "google")])
def test_a_named_provider_does_not_reveal_the_tokens_issuer(world, provider):
    """An outsider's token gets the same answer from a provider, whatever issuer it names."""
    answers = set()
    for issuer in (world.op.url, world.apple.url, world.google.url, "https://attacker.example.com"):
        token = jws(OUTSIDER, world.op.claims(iss=issuer), kid="nobody's")
        problem = world.expect({"id_token": token, "provider": provider}, "key_not_found")
        answers.add(problem["detail"])
    assert len(answers) == 1
