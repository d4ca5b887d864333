"""DPoP as an authorization server sees it (RFC 9449): proofs are checked strictly, and may have to have a nonce."""

import hashlib
import json
import threading

import jwcrypto.jwk
import jwcrypto.jws

from .tokens import b64url, now, unb64url
from .token_endpoint import Call, TokenEndpoint, answered, error, grant

ALLOWED = {"jti", "htm", "htu", "iat", "ath", "nonce"}


def thumbprint(jwk: dict) -> str:
    """`jkt` (RFC 7638)."""
    return jwcrypto.jwk.JWK(**jwk).thumbprint()


def ath(access_token: str) -> str:
    return b64url(hashlib.sha256(access_token.encode()).digest())


class Proof:
    """The one proof of a request, which is checked as RFC 9449, section 4.3 says."""

    def __init__(self, call: Call, url: str, access_token: str | None = None):
        self.check(call.headers["dpop"], call.method, url, access_token)

    def check(self, text: str, method: str, url: str, access_token: str | None) -> None:
        self.text = text
        signed = jwcrypto.jws.JWS()
        signed.deserialize(text)
        self.header = signed.jose_header
        assert set(self.header) == {"typ", "alg", "jwk"}, self.header
        assert (self.header["typ"], self.header["alg"]) == ("dpop+jwt", "ES256"), self.header
        assert set(self.header["jwk"]) == {"kty", "crv", "x", "y"}, "more than a public key"
        signed.verify(jwcrypto.jwk.JWK(**self.header["jwk"]))
        self.claims = json.loads(signed.payload)
        assert set(self.claims) <= ALLOWED, self.claims
        assert self.claims["htm"] == method and self.claims["htu"] == url, self.claims
        assert abs(self.claims["iat"] - now()) < 60, self.claims
        assert len(unb64url(self.claims["jti"])) >= 12, self.claims
        assert self.claims.get("ath") == (access_token and ath(access_token)), self.claims

    @classmethod
    def of(cls, text: str, method: str, url: str, access_token: str | None) -> "Proof":
        made = cls.__new__(cls)
        made.check(text, method, url, access_token)
        return made

    @property
    def jkt(self) -> str:
        return thumbprint(self.header["jwk"])

    @property
    def nonce(self) -> str | None:
        return self.claims.get("nonce")


class ProofEndpoint:
    """Makes the endpoints of a `TokenEndpoint` demand proofs, each with the latest nonce if `nonces` is set.

    It remembers every proof, and the key that each token is bound to.
    """

    def __init__(self, endpoint: TokenEndpoint, nonces: bool = False):
        self.endpoint, self.nonces = endpoint, nonces
        self.proofs: list[Proof] = []
        self.number = 0
        self.members: dict = {}
        self._lock = threading.Lock()

    @property
    def nonce(self) -> str:
        return f"nonce-{self.number}"

    def act(self, call: Call):
        """The act for a call: a demand for a nonce, or a grant of this type."""
        token = call.headers.get("authorization", "").removeprefix("DPoP ") if call.path == "/userinfo" else None
        with self._lock:
            proof = Proof(call, self.endpoint.url + call.path, token)
            assert proof.claims["jti"] not in {known.claims["jti"] for known in self.proofs}, "a proof is sent twice"
            self.proofs.append(proof)
            if self.nonces and proof.nonce != self.nonce:
                self.number += 1
                return demand(self.nonce)
        if call.path == "/token":
            return grant(**({"token_type": "DPoP"} | self.members))
        return None


def demand(nonce: str, status: str = "400 Bad Request", **more):
    """The refusal of a proof without this nonce (RFC 9449, section 8)."""
    return error("use_dpop_nonce", status, {"DPoP-Nonce": nonce} | more)


def demand_of_resource(nonce: str):
    """The same from a resource server, whose response has no body (RFC 9449, section 9)."""
    return answered(b"", "401 Unauthorized", {"DPoP-Nonce": nonce, "WWW-Authenticate": 'DPoP error="use_dpop_nonce", error_description="a nonce"', "Content-Type": None})
