"""WebSockets through each gateway, whose configuration has commented lines for them, to a real server of WebSockets."""

import base64
import contextlib
import re
import threading

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from gateways.gateways import FILES, FOLDER, NAMES, Gateway
from gateways.site import IDENTITY, KEY, Site, assay, token
from gateways.test_bound_tokens import PATIENT

ORIGIN = "https://app.example.com"
# The lines, with the comment that introduces them.
COMMENTED = re.compile(r"^[ \t]*# To let WebSockets through at this path, remove `# ` here\..*\n((?:[ \t]*# .*\n)+)", re.MULTILINE)
POLICY = {
    "id": "api",
    "providers": ["api"],
    "token": [
        {"header": "Authorization", "scheme": "Bearer"},
        {"cookie": "session", "chunked": True},
        {"websocket_protocol": True, "origins": [ORIGIN]},
    ],
    "require": {"scopes": ["read"]},
}


class Echo:
    """Answers each message with itself, and keeps the handshakes' headers."""

    def __init__(self):
        self.handshakes = []
        self._server = serve(self._echo, "127.0.0.1", 0, select_subprotocol=lambda _, offered: offered[0] if offered else None)
        self.address = f"127.0.0.1:{self._server.socket.getsockname()[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _echo(self, connection) -> None:
        self.handshakes.append(connection.request.headers)
        for message in connection:
            connection.send(message)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()


def opened_up(name: str) -> dict[str, str]:
    """The change that lets WebSockets through."""
    (lines,) = COMMENTED.findall((FOLDER / FILES[name]).read_text(encoding="utf-8"))
    return {lines: re.sub("^([ \t]*)# ", r"\1", lines, flags=re.MULTILINE)} | PATIENT[name]


@pytest.fixture(scope="module")
def deciding(issuer):
    settings = {"policies": [POLICY], "timeout": "10s", "keys_timeout": "10s"}
    with assay(issuer, forward_auth=settings) as service:
        yield service.wait_until_ready()


@pytest.fixture(scope="module", params=NAMES)
def echo(request, deciding, tmp_path_factory):
    directory = tmp_path_factory.mktemp(f"echo-{request.param}")
    with Echo() as echo:
        with Gateway(request.param, deciding.api.address, echo.address, directory, KEY, opened_up(request.param)) as gateway:
            echo.gateway = gateway
            yield echo


def say(echo: Echo, *protocols: str, origin: str | None = ORIGIN, path="/ws", **headers: str):
    """Sends a message and expects it back; returns the handshake that reached the server, and the chosen protocol."""
    before = len(echo.handshakes)
    with connect(
        f"ws://{echo.gateway.address}{path}",
        subprotocols=list(protocols) or None,
        origin=origin,
        additional_headers=headers,
        open_timeout=30,
        proxy=None,
    ) as connection:
        connection.send("hello")
        assert connection.recv(timeout=30) == "hello"
        (handshake,) = echo.handshakes[before:]
        return handshake, connection.subprotocol


def refused(echo: Echo, *arguments, **named) -> int:
    before = len(echo.handshakes)
    with pytest.raises(InvalidStatus) as caught:
        say(echo, *arguments, **named)
    assert echo.handshakes[before:] == [], echo.gateway.log()
    return caught.value.response.status_code


def kubernetes(token: str) -> str:
    encoded = base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode()
    return f"base64url.bearer.authorization.k8s.io.{encoded}"


def protocols_of(handshake) -> list[str]:
    return [item.strip() for value in handshake.get_all("Sec-WebSocket-Protocol") for item in value.split(",")]


def test_a_token_among_the_protocols_opens_a_web_socket(echo, issuer):
    good = token(issuer)
    handshake, chosen = say(echo, "bearer", good)
    assert (protocols_of(handshake), chosen) == (["bearer"], "bearer")
    assert handshake["X-Auth-Subject"] == "user-1"
    assert good not in str(handshake)
    handshake, chosen = say(echo, "graphql-ws", "bearer", good, "chat")
    assert (protocols_of(handshake), chosen) == (["graphql-ws", "bearer", "chat"], "graphql-ws")
    handshake, chosen = say(echo, kubernetes(good), "v4.channel.k8s.io")
    assert (protocols_of(handshake), chosen) == (["v4.channel.k8s.io"], "v4.channel.k8s.io")


def test_other_sources_open_one_too(echo, issuer):
    good = token(issuer)
    handshake, chosen = say(echo, "chat", Authorization=f"Bearer {good}")
    assert (protocols_of(handshake), chosen) == (["chat"], "chat")
    handshake, _ = say(echo, Cookie=f"session.0={good[:100]}; session.1={good[100:]}")
    assert handshake["X-Auth-Subject"] == "user-1"


def test_a_web_socket_needs_a_token_and_a_page_of_its_own(echo, issuer):
    good, lesser = token(issuer), token(issuer, scope="write")
    assert refused(echo) == 401
    assert refused(echo, "chat") == 401
    assert refused(echo, "bearer", "x") == 401
    assert refused(echo, "bearer", lesser) == 403
    assert refused(echo, kubernetes(good)) == 401
    for origin in (None, "https://evil.example", "https://app.example.com.evil.example", "null"):
        assert refused(echo, "bearer", good, origin=origin) == 401


def test_only_the_path_with_web_sockets_has_them(echo, issuer):
    good = token(issuer)
    for path in ("/", "/ws2", "/other", "/x/ws", "/ws/x"):
        assert refused(echo, path=path, Authorization=f"Bearer {good}") == 403


def test_identity_headers_of_a_handshake_are_the_gateways(echo, issuer):
    forged = {name: "admin" for name in IDENTITY}
    handshake, _ = say(echo, "bearer", token(issuer), **forged)
    assert "admin" not in str(handshake)


@pytest.fixture(scope="module", params=NAMES)
def site(request, deciding, tmp_path_factory):
    directory = tmp_path_factory.mktemp(f"opened-{request.param}")
    with Site(request.param, deciding.api.address, directory, changed=opened_up(request.param)) as site:
        yield site


UPGRADE = ("Connection", "Upgrade")
HANDSHAKE = [("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13")]
OTHERS = {
    "another protocol": ("GET", "/ws", [UPGRADE, ("Upgrade", "tcp")]),
    "two": ("GET", "/ws", [UPGRADE, ("Upgrade", "websocket, tcp"), *HANDSHAKE]),
    "h2c": ("GET", "/ws", [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABk")]),
    "POST": ("POST", "/ws", [UPGRADE, ("Upgrade", "websocket"), *HANDSHAKE, ("Content-Length", "0")]),
    "CONNECT": ("CONNECT", "/ws", []),
}


@pytest.mark.parametrize("case", OTHERS)
def test_no_other_tunnel_opens(site, issuer, case):
    """The backend accepts every tunnel."""
    method, target, fields = OTHERS[case]
    before = len(site.backend.received)
    response = site.ask(token(issuer), *fields, ("Origin", ORIGIN), method=method, target=target)
    assert response.status in ((200, 400, 403) if case == "h2c" else (400, 403, 404, 405)), site.gateway.log()
    assert [each.values("Upgrade") for each in site.backend.received[before:]] in ([], [[]])
    assert site.backend.tunnelled == b""


def test_without_the_lines_there_are_no_web_sockets(deciding, issuer, tmp_path):
    for name in NAMES:
        with Echo() as echo, Gateway(name, deciding.api.address, echo.address, tmp_path, KEY, PATIENT[name]) as gateway:
            echo.gateway = gateway
            assert refused(echo, "bearer", token(issuer)) == 403
