"""Which key verifies a token, and what a JWK Set may hold."""

import hashlib
import itertools
import unicodedata

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from harness.issuer import KeyServer
from harness.keys import refresh
from harness.service import Service, provider
from harness.tokens import (
    ALGORITHMS,
    assemble,
    b64url,
    ec_key,
    ed_key,
    integer,
    json_bytes,
    jws,
    key_for,
    rsa_key,
    unb64url,
)

GOOD = rsa_key("good")


class Keyring:
    """A running service with a provider whose key set a test replaces as a whole.

    The providers take turns, since each has its keys fetched for an operator once a second at most.
    """

    def __init__(self, key_server: KeyServer):
        self.server = key_server
        self.issuers = [key_server.issuer(f"keyring-{number}", GOOD) for number in range(8)]
        self.turns = itertools.cycle(self.issuers)
        self.issuer = next(self.turns)
        algorithms = list(ALGORITHMS)
        self.service = Service(
            *(provider(each, each.name, jwks_uri=each.jwks_uri, algorithms=algorithms) for each in self.issuers)
        )

    def publish(self, *jwks: dict) -> None:
        """Publishes these keys and a good one, and has the service fetch them."""
        self.publish_document({"keys": [*jwks, GOOD.jwk()]})

    def publish_document(self, body: dict | bytes) -> None:
        self.issuer = next(self.turns)
        self.issuer.jwks.body = body
        state = refresh(self.service, self.issuer.name, drops_omitted=True)
        assert (state["state"], state["last_error"]) == ("ready", None), state

    def token(self, key, **members) -> str:
        return jws(key, self.issuer.claims(), **members)

    def accept(self, key, **members) -> dict:
        return self.service.accept(self.token(key, **members))

    def reject(self, key, *codes: str, **members) -> None:
        """The token must be refused, and the good key must still serve."""
        self.service.reject(self.token(key, **members), *codes)
        self.accept(GOOD)


@pytest.fixture(scope="module")
def keyring():
    with KeyServer() as key_server:
        ring = Keyring(key_server)
        with ring.service:
            ring.service.wait_until_ready()
            yield ring


# selection by kid


def test_a_token_without_a_key_id_is_tried_with_each_key_that_fits(keyring):
    key = ec_key(None)
    keyring.publish(ec_key("other").jwk(), key.jwk())
    assert keyring.accept(key)["token"]["key_id"] is None


def test_at_most_four_keys_are_tried_for_a_token_without_a_key_id(keyring):
    keys = [ec_key(f"many-{n}") for n in range(5)]
    keyring.publish(*(key.jwk() for key in keys))
    for key in keys[:4]:
        keyring.accept(key, kid=None)
    keyring.reject(keys[4], "signature_invalid", kid=None)
    keyring.accept(keys[4])


def test_two_keys_may_share_a_key_id_where_their_types_differ(keyring):
    keys = [rsa_key("shared"), ec_key("shared"), ed_key("shared")]
    keyring.publish(*(key.jwk() for key in keys))
    for key in keys:
        keyring.accept(key)


def test_keys_that_share_a_key_id_and_type_are_each_tried(keyring):
    keys = [ec_key(f"twin-{n}") for n in range(5)]
    keyring.publish(*(key.jwk(kid="twin") for key in keys))
    for key in keys[:4]:
        keyring.accept(key, kid="twin")
    keyring.reject(keys[4], "signature_invalid", kid="twin")


def test_a_set_with_one_key_id_two_hundred_times_costs_four_verifications(keyring):
    key = ec_key("last")
    keyring.publish(*(ec_key("crowd").jwk(use=None, n=str(n)) for n in range(200)), key.jwk(kid="crowd"))
    keyring.reject(key, "signature_invalid", kid="crowd")


@pytest.mark.parametrize("kid", ["Caf\u00e9", "a key", "漢字", "x" * 2000, "../../etc/passwd", '"\\'])
def test_a_key_id_is_any_text(keyring, kid):
    key = ec_key("any text")
    keyring.publish(key.jwk(kid=kid))
    assert keyring.accept(key, kid=kid)["token"]["key_id"] == kid


