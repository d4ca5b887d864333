"""Connections and headers: keep-alive, pipelining, both listeners, Unix sockets, request IDs."""

import json
import re

import pytest

from harness.client import Client, request_bytes
from harness.contract import assert_code
from harness.service import Service, provider
from harness.tokens import ec_key


def verify_bytes(token: str, **headers: str) -> bytes:
    return request_bytes("POST", "/v1/verify", json.dumps({"id_token": token}).encode(), headers)


def test_a_refused_request_leaves_the_connection_open(service, oidc):
    with service.api.connect() as connection:
        for octets, code in [
            (verify_bytes("x"), "token_malformed"),
            (request_bytes("POST", "/v1/verify", b"{"), "request_invalid"),
            (request_bytes("GET", "/nowhere"), "not_found"),
            (request_bytes("GET", "/v1/verify"), "method_not_allowed"),
            (request_bytes("POST", "/v1/verify", b"{}", {"Content-Type": "text/plain"}), "content_type_unsupported"),
            (verify_bytes(oidc.token()), None),
        ]:
            connection.send(octets)
            method, path, _ = octets.decode("latin-1").split(" ", 2)
            response = connection.response(method, path)
            assert response.code == code, response


def test_pipelined_requests_are_answered_in_order_though_one_waits_for_keys(server):
    old, new = ec_key("old"), ec_key("new")
    issuer = server.issuer("op", old)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        before = issuer.token()
        issuer.rotate(new, old)
        issuer.jwks.hold()
        tokens = [before, issuer.token(), before, "x", before]
        with service.api.connect() as connection:
            connection.send(b"".join(verify_bytes(token, **{"X-Request-Id": str(n)}) for n, token in enumerate(tokens)))
            assert connection.response("POST", "/v1/verify", request_id="0").status == 200
            issuer.jwks.wait_for(2)
            connection.send(verify_bytes(before, **{"X-Request-Id": "5"}))
            issuer.jwks.release()
            statuses = [connection.response("POST", "/v1/verify", request_id=str(n)).status for n in range(1, 6)]
            assert statuses == [200, 200, 422, 200, 200]


def test_the_service_stops_reading_from_a_client_that_does_not_read(service, oidc):
    """Backpressure: responses must not accumulate in memory, and other clients must not wait."""
    octets = request_bytes("GET", "/readyz") * 1000
    with service.api.connect() as greedy:
        greedy.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            for _ in range(1000):
                greedy.send(octets)
        for _ in range(5):
            service.accept(oidc.token())


# listeners


def test_health_answers_on_both_listeners(service):
    for listener in (service.api, service.admin):
        assert listener.get("/livez").status == 200
        assert listener.get("/readyz").status == 200


def test_the_service_may_listen_on_a_unix_socket(server, tmp_path_factory):
    issuer = server.issuer("op", ec_key("unix"))
    directory = tmp_path_factory.mktemp("s")
    path, admin = f"unix:{directory}/a.sock", f"unix:{directory}/b.sock"
    with Service(provider(issuer), service={"listen": path}, admin={"listen": admin}) as service:
        assert (service.api.address, service.admin.address) == (path, admin)
        service.wait_until_ready()
        service.accept(issuer.token())
        assert service.admin.get("/metrics").status == 200
        assert_code(service.api.post("/v1/verify", b"{"), "request_invalid")
    # The socket files that are left over do not prevent the next start.
    with Service(provider(issuer), service={"listen": path}, admin={"listen": admin}) as service:
        service.wait_until_ready()
        service.accept(issuer.token())


def test_the_service_may_listen_on_ipv6(server):
    issuer = server.issuer("op", ec_key("ipv6"))
    with Service(provider(issuer), service={"listen": "[::1]:0"}) as service:
        assert service.api.address.startswith("[::1]:")
        service.wait_until_ready()
        service.accept(issuer.token())


# X-Request-Id


@pytest.mark.parametrize("value", ["a", "x" * 128])
def test_a_valid_request_id_is_returned(service, value):
    assert service.api.get("/livez", {"X-Request-Id": value}).header("X-Request-Id") == value
    problem = service.api.post("/v1/verify", b"{", {"X-Request-Id": value})
    assert problem.json["request_id"] == value


@pytest.mark.parametrize("value", ["x" * 129, "a b"])
def test_an_invalid_request_id_is_replaced(service, value):
    response = service.api.post("/v1/verify", b"{", {"X-Request-Id": value})
    assert response.header("X-Request-Id") != value
    assert response.json["request_id"] == response.header("X-Request-Id")


def test_every_response_has_date_and_content_type(service, oidc):
    for response in (
        service.api.get("/livez"),
        service.verify(oidc.token()),
        service.api.get("/nowhere"),
        service.admin.get("/metrics"),
    ):
        assert re.fullmatch(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", response.header("Date"))
        assert response.header("Content-Type")
        assert response.header("Server") is None


def test_the_host_may_be_localhost(service):
    port = service.api.address.rsplit(":", 1)[1]
    assert Client(f"localhost:{port}").get("/livez").status == 200
