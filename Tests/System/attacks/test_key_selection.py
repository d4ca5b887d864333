"""K. Key selection: the key is the one that the provider published under the token's `kid`, never one from the token."""

import os
import unicodedata

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from attacks.catalogue import ACCEPTED, cases
from attacks.forge import OUTSIDER, OUTSIDER_EC, headed, signed, under
from harness.tokens import Key, b64url, ec_key, ed_key, jws, rsa_key

NOT_FOUND = "key_not_found"


def forged(kid: str | None = "rsa", **header):
    """Valid claims signed with an outsider's key, with these header members."""
    return lambda world: jws(OUTSIDER, world.op.claims(), kid=kid, **header)


def jku(template: str, name: str = "jku", kid: str | None = "rsa"):
    """A URL of the outsider's keys in the header; `{url}` is the key server's own."""
    return lambda world: forged(kid, **{name: template.format(url=world.server.url, op=world.op.url)})(world)


ADDRESSES = {
    "an attacker's server": "{url}/trap",
    "https elsewhere": "https://attacker.example.com/keys",
    "a path out of the issuer's": "{op}/../trap",
    "an open redirect of the issuer's": "{op}/redirect?to={url}/trap",
    "user info": "{url}@attacker.example.com/trap",
    "a fragment": "{url}/trap#{op}/keys",
    "a backslash": "{url}\\@attacker.example.com/trap",
    "a file": "file:///etc/passwd",
    "cloud metadata": "http://169.254.169.254/latest/meta-data/",
}

# A key with an accented kid, in one of Unicode's two normalization forms.
ACCENTED = ec_key("caf\u00e9")


def accented(kid: str):
    return under(ACCENTED.jwk(), ACCENTED, kid=kid)


def for_something_else(**members):
    key = ec_key("purpose")
    return under(key.jwk(**members), key)


def sharing_a_kid(key):
    def make(world) -> str:
        world.publish(*(shared.jwk() for shared in SHARED))
        return world.by(key)

    return make


SHARED = [Key(OUTSIDER.private, "shared"), ec_key("shared"), ed_key("shared")]


def of_namesake(kid: str):
    """Signed with this issuer's key, but naming another issuer that has a key with the same kid."""
    return lambda world: jws(world.op.key(kid), world.namesake.claims())


def asked_of(provider: str, make):
    return lambda world: {"id_token": make(world), "provider": provider}


def crowd(number: int, kid: str | None):
    """A token signed with the last of this many keys with one kid."""
    keys = [ec_key(f"crowd-{index}") for index in range(number)]

    def make(world) -> str:
        world.publish(*(key.jwk(kid="crowd") for key in keys))
        return world.by(keys[-1], kid=kid)

    return make


