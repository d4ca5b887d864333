"""DPoP proofs with one fault each, which every resource server must refuse.

Source: RFC 9449, section 4.3; modelcontextprotocol/conformance, issue 369.
"""

import secrets

from .tokens import Key, assemble, b64url, ec_key, jws, now, sha256_base64url

CLAIMS = ("jti", "htm", "htu", "iat", "ath")


def public(key: Key) -> dict:
    """The members of its JWK that identify it."""
    return {name: value for name, value in key.jwk().items() if name in ("kty", "crv", "x", "y")}


class Proofs:
    """Proofs of one client for one access token and request."""

    def __init__(self, key: Key, token: str, method: str, url: str):
        self.key, self.token, self.method, self.url = key, token, method, url

    def proof(self, signer: Key | None = None, header: dict | None = None, **claims) -> str:
        """A good proof but for these members; `None` removes one."""
        return jws(signer or self.key, self._claims(**claims), header=self._header(**(header or {})))

    def _header(self, **changes) -> dict:
        usual = {"typ": "dpop+jwt", "alg": "ES256", "jwk": public(self.key)} | changes
        return {name: value for name, value in usual.items() if value is not None}

    def _claims(self, **changes) -> dict:
        usual = {
            "jti": secrets.token_urlsafe(16), "htm": self.method, "htu": self.url, "iat": now(),
            "ath": sha256_base64url(self.token),
        } | changes  # fmt: skip
        return {name: value for name, value in usual.items() if value is not None}

    def unsigned(self, algorithm: str, signature: bytes) -> str:
        return assemble(self._header(alg=algorithm), self._claims(), signature)

    def faulty(self) -> dict[str, str]:
        """By fault. The key is always the one that the token is bound to."""
        private = public(self.key) | {"d": b64url(self.key.private.private_numbers().private_value.to_bytes(32, "big"))}
        good = self.proof()
        return {
            **{f"no {name}": self.proof(**{name: None}) for name in CLAIMS},
            "jti a number": self.proof(jti=1),
            "iat a string": self.proof(iat=str(now())),
            "not one JWT": good + "." + good,
            "not a JWT": "x",
            "two in one field": good + ", " + self.proof(),
            "no typ": self.proof(header={"typ": None}),
            "typ JWT": self.proof(header={"typ": "JWT"}),
            "typ of access tokens": self.proof(header={"typ": "at+jwt"}),
            "alg none": self.unsigned("none", b""),
            "alg HS256": self.unsigned("HS256", bytes(32)),
            "no alg": self.proof(header={"alg": None}),
            "no jwk": self.proof(header={"jwk": None}),
            "private jwk": self.proof(header={"jwk": private}),
            "symmetric jwk": self.proof(header={"jwk": {"kty": "oct", "k": b64url(bytes(32))}}),
            "signed by another key": self.proof(signer=ec_key("another")),
            "altered": self._altered(good),
            "another method": self.proof(htm="DELETE"),
            "method in lower case": self.proof(htm=self.method.lower()),
            "another path": self.proof(htu=self.url + "/x"),
            "another host": self.proof(htu=self.url.replace("://", "://evil.")),
            "another scheme": self.proof(htu=self.url.replace("https:", "http:")),
            "stale": self.proof(iat=now() - 400),
            "of the future": self.proof(iat=now() + 400),
            "ath of another token": self.proof(ath=sha256_base64url(self.token + "x")),
        }

    def _altered(self, proof: str) -> str:
        """The same header and signature, for another `jti`."""
        header, _, signature = proof.split(".")
        return f"{header}.{self.proof().split('.')[1]}.{signature}"
