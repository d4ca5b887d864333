"""H. Header extensions: what would change how a token is to be read is refused, whatever it says."""

import zlib

import pytest

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import headed, header_text, signed, unsigned
from harness.tokens import assemble, b64url, json_bytes, jws, parts

UNSUPPORTED, MALFORMED, NOT_ALLOWED = "header_unsupported", "token_malformed", "algorithm_not_allowed"

CRITS = {
    "exp": ["exp"],
    "b64": ["b64"],
    "absent x": ["x"],
    "empty": [],
    "text": "b64",
    "alg": ["alg"],
    "twice": ["exp", "exp"],
    "800 names": [f"x{number}" for number in range(800)],
    "null": None,
    "number": 5,
    "object": {},
    "kid and typ": ["kid", "typ"],
    "an empty name": [""],
    "no strings": [1, None],
    "false": False,
    "itself": ["crit"],
}


def unencoded(**header):
    """A good signature by RFC 7797, over the payload's own octets."""

    def make(world) -> str:
        first = b64url(json_bytes({"alg": "RS256", "kid": "rsa", "b64": False} | header))
        octets = json_bytes(world.op.claims())
        signature = world.op.key("rsa").sign("RS256", first.encode() + b"." + octets)
        return f"{first}.{b64url(octets)}.{b64url(signature)}"

    return make


def unencoded_text(world) -> str:
    """The same with a payload that needs no encoding, in its place as it is."""
    first = b64url(json_bytes({"alg": "RS256", "kid": "rsa", "b64": False, "crit": ["b64"]}))
    signature = world.op.key("rsa").sign("RS256", f"{first}.payload-".encode())
    return f"{first}.payload-.{b64url(signature)}"


def deflated(size: int):
    """A payload of so many octets, deflated."""

    def make(world) -> str:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        octets = json_bytes(world.op.claims())[:-1] + b" " * size + b"}"
        packed = compressor.compress(octets) + compressor.flush()
        return jws(world.op.key("rsa"), packed, zip="DEF")

    return make


def detached(world) -> str:
    """A payload that is sent elsewhere (RFC 7515, appendix F)."""
    first, _, signature = parts(signed()(world))
    return f"{first}..{signature}"


TABLE = [
    (
        "H01",
        UNSUPPORTED,
        {
            f"crit {name}": headed({"alg": "RS256", "kid": "rsa", "exp": 1, "crit": crit})
            for name, crit in CRITS.items()
        },
    ),
    (
        "H01",
        UNSUPPORTED,
        {
            "b64 false": signed(b64=False),
            "b64 true": signed(b64=True),
            "b64 null": header_text('"b64":null'),
            "signed by RFC 7797": unencoded(),
            "signed by RFC 7797, critical": unencoded(crit=["b64"]),
        },
    ),
    # Its payload is base64url by chance, and what that stands for is no JSON: form comes first.
    ("H01", MALFORMED, {"the payload unencoded": unencoded_text, "10000 names": signed(crit=["x"] * 10_000)}),
    (
        "H01",
        UNSUPPORTED,
        {
            "crit by an escape": header_text('"\\u0063rit":["x"]'),
            "crit and a bad signature": unsigned({"alg": "RS256", "kid": "rsa", "crit": ["exp"]}, bytes(256)),
        },
    ),
    (
        "H03",
        UNSUPPORTED,
        {f"zip {value!r}": header_text(f'"zip":{value}') for value in ('"DEF"', '"none"', '""', "null", "5")},
    ),
    ("H03", MALFORMED, {"deflated": deflated(10), "a bomb": deflated(5_000_000)}),
    (
        "H04",
        ACCEPTED,
        {f"typ {typ}": signed(typ=typ) for typ in ("JWT", "jwt", "Jwt", "jWt", "application/jwt", "APPLICATION/JWT")},
    ),
    ("H04", ACCEPTED, {"no typ": signed(typ=None)}),
    (
        "H04",
        UNSUPPORTED,
        {
            f"typ {typ!a}": signed(typ=typ)
            for typ in (
                "at+jwt",
                "AT+JWT",
                "logout+jwt",
                "secevent+jwt",
                "dpop+jwt",
                "application/at+jwt",
                "JOSE",
                "JOSE+JSON",
                "JWT;charset=utf-8",
                "",
                " JWT",
                "JWT ",
                "JWS",
                "JWE",
                "application/jwt;x=y",
                "ＪＷＴ",
                "kb+jwt",
                "entity-statement+jwt",
                "oauth-authz-req+jwt",
                "token-introspection+jwt",
                "vc+sd-jwt",
                "jwt+json",
                "text/jwt",
            )
        },
    ),
    (
        "H04",
        MALFORMED,
        {f"typ {text}": header_text(f'"typ":{text}') for text in ("5", "null", "{}", '["JWT"]', "true")},
    ),
    (
        "H06",
        NOT_ALLOWED,
        {
            "p2c of 2^32 - 1": unsigned({"alg": "PBES2-HS256+A128KW", "p2c": 4294967295, "p2s": "AAAA"}, b"x"),
            "p2c of 2^63": unsigned({"alg": "PBES2-HS512+A256KW", "p2c": 2**63, "p2s": "AAAA", "enc": "A128GCM"}, b"x"),
            "p2c beside HS256": unsigned({"alg": "HS256", "p2c": 4294967295}, b"x"),
        },
    ),
    ("H06", ACCEPTED, {"p2c beside RS256": signed(p2c=4294967295)}),
    # The additions.
    (
        "H50",
        ACCEPTED,
        {
            name: signed(**{name: "x"})
            for name in ("epk", "apu", "apv", "iv", "tag", "enc", "nonce", "url", "ppt", "svt")
        },
    ),
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
def test_a_header_that_asks_for_another_reading_is_refused(world, case):
    world.strike(case)
