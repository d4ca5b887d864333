"""W. The two listeners: each serves only its own paths, and junk never becomes a metric label."""

import secrets

import pytest

from attacks.catalogue import rows
from harness.contract import assert_code
from harness.metrics import Metrics
from harness.tokens import jws

ADMIN_PATHS = (
    "/metrics",
    "/v1/providers",
    "/v1/providers/op/refresh",
    "/v1/providers/op",
    "/v1/providers/../providers",
    "/v1/explain",
    "/v1/events",
    "/v1/verdicts",
    "/",
    "/console",
)
SERVICE_PATHS = ("/v1/verify", "/v1/verify/batch", "/openapi.yaml")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", rows(*(("W15", f"{path} on the service listener", path) for path in ADMIN_PATHS)))
def test_the_service_listener_has_no_admin_paths(world, path, method):
    asked = world.hostile.jwks.count
    assert_code(world.service.api.request(method, path, b"{}" if method == "POST" else None), "not_found")
    assert world.hostile.jwks.count == asked


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", rows(*(("W15", f"{path} on the admin listener", path) for path in SERVICE_PATHS)))
def test_the_admin_listener_has_no_service_paths(world, path, method):
    body = {"id_token": world.good()} if method == "POST" else None
    assert_code(world.service.admin.request(method, path, body), "not_found")


JUNK = rows(
    ("W15", "issuers", lambda world, junk: world.op.token(iss=f"https://{junk}.example.com"), {}),
    ("W15", "kids", lambda world, junk: jws(world.op.key("rsa"), world.op.claims(), kid=junk), {}),
    ("W15", "algorithms", lambda world, junk: jws(world.op.key("rsa"), world.op.claims(), alg=junk), {}),
    ("W15", "types", lambda world, junk: jws(world.op.key("rsa"), world.op.claims(), typ=junk), {}),
    ("W15", "audiences", lambda world, junk: world.op.token(aud=junk), {}),
    ("W15", "subjects", lambda world, junk: world.op.token(sub=junk), {}),
    ("W15", "no tokens", lambda world, junk: junk, {}),
    ("W15", "providers", lambda world, junk: world.op.token(), {"provider": "{junk}"}),
    ("W15", "audiences asked for", lambda world, junk: world.op.token(), {"audience": "{junk}"}),
    ("W15", "members", lambda world, junk: world.op.token(), {"{junk}": "x"}),
)


@pytest.mark.parametrize(("make", "members"), JUNK)
def test_no_value_of_a_token_becomes_a_label(world, make, members):
    def strike() -> str:
        junk = secrets.token_hex(12)
        body = {name.format(junk=junk): text.format(junk=junk) for name, text in members.items()}
        world.target.ask({"id_token": make(world, junk)} | body)
        return junk

    assert_no_new_series(world, strike)


@pytest.mark.parametrize("part", rows(*(("W15", part, part) for part in ("paths", "methods", "headers", "queries"))))
def test_no_value_of_a_request_becomes_a_label(world, part):
    def strike() -> str:
        junk = secrets.token_hex(12)
        method, path, headers = "GET", "/livez", {}
        if part == "paths":
            path = f"/{junk}/x"
        elif part == "methods":
            method = f"X{junk}".upper()
        elif part == "headers":
            headers = {"User-Agent": junk, "X-Request-Id": junk, "traceparent": f"00-{junk}-{junk}-01", junk: junk}
        else:
            path = f"/livez?{junk}={junk}"
        with world.service.api.connect() as connection:
            fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            connection.send(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode())
            assert connection.unchecked_response().status < 500
        return junk

    assert_no_new_series(world, strike)


def assert_no_new_series(world, strike) -> None:
    """Asserts that repetitions of an attack add no series, and that no series contains text from them."""
    # The first attacks may be the first fetch or the first refusal, and reading the metrics counts too.
    for _ in range(5):
        strike()
    world.service.admin.get("/metrics")
    before = Metrics(world.service.admin.get("/metrics").text)
    junk = [strike() for _ in range(50)]
    text = world.service.admin.get("/metrics").text
    assert Metrics(text).samples.keys() == before.samples.keys()
    assert not [each for each in junk if each in text.lower()]
