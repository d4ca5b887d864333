"""HTTP/1.1 that parsers may interpret differently, and data that is not HTTP."""

import contextlib
import json
import socket
import struct

import pytest

from harness.client import ConnectionClosed, request_bytes
from harness.contract import assert_code

BODY = b'{"id_token":"x"}'
SMUGGLED = request_bytes("GET", "/livez", headers={"X-Request-Id": "smuggled"})


def post(*lines: str, body: bytes = b"") -> bytes:
    head = ["POST /v1/verify HTTP/1.1", *lines, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


HOST, JSON, LENGTH = "Host: x", "Content-Type: application/json", f"Content-Length: {len(BODY)}"
# `Tests/HTTPTests/Server/FramingTests.swift` and `attacks/wire_cases.py` test every ambiguity.
AMBIGUOUS = {
    "length and chunked": post(HOST, JSON, "Content-Length: 4", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "two lengths": post(HOST, JSON, LENGTH, "Content-Length: 2", body=BODY),
    "a negative length": post(HOST, JSON, "Content-Length: -1", body=BODY),
    "no host": post(JSON, LENGTH, body=BODY),
    "two content types": post(HOST, JSON, JSON, LENGTH, body=BODY),
    "two authorizations": post(HOST, JSON, "Authorization: Bearer a", "AUTHORIZATION: Bearer a", LENGTH, body=BODY),
    "TLS": bytes.fromhex("16030100c8010000c40303") + bytes(range(100)),
    "random bytes": bytes((n * 73 + 11) % 256 for n in range(4000)),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_ambiguous_request_closes_the_connection(service, name):
    with service.api.connect(timeout=5) as connection:
        connection.send_tolerantly(AMBIGUOUS[name] + SMUGGLED)
        try:
            response = connection.response("POST", "/v1/verify")
        except ConnectionClosed:
            response = None
        if response is not None:
            assert response.status in (400, 413, 431), f"{name}: {response}"
            assert response.header("X-Request-Id") != "smuggled"
        assert connection.closed(), f"{name}: the smuggled request was answered"
    assert service.api.get("/livez").status == 200


def test_a_malformed_request_gets_a_problem(service):
    with service.api.connect() as connection:
        connection.send(AMBIGUOUS["a negative length"])
        assert_code(connection.response("POST", "/v1/verify"), "request_invalid")


@pytest.mark.parametrize("name", ["two content types", "two authorizations"])
def test_a_duplicate_header_is_named(service, name):
    with service.api.connect() as connection:
        connection.send(AMBIGUOUS[name])
        problem = assert_code(connection.response("POST", "/v1/verify"), "request_invalid")
        assert {"two content types": "Content-Type", "two authorizations": "Authorization"}[name] in problem["detail"]


def chunks(*pieces: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    text = b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces)
    return text + b"0\r\n" + trailer + b"\r\n"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"extension": b";a=b"},
        {"trailer": b"Content-Type: text/plain\r\n"},
        {"trailer": b"X-Request-Id: trailer\r\n"},
    ],
    ids=["plain", "extension", "content type in the trailer", "request id in the trailer"],
)
def test_a_chunked_body_is_read(service, oidc, options):
    body = json.dumps({"id_token": oidc.token()}).encode()
    head = post(HOST, JSON, "Transfer-Encoding: chunked")
    with service.api.connect() as connection:
        connection.send(head + chunks(*(body[at : at + 50] for at in range(0, len(body), 50)), **options))
        assert connection.response("POST", "/v1/verify").status == 200
        connection.send(request_bytes("GET", "/livez"))
        assert connection.response("GET", "/livez").status == 200


def test_a_chunk_extension_of_a_megabyte_is_refused(service):
    head = post(HOST, JSON, "Transfer-Encoding: chunked")
    with service.api.connect() as connection:
        connection.send_tolerantly(head + chunks(b"{}", extension=b";" + b"x" * 1_000_000))
        with contextlib.suppress(ConnectionClosed):
            assert connection.response("POST", "/v1/verify").status in (400, 413, 431)
    assert service.api.get("/livez").status == 200


def test_an_absolute_target_is_accepted(service, oidc):
    body = json.dumps({"id_token": oidc.token()}).encode()
    with service.api.connect() as connection:
        connection.send(request_bytes("POST", "http://assay.test/v1/verify", body))
        assert connection.response("POST", "/v1/verify").status == 200


def test_http_1_0_is_answered_and_the_connection_closed(service, oidc):
    body = json.dumps({"id_token": oidc.token()}).encode()
    with service.api.connect() as connection:
        connection.send(request_bytes("POST", "/v1/verify", body).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        assert connection.response("POST", "/v1/verify").status == 200
        assert connection.closed()


def test_connection_options_do_not_remove_headers(service):
    headers = {"Connection": "close, X-Request-Id", "X-Request-Id": "kept"}
    with service.api.connect() as connection:
        connection.send(request_bytes("GET", "/livez", headers=headers))
        assert connection.response("GET", "/livez", request_id="kept").status == 200
        assert connection.closed()


@pytest.mark.parametrize("host", ["", "x:99999", "[::1", "a b", "x/y", "*"])
def test_an_invalid_host_does_no_harm(service, host):
    with service.api.connect() as connection:
        connection.send(request_bytes("GET", "/livez", headers={"Host": host}))
        assert connection.response("GET", "/livez").status in (200, 400)


def test_a_connection_reset_does_no_harm(service):
    for octets in (b"POST", request_bytes("POST", "/v1/verify", BODY)[:-5], request_bytes("POST", "/v1/verify", BODY)):
        connection = service.api.connect()
        connection.send(octets)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    assert service.api.get("/livez").status == 200
