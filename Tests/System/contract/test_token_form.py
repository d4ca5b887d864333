"""`token_malformed` and `header_unsupported`: the compact serialization, its base64url, its JSON, its header."""

import json

import pytest

from harness.tokens import assemble, b64url, json_bytes, jws, parts, signing_input

LONGEST = 16 * 1024

# One line a kind of broken JSON object; none of them may pass, as header or as payload.
BROKEN_JSON = {
    "empty": b"",
    "space only": b"   ",
    "null": b"null",
    "array": b"[]",
    "number": b"5",
    "string": b'"x"',
    "unterminated": b'{"a":1',
    "two objects": b'{"a":1}{"a":1}',
    "trailing brace": b'{"a":1}}',
    "trailing text": b'{"a":1} x',
    "trailing NUL": b'{"a":1}\0',
    "NDJSON": b'{"a":1}\n{"a":1}',
    "trailing comma": b'{"a":1,}',
    "comment": b'{"a":1/*x*/}',
    "line comment": b'{"a":1}//x',
    "single quotes": b"{'a':1}",
    "unquoted name": b"{a:1}",
    "undefined": b'{"a":undefined}',
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":Infinity}',
    "hexadecimal": b'{"a":0x10}',
    "leading zero": b'{"a":01}',
    "plus": b'{"a":+1}',
    "no integer part": b'{"a":.5}',
    "no fraction": b'{"a":1.}',
    "no exponent": b'{"a":1e}',
    "beyond a double": b'{"a":1e400}',
    "far beyond a double": b'{"a":-1E+2147483648}',
    "raw control character": b'{"a":"\x01"}',
    "raw newline in a string": b'{"a":"\n"}',
    "bad escape": b'{"a":"\\x"}',
    "short escape": b'{"a":"\\u12"}',
    "escaped NUL": b'{"a":"\\u0000"}',
    "escaped NUL in a name": b'{"a\\u0000":1}',
    "lone high surrogate": b'{"a":"\\ud800"}',
    "lone low surrogate": b'{"a":"\\udc00"}',
    "lone continuation": b'{"a":"\x80"}',
    "overlong": b'{"a":"\xc0\xaf"}',
    "surrogate in UTF-8": b'{"a":"\xed\xa0\x80"}',
    "truncated UTF-8": b'{"a":"\xe2\x82"}',
    "beyond Unicode": b'{"a":"\xf5\x80\x80\x80"}',
    "bad UTF-8 in a name": b'{"\xff":1}',
    "BOM": b'\xef\xbb\xbf{"a":1}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "UTF-16BE": '{"a":1}'.encode("utf-16-be"),
    "UTF-32": '{"a":1}'.encode("utf-32-le"),
    "duplicate": b'{"a":1,"a":1}',
    "escaped duplicate": b'{"a":1,"\\u0061":1}',
    "nested duplicate": b'{"b":{"a":1,"a":2}}',
    "duplicate in an array": b'{"b":[{"a":1,"a":2}]}',
    "deep arrays": b'{"a":' + b"[" * 2049 + b"]" * 2049 + b"}",
    "deep objects": b'{"a":' * 1500 + b"1" + b"}" * 1500,
    "unclosed depth": b'{"a":' + b"[" * 10_000,
    "many unclosed objects": b'{"a":' * 2200,
}


def with_header(key, extra: str, payload) -> str:
    """A correctly signed token whose header has more text before its closing brace."""
    return jws(key, payload, header=f'{{"alg":"RS256","kid":"{key.kid}"{extra}}}')


