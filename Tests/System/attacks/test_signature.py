"""S. Signatures: one encoding per algorithm, every number in range, and valid only for the signed message."""

import itertools
import json

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import RawRSA, changed, good, resigned, signed
from harness.tokens import ALGORITHMS, P256_ORDER, assemble, b64url, jws, parts, signing_input, unb64url

INVALID = "signature_invalid"
P521_ORDER = 2**521 - 657877501894328237357444332315020117536923257219387276263472201219398408051703
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
ED448_ORDER = 2**446 - 13818066809895115352007386748515426880336692474882178609894547503885



def token(algorithm: str):
    return signed(ALGORITHMS[algorithm], algorithm)


def numbers(r: int, s: int, algorithm: str = "ES256", length: int = 32):
    """An ECDSA signature with exactly these numbers."""
    return resigned(token(algorithm), lambda _: r.to_bytes(length, "big") + s.to_bytes(length, "big"))


def halves(signature: bytes) -> tuple[int, int]:
    middle = len(signature) // 2
    return int.from_bytes(signature[:middle], "big"), int.from_bytes(signature[middle:], "big")


def fixed(r: int, s: int, length: int) -> bytes:
    return r.to_bytes(length, "big") + s.to_bytes(length, "big")


def der(signature: bytes) -> bytes:
    return encode_dss_signature(*halves(signature))


def rsa_number(number):
    """An RSA signature that is a number of 256 octets, computed from the modulus."""

    def make(world) -> str:
        modulus = world.op.key("rsa").private.public_key().public_numbers().n
        return resigned(token("RS256"), lambda _: (number(modulus) % 2**2048).to_bytes(256, "big"))(world)

    return make


def of_small_number(limit: int, change):
    """A token whose signature happens to be a number below this limit. `change` receives the number and the modulus."""

    def make(world) -> str:
        key = world.op.key("rsa")
        modulus = key.private.public_key().public_numbers().n
        tokens = (parts(world.op.token(jti=str(number))) for number in itertools.count())
        numbers = (
            (header, payload, int.from_bytes(unb64url(signature), "big")) for header, payload, signature in tokens
        )
        fitting = (found for found in numbers if found[2] < limit and found[2] + modulus < 2**2048)
        header, payload, number = next(fitting)
        return ".".join([header, payload, b64url(change(number, modulus))])

    return make


def plus_modulus(number: int, modulus: int) -> bytes:
    return (number + modulus).to_bytes(256, "big")


def without_leading_zero(number: int, _modulus: int) -> bytes:
    return number.to_bytes(255, "big")


def by_another_name(claimed: str, algorithm: str):
    """The same RSA key, with another padding or hash than the header says."""

    def make(world) -> str:
        header, claims = {"alg": claimed, "kid": "rsa"}, world.op.claims()
        return assemble(header, claims, world.op.key("rsa").sign(algorithm, signing_input(header, claims)))

    return make


def pss(salt, mask=hashes.SHA256):
    def make(world) -> str:
        header, claims = {"alg": "PS256", "kid": "rsa"}, world.op.claims()
        options = padding.PSS(padding.MGF1(mask()), salt)
        key = world.op.key("rsa").private
        return assemble(header, claims, key.sign(signing_input(header, claims), options, hashes.SHA256()))

    return make


def add_to_s(order: int, length: int):
    """An EdDSA signature with S + L in place of S."""

    def change(signature: bytes) -> bytes:
        s = int.from_bytes(signature[length:], "little") + order
        return signature[:length] + s.to_bytes(len(signature) - length, "little")

    return change


# Encodings of points of small order; `Tests/OpenSSLTests/PublicKeyTests.swift` has all of them.
ED25519_POINTS = {
    "the identity": b"\1" + bytes(31),
    "of order 8": bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
}


def small_order(point: bytes, r: bytes = b"\1" + bytes(31)):
    """With a key of small order, a small R with S = 0 is a valid signature for many messages."""

    def make(world) -> str:
        world.publish({"kty": "OKP", "crv": "Ed25519", "x": b64url(point), "kid": "small"})
        return assemble({"alg": "EdDSA", "kid": "small"}, world.hostile.claims(), r + bytes(32))

    return make


def moved(change):
    """A valid signature with other text: `change` receives the JSON of header and payload."""

    def move(header: str, payload: str, signature: str):
        octets = change(unb64url(header), unb64url(payload))
        return *map(b64url, octets), signature

    return move


def reordered(octets: bytes) -> bytes:
    return json.dumps(dict(reversed(json.loads(octets).items())), separators=(",", ":")).encode()


MOVES = {
    "space in the payload": lambda header, payload: (header, payload[:-1] + b" }"),
    "the payload's order": lambda header, payload: (header, reordered(payload)),
    "the header's order": lambda header, payload: (reordered(header), payload),
    "another subject": lambda header, payload: (header, payload.replace(b'"user-1"', b'"admin"')),
}


