"""What a client sends behind a request with a valid token: in a tunnel, or where the length of the request is ambiguous.

The backend accepts every tunnel. The attack succeeds if the backend receives anything that Assay has not decided on.
"""

import pytest

from gateways import http2
from gateways.site import IDENTITY, request, token
from harness.client import ConnectionClosed

CLOSED = 0
FORGED = request(None, *((name, "admin") for name in IDENTITY), target="/forged")
UPGRADE = ("Connection", "Upgrade")
WEBSOCKET = ("Upgrade", "websocket")
HANDSHAKE = [("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13")]
REFUSED = dict.fromkeys(("nginx", "envoy", "caddy", "haproxy"), 403)

# Method, target, header fields, and the status from each gateway.
TUNNELS = {
    "CONNECT": ("CONNECT", "shop.example:80", [], {"nginx": 400, "envoy": 404, "caddy": 405, "haproxy": 405}),
    "CONNECT with a path": ("CONNECT", "/orders", [], {"nginx": 405, "envoy": 400, "caddy": 405, "haproxy": 400}),
    "a WebSocket": ("GET", "/orders", [UPGRADE, WEBSOCKET, *HANDSHAKE], REFUSED),
    "another protocol": ("GET", "/orders", [UPGRADE, ("Upgrade", "TLS/1.0")], REFUSED),
    "in capitals": ("GET", "/orders", [("CONNECTION", "UPGRADE"), ("UPGRADE", "WEBSOCKET"), *HANDSHAKE], REFUSED),
    "with a body": ("POST", "/orders", [UPGRADE, WEBSOCKET, ("Content-Length", "0")], REFUSED | {"haproxy": 400}),
    "without Connection": ("GET", "/orders", [WEBSOCKET], REFUSED | {"envoy": 200}),
    "h2c": (
        "GET", "/orders", [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABk")],
        dict.fromkeys(REFUSED, 200),
    ),
    "h2c and another": ("GET", "/orders", [UPGRADE, ("Upgrade", "h2c, websocket")], REFUSED | {"caddy": 200, "haproxy": 400}),
    "h2c and another in two fields": (
        "GET", "/orders", [UPGRADE, ("Upgrade", "h2c"), WEBSOCKET], REFUSED | {"nginx": 200, "caddy": 200, "haproxy": 400}
    ),
}  # fmt: skip


@pytest.mark.parametrize("pipelined", [False, True], ids=["after the answer", "pipelined"])
@pytest.mark.parametrize("case", TUNNELS)
def test_nothing_reaches_the_backend_without_a_decision(site, issuer, case, pipelined):
    method, target, fields, due = TUNNELS[case]
    before = len(site.backend.received)
    opening = request(token(issuer), *fields, method=method, target=target)
    with site.connect() as connection:
        connection.send_tolerantly(opening + FORGED if pipelined else opening)
        # If a gateway closes the connection with bytes unread, its response may be lost.
        assert status(connection, method) in (due[site.name], CLOSED if pipelined else None)
        if not pipelined:
            connection.send_tolerantly(FORGED)
        # The gateway has closed the connection, or treats this as another request.
        assert status(connection, "GET") in (401, CLOSED)
    assert site.backend.tunnelled == b""
    assert [(each.target, each.values("Upgrade")) for each in site.backend.received[before:]] == (
        [(target, [])] if due[site.name] == 200 else []
    )


def status(connection, method: str) -> int:
    try:
        return connection.unchecked_response(method).status
    except (ConnectionClosed, ConnectionResetError):
        return CLOSED


@pytest.mark.parametrize(
    ("path", "protocol"), [(None, None), ("/orders", "websocket"), ("/orders", "connect-udp")], ids=["plain", "WebSocket", "UDP"]
)
def test_http_2_requests_cannot_open_a_tunnel(site, issuer, path, protocol):
    """Envoy and HAProxy accept HTTP/2 without TLS. They would turn an extended CONNECT into an `Upgrade` (RFC 8441)."""
    if site.name not in ("envoy", "haproxy"):
        return
    before = len(site.backend.received)
    answer = http2.ask(site.gateway.address, path, token(issuer), method="CONNECT", protocol=protocol)
    assert answer in (0, 400, 403, 404, 405)
    assert (site.backend.received[before:], site.backend.tunnelled) == ([], b"")


CHUNKED = "Transfer-Encoding: chunked"
# Header fields of a POST, and the part of its body before the forged request.
LENGTHS = {
    "a length and chunks": ([f"Content-Length: {len(FORGED) + 5}", CHUNKED], "0\r\n\r\n"),
    "chunks and a length": ([CHUNKED, f"Content-Length: {len(FORGED) + 5}"], "0\r\n\r\n"),
    "a short length and chunks": (["Content-Length: 4", CHUNKED], f"{len(FORGED):x}\r\n"),
    "chunks in capitals": (["Content-Length: 4", "TRANSFER-ENCODING: CHUNKED"], f"{len(FORGED):x}\r\n"),
    "chunks behind a tab": (["Content-Length: 4", "Transfer-Encoding:\tchunked"], f"{len(FORGED):x}\r\n"),
    "chunks behind a vertical tab": (["Content-Length: 0", "Transfer-Encoding: \x0bchunked"], ""),
    "chunks twice": (["Content-Length: 0", CHUNKED, CHUNKED], ""),
    "chunks and identity": (["Content-Length: 0", "Transfer-Encoding: chunked, identity"], ""),
    "an unknown coding": (["Content-Length: 0", "Transfer-Encoding: xchunked"], ""),
    "a space before the colon": (["Content-Length: 0", "Transfer-Encoding : chunked"], ""),
    "a folded line": (["Content-Length: 0", "X: 1\r\n Transfer-Encoding: chunked"], ""),
    "a line feed alone": (["Content-Length: 0", "X: 1\nTransfer-Encoding: chunked"], ""),
    "a carriage return alone": (["Content-Length: 0", "X: 1\rTransfer-Encoding: chunked"], ""),
    "two lengths": (["Content-Length: 0", f"Content-Length: {len(FORGED)}"], ""),
    "two lengths in one field": ([f"Content-Length: 0, {len(FORGED)}"], ""),
    "a length with a sign": ([f"Content-Length: +{len(FORGED)}"], ""),
    "a negative length": (["Content-Length: -1"], ""),
    "a chunk of a wrong size": ([CHUNKED], "0x0\r\n\r\n"),
    "a chunk with a sign": ([CHUNKED], "-0\r\n\r\n"),
    "a chunk's size ends in a line feed": ([CHUNKED], "0\n\n"),
}


@pytest.mark.parametrize("case", LENGTHS)
def test_no_ambiguous_length_hides_a_request(site, issuer, case):
    fields, beginning = LENGTHS[case]
    before = len(site.backend.received)
    head = "\r\n".join(["POST /orders HTTP/1.1", "Host: a", f"Authorization: Bearer {token(issuer)}", *fields, "", ""])
    with site.connect() as connection:
        # Where all of the forged request belongs to a body, the last one shows that the gateway has come to the end.
        connection.send_tolerantly((head + beginning).encode("latin-1") + FORGED + b"\r\n0\r\n\r\n" + request(None))
        while status(connection, "POST") == 200:
            pass
    # Nor does it reach the backend later, with another client's request.
    response = site.ask(token(issuer), target="/next")
    assert response.status == 200, (response, site.gateway.log())
    targets = [each.target for each in site.backend.received[before:]]
    assert "/next" in targets and "/forged" not in targets
