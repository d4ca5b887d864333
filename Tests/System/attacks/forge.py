"""Builders of tokens: each function returns a function that makes a token for a world."""

import hashlib
import hmac
import math

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from harness.tokens import assemble, b64url, ec_key, json_bytes, jws, parts, rsa_key, signing_input, unb64url

# An outsider's keys, which no provider publishes.
OUTSIDER = rsa_key("outsider")
OUTSIDER_EC = ec_key("outsider")

# The DigestInfo of SHA-256 (RFC 8017, 9.2, note 1).
SHA256_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")


def good(**claims):
    """A valid token with these claims; `None` removes one."""
    return lambda world: world.op.token(**claims)


def signed(kid: str = "rsa", algorithm: str | None = None, **header):
    """Valid claims and a valid signature by one of the provider's keys, with these header members."""
    return lambda world: jws(world.op.key(kid), world.op.claims(), algorithm=algorithm, **header)


def headed(header, kid: str = "rsa", algorithm: str | None = None):
    """A valid signature over exactly this header: a dict, or its JSON text."""
    return lambda world: jws(world.op.key(kid), world.op.claims(), header=header, algorithm=algorithm)


def header_text(text: str):
    """A valid signature over a header with extra JSON text before its closing brace."""
    return headed(f'{{"alg":"RS256","kid":"rsa",{text}}}')


def payload(octets):
    """A valid signature over exactly this payload."""
    return lambda world: jws(world.op.keys[0], octets)


def claim(name: str, text: str, **claims):
    """A valid signature over claims, one of which has exactly this JSON text."""
    return lambda world: with_claim(world.op, name, text, **claims)


def with_claim(issuer, name: str, text: str, **claims) -> str:
    octets = json_bytes(issuer.claims(**({name: None} | claims)))
    return jws(issuer.keys[0], octets[:-1] + f',"{name}":{text}}}'.encode())


def asking(make, **members):
    """A complete request: a token and other members."""
    return lambda world: {"id_token": make(world)} | members


def unsigned(header: dict, signature: bytes = b""):
    """Any header, any signature."""
    return lambda world: assemble(header, world.op.claims(), signature)


def changed(make, change):
    """A token whose parts (header, payload and signature, as text) are changed by a function."""
    return lambda world: ".".join(change(*parts(make(world))))


def resigned(make, change):
    """A token whose signature octets are changed by a function."""
    return changed(make, lambda header, body, signature: (header, body, b64url(change(unb64url(signature)))))


def wrapped(template: str):
    """A valid token within other text."""
    return lambda world: template.format(world.op.token())


def secrets(key) -> dict[str, bytes]:
    """Everything that a confused verifier might use as an HMAC secret."""
    return {
        "PEM": key.pem(),
        "PEM without its newline": key.pem().rstrip(b"\n"),
        "PKCS#1 PEM": key.pem(Encoding.PEM, PublicFormat.PKCS1),
        "DER": key.pem(Encoding.DER),
        "JWK": json_bytes(key.jwk()),
        "modulus": unb64url(key.jwk()["n"]),
    }


def mac(algorithm: str, secret: bytes, issuer, kid: str | None = "rsa") -> str:
    """A token with a MAC by this secret."""
    header = {"alg": algorithm} | ({} if kid is None else {"kid": kid})
    signed_text = signing_input(header, issuer.claims())
    return signed_text.decode() + "." + b64url(hmac.digest(secret, signed_text, "sha" + algorithm[2:]))


class RawRSA:
    """An RSA key with arbitrary numbers, which no library would generate or sign with."""

    kid = None

    def __init__(self, kid: str, modulus: int, private_exponent: int, exponent: int = 65537):
        self.kid = kid
        self.modulus = modulus
        self._private_exponent = private_exponent
        self._exponent = exponent

    default_algorithm = "RS256"

    @classmethod
    def of_primes(cls, kid: str, *primes: int) -> "RawRSA":
        order = math.lcm(*(prime - 1 for prime in primes))
        if len(set(primes)) < len(primes):
            order *= primes[0]
        exponent = next(number for number in range(65537, 66000, 2) if math.gcd(number, order) == 1)
        return cls(kid, math.prod(primes), pow(exponent, -1, order), exponent)

    def jwk(self) -> dict:
        length, exponent_length = ((number.bit_length() + 7) // 8 for number in (self.modulus, self._exponent))
        return {
            "kty": "RSA",
            "kid": self.kid,
            "n": b64url(self.modulus.to_bytes(length, "big")),
            "e": b64url(self._exponent.to_bytes(exponent_length, "big")),
        }

    def sign(self, _algorithm: str, message: bytes) -> bytes:
        """PKCS #1 v1.5 with SHA-256 (RFC 8017, 8.2.1)."""
        length = (self.modulus.bit_length() + 7) // 8
        block = self.block(message, padding=length - len(SHA256_PREFIX) - 32 - 3)
        return pow(int.from_bytes(block, "big"), self._private_exponent, self.modulus).to_bytes(length, "big")

    @staticmethod
    def block(message: bytes, padding: int) -> bytes:
        return b"\0\1" + b"\xff" * padding + b"\0" + SHA256_PREFIX + hashlib.sha256(message).digest()


def under(jwk: dict, key, **members):
    """Publishes this JWK at the hostile provider; returns a token signed with its private key."""

    def make(world) -> str:
        world.publish(jwk)
        return world.by(key, **members)

    return make
