"""`algorithm_not_allowed` and `signature_invalid`: what may sign, and what a signature must be."""

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from harness.tokens import (
    ALGORITHMS,
    P256_ORDER,
    assemble,
    b64url,
    json_bytes,
    jws,
    parts,
    rsa_key,
    signing_input,
    unb64url,
)

P256_PRIME = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
P521_ORDER = 2**521 - 657877501894328237357444332315020117536923257219387276263472201219398408051703
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
RSA_ALGORITHMS = [name for name, kind in ALGORITHMS.items() if kind == "rsa"]


def with_signature(token: str, signature: bytes) -> str:
    return ".".join([*parts(token)[:2], b64url(signature)])


def signature_of(token: str) -> bytes:
    return unb64url(parts(token)[2])


# algorithm_not_allowed


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE"])
@pytest.mark.parametrize("signature", [b"", b"left over"])
def test_none_is_not_allowed_in_any_case_of_letters(service, oidc, alg, signature):
    token = assemble({"alg": alg, "kid": oidc.keys[0].kid}, oidc.claims(), signature)
    service.reject(token, "algorithm_not_allowed")
    service.reject(token, "algorithm_not_allowed", provider="oidc")


def test_none_with_two_parts_is_malformed(service, oidc):
    token = assemble({"alg": "none"}, oidc.claims(), b"")
    service.reject(token.removesuffix("."), "token_malformed")


def secrets(key) -> dict:
    """Everything that a confused verifier might take for the secret of an HMAC."""
    spki = key.pem()
    return {
        "PEM": spki,
        "PEM without its last newline": spki.rstrip(b"\n"),
        "PKCS#1 PEM": key.pem(Encoding.PEM, PublicFormat.PKCS1),
        "DER": key.pem(Encoding.DER),
        "JWK": json_bytes(key.jwk()),
        "modulus": unb64url(key.jwk()["n"]),
        "empty": b"",
    }


@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("secret", secrets(rsa_key("rsa")))
def test_a_mac_by_the_public_key_is_not_allowed(service, oidc, alg, secret):
    key = oidc.key("rsa")
    header = {"alg": alg, "kid": key.kid}
    mac = hmac.digest(secrets(key)[secret], signing_input(header, oidc.claims()), "sha" + alg[2:])
    service.reject(assemble(header, oidc.claims(), mac), "algorithm_not_allowed")


@pytest.mark.parametrize(
    "alg",
    ['"alg":null', '"alg":5', '"alg":["RS256"]', '"alg":{"RS256":1}', '"alg":true', '"alg":""', '"x":1'],
)
def test_an_algorithm_that_is_missing_or_no_string_is_not_allowed(service, oidc, alg):
    key = oidc.key("rsa")
    header = f'{{{alg},"kid":"{key.kid}"}}'
    service.reject(jws(key, oidc.claims(), header=header), "algorithm_not_allowed")


@pytest.mark.parametrize(
    "alg",
    [
        "rs256",
        "RS256 ",
        " RS256",
        "RS256\n",
        "ＲＳ256",
        "Rs256",
        "RS-256",
        "RS1",
        "RS2560",
        "ES256K",
        "ES521",
        "A128KW",
        "dir",
        "RSA-OAEP",
    ],
)
def test_an_algorithm_is_compared_byte_for_byte(service, oidc, alg):
    key = oidc.key("rsa")
    service.reject(jws(key, oidc.claims(), header={"alg": alg, "kid": key.kid}), "algorithm_not_allowed")


def test_password_based_encryption_is_refused_before_any_work(service, oidc):
    header = {"alg": "PBES2-HS256+A128KW", "p2c": 4294967295, "p2s": "AAAA"}
    service.reject(assemble(header, oidc.claims(), b"x"), "algorithm_not_allowed")


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "RS256"])
def test_only_the_providers_algorithms_are_allowed(service, world, algorithm):
    issuer = world["rs256-only"]
    key = issuer.key(ALGORITHMS[algorithm])
    service.reject(jws(key, issuer.claims(), algorithm=algorithm), "algorithm_not_allowed")
    service.accept(jws(issuer.key("rsa"), issuer.claims()))


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "ES256"])
def test_settings_can_leave_out_rsa(service, world, algorithm):
    issuer = world["es256-only"]
    service.reject(
        jws(issuer.key(ALGORITHMS[algorithm]), issuer.claims(), algorithm=algorithm), "algorithm_not_allowed"
    )
    service.accept(jws(issuer.key("P-256"), issuer.claims()))


