"""A signing key for each of many issuers. All are made from a few primes: n primes make n (n - 1) / 2 keys."""

import pathlib
import secrets
import time

import mint
import pools
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

EXPONENT = 65537
AUDIENCE = "client"


class IssuerKeys:
    def __init__(self, count: int):
        primes: list[int] = []
        while len(primes) * (len(primes) - 1) // 2 < count:
            numbers = rsa.generate_private_key(EXPONENT, 8 * mint.MODULUS_BYTES).private_numbers()
            primes += [numbers.p, numbers.q]
        # OpenSSL sets the two highest bits of each prime, so that every product has the full length.
        self._pairs = [(p, q) for index, p in enumerate(primes) for q in primes[:index]][:count]

    def write(self, file: pathlib.Path) -> None:
        """Writes the moduli, for issuer_server.py."""
        file.write_text("".join(f"{p * q:x}\n" for p, q in self._pairs))

    def token(self, number: int, issuer: str, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": issuer, "aud": AUDIENCE, "exp": now + 86400, "iat": now - 5, "sub": str(number), "nonce": nonce}
        header = {"kid": f"key-{number}-0", "alg": "RS256"}
        message = f"{mint.base64url(mint.compact(header))}.{mint.base64url(mint.compact(claims))}"
        signature = self._key(number).sign(message.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{message}.{mint.base64url(signature)}"

    def request(self, number: int, issuer: str, provider: str) -> str:
        """The body of a request to verify a token of the issuer with this number."""
        nonce = secrets.token_urlsafe(24)
        return pools.body(self.token(number, issuer, nonce), nonce, provider)

    def _key(self, number: int) -> rsa.RSAPrivateKey:
        p, q = self._pairs[number]
        d = pow(EXPONENT, -1, (p - 1) * (q - 1))
        numbers = rsa.RSAPrivateNumbers(
            p, q, d, d % (p - 1), d % (q - 1), rsa.rsa_crt_iqmp(p, q), rsa.RSAPublicNumbers(EXPONENT, p * q)
        )
        # Validation would take longer than the signature.
        return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def forged(issuer: str) -> str:
    """A token with all that a request's issuer is fetched for, but signed by nobody."""
    now = int(time.time())
    claims = {"iss": issuer, "aud": AUDIENCE, "exp": now + 3600, "iat": now - 5, "sub": "1", "nonce": "n"}
    header = {"kid": "key", "alg": "RS256"}
    return ".".join(map(mint.base64url, (mint.compact(header), mint.compact(claims), bytes(mint.MODULUS_BYTES))))
