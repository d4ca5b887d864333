"""Keys and tokens: a JOSE implementation on top of `cryptography`, independent of the service.

It signs anything. Header and payload may be raw bytes, so that malformed tokens can have valid signatures.
"""

import base64
import functools
import hashlib
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
CURVES = {"P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1, "secp256k1": ec.SECP256K1}
CURVE_NAMES = {
    "secp256r1": "P-256",
    "secp384r1": "P-384",
    "secp521r1": "P-521",
    "secp256k1": "secp256k1",
}
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

# Every algorithm in the contract, with the name of its key.
ALGORITHMS = {
    "RS256": "rsa",
    "RS384": "rsa",
    "RS512": "rsa",
    "PS256": "rsa",
    "PS384": "rsa",
    "PS512": "rsa",
    "ES256": "P-256",
    "ES384": "P-384",
    "ES512": "P-521",
    "EdDSA": "Ed25519",
    "Ed25519": "Ed25519",
    "Ed448": "Ed448",
}


def b64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def unb64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def integer(number: int, length: int | None = None) -> str:
    length = (number.bit_length() + 7) // 8 if length is None else length
    return b64url(number.to_bytes(length, "big"))


class Key:
    """A private key, and the `kid` under which its public key is published."""

    def __init__(self, private, kid: str | None):
        self.private = private
        self.kid = kid

    @property
    def default_algorithm(self) -> str:
        if isinstance(self.private, rsa.RSAPrivateKey):
            return "RS256"
        if isinstance(self.private, ec.EllipticCurvePrivateKey):
            size = self.private.curve.key_size
            return {256: "ES256", 384: "ES384", 521: "ES512"}[size]
        return "EdDSA"

    def jwk(self, **members) -> dict:
        """The public key as a JWK with `kid` and `use`. A member that is `None` is omitted."""
        public = self.private.public_key()
        if isinstance(self.private, rsa.RSAPrivateKey):
            numbers = public.public_numbers()
            jwk = {"kty": "RSA", "n": integer(numbers.n), "e": integer(numbers.e)}
        elif isinstance(self.private, ec.EllipticCurvePrivateKey):
            numbers = public.public_numbers()
            length = (self.private.curve.key_size + 7) // 8
            jwk = {
                "kty": "EC",
                "crv": CURVE_NAMES[self.private.curve.name],
                "x": integer(numbers.x, length),
                "y": integer(numbers.y, length),
            }
        else:
            raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
            jwk = {"kty": "OKP", "crv": "Ed448" if len(raw) == 57 else "Ed25519", "x": b64url(raw)}
        jwk |= {"use": "sig"}
        if self.kid is not None:
            jwk["kid"] = self.kid
        return {name: value for name, value in (jwk | members).items() if value is not None}

    def sign(self, algorithm: str, message: bytes) -> bytes:
        family, size = algorithm[:2], algorithm[2:]
        if family == "RS":
            return self.private.sign(message, padding.PKCS1v15(), HASHES[size]())
        if family == "PS":
            digest = HASHES[size]()
            return self.private.sign(message, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
        if family == "ES":
            der = self.private.sign(message, ec.ECDSA(HASHES[size.rstrip("K")]()))
            length = (self.private.curve.key_size + 7) // 8
            return b"".join(half.to_bytes(length, "big") for half in decode_dss_signature(der))
        return self.private.sign(message)

    def pem(self, encoding=serialization.Encoding.PEM, form=serialization.PublicFormat.SubjectPublicKeyInfo) -> bytes:
        return self.private.public_key().public_bytes(encoding, form)


@functools.cache
def rsa_key(kid: str | None = "rsa", bits: int = 2048) -> Key:
    """An RSA key. Returns the same one for the same arguments, because generating keys is slow."""
    return Key(rsa.generate_private_key(65537, bits), kid)


@functools.cache
def ec_key(kid: str | None = "ec", curve: str = "P-256") -> Key:
    return Key(ec.generate_private_key(CURVES[curve]()), kid)


@functools.cache
def ed_key(kid: str | None = "ed", curve: str = "Ed25519") -> Key:
    module = ed448.Ed448PrivateKey if curve == "Ed448" else ed25519.Ed25519PrivateKey
    return Key(module.generate(), kid)


def key_for(kind: str, kid: str | None = None) -> Key:
    """The key with this name in `ALGORITHMS`."""
    kid = kid or kind
    if kind == "rsa":
        return rsa_key(kid)
    return ed_key(kid, kind) if kind.startswith("Ed") else ec_key(kid, kind)


def json_bytes(value) -> bytes:
    """Returns bytes and text unchanged, and anything else as compact JSON."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def signing_input(header, payload) -> bytes:
    return (b64url(json_bytes(header)) + "." + b64url(json_bytes(payload))).encode()


def assemble(header, payload, signature: bytes) -> str:
    """The compact serialization of any header, payload and signature."""
    return signing_input(header, payload).decode() + "." + b64url(signature)


def jws(key: Key, payload, *, algorithm: str | None = None, header=None, **members) -> str:
    """A correctly signed compact JWS.

    `header` replaces the whole header (a dict, or raw bytes). `members` change the usual header; `None` removes one.
    """
    algorithm = algorithm or key.default_algorithm
    if header is None:
        usual = {"alg": algorithm, "kid": key.kid, "typ": "JWT"} | members
        header = {name: value for name, value in usual.items() if value is not None}
    signed = signing_input(header, payload)
    return signed.decode() + "." + b64url(key.sign(algorithm, signed))


def parts(token: str) -> tuple[str, str, str]:
    header, payload, signature = token.split(".")
    return header, payload, signature


def now() -> int:
    return int(time.time())


def sha256_hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_base64url(text: str) -> str:
    return b64url(hashlib.sha256(text.encode()).digest())


def half_hash(text: str, algorithm: str, curve: str = "Ed25519") -> str:
    """`at_hash` or `c_hash` of a value (OpenID Connect Core 3.1.3.6)."""
    octets = text.encode()
    if algorithm in ("EdDSA", "Ed25519", "Ed448"):
        digest = hashlib.shake_256(octets).digest(114) if curve == "Ed448" else hashlib.sha512(octets).digest()
    else:
        digest = hashlib.new("sha" + algorithm[2:5], octets).digest()
    return b64url(digest[: len(digest) // 2])
