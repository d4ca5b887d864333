"""Providers with clients, and requests about their grants."""

from harness import client
from harness.service import Service, provider
from harness.token_endpoint import TokenEndpoint

SECRET = "a secret of the client: ä +/%"


def secret_file(directory, text: str = SECRET, name: str = "secret") -> str:
    path = directory / name
    path.write_text(text + "\n")
    path.chmod(0o600)
    return str(path)


def with_client(issuer, endpoint: TokenEndpoint, directory, id: str = "oidc", auth: str = "client_secret_basic", **more) -> dict:
    """A provider of the tests' key server whose endpoints are scripted."""
    client = {"id": "client", "auth": auth, "redirect_uris": ["https://app.example/callback"]}
    if auth.startswith("client_secret"):
        client["secret_file"] = secret_file(directory)
    usual = {"clients": [client], "endpoints": {name: endpoint.endpoints[name] for name in ("token", "revocation")}}
    return provider(issuer, id, **(usual | more))


def refresh(service: Service, provider: str = "oidc", token: str = "r1", subject: str = "user-1", **more) -> client.Response:
    return service.api.post("/v1/grants/refresh", {"provider": provider, "refresh_token": token, "subject": subject} | more)


def revoke(service: Service, provider: str = "oidc", **more) -> client.Response:
    return service.api.post("/v1/grants/revoke", {"provider": provider} | more)


def refused(response: client.Response, code: str, spent: bool, error: str | None = None) -> dict:
    problem = client.contract.assert_code(response, code)
    assert problem["spent"] is spent, problem
    assert problem.get("provider_error") == error, problem
    return problem
