"""Makes keys and a pool of Apple-like ID Tokens for the load benchmark.

usage: mint.py DIRECTORY [COUNT]
Writes {RS256,ES256}.tsv (token, tab, raw nonce), {RS256,ES256}.pem (public keys) and jwks.json.
"""
import base64
import hashlib
import json
import pathlib
import secrets
import sys
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ISSUER = "https://appleid.apple.com"
AUDIENCE = "com.example.app"


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def number(value: int, length: int) -> str:
    return base64url(value.to_bytes(length, "big"))


def claims(index: int, nonce: str, now: int) -> dict:
    return {
        "iss": ISSUER, "aud": AUDIENCE, "exp": now + 300 * 86400, "iat": now - 5,
        "sub": f"{index:06d}.{secrets.token_hex(16)}.{index % 10000:04d}",
        "nonce": hashlib.sha256(nonce.encode()).hexdigest(), "c_hash": secrets.token_urlsafe(16),
        "email": f"{secrets.token_hex(5)}@privaterelay.appleid.com", "email_verified": "true",
        "is_private_email": "true", "auth_time": now - 6, "nonce_supported": True, "real_user_status": 2,
    }


def sign_rs256(key, message: bytes) -> bytes:
    return key.sign(message, padding.PKCS1v15(), hashes.SHA256())


def sign_es256(key, message: bytes) -> bytes:
    r, s = decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def main(directory: pathlib.Path, count: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    rsa_key = rsa.generate_private_key(65537, 2048)
    ec_key = ec.generate_private_key(ec.SECP256R1())
    rsa_numbers, ec_numbers = rsa_key.public_key().public_numbers(), ec_key.public_key().public_numbers()
    keys = [
        {"kty": "RSA", "kid": "pyaRQpAbnY", "use": "sig", "alg": "RS256",
         "n": number(rsa_numbers.n, 256), "e": number(rsa_numbers.e, 3)},
        {"kty": "EC", "kid": "ES2026key1", "use": "sig", "alg": "ES256", "crv": "P-256",
         "x": number(ec_numbers.x, 32), "y": number(ec_numbers.y, 32)},
    ]
    (directory / "jwks.json").write_text(json.dumps({"keys": keys}))
    now = int(time.time())
    for algorithm, key, key_id, sign in (
        ("RS256", rsa_key, "pyaRQpAbnY", sign_rs256), ("ES256", ec_key, "ES2026key1", sign_es256)
    ):
        header = base64url(json.dumps({"kid": key_id, "alg": algorithm}, separators=(",", ":")).encode())
        with open(directory / f"{algorithm}.tsv", "w") as pool:
            for index in range(count):
                nonce = secrets.token_urlsafe(24)
                payload = base64url(json.dumps(claims(index, nonce, now), separators=(",", ":")).encode())
                message = f"{header}.{payload}"
                pool.write(f"{message}.{base64url(sign(key, message.encode()))}\t{nonce}\n")
        pem = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        (directory / f"{algorithm}.pem").write_bytes(pem)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
