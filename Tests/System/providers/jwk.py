"""Keys as JWKs, for providers that import their keys, and to check signatures without Assay. Clients' keys are in PEM."""

import base64
import secrets

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

# Every algorithm that Assay supports, except Ed448, which no provider here supports.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

_HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
_CURVES = {
    "ES256": ("P-256", ec.SECP256R1),
    "ES384": ("P-384", ec.SECP384R1),
    "ES512": ("P-521", ec.SECP521R1),
}


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _encode_integer(value: int, length: int | None = None) -> str:
    return encode(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


def _decode_integer(text: str) -> int:
    return int.from_bytes(decode(text), "big")


def new_private_jwk(algorithm: str, key_id: str) -> dict[str, str]:
    """A private key or a secret for a JWS algorithm."""
    return {"kid": key_id, "alg": algorithm, "use": "sig"} | _new_key(algorithm)


def _new_key(algorithm: str) -> dict[str, str]:
    if algorithm == "EdDSA":
        key = ed25519.Ed25519PrivateKey.generate()
        public = key.public_key().public_bytes_raw()
        return {"kty": "OKP", "crv": "Ed25519", "x": encode(public), "d": encode(key.private_bytes_raw())}
    if algorithm == "HS256":
        return {"kty": "oct", "k": encode(secrets.token_bytes(32))}
    if algorithm in _CURVES:
        curve, parameters = _CURVES[algorithm]
        numbers = ec.generate_private_key(parameters()).private_numbers()
        length = (parameters.key_size + 7) // 8
        point = numbers.public_numbers
        coordinates = {"x": point.x, "y": point.y, "d": numbers.private_value}
        return {"kty": "EC", "crv": curve} | {
            name: _encode_integer(value, length) for name, value in coordinates.items()
        }
    numbers = rsa.generate_private_key(65537, 2048).private_numbers()
    parts = {
        "n": numbers.public_numbers.n, "e": numbers.public_numbers.e, "d": numbers.d, "p": numbers.p, "q": numbers.q,
        "dp": numbers.dmp1, "dq": numbers.dmq1, "qi": numbers.iqmp,
    }
    return {"kty": "RSA"} | {name: _encode_integer(value) for name, value in parts.items()}


def new_client_key() -> ec.EllipticCurvePrivateKey:
    """A key for a client's assertions."""
    return ec.generate_private_key(ec.SECP256R1())


def public_pem(key: ec.EllipticCurvePrivateKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def private_pem(key: ec.EllipticCurvePrivateKey) -> str:
    """The key in PKCS#8, which Assay reads."""
    form, encryption = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, encryption).decode()


def signature_holds(jwk: dict[str, str], algorithm: str, signature: bytes, signed: bytes) -> bool:
    """Whether the key has made a JWS signature, according to the `cryptography` package."""
    try:
        _check_signature(jwk, algorithm, signature, signed)
    except InvalidSignature:
        return False
    return True


def _check_signature(jwk: dict[str, str], algorithm: str, signature: bytes, signed: bytes) -> None:
    if algorithm in ("EdDSA", "Ed25519"):
        ed25519.Ed25519PublicKey.from_public_bytes(decode(jwk["x"])).verify(signature, signed)
        return
    digest = _HASHES[algorithm[2:]]()
    if algorithm in _CURVES:
        numbers = ec.EllipticCurvePublicNumbers(
            _decode_integer(jwk["x"]), _decode_integer(jwk["y"]), _CURVES[algorithm][1]()
        )
        half = len(signature) // 2
        r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
        numbers.public_key().verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(digest))
        return
    key = rsa.RSAPublicNumbers(_decode_integer(jwk["e"]), _decode_integer(jwk["n"])).public_key()
    if algorithm.startswith("PS"):
        scheme = padding.PSS(padding.MGF1(digest), padding.PSS.DIGEST_LENGTH)
    else:
        scheme = padding.PKCS1v15()
    key.verify(signature, signed, scheme, digest)
