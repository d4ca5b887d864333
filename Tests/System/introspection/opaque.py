"""Providers whose access tokens are opaque, and requests with such tokens."""

import contextlib
import hashlib
import secrets

from grants.grants import SECRET, secret_file
from harness import client, contract
from harness.service import Service, provider
from harness.token_endpoint import INTROSPECTION, TokenEndpoint, answered
from harness.tokens import b64url, jws, now

PATH = "/v1/access-tokens/verify"
API = "https://api.example/"


def opaque(issuer, endpoint: TokenEndpoint, directory, id: str = "legacy", auth: str = "client_secret_basic", **more) -> dict:
    """An entry with opaque tokens, which are asked about at the scripted endpoint."""
    who = {"id": "api-client", "auth": auth}
    if auth.startswith("client_secret"):
        who["secret_file"] = secret_file(directory)
    usual = {"tokens": "opaque", "audiences": [API], "clients": [who]}
    introspection = {"endpoint": endpoint.url + INTROSPECTION} | more.pop("introspection", {})
    return provider(issuer, id, **(usual | more), introspection=introspection)


def token() -> str:
    """A token that no other test uses."""
    return secrets.token_urlsafe(24)


def members(**changes) -> dict:
    """What the endpoint says of a good token; `None` removes a member."""
    usual = {
        "active": True, "aud": API, "sub": "user-1", "client_id": "app", "scope": "orders:read openid",
        "exp": now() + 600, "iat": now(), "token_type": "Bearer",
    }  # fmt: skip
    return {name: value for name, value in (usual | changes).items() if value is not None}


def active(**changes):
    """The act that says so."""
    return answered(lambda call: members(**changes))


def signed(key, issuer, inner=None, header=None, **claims):
    """A signed answer (RFC 9701)."""
    usual = {"iss": issuer.url, "aud": "api-client", "iat": now(), "token_introspection": members() if inner is None else inner}
    usual = {name: value for name, value in (usual | claims).items() if value is not None}
    text = jws(key, usual, **({"typ": "token-introspection+jwt"} | (header or {})))
    return answered(text.encode(), headers={"Content-Type": "application/token-introspection+jwt"})


def verify(service: Service, text: str | None = None, provider: str | None = "legacy", **more) -> client.Response:
    body = {"token": token() if text is None else text} | ({} if provider is None else {"provider": provider})
    return service.api.post(PATH, body | more)


def many(service: Service, texts: list[str], pool) -> list:
    """Sends one request for each token at the same time, each over a connection of its own; returns futures."""

    def send(text: str) -> client.Response:
        with contextlib.closing(client.Client(service.api.address)) as caller:
            return caller.post(PATH, {"token": text, "provider": "legacy"})

    return [pool.submit(send, text) for text in texts]


def accepted(service: Service, text: str | None = None, **more) -> dict:
    response = verify(service, text, **more)
    assert response.status == 200, response
    return response.json


def refused(response: client.Response, code: str, claim: str | None = None) -> dict:
    problem = contract.assert_code(response, code)
    assert problem.get("claim") == claim, problem
    return problem


def sha256(text: str) -> str:
    return b64url(hashlib.sha256(text.encode()).digest())