def cube_root_forgery(world) -> str:
    """Bleichenbacher's forgery for e = 3: the block starts correctly, and the rest is chosen to make it a cube."""
    modulus = world.op.key("rsa").private.public_key().public_numbers().n
    key = RawRSA("cube", modulus, 1, exponent=3)
    world.publish(key.jwk())
    header, claims = {"alg": "RS256", "kid": "cube"}, world.hostile.claims()
    block = key.block(signing_input(header, claims), padding=8).ljust(256, b"\0")
    return assemble(header, claims, cube_root_above(int.from_bytes(block, "big")).to_bytes(256, "big"))


def cube_root_above(number: int) -> int:
    low, high = 0, 1 << (number.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**3 < number else (low, middle)
    return low


TABLE = [
    (
        "S01",
        INVALID,
        {
            "both zero": numbers(0, 0),
            "r = n": numbers(P256_ORDER, 1),
            "r + n where it fits": resigned(
                token("ES512"), lambda old: fixed(halves(old)[0] + P521_ORDER, halves(old)[1], 66)
            ),
            "s + n where it fits": resigned(
                token("ES512"), lambda old: fixed(halves(old)[0], halves(old)[1] + P521_ORDER, 66)
            ),
        },
    ),
    (
        "S02",
        INVALID,
        {
            "DER": resigned(token("ES256"), der),
            "halves swapped": resigned(token("ES256"), lambda old: old[32:] + old[:32]),
            "a longer pair of halves": resigned(token("ES256"), lambda old: b"\0" + old[:32] + b"\0" + old[32:]),
            "little-endian": resigned(token("ES256"), lambda old: old[31::-1] + old[:31:-1]),
        },
    ),
    (
        "S04",
        ACCEPTED,
        {"(r, n - s)": resigned(token("ES256"), lambda old: fixed(halves(old)[0], P256_ORDER - halves(old)[1], 32))},
    ),
    (
        "S04",
        INVALID,
        {"(n - r, s)": resigned(token("ES256"), lambda old: fixed(P256_ORDER - halves(old)[0], halves(old)[1], 32))},
    ),
    (
        "S06",
        INVALID,
        {
            "n": rsa_number(lambda n: n),
            "1": rsa_number(lambda n: 1),
            "the signature plus n": of_small_number(2**2048, plus_modulus),
            "a leading zero less": of_small_number(2**2040, without_leading_zero),
            "little-endian": resigned(token("RS256"), lambda old: old[::-1]),
        },
    ),
    ("S08", INVALID, {"PS256 as RS256": by_another_name("RS256", "PS256"), "RS256 as PS256": by_another_name("PS256", "RS256")}),
    (
        "S10",
        INVALID,
        {
            "S + L, Ed25519": resigned(token("EdDSA"), add_to_s(ED25519_ORDER, 32)),
            "S + L, Ed448": resigned(token("Ed448"), add_to_s(ED448_ORDER, 57)),
            "R not canonical": resigned(token("EdDSA"), lambda old: b"\xee" + b"\xff" * 30 + b"\x7f" + old[32:]),
            "R the identity": resigned(token("EdDSA"), lambda old: b"\1" + bytes(31) + old[32:]),
        },
    ),
    ("S10", "key_unsuitable", {f"key and R {name}": small_order(point, point) for name, point in ED25519_POINTS.items()}),
    ("S11", INVALID, {name: changed(good(), moved(change)) for name, change in MOVES.items()}),
    # Additions to the catalogue.
    ("S50", INVALID, {"nothing": resigned(token("ES256"), lambda _: b"")}),
    ("S50", ACCEPTED, {f"{name}, nothing changed": token(name) for name in ALGORITHMS}),
    (
        "S51",
        INVALID,
        {"PSS salt as long as can be": pss(padding.PSS.MAX_LENGTH), "PSS mask by SHA-512": pss(32, hashes.SHA512)}
        | {f"PSS salt of {salt}": pss(salt) for salt in (0, 20, 31, 33)},
    ),
    ("S52", INVALID, {"a cube for e = 3": cube_root_forgery}),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_a_signature_is_valid_in_one_form_and_for_one_message(world, case):
    world.strike(case)


@pytest.mark.parametrize("name", [pytest.param(name, id=f"S53-{name}") for name in ALGORITHMS])
def test_failed_checks_do_not_affect_the_next(world, name):
    for forge in (lambda old: bytes(len(old)), lambda _: b"", lambda old: b"\xff" * len(old)):
        world.expect(resigned(token(name), forge)(world), INVALID)
        world.expect(token(name)(world), ACCEPTED)


@pytest.mark.parametrize("name", [pytest.param(name, id=f"S54-{name}") for name in ALGORITHMS])
def test_a_cached_header_does_not_validate_another_signature(world, name):
    """A cached header is not parsed again, but everything after it is still checked."""
    key = world.op.key(ALGORITHMS[name])
    first = jws(key, world.op.claims(), algorithm=name)
    world.expect(first, ACCEPTED)
    second = jws(key, world.op.claims(sub="admin"), algorithm=name)
    world.expect(".".join([*parts(second)[:2], parts(first)[2]]), INVALID)
    world.expect(".".join([*parts(first)[:2], parts(second)[2]]), INVALID)
    world.expect(second, ACCEPTED)
