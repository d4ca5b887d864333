"""N. The JSON of header and payload: one strict object, read in one way."""

import json

import pytest

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import headed
from attacks.vectors import json_suite
from harness.tokens import json_bytes, jws

MALFORMED = "token_malformed"
LONGEST_BODY = 64 * 1024


def header_octets(octets: bytes):
    """A good signature over a header with just these octets."""
    return headed(octets)


def in_header(octets: bytes):
    """A good header, but for one more member whose value is just these octets."""
    return headed(b'{"alg":"RS256","kid":"rsa","x":' + octets + b"}")


def in_payload(octets: bytes):
    """Good claims, but for one more whose value is just these octets."""
    return lambda world: jws(world.op.keys[0], json_bytes(world.op.claims())[:-1] + b',"x":' + octets + b"}")


def around_claims(before: bytes, after: bytes):
    """Good claims within other octets."""
    return lambda world: jws(world.op.keys[0], before + json_bytes(world.op.claims()) + after)


def more(octets: bytes):
    """Good claims with these octets before the closing brace."""
    return lambda world: jws(world.op.keys[0], json_bytes(world.op.claims())[:-1] + octets + b"}")


def recoded(encoding: str):
    return lambda world: jws(world.op.keys[0], json.dumps(world.op.claims()).encode(encoding))


def everywhere(texts: dict[str, bytes]) -> dict:
    """As a value in the header, and as one in the payload."""
    return {f"{name}, header": in_header(octets) for name, octets in texts.items()} | {
        f"{name}, payload": in_payload(octets) for name, octets in texts.items()
    }


