"""Limits of sizes, times, memory and connections: 413, 431, 408 and 503."""

import contextlib
import json
import select

import pytest

from harness.client import ConnectionClosed, request_bytes
from harness.contract import assert_code
from harness.metrics import Metrics, overloaded
from harness.service import DEADLINE, Service, provider
from harness.tokens import rsa_key


KIB = 1024


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("limits", rsa_key())


@pytest.fixture(scope="module")
def hasty(issuer):
    """A service with a request timeout of one second."""
    with Service(provider(issuer), limits={"request_timeout": "1s"}) as service:
        yield service.wait_until_ready()


def padded(token: str, length: int) -> bytes:
    """A request body of exactly this length."""
    body = json.dumps({"id_token": token}).encode()
    return body[:-1] + b" " * (length - len(body)) + b"}"


# bodies


def test_a_body_may_have_64_kib(hasty, issuer):
    token = issuer.token()
    assert hasty.api.post("/v1/verify", padded(token, 64 * KIB)).status == 200
    assert_code(hasty.api.post("/v1/verify", padded(token, 64 * KIB + 1)), "request_too_large")


def test_a_batch_may_have_4_mib(hasty, issuer):
    body = json.dumps({"items": [{"id_token": issuer.token()}]}).encode()
    fill = lambda length: body[:-1] + b" " * (length - len(body)) + b"}"  # noqa: E731
    assert hasty.api.post("/v1/verify/batch", fill(4 * KIB * KIB)).status == 200
    with hasty.api.connect() as connection:
        connection.send_tolerantly(request_bytes("POST", "/v1/verify/batch", fill(4 * KIB * KIB + 1)))
        assert_code(connection.response("POST", "/v1/verify/batch"), "request_too_large")


def test_body_limits_are_configurable(issuer):
    limits = {"max_body": "2KiB", "max_batch_body": "3KiB"}
    with Service(provider(issuer), limits=limits) as service:
        service.wait_until_ready()
        token = issuer.token()
        assert service.api.post("/v1/verify", padded(token, 2 * KIB)).status == 200
        assert_code(service.api.post("/v1/verify", padded(token, 2 * KIB + 1)), "request_too_large")
        assert_code(service.api.post("/v1/verify/batch", padded(token, 3 * KIB)), "request_invalid")
        assert_code(service.api.post("/v1/verify/batch", padded(token, 3 * KIB + 1)), "request_too_large")


def test_an_unexpected_body_does_no_harm(hasty):
    response = hasty.api.request("GET", "/livez", b"{}")
    assert response.status in (200, 400, 413), response
    assert hasty.api.get("/livez").status == 200


# heads


def test_a_long_header_name_is_refused(hasty):
    with hasty.api.connect() as connection:
        connection.send_tolerantly(request_bytes("GET", "/livez", headers={"X" * 20_000: "y"}))
        assert_code(connection.response("GET", "/livez"), "headers_too_large", "request_invalid")


def test_the_header_limit_is_configurable(issuer):
    with Service(provider(issuer), limits={"max_header": "2KiB"}) as service:
        assert service.api.get("/livez", {"X-Long": "x" * 1500}).status == 200
        with service.api.connect() as connection:
            connection.send_tolerantly(request_bytes("GET", "/livez", headers={"X-Long": "x" * 2500}))
            assert_code(connection.response("GET", "/livez"), "headers_too_large")


# unread responses


# time


SLOW = {
    "half a body": request_bytes("POST", "/v1/verify", b'{"id_', {"Content-Length": "100"}),
    "half a head": b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-",
}


def test_a_request_that_does_not_arrive_in_time_gets_408(hasty, issuer):
    """The cases run at once, because each takes the full timeout. Other requests are served meanwhile."""
    connections = {name: hasty.api.connect(timeout=6) for name in SLOW}
    for name, octets in SLOW.items():
        connections[name].send(octets)
    hasty.accept(issuer.token())
    for name, connection in connections.items():
        response = connection.response("POST", "/v1/verify")
        assert response.code == "request_timeout", f"{name}: {response}"
        assert connection.closed()
        connection.close()
    assert all(json.loads(line).get("level") != "error" for line in hasty.log)


def test_expect_100_continue_does_not_extend_the_timeout(hasty, issuer):
    body = json.dumps({"id_token": issuer.token()}).encode()
    head = request_bytes("POST", "/v1/verify", b"", {"Content-Length": str(len(body)), "Expect": "100-continue"})
    with hasty.api.connect() as prompt, hasty.api.connect() as silent:
        silent.send(head)
        prompt.send(head)
        interim = prompt.socket.recv(100)
        assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
        prompt.send(body)
        assert prompt.response("POST", "/v1/verify").status == 200
        assert_code(silent.response("POST", "/v1/verify"), "request_timeout")


