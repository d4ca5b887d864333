"""R. Floods of tokens that may cause fetches: the load on a provider is bounded, and others are not affected."""

import secrets

import pytest

from attacks.catalogue import rows
from attacks.target import Target
from harness.issuer import KeyServer
from harness.service import Service, provider
from harness.tokens import Key, ec_key, jws, now

OLD, NEW = ec_key("old"), ec_key("new")
REPLACED = Key(ec_key("replaced").private, "old")


class Flooded:
    """A flooded service with three issuers: one is flooded with unknown kids, one with forgeries, and one with junk."""

    def __init__(self, server: KeyServer):
        self.issuer, self.forged, self.junk = (server.issuer(name, OLD) for name in ("flooded", "forged", "junk"))
        service = Service(
            provider(self.issuer, "flooded"),
            provider(self.forged, "forged"),
            provider(self.junk, "junk", algorithms=["ES256"]),
        )
        self.service = service
        self.target = Target(service, lambda: jws(OLD, self.issuer.claims()))


@pytest.fixture(scope="session")
def flooded():
    with KeyServer() as server:
        shared = Flooded(server)
        with shared.service:
            shared.service.wait_until_ready()
            yield shared
        shared.target.assert_log_is_discreet()


def made_up(issuer, **claims) -> str:
    return jws(OLD, issuer.claims(**claims), kid=secrets.token_hex(8))


def forgery(issuer, **claims) -> str:
    """A token with the issuer's kid, signed with another key."""
    return jws(NEW, issuer.claims(**claims), kid="old")


def flood_with(flooded, make, issuer, code: str, count: int) -> None:
    """Floods the service. Every fifth token is valid and passes."""
    for _ in range(count // 4):
        items = [{"id_token": make(issuer)} for _ in range(4)] + [{"id_token": issuer.token()}]
        results = flooded.service.api.post("/v1/verify/batch", {"items": items}).json["results"]
        assert [result.get("error", {}).get("code") for result in results] == [code] * 4 + [None]


@pytest.mark.first
@pytest.mark.parametrize("count", [pytest.param(400, id="R11-unknown kids, well made up")])
def test_a_flood_of_unknown_key_ids_causes_two_fetches(flooded, count):
    flood_with(flooded, made_up, flooded.issuer, "key_not_found", count)
    assert flooded.issuer.jwks.count <= 1 + 2
    # The provider rotates its keys during the flood; a later test observes the effect.
    flooded.issuer.rotate(NEW, OLD)
    flooded.target.assert_unharmed()


@pytest.mark.first
@pytest.mark.parametrize("count", [pytest.param(400, id="R11-bad signatures by a known kid")])
def test_a_flood_of_bad_signatures_causes_at_most_one_fetch(flooded, count):
    """The provider may have replaced its key, so a bad signature may cause one fetch, but not within half a minute of
    the last full response.
    """
    flood_with(flooded, forgery, flooded.forged, "signature_invalid", count)
    assert max(flooded.forged.discovery.count, flooded.forged.jwks.count) <= 1 + 1
    # Bad signatures share the budget of two with unknown key IDs.
    flood_with(flooded, made_up, flooded.forged, "key_not_found", count)
    flood_with(flooded, forgery, flooded.forged, "signature_invalid", count)
    assert flooded.forged.jwks.count <= 1 + 2
    # The provider replaces its key during the flood; a later test observes the effect.
    flooded.forged.rotate(REPLACED)
    flooded.target.assert_unharmed()


@pytest.mark.last
@pytest.mark.parametrize("key", [pytest.param(REPLACED, id="R11-a replacement during the flood")])
def test_a_key_that_is_replaced_during_a_flood_is_found_within_half_a_minute(flooded, key):
    """The flood continues. Whichever token causes the next fetch, the new key replaces the old one."""

    def found() -> bool:
        flooded.service.verify(forgery(flooded.forged))
        return flooded.service.verify(jws(key, flooded.forged.claims())).status == 200

    flooded.service.wait_until(found, timeout=45)
    flooded.service.reject(jws(OLD, flooded.forged.claims()), "signature_invalid")
    flooded.target.assert_unharmed()


@pytest.mark.last
@pytest.mark.parametrize("kid", [pytest.param("new", id="R11-a rotation during the flood")])
def test_a_rotation_during_a_flood_is_found_within_half_a_minute(flooded, kid):
    """The flood continues, and any of its tokens may cause the fetch."""

    def found() -> bool:
        flooded.service.verify(made_up(flooded.issuer))
        return flooded.service.verify(jws(NEW, flooded.issuer.claims(), kid=kid)).status == 200

    flooded.service.wait_until(found, timeout=45)
    flooded.target.assert_unharmed()


# `Tests/IDTokenTests/UnverifiedTokenTests.swift` has more cases.
JUNK = {
    "another issuer": {"iss": "https://attacker.example.com"},
    "an audience more": {"aud": ["client", "stranger"]},
    "just expired": {"exp": -62},
}


@pytest.mark.parametrize(
    ("claims", "make", "code"),
    rows(
        *(("R13", name, claims, made_up, "key_not_found") for name, claims in JUNK.items()),
        *(("R13", f"{name}, a bad signature", claims, forgery, "signature_invalid") for name, claims in JUNK.items()),
    ),
)
def test_tokens_with_refused_claims_cause_no_fetch(flooded, claims, make, code):
    claims = claims | ({"exp": now() + claims["exp"]} if type(claims.get("exp")) is int else {})
    for _ in range(40):
        flooded.target.expect({"id_token": make(flooded.junk, **claims), "provider": "junk"}, code)
    assert (flooded.junk.discovery.count, flooded.junk.jwks.count) == (1, 1)


@pytest.mark.parametrize(
    ("token", "code"),
    rows(
        ("R13", "alg none", lambda junk: jws(OLD, junk.claims(), alg="none", kid="x"), "algorithm_not_allowed"),
        ("R13", "another alg", lambda junk: jws(OLD, junk.claims(), alg="RS256", kid="x"), "algorithm_not_allowed"),
        ("R13", "crit", lambda junk: jws(OLD, junk.claims(), crit=["x"], kid="x"), "header_unsupported"),
        ("R13", "no token", lambda junk: "x.y.z", "token_malformed"),
    ),
)
def test_tokens_that_no_key_could_make_valid_cause_no_fetch(flooded, token, code):
    for _ in range(10):
        flooded.target.expect({"id_token": token(flooded.junk), "provider": "junk"}, code)
    assert (flooded.junk.discovery.count, flooded.junk.jwks.count) == (1, 1)
