"""A backend behind a gateway that asks Assay."""

import pathlib

from gateways.backend import Backend, Received
from gateways.gateways import Gateway
from harness.client import Connection, ConnectionClosed, Response
from harness.issuer import Issuer
from harness.service import Service, provider
from harness.tokens import jws, sha256_hex

API = "https://api.example/"
KEY = "gateway-key"
# The gateways use the policy `api`. No path may make them use the others, which require less.
POLICIES = [
    {
        "id": "api",
        "providers": ["api"],
        "token": [{"header": "Authorization", "scheme": "Bearer"}, {"cookie": "session"}],
        "require": {"scopes": ["read"]},
    },
    {"id": "open", "providers": ["api"], "require_key": False},
    {"id": "api-open", "providers": ["api"], "require_key": False},
]
SETTINGS = {"api_keys": [sha256_hex(KEY)], "forward_auth": {"policies": POLICIES}, "log": {"requests": False}}
IDENTITY = ("X-Auth-Subject", "X-Auth-Issuer", "X-Auth-Email", "X-Auth-Email-Trust", "X-Auth-Scopes")


def assay(issuer: Issuer, **settings) -> Service:
    """A service with these policies."""
    trusted = provider(issuer, "api", tokens="access", audiences=[API])
    return Service(trusted, **(SETTINGS | settings))


def token(issuer: Issuer, key=None, **claims) -> str:
    """An access token that the policy `api` accepts. It has no email."""
    usual = {"aud": API, "client_id": "app", "jti": "t1", "scope": "read"}
    return jws(key or issuer.keys[0], issuer.claims(**(usual | claims)), typ="at+jwt")


def refresh(service: Service, query: str = "") -> None:
    """Fetches the provider's keys now, as an operator."""
    response = service.admin.post(f"/v1/providers/api/refresh{query}", b"", {"Authorization": f"Bearer {KEY}"})
    assert response.status == 200, response


class Conversation(Connection):
    """A connection to a gateway, which may end a response by closing it."""

    def _body(self, response: Response) -> bytes:
        if response.header("Content-Length") or response.header("Transfer-Encoding"):
            return super()._body(response)
        while octets := self.socket.recv(65536):
            self._buffer += octets
        return self._buffer


class Site:
    """A backend and its gateway. `assay` is the address that the gateway asks."""

    def __init__(self, name: str, assay: str, directory: pathlib.Path, key: str | None = KEY, changed=None):
        directory.mkdir(exist_ok=True)
        self.name = name
        self.backend = Backend()
        try:
            self.gateway = Gateway(name, assay, self.backend.address, directory, key, changed)
        except BaseException:
            self.backend.__exit__()
            raise

    def connect(self) -> Connection:
        return Conversation(self.gateway.address)

    def ask(self, token: str | None = None, *fields: tuple[str, str], method="GET", **named) -> Response:
        """Sends a `request` on a new connection. Status 0 means that it was closed without a response."""
        with self.connect() as connection:
            connection.send_tolerantly(request(token, *fields, method=method, **named))
            try:
                return connection.unchecked_response(method)
            except ConnectionClosed:
                return Response(0, [], b"")

    def passes(self, *arguments, **named) -> Received:
        """Sends a request that must reach the backend; returns it as it arrived."""
        before = len(self.backend.received)
        response = self.ask(*arguments, **named)
        assert response.status == 200, (response, self.gateway.log())
        (received,) = self.backend.received[before:]
        return received

    def denies(self, status: int, *arguments, **named) -> Response:
        """Sends a request that the gateway must answer with this status and not pass on."""
        before = len(self.backend.received)
        response = self.ask(*arguments, **named)
        assert response.status == status, (response, self.gateway.log())
        assert self.backend.received[before:] == []
        return response

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gateway.stop()
        self.backend.__exit__()


def request(token: str | None, *fields: tuple[str, str], method="GET", target="/orders", body="") -> bytes:
    """A request with a token and further header fields, in this order. `body` follows the head unchanged."""
    lines = [f"{method} {target} HTTP/1.1", "Host: shop.example"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name}: {value}" for name, value in fields]
    return ("\r\n".join([*lines, "", ""]) + body).encode("latin-1")
