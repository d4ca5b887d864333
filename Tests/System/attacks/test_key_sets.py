"""J. Key material that a broken or hostile provider may publish."""

import json
import string
from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from attacks.catalogue import ACCEPTED, cases, rows
from attacks.forge import OUTSIDER, RawRSA, mac, under
from attacks.vectors import read, weak_rsa_key
from attacks.world import GOOD
from harness.tokens import Key, b64url, ec_key, ed_key, integer, rsa_key, unb64url

UNSUITABLE, NOT_FOUND, INVALID = "key_unsuitable", "key_not_found", "signature_invalid"
P256_PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
SECP256K1_PRIME = 2**256 - 2**32 - 977

RSA = Key(OUTSIDER.private, "broken")
MODULUS = RSA.private.public_key().public_numbers().n
POINT = ec_key("point")
X, Y = (unb64url(POINT.jwk()[name]) for name in ("x", "y"))
ED = ed_key("edwards")
SECRET = b"0123456789abcdef0123456789abcdef"
SYMMETRIC = {"kty": "oct", "k": b64url(SECRET), "kid": "secret", "alg": "HS256", "use": "sig"}


def rsa(key=RSA, **members):
    return under(key.jwk() | members, key)


def point(**members):
    return under(drop(POINT.jwk() | members), POINT)


def base64(octets: bytes) -> str:
    """In the standard alphabet, with padding."""
    return b64encode(octets).decode()


def next_character(character: str) -> str:
    """Replaces the last character with the next one: the same octets to a decoder that ignores the last bits."""
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    return alphabet[alphabet.index(character) + 1]


def drop(jwk: dict) -> dict:
    return {name: value for name, value in jwk.items() if value is not None}


def numbers(key: RawRSA):
    return under(key.jwk(), key)


def fingerprinted(world) -> str:
    jwk = weak_rsa_key()
    key = RawRSA("weak", *(int.from_bytes(unb64url(jwk[name]), "big") for name in ("n", "d")))
    return numbers(key)(world)


def by_secret(kid: str | None):
    def make(world) -> str:
        world.publish(SYMMETRIC)
        return mac("HS256", SECRET, world.hostile, kid)

    return make


def real(name: str, index: int):
    """A real set with keys of every kind, plus one of ours."""

    def make(world) -> str:
        snapshot = read(f"real/rotation/{name}.json")["snapshots"][index]["jwks"]
        world.publish(*snapshot["keys"])
        return world.by(GOOD)

    return make


