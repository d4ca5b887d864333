"""C. Claims, all of them well signed: what they may be, and what comes back."""

import pytest

from attacks.catalogue import ACCEPTED, cases, rows
from attacks.forge import asking, claim, good, with_claim
from harness.tokens import json_bytes, jws, now

MISSING, INVALID, MALFORMED = "claim_missing", "claim_invalid", "token_malformed"
EXPIRED, EARLY, OLD, STALE = "token_expired", "token_not_yet_valid", "token_too_old", "auth_time_too_old"
AUDIENCE, ISSUER, UNKNOWN = "audience_mismatch", "issuer_mismatch", "provider_unknown"


def each(name: str, *texts: str, **claims) -> dict:
    """One claim with each of these JSON texts."""
    return {f"{name} {text[:30]}": claim(name, text, **claims) for text in texts}


def iss(change):
    return lambda world: world.op.token(iss=change(world.op.url))


def each_iss(provider: str | None) -> dict:
    """Near misses of the issuer, with a provider named and without."""
    members = {} if provider is None else {"provider": provider}
    suffix = "" if provider is None else ", provider named"
    return {name + suffix: asking(iss(change), **members) for name, change in NEAR_ISSUERS.items()}


NEAR_ISSUERS = {
    "a slash": lambda url: url + "/",
    "another scheme": lambda url: url.replace("http:", "https:"),
    "the scheme in capitals": lambda url: url.replace("http:", "HTTP:"),
    "the host's name": lambda url: url.replace("127.0.0.1", "localhost"),
    "the host in another form": lambda url: url.replace("127.0.0.1", "127.1"),
    "a port more": lambda url: url.replace("/op", ":443/op"),
    "no port": lambda url: url.rsplit(":", 1)[0] + "/op",
    "a dot after the host": lambda url: url.replace("127.0.0.1", "127.0.0.1."),
    "user info": lambda url: url.replace("http://", "http://user@"),
    "percent-encoding": lambda url: url.replace("/op", "/%6fp"),
    "the path in capitals": lambda url: url.replace("/op", "/OP"),
    "two slashes": lambda url: url.replace("/op", "//op"),
    "a dot segment": lambda url: url.replace("/op", "/./op"),
    "a homograph": lambda url: url.replace("/op", "/\u043ep"),
    "full width": lambda url: url.replace("/op", "/\uff4fp"),
    "a query": lambda url: url + "?x=1",
    "an empty query": lambda url: url + "?",
    "a fragment": lambda url: url + "#",
    "a prefix": lambda url: url[:-1],
    "the scheme alone": lambda url: "http",
    "a suffix": lambda url: url[1:],
    "a space before": lambda url: " " + url,
    "a space after": lambda url: url + " ",
    "a new line after": lambda url: url + "\n",
    "more after": lambda url: url + "x",
    "two issuers": lambda url: url + "," + url,
    "nothing": lambda url: "",
    "a wildcard": lambda url: "*",
    "Apple's": lambda url: "https://appleid.apple.com",
    "a homograph of Google's": lambda url: "https://acc\u043eunts.google.com",
}

NEAR_AUDIENCES = (
    "clien",
    "lient",
    "clientx",
    "xclient",
    "Client",
    "CLIENT",
    "client/",
    "client ",
    " client",
    "client\n",
    "*",
    "c*",
    "client,other-client",
    "client other-client",
    "https://client",
    "cl\u0131ent",
    "clie\u0301nt",
    ".*",
    "other",
    "",
    "null",
)

PAST = (
    "0",
    "-1",
    "-0",
    "1e9",
    "1000000000.9",
    "1700000000",
    "1700000000.9",
    "1e-999",
    "-1e300",
    "-9223372036854775808",
    "-9223372036854775809",
    "-99999999999999999999",
    "0.0000001",
)
FAR = (
    "4102444800",
    "4.1024448e9",
    "2147483648e1",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e300",
    "123456789012345678901234567890",
    "1E+300",
)
NO_NUMBERS = ('"1700000000"', '""', "true", "false", "[]", "{}", "[1700000000]", "null", '"never"')

