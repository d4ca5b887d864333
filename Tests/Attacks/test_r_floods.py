"""R. Floods of tokens that might cause fetches: what they cost a provider, and that they cost nobody else anything."""

import secrets

import pytest

from catalogue import rows
from harness.issuer import KeyServer
from harness.service import Service, provider
from harness.tokens import ec_key, jws, now
from target import Target

OLD, NEW = ec_key("old"), ec_key("new")


class Flooded:
    """A service that is flooded, and two issuers: one in whose name tokens are made up well, one for junk."""

    def __init__(self, server: KeyServer):
        self.issuer, self.junk = server.issuer("flooded", OLD), server.issuer("junk", OLD)
        service = Service(provider(self.issuer, "flooded"), provider(self.junk, "junk", algorithms=["ES256"]))
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


@pytest.mark.first
@pytest.mark.parametrize("count", [pytest.param(400, id="R11-unknown kids, well made up")])
def test_a_flood_of_unknown_key_ids_costs_two_fetches_and_nobody_anything_else(flooded, count):
    for _ in range(count // 4):
        items = [{"id_token": made_up(flooded.issuer)} for _ in range(4)] + [{"id_token": flooded.issuer.token()}]
        results = flooded.service.api.post("/v1/verify/batch", {"items": items}).json["results"]
        assert [result.get("error", {}).get("code") for result in results] == ["key_not_found"] * 4 + [None]
    assert flooded.issuer.jwks.count <= 1 + 2
    # Now the provider rotates, in the middle of it.
    flooded.issuer.rotate(NEW, OLD)
    flooded.target.assert_unharmed()


@pytest.mark.last
@pytest.mark.parametrize("kid", [pytest.param("new", id="R11-a rotation during the flood")])
def test_a_rotation_in_the_middle_of_a_flood_is_found_within_half_a_minute(flooded, kid):
    """The flood goes on: whoever's token causes the next fetch, it brings the key."""

    def found() -> bool:
        flooded.service.verify(made_up(flooded.issuer))
        return flooded.service.verify(jws(NEW, flooded.issuer.claims(), kid=kid)).status == 200

    flooded.service.wait_until(found, timeout=45)
    flooded.target.assert_unharmed()


JUNK = {
    "another issuer": {"iss": "https://attacker.example.com"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "another client"},
    "no audience": {"aud": None},
    "an audience more": {"aud": ["client", "stranger"]},
    "expired": {"exp": -3600},
    "just expired": {"exp": -62},
    "no expiry": {"exp": None},
    "an expiry that is text": {"exp": "tomorrow"},
}


@pytest.mark.parametrize("claims", rows(*(("R13", name, claims) for name, claims in JUNK.items())))
def test_a_flood_of_junk_costs_no_fetch_at_all(flooded, claims):
    claims = claims | ({"exp": now() + claims["exp"]} if type(claims.get("exp")) is int else {})
    for _ in range(40):
        flooded.target.expect({"id_token": made_up(flooded.junk, **claims), "provider": "junk"}, "key_not_found")
    assert (flooded.junk.discovery.count, flooded.junk.jwks.count) == (1, 1)


@pytest.mark.parametrize(
    ("token", "code"),
    rows(
        ("R13", "alg none", lambda junk: jws(OLD, junk.claims(), alg="none", kid="x"), "algorithm_not_allowed"),
        ("R13", "another alg", lambda junk: jws(OLD, junk.claims(), alg="RS256", kid="x"), "algorithm_not_allowed"),
        ("R13", "crit", lambda junk: jws(OLD, junk.claims(), crit=["x"], kid="x"), "header_unsupported"),
        ("R13", "a bad signature", lambda junk: jws(NEW, junk.claims(), kid="old"), "signature_invalid"),
        ("R13", "no token", lambda junk: "x.y.z", "token_malformed"),
    ),
)
def test_what_no_key_could_mend_costs_no_fetch_either(flooded, token, code):
    for _ in range(10):
        flooded.target.expect({"id_token": token(flooded.junk), "provider": "junk"}, code)
    assert (flooded.junk.discovery.count, flooded.junk.jwks.count) == (1, 1)
