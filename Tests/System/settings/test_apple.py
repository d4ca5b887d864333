"""`assay apple client-secret`."""

import json
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from harness.service import run
from harness.tokens import unb64url


def pem(key, form=serialization.PrivateFormat.PKCS8, password: bytes | None = None) -> bytes:
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, encryption)


@pytest.fixture
def key():
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def client_secret(tmp_path):
    def call(contents: bytes, *options: str):
        file = tmp_path / "AuthKey_XYZ123ABCD.p8"
        file.write_bytes(contents)
        ids = ("--team-id", "ABCDE12345", "--key-id", "XYZ123ABCD", "--client-id", "com.example.app")
        return run("apple", "client-secret", "--key-file", str(file), *ids, *options)

    return call


def test_the_secret_follows_apples_documentation(client_secret, key):
    begun = int(time.time())
    result = client_secret(pem(key), "--lifetime", "600")
    assert result.returncode == 0, result.stderr
    header, claims, signature = result.stdout.decode().strip().split(".")
    assert json.loads(unb64url(header)) == {"alg": "ES256", "kid": "XYZ123ABCD"}
    found = json.loads(unb64url(claims))
    assert found.pop("iat") in range(begun - 30, begun + 30)
    assert found.pop("exp") in range(begun + 600, begun + 660)
    assert found == {"iss": "ABCDE12345", "aud": "https://appleid.apple.com", "sub": "com.example.app"}
    # r and s at full length, because Apple refuses DER.
    octets = unb64url(signature)
    assert len(octets) == 64
    r, s = (int.from_bytes(part, "big") for part in (octets[:32], octets[32:]))
    signed = f"{header}.{claims}".encode()
    key.public_key().verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))


def test_an_invalid_key_is_refused_with_a_reason(client_secret, key):
    other = ec.generate_private_key(ec.SECP384R1())
    for contents, told in [
        (b"", "it holds no private key"),
        (pem(key, password=b"secret"), "the private key is encrypted"),
        (pem(key, serialization.PrivateFormat.TraditionalOpenSSL), "convert it with `openssl pkcs8 -topk8 -nocrypt`"),
        (pem(other), "the key is not on the curve P-256"),
    ]:
        result = client_secret(contents)
        assert result.returncode == 1, result
        assert told in result.stderr.decode()
        assert result.stdout == b""


@pytest.mark.parametrize(
    "option", [("--lifetime", "15777001"), ("--lifetime", "0"), ("--team-id", "abcde12345"), ("--key-id", "XYZ")]
)
def test_options_that_apple_would_refuse_are_refused(client_secret, key, option):
    assert client_secret(pem(key), *option).returncode == 64
