"""An AWS load balancer, which asserts who the user is, with each of its keys at its own URL."""

import uuid

from . import tokens
from .issuer import Document, KeyServer
from .service import NETWORK

ISSUER = "https://idp.example"


def padded(octets: bytes) -> str:
    return tokens.base64.urlsafe_b64encode(octets).decode()


def padded_jws(key: tokens.Key, header, payload) -> str:
    """A JWS in the form of AWS's load balancers: each part is padded, and the padding is part of the signed text."""
    signed = ".".join(padded(tokens.json_bytes(part)) for part in (header, payload))
    return signed + "." + padded(key.sign(key.default_algorithm, signed.encode()))


class LoadBalancer:
    """An AWS load balancer that signs users in, and the endpoint of its region's keys."""

    client = "my-client"

    def __init__(self, server: KeyServer, name: str):
        self.arn = f"arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/{name}/50dc6c495c0c9188"
        self._server = server
        self._path = f"/{name}/keys/"
        self.address = server.url + self._path + "{kid}"
        self.published: dict[str, Document] = {}
        self.key = self.publish()

    def publish(self) -> tokens.Key:
        """Publishes a new key at the endpoint."""
        key = tokens.ec_key(str(uuid.uuid4()))
        document = Document(key.pem())
        document.headers = {"Content-Type": "application/x-pem-file"}
        self.published[key.kid] = self._server.documents[self._path + key.kid] = document
        return key

    def asked(self) -> list[str]:
        """The missing keys that were requested, in order."""
        return [path.removeprefix(self._path) for path in self._server.unexpected if path.startswith(self._path)]

    def provider(self, id: str = "alb", **settings) -> dict:
        usual = {
            "id": id, "preset": "aws-alb", "signer": self.arn, "client": self.client, "issuer": ISSUER,
            "public_key_uri": self.address, "network": dict(NETWORK),
        }  # fmt: skip
        return {name: value for name, value in (usual | settings).items() if value is not None}

    def header(self, **members) -> dict:
        usual = {
            "typ": "JWT", "kid": self.key.kid, "alg": "ES256", "iss": ISSUER, "client": self.client,
            "signer": self.arn, "exp": tokens.now() + 120,
        }  # fmt: skip
        return {name: value for name, value in (usual | members).items() if value is not None}

    def assertion(self, key=None, header=None, **claims) -> str:
        """A valid assertion; `None` removes a claim or a member of the header."""
        header = self.header(**({"kid": key.kid} if key else {}) | (header or {}))
        usual = {"sub": "user-1", "email": "jane@example.com", "exp": header.get("exp"), "iss": ISSUER}
        payload = {name: value for name, value in (usual | claims).items() if value is not None}
        return padded_jws(key or self.key, header, payload)
