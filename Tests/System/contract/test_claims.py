"""Claims: each rule over HTTP, with the settings that change it. `Tests/IDTokenTests` has all values that a rule rejects."""

import pytest

from harness.tokens import now

ELSEWHERE = "https://elsewhere.example.com"


@pytest.mark.parametrize(
    ("code", "claim", "claims"),
    [
        ("issuer_mismatch", None, {"iss": ELSEWHERE}),
        ("audience_mismatch", None, {"aud": "Client"}),
        ("authorized_party_mismatch", None, {"aud": ["client", "stranger"], "azp": "stranger"}),
        ("token_expired", None, {"exp": 0}),
        ("token_not_yet_valid", None, {"iat": 9007199254740993}),
        ("claim_invalid", "auth_time", {"auth_time": "0"}),
        ("claim_missing", "sub", {"sub": ""}),
        ("claim_invalid", "events", {"events": {}}),
        ("claim_invalid", "scope", {"scope": "openid"}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_each_rule_refuses_with_its_code(service, oidc, code, claim, claims):
    problem = service.reject(oidc.token(**claims), code, provider="oidc")
    assert problem.get("claim") == claim


def test_the_issuer_selects_the_provider_and_must_match_a_named_one(service, world, google, oidc):
    service.reject(oidc.token(iss=ELSEWHERE), "provider_unknown")
    service.reject(oidc.token(iss=None), "provider_unknown", "claim_missing")
    service.reject(google.token(), "key_not_found", "issuer_mismatch", provider="apple")
    service.reject(world["aliased"].token(), "issuer_mismatch", provider="oidc")
    service.accept(world["aliased"].token(), provider="aliased")


def test_an_alias_applies_only_to_its_own_provider(service, world, google, oidc):
    service.accept(google.token(iss="accounts.google.com"))
    service.accept(google.token(iss="accounts.google.com"), provider="google")
    service.reject(oidc.token(iss="accounts.google.com"), "issuer_mismatch", provider="oidc")
    service.accept(world["aliased"].token(iss="https://old.example.com"))
    service.reject(world["aliased"].token(iss="https://old.example.com/"), "provider_unknown")


def test_any_configured_audience_is_accepted(service, oidc):
    for audience in ("client", "other-client", ["client"], ["client", "client"], ["other-client", "client"]):
        answer = service.accept(oidc.token(aud=audience))
        assert answer["token"]["audience"] == (audience if isinstance(audience, list) else [audience])
    service.accept(oidc.token(aud=["client", "stranger"], azp="client"))


def test_settings_decide_which_audiences_and_authorized_parties_are_trusted(service, world, oidc):
    issuer = world["trusting"]
    service.accept(issuer.token(aud=["client", "partner"]))
    service.reject(issuer.token(aud="partner"), "audience_mismatch")
    service.accept(issuer.token(azp="android"))
    service.reject(issuer.token(azp="stranger"), "authorized_party_mismatch")
    assert service.accept(oidc.token(azp="android"))["token"]["authorized_party"] == "android"


def test_the_clock_skew_applies_to_both_ends_of_a_tokens_lifetime(service, world, oidc):
    time = now()
    service.accept(oidc.token(exp=time - 40, iat=time - 100))
    service.reject(oidc.token(exp=time - 61, iat=time - 100), "token_expired")
    for claim in ("iat", "nbf"):
        service.accept(oidc.token(**{claim: time + 40}))
        service.reject(oidc.token(**{claim: time + 90}), "token_not_yet_valid")
    issuer = world["no-skew"]
    service.reject(issuer.token(exp=time, iat=time - 100), "token_expired")
    service.reject(issuer.token(iat=time + 20), "token_not_yet_valid")
    service.accept(issuer.token(exp=time + 20, iat=time, nbf=time))


def test_a_token_may_be_too_old_before_it_expires(service, world, oidc):
    time = now()
    service.accept(world["short-lived"].token(iat=time - 3600))
    service.reject(world["short-lived"].token(iat=time - 3600 - 40), "token_too_old")
    service.accept(oidc.token(iat=0))


def test_max_age_applies_to_auth_time_or_else_iat(service, oidc):
    time = now()
    service.accept(oidc.token(auth_time=time - 300), max_age=300)
    service.reject(oidc.token(auth_time=time - 300), "auth_time_too_old", max_age=200)
    service.accept(oidc.token(auth_time=time - 300), max_age=2**31)
    service.reject(oidc.token(iat=time - 300), "auth_time_too_old", max_age=200)
    service.accept(oidc.token(iat=time), max_age=0)
    service.reject(oidc.token(auth_time=time + 3600), "claim_invalid", max_age=60)
    assert service.accept(oidc.token(auth_time=0))["token"]["auth_time"] == 0


def test_required_claims_must_be_present(service, world):
    issuer = world["demanding"]
    service.accept(issuer.token(email="a@example.com", phone_number="+1"))
    assert service.reject(issuer.token(phone_number="+1"), "claim_missing")["claim"] == "email"
    assert service.reject(issuer.token(email="a@example.com"), "claim_missing")["claim"] == "phone_number"


@pytest.mark.parametrize(("claim", "value"), [("scope", "openid"), ("scp", ["openid"]), ("client_id", "client")])
def test_claims_of_access_tokens_are_allowed_beside_claims_of_id_tokens(service, oidc, claim, value):
    service.accept(oidc.token(**{claim: value}, auth_time=now()))
    service.accept(oidc.token(**{claim: value}, nonce="n"), nonce="n")
