"""Q. Nonce, hashes and other members of a request must match the token."""

import json

import pytest

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import asking, good
from attacks.target import raw
from harness.tokens import ALGORITHMS, b64url, half_hash, jws, sha256_base64url, sha256_hex

REQUIRED, MISSING, MISMATCH, INVALID = "nonce_required", "nonce_missing", "nonce_mismatch", "request_invalid"
NONCE = "a nonce of this very sign-in"
ACCESS, CODE = "the-access-token-of-this-sign-in", "the-authorization-code-of-this-sign-in"


def nonce(claimed: str | None, sent: str | None, issuer: str = "op"):
    """A token and a request with these nonces."""

    def make(world) -> dict:
        request = {"id_token": getattr(world, issuer).token(nonce=claimed)}
        return request if sent is None else request | {"nonce": sent}

    return make


def near(change, sent: str = NONCE):
    return nonce(change(sent), sent)


def hashed(claim: str, value, algorithm: str = "RS256", **request):
    """A token with this hash, signed with this algorithm, and the value to compare it with."""

    def make(world) -> dict:
        key = world.op.key(ALGORITHMS[algorithm])
        return {"id_token": jws(key, world.op.claims(**{claim: value}), algorithm=algorithm)} | request

    return make


def both(**request):
    """A token with both hashes."""
    return asking(good(at_hash=half_hash(ACCESS, "RS256"), c_hash=half_hash(CODE, "RS256")), **request)


def text(members: str):
    """A body in which this text follows a valid token, which has the nonce that the tests send."""
    return lambda world: raw(world.op.token(nonce="n"), members)


# `Tests/IDTokenTests/NonceTests.swift` and `TokenHashesTests.swift` have every near miss.
NEAR = {
    "one character more": lambda old: old + "x",
    "a prefix": lambda old: old[:-1],
    "a new line after": lambda old: old + "\n",
    "its hash": sha256_hex,
}
NEAR_HASHES = {"in capitals": str.upper, "in base64url": lambda old: sha256_base64url(NONCE), "of the hash": sha256_hex}

