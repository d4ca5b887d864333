"""Makes encrypted.json, the encryption keys and encrypted tokens of the micro benchmarks. It was run once, and the file is committed.

usage: .venv/bin/python make_encrypted.py > encrypted.json

The keys are in no other use. Every token has the ES256 token of fixtures.json inside. Those of which nothing can be opened:
`other` is encrypted to a key that is not in the file; `length` to the right key, but the content's key is too short; in
`zero`, the first octet of the padded key is 0 as it must be, but nothing after it is right.
"""
import base64
import json
import pathlib
import secrets

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jwcrypto import jwe, jwk

FIXTURES = json.loads(pathlib.Path(__file__).with_name("fixtures.json").read_text())
TOKEN = FIXTURES["tokens"]["ES256"]
KEYS = {
    "P-256": (lambda: jwk.JWK.generate(kty="EC", crv="P-256"), ["ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A256KW"]),
    "X25519": (lambda: jwk.JWK.generate(kty="OKP", crv="X25519"), ["ECDH-ES+A256KW"]),
    "RSA": (lambda: jwk.JWK.generate(kty="RSA", size=2048), ["RSA-OAEP", "RSA-OAEP-256"]),
}
FAMILIES = [
    ("ECDH-ES", "A128GCM", "P-256"), ("ECDH-ES+A256KW", "A256GCM", "P-256"), ("ECDH-ES+A128KW", "A256CBC-HS512", "P-256"),
    ("ECDH-ES+A256KW", "A256GCM", "X25519"), ("RSA-OAEP", "A128CBC-HS256", "RSA"), ("RSA-OAEP-256", "A256GCM", "RSA"),
]  # fmt: skip
OAEP = {
    "RSA-OAEP": padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None),
    "RSA-OAEP-256": padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None),
}


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def unbase64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encrypt(algorithm: str, content: str, key: jwk.JWK, key_id: str) -> str:
    header = {"alg": algorithm, "enc": content, "cty": "JWT", "kid": key_id}
    token = jwe.JWE(TOKEN.encode(), json.dumps(header), algs=[algorithm, content])
    token.add_recipient(jwk.JWK.from_json(key.export_public()))
    return token.serialize(compact=True)


def with_key(token: str, encrypted_key: bytes) -> str:
    parts = token.split(".")
    return ".".join([parts[0], base64url(encrypted_key), *parts[2:]])


def zero(key: jwk.JWK) -> bytes:
    numbers = key.get_op_key("encrypt").public_numbers()
    padded = b"\0" + secrets.token_bytes(255)
    return pow(int.from_bytes(padded, "big"), numbers.e, numbers.n).to_bytes(256, "big")


def bare(key: jwk.JWK) -> dict:
    """A key agreement and a signature check, in the forms that OpenSSL reads."""
    public = next(each for each in FIXTURES["keys"] if each["kid"] == "ES256")
    signed, signature = TOKEN.rsplit(".", 1)
    octets = unbase64url(signature)
    checked = jwk.JWK(**{name: public[name] for name in ("kty", "crv", "x", "y")}).get_op_key("verify")
    return {
        "private_key": base64url(
            key.get_op_key("unwrapKey").private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())),
        "sender": base64url(
            ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)),
        "public_key": base64url(checked.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)),
        "message": signed,
        "signature": base64url(
            encode_dss_signature(int.from_bytes(octets[:32], "big"), int.from_bytes(octets[32:], "big"))),
    }  # fmt: skip


def main() -> None:
    keys = {name: generate() for name, (generate, _) in KEYS.items()}
    tokens = {}
    for algorithm, content, name in FAMILIES:
        family = f"{algorithm}.{content}.{name}"
        tokens[family] = encrypt(algorithm, content, keys[name], name)
        tokens[f"{family}.other"] = encrypt(algorithm, content, KEYS[name][0](), name)
        if name == "RSA":
            public = keys[name].get_op_key("encrypt")
            tokens[f"{family}.length"] = with_key(tokens[family], public.encrypt(secrets.token_bytes(16), OAEP[algorithm]))
            tokens[f"{family}.zero"] = with_key(tokens[family], zero(keys[name]))
    print(json.dumps({
        "keys": [{
            "id": name, "algorithms": KEYS[name][1],
            "pem": key.export_to_pem(private_key=True, password=None).decode(),
        } for name, key in keys.items()],
        "tokens": tokens, "bare": bare(keys["P-256"]),
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