@pytest.mark.parametrize(
    "kid",
    ["", "cafe", "CAFÉ", "café ", " café", unicodedata.normalize("NFD", "café"), "café\n", "caf", "/dev/null"]
    + ["../../../../dev/null", "file:///etc/passwd", "..\\..\\", "%2e%2e%2f", "' OR 1=1 --", "x" * 10_000],
)
def test_a_key_id_is_compared_byte_for_byte(keyring, kid):
    key = ec_key("café")
    keyring.publish(key.jwk(kid="café"))
    keyring.accept(key, kid="café")
    keyring.reject(key, "key_not_found", kid=kid)


def test_a_key_without_a_key_id_is_not_taken_for_any_key_id(keyring):
    key = ec_key(None)
    keyring.publish(key.jwk())
    keyring.reject(key, "key_not_found", kid="named")


# keys that travel with the token


def test_a_key_in_the_header_is_ignored(keyring):
    keyring.publish()
    outsider = rsa_key("outsider")
    for kid in ("good", None):
        keyring.reject(outsider, "signature_invalid", "key_not_found", kid=kid, jwk=outsider.jwk())
    keyring.reject(outsider, "key_not_found", jwk=outsider.jwk())
    certificate = b64url(outsider.pem(Encoding.DER))
    keyring.reject(outsider, "signature_invalid", kid="good", x5c=[certificate])
    keyring.accept(GOOD, jwk=outsider.jwk(), x5c=[certificate], x5t="AAAA", **{"x5t#S256": "AAAA"})


def test_an_address_in_the_header_is_never_fetched(keyring):
    keyring.publish()
    outsider = rsa_key("outsider")
    url = keyring.server.url
    trap = keyring.server.document("/trap", {"keys": [outsider.jwk(kid="good"), outsider.jwk()]})
    for name in ("jku", "x5u"):
        for address in (
            url + "/trap",
            url + "/keyring/../trap",
            url + "@evil/",
            "file:///etc/passwd",
            "http://169.254.169.254/",
        ):
            keyring.reject(outsider, "signature_invalid", kid="good", **{name: address})
            keyring.accept(GOOD, **{name: address})
    assert trap.count == 0
    assert keyring.server.unexpected == []


# what a key says it is for


@pytest.mark.parametrize(
    "members",
    [{"use": "enc"}, {"use": "SIG"}, {"use": ""}, {"use": 1}, {"key_ops": ["encrypt"]}, {"key_ops": ["sign"]}]
    + [
        {"key_ops": []},
        {"key_ops": "verify"},
        {"key_ops": {"verify": 1}},
        {"alg": 5},
        {"alg": "ES384"},
        {"alg": "RS256"},
    ]
    + [{"alg": "ES521"}, {"alg": "RSA256"}, {"alg": "es256"}, {"alg": "ECDH-ES"}, {"alg": "none"}, {"alg": ""}],
    ids=str,
)
def test_a_key_for_something_else_does_not_fit(keyring, members):
    key = ec_key("purpose")
    keyring.publish(key.jwk(**members))
    keyring.reject(key, "key_not_found")
    keyring.reject(key, "key_not_found", kid=None)


@pytest.mark.parametrize(
    "members",
    [
        {"use": None},
        {"key_ops": ["verify"]},
        {"key_ops": ["sign", "verify"]},
        {"alg": "ES256"},
        {"use": None, "alg": None},
    ]
    + [{"issuer": "https://x"}, {"x5c": ["garbage"]}, {"x5t": 5}, {"exp": 1}, {"nbf": 4102444800}],
    ids=str,
)
def test_a_key_that_says_less_or_more_than_needed_fits(keyring, members):
    key = ec_key("purpose")
    keyring.publish(key.jwk(**members))
    keyring.accept(key)


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256"])
def test_an_rsa_key_without_an_algorithm_fits_any_of_its_type(keyring, algorithm):
    key = rsa_key("free")
    keyring.publish(key.jwk())
    keyring.accept(key, algorithm=algorithm)
    keyring.publish(key.jwk(alg=algorithm))
    keyring.accept(key, algorithm=algorithm)
    keyring.reject(key, "key_not_found", algorithm="PS384")


