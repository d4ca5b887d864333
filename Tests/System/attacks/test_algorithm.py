"""A. The algorithm: the provider chooses it and the key must match it; the token has no say."""

import hashlib

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import good, headed, mac, secrets, signed, under, unsigned
from harness.tokens import assemble, ec_key, jws, parts, rsa_key, signing_input

NOT_ALLOWED = "algorithm_not_allowed"
UNFIT = ("key_not_found", "key_unsuitable")


def by_public_key(algorithm: str, name: str):
    return lambda world: mac(algorithm, secrets(world.op.key("rsa"))[name], world.op)


def of_rs256_only(algorithm: str):
    """A correct signature by the provider's own RSA key, whose JWK has no `alg`."""
    return lambda world: jws(world.rs256_only.key("rsa"), world.rs256_only.claims(), algorithm=algorithm)


def wrong_digest(world) -> str:
    """The header says RS512, but the DigestInfo names SHA-256."""
    key = world.op.key("rsa")
    header, claims = {"alg": "RS512", "kid": "rsa"}, world.op.claims()
    digest = hashlib.sha256(signing_input(header, claims)).digest()
    return assemble(header, claims, key.private.sign(digest, padding.PKCS1v15(), Prehashed(hashes.SHA256())))


def published(key, algorithm: str | None = None, **members):
    return under(key.jwk(**members), key, algorithm=algorithm)


TABLE = [
    (
        "A01",
        NOT_ALLOWED,
        {
            "none": unsigned({"alg": "none", "kid": "rsa"}),
            "nOnE and a leftover": unsigned({"alg": "nOnE", "kid": "rsa"}, b"left over"),
            "None and a good signature": signed(alg="None"),
            "as LemonLDAP::NG sends it": unsigned({"typ": "JWT", "alg": "none"}),
        },
    ),
    ("A01", "token_malformed", {"two parts": lambda world: ".".join(parts(unsigned({"alg": "none"})(world))[:2])}),
    ("A03", NOT_ALLOWED, {f"HS256 by the {name}": by_public_key("HS256", name) for name in secrets(rsa_key("rsa"))}),
    ("A05", NOT_ALLOWED, {"absent": headed('{"kid":"rsa"}'), "a list": headed('{"alg":["RS256"],"kid":"rsa"}')}),
    ("A06", NOT_ALLOWED, {"rs256": signed(alg="rs256"), "full width": signed(alg="ＲＳ256")}),
    ("A07", NOT_ALLOWED, {"PS256": of_rs256_only("PS256")}),
    ("A07", ACCEPTED, {"the one it uses": of_rs256_only("RS256")}),
    ("A09", "key_not_found", {"ES256 naming an RSA key": signed("rsa", alg="ES256")}),
    ("A10", UNFIT, {"ES256 by a P-384 key": signed("P-384", "ES256")}),
    # ES256K can't be configured for a provider, and the algorithm is checked before the key.
    ("A10", NOT_ALLOWED, {"ES256K by a P-256 key": signed("P-256", alg="ES256K")}),
    ("A12", "key_not_found", {"a JWK with alg ES521": published(ec_key("odd"), alg="ES521")}),
    ("A13", "signature_invalid", {"RS512 over SHA-256": wrong_digest}),
    # Additions to the catalogue.
    ("A50", "key_not_found", {"PS256 by a JWK for RS256": published(rsa_key("outsider"), "PS256", alg="RS256")}),
    ("A51", NOT_ALLOWED, {"HS256 by an empty secret": lambda world: mac("HS256", b"", world.op)}),
    ("A51", NOT_ALLOWED, {"HS256 without a kid": lambda world: mac("HS256", world.op.key("rsa").pem(), world.op, None)}),
    (
        "A52",
        NOT_ALLOWED,
        {
            "alg none, the other among the claims": lambda world: assemble(
                {"alg": "none", "kid": "rsa"}, world.op.claims(alg="RS256"), b""
            )
        },
    ),
    ("A52", ACCEPTED, {"alg none among the claims": good(alg="none")}),
    ("A53", "token_malformed", {"alg with a NUL": headed({"alg": "RS256\0", "kid": "rsa"})}),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_a_token_cannot_choose_its_algorithm(world, case):
    world.strike(case)