LONG = 255

TABLE = [
    ("C01", MISSING, {"exp absent": good(exp=None)}),
    ("C01", INVALID, each("exp", *NO_NUMBERS)),
    ("C01", EXPIRED, each("exp", *PAST)),
    ("C01", ACCEPTED, each("exp", *FAR)),
    ("C01", MALFORMED, each("exp", "1e400", "-1e400", "NaN")),
    (
        "C01",
        OLD,
        {"far, but the token is old": lambda world: with_claim(world.short_lived, "exp", "1e300", iat=now() - 4000)},
    ),
    ("C01", ACCEPTED, {"within the skew": lambda world: world.op.token(exp=now() - 30, iat=now() - 90)}),
    ("C01", EXPIRED, {"beyond the skew": lambda world: world.op.token(exp=now() - 61, iat=now() - 90)}),
    ("C03", MISSING, {"iat absent": good(iat=None)}),
    ("C03", INVALID, each("iat", *NO_NUMBERS)),
    (
        "C03",
        EARLY,
        {
            "an hour ahead": lambda world: world.op.token(iat=now() + 3600),
            "beyond the skew": lambda world: world.op.token(iat=now() + 120),
        },
    ),
    ("C03", EARLY, each("iat", *FAR)),
    ("C03", ACCEPTED, each("iat", "0", "-1", "-1e300", "1e9")),
    (
        "C03",
        OLD,
        {
            f"iat {text}": lambda world, text=text: with_claim(world.short_lived, "iat", text)
            for text in ("0", "-1", "-1e300")
        },
    ),
    ("C03", MALFORMED, each("iat", "1e400")),
    ("C05", MISSING, {"aud absent": good(aud=None)} | each("aud", "null", "[]")),
    (
        "C05",
        INVALID,
        each(
            "aud",
            "5",
            "{}",
            "true",
            '[["client"]]',
            "[null]",
            '["client",5]',
            '["client",null]',
            '{"client":1}',
            '["client",{}]',
            "[[]]",
        ),
    ),
    ("C05", ACCEPTED, each("aud", '["client"]', '["client","client"]', '["client","other-client"]', '"cli\\u0065nt"')),
    (
        "C05",
        AUDIENCE,
        {
            "1500 others": good(aud=[f"a{n}" for n in range(1500)]),
            "ours among 1500": good(aud=["client"] + ["x"] * 1500),
            "an empty one": good(aud=[""]),
            "ours and another's": good(aud=["client", "stranger"]),
        },
    ),
    ("C05", "authorized_party_mismatch", {"another's azp": good(aud=["client", "stranger"], azp="stranger")}),
    (
        "C05",
        ACCEPTED,
        {"1200 times ours": good(aud=["client"] * 1200), "our azp": good(aud=["client", "stranger"], azp="client")},
    ),
    ("C05", MALFORMED, {"10000 entries": good(aud=["a"] * 10_000)}),
    ("C06", AUDIENCE, {ascii(text): good(aud=text) for text in NEAR_AUDIENCES}),
    ("C06", AUDIENCE, {f"[{text!a}]": good(aud=[text]) for text in NEAR_AUDIENCES}),
    ("C06", AUDIENCE, {"another than the one asked for": asking(good(aud="other-client"), audience="client")}),
    (
        "C06",
        "audience_not_configured",
        {"one asked for that is not ours": asking(good(aud="stranger"), audience="stranger")},
    ),
    ("C08", UNKNOWN, each_iss(None)),
    ("C08", ISSUER, each_iss("op")),
    ("C08", UNKNOWN, {"iss absent": good(iss=None)} | each("iss", "null", "5", "{}", '["http://127.0.0.1"]', "true")),
    ("C08", MISSING, {"iss absent, provider named": asking(good(iss=None), provider="op")}),
    (
        "C08",
        INVALID,
        {
            f"{name}, provider named": asking(make, provider="op")
            for name, make in each("iss", "null", "5", "{}", '["http://127.0.0.1"]', "true").items()
        },
    ),
    ("C08", ISSUER, {"Google's alias from another": asking(good(iss="accounts.google.com"), provider="op")}),
    ("C08", ACCEPTED, {"Google's alias from Google": lambda world: world.google.token(iss="accounts.google.com")}),
    ("C10", MISSING, {"sub absent": good(sub=None), "sub empty": good(sub="")}),
    ("C10", INVALID, each("sub", "null", "5", "12345678", "{}", "[]", '["user-1"]', "true", "1.5")),
    (
        "C10",
        INVALID,
        {f"256 of {ascii(text)}": good(sub=text * (LONG + 1)) for text in ("x", "\u00e9", "\u6f22", "\U0001f408")},
    ),
    (
        "C10",
        ACCEPTED,
        {f"255 of {ascii(text)}": good(sub=text * LONG) for text in ("x", "\u00e9", "\u6f22", "\U0001f408")},
    ),
    # Unicode scalars are counted: an accent that stands alone is one.
    ("C10", INVALID, {"200 of two scalars": good(sub="e\u0301" * 200)}),
    ("C10", INVALID, {ascii(text): good(sub=text) for text in (" ", "   ", "a\nb", "\x7f", "a\x85b", "\x1b[2J")}),
    ("C10", MALFORMED, {"with a NUL": good(sub="a\0b")}),
    (
        "C11",
        INVALID,
        each(
            "email_verified",
            '"TRUE"',
            '"True"',
            '"yes"',
            '"1"',
            '"0"',
            '""',
            "null",
            "{}",
            "[]",
            "[true]",
            "2",
            "-1",
            "0.5",
            '"true "',
            email="a@example.com",
        ),
    ),
    (
        "C11",
        INVALID,
        each("is_private_email", '"TRUE"', '"yes"', '"1"', "null", "{}", "[]", "2", email="a@example.com"),
    ),
    ("C11", INVALID, each("email", "5", "{}", '["a@example.com"]', "true")),
    (
        "C14",
        INVALID,
        {
            "a notification with a sub": lambda world: world.apple.token(events='{"type":"email-disabled"}'),
            "events an object": good(events={"http://schemas.openid.net/event/backchannel-logout": {}}),
            "events null": claim("events", "null"),
            "events an empty list": good(events=[]),
        },
    ),
    (
        "C14",
        MISSING,
        {
            "a notification without a sub": lambda world: world.apple.token(
                sub=None, events='{"type":"consent-revoked"}'
            )
        },
    ),
    (
        "C16",
        MISSING,
        {"a Cognito access token": good(aud=None, token_use="access", client_id="client", scope="openid")},
    ),
    (
        "C16",
        AUDIENCE,
        {"an access token for an API": good(aud="https://api.example.com", scope="openid", client_id="client")},
    ),
    ("C17", STALE, {f"0, max_age {age}": asking(good(auth_time=0), max_age=age) for age in (0, 1, 3600, 10**9)}),
    (
        "C17",
        ACCEPTED,
        {
            "0, no max_age": good(auth_time=0),
            "0, a max_age of ages": asking(good(auth_time=0), max_age=10**18),
            "0, the longest max_age": asking(good(auth_time=0), max_age=2**63 - 1),
            # A member that is null is absent: only a nonce is too much to lose so.
            "0, max_age null": asking(good(auth_time=0), max_age=None),
        },
    ),
    (
        "C17",
        "request_invalid",
        {
            f"max_age {age!r}": asking(good(auth_time=0), max_age=age)
            for age in (-1, -(2**63), 2**63, 1.5, "60", "", "null", False, True, [60], [], {})
        },
    ),
    ("C17", INVALID, each("auth_time", *NO_NUMBERS)),
    ("C17", MALFORMED, each("auth_time", "1e400")),
    (
        "C17",
        INVALID,
        {"in the future": lambda world: {"id_token": world.op.token(auth_time=now() + 3600), "max_age": 60}},
    ),
    (
        "C17",
        INVALID,
        {f"{text}, max_age": asking(claim("auth_time", text), max_age=60) for text in ("1e300", "9223372036854775807")},
    ),
    (
        "C17",
        STALE,
        {
            f"{text}, max_age": asking(claim("auth_time", text), max_age=60)
            for text in ("-1", "-1e300", "-9223372036854775808")
        },
    ),
    ("C17", STALE, {"absent, an old iat": lambda world: {"id_token": world.op.token(iat=now() - 300), "max_age": 200}}),
    ("C17", ACCEPTED, {"absent, a new iat": asking(good(), max_age=60)}),
    # The additions.
    ("C50", INVALID, each("nbf", *NO_NUMBERS)),
    ("C50", EARLY, each("nbf", *FAR)),
    ("C50", ACCEPTED, each("nbf", "0", "-1", "-1e300")),
    ("C51", INVALID, each("azp", "5", "[]", "{}", "null", '["client"]')),
    ("C51", INVALID, each("nonce", "5", "[]", "{}", "null", "true")),
    (
        "C52",
        ACCEPTED,
        {
            "__proto__": good(**{"__proto__": {"aud": "x"}, "constructor": None}),
            "a claim of every type": good(a=None, b=1.5, c=[], d={}, e=True),
        },
    ),
    (
        "C52",
        UNKNOWN,
        {
            "claims within a claim": lambda world: jws(world.op.keys[0], {"claims": world.op.claims()}),
            "names in capitals": lambda world: jws(
                world.op.keys[0], {name.upper(): value for name, value in world.op.claims().items()}
            ),
        },
    ),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_a_good_signature_makes_no_claim_good(world, case):
    world.strike(case)


TRUE, FALSE = ("true", '"true"', "1", "1.0"), ("false", '"false"', "0", "-0")


@pytest.mark.parametrize(
    ("claimed", "text", "value"),
    rows(
        *(
            ("C11", f"{name} {text}", name, text, True)
            for name in ("email_verified", "is_private_email")
            for text in TRUE
        ),
        *(
            ("C11", f"{name} {text}", name, text, False)
            for name in ("email_verified", "is_private_email")
            for text in FALSE
        ),
    ),
)
def test_a_boolean_is_what_providers_write_for_one(world, claimed, text, value):
    if text in ("1.0", "-0"):
        # An integer by value, not by its text: as a boolean it is one or it is refused, and never the other one.
        response = world.target.ask(with_claim(world.op, claimed, text, email="a@example.com"))
        assert response.code == INVALID or response.json["identity"][claimed] is value, response
        return
    answer = world.expect(with_claim(world.op, claimed, text, email="a@example.com"), ACCEPTED)
    assert answer["identity"][claimed] is value


TRUSTED, VERIFIED, UNVERIFIED = "authoritative", "verified", "unverified"


@pytest.mark.parametrize(
    ("issuer", "claims", "trust"),
    rows(
        ("C13", "a provider that runs no mailbox", "op", {"email": "a@victim.example"}, VERIFIED),
        ("C13", "gmail.com from another", "op", {"email": "a@gmail.com", "hd": "gmail.com"}, VERIFIED),
        ("C13", "Apple's relay from another", "op", {"email": "a@privaterelay.appleid.com"}, VERIFIED),
        ("C13", "hd from another", "op", {"email": "a@victim.example", "hd": "victim.example"}, VERIFIED),
        ("C13", "gmail.com", "google", {"email": "a@gmail.com"}, TRUSTED),
        ("C13", "gmail.com in capitals", "google", {"email": "a@GMAIL.COM"}, TRUSTED),
        ("C13", "a hosted domain", "google", {"email": "a@corp.example", "hd": "corp.example"}, TRUSTED),
        ("C13", "another hosted domain", "google", {"email": "a@victim.example", "hd": "corp.example"}, VERIFIED),
        ("C13", "a look-alike of gmail.com", "google", {"email": "a@gmai1.com", "hd": "gmail.com"}, VERIFIED),
        ("C13", "gmail.com with a homograph", "google", {"email": "a@gm\u0430il.com"}, VERIFIED),
        ("C13", "a subdomain", "google", {"email": "a@x.gmail.com"}, VERIFIED),
        ("C13", "gmail.com as a prefix", "google", {"email": "a@gmail.com.attacker.example"}, VERIFIED),
        ("C13", "gmail.com as a suffix", "google", {"email": "a@attackergmail.com"}, VERIFIED),
        ("C13", "gmail.com in the local part", "google", {"email": "gmail.com@attacker.example"}, VERIFIED),
        (
            "C13",
            "hd a suffix of the domain",
            "google",
            {"email": "a@evil-corp.example", "hd": "corp.example"},
            VERIFIED,
        ),
        ("C13", "hd empty", "google", {"email": "a@corp.example", "hd": ""}, VERIFIED),
        ("C13", "hd a parent of the domain", "google", {"email": "a@corp.example", "hd": "example"}, VERIFIED),
        ("C13", "hd a list", "google", {"email": "a@corp.example", "hd": ["corp.example"]}, VERIFIED),
        ("C13", "not verified", "google", {"email": "a@gmail.com", "email_verified": False}, UNVERIFIED),
        ("C13", "nothing said", "google", {"email": "a@gmail.com", "email_verified": None}, UNVERIFIED),
        ("C13", "icloud.com", "apple", {"email": "a@icloud.com"}, TRUSTED),
        ("C13", "Apple's relay", "apple", {"email": "a@privaterelay.appleid.com"}, TRUSTED),
        ("C13", "a subdomain of Apple's relay", "apple", {"email": "a@x.privaterelay.appleid.com"}, VERIFIED),
        ("C13", "apple.com", "apple", {"email": "a@apple.com"}, VERIFIED),
        ("C13", "a mailbox elsewhere", "apple", {"email": "a@victim.example"}, VERIFIED),
    ),
)
def test_an_address_is_authoritative_where_the_provider_runs_its_domain(world, issuer, claims, trust):
    answer = world.expect(getattr(world, issuer).token(**({"email_verified": True} | claims)), ACCEPTED)
    assert answer["identity"]["email_trust"] == trust
    assert answer["identity"]["email"] == claims["email"]


# None of these is one address, and nothing and nobody can be verified by it: another reader may find another one in it.
NO_ADDRESSES = {
    "two at signs": "a@gmail.com@attacker.example",
    "two at signs, the provider's domain last": "a@attacker.example@gmail.com",
    "two at signs in a row": "a@@gmail.com",
    "a dot after the domain": "a@gmail.com.",
    "a dot before the domain": "a@.gmail.com",
    "two dots in the domain": "a@gmail..com",
    "a space after the domain": "a@gmail.com ",
    "a space before": " a@gmail.com",
    "a space in it": "a b@gmail.com",
    "a new line after the domain": "a@gmail.com\n",
    "a header after the domain": "a@gmail.com\r\nBcc: a@attacker.example",
    "a DEL in it": "a\x7f@gmail.com",
    "no at sign": "gmail.com",
    "no local part": "@gmail.com",
    "no domain": "a@",
    "an at sign alone": "@",
    "a list": "a@attacker.example,a@gmail.com",
    "a list with semicolons": "a@gmail.com;a@attacker.example",
    "a display name": "Victim <a@gmail.com>",
    "angle brackets": "<a@gmail.com>",
    "a quoted local part": '"a@attacker.example"@gmail.com',
    "a comment": "a@gmail.com(attacker)",
    "a domain literal": "a@[127.0.0.1]",
    "a hyphen before the domain": "a@-gmail.com",
    "another form of the at sign": "a\uff20gmail.com",
    "another form of the dot": "a@gmail\u3002com",
    "invisible": "a@gm\u200bail.com",
    "from right to left": "a\u202e@gmail.com",
}


@pytest.mark.parametrize(
    ("issuer", "claims"),
    rows(
        *(("C13", name, "google", {"email": text, "hd": "gmail.com"}) for name, text in NO_ADDRESSES.items()),
        ("C13", "no domain, hd empty", "google", {"email": "a@", "hd": ""}),
        ("C13", "two at signs, Apple's relay last", "apple", {"email": "a@b.example@privaterelay.appleid.com"}),
        ("C13", "a space after Apple's relay", "apple", {"email": "a@privaterelay.appleid.com "}),
        ("C13", "two at signs, private", "op", {"email": "a@b.example@c.example", "is_private_email": True}),
    ),
)
def test_what_is_not_one_address_is_none_and_nothing_is_said_of_it(world, issuer, claims):
    identity = world.expect(getattr(world, issuer).token(**({"email_verified": True} | claims)), ACCEPTED)["identity"]
    members = ("email", "email_verified", "email_trust", "is_private_email")
    assert {name: identity[name] for name in members} == dict.fromkeys(members)


@pytest.mark.parametrize("claims", rows(("C13", "none at all", {}), ("C13", "empty", {"email": ""})))
def test_without_an_address_there_is_no_trust_and_what_was_said_of_it_stays(world, claims):
    identity = world.expect(world.google.token(email_verified=True, **claims), ACCEPTED)["identity"]
    assert (identity["email"], identity["email_verified"], identity["email_trust"]) == (None, True, None)
    assert not identity["is_private_email"]


NUMBERS = "9007199254740993, 1e3, 1E+3, 0.1, 1.10, -0, 123456789012345678901234567890, 1.7976931348623157e308, 5e-324"
ESCAPES = "".join(f"\\u{code:04x}" for code in range(0x3400, 0x3400 + 1500))


@pytest.mark.parametrize(
    "text",
    rows(
        ("C19", "numbers", f',"numbers":[{NUMBERS}]'),
        ("C19", "escapes", f',"escapes":"{ESCAPES}"'),
        ("C19", "a pair of surrogates", ',"pair":"\\ud834\\udd1e","plain":"\U0001d11e"'),
        ("C19", "white space", ' ,\t"a" : [ 1 ,\n2 ] '),
        ("C19", "names that only look alike", ',"e\u0301":1,"\u00e9":2'),
        ("C19", "slashes and controls", ',"a":"\\/\\b\\f\\n\\u001f\\u007f"'),
    ),
)
def test_the_raw_claims_come_back_as_they_were_signed(world, text):
    octets = json_bytes(world.op.claims())[:-1] + text.encode() + b"}"
    request = {"id_token": jws(world.op.keys[0], octets), "include_claims": True}
    response = world.target.ask(request)
    assert response.status == 200, response
    assert b'"claims":' + octets in response.body
    assert len(response.body) < len(octets) + 2000
    assert "claims" not in world.expect(request | {"include_claims": False}, ACCEPTED)


@pytest.mark.parametrize(
    ("text", "expires_at"),
    rows(
        ("C01", "a fraction is floored", "4102444800.9", 4102444800),
        ("C01", "an exponent is a number", "4.1024448e9", 4102444800),
        ("C01", "2^31", "2147483648", 2147483648),
        ("C01", "2^32", "4294967296", 4294967296),
        ("C01", "2^53 - 1", "9007199254740991", 2**53 - 1),
    ),
)
def test_a_time_is_told_in_whole_seconds(world, text, expires_at):
    answer = world.expect(with_claim(world.op, "exp", text), ACCEPTED)
    assert answer["token"]["expires_at"] == expires_at