@pytest.mark.parametrize("named", ["EdDSA", "Ed25519", None])
@pytest.mark.parametrize("algorithm", ["EdDSA", "Ed25519"])
def test_the_two_names_of_ed25519_are_one(keyring, named, algorithm):
    key = ed_key("edwards")
    keyring.publish(key.jwk(alg=named))
    keyring.accept(key, algorithm=algorithm)


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("ES256", "rsa"),
        ("RS256", "P-256"),
        ("EdDSA", "P-256"),
        ("ES256", "Ed25519"),
        ("ES256", "P-384"),
        ("ES384", "P-256"),
    ]
    + [("ES512", "P-384"), ("Ed448", "Ed25519"), ("Ed25519", "Ed448"), ("PS256", "Ed25519"), ("EdDSA", "rsa")],
)
def test_an_algorithm_needs_a_key_of_its_own_type_and_curve(keyring, algorithm, kind):
    key = key_for(kind, "kind")
    keyring.publish(key.jwk())
    header = {"alg": algorithm, "kid": "kind"}
    token = assemble(header, keyring.issuer.claims(), key.sign(key.default_algorithm, b"whatever"))
    keyring.service.reject(token, "key_not_found", "key_unsuitable")
    keyring.accept(GOOD)


def test_es256k_is_not_supported_even_with_a_key(keyring):
    key = ec_key("koblitz", "secp256k1")
    keyring.publish(key.jwk())
    keyring.reject(key, "algorithm_not_allowed", algorithm="ES256K")
    token = assemble({"alg": "ES256", "kid": "koblitz"}, keyring.issuer.claims(), key.sign("ES256", b"x"))
    keyring.service.reject(token, "key_not_found", "key_unsuitable")


# unsuitable and broken keys


@pytest.mark.parametrize("bits", [1024, 2047])
def test_a_small_rsa_key_is_unsuitable(keyring, bits):
    key = rsa_key("small", bits)
    keyring.publish(key.jwk())
    keyring.reject(key, "key_unsuitable")


@pytest.mark.parametrize("bits", [2048, 3072])
def test_a_larger_rsa_key_is_suitable(keyring, bits):
    key = rsa_key("large enough", bits)
    keyring.publish(key.jwk())
    keyring.accept(key)


@pytest.mark.parametrize(
    "members",
    [
        {"n": integer(1 << 2047)},
        {"n": ""},
        {"n": "AA"},
        {"n": "!"},
        {"n": 5},
        {"n": None},
        {"e": "AA"},
        {"e": ""},
        {"e": "AQ"},
    ]
    + [{"e": "Ag"}, {"e": None}, {"n": GOOD.jwk()["n"] + "="}, {"n": integer(3**1293)}],
    ids=lambda members: str(members)[:30],
)
def test_a_broken_rsa_key_verifies_nothing(keyring, members):
    key = rsa_key("broken")
    keyring.publish(key.jwk(**members))
    keyring.reject(key, "key_unsuitable", "key_not_found", "signature_invalid")


def test_a_huge_rsa_key_is_passed_over(keyring):
    key = rsa_key("huge")
    for members in (
        {"n": integer((1 << 16384) - 1)},
        {"n": integer((1 << 16384) - 1), "e": integer((1 << 16000) + 1)},
        {"n": "_" * 100_000},
        {"e": integer((1 << 2000) + 1)},
    ):
        keyring.publish(key.jwk(**members))
        keyring.reject(key, "key_not_found", "key_unsuitable")


def test_a_broken_elliptic_curve_key_is_unsuitable(keyring):
    key = ec_key("point")
    good = key.jwk()
    x, y = unb64url(good["x"]), unb64url(good["y"])
    other = ec_key("other").jwk()
    prime = (1 << 256) - (1 << 224) + (1 << 192) + (1 << 96) - 1
    broken = [
        {"y": other["y"]},
        {"x": b64url(x[1:])},
        {"x": b64url(b"\1" + x)},
        {"x": "", "y": ""},
        {"x": b64url(bytes(32)), "y": b64url(bytes(32))},
        {"x": b64url(prime.to_bytes(32, "big"))},
        {"x": b64url(b"\2" + x), "y": ""},
        {"x": b64url(b"\4" + x + y), "y": ""},
        {"y": "!"},
        {"y": 5},
    ]
    for members in broken:
        keyring.publish(good | members)
        keyring.reject(key, "key_unsuitable")


def test_a_broken_edwards_key_is_unsuitable(keyring):
    key = ed_key("edwards")
    good = key.jwk()
    point = unb64url(good["x"])
    identity = b"\1" + bytes(31)
    for octets in (point[:-1], point + b"\0", b"", bytes(32), identity, b"\xec" + b"\xff" * 30 + b"\x7f", b"\xff" * 32):
        keyring.publish(good | {"x": b64url(octets)})
        keyring.reject(key, "key_unsuitable")


