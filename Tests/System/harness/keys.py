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
    """Asserts that there are no keys to verify a token with, and that the answer says when to retry."""
    response = service.verify(token, **members)
    assert_code(response, "keys_unavailable")
    assert 1 <= int(response.header("Retry-After")) <= 300


def verdicts(service: Service, tokens: list[str]) -> list[str]:
    """For each token, the source of the keys that verified it, or the problem's code.

    There are thousands of identical answers, so they are not recorded for the checks of all answers.
    """
    with service.api.connect() as connection:
        body = json.dumps({"items": [{"id_token": token} for token in tokens]}).encode()
        connection.send(request_bytes("POST", "/v1/verify/batch", body))
        results = connection.unchecked_response().json["results"]
    return [result["error"]["code"] if "error" in result else result["keys"]["source"] for result in results]


def unknown(issuer, **claims) -> str:
    """A token with an unknown key ID and otherwise valid claims, except for these; it may cause a fetch."""
    return jws(ec_key("nobody's"), issuer.claims(**claims), kid=secrets.token_hex(8))
