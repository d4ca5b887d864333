"""F. The compact serialization and its base64url: exactly one text per token."""

import itertools
import json

import pytest

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import payload, wrapped
from attacks.vectors import encrypted_tokens
from harness.tokens import b64url, jws, parts, signing_input

MALFORMED, TOO_LARGE, INVALID = "token_malformed", "request_too_large", "request_invalid"
LONGEST = 16 * 1024
PARTS = ("header", "payload", "signature")
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def text(token):
    """Exactly this text in place of a token."""
    return lambda world: token


def in_part(index: int, change):
    """A valid token with the text of one part changed."""

    def make(world) -> str:
        pieces = list(parts(world.op.token()))
        pieces[index] = change(pieces[index])
        return ".".join(pieces)

    return make


def each_part(name: str, change) -> dict:
    return {f"{name}, {part}": in_part(index, change) for index, part in enumerate(PARTS)}


def spare_bits(index: int):
    """A last character with non-zero spare bits, which lenient decoders read as the same octets."""

    def make(world) -> str:
        for filler in range(3):
            claims = world.op.claims(filler="x" * filler)
            pieces = list(parts(jws(world.op.keys[0], claims, pad="x" * filler)))
            if len(pieces[index]) % 4:
                last = ALPHABET[ALPHABET.index(pieces[index][-1]) + 1]
                pieces[index] = pieces[index][:-1] + last
                return ".".join(pieces)
        raise AssertionError("no part with spare bits")

    return make


def of_length(length: int):
    """A valid token of exactly this length. It has fillers in header and payload, since no part can have 4n + 1 characters."""

    def make(world) -> str:
        key = world.op.key("rsa")
        for pad in range(4):
            header = {"alg": "RS256", "kid": key.kid, "pad": "x" * pad}
            for filler in range((length - 700) * 3 // 4, length):
                claims = world.op.claims(filler="x" * filler)
                found = len(signing_input(header, claims)) + 1 + len(b64url(bytes(256)))
                if found == length:
                    return jws(key, claims, header=header)
                if found > length:
                    break
        raise AssertionError("no such length")

    return make


def serialization(kind: str):
    """A valid token in one or both of JWS's JSON serializations."""

    def make(world) -> dict:
        protected, body, signature = parts(world.op.token())
        flattened = {"protected": protected, "payload": body, "signature": signature}
        general = {"payload": body, "signatures": [{"protected": protected, "signature": signature}]}
        polyglot = {f" {protected}.": f".{body}.{signature}"} | flattened
        return {"flattened": flattened, "general": general, "polyglot": polyglot}[kind]

    return make


def as_text(make):
    return lambda world: json.dumps(make(world))


def as_object(make):
    return lambda world: {"id_token": make(world)}


SERIALIZATIONS = ("flattened", "general", "polyglot")

TABLE = [
    ("F01", MALFORMED, {token or "empty": text(token) for token in ("", "..", "a.b", "a.b.c.d")}),
    ("F01", MALFORMED, {"60000 dots": text("." * 60_000), "a good token and a fourth part": wrapped("{}.AAAA")}),
    # The form is valid, but the payload is empty.
    ("F01", "provider_unknown", {"e30.e30.": text("e30.e30.")}),
    ("F01", MALFORMED, {name: text(token) for name, token in itertools.islice(encrypted_tokens().items(), 3)}),
    ("F01", TOO_LARGE, {"a million dots": text("." * 1_000_000)}),
    (
        "F02",
        MALFORMED,
        each_part("padding", lambda part: part + "=")
        | each_part("a plus", lambda part: part[:4] + "+" + part[5:])
        | each_part("a letter of full width", lambda part: part[:4] + "\uff21" + part[5:])
        | {f"spare bits, {part}": spare_bits(index) for index, part in enumerate(PARTS)},
    ),
    (
        "F04",
        MALFORMED,
        {
            "a new line after": wrapped("{}\n"),
            "a NUL after": wrapped("{}\0"),
            "Bearer": wrapped("Bearer {}"),
            "twice": wrapped("{0} {0}"),
            "URL-encoded": lambda world: world.op.token().replace(".", "%2E"),
        },
    ),
    ("F06", MALFORMED, {f"{kind}, as text": as_text(serialization(kind)) for kind in SERIALIZATIONS}),
    ("F06", INVALID, {f"{kind}, as an object": as_object(serialization(kind)) for kind in SERIALIZATIONS}),
    ("F06", INVALID, {"in a list": lambda world: {"id_token": [world.op.token()]}}),
    ("F08", MALFORMED, {"[]": payload(b"[]"), "claims in a list": lambda world: jws(world.op.keys[0], [world.op.claims()])}),
    ("F08", "provider_unknown", {"{}, any provider": payload(b"{}")}),
    (
        "F08",
        "claim_missing",
        {"{}, a named provider": lambda world: {"id_token": payload(b"{}")(world), "provider": "op"}},
    ),
    ("F09", ACCEPTED, {f"{LONGEST - over} octets": of_length(LONGEST - over) for over in (0, 1)}),
    ("F09", MALFORMED, {f"{length} octets": of_length(length) for length in (LONGEST + 1, 60_000)}),
    ("F09", TOO_LARGE, {"64 KiB": text("x" * 65_536), "a good one of 70000": of_length(70_000)}),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_a_token_has_only_one_form(world, case):
    world.strike(case)
