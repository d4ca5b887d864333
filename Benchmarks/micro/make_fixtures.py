"""Makes fixtures.json, the keys and tokens of the micro benchmarks. It was run once, and the file is committed.

usage: make_fixtures.py > fixtures.json

Keys and tokens do not change, because the cost of a verification depends on them a little. The private keys are
discarded.
"""
import base64
import hashlib
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NONCE = "Yb0vXSZ3jUvd3KgCg3cxyWbQ8zFYhJmQ"
# Some benchmarks read the clock, so the tokens must stay valid as long as this file is in use: until 2100.
ISSUED_AT, EXPIRES_AT = 1_700_000_000, 4_102_444_800
CLAIMS = {
    "iss": "https://appleid.apple.com", "aud": "com.example.app", "exp": EXPIRES_AT, "iat": ISSUED_AT,
    "sub": "001234.5a1c6e0f9d3b47c2a8e1f0d2b3c4a596.0917", "nonce": hashlib.sha256(NONCE.encode()).hexdigest(),
    "c_hash": "b8Jm2rUQ1pTqTtWcXkLx4g", "email": "k7x2m9q4w1@privaterelay.appleid.com", "email_verified": "true",
    "is_private_email": "true", "auth_time": ISSUED_AT - 1, "nonce_supported": True, "real_user_status": 2,
}
HASHES = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
CURVES = {"ES256": (ec.SECP256R1(), "P-256", 32), "ES384": (ec.SECP384R1(), "P-384", 48),
          "ES512": (ec.SECP521R1(), "P-521", 66)}
RSA = ("RS256", "RS384", "RS512", "PS256")


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def number(value: int, length: int) -> str:
    return base64url(value.to_bytes(length, "big"))


def compact(value: dict) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def jwk(algorithm: str, key) -> dict:
    """The public key as a JWK, with the algorithm's name as its `kid`."""
    members = {"kid": algorithm, "use": "sig", "alg": algorithm}
    public = key.public_key()
    if algorithm in RSA:
        numbers = public.public_numbers()
        return {"kty": "RSA", **members, "n": number(numbers.n, 256), "e": number(numbers.e, 3)}
    if algorithm in CURVES:
        _, curve, length = CURVES[algorithm]
        numbers = public.public_numbers()
        return {"kty": "EC", **members, "crv": curve, "x": number(numbers.x, length), "y": number(numbers.y, length)}
    octets = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return {"kty": "OKP", **members, "crv": "Ed25519", "x": base64url(octets)}


def sign(algorithm: str, key, message: bytes) -> bytes:
    if algorithm == "EdDSA":
        return key.sign(message)
    digest = HASHES[algorithm[2:]]
    if algorithm in CURVES:
        _, _, length = CURVES[algorithm]
        r, s = decode_dss_signature(key.sign(message, ec.ECDSA(digest)))
        return r.to_bytes(length, "big") + s.to_bytes(length, "big")
    if algorithm == "PS256":
        return key.sign(message, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
    return key.sign(message, padding.PKCS1v15(), digest)


def token(algorithm: str, key, payload: bytes) -> str:
    message = base64url(compact({"kid": algorithm, "alg": algorithm})) + "." + base64url(payload)
    return message + "." + base64url(sign(algorithm, key, message.encode()))


def main() -> None:
    keys = {algorithm: rsa.generate_private_key(65537, 2048) for algorithm in RSA}
    keys |= {algorithm: ec.generate_private_key(curve) for algorithm, (curve, _, _) in CURVES.items()}
    keys["EdDSA"] = ed25519.Ed25519PrivateKey.generate()
    good = {algorithm: token(algorithm, key, compact(CLAIMS)) for algorithm, key in keys.items()}
    payload = compact(CLAIMS)
    refused = {
        "expired": token("RS256", keys["RS256"], compact(CLAIMS | {"exp": ISSUED_AT + 86_400})),
        # The right length, but signed with another key.
        "forged": token("RS256", keys["RS256"], payload).rsplit(".", 1)[0]
        + "." + base64url(sign("RS256", keys["RS384"], payload)),
        # The fault shows at the very last octet of the payload: no malformed token costs more.
        "malformed": token("RS256", keys["RS256"], payload[:-1]),
    }
    print(json.dumps({
        "nonce": NONCE, "tokens": good | refused, "keys": [jwk(algorithm, key) for algorithm, key in keys.items()],
    }, indent=1))


if __name__ == "__main__":
    main()
