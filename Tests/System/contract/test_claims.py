"""Everything that a good signature can't make good: issuer, audience, authorized party, times, required claims."""

import json

import pytest

from harness.tokens import json_bytes, jws, now


def token_with(issuer, claim: str, text: str, **claims) -> str:
    """A good token in which one claim has just this JSON text."""
    payload = json_bytes(issuer.claims(**({claim: None} | claims)))
    return jws(issuer.keys[0], payload[:-1] + f',"{claim}":{text}}}'.encode())


def assert_claim(problem: dict, claim: str) -> None:
    assert problem["claim"] == claim, problem


# iss


def near_misses(url: str) -> list[str]:
    host = url.split("/")[2]
    return [
        url + "/",
        url.replace("http:", "https:"),
        url.replace("http://", "HTTP://"),
        url.replace("127.0.0.1", "localhost"),
        url.replace(host, host + "."),
        url.replace("http://", "http://user@"),
        url.replace("/oidc", "/OIDC"),
        url.replace("/oidc", "/%6fidc"),
        url.replace("/oidc", "//oidc"),
        url + "?",
        url + "#",
        url + "?x=1",
        " " + url,
        url + "\0",
        url[:-1],
        url + "x",
        "http",
        "",
        url.replace("oidc", "оidc"),
    ]


def test_an_issuer_that_nearly_matches_is_not_the_issuer(service, oidc):
    for issuer in near_misses(oidc.url):
        if "\0" in issuer:
            service.reject(oidc.token(iss=issuer), "token_malformed")
            continue
        service.reject(oidc.token(iss=issuer), "provider_unknown", *(["claim_missing"] if issuer == "" else []))
        problem = service.reject(
            oidc.token(iss=issuer), "issuer_mismatch", *(["claim_missing"] if issuer == "" else []), provider="oidc"
        )
        assert problem["status"] == 422


def test_no_provider_has_a_missing_issuer(service, oidc):
    service.reject(oidc.token(iss=None), "provider_unknown", "claim_missing")
    assert_claim(service.reject(oidc.token(iss=None), "claim_missing", provider="oidc"), "iss")


@pytest.mark.parametrize("text", ["5", "null", "{}", "true", '["http://127.0.0.1"]'])
def test_an_issuer_that_is_no_string_is_invalid(service, oidc, text):
    token = token_with(oidc, "iss", text)
    service.reject(token, "provider_unknown", "claim_invalid", "claim_missing")
    assert_claim(service.reject(token, "claim_invalid", "claim_missing", provider="oidc"), "iss")


def test_a_named_provider_must_be_the_tokens_own(service, apple, google, oidc):
    service.reject(google.token(), "key_not_found", "issuer_mismatch", provider="apple")
    service.reject(oidc.token(), "key_not_found", "issuer_mismatch", provider="google")


def test_a_token_of_another_issuer_by_a_shared_key_is_an_issuer_mismatch(service, world, oidc):
    service.reject(world["aliased"].token(), "issuer_mismatch", provider="oidc")
    service.accept(world["aliased"].token(), provider="aliased")


def test_an_alias_counts_for_its_own_provider_only(service, world, google, oidc):
    service.accept(google.token(iss="accounts.google.com"))
    service.accept(google.token(iss="accounts.google.com"), provider="google")
    service.reject(oidc.token(iss="accounts.google.com"), "issuer_mismatch", provider="oidc")
    service.reject(google.token(iss="https://accounts.google.com"), "provider_unknown")
    service.accept(world["aliased"].token(iss="https://old.example.com"))
    service.reject(world["aliased"].token(iss="https://old.example.com/"), "provider_unknown")


# aud and azp


@pytest.mark.parametrize("text", ["null", "[]"])
def test_an_empty_audience_is_no_audience(service, oidc, text):
    service.reject(token_with(oidc, "aud", text), "claim_missing", "audience_mismatch")


def test_a_missing_audience_is_missing(service, oidc):
    assert_claim(service.reject(oidc.token(aud=None), "claim_missing"), "aud")


@pytest.mark.parametrize(
    "text", ["5", "{}", "true", '[["client"]]', "[null]", '["client",5]', '["client",null]', '{"client":1}']
)
def test_an_audience_of_another_type_is_invalid(service, oidc, text):
    assert_claim(service.reject(token_with(oidc, "aud", text), "claim_invalid"), "aud")