def test_a_small_order_key_with_the_identity_for_r_signs_nothing(keyring):
    identity = b"\1" + bytes(31)
    keyring.publish({"kty": "OKP", "crv": "Ed25519", "x": b64url(identity), "kid": "small order"})
    token = assemble({"alg": "EdDSA", "kid": "small order"}, keyring.issuer.claims(), identity + bytes(32))
    keyring.service.reject(token, "key_unsuitable", "signature_invalid", "key_not_found")


def test_leading_zeros_are_tolerated(keyring):
    keys = [rsa_key("zeros"), ec_key("zeros"), ec_key("zeros", "P-521")]
    for key in keys:
        jwk = key.jwk()
        padded = {name: b64url(b"\0" + unb64url(jwk[name])) for name in ("n", "e", "x", "y") if name in jwk}
        keyring.publish(jwk | padded)
        keyring.accept(key)


def test_a_mismatched_certificate_in_the_set_changes_nothing(keyring):
    key = rsa_key("certified")
    keyring.publish(key.jwk(x5c=[b64url(rsa_key("other").pem(Encoding.DER))], x5t="AAAA"))
    keyring.accept(key)
    keyring.publish(key.jwk(n=None, e=None, x5c=["AAAA"]))
    keyring.reject(key, "key_not_found")


def test_a_key_of_an_unknown_type_is_passed_over(keyring):
    key = rsa_key("kind")
    jwk = key.jwk()
    for members in (
        {"kty": None},
        {"kty": "rsa"},
        {"kty": "AKP"},
        {"kty": 5},
        {"kty": ""},
        {"kty": "EC"},
        {"kty": "OKP"},
    ):
        keyring.publish({name: value for name, value in (jwk | members).items() if value is not None})
        keyring.reject(key, "key_not_found", "key_unsuitable")


def test_a_symmetric_key_is_never_used(keyring):
    secret = b"0123456789abcdef0123456789abcdef"
    keyring.publish({"kty": "oct", "k": b64url(secret), "kid": "secret", "alg": "HS256", "use": "sig"})
    for kid in ("secret", "good", None):
        header = {"alg": "HS256"} | ({"kid": kid} if kid else {})
        unsigned = assemble(header, keyring.issuer.claims(), b"").rstrip(".")
        mac = b64url(hashlib.sha256(secret + unsigned.encode()).digest())
        keyring.service.reject(f"{unsigned}.{mac}", "algorithm_not_allowed")


def test_a_private_key_in_the_set_is_not_used(keyring):
    key = ec_key("leaked")
    keyring.publish(key.jwk(d=integer(key.private.private_numbers().private_value, 32)))
    keyring.reject(key, "key_not_found")


@pytest.mark.parametrize("name", ["null", "numbers", "an empty object", "nested", "duplicate kid types"])
def test_entries_that_are_no_keys_are_passed_over(keyring, name):
    junk = {
        "null": [None, None],
        "numbers": [1, "x", True, 1.5],
        "an empty object": [{}, {"kid": "good"}],
        "nested": [[GOOD.jwk()], {"keys": []}],
        "duplicate kid types": [GOOD.jwk(kid=5), GOOD.jwk(kid=["good"]), GOOD.jwk(kid={})],
    }[name]
    key = ec_key("good one among bad")
    keyring.publish(*junk, key.jwk())
    keyring.accept(key)
    keyring.accept(GOOD)


def test_one_bad_key_among_many_good_ones_is_passed_over(keyring):
    good = [ec_key(f"nine-{n}") for n in range(9)]
    keyring.publish(
        *(key.jwk() for key in good[:5]),
        {"kty": "RSA", "n": "!", "e": "!", "kid": "bad"},
        *(key.jwk() for key in good[5:]),
    )
    for key in good:
        keyring.accept(key)


def test_white_space_and_order_in_a_set_do_not_matter(keyring):
    key = ec_key("pretty")
    text = json_bytes({"more": [], "keys": [dict(reversed(key.jwk().items()))]}).replace(b",", b" ,\n\t")
    keyring.publish_document(b"\n" + text + b"\n")
    keyring.accept(key)