def among(number: int, jwk):
    """A valid key in the middle of this many others."""

    def make(world) -> str:
        key = ec_key("middle")
        others = [jwk(index) for index in range(number)]
        world.publish(*others[: number // 2], key.jwk(), *others[number // 2 :])
        return world.by(key)

    return make


def collision(number: int, length: int = 9) -> str:
    """Built from `Aa` and `BB`, which many simple hash functions can't distinguish."""
    return "".join("Aa" if number >> bit & 1 else "BB" for bit in range(length))


# Mersenne primes, for moduli that are prime or the square of a prime, with valid signatures.
PRIME, ROOT = 2**2203 - 1, 2**1279 - 1

TABLE = [
    (
        "J01",
        UNSUITABLE,
        {
            "512 bits": numbers(RawRSA.of_primes("small", P256_PRIME, SECP256K1_PRIME)),
            "2047 bits": rsa(rsa_key("small", 2047)),
        },
    ),
    (
        "J01",
        NOT_FOUND,
        {
            "16384 bits": rsa(n=integer((1 << 16384) - 1)),
            "100000 digits": rsa(n="_" * 100_000),
            "an e as large as n": rsa(e=integer(MODULUS - 2)),
        },
    ),
    ("J03", UNSUITABLE, {"n even": rsa(n=integer(MODULUS + 1)), "e of 1": rsa(e="AQ")}),
    ("J03", INVALID, {"n of small factors": rsa(n=integer(3**1293)), "another n": rsa(n=integer(MODULUS + 2))}),
    # Publishing these reveals the private key. Assay detects neither this nor the ROCA fingerprint (SECURITY.md).
    (
        "J03",
        ACCEPTED,
        {
            "n prime": numbers(RawRSA.of_primes("prime", PRIME)),
            "n a square": numbers(RawRSA.of_primes("square", ROOT, ROOT)),
            "n of a small factor": numbers(RawRSA.of_primes("factor", 3, PRIME)),
            "n with the fingerprint of ROCA": fingerprinted,
        },
    ),
    (
        "J05",
        UNSUITABLE,
        {
            "not on the curve": point(y=ec_key("other").jwk()["y"]),
            "x with more padding than there is": point(x=POINT.jwk()["x"] + "==="),
            "x with padding before": point(x="=" + POINT.jwk()["x"]),
            "x with padding within": point(x=POINT.jwk()["x"][:40] + "=" + POINT.jwk()["x"][40:]),
            "x of padding alone": point(x="="),
            "x with a new line": point(x=POINT.jwk()["x"] + "=\n"),
            "x in hexadecimal": point(x=X.hex()),
            "x with a bit too many": point(x=POINT.jwk()["x"][:-1] + next_character(POINT.jwk()["x"][-1])),
            "x with a bit too many and padding": point(x=POINT.jwk()["x"][:-1] + next_character(POINT.jwk()["x"][-1]) + "="),
            "n with more padding than there is": rsa(n=RSA.jwk()["n"] + "==="),
            "y no string": point(y=5),
            "half of a P-384 point": under(POINT.jwk(crv="P-384"), Key(ec_key("other", "P-384").private, "point")),
        },
    ),
    ("J05", (UNSUITABLE, NOT_FOUND), {"x alone": point(y=None), "Ed25519 on P-256": point(crv="Ed25519")}),
    (
        "J05",
        ACCEPTED,
        {
            # Some providers encode numbers in standard base64, which is accepted in keys, but not in tokens.
            "x with padding": point(x=POINT.jwk()["x"] + "="),
            "x and y in base64": point(x=base64(X), y=base64(Y)),
            "n and e in base64": rsa(n=base64(unb64url(RSA.jwk()["n"])), e=base64(unb64url(RSA.jwk()["e"]))),
            "an Edwards point in base64": under(ED.jwk() | {"x": base64(unb64url(ED.jwk()["x"]))}, ED),
        },
    ),
    (
        "J06",
        NOT_FOUND,
        {
            "RSA with the members of EC": point(kty="RSA"),
            "oct with the members of RSA": rsa(kty="oct"),
            "a private key": under(POINT.jwk(d=integer(POINT.private.private_numbers().private_value, 32)), POINT),
        },
    ),
    (
        "J06",
        "algorithm_not_allowed",
        {
            "oct by its kid": by_secret("secret"),
            "oct by a public key's kid": by_secret("good"),
            "oct without a kid": by_secret(None),
        },
    ),
    ("J08", ACCEPTED, {"x5c of another key": rsa(x5c=[b64url(rsa_key("rsa").pem(Encoding.DER))])}),
    ("J08", NOT_FOUND, {"x5c alone": under(drop(RSA.jwk() | {"n": None, "e": None, "x5c": ["AAAA"]}), RSA)}),
    (
        "J09",
        ACCEPTED,
        {
            "one bad key among nine good": among(8, lambda n: ec_key(f"one of {n}").jwk(y="!" if n == 3 else None)),
            "null, number, string, object, array": among(5, [None, 1, "x", {}, []].__getitem__),
            "keys whose kid is no string": among(4, lambda n: GOOD.jwk(kid=[5, ["middle"], {}, None][n])),
            "sets within the set": among(2, lambda n: {"keys": [GOOD.jwk()]}),
        },
    ),
    (
        "J11",
        ACCEPTED,
        {
            "1000 keys": among(1000, lambda n: {"kty": "EC", "kid": str(n)}),
            "500 kids that collide": among(500, lambda n: POINT.jwk(kid=collision(n))),
            "400 keys of one kid": among(400, lambda n: POINT.jwk(kid="crowd")),
        },
    ),
    (
        "J11",
        INVALID,
        {
            "200 keys of one kid": lambda world: (
                among(200, lambda n: POINT.jwk(kid="crowd"))(world),
                world.by(ec_key("middle"), kid="crowd"),
            )[1]
        },
    ),
    # Real sets: Yahoo's 1024-bit keys and leading zeros, Slack's without `use`, GitLab's, Apple's in random order.
    (
        "J50",
        ACCEPTED,
        {f"{name}'s": real(name, 0) for name in ("yahoo", "slack", "gitlab", "apple", "google", "twitch")},
    ),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_unusual_keys_are_used_correctly_or_not_at_all(world, case):
    world.strike(case)


NEW = ec_key("new").jwk()
BAD_SETS = rows(
    ("J09", "no JSON", b"<html>"),
    ("J09", "keys empty", {"keys": []}),
    ("J09", "two sets", json.dumps({"keys": [NEW]}).encode() * 2),
    ("J09", "a member of a key twice", b'{"keys":[{"kty":"EC",' + json.dumps(NEW).encode()[1:] + b"]}"),
    ("J09", "all symmetric", {"keys": [SYMMETRIC]}),
    ("J11", "10000 keys", {"keys": [NEW | {"kid": str(number)} for number in range(10_000)]}),
    ("J11", "more than 512 KiB", {"keys": [NEW], "x": "x" * (512 * 1024)}),
)


@pytest.mark.parametrize("body", BAD_SETS)
def test_an_invalid_set_does_not_replace_the_old_one(world, body):
    world.publish()
    world.publish_document(body)
    state = world.refresh()
    assert state["last_error"] and state["state"] in ("ready", "stale"), state
    assert [key["kid"] for key in state["keys"]] == ["good"]
    # It is unknown whether the rejected set contained the key.
    world.expect(world.by(Key(ec_key("new").private, "new")), "keys_unavailable")
