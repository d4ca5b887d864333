"""DPoP proofs of clients that use other libraries than the tests' usual one: pydpop and atproto-oauth-py."""

from collections.abc import Callable
from dataclasses import dataclass

import atproto_oauth.dpop
import pydpop

from .proofs import thumbprint


@dataclass
class OtherClient:
    jkt: str
    # Takes access token, method, URL and nonce.
    proof: Callable[..., str]

    def request(self, token: str, method: str, url: str, nonce: str | None = None) -> dict:
        """What an API sends as `dpop`."""
        return {"proof": self.proof(token, method, url, nonce), "method": method, "url": url, "scheme": "DPoP"}


def by_pydpop(alg: str = "ES256") -> OtherClient:
    key = pydpop.generate_key(alg)

    def proof(token: str, method: str, url: str, nonce: str | None = None) -> str:
        return pydpop.generate_proof(private_key=key, htm=method, htu=url, access_token=token, nonce=nonce)

    return OtherClient(pydpop.jwk_thumbprint(pydpop.public_jwk(key)), proof)


def by_atproto() -> OtherClient:
    key = atproto_oauth.dpop.generate_dpop_key()
    jwk = atproto_oauth.dpop.public_jwk(atproto_oauth.dpop.key_to_jwk(key))

    def proof(token: str, method: str, url: str, nonce: str | None = None) -> str:
        return atproto_oauth.dpop.make_dpop_proof(key, jwk, method, url, nonce=nonce, access_token=token)

    return OtherClient(thumbprint(jwk), proof)


CLIENTS = (by_pydpop, by_atproto)
