"""N. The JSON of header and payload: one strict object with a single interpretation."""

import json

import pytest

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import headed
from attacks.vectors import json_suite
from harness.tokens import json_bytes, jws

MALFORMED = "token_malformed"


def in_header(octets: bytes):
    """A valid header, plus one member whose value is exactly these octets."""
    return headed(b'{"alg":"RS256","kid":"rsa","x":' + octets + b"}")


def in_payload(octets: bytes):
    """Valid claims, plus one whose value is exactly these octets."""
    return lambda world: jws(world.op.keys[0], json_bytes(world.op.claims())[:-1] + b',"x":' + octets + b"}")


def around_claims(before: bytes, after: bytes):
    """Valid claims within other octets."""
    return lambda world: jws(world.op.keys[0], before + json_bytes(world.op.claims()) + after)


def more(octets: bytes):
    """Valid claims with these octets before the closing brace."""
    return lambda world: jws(world.op.keys[0], json_bytes(world.op.claims())[:-1] + octets + b"}")


def everywhere(texts: dict[str, bytes]) -> dict:
    """As a value in the header, and as a claim."""
    return {f"{name}, header": in_header(octets) for name, octets in texts.items()} | {
        f"{name}, payload": in_payload(octets) for name, octets in texts.items()
    }


BOUNDED = {
    "60 levels": b"[" * 60 + b"]" * 60,
    "1000 members": b"{" + b",".join(b'"m%d":1' % number for number in range(1000)) + b"}",
    "a number of 9000 digits": b"9" * 9000,
    "10000 spaces": b" " * 10_000 + b"1",
}

TABLE = [
    (
        "N01",
        MALFORMED,
        {
            "alg none first, header": headed(b'{"alg":"none","alg":"RS256","kid":"rsa"}'),
            "kid by an escape, header": headed(b'{"alg":"RS256","kid":"rsa","\\u006bid":"x"}'),
            "sub by an escape, payload": more(b',"\\u0073ub":"admin"'),
            "nested, payload": more(b',"x":{"y":1,"y":2}'),
        },
    ),
    ("N01", ACCEPTED, {"names that only look alike": more(', "é":1,"e\u0301":2,"A":1,"a":2'.encode())}),
    ("N03", MALFORMED, everywhere({"overlong": b'"\xc0\xaf"', "an escaped NUL": b'"\\u0000"', "a lone surrogate": b'"\\ud800"'})),
    ("N03", MALFORMED, {"UTF-16": lambda world: jws(world.op.keys[0], json.dumps(world.op.claims()).encode("utf-16"))}),
    ("N05", MALFORMED, everywhere({"2049 levels of arrays": b"[" * 2049 + b"]" * 2049, "2000 open objects": b'{"a":' * 2000})),
    ("N05", ACCEPTED, everywhere(BOUNDED)),
    ("N05", "request_too_large", {"100000 levels": in_payload(b"[" * 100_000)}),
    ("N05", MALFORMED, {"8000 members": in_payload(b"{" + b'"":1,' * 8000 + b"}")}),
    ("N06", MALFORMED, everywhere({text: text.encode() for text in ("1e400", "NaN", "01")})),
    ("N06", ACCEPTED, everywhere({text: text.encode() for text in ("-0", "1e-999", "123456789012345678901234567890")})),
    ("N07", MALFORMED, everywhere({"a comment": b"1/*x*/", "a trailing comma": b'{"a":1,}', "single quotes": b"'x'"})),
    ("N07", MALFORMED, {"a BOM": around_claims(b"\xef\xbb\xbf", b""), "a second object": around_claims(b"", b"{}")}),
    ("N07", ACCEPTED, {"white space around": around_claims(b" \t\r\n", b"\n \t\r")}),
    ("N09", ACCEPTED, {"members of every type": in_header(b'[null,true,1.5,{"y":[]},"\\u00e9"]')}),
    # JSONTestSuite; `Tests/Conformance/JSONTestSuite.swift` reads every text.
    ("N50", ACCEPTED, everywhere({name: json_suite()[name] for name in ("y_string_surrogates_U+1D11E_MUSICAL_SYMBOL_G_CLEF",)})),
    ("N50", MALFORMED, everywhere({name: json_suite()[name] for name in ("n_number_0.3e", "n_object_trailing_comment")})),
    ("N09", MALFORMED, {"a nested token": lambda world: jws(world.op.keys[0], world.op.token(), cty="JWT")}),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_header_and_payload_are_strict_json_objects(world, case):
    world.strike(case)
