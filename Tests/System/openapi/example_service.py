"""The service in the examples of openapi.yaml, with test keys for its providers."""

import pathlib
import tempfile

from cryptography.hazmat.primitives import serialization
from harness.issuer import Issuer, KeyServer
from harness.service import NETWORK, Service
from harness.tokens import ec_key, rsa_key

# The client IDs and key IDs in the examples' tokens.
PROVIDERS = {
    "apple": {"audience": "com.example.app", "kid": "Ey3tWUrUrC"},
    "google": {"audience": "1045-web.apps.example.com", "kid": "5b3706960e3e60024a2655e78cfa63f87c97d309"},
}


# The provider for access tokens.
API = {"id": "api", "issuer": "https://login.example.com/", "audiences": ["https://api.example.com/"], "tokens": "access"}
API_KID = "api-2025"

# The provider that binds tokens.
BOUND = {"id": "app", "auth": "none", "sender_constraint": "dpop", "dpop_origins": ["https://api.bank.example"]}
BANK = {"id": "bank", "issuer": "https://id.bank.example", "audiences": ["app"], "clients": [BOUND]}

# Nothing listens there.
NOWHERE = "http://127.0.0.1:9"


class ExampleService:
    """Apple and Google with their real issuers, but with keys from a key server on loopback."""

    def __init__(self, key_server: KeyServer, key_status: int = 200, endpoints: str = NOWHERE, **settings):
        self.issuers = {id: key_server.issuer(id, rsa_key(entry["kid"])) for id, entry in PROVIDERS.items()}
        self.issuers["api"] = key_server.issuer("api", rsa_key(API_KID))
        for issuer in self.issuers.values():
            issuer.jwks.status = key_status
        providers = [
            {
                "id": id,
                "preset": id,
                "audiences": [entry["audience"]],
                "jwks_uri": self.issuers[id].jwks_uri,
                "network": NETWORK,
                "notifications": ["apple"],
                "endpoints": {"token": f"{endpoints}/token", "revocation": f"{endpoints}/revoke"},
                "clients": [{"id": entry["audience"], "auth": "none", "redirect_uris": [f"https://example.com/callback/{id}"]}],
            }
            for id, entry in PROVIDERS.items()
        ]
        providers.append(API | {"jwks_uri": self.issuers["api"].jwks_uri, "network": NETWORK})
        self.issuers["bank"] = key_server.issuer("bank", rsa_key("bank"))
        bank = BANK | {"jwks_uri": self.issuers["bank"].jwks_uri, "endpoints": {"token": f"{endpoints}/token"}}
        providers.append(bank | {"network": NETWORK})
        # Without these, the endpoints would not exist.
        self._directory = tempfile.TemporaryDirectory(prefix="assay-")
        file = pathlib.Path(self._directory.name) / "sig.pem"
        file.touch(0o600)
        pkcs8 = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file.write_bytes(ec_key("sig").private.private_bytes(*pkcs8))
        keys = {"client_keys": [{"id": "sig", "use": "signature", "key_file": str(file), "algorithm": "ES256"}]}
        admin = {"listen": "127.0.0.1:0", "console": True}
        gateway = {"forward_auth": {"policies": [{"id": "api", "providers": ["api"]}]}}
        # The host that the tests' client names, and the ID that they put into paths.
        resources = {"resources": [{"id": "apple", "resource": "https://127.0.0.1", "providers": ["api"]}]}
        self.service = Service(*providers, **({"admin": admin, "sign_ins": {}} | gateway | resources | keys | settings))

    def issuer_with_key(self, kid: str) -> Issuer:
        return next(issuer for issuer in self.issuers.values() if issuer.keys[0].kid == kid)
