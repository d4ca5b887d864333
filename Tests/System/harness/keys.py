"""What tests of a provider's keys do with a service again and again."""

import json
import secrets

from .client import request_bytes
from .contract import assert_code
from .service import Service
from .tokens import ec_key, jws


def refresh(service: Service, id: str = "oidc", *, drops_omitted: bool = False) -> dict:
    """Has the keys fetched now, as an operator; returns the provider's state after that."""
    query = "?drop_omitted=true" if drops_omitted else ""
    return service.admin.post(f"/v1/providers/{id}/refresh{query}").json


def unavailable(service: Service, token: str, **members) -> None:
    """Asserts that there are no keys to verify a token with, and that the answer says when to come again."""
    response = service.verify(token, **members)
    assert_code(response, "keys_unavailable")
    assert 1 <= int(response.header("Retry-After")) <= 300


def verdicts(service: Service, tokens: list[str]) -> list[str]:
    """Of each token, where the keys came from that verified it, or the problem's code.

    Answers by the thousand, all alike, so they are not recorded for those who look at every answer.
    """
    with service.api.connect() as connection:
        body = json.dumps({"items": [{"id_token": token} for token in tokens]}).encode()
        connection.send(request_bytes("POST", "/v1/verify/batch", body))
        results = connection.unchecked_response().json["results"]
    return [result["error"]["code"] if "error" in result else result["keys"]["source"] for result in results]


def unknown(issuer, **claims) -> str:
    """A token with a key ID that nobody has seen; claims as of a good one, but for these: worth a fetch."""
    return jws(ec_key("nobody's"), issuer.claims(**claims), kid=secrets.token_hex(8))
