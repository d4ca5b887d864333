"""Keys and Apple-like ID Tokens."""

import base64
import hashlib
import json
import secrets
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ISSUER = "https://appleid.apple.com"
AUDIENCE = "com.example.app"
MODULUS_BYTES = 256


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def compact(value) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _number(value: int, length: int) -> str:
    return base64url(value.to_bytes(length, "big"))


class Key:
    """A signing key: RS256 with 2048 bits, or ES256."""

    def __init__(self, algorithm: str, key_id: str):
        self.algorithm, self.key_id = algorithm, key_id
        is_rsa = algorithm == "RS256"
        self._key = rsa.generate_private_key(65537, 2048) if is_rsa else ec.generate_private_key(ec.SECP256R1())

    @property
    def jwk(self) -> dict:
        numbers = self._key.public_key().public_numbers()
        if self.algorithm == "RS256":
            return rsa_jwk(self.key_id, numbers.n, numbers.e)
        return {
            "kty": "EC",
            "kid": self.key_id,
            "use": "sig",
            "alg": self.algorithm,
            "crv": "P-256",
            "x": _number(numbers.x, 32),
            "y": _number(numbers.y, 32),
        }

    @property
    def pem(self) -> bytes:
        return self._key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def sign(self, message: bytes) -> bytes:
        if self.algorithm == "RS256":
            return self._key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        r, s = decode_dss_signature(self._key.sign(message, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def token(self, claims: dict, **header) -> str:
        return self.compact_jws({"kid": self.key_id, "alg": self.algorithm} | header, claims)

    def compact_jws(self, header: dict, claims: dict) -> str:
        message = f"{base64url(compact(header))}.{base64url(compact(claims))}"
        return f"{message}.{base64url(self.sign(message.encode()))}"


def rsa_jwk(key_id: str, modulus: int, exponent: int = 65537) -> dict:
    return {
        "kty": "RSA",
        "kid": key_id,
        "use": "sig",
        "alg": "RS256",
        "n": _number(modulus, MODULUS_BYTES),
        "e": _number(exponent, 3),
    }


def public_rsa_keys(count: int) -> list[dict]:
    """Public keys without a signer. Their moduli are the pairwise products of a few primes, so that a thousand keys take
    the time of fifty."""
    primes: list[int] = []
    while len(primes) * (len(primes) - 1) // 2 < count * 2:
        numbers = rsa.generate_private_key(65537, 2048).private_numbers()
        primes += [numbers.p, numbers.q]
    products = (p * q for index, p in enumerate(primes) for q in primes[:index])
    moduli = [product for product in products if product.bit_length() == 8 * MODULUS_BYTES]
    return [rsa_jwk(f"other-{index}", modulus) for index, modulus in enumerate(moduli[:count])]


def claims(index: int, nonce: str, **changes) -> dict:
    """The claims of a sign-in with Apple. The `nonce` claim is the nonce's SHA-256."""
    now = int(time.time())
    return {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": now + 300 * 86400,
        "iat": now - 5,
        "sub": f"{index:06d}.{secrets.token_hex(16)}.{index % 10000:04d}",
        "nonce": hashlib.sha256(nonce.encode()).hexdigest(),
        "c_hash": secrets.token_urlsafe(16),
        "email": f"{secrets.token_hex(5)}@privaterelay.appleid.com",
        "email_verified": "true",
        "is_private_email": "true",
        "auth_time": now - 6,
        "nonce_supported": True,
        "real_user_status": 2,
    } | changes


def short_claims(index: int, length: int | None = None, **changes) -> dict:
    """The claims an ID Token must have, without a nonce, padded to a token of about `length` characters."""
    now = int(time.time())
    found = {"iss": ISSUER, "aud": AUDIENCE, "exp": now + 300 * 86400, "iat": now - 5, "sub": str(index)} | changes
    if length:
        # 46 characters of header, 342 of signature, and two dots; three octets of payload become four characters.
        room = (length - 46 - 342 - 2) * 3 // 4 - len(compact(found | {"groups": ""}))
        found["groups"] = secrets.token_hex(room // 2 + 1)[: max(room, 0)]
    return found


def access_claims(index: int, issuer: str, audience: str, **changes) -> dict:
    """The claims of an access token (RFC 9068)."""
    now = int(time.time())
    return {
        "iss": issuer,
        "aud": audience,
        "exp": now + 300 * 86400,
        "iat": now - 5,
        "sub": f"{index:06d}.{secrets.token_hex(16)}",
        "client_id": "app",
        "scope": "orders:read orders:write",
        "jti": secrets.token_urlsafe(16),
    } | changes


class ProofKey(Key):
    """A client's key, which signs DPoP proofs (RFC 9449)."""

    def __init__(self):
        super().__init__("ES256", "")
        self._public = {name: value for name, value in self.jwk.items() if name in ("kty", "crv", "x", "y")}
        # RFC 7638: the members in the order of their names.
        self.thumbprint = base64url(hashlib.sha256(compact(dict(sorted(self._public.items())))).digest())

    def proof(self, method: str, url: str, token: str) -> str:
        hash = base64url(hashlib.sha256(token.encode()).digest())
        claims = {"jti": secrets.token_urlsafe(16), "htm": method, "htu": url, "iat": int(time.time()), "ath": hash}
        return self.compact_jws({"typ": "dpop+jwt", "alg": self.algorithm, "jwk": self._public}, claims)