def test_memory_for_incomplete_bodies_is_bounded(issuer):
    body = padded(issuer.token(), 60 * KIB)
    octets = request_bytes("POST", "/v1/verify", body, {"Content-Type": "application/json"})
    with Service(provider(issuer), limits={"max_buffered": "64KiB"}) as service:
        service.wait_until_ready()
        with service.api.connect() as first, service.api.connect() as second:
            first.send(octets[:-1])
            service.wait_until(lambda: Metrics(service.admin.get("/metrics").text).value("assay_buffered_bytes") > 59 * KIB)
            second.send_tolerantly(octets[:-1])
            refused = second.response("POST", "/v1/verify")
            assert_code(refused, "overloaded")
            assert overloaded(service) == {"max_buffered": 1}
            first.send(octets[-1:])
            assert first.response("POST", "/v1/verify").status == 200
        assert service.api.post("/v1/verify", body).status == 200


def test_the_admin_listener_has_its_own_buffer_limit(issuer):
    octets = request_bytes("POST", "/v1/explain", padded(issuer.token(), 60 * KIB), {"Content-Type": "application/json"})
    with Service(provider(issuer), limits={"max_buffered": "64KiB"}) as service:
        service.wait_until_ready()
        with contextlib.ExitStack() as stack:
            # There is room for one. The service chooses which one to reject.
            unfinished = [stack.enter_context(service.admin.connect()) for _ in range(3)]
            for connection in unfinished:
                connection.send_tolerantly(octets[:-1])
            readable, _, _ = select.select([one.socket for one in unfinished], [], [], DEADLINE)
            response = next(one for one in unfinished if one.socket in readable).response("POST", "/v1/explain")
            assert_code(response, "overloaded")
        assert "the admin listener's buffer (the larger of 4MiB and twice limits.max_body" in response.json["detail"]


def test_the_request_timeout_does_not_apply_between_requests(hasty):
    with hasty.api.connect() as connection, hasty.api.connect() as slow:
        connection.send(request_bytes("GET", "/livez"))
        assert connection.response("GET", "/livez").status == 200
        # Once the slow request times out, the idle connection has outlasted the request timeout too.
        slow.send(b"G")
        assert_code(slow.response("GET", "/livez"), "request_timeout")
        connection.send(request_bytes("GET", "/livez"))
        assert connection.response("GET", "/livez").status == 200


def test_connections_beyond_the_limit_are_refused(issuer):
    with Service(provider(issuer), limits={"max_connections": 4}) as service:
        service.wait_until_ready()
        service.api.close()
        connections = []
        try:
            for _ in range(4):
                connection = service.api.connect()
                connections.append(connection)
                connection.send(request_bytes("GET", "/livez"))
                assert connection.response("GET", "/livez").status == 200
            with service.api.connect() as one_more:
                one_more.send_tolerantly(request_bytes("GET", "/livez"))
                with contextlib.suppress(ConnectionClosed):
                    assert_code(one_more.response("GET", "/livez"), "overloaded")
            assert overloaded(service) == {"max_connections": 1}
            connections.pop().close()
            service.wait_until(lambda: _answers(service))
        finally:
            for connection in connections:
                connection.close()


def test_the_admin_listener_has_its_own_connection_limit(issuer):
    with Service(provider(issuer), admin={"listen": "127.0.0.1:0", "max_connections": 8}) as service:
        service.wait_until_ready()
        assert service.admin.get("/livez").status == 200
        with contextlib.ExitStack() as idle:
            # With the connection of `service.admin`, this is one too many. The service chooses which one to reject.
            idle_ones = [idle.enter_context(service.admin.connect()) for _ in range(8)]
            readable, _, _ = select.select([one.socket for one in idle_ones], [], [], DEADLINE)
            response = next(one for one in idle_ones if one.socket in readable).response("GET", "/livez")
            assert_code(response, "overloaded")
        assert "admin.max_connections" in response.json["detail"]
        assert service.wait_for_entry(code="overloaded")["limit"] == "admin.max_connections"


def _answers(service) -> bool:
    with service.api.connect() as connection:
        connection.send_tolerantly(request_bytes("GET", "/livez", headers={"Connection": "close"}))
        try:
            return connection.response("GET", "/livez").status == 200
        except ConnectionClosed:
            return False
