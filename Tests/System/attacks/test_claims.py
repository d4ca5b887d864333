"""C. Claims of correctly signed tokens: which values are accepted, and what is returned."""

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
    """A near miss of the issuer, with and without a named provider."""
    members = {} if provider is None else {"provider": provider}
    suffix = "" if provider is None else ", provider named"
    return {name + suffix: asking(iss(change), **members) for name, change in NEAR_ISSUERS.items()}


# `Tests/IDTokenTests` has every near miss: IssuerTests, AudienceTests, TimesTests and so on.
NEAR_ISSUERS = {
    "a slash": lambda url: url + "/",
    "the host in another form": lambda url: url.replace("127.0.0.1", "127.1"),
    "a homograph": lambda url: url.replace("/op", "/\u043ep"),
}

TABLE = [
    ("C01", MISSING, {"exp absent": good(exp=None)}),
    ("C01", INVALID, each("exp", '"1700000000"')),
    ("C01", EXPIRED, each("exp", "-1e300")),
    ("C01", ACCEPTED, each("exp", "1e300")),
    ("C01", MALFORMED, each("exp", "1e400")),
    (
        "C01",
        OLD,
        {"far, but the token is old": lambda world: with_claim(world.short_lived, "exp", "1e300", iat=now() - 4000)},
    ),
    ("C01", ACCEPTED, {"within the skew": lambda world: world.op.token(exp=now() - 30, iat=now() - 90)}),
    ("C01", EXPIRED, {"beyond the skew": lambda world: world.op.token(exp=now() - 61, iat=now() - 90)}),
    ("C03", MISSING, {"iat absent": good(iat=None)}),
    ("C03", INVALID, each("iat", "true")),
    ("C03", EARLY, {"beyond the skew": lambda world: world.op.token(iat=now() + 120)} | each("iat", "1E+300")),
    ("C03", ACCEPTED, each("iat", "-1e300")),
    ("C03", OLD, {"iat -1": lambda world: with_claim(world.short_lived, "iat", "-1")}),
    ("C05", MISSING, {"aud absent": good(aud=None)} | each("aud", "[]")),
    ("C05", INVALID, each("aud", "5", '["client",5]')),
    ("C05", ACCEPTED, each("aud", '["client","other-client"]', '"cli\\u0065nt"')),
    (
        "C05",
        AUDIENCE,
        {
            "ours among 1500": good(aud=["client"] + ["x"] * 1500),
            "ours and another's": good(aud=["client", "stranger"]),
        },
    ),
    ("C05", "authorized_party_mismatch", {"another's azp": good(aud=["client", "stranger"], azp="stranger")}),
    ("C05", MALFORMED, {"10000 entries": good(aud=["a"] * 10_000)}),
    ("C06", AUDIENCE, {ascii(text): good(aud=text) for text in ("clien", "client\n", "cl\u0131ent")}),
    ("C06", AUDIENCE, {"another than the one asked for": asking(good(aud="other-client"), audience="client")}),
    (
        "C06",
        "audience_not_configured",
        {"one asked for that is not ours": asking(good(aud="stranger"), audience="stranger")},
    ),
    ("C08", UNKNOWN, each_iss(None)),
    ("C08", ISSUER, each_iss("op")),
    ("C08", UNKNOWN, {"iss absent": good(iss=None)} | each("iss", "5")),
    ("C08", MISSING, {"iss absent, provider named": asking(good(iss=None), provider="op")}),
    ("C08", INVALID, {"iss 5, provider named": asking(claim("iss", "5"), provider="op")}),
    ("C08", ISSUER, {"Google's alias from another": asking(good(iss="accounts.google.com"), provider="op")}),
    ("C08", ACCEPTED, {"Google's alias from Google": lambda world: world.google.token(iss="accounts.google.com")}),
    ("C10", MISSING, {"sub absent": good(sub=None)}),
    ("C10", INVALID, each("sub", "5")),
    ("C10", INVALID, {"a control character": good(sub="\x1b[2J"), "200 of two scalars": good(sub="e\u0301" * 200)}),
    ("C10", ACCEPTED, {"255 of four octets": good(sub="\U0001f408" * 255)}),
    ("C10", MALFORMED, {"with a NUL": good(sub="a\0b")}),
    ("C11", INVALID, each("email_verified", '"TRUE"', "2", email="a@example.com")),
    ("C11", INVALID, each("is_private_email", '"yes"', email="a@example.com")),
    ("C11", INVALID, each("email", '["a@example.com"]')),
    (
        "C14",
        INVALID,
        {
            "a notification with a sub": lambda world: world.apple.token(events='{"type":"email-disabled"}'),
            "events an object": good(events={"http://schemas.openid.net/event/backchannel-logout": {}}),
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
    ("C17", STALE, {"0, max_age 3600": asking(good(auth_time=0), max_age=3600)}),
    ("C17", ACCEPTED, {"0, no max_age": good(auth_time=0), "0, max_age null": asking(good(auth_time=0), max_age=None)}),
    ("C17", "request_invalid", {f"max_age {age!r}": asking(good(auth_time=0), max_age=age) for age in (-1, 2**63, "60")}),
    ("C17", INVALID, each("auth_time", '"1700000000"') | {"1e300": asking(claim("auth_time", "1e300"), max_age=60)}),
    ("C17", STALE, {"-1e300": asking(claim("auth_time", "-1e300"), max_age=60)}),
    ("C17", STALE, {"absent, an old iat": lambda world: {"id_token": world.op.token(iat=now() - 300), "max_age": 200}}),
    # Additions to the catalogue.
    ("C50", INVALID, each("nbf", '"1700000000"')),
    ("C50", EARLY, each("nbf", "9007199254740993")),
    ("C51", INVALID, each("azp", '["client"]') | each("nonce", "5")),
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
def test_a_valid_signature_does_not_make_claims_valid(world, case):
    world.strike(case)


TRUSTED, VERIFIED, UNVERIFIED = "authoritative", "verified", "unverified"


@pytest.mark.parametrize(
    ("issuer", "claims", "trust"),
    rows(
        ("C13", "gmail.com from another", "op", {"email": "a@gmail.com", "hd": "gmail.com"}, VERIFIED),
        ("C13", "gmail.com", "google", {"email": "a@gmail.com"}, TRUSTED),
        ("C13", "gmail.com as a prefix", "google", {"email": "a@gmail.com.attacker.example"}, VERIFIED),
        ("C13", "another hosted domain", "google", {"email": "a@victim.example", "hd": "corp.example"}, VERIFIED),
        ("C13", "nothing said", "google", {"email": "a@gmail.com", "email_verified": None}, UNVERIFIED),
        ("C13", "Apple's relay", "apple", {"email": "a@privaterelay.appleid.com"}, TRUSTED),
        ("C13", "a mailbox elsewhere", "apple", {"email": "a@victim.example"}, VERIFIED),
    ),
)
def test_an_email_is_authoritative_only_if_the_provider_runs_its_domain(world, issuer, claims, trust):
    answer = world.expect(getattr(world, issuer).token(**({"email_verified": True} | claims)), ACCEPTED)
    assert answer["identity"]["email_trust"] == trust
    assert answer["identity"]["email"] == claims["email"]


# None of these is a single address: another parser may find a different one in it.
NO_ADDRESSES = {
    "two at signs": "a@gmail.com@attacker.example",
    "two at signs, the provider's domain last": "a@attacker.example@gmail.com",
    "a header after the domain": "a@gmail.com\r\nBcc: a@attacker.example",
    "a display name": "Victim <a@gmail.com>",
    "from right to left": "a\u202e@gmail.com",
}


@pytest.mark.parametrize(
    ("issuer", "claims"),
    rows(
        *(("C13", name, "google", {"email": text, "hd": "gmail.com"}) for name, text in NO_ADDRESSES.items()),
        ("C13", "two at signs, Apple's relay last", "apple", {"email": "a@b.example@privaterelay.appleid.com"}),
    ),
)
def test_an_invalid_email_is_omitted_with_everything_about_it(world, issuer, claims):
    identity = world.expect(getattr(world, issuer).token(**({"email_verified": True} | claims)), ACCEPTED)["identity"]
    members = ("email", "email_verified", "email_trust", "is_private_email")
    assert {name: identity[name] for name in members} == dict.fromkeys(members)


@pytest.mark.parametrize("claims", rows(("C13", "none at all", {}), ("C13", "empty", {"email": ""})))
def test_without_an_email_there_is_no_trust_and_no_verification(world, claims):
    identity = world.expect(world.google.token(email_verified=True, **claims), ACCEPTED)["identity"]
    assert (identity["email"], identity["email_verified"], identity["email_trust"]) == (None, None, None)
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
def test_claims_are_returned_exactly_as_signed(world, text):
    octets = json_bytes(world.op.claims())[:-1] + text.encode() + b"}"
    request = {"id_token": jws(world.op.keys[0], octets), "include_claims": True}
    response = world.target.ask(request)
    assert response.status == 200, response
    assert b'"claims":' + octets in response.body
    assert len(response.body) < len(octets) + 2000
    assert "claims" not in world.expect(request | {"include_claims": False}, ACCEPTED)