TABLE = [
    (
        "K01",
        "signature_invalid",
        {
            "under a real kid": forged(jwk=OUTSIDER.jwk()),
            "under a real kid, of that name": forged(jwk=OUTSIDER.jwk(kid="rsa")),
            "without a kid": forged(None, jwk=OUTSIDER.jwk()),
            "as a set": forged(jwks={"keys": [OUTSIDER.jwk(kid="rsa")]}),
        },
    ),
    ("K01", NOT_FOUND, {"under its own kid": forged("outsider", jwk=OUTSIDER.jwk())}),
    ("K01", ACCEPTED, {"beside a good signature": signed(jwk=OUTSIDER.jwk())}),
    ("K02", "signature_invalid", {f"{name}, a real kid": jku(url) for name, url in ADDRESSES.items()}),
    ("K02", NOT_FOUND, {f"{name}, another kid": jku(url, kid="outsider") for name, url in ADDRESSES.items()}),
    ("K02", "signature_invalid", {f"x5u: {name}": jku(url, "x5u") for name, url in ADDRESSES.items()}),
    ("K02", ACCEPTED, {"beside a good signature": signed(jku="https://attacker.example.com/keys")}),
    ("K04", NOT_FOUND, {kid: headed({"alg": "RS256", "kid": kid}) for kid in ("../../../../dev/null", "rsa/../rsa")}),
    ("K06", ACCEPTED, {kid: headed({"alg": alg}, kid, alg) for kid, alg in (("P-256", "ES256"), ("rsa", "RS256"))}),
    ("K08", "token_malformed", {"a list": headed('{"alg":"RS256","kid":["rsa"]}')}),
    ("K08", NOT_FOUND, {"capitals": headed({"alg": "RS256", "kid": "RSA"}), "10 kB": headed({"alg": "RS256", "kid": "x" * 10_000})}),
    ("K08", NOT_FOUND, {"composed otherwise": accented(unicodedata.normalize("NFD", "caf\u00e9"))}),
    ("K08", ACCEPTED, {"composed alike": accented("caf\u00e9")}),
    ("K08", "request_too_large", {"a megabyte": headed({"alg": "RS256", "kid": "x" * 1_000_000})}),
    ("K09", ACCEPTED, {key.default_algorithm: sharing_a_kid(key) for key in SHARED}),
    ("K11", NOT_FOUND, {"use enc": for_something_else(use="enc"), "key_ops sign": for_something_else(key_ops=["sign"])}),
    ("K11", ACCEPTED, {"use sig": for_something_else(use="sig"), "neither": for_something_else(use=None)}),
    ("K13", "signature_invalid", {kid: of_namesake(kid) for kid in ("rsa", "P-256", "Ed25519")}),
    # The same kids and keys: only issuer and audience distinguish the two.
    (
        "K13",
        "issuer_mismatch",
        {"a shared key, the other's iss": asked_of("op", lambda world: world.twin.token(aud="client"))},
    ),
    (
        "K13",
        "audience_mismatch",
        {"a shared key, the other's aud": lambda world: world.op.token(iss=world.twin.url, aud="client")},
    ),
    ("K13", ACCEPTED, {"a shared key, its own token": lambda world: world.twin.token(aud="twin-client")}),
    (
        "K15",
        NOT_FOUND,
        {
            "Google's for Apple's": asked_of("apple", lambda world: world.google.token()),
            "Apple's for Google's": asked_of("google", lambda world: world.apple.token()),
        },
    ),
    ("K15", "issuer_mismatch", {"of a shared key": asked_of("op", lambda world: world.rs256_only.token())}),
    # `hostile` accepts any algorithm and publishes any keys; `rs256-only` does not.
    (
        "K16",
        "signature_invalid",
        {"the weaker's key, the stricter's iss": lambda world: jws(OUTSIDER, world.rs256_only.claims(), kid="rsa")},
    ),
    (
        "K16",
        "algorithm_not_allowed",
        {
            "the stricter's iss, the weaker's algorithm": lambda world: jws(
                world.op.key("P-256"), world.rs256_only.claims()
            )
        },
    ),
    (
        "K16",
        "audience_mismatch",
        {"the weaker's iss, the stricter's aud": lambda world: world.twin.token(aud="client")},
    ),
    (
        "K16",
        NOT_FOUND,
        {
            "the weaker's iss, the stricter asked": asked_of(
                "rs256-only", lambda world: world.by(Key(OUTSIDER.private, "x"))
            )
        },
    ),
    # Additions to the catalogue.
    ("K50", NOT_FOUND, {kid: headed({"alg": "RS256", "kid": kid}) for kid in ("__proto__", "$(id)", "rsa,P-256")}),
    ("K51", "signature_invalid", {"the fifth of one kid": crowd(5, "crowd")}),
    ("K51", ACCEPTED, {"the fourth of one kid": crowd(4, "crowd")}),
    ("K52", NOT_FOUND, {"a JWK without a kid": under(ec_key(None).jwk(), ec_key(None), kid="named")}),
    ("K53", "signature_invalid", {"x5c": forged(x5c=[b64url(OUTSIDER.pem(Encoding.DER))])}),
    (
        "K53",
        NOT_FOUND,
        {"a key as its kid": lambda world: jws(OUTSIDER, world.op.claims(), kid=OUTSIDER.pem().decode())},
    ),
]


@pytest.mark.parametrize("case", cases(*TABLE))
def test_the_key_is_the_providers_own_under_the_tokens_kid(world, case):
    world.strike(case)


@pytest.mark.parametrize(
    "template", [pytest.param(kid, id=f"K04-{kid}") for kid in ("{}", "file://{}", "../../../../..{}")]
)
def test_a_kid_never_opens_a_file(world, tmp_path, template):
    """Uses a named pipe: a process that opens it blocks until there is a writer, so the test can detect it."""
    pipe = tmp_path / "key"
    os.mkfifo(pipe)
    world.expect(jws(world.op.key("rsa"), world.op.claims(), kid=template.format(pipe)), NOT_FOUND)
    with pytest.raises(OSError, match="No such device or address"):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))


@pytest.mark.parametrize("kind", [pytest.param(key, id=f"K54-{key.__name__}") for key in (rsa_key, ec_key, ed_key)])
def test_a_replaced_key_is_no_longer_valid(world, kind):
    keys = [Key(kind(f"generation {number}").private, "current") for number in range(3)]
    for current in keys * 2:
        world.publish(current.jwk())
        for key in keys:
            world.expect(world.by(key), ACCEPTED if key is current else "signature_invalid")


@pytest.mark.parametrize("kid", [pytest.param("gone", id="K55-by its kid"), pytest.param(None, id="K55-without a kid")])
def test_a_token_that_has_passed_is_refused_once_its_key_is_gone(world, kid):
    key = ec_key("gone")
    world.publish(key.jwk())
    token = world.by(key, kid=kid)
    world.expect(token, ACCEPTED)
    world.publish(OUTSIDER_EC.jwk())
    world.expect(token, NOT_FOUND if kid else "signature_invalid")