@pytest.mark.parametrize(
    "audience",
    [
        "",
        "clien",
        "lient",
        "clientx",
        "xclient",
        "Client",
        "CLIENT",
        "client/",
        "client ",
        " client",
        "*",
        "client,other-client",
        "client other-client",
        "clıent",
    ],
)
def test_an_audience_is_compared_whole(service, oidc, audience):
    service.reject(oidc.token(aud=audience), "audience_mismatch", *(["claim_missing"] if audience == "" else []))
    service.reject(oidc.token(aud=[audience]), "audience_mismatch", *(["claim_missing"] if audience == "" else []))


def test_any_configured_audience_will_do(service, oidc):
    for audience in ("client", "other-client", ["client"], ["client", "client"], ["other-client", "client"]):
        answer = service.accept(oidc.token(aud=audience))
        assert answer["token"]["audience"] == (audience if isinstance(audience, list) else [audience])


def test_a_second_audience_that_nobody_trusts_needs_an_authorized_party(service, oidc):
    service.reject(oidc.token(aud=["client", "stranger"]), "audience_mismatch", "authorized_party_mismatch")
    service.accept(oidc.token(aud=["client", "stranger"], azp="client"))
    service.reject(oidc.token(aud=["client", "stranger"], azp="stranger"), "authorized_party_mismatch")
    service.reject(oidc.token(aud=["stranger", "partner"], azp="client"), "audience_mismatch")
    service.reject(oidc.token(aud=["client", *(f"stranger-{n}" for n in range(500))]), "audience_mismatch")


def test_a_trusted_audience_may_stand_beside_ours(service, world):
    issuer = world["trusting"]
    service.accept(issuer.token(aud=["client", "partner"]))
    service.reject(issuer.token(aud=["partner"]), "audience_mismatch")
    service.reject(issuer.token(aud="partner"), "audience_mismatch")
    service.reject(issuer.token(aud=["client", "partner", "stranger"]), "audience_mismatch")


def test_the_authorized_party_is_checked_where_settings_name_some(service, world, oidc):
    issuer = world["trusting"]
    service.accept(issuer.token(azp="android"))
    service.accept(issuer.token())
    service.reject(issuer.token(azp="stranger"), "authorized_party_mismatch")
    service.reject(issuer.token(azp="Android"), "authorized_party_mismatch")
    assert service.accept(oidc.token(azp="android"))["token"]["authorized_party"] == "android"


@pytest.mark.parametrize("text", ["5", "[]", "{}", '["client"]', "true"])
def test_an_authorized_party_that_is_no_string_is_invalid(service, oidc, text):
    assert_claim(service.reject(token_with(oidc, "azp", text), "claim_invalid"), "azp")


# exp, nbf, iat


def test_the_clock_skew_is_given_at_both_ends_and_no_more(service, oidc):
    time = now()
    service.accept(oidc.token(exp=time - 40, iat=time - 100))
    service.reject(oidc.token(exp=time - 61, iat=time - 100), "token_expired")
    for claim in ("iat", "nbf"):
        service.accept(oidc.token(**{claim: time + 40}))
        service.reject(oidc.token(**{claim: time + 90}), "token_not_yet_valid")
        service.reject(oidc.token(**{claim: time + 3600}), "token_not_yet_valid")


def test_a_provider_may_have_a_skew_of_its_own(service, world):
    issuer = world["no-skew"]
    time = now()
    service.reject(issuer.token(exp=time - 1, iat=time - 100), "token_expired")
    service.reject(issuer.token(exp=time, iat=time - 100), "token_expired")
    service.reject(issuer.token(iat=time + 20), "token_not_yet_valid")
    service.reject(issuer.token(nbf=time + 20), "token_not_yet_valid")
    service.accept(issuer.token(exp=time + 20, iat=time, nbf=time))


def test_a_token_may_be_too_old_though_it_has_not_expired(service, world, oidc):
    issuer = world["short-lived"]
    time = now()
    service.accept(issuer.token(iat=time - 3600))
    service.reject(issuer.token(iat=time - 3600 - 40), "token_too_old")
    service.reject(issuer.token(iat=0), "token_too_old")
    service.reject(issuer.token(iat=-5), "token_too_old", "claim_invalid")
    service.accept(oidc.token(iat=time - 3600 - 40))
    service.accept(oidc.token(iat=0))


