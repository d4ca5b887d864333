"""Every member of the answer to a verified token: `identity`, `token`, `keys`, `claims`."""

import json

import pytest

from harness.contract import minimal_identity
from harness.tokens import jws, key_for, now, sha256_hex


def identity(service, issuer, **claims) -> dict:
    return service.accept(issuer.token(**claims))["identity"]


def test_members_without_a_claim_are_null(service, oidc):
    claims = oidc.claims()
    answer = service.accept(jws(oidc.keys[0], claims))
    assert answer == {
        "identity": minimal_identity(oidc.url),
        "token": {
            "audience": ["client"],
            "authorized_party": None,
            "issued_at": claims["iat"],
            "expires_at": claims["exp"],
            "not_before": None,
            "auth_time": None,
            "token_id": None,
            "session_id": None,
            "acr": None,
            "amr": [],
            "algorithm": "RS256",
            "key_id": "rsa",
            "nonce_match": None,
        },
        "keys": {"source": "network", "age_seconds": answer["keys"]["age_seconds"], "stale": False},
    }
    assert 0 <= answer["keys"]["age_seconds"] < 120


def test_every_claim_of_a_full_token_is_reported(service, oidc):
    time = now()
    claims = oidc.claims(
        email="a@example.com",
        email_verified=True,
        name="Ada Lovelace",
        given_name="Ada",
        family_name="Lovelace",
        preferred_username="ada",
        picture="https://example.com/ada.png",
        locale="en-GB",
        tid="tenant-1",
        hd="example.com",
        aud=["client", "other-client"],
        azp="client",
        nbf=time - 5,
        auth_time=time - 50,
        jti="token-1",
        sid="session-1",
        acr="urn:mace:incommon:iap:silver",
        amr=["pwd", "otp"],
        nonce="n-1",
    )
    answer = service.accept(jws(oidc.keys[0], claims), nonce="n-1")
    assert answer["identity"] == {
        "provider": "oidc",
        "issuer": oidc.url,
        "subject": "user-1",
        "email": "a@example.com",
        "email_verified": True,
        "email_trust": "verified",
        "is_private_email": None,
        "name": "Ada Lovelace",
        "given_name": "Ada",
        "family_name": "Lovelace",
        "name_source": "token",
        "preferred_username": "ada",
        "picture": "https://example.com/ada.png",
        "locale": "en-GB",
        "real_user_status": None,
        "transfer_subject": None,
        "tenant": "tenant-1",
        "hosted_domain": None,
    }
    assert answer["token"] == {
        "audience": ["client", "other-client"],
        "authorized_party": "client",
        "issued_at": claims["iat"],
        "expires_at": claims["exp"],
        "not_before": time - 5,
        "auth_time": time - 50,
        "token_id": "token-1",
        "session_id": "session-1",
        "acr": "urn:mace:incommon:iap:silver",
        "amr": ["pwd", "otp"],
        "algorithm": "RS256",
        "key_id": "rsa",
        "nonce_match": "plain",
    }


def test_every_claim_of_an_apple_token_is_reported(service, apple):
    token = apple.token(
        sub="001234.abcd.0123",
        email="xyz@privaterelay.appleid.com",
        email_verified="true",
        is_private_email="true",
        real_user_status=2,
        transfer_sub="001234.efgh.0456",
        nonce=sha256_hex("raw nonce"),
        nonce_supported=True,
        auth_time=now() - 10,
    )
    answer = service.accept(token, nonce="raw nonce")
    expected = {
        "provider": "apple",
        "issuer": apple.url,
        "subject": "001234.abcd.0123",
        "email": "xyz@privaterelay.appleid.com",
        "email_verified": True,
        "email_trust": "authoritative",
        "is_private_email": True,
        "real_user_status": "likely_real",
        "transfer_subject": "001234.efgh.0456",
    }
    assert expected.items() <= answer["identity"].items()
    assert answer["token"]["nonce_match"] == "sha256_hex"
    assert answer["token"]["key_id"] == "apple-1"


# Addresses, booleans and e-mail trust. `Tests/IDTokenTests` tests every form.


@pytest.mark.parametrize("claim", ["email_verified", "is_private_email"])
def test_a_boolean_claim_with_another_value_is_invalid(service, apple, claim):
    token = apple.token(**{"email": "a@example.com", claim: "yes"})
    assert service.reject(token, "claim_invalid")["claim"] == claim