DUPLICATES_IN_HEADER = {
    "alg none first": b'{"alg":"none","alg":"RS256","kid":"rsa"}',
    "alg none last": b'{"alg":"RS256","kid":"rsa","alg":"none"}',
    "alg by an escape": b'{"alg":"none","al\\u0067":"RS256","kid":"rsa"}',
    "alg the same twice": b'{"alg":"RS256","alg":"RS256","kid":"rsa"}',
    "kid": b'{"alg":"RS256","kid":"x","kid":"rsa"}',
    "kid by an escape": b'{"alg":"RS256","kid":"rsa","\\u006bid":"x"}',
    "nested": b'{"alg":"RS256","kid":"rsa","x":{"y":1,"y":2}}',
    "in an array": b'{"alg":"RS256","kid":"rsa","x":[{"y":1,"\\u0079":1}]}',
    "empty names": b'{"alg":"RS256","kid":"rsa","":1,"":2}',
}
DUPLICATE_CLAIMS = {
    "sub": b',"sub":"admin"',
    "sub the same": b',"sub":"user-1"',
    "sub by an escape": b',"\\u0073ub":"admin"',
    "iss": b',"iss":"https://x"',
    "aud by an escape": b',"aud\\u0000":1,"\\u0061ud":"client"',
    "nested": b',"x":{"y":1,"y":2}',
    "beyond the basic plane": '," 𝄞":1," \\ud834\\udd1e":2'.encode(),
}
BAD_UTF8 = {
    "a lone continuation": b'"\x80"',
    "overlong": b'"\xc0\xaf"',
    "overlong in three": b'"\xe0\x80\xaf"',
    "overlong NUL": b'"\xc0\x80"',
    "a surrogate": b'"\xed\xa0\x80"',
    "a pair of surrogates": b'"\xed\xa0\xb4\xed\xb4\x9e"',
    "cut off": b'"\xe2\x82"',
    "beyond Unicode": b'"\xf5\x80\x80\x80"',
    "just beyond Unicode": b'"\xf4\x90\x80\x80"',
    "0xff": b'"\xff"',
    "in a name": b'{"\xff":1}',
    "a lone high escape": b'"\\ud800"',
    "a lone low escape": b'"\\udc00"',
    "two high escapes": b'"\\ud800\\ud800"',
    "an escaped NUL": b'"\\u0000"',
    "an escaped NUL in a name": b'{"a\\u0000":1}',
    "a raw NUL": b'"\0"',
    "a raw control character": b'"\x1f"',
}
LONG = {
    "100 levels of arrays": b"[" * 100 + b"]" * 100,
    "2049 levels of arrays": b"[" * 2049 + b"]" * 2049,
    "1000 levels of objects": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "10000 open arrays": b"[" * 10_000,
    "2000 open objects": b'{"a":' * 2000,
    "10000 closed arrays": b"]" * 10_000,
}
BOUNDED = {
    "60 levels": b"[" * 60 + b"]" * 60,
    "1000 members": b"{" + b",".join(b'"m%d":1' % number for number in range(1000)) + b"}",
    "a number of 9000 digits": b"9" * 9000,
    "a fraction of 9000 digits": b"0." + b"9" * 9000,
    "10000 spaces": b" " * 10_000 + b"1",
    "2000 empty arrays": b"[" + b"[]," * 2000 + b"[]]",
    "a string of 1500 escapes": b'"' + b"\\u0041" * 1500 + b'"',
}
BAD_NUMBERS = (
    "1e400",
    "-1e400",
    "1E+2147483648",
    "1e99999999999999999999",
    "NaN",
    "-NaN",
    "Infinity",
    "-Infinity",
    "0x10",
    "01",
    "-01",
    "+1",
    ".5",
    "1.",
    "1.e5",
    "1e",
    "1e+",
    "-",
    "--1",
    "1_000",
    "1,5",
    "1e5.5",
    "0b1",
    "0o7",
    "１",
    "1f",
    "1L",
)
NUMBERS = (
    "-0",
    "1e-999",
    "0e400",
    "-0.0",
    "1E5",
    "1e+05",
    "0.1e1",
    "123456789012345678901234567890",
    "-99999999999999999999",
)
NEARLY_JSON = {
    "a comment": b"1/*x*/",
    "a line comment": b"1//x",
    "a hash": b"1#x",
    "a trailing comma": b'{"a":1,}',
    "a trailing comma in an array": b"[1,]",
    "a leading comma": b"[,1]",
    "no comma": b'{"a":1 "b":2}',
    "no colon": b'{"a" 1}',
    "single quotes": b"'x'",
    "an unquoted name": b"{a:1}",
    "undefined": b"undefined",
    "True": b"True",
    "nul": b"nul",
    "a tab in a string": b'"\t"',
    "a new line in a string": b'"\n"',
    "a bad escape": b'"\\x41"',
    "a short escape": b'"\\u41"',
    "a vertical tab": b"1\x0b",
    "a form feed": b"1\x0c",
    "a no-break space": "1\u00a0".encode(),
    "two values": b"1 2",
    "nothing": b"",
    "mismatched brackets": b"[1}",
}
AROUND = {
    "a BOM": (b"\xef\xbb\xbf", b""),
    "a second object": (b"", b"{}"),
    "a second line": (b"", b"\n{}"),
    "a brace": (b"", b"}"),
    "text": (b"", b" x"),
    "a NUL": (b"", b"\0"),
    "a comment": (b"", b"//x"),
    "a comma": (b"", b","),
    "a comment before": (b"/**/", b""),
    "an array": (b"[", b"]"),
    "a prefix against hijacking": (b")]}',\n", b""),
}