@pytest.mark.parametrize("claim", ["exp", "iat"])
def test_a_time_that_every_token_has_must_be_there(service, oidc, claim):
    assert_claim(service.reject(oidc.token(**{claim: None}), "claim_missing"), claim)


@pytest.mark.parametrize("claim", ["exp", "iat", "nbf", "auth_time"])
@pytest.mark.parametrize("text", ['"1700000000"', '""', "true", "[]", "{}", "[1700000000]", '"never"'])
def test_a_time_that_is_no_number_is_invalid(service, oidc, claim, text):
    assert_claim(service.reject(token_with(oidc, claim, text), "claim_invalid"), claim)


@pytest.mark.parametrize("claim", ["exp", "iat", "nbf", "auth_time"])
def test_a_null_time_is_no_time(service, oidc, claim):
    assert_claim(service.reject(token_with(oidc, claim, "null"), "claim_invalid", "claim_missing"), claim)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "-0",
        "1e9",
        "1000000000.9",
        "1700000000.9",
        "1e-999",
        "-1e300",
        "-9223372036854775808",
        "-99999999999999999999",
    ],
)
def test_a_past_expiry_is_expired_however_it_is_written(service, oidc, text):
    service.reject(token_with(oidc, "exp", text), "token_expired", "claim_invalid")


@pytest.mark.parametrize(
    "text",
    [
        "2147483648.5",
        "4102444800",
        "4.1024448e9",
        "4294967296",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e300",
        "123456789012345678901234567890",
    ],
)
def test_a_far_expiry_neither_overflows_nor_expires(service, oidc, text):
    response = service.verify(token_with(oidc, "exp", text))
    assert response.status == 200 or response.code == "claim_invalid", response
    if text in ("4102444800", "4.1024448e9", "2147483648.5"):
        assert response.json["token"]["expires_at"] == int(float(text))


@pytest.mark.parametrize(
    "text", ["9223372036854775807", "9223372036854775808", "1e300", "99999999999999999999999", "9007199254740993"]
)
@pytest.mark.parametrize("claim", ["iat", "nbf"])
def test_a_far_beginning_is_not_yet_valid(service, oidc, claim, text):
    service.reject(token_with(oidc, claim, text), "token_not_yet_valid", "claim_invalid")


@pytest.mark.parametrize("claim", ["exp", "iat", "nbf", "auth_time"])
def test_a_time_beyond_a_double_is_malformed(service, oidc, claim):
    service.reject(token_with(oidc, claim, "1e400"), "token_malformed", "claim_invalid")


# max_age and auth_time


def test_max_age_is_held_against_auth_time(service, oidc):
    time = now()
    service.accept(oidc.token(auth_time=time - 300), max_age=300)
    service.reject(oidc.token(auth_time=time - 300), "auth_time_too_old", max_age=200)
    service.accept(oidc.token(auth_time=time - 300))
    service.accept(oidc.token(auth_time=time - 300), max_age=2**31)


def test_max_age_is_held_against_iat_where_there_is_no_auth_time(service, oidc):
    time = now()
    service.accept(oidc.token(iat=time - 300), max_age=300)
    service.reject(oidc.token(iat=time - 300), "auth_time_too_old", max_age=200)
    service.accept(oidc.token(iat=time), max_age=0)


def test_an_auth_time_of_zero_is_a_time(service, oidc):
    assert service.accept(oidc.token(auth_time=0))["token"]["auth_time"] == 0
    service.reject(oidc.token(auth_time=0), "auth_time_too_old", max_age=3600)
    service.reject(oidc.token(auth_time=-1), "auth_time_too_old", "claim_invalid", max_age=3600)


def test_an_auth_time_in_the_future_is_no_evidence(service, oidc):
    service.reject(oidc.token(auth_time=now() + 3600), "claim_invalid", "auth_time_too_old", max_age=60)


@pytest.mark.parametrize(
    "text", ["1e300", "-1e300", "9223372036854775807", "-9223372036854775808", "99999999999999999999"]
)
def test_an_absurd_auth_time_never_passes_max_age(service, oidc, text):
    service.reject(token_with(oidc, "auth_time", text), "claim_invalid", "auth_time_too_old", max_age=60)


def test_the_greatest_max_age_does_not_overflow(service, oidc):
    response = service.verify(oidc.token(auth_time=now() - 5), max_age=2**63 - 1)
    assert response.status == 200 or response.code == "request_invalid", response


# sub


