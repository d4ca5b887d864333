"""Customers' connections of an open entry: issuers, each with a token endpoint, and what a backend sends about them."""

import urllib.parse
from dataclasses import dataclass

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from harness import client
from harness.issuer import Issuer
from harness.token_endpoint import TokenEndpoint, grant

ENTRY = "connections"
REDIRECT = "https://app.example/callback/{connection}"
METHODS = ["client_secret_post", "client_secret_basic", "private_key_jwt", "none"]
SECRET = "a-customers-secret-xK7pQ2"
POST = {"auth": "client_secret_post", "secret": SECRET}


def entry(directory, **more) -> dict:
    """An open entry whose clients come from requests, and its key file."""
    key = ec.generate_private_key(ec.SECP256R1())
    file = directory / "assertion.pem"
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    file.chmod(0o600)
    clients = {"from": "request", "auth": METHODS, "redirect_uris": [REDIRECT], "key_file": str(file), "key_id": "a1"}
    network = {"allow_http": True, "allow_private_addresses": True}
    return {"id": ENTRY, "issuers": "any", "nonce": {"required": True}, "network": network, "clients": clients} | more


@dataclass
class Connection:
    """A row of the backend's database."""

    id: str
    issuer: Issuer
    endpoint: TokenEndpoint
    audience: str = "client"

    def __post_init__(self):
        self.issuer.discovery.body = self.issuer.discovery_document(
            token_endpoint=self.endpoint.endpoints["token"], revocation_endpoint=self.endpoint.endpoints["revocation"],
            authorization_response_iss_parameter_supported=True,
        )  # fmt: skip

    @property
    def named(self) -> dict:
        return {"connection": self.id, "issuer": self.issuer.url, "audience": self.audience}

    @property
    def redirect_uri(self) -> str:
        return REDIRECT.replace("{connection}", urllib.parse.quote(self.id, safe=""))

    def begin(self, service, **members) -> client.Response:
        request = {"provider": ENTRY, "redirect_uri": self.redirect_uri} | self.named | members
        return service.api.post("/v1/sign-ins", {name: value for name, value in request.items() if value is not None})

    def begun(self, service, **members) -> dict:
        response = self.begin(service, **members)
        assert response.status == 201, response
        return response.json

    def sign_in(self, begun: dict, **claims) -> dict:
        """The user signs in: the token endpoint returns a token for this sign-in. Returns the parameters of the response."""
        asked = parameters(begun)
        usual = {"aud": self.audience, "nonce": asked["nonce"]}
        self.endpoint.play(grant(id_token=self.issuer.token(**usual | claims)))
        return {"code": "c1", "state": asked["state"], "iss": self.issuer.url}

    def finish(self, service, begun: dict, response: dict, **members) -> client.Response:
        usual = {"connection": self.id, "redirect_uri": self.redirect_uri, "client": POST}
        request = {"sign_in": begun["sign_in"], "response": response} | usual | members
        return service.api.post(
            "/v1/sign-ins/finish", {name: value for name, value in request.items() if value is not None}
        )


def parameters(begun: dict) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun["authorization_url"]).query, strict_parsing=True))


def nothing_sent(*connections: Connection) -> bool:
    return not any(connection.endpoint.calls for connection in connections)