@pytest.mark.parametrize(
    "token",
    ["", ".", "..", "...", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.e", "." * 8000, "e30..e30", ".e30.e30"],
    ids=lambda token: token[:12] or "empty",
)
def test_what_is_no_compact_serialization_is_malformed(service, token):
    service.reject(token, "token_malformed")


def test_an_encrypted_token_is_malformed(service):
    header = b64url(b'{"alg":"RSA-OAEP","enc":"A128GCM"}')
    service.reject(f"{header}.AAAA.AAAA.AAAA.AAAA", "token_malformed")


def token_of_length(issuer, length: int) -> str:
    """A good token of just this length: fillers in header and payload, since no part's length can be 4n + 1."""
    key = issuer.keys[0]
    for pad in range(4):
        header = {"alg": "RS256", "kid": key.kid, "pad": "x" * pad}
        for filler in range(length // 2, length):
            claims = issuer.claims(filler="x" * filler)
            found = len(signing_input(header, claims)) + 1 + len(b64url(bytes(256)))
            if found == length:
                return jws(key, claims, header=header)
            if found > length:
                break
    raise AssertionError("no such length")


def test_a_token_of_the_greatest_length_is_read_and_a_longer_one_is_not(service, oidc):
    longest, longer = token_of_length(oidc, LONGEST), token_of_length(oidc, LONGEST + 1)
    assert (len(longest), len(longer)) == (LONGEST, LONGEST + 1)
    service.accept(longest)
    service.reject(longer, "token_malformed")
    service.reject(token_of_length(oidc, 40_000), "token_malformed")


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("tail", ["=", "==", "%3D"])
def test_padding_is_malformed(service, oidc, part, tail):
    pieces = list(parts(oidc.token()))
    pieces[part] += tail
    service.reject(".".join(pieces), "token_malformed")


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("character", "+/ \t\r\n\0\ufeff\u200b\u00a0%\u2028é", ids=ascii)
def test_a_character_outside_the_alphabet_is_malformed(service, oidc, part, character):
    pieces = list(parts(oidc.token()))
    for at in (0, 8, len(pieces[part])):
        broken = list(pieces)
        broken[part] = broken[part][:at] + character + broken[part][at:]
        service.reject(".".join(broken), "token_malformed")


@pytest.mark.parametrize("part", range(3))
def test_last_bits_that_are_not_zero_are_malformed(service, oidc, part):
    """A last character with spare bits stands for the same octets four or sixteen times."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for filler in range(3):
        pieces = list(parts(jws(oidc.keys[0], oidc.claims(filler="x" * filler), pad="x" * filler)))
        if len(pieces[part]) % 4 != 0:
            last = alphabet[alphabet.index(pieces[part][-1]) + 1]
            service.reject(".".join([*pieces[:part], pieces[part][:-1] + last, *pieces[part + 1 :]]), "token_malformed")
            return
    raise AssertionError("no part with spare bits")


@pytest.mark.parametrize("part", range(3))
def test_a_single_left_over_character_is_malformed(service, oidc, part):
    pieces = list(parts(oidc.token()))
    pieces[part] = pieces[part][: len(pieces[part]) // 4 * 4] + "A"
    service.reject(".".join(pieces), "token_malformed")


@pytest.mark.parametrize("wrap", ["Bearer {}", " {}", "{} ", "{}\n", '"{}"', "{}.", ".{}"])
def test_a_token_in_any_wrapping_is_malformed(service, oidc, wrap):
    service.reject(wrap.format(oidc.token()), "token_malformed")


def test_the_json_serializations_are_malformed(service, oidc):
    protected, payload, signature = parts(oidc.token())
    flattened = {"protected": protected, "payload": payload, "signature": signature}
    general = {"payload": payload, "signatures": [{"protected": protected, "signature": signature}]}
    polyglot = json.dumps({f" {protected}.": f".{payload}.{signature}"} | flattened)
    for serialization in (json.dumps(flattened), json.dumps(general), polyglot):
        service.reject(serialization, "token_malformed")


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_a_header_that_is_not_one_strict_json_object_is_malformed(service, oidc, name):
    service.reject(jws(oidc.keys[0], oidc.claims(), header=BROKEN_JSON[name]), "token_malformed")


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_a_payload_that_is_not_one_strict_json_object_is_malformed(service, oidc, name):
    service.reject(jws(oidc.keys[0], BROKEN_JSON[name]), "token_malformed")


@pytest.mark.parametrize(
    "name",
    [
        "unterminated",
        "two objects",
        "trailing brace",
        "trailing text",
        "trailing NUL",
        "NDJSON",
        "trailing comma",
        "comment",
        "line comment",
        "no fraction",
        "no exponent",
        "BOM",
    ],
)
def test_broken_json_around_good_claims_is_malformed(service, oidc, name):
    claims = json_bytes(oidc.claims())[1:-1]
    service.reject(jws(oidc.keys[0], BROKEN_JSON[name].replace(b'"a":1', claims, 1)), "token_malformed")


@pytest.mark.parametrize(
    "extra", [',"alg":"none"', ',"\\u0061lg":"RS256"', ',"al\\u0067":"none"', ',"kid":"x"', ',"x":{"y":1,"y":1}']
)
def test_a_duplicate_member_in_the_header_is_malformed(service, oidc, extra):
    service.reject(with_header(oidc.keys[0], extra, oidc.claims()), "token_malformed")


def test_a_duplicate_claim_is_malformed(service, oidc):
    claims = json_bytes(oidc.claims())
    for extra in (b',"sub":"user-1"}', b',"\\u0073ub":"admin"}', b',"x":[{"y":1,"y":1}]}'):
        service.reject(jws(oidc.keys[0], claims[:-1] + extra), "token_malformed")


def test_a_key_id_of_a_megabyte_is_too_long_a_token(service, oidc):
    response = service.verify(jws(oidc.keys[0], oidc.claims(), kid="x" * 30_000))
    assert response.code == "token_malformed", response
    response = service.verify(jws(oidc.keys[0], oidc.claims(), kid="x" * 1_000_000))
    assert response.code == "request_too_large", response


@pytest.mark.parametrize("kid", ["5", "null", "{}", '["rsa"]', "true"])
def test_a_key_id_that_is_no_string_is_malformed(service, oidc, kid):
    header = f'{{"alg":"RS256","kid":{kid}}}'
    service.reject(jws(oidc.keys[0], oidc.claims(), header=header), "token_malformed")


@pytest.mark.parametrize("typ", ["5", "null", "{}", '["JWT"]', "true"])
def test_a_type_that_is_no_string_is_malformed(service, oidc, typ):
    service.reject(with_header(oidc.keys[0], f',"typ":{typ}', oidc.claims()), "token_malformed")


@pytest.mark.parametrize("typ", [None, "JWT", "jwt", "Jwt", "application/jwt", "APPLICATION/JWT"])
def test_the_types_of_an_id_token_are_accepted(service, oidc, typ):
    service.accept(jws(oidc.keys[0], oidc.claims(), typ=typ))


@pytest.mark.parametrize(
    "typ",
    [
        "at+jwt",
        "application/at+jwt",
        "logout+jwt",
        "secevent+jwt",
        "dpop+jwt",
        "JOSE",
        "JWT;charset=utf-8",
        "",
        "JWT ",
        "ＪＷＴ",
    ],
)
def test_any_other_type_is_unsupported(service, oidc, typ):
    service.reject(jws(oidc.keys[0], oidc.claims(), typ=typ), "header_unsupported")


@pytest.mark.parametrize(
    "crit",
    [["exp"], ["b64"], ["x"], [], "b64", ["alg"], ["exp", "exp"], None, 5, {}, [f"x{n}" for n in range(800)]],
    ids=lambda crit: str(crit)[:20],
)
def test_crit_is_unsupported_whatever_it_says(service, oidc, crit):
    header = {"alg": "RS256", "kid": oidc.keys[0].kid, "exp": 1, "crit": crit}
    service.reject(jws(oidc.keys[0], oidc.claims(), header=header), "header_unsupported")


@pytest.mark.parametrize("b64", [True, False])
def test_b64_is_unsupported(service, oidc, b64):
    service.reject(jws(oidc.keys[0], oidc.claims(), b64=b64), "header_unsupported")


def test_an_unencoded_payload_is_refused(service, oidc):
    key = oidc.keys[0]
    header = b64url(json_bytes({"alg": "RS256", "kid": key.kid, "b64": False, "crit": ["b64"]}))
    payload = "unencoded"
    signature = b64url(key.sign("RS256", f"{header}.{payload}".encode()))
    service.reject(f"{header}.{payload}.{signature}", "header_unsupported", "token_malformed")
    payload = b64url(json_bytes(oidc.claims()))
    signature = b64url(key.sign("RS256", header.encode() + b"." + json_bytes(oidc.claims())))
    service.reject(f"{header}.{payload}.{signature}", "header_unsupported")


@pytest.mark.parametrize("value", ["DEF", "none", "", None, 5])
def test_zip_is_unsupported(service, oidc, value):
    header = {"alg": "RS256", "kid": oidc.keys[0].kid, "zip": value}
    service.reject(jws(oidc.keys[0], oidc.claims(), header=header), "header_unsupported")


def test_unknown_header_members_are_ignored(service, oidc):
    service.accept(jws(oidc.keys[0], oidc.claims(), **{f"member{n}": 1 for n in range(500)}))
    service.accept(jws(oidc.keys[0], oidc.claims(), x=[None, True, 1.5, {"y": []}]))


def test_a_nested_token_is_malformed(service, oidc):
    service.reject(jws(oidc.keys[0], oidc.token(), cty="JWT"), "token_malformed")


def test_white_space_within_the_json_is_no_fault(service, oidc):
    header = f'\n{{ "alg" : "RS256",\t"kid":"{oidc.keys[0].kid}" }}\r\n'
    payload = " " + json.dumps(oidc.claims(), indent=4) + "\n"
    service.accept(jws(oidc.keys[0], payload, header=header))


@pytest.mark.parametrize("depth", [30, 60])
def test_moderate_depth_is_no_fault(service, oidc, depth):
    nested = "x"
    for _ in range(depth):
        nested = [nested]
    service.accept(oidc.token(nested=nested))


def test_an_escaped_member_name_is_the_same_name(service, oidc):
    header = f'{{"\\u0061lg":"RS256","k\\u0069d":"{oidc.keys[0].kid}"}}'
    service.accept(jws(oidc.keys[0], json_bytes(oidc.claims()).replace(b'"sub"', b'"s\\u0075b"'), header=header))


def test_an_integer_beyond_64_bits_that_nobody_reads_is_no_fault(service, oidc):
    payload = json_bytes(oidc.claims())[:-1] + b',"private":123456789012345678901234567890,"big":' + b"9" * 5000 + b"}"
    service.accept(jws(oidc.keys[0], payload))


def test_form_is_judged_before_everything_else(service, oidc):
    """Bad form, a header we don't support, an algorithm we don't allow, no key: form is reported."""
    header = {"alg": "none", "kid": "unknown", "crit": ["x"]}
    service.reject(assemble(header, b"[]", b"x"), "token_malformed")
    service.reject(assemble(header, {}, b"x"), "header_unsupported", "provider_unknown")
    service.reject(assemble(header, oidc.claims(), b"x"), "header_unsupported")
