"""H. Header extensions: a header that would change how a token is read is rejected."""

import zlib

import pytest

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import headed, signed, unsigned
from harness.tokens import assemble, b64url, json_bytes, jws, parts

UNSUPPORTED, MALFORMED, NOT_ALLOWED = "header_unsupported", "token_malformed", "algorithm_not_allowed"

def unencoded(**header):
    """A valid signature by RFC 7797, over the raw payload."""

    def make(world) -> str:
        first = b64url(json_bytes({"alg": "RS256", "kid": "rsa", "b64": False} | header))
        octets = json_bytes(world.op.claims())
        signature = world.op.key("rsa").sign("RS256", first.encode() + b"." + octets)
        return f"{first}.{b64url(octets)}.{b64url(signature)}"

    return make


def unencoded_text(world) -> str:
    """The same, with an unencoded payload that needs no encoding."""
    first = b64url(json_bytes({"alg": "RS256", "kid": "rsa", "b64": False, "crit": ["b64"]}))
    signature = world.op.key("rsa").sign("RS256", f"{first}.payload-".encode())
    return f"{first}.payload-.{b64url(signature)}"


def deflated(size: int):
    """A payload of this size, deflated."""

    def make(world) -> str:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        octets = json_bytes(world.op.claims())[:-1] + b" " * size + b"}"
        packed = compressor.compress(octets) + compressor.flush()
        return jws(world.op.key("rsa"), packed, zip="DEF")

    return make


def detached(world) -> str:
    """A detached payload (RFC 7515, appendix F)."""
    first, _, signature = parts(signed()(world))
    return f"{first}..{signature}"


TABLE = [
    (
        "H01",
        UNSUPPORTED,
        {
            "crit exp": headed({"alg": "RS256", "kid": "rsa", "exp": 1, "crit": ["exp"]}),
            "crit null": headed({"alg": "RS256", "kid": "rsa", "crit": None}),
            "crit and a bad signature": unsigned({"alg": "RS256", "kid": "rsa", "crit": ["exp"]}, bytes(256)),
            "b64 true": signed(b64=True),
            "signed by RFC 7797": unencoded(),
            "signed by RFC 7797, critical": unencoded(crit=["b64"]),
        },
    ),
    # The payload is valid base64url by chance, but does not decode to JSON. The form is checked first.
    ("H01", MALFORMED, {"the payload unencoded": unencoded_text, "10000 names": signed(crit=["x"] * 10_000)}),
    ("H03", UNSUPPORTED, {"zip DEF": signed(zip="DEF")}),
    ("H03", MALFORMED, {"deflated": deflated(10), "a bomb": deflated(5_000_000)}),
    ("H04", ACCEPTED, {"typ application/jwt": signed(typ="application/jwt"), "no typ": signed(typ=None)}),
    ("H04", UNSUPPORTED, {f"typ {typ}": signed(typ=typ) for typ in ("at+jwt", "logout+jwt")}),
    ("H04", MALFORMED, {"typ a list": signed(typ=["JWT"])}),
    (
        "H06",
        NOT_ALLOWED,
        {"p2c of 2^32 - 1": unsigned({"alg": "PBES2-HS256+A128KW", "p2c": 4294967295, "p2s": "AAAA"}, b"x")},
    ),
    ("H06", ACCEPTED, {"p2c beside RS256": signed(p2c=4294967295)}),
    # Additions to the catalogue.
    ("H50", ACCEPTED, {name: signed(**{name: "x"}) for name in ("epk", "enc", "nonce", "url", "svt")}),
    ("H51", MALFORMED, {"a detached payload": detached}),
    (
        "H52",
        UNSUPPORTED,
        {
            "crit and typ before alg none": lambda world: assemble(
                {"alg": "none", "typ": "at+jwt", "crit": ["x"]}, world.op.claims(), b""
            )
        },
    ),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_a_header_that_changes_how_the_token_is_read_is_refused(world, case):
    world.strike(case)