def test_a_subject_must_be_there(service, oidc):
    for subject in (None, ""):
        assert_claim(service.reject(oidc.token(sub=subject), "claim_missing", "claim_invalid"), "sub")


@pytest.mark.parametrize("text", ["null", "5", "12345678", "true", "{}", "[]", '["user-1"]'])
def test_a_subject_that_is_no_string_is_invalid(service, oidc, text):
    assert_claim(service.reject(token_with(oidc, "sub", text), "claim_invalid", "claim_missing"), "sub")


@pytest.mark.parametrize("character", ["x", "é", "漢", "🐈"])
def test_a_subject_has_at_most_255_characters(service, oidc, character):
    assert service.accept(oidc.token(sub=character * 255))["identity"]["subject"] == character * 255
    assert_claim(service.reject(oidc.token(sub=character * 256), "claim_invalid"), "sub")


@pytest.mark.parametrize("subject", [" ", "   ", "a\x00b", "a\nb", "\x7f"], ids=ascii)
def test_a_subject_of_spaces_or_control_characters_is_refused(service, oidc, subject):
    service.reject(oidc.token(sub=subject), "claim_invalid", "token_malformed")


# required claims and other kinds of token


def test_claims_that_the_settings_require_must_be_there(service, world):
    issuer = world["demanding"]
    service.accept(issuer.token(email="a@example.com", phone_number="+1"))
    assert_claim(service.reject(issuer.token(phone_number="+1"), "claim_missing"), "email")
    assert_claim(service.reject(issuer.token(email="a@example.com"), "claim_missing"), "phone_number")
    service.reject(issuer.token(email="", phone_number="+1"), "claim_missing")
    service.reject(token_with(issuer, "email", "null", phone_number="+1"), "claim_missing", "claim_invalid")


@pytest.mark.parametrize("text", ["null", "{}", '"x"', '{"http://schemas.openid.net/event/backchannel-logout":{}}'])
def test_a_token_with_events_is_no_id_token(service, oidc, text):
    assert_claim(service.reject(token_with(oidc, "events", text), "claim_invalid"), "events")


def test_an_apple_notification_is_no_id_token(service, apple):
    event = {"type": "email-disabled", "sub": "001234", "email": "x@privaterelay.appleid.com", "event_time": now()}
    service.reject(apple.token(sub=None, events=json.dumps(event)), "claim_invalid", "claim_missing")
    service.reject(apple.token(events=json.dumps(event)), "claim_invalid")


def test_an_access_token_without_audience_is_no_id_token(service, oidc):
    assert_claim(service.reject(oidc.token(aud=None, token_use="access", scope="openid"), "claim_missing"), "aud")


# order


@pytest.mark.parametrize(("claim", "value"), [("scope", "openid"), ("scp", ["openid"]), ("client_id", "client")])
def test_an_access_token_for_our_own_audience_is_no_id_token(service, oidc, claim, value):
    assert_claim(service.reject(oidc.token(**{claim: value}), "claim_invalid"), claim)
    service.accept(oidc.token(**{claim: value}, auth_time=now()))
    service.accept(oidc.token(**{claim: value}, nonce="n"), nonce="n")


def test_claims_are_reported_in_the_contracts_order(service, world):
    """Each step mends the fault reported before."""
    issuer = world["short-lived"]
    time = now()
    faults = {
        "iss": "https://elsewhere.example.com",
        "aud": ["client", "stranger"],
        "azp": "stranger",
        "exp": time - 7200,
        "nbf": time + 7200,
        "iat": time - 7200,
        "auth_time": time - 7200,
        "sub": "",
        "nonce": "other",
        "at_hash": "other",
        "c_hash": "other",
    }
    mends = [
        ("issuer_mismatch", {"iss": issuer.url}),
        ("authorized_party_mismatch", {"azp": "client"}),
        ("token_expired", {"exp": time + 600}),
        ("token_not_yet_valid", {"nbf": time}),
        ("token_too_old", {"iat": time}),
        ("auth_time_too_old", {"auth_time": time}),
        ("claim_missing", {"sub": "user-1"}),
        ("nonce_mismatch", {"nonce": "nonce"}),
        ("at_hash_mismatch", {"at_hash": None}),
        ("at_hash_missing", {}),
    ]
    request = {"provider": "short-lived", "nonce": "nonce", "max_age": 60, "access_token": "a", "code": "c"}
    for code, mend in mends:
        service.reject(issuer.token(**faults), code, **request)
        faults |= mend
