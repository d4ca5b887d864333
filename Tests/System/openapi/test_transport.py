"""Every operation answers transport errors as documented: malformed, slow, too large or too many requests."""

import select

import pytest

from harness.client import request_bytes
from harness.contract import assert_code
from harness.issuer import KeyServer
from openapi.documented import document
from openapi.example_service import ExampleService

ADDRESSES = {"service": "http://127.0.0.1:8080", "admin": "http://127.0.0.1:9090"}
CASES = [
    (operation, listener)
    for operation in document().operations
    for listener, url in ADDRESSES.items()
    if url in operation.servers
]
# Operations on the service listener that require an API key, if keys are configured.
CALLS = [
    operation.id
    for operation, listener in CASES
    if listener == "service" and {"apiKey": []} in document()[operation.pointer].get("security", [])
]
every_operation = pytest.mark.parametrize(
    "operation,listener", CASES, ids=[f"{operation.id}-{listener}" for operation, listener in CASES]
)

WITH_BODY = [(operation, listener) for operation, listener in CASES if not operation.is_on_head]
of_a_body = pytest.mark.parametrize(
    "operation,listener", WITH_BODY, ids=[f"{operation.id}-{listener}" for operation, listener in WITH_BODY]
)


def target(operation) -> str:
    return operation.path.replace("{id}", "apple").replace("{policy}", "api")


def connect(service, listener: str):
    return {"service": service.api, "admin": service.admin}[listener].connect()


def answer(connection, operation, octets: bytes):
    connection.send_tolerantly(octets)
    return connection.response(operation.method.upper(), target(operation))


@every_operation
def test_a_malformed_request_is_invalid(operation, listener, examples):
    octets = f"{operation.method.upper()} {target(operation)} HTTP/1.1\r\nHost: a\r\nno field\r\n\r\n".encode()
    with connect(examples.service, listener) as connection:
        assert_code(answer(connection, operation, octets), "request_invalid")
        assert connection.closed()


@every_operation
def test_a_head_over_the_limit_is_too_large(operation, listener, examples):
    octets = request_bytes(operation.method.upper(), target(operation), None, {"X-Filler": "x" * 20_000})
    with connect(examples.service, listener) as connection:
        assert_code(answer(connection, operation, octets), "headers_too_large")
        assert connection.closed()


@of_a_body
def test_a_body_over_the_limit_is_too_large(operation, listener, examples):
    limit = 4 * 1024 * 1024 if operation.id == "verifyBatch" else 64 * 1024
    length = {"Content-Length": str(limit + 1), "Content-Type": "application/json"}
    octets = request_bytes(operation.method.upper(), target(operation), None, length)
    with connect(examples.service, listener) as connection:
        assert_code(answer(connection, operation, octets), "request_too_large")


@pytest.fixture(scope="module")
def hurried():
    """A service with a request timeout of one second."""
    with KeyServer() as key_server, ExampleService(key_server, limits={"request_timeout": "1s"}).service as service:
        yield service


def test_an_incomplete_request_times_out(hurried):
    begun = []
    for operation, listener in CASES:
        connection = connect(hurried, listener)
        connection.send(f"{operation.method.upper()} {target(operation)} HTTP/1.1\r\nHost: a\r\n".encode())
        begun.append((connection, operation))
    for connection, operation in begun:
        with connection:
            assert_code(connection.response(operation.method.upper(), target(operation)), "request_timeout")
            assert connection.closed()


@pytest.fixture(scope="module")
def narrow():
    """A service with room for one incomplete request on each listener."""
    limits = {"max_body": "256KiB", "max_batch_body": "256KiB", "max_buffered": "256KiB"}
    with KeyServer() as key_server, ExampleService(key_server, limits=limits).service as service:
        yield service


@of_a_body
def test_a_request_beyond_the_limit_is_overloaded(operation, listener, narrow):
    method = operation.method.upper()
    for _ in range(20):
        with connect(narrow, listener) as first, connect(narrow, listener) as second:
            for connection in (first, second):
                connection.send(
                    request_bytes(method, target(operation), None, {"Content-Length": "200000"}) + b" " * 160000
                )
            # The event loops decide which request comes first. The other is answered before it is complete.
            answered, _, _ = select.select([first.socket, second.socket], [], [], 15)
            refused, taken = (first, second) if first.socket in answered else (second, first)
            assert_code(refused.response(method, target(operation)), "overloaded")
            taken.send_tolerantly(b" " * 40000)
            if taken.response(method, target(operation)).code != "overloaded":
                return
            # Both came at the same time, and neither was accepted.
    pytest.fail("both requests are refused every time")


@pytest.mark.parametrize("id", [*CALLS, "forwardAuth", "getResourceMetadata", "getWellKnownResourceMetadata"])
def test_a_call_during_a_stop_is_refused(id):
    operation = document().operation(id)
    with KeyServer() as key_server:
        examples = ExampleService(key_server)
        with examples.service as service:
            service.wait_until_ready()
            with connect(service, "service") as under_way, connect(service, "service") as late:
                under_way.send(request_bytes("POST", "/v1/verify", b"{}{}")[:-2])
                late.send(request_bytes("GET", "/livez"))
                assert late.response("GET", "/livez").status == 200
                service.wait_until(lambda: b"assay_requests_in_flight 1" in service.admin.get("/metrics").body)
                service.terminate()
                service.wait_for_entry(message="stopping")
                service.wait_until(lambda: service.admin.get("/readyz").status == 503)
                body = b"{}" if operation.method == "post" else None
                request = request_bytes(operation.method.upper(), target(operation), body)
                # Each event loop is notified separately.
                service.wait_until(lambda: answer(late, operation, request).code == "shutting_down")
                under_way.send(b"{}")
                assert_code(under_way.response("POST", "/v1/verify"), "request_invalid", "shutting_down")
            assert service.wait() == 0


def test_a_caller_without_the_api_key_gets_www_authenticate():
    with KeyServer() as key_server:
        settings = {"api_keys": ["2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"]}  # the digest of "foo"
        with ExampleService(key_server, **settings).service as service:
            for path in (document().operation(id).path for id in CALLS):
                for headers in ({}, {"Authorization": "Bearer bar"}, {"Authorization": "foo"}):
                    response = service.api.post(path, b"{}", headers)
                    assert_code(response, "caller_unauthenticated")
                    assert response.header("WWW-Authenticate").startswith("Bearer")
                assert_code(service.api.post(path, b"{}", {"Authorization": "Bearer foo"}), "request_invalid")
            for path in ("/livez", "/readyz", "/openapi.yaml"):
                assert service.api.get(path).code is None


@pytest.mark.parametrize(
    "listener,path",
    [*(("service", document().operation(id).path) for id in CALLS), ("admin", "/v1/explain")],
)
@pytest.mark.parametrize("type", [None, "text/plain", "application/x-www-form-urlencoded", "application/json5"])
def test_a_body_of_another_type_is_unsupported(listener, path, type, examples):
    client = {"service": examples.service.api, "admin": examples.service.admin}[listener]
    response = client.post(path, b"{}", {"Content-Type": type})
    assert_code(response, "content_type_unsupported")
