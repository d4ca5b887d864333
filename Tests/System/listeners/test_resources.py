"""What a long life must not cost: file descriptors, memory, anyone else's patience."""

import concurrent.futures
import os
import pathlib
import threading

import pytest

from harness.client import ConnectionClosed, request_bytes
from harness.service import Service, provider
from harness.tokens import ec_key, jws, rsa_key


@pytest.fixture
def lived_in(server):
    """A service that has done everything once, so that what it keeps for good is there."""
    issuer = server.issuer("op", rsa_key())
    with Service(provider(issuer), log={"requests": False}) as service:
        service.wait_until_ready()
        service.admin.post("/v1/providers/oidc/refresh")
        for _ in range(200):
            service.accept(issuer.token(filler="x" * 4000))
        yield service, issuer


def test_connections_and_failed_fetches_leave_no_descriptor_open(lived_in):
    service, issuer = lived_in
    before = service.descriptors()
    for status, body in [(500, b""), (200, b"{"), (302, b"")]:
        issuer.jwks.status, issuer.jwks.body = status, body
        for _ in range(4):
            service.admin.post("/v1/providers/oidc/refresh")
    for _ in range(100):
        with service.api.connect() as connection:
            connection.send(request_bytes("GET", "/livez"))
            assert connection.response("GET", "/livez").status == 200
    for _ in range(50):
        with service.api.connect() as connection:
            connection.send_tolerantly(b"\x16\x03\x01 nonsense\r\n\r\n")
    service.wait_until(lambda: service.descriptors() <= before + 2)


def test_large_and_bad_tokens_leave_no_memory_behind(lived_in):
    service, issuer = lived_in
    tokens = [
        (None, issuer.token(filler="x" * 11_000)),
        ("token_malformed", "." * 60_000),
        ("token_expired", issuer.token(exp=1, filler="x" * 11_000)),
        ("key_not_found", jws(rsa_key("unknown"), issuer.claims(exp=1), kid="x" * 8000)),
    ]

    def flood(count: int) -> None:
        for _ in range(count):
            for code, token in tokens:
                assert service.verify(token).code == code

    flood(100)
    before = service.resident()
    flood(500)
    assert service.resident() < before + 8 * 1024 * 1024


def test_a_flood_of_forgeries_does_not_keep_good_tokens_waiting(lived_in):
    """The forgers have as many connections as they like; the good client has one."""
    service, issuer = lived_in
    forged = jws(ec_key("forger"), issuer.claims(), alg="RS256", kid=issuer.keys[0].kid)
    octets = request_bytes("POST", "/v1/verify", b'{"id_token":"' + forged.encode() + b'"}')
    enough = threading.Event()

    def forge() -> int:
        refused = 0
        with service.api.connect() as connection:
            while not enough.is_set():
                connection.send(octets * 5)
                for _ in range(5):
                    assert connection.response("POST", "/v1/verify").code == "signature_invalid"
                    refused += 1
        return refused

    with concurrent.futures.ThreadPoolExecutor() as pool:
        forgers = [pool.submit(forge) for _ in range(4)]
        try:
            for number in range(100):
                assert service.accept(issuer.token(sub=f"user-{number}"))["identity"]["subject"] == f"user-{number}"
        finally:
            enough.set()
        assert all(forger.result() > 0 for forger in forgers)


def test_the_dearest_token_is_cheap_enough(server):
    """Large keys by the hundred, no key ID to choose by, a long token: a bounded number of checks, and an answer."""
    keys = [rsa_key(f"large-{number}", 4096) for number in range(4)]
    issuer = server.issuer("op", *keys)
    issuer.jwks.body = {"keys": [key.jwk() for key in keys] + [keys[0].jwk(kid=str(n)) for n in range(500)]}
    with Service(provider(issuer, algorithms=["RS512", "PS512"])) as service:
        service.wait_until_ready()
        token = jws(keys[0], issuer.claims(filler="x" * 10_000), algorithm="PS512", kid=None)
        forged = token[:-10] + "AAAAAAAAAA"
        with service.api.connect(timeout=2) as connection:
            connection.send(request_bytes("POST", "/v1/verify", b'{"id_token":"' + forged.encode() + b'"}'))
            assert connection.response("POST", "/v1/verify").code in ("signature_invalid", "token_malformed")
        service.accept(token)


def test_a_client_that_vanishes_in_a_crowd_is_forgotten(lived_in):
    service, issuer = lived_in
    before = service.descriptors()
    crowd = [service.api.connect() for _ in range(100)]
    body = b'{"id_token":"' + issuer.token().encode() + b'"}'
    for connection in crowd:
        connection.send(request_bytes("POST", "/v1/verify", body)[:-1])
    for connection in crowd[:50]:
        connection.close()
    for connection in crowd[50:]:
        connection.send(body[-1:])
        try:
            assert connection.response("POST", "/v1/verify").status == 200
        except ConnectionClosed as closed:
            raise AssertionError("a client among others was dropped") from closed
        connection.close()
    service.wait_until(lambda: service.descriptors() <= before + 2)


def test_there_is_an_event_loop_for_each_processor_that_may_be_used(server):
    issuer = server.issuer("op", rsa_key())

    def loops() -> int:
        with Service(provider(issuer)) as service:
            service.wait_until_ready()
            names = [
                (task / "comm").read_text() for task in pathlib.Path(f"/proc/{service.process.pid}/task").iterdir()
            ]
        return sum(name.startswith("NIO-ELT") for name in names)

    before = os.sched_getaffinity(0)
    quota = pathlib.Path("/sys/fs/cgroup/cpu.max")
    if len(before) < 2 or (quota.exists() and not quota.read_text().startswith("max")):
        pytest.skip("two processors without a quota are needed")
    many = loops()
    try:
        os.sched_setaffinity(0, {min(before)})
        one = loops()
    finally:
        os.sched_setaffinity(0, before)
    assert many - one == len(before) - 1
