"""Common operations in tests of a provider's keys."""

import json
import secrets

from .client import request_bytes
from .contract import assert_code
from .service import Service
from .tokens import ec_key, jws


def refresh(service: Service, id: str = "oidc", *, drops_omitted: bool = False) -> dict:
    """Fetches the keys now, as an operator; returns the provider's state afterwards."""
    query = "?drop_omitted=true" if drops_omitted else ""
    return service.admin.post(f"/v1/providers/{id}/refresh{query}").json


def unavailable(service: Service, token: str, **members) -> None:
    """Asserts that a token's keys are unavailable, and that the response says when to retry."""
    response = service.verify(token, **members)
    assert_code(response, "keys_unavailable")
    assert 1 <= int(response.header("Retry-After")) <= 300


def verdicts(service: Service, tokens: list[str]) -> list[str]:
    """For each token, the source of the keys that verified it, or the problem's code.

    Does not record the responses, because there are thousands of identical ones.
    """
    with service.api.connect() as connection:
        body = json.dumps({"items": [{"id_token": token} for token in tokens]}).encode()
        connection.send(request_bytes("POST", "/v1/verify/batch", body))
        results = connection.unchecked_response().json["results"]
    return [result["error"]["code"] if "error" in result else result["keys"]["source"] for result in results]


def unknown(issuer, **claims) -> str:
    """A token with an unknown key ID, which may cause a fetch. Its claims are valid, except for these."""
    return jws(ec_key("nobody's"), issuer.claims(**claims), kid=secrets.token_hex(8))
