"""Makes tokens.json, the tokens of these tests. It was run once, and the file is committed. The private keys are discarded, but for the
one that makes client secrets, which belongs to nobody.

usage: make_tokens.py > tokens.json
"""

import base64
import hashlib
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

ISSUED_AT = 1_700_000_000


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def compact(value: dict) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def jwk(key) -> dict:
    numbers = key.public_key().public_numbers()
    x, y = (base64url(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
    return {"crv": "P-256", "kty": "EC", "x": x, "y": y}


def sign(key, header: dict, claims: dict) -> str:
    message = base64url(compact(header)) + "." + base64url(compact(claims))
    r, s = decode_dss_signature(key.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
    return message + "." + base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def main() -> None:
    provider, client, team = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    common = {"iss": "https://sso.example", "sub": "user", "iat": ISSUED_AT, "exp": ISSUED_AT + 3600, "jti": "1"}
    access = common | {
        "aud": "https://api.example.com", "client_id": "app", "scope": "orders:read orders:write", "tenant": "t1",
    }
    bound = access | {"cnf": {"jkt": base64url(hashlib.sha256(compact(jwk(client))).digest())}}
    logout = common | {
        "aud": "client", "sid": "s1", "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    }

    def token(kind: str, claims: dict) -> str:
        return sign(provider, {"alg": "ES256", "kid": "k1", "typ": kind}, claims)

    bound_token = token("at+jwt", bound)
    proof = {
        "jti": "p1", "htm": "GET", "htu": "https://api.example.com/orders", "iat": ISSUED_AT + 10,
        "ath": base64url(hashlib.sha256(bound_token.encode()).digest()),
    }
    print(json.dumps({
        "keys": [jwk(provider) | {"kid": "k1", "alg": "ES256"}],
        "access": token("at+jwt", access),
        "bound": bound_token,
        "proof": sign(client, {"alg": "ES256", "typ": "dpop+jwt", "jwk": jwk(client)}, proof),
        "logout": token("logout+jwt", logout),
        "teamKey": team.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "teamKeys": [jwk(team) | {"kid": "ABC123DEFG", "alg": "ES256"}],
    }, indent=1))


if __name__ == "__main__":
    main()