TABLE = [
    ("N01", MALFORMED, {f"{name}, header": header_octets(octets) for name, octets in DUPLICATES_IN_HEADER.items()}),
    ("N01", MALFORMED, {f"{name}, payload": more(octets) for name, octets in DUPLICATE_CLAIMS.items()}),
    ("N01", ACCEPTED, {"names that only look alike": more(', "é":1,"e\u0301":2,"A":1,"a":2'.encode())}),
    ("N03", MALFORMED, everywhere(BAD_UTF8)),
    (
        "N03",
        MALFORMED,
        {
            encoding: recoded(encoding)
            for encoding in ("utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-le", "utf-8-sig")
        },
    ),
    ("N05", MALFORMED, everywhere(LONG) | {"5 kB of a number, then no JSON": in_payload(b"9" * 5000 + b"x")}),
    ("N05", ACCEPTED, everywhere(BOUNDED)),
    (
        "N05",
        "request_too_large",
        {"5 MB of spaces": in_payload(b" " * 5_000_000 + b"1"), "100000 levels": in_payload(b"[" * 100_000)},
    ),
    (
        "N05",
        MALFORMED,
        {
            "30000 levels": in_payload(b"[" * 30_000),
            "a number of 40000 digits": in_payload(b"9" * 40_000),
            "8000 members": in_payload(b"{" + b'"":1,' * 8000 + b"}"),
        },
    ),
    ("N06", MALFORMED, everywhere({text: text.encode() for text in BAD_NUMBERS})),
    ("N06", ACCEPTED, everywhere({text: text.encode() for text in NUMBERS})),
    ("N07", MALFORMED, everywhere(NEARLY_JSON)),
    ("N07", MALFORMED, {f"{name} around": around_claims(*texts) for name, texts in AROUND.items()}),
    ("N07", ACCEPTED, {"white space around": around_claims(b" \t\r\n", b"\n \t\r")}),
    (
        "N09",
        ACCEPTED,
        {
            "500 unknown members": headed({"alg": "RS256", "kid": "rsa"} | {f"m{n}": n for n in range(500)}),
            "members of every type": in_header(b'[null,true,1.5,{"y":[]},"\\u00e9"]'),
            "cty alone": headed({"alg": "RS256", "kid": "rsa", "cty": "JWT"}),
        },
    ),
    (
        "N09",
        MALFORMED,
        {
            "a nested token": lambda world: jws(world.op.keys[0], world.op.token(), cty="JWT"),
            "a nested token in quotes": lambda world: jws(world.op.keys[0], f'"{world.op.token()}"', cty="JWT"),
        },
    ),
]

# What JSONTestSuite calls good JSON and we refuse: duplicate members, and U+0000, in which strings of C end.
REFUSED = {
    "y_object_duplicated_key",
    "y_object_duplicated_key_and_value",
    "y_object_escaped_null_in_key",
    "y_string_null_escape",
}


def suite_cases() -> list[tuple]:
    """JSONTestSuite: each text as the header, as the payload, and as a value within good ones."""
    table = []
    for name, octets in json_suite().items():
        is_json = name.startswith("y_") and name not in REFUSED
        is_object = is_json and octets.strip().startswith(b"{")
        either = (MALFORMED, ACCEPTED) if name.startswith("i_") else None
        within = either or (ACCEPTED if is_json else MALFORMED)
        as_header = "algorithm_not_allowed" if is_object else MALFORMED
        as_payload = "provider_unknown" if is_object else MALFORMED
        if either:
            as_header, as_payload = (MALFORMED, "algorithm_not_allowed"), (MALFORMED, "provider_unknown")
        if len(octets) > LONGEST_BODY:
            as_header = as_payload = within = "request_too_large"
        table += [
            ("N50", as_header, {f"{name} as the header": header_octets(octets)}),
            ("N50", as_payload, {f"{name} as the payload": lambda world, octets=octets: jws(world.op.keys[0], octets)}),
            ("N50", within, {f"{name} in the header": in_header(octets), f"{name} in the payload": in_payload(octets)}),
        ]
    return table


@pytest.mark.parametrize("case", cases(*TABLE))
def test_header_and_payload_are_one_strict_json_object_each(world, case):
    world.strike(case)


@pytest.mark.parametrize("case", cases(*suite_cases()))
def test_the_json_test_suite_is_judged_as_it_says(world, case):
    world.strike(case)
