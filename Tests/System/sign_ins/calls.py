"""A backend and an app that sign a user in."""

from harness import client
from harness.service import Service

ON = {"sign_ins": {}}


class Caller:
    """A separate connection to a service, for use by one thread."""

    def __init__(self, service: Service):
        self.api = client.Client(service.api.address)


def begin(service: Service | Caller, provider: str = "oidc", **members) -> dict:
    response = service.api.post("/v1/sign-ins", {"provider": provider} | members)
    assert response.status == 201, response
    return response.json


def finish(service: Service | Caller, sign_in: dict | str, id_token: str | None, **members) -> client.Response:
    """Sends a finish. `sign_in` is the answer to a begin, or a handle."""
    handle = sign_in if isinstance(sign_in, str) else sign_in["sign_in"]
    return service.api.post("/v1/sign-ins/finish", {"sign_in": handle, "id_token": id_token} | members)


def refused(response: client.Response, code: str, spent: bool = False) -> dict:
    problem = client.contract.assert_code(response, code)
    assert problem["spent"] is spent, problem
    return problem