def test_a_required_email_must_be_a_valid_address(service, world):
    issuer = world["demanding"]
    claims = {"email": "a@evil.example@icloud.com", "phone_number": "1"}
    assert service.reject(issuer.token(**claims), "claim_invalid")["claim"] == "email"
    service.accept(issuer.token(**claims | {"email": "a@icloud.com"}))


def test_providers_are_authoritative_for_their_own_domains_only(service, apple, google):
    def trust(issuer, email: str, **claims) -> str:
        return identity(service, issuer, email=email, email_verified=True, **claims)["email_trust"]

    assert trust(apple, "a@ICloud.COM") == "authoritative"
    assert trust(apple, "a@icloud.com.example.com") == "verified"
    assert trust(google, "a@gmail.com") == "authoritative"
    assert trust(google, "a@Example.com", hd="example.com") == "authoritative"
    assert trust(google, "a@sub.example.com", hd="example.com") == "verified"


# is_private_email


def test_relay_domains_are_configurable(service, world):
    issuer = world["own-relay"]
    assert identity(service, issuer, email="a@Relay.Example.com")["is_private_email"] is True
    assert identity(service, issuer, email="a@privaterelay.appleid.com")["is_private_email"] is not True


# names


def test_names_may_come_from_the_clients_user_object(service, apple):
    user = {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "evil@example.com"}
    answer = service.accept(apple.token(email="a@icloud.com", email_verified=True), user=user)["identity"]
    assert (answer["given_name"], answer["family_name"], answer["name_source"]) == ("Ada", "Lovelace", "client")
    assert answer["name"] == "Ada Lovelace"
    assert answer["email"] == "a@icloud.com"


def test_an_email_never_comes_from_the_clients_user_object(service, apple):
    answer = service.accept(apple.token(), user={"email": "evil@icloud.com"})["identity"]
    assert (answer["email"], answer["email_trust"], answer["is_private_email"]) == (None, None, None)
    assert answer["name_source"] is None


# provider-specific members


def test_an_alias_is_reported_as_the_canonical_issuer(service, world, google):
    assert identity(service, google, iss="accounts.google.com")["issuer"] == google.url
    aliased = world["aliased"]
    for alias in ["https://old.example.com", "https://account.example.com"]:
        assert identity(service, aliased, iss=alias) == identity(service, aliased)


# text and numbers


@pytest.mark.parametrize(
    "text",
    [
        'quote " and \\ backslash',
        "tab\tnewline\nreturn\r",
        "\x01\x1f",
        "Zoë 漢字 🐈",
        "\u2028\u2029",
        "</script>",
        "e\u0301",
    ],
    ids=ascii,
)
def test_text_comes_through_unchanged(service, oidc, text):
    assert identity(service, oidc, name=text, picture=text)["name"] == text


def test_claims_are_returned_only_on_request(service, oidc):
    assert "claims" not in service.accept(oidc.token())
    assert "claims" not in service.accept(oidc.token(), include_claims=False)
    assert service.accept(oidc.token(), include_claims=True)["claims"]["sub"] == "user-1"


def test_claims_are_returned_exactly_as_in_the_payload(service, oidc):
    odd = (
        '"n":[1e3, 1.50, -0, 9007199254740993, 1E+2, 123456789012345678901234567890],'
        '"s":"\\u00e9\\/\\ud83d\\ude00 \\u0061"'
    )
    payload = "{ " + odd + ",\n" + json.dumps(oidc.claims())[1:]
    response = service.verify(jws(oidc.keys[0], payload), include_claims=True)
    assert response.status == 200, response
    assert payload.encode() in response.body


def test_escapes_in_claims_do_not_inflate_the_response(service, oidc):
    payload = json.dumps(oidc.claims(filler="\u00e9" * 1800))
    assert len(payload) > 10_000
    response = service.verify(jws(oidc.keys[0], payload), include_claims=True)
    assert response.json["claims"]["filler"] == "\u00e9" * 1800
    assert len(response.body) < 4 * len(payload)


def test_providers_that_share_a_key_id_are_distinguished(service, apple, google):
    assert service.accept(apple.token())["identity"]["provider"] == "apple"
    assert service.accept(google.token())["identity"]["provider"] == "google"


def test_a_repeated_token_gets_the_same_answer(service, oidc):
    token = jws(key_for("P-256"), oidc.claims(nonce="n"))
    first, second = (service.accept(token, nonce="n") for _ in range(2))
    assert first["identity"] == second["identity"]
    assert first["token"] == second["token"]
    service.reject(token, "nonce_mismatch", nonce="m")
    service.reject(token, "nonce_required")
