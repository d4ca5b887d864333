"""A backend that signs users in at one of the providers, and verifies the tokens with Assay."""

import pathlib
from collections.abc import Callable

from harness import contract
from harness.service import NETWORK, Service
from providers import jwk
from providers.sign_in import SignIn


def trusting(provider, id: str, audiences: list[str], **settings) -> dict:
    """Settings of Assay that trust a provider on loopback for these clients."""
    return {"id": id, "issuer": provider.issuer, "audiences": audiences, "network": dict(NETWORK)} | settings


def client_of(provider, authentication: str, directory: pathlib.Path, **wrong) -> dict:
    """Settings of the provider's client that authenticates in this way. `wrong` may have another `secret`, `key` or `id`."""
    client = {"id": wrong.get("id", provider.client_id_with(authentication)), "auth": authentication}
    client |= {"redirect_uris": [provider.redirect_uri]}
    if authentication.startswith("client_secret"):
        client["secret_file"] = _private_file(directory / "secret", wrong.get("secret", provider.client_secret))
    if authentication == "private_key_jwt":
        key = wrong.get("key", provider.client_key)
        client |= {"key_id": "the-client's", "key_file": _private_file(directory / "key.pem", jwk.private_pem(key))}
        client |= {"assertion_audience": provider.assertion_audience}
    return client


def _private_file(path: pathlib.Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def accept(service: Service, sign_in: SignIn, **members) -> dict:
    """Verifies a sign-in with its nonce. It must be accepted; returns the answer."""
    return service.accept(sign_in.id_token, **_expectations(sign_in) | members)


def reject(service: Service, sign_in: SignIn, problem: str, /, **members) -> dict:
    """Verifies a sign-in that must be rejected with this code; returns the problem."""
    return service.reject(sign_in.id_token, problem, **_expectations(sign_in) | members)


def sign_in_once(service: Service, provider: str, audience: str, sign_in: Callable[[str], SignIn]) -> dict:
    """Begins a sign-in, signs the user in with its nonce, and finishes it; returns the answer. Asserts that it can't be
    finished again.
    """
    begun = service.api.post("/v1/sign-ins", {"provider": provider, "audience": audience, "context": "/basket"}).json
    other = service.api.post("/v1/sign-ins", {"provider": provider, "audience": audience}).json
    signed_in = sign_in(begun["nonce"])

    def finish(handle: str):
        body = {"sign_in": handle, "id_token": signed_in.id_token}
        return service.api.post("/v1/sign-ins/finish", body)

    contract.assert_code(finish(other["sign_in"]), "nonce_mismatch")
    response = finish(begun["sign_in"])
    assert response.status == 200, response
    contract.assert_code(finish(begun["sign_in"]), "sign_in_replayed")
    assert response.json["context"] == "/basket"
    return response.json


def _expectations(sign_in: SignIn) -> dict:
    return {} if sign_in.nonce is None else {"nonce": sign_in.nonce}