@pytest.mark.parametrize("algorithm", ["ES256", "PS256", "EdDSA"])
def test_the_presets_of_apple_and_google_allow_rs256_alone(service, apple, google, oidc, algorithm):
    for issuer in (apple, google):
        token = jws(oidc.key(ALGORITHMS[algorithm]), issuer.claims(), algorithm=algorithm)
        service.reject(token, "algorithm_not_allowed")


# signature_invalid


@pytest.mark.parametrize("algorithm", ALGORITHMS)
class TestEveryAlgorithm:
    def token(self, issuer, algorithm, **claims) -> str:
        return jws(issuer.key(ALGORITHMS[algorithm]), issuer.claims(**claims), algorithm=algorithm)

    def test_a_good_signature_holds(self, service, oidc, algorithm):
        service.accept(self.token(oidc, algorithm))

    def test_each_changed_bit_of_a_signature_shows(self, service, oidc, algorithm):
        token = self.token(oidc, algorithm)
        signature = signature_of(token)
        for index in (0, 1, len(signature) // 2, len(signature) - 1):
            changed = bytearray(signature)
            changed[index] ^= 1
            service.reject(with_signature(token, bytes(changed)), "signature_invalid")

    def test_a_signature_of_another_length_is_refused(self, service, oidc, algorithm):
        token = self.token(oidc, algorithm)
        signature = signature_of(token)
        for other in (
            b"",
            signature[:-1],
            signature[1:],
            signature + b"\0",
            b"\0" + signature,
            signature * 2,
            signature[:1],
        ):
            service.reject(with_signature(token, other), "signature_invalid")

    def test_constant_signatures_are_refused(self, service, oidc, algorithm):
        token = self.token(oidc, algorithm)
        length = len(signature_of(token))
        for constant in (bytes(length), b"\xff" * length, bytes(length - 1) + b"\1"):
            service.reject(with_signature(token, constant), "signature_invalid")

    def test_a_signature_of_another_token_is_refused(self, service, oidc, algorithm):
        first, second = self.token(oidc, algorithm), self.token(oidc, algorithm, sub="admin")
        service.reject(with_signature(second, signature_of(first)), "signature_invalid")

    def test_another_spelling_of_the_same_json_is_another_message(self, service, oidc, algorithm):
        token = self.token(oidc, algorithm)
        header, payload, signature = parts(token)
        spaced = b64url(unb64url(payload)[:-1] + b" }")
        service.reject(".".join([header, spaced, signature]), "signature_invalid")
        spaced = b64url(b" " + unb64url(header))
        service.reject(".".join([spaced, payload, signature]), "signature_invalid")


@pytest.mark.parametrize("claimed", RSA_ALGORITHMS)
@pytest.mark.parametrize("signed_by", RSA_ALGORITHMS)
def test_an_rsa_signature_holds_under_its_own_name_only(service, oidc, claimed, signed_by):
    """PKCS #1 v1.5 is not PSS, and SHA-256 is not SHA-512, though the key is the same."""
    key = oidc.key("rsa")
    header = {"alg": claimed, "kid": key.kid}
    claims = oidc.claims()
    token = assemble(header, claims, key.sign(signed_by, signing_input(header, claims)))
    if claimed == signed_by:
        service.accept(token)
    else:
        service.reject(token, "signature_invalid")


@pytest.mark.parametrize(
    ("r", "s"),
    [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (P256_ORDER, 1),
        (1, P256_ORDER),
        (P256_ORDER, P256_ORDER),
        (P256_ORDER + 1, 1),
        (1, P256_ORDER + 1),
        (P256_PRIME, 1),
        (1, P256_PRIME),
        (2**256 - 1, 2**256 - 1),
        (P256_ORDER - 1, P256_ORDER - 1),
    ],
)
def test_ecdsa_numbers_out_of_range_are_refused(service, oidc, r, s):
    token = jws(oidc.key("P-256"), oidc.claims())
    service.reject(with_signature(token, r.to_bytes(32, "big") + s.to_bytes(32, "big")), "signature_invalid")


@pytest.mark.parametrize("half", ["r", "s"])
def test_an_ecdsa_number_plus_the_order_is_refused(service, oidc, half):
    """Congruent numbers must not be taken for equal ones, where they fit into the octets at all."""
    key = oidc.key("P-521")
    token = jws(key, oidc.claims())
    signature = signature_of(token)
    r, s = int.from_bytes(signature[:66], "big"), int.from_bytes(signature[66:], "big")
    r, s = (r + P521_ORDER, s) if half == "r" else (r, s + P521_ORDER)
    service.reject(with_signature(token, r.to_bytes(66, "big") + s.to_bytes(66, "big")), "signature_invalid")


def test_a_der_signature_is_refused(service, oidc):
    token = jws(oidc.key("P-256"), oidc.claims())
    signature = signature_of(token)
    der = encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    for other in (der, der[:64], der.ljust(64, b"\0"), signature.hex().encode()):
        service.reject(with_signature(token, other), "signature_invalid")


def test_the_twin_of_an_ecdsa_signature_holds(service, oidc):
    """(r, n - s) is as good a signature as (r, s): RFC 7518 does not ask for the lower one."""
    token = jws(oidc.key("P-256"), oidc.claims())
    signature = signature_of(token)
    twin = P256_ORDER - int.from_bytes(signature[32:], "big")
    service.accept(with_signature(token, signature[:32] + twin.to_bytes(32, "big")))


def test_an_ed25519_signature_with_s_beyond_the_order_is_refused(service, oidc):
    token = jws(oidc.key("Ed25519"), oidc.claims())
    signature = signature_of(token)
    s = int.from_bytes(signature[32:], "little") + ED25519_ORDER
    service.reject(with_signature(token, signature[:32] + s.to_bytes(32, "little")), "signature_invalid")


def test_rsa_numbers_out_of_range_are_refused(service, oidc):
    key = oidc.key("rsa")
    token = jws(key, oidc.claims())
    modulus = key.private.public_key().public_numbers().n
    signature = int.from_bytes(signature_of(token), "big")
    numbers = [0, 1, modulus - 1, modulus, modulus + 1, 2**2048 - 1]
    if signature + modulus < 2**2048:
        numbers.append(signature + modulus)
    for number in numbers:
        service.reject(with_signature(token, number.to_bytes(256, "big")), "signature_invalid")


def test_a_digest_of_another_hash_is_refused(service, oidc):
    """RS512 said, but the signature's DigestInfo names SHA-256."""
    key = oidc.key("rsa")
    header = {"alg": "RS512", "kid": key.kid}
    signed = signing_input(header, oidc.claims())
    signature = key.private.sign(hashlib.sha256(signed).digest(), padding.PKCS1v15(), Prehashed(hashes.SHA256()))
    service.reject(assemble(header, oidc.claims(), signature), "signature_invalid")


@pytest.mark.parametrize("salt", [0, 20, 31, 33, padding.PSS.MAX_LENGTH])
def test_a_pss_salt_of_another_length_than_the_hash_is_refused(service, oidc, salt):
    key = oidc.key("rsa")
    header = {"alg": "PS256", "kid": key.kid}
    digest = hashes.SHA256()
    signature = key.private.sign(signing_input(header, oidc.claims()), padding.PSS(padding.MGF1(digest), salt), digest)
    service.reject(assemble(header, oidc.claims(), signature), "signature_invalid")


def test_a_pss_mask_by_another_hash_is_refused(service, oidc):
    key = oidc.key("rsa")
    header = {"alg": "PS256", "kid": key.kid}
    signed = signing_input(header, oidc.claims())
    signature = key.private.sign(signed, padding.PSS(padding.MGF1(hashes.SHA1()), 32), hashes.SHA256())
    service.reject(assemble(header, oidc.claims(), signature), "signature_invalid")


def test_an_outsiders_key_under_a_known_key_id_is_refused(service, oidc):
    outsider = rsa_key("outsider")
    service.reject(jws(outsider, oidc.claims(), kid="rsa"), "signature_invalid")


def test_a_bad_signature_is_reported_before_any_claim(service, oidc):
    token = oidc.token(exp=1, aud="someone else", sub="")
    signature = bytes(256)
    service.reject(with_signature(token, signature), "signature_invalid")


def test_good_tokens_pass_after_any_number_of_bad_ones(service, oidc):
    """A failed check must leave nothing behind that blames the next one."""
    for algorithm, kind in ALGORITHMS.items():
        token = jws(oidc.key(kind), oidc.claims(), algorithm=algorithm)
        for other in (bytes(len(signature_of(token))), b"", b"\xff" * len(signature_of(token))):
            service.reject(with_signature(token, other), "signature_invalid")
            service.accept(token)