TABLE = [
    (
        "Q01",
        MISSING,
        {f"in the request alone, {issuer}": nonce(None, NONCE, issuer) for issuer in ("op", "apple", "google")},
    ),
    (
        "Q01",
        REQUIRED,
        {f"in the token alone, {issuer}": nonce(NONCE, None, issuer) for issuer in ("op", "apple", "google")}
        | {"an empty one in the token alone": nonce("", None)},
    ),
    (
        "Q01",
        INVALID,
        {
            "both empty": nonce("", ""),
            "513 characters": nonce("x" * 513, "x" * 513),
            "513 of two octets": nonce("\u00e9" * 513, "\u00e9" * 513),
        },
    ),
    (
        "Q01",
        ACCEPTED,
        {
            "in neither": nonce(None, None),
            "512 characters": nonce("x" * 512, "x" * 512),
            "one character": nonce("x", "x"),
            "512 of four octets": nonce("\U0001f408" * 512, "\U0001f408" * 512),
        },
    ),
    ("Q01", MISSING, {"Apple's of 2021": asking(lambda world: world.apple.token(nonce_supported=True), nonce=NONCE)}),
    (
        "Q02",
        MISMATCH,
        {
            "the claim's own value, Apple": nonce(sha256_hex(NONCE), sha256_hex(NONCE), "apple"),
            "the raw nonce echoed, Apple": nonce(NONCE, NONCE, "apple"),
            "the hash echoed, another": nonce(sha256_hex(NONCE), NONCE),
        },
    ),
    (
        "Q02",
        ACCEPTED,
        {
            "the hash of the raw one, Apple": nonce(sha256_hex(NONCE), NONCE, "apple"),
            "the claim's own value, where plain is allowed": nonce(sha256_hex(NONCE), sha256_hex(NONCE), "any_nonce"),
            "the hash, where both are allowed": nonce(sha256_hex(NONCE), NONCE, "any_nonce"),
        },
    ),
    ("Q04", MISMATCH, {name: near(change) for name, change in NEAR.items()}),
    (
        "Q04",
        MISMATCH,
        {f"a hash {name}": nonce(change(sha256_hex(NONCE)), NONCE, "apple") for name, change in NEAR_HASHES.items()},
    ),
    (
        "Q04",
        MISMATCH,
        {
            "one sent up to a NUL": nonce(NONCE, NONCE + "\0x"),
            "one sent with a new line": nonce(NONCE, NONCE + "\n"),
            "composed otherwise": nonce("e\u0301" * 8, "\u00e9" * 8),
            "an empty claim": nonce("", NONCE),
        },
    ),
    # `Tests/VerificationTests/VerifyRequestTests.swift` has every member and type.
    ("Q08", INVALID, {name: asking(good(nonce="n"), **{name: "n"}) for name in ("nonse", "Nonce", "nonce ", "")}),
    (
        "Q08",
        INVALID,
        {
            f"{name}: {value}": asking(good(), **{name: json.loads(value)})
            for name, value in {
                "nonce": "null",
                "id_token": '["x"]',
                "provider": "5",
                "user": '{"name":{"middleName":"x"}}',
                "include_claims": '"true"',
                "max_age": '"60"',
            }.items()
        },
    ),
    (
        "Q08",
        ACCEPTED,
        {
            f"{name}: null": asking(good(), **{name: None})
            for name in ("provider", "audience", "access_token", "code", "user", "include_claims", "max_age")
        },
    ),
    (
        "Q08",
        INVALID,
        {
            name: text(members)
            for name, members in {
                "nonce twice": ',"nonce":"n","nonce":"m"',
                "nonce twice by an escape": ',"nonce":"n","nonc\\u0065":"m"',
                "a name twice in user": ',"user":{"name":{"firstName":"A","firstName":"B"}}',
                "a NUL in a name": ',"nonce\\u0000":"n"',
                "an object after": '}{"nonce":"n"',
            }.items()
        },
    ),
    ("Q08", INVALID, {"no id_token": lambda world: {"nonce": NONCE}, "nothing": lambda world: {}}),
    # Additions to the catalogue.
    ("Q50", "at_hash_missing", {"no at_hash": asking(good(), access_token=ACCESS)}),
    ("Q50", "c_hash_missing", {"no c_hash": asking(good(), code=CODE)}),
    (
        "Q50",
        "at_hash_mismatch",
        {
            "another access token": both(access_token="another access token"),
            "the whole hash": hashed("at_hash", b64url(bytes.fromhex(sha256_hex(ACCESS))), access_token=ACCESS),
            "of another hash": hashed("at_hash", half_hash(ACCESS, "RS512"), access_token=ACCESS),
        },
    ),
    (
        "Q50",
        "c_hash_mismatch",
        {"another code": both(code="another code"), "the access token for the code": both(code=ACCESS)},
    ),
    (
        "Q50",
        "claim_invalid",
        {
            "at_hash a number": hashed("at_hash", 5, access_token=ACCESS),
            "c_hash a list": hashed("c_hash", [], code=CODE),
        },
    ),
    (
        "Q50",
        ACCEPTED,
        {"both": both(access_token=ACCESS, code=CODE)}
        | {
            f"by {name}": hashed("at_hash", half_hash(ACCESS, name, ALGORITHMS[name]), name, access_token=ACCESS)
            for name in ALGORITHMS
        },
    ),
    (
        "Q51",
        "provider_unknown",
        {
            f"provider {ascii(name)}": asking(good(), provider=name)
            for name in ("nobody", "OP", "op\0")
        },
    ),
    (
        "Q52",
        MISMATCH,
        {
            "a nonce of another's sign-in, expected claims in user": asking(
                good(nonce="another sign-in's nonce"), nonce=NONCE, user={"name": {"firstName": NONCE}}
            )
        },
    ),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_a_token_is_accepted_only_for_the_sign_in_of_the_request(world, case):
    world.strike(case)


@pytest.mark.parametrize("sent", [pytest.param(sent, id=f"Q53-{sent}") for sent in ("first", "second", None)])
def test_the_nonce_is_checked_each_time_a_token_is_sent(world, sent):
    """A cached verdict for one nonce does not apply to another."""
    token = world.op.token(nonce="first")
    world.expect({"id_token": token, "nonce": "first"}, ACCEPTED)
    code = {"first": ACCEPTED, "second": MISMATCH, None: REQUIRED}[sent]
    world.expect({"id_token": token} | ({} if sent is None else {"nonce": sent}), code)


@pytest.mark.parametrize("first", [pytest.param(first, id=f"Q54-{first}") for first in ("the good one", "the bad one")])
def test_the_items_of_a_batch_are_independent(world, first):
    token = world.op.token(nonce=NONCE)
    items = [{"id_token": token, "nonce": NONCE}, {"id_token": token}, {"id_token": token, "nonce": "another nonce"}]
    expected = [ACCEPTED, REQUIRED, MISMATCH]
    if first == "the bad one":
        items, expected = items[::-1], expected[::-1]
    results = world.service.api.post("/v1/verify/batch", {"items": items}).json["results"]
    assert [result.get("error", {}).get("code") for result in results] == expected


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"name": "Token's Own"}, id="Q55-a name in the token"),
        pytest.param({"given_name": "Own"}, id="Q55-a part of one in the token"),
    ],
)
def test_the_apps_user_object_replaces_no_signed_claim(world, claims):
    user = {"name": {"firstName": "Mallory", "lastName": "Attacker"}, "email": "victim@example.com"}
    token = world.apple.token(email="a@icloud.com", **claims)
    identity = world.expect({"id_token": token, "user": user}, ACCEPTED)["identity"]
    assert identity["name_source"] == "token" and identity["email"] == "a@icloud.com"
    assert "Mallory" not in json.dumps(identity)
