"""UserInfo as a JWT (OpenID Connect Core 1.0, section 5.3.2): signed, encrypted around that, and each refusal."""

import json

import pytest
from jwcrypto import jwk

from grants.test_encrypted_tokens import encrypted, write_key
from harness import tokens
from harness.service import Service
from harness.token_endpoint import USER_INFO, answered, grant
from harness.tokens import ec_key, rsa_key

from .calls import ON
from .test_browser import begun, finish, refused, settings

JWT = "application/jwt"
CLAIMS = {"sub": "user-1", "email": "ada@example.com", "email_verified": True, "name": "Ada"}


@pytest.fixture(scope="module")
def key():
    return jwk.JWK.generate(kty="EC", crv="P-256")


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("user-info-tokens", ec_key("first"), rsa_key("small", 1024))


@pytest.fixture(scope="module")
def service(shared_server, issuer, endpoint, key, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    keys = [{"id": "enc", "use": "encryption", "key_file": write_key(directory, key, "enc"), "algorithms": ["ECDH-ES+A256KW"]}]

    # Each entry has an issuer of its own; all have the same keys.
    issuers = {"oidc": issuer}

    def some(id: str, **more) -> dict:
        if id not in issuers:
            issuers[id] = shared_server.issuer(f"user-info-{id}", *issuer.keys)
        usual = {"user_info": True, "algorithms": ["ES256", "RS256"], "clock_skew": "0s"}
        return settings(issuers[id], endpoint, directory, id, **(usual | more))

    providers = [
        some("oidc"),
        some("strict", user_info={"signed": "required"}),
        some("lax", user_info={"signed": "accepted"}, encryption={}),
        some("sealed", encryption={"required": ["user_info"]}),
    ]
    with Service(*providers, client_keys=keys, limits={"provider_timeout": "2s"}, **ON) as service:
        service.wait_until_ready()
        service.issuers = issuers
        yield service


def asked(service, endpoint, issuer, body, provider: str = "oidc", media: str = JWT):
    """A finish whose UserInfo response is this."""
    started = begun(service, provider)
    # A service of one test has only one entry.
    own = getattr(service, "issuers", {"oidc": issuer})[provider]
    endpoint.play(grant(id_token=own.token(nonce=started["nonce"])))
    octets = body.encode() if isinstance(body, str) else body
    endpoint.play(answered(octets, headers={"Content-Type": media}), path=USER_INFO)
    return finish(service, started)


def signed(issuer, **claims) -> str:
    members = CLAIMS | claims
    return tokens.jws(issuer.keys[0], {name: value for name, value in members.items() if value is not None})


def completed(response) -> dict:
    assert response.status == 200, response
    identity = response.json["identity"]
    assert identity["email"] == "ada@example.com" and identity["name_source"] == "user_info"
    # Whoever signs it, accounts are not linked by an address from here.
    assert identity["email_trust"] == "verified"
    return response.json


@pytest.mark.parametrize("provider", ["oidc", "strict", "lax"])
@pytest.mark.parametrize("media", [JWT, "application/JWT; charset=utf-8"])
def test_a_signed_response(service, endpoint, issuer, provider, media):
    answer = completed(asked(service, endpoint, issuer, signed(issuer), provider, media))
    assert "unverified_claims" not in answer
    expected = JWT if provider == "strict" else "application/json"
    assert endpoint.last(USER_INFO).headers["accept"] == expected


def test_a_response_that_is_longer_than_tokens_may_be(service, endpoint, issuer, key):
    for body in (signed(issuer, photo="x" * 30_000), encrypted(signed(issuer, photo="x" * 20_000), key)):
        assert 16 * 1024 < len(body) < 64 * 1024
        completed(asked(service, endpoint, issuer, body, "lax"))


def test_members_about_the_token_itself(service, endpoint, issuer):
    now = tokens.now()
    about = {"iss": issuer.url, "aud": ["another", "client"], "exp": now + 60, "nbf": now - 60, "iat": now}
    completed(asked(service, endpoint, issuer, signed(issuer, **about)))


@pytest.mark.parametrize("provider", ["lax", "sealed"])
def test_an_encrypted_response(service, endpoint, issuer, key, provider):
    completed(asked(service, endpoint, issuer, encrypted(signed(issuer), key), provider))
    if provider == "sealed":
        assert endpoint.last(USER_INFO).headers["accept"] == JWT


def test_plain_claims_where_both_are_accepted(service, endpoint, issuer):
    completed(asked(service, endpoint, issuer, json.dumps(CLAIMS), "lax", "application/json"))


def test_a_key_that_is_new(service, endpoint, issuer):
    new = ec_key("rotated-in")
    issuer.rotate(*issuer.keys, new)
    completed(asked(service, endpoint, issuer, tokens.jws(new, CLAIMS)))


def unsigned(issuer, key) -> str:
    return tokens.assemble({"alg": "none"}, CLAIMS, b"")


# The provider, the response, the member at fault, and words of the detail.
REFUSED = {
    "alg none": ("oidc", unsigned, None, "its alg is missing, none, or not in algorithms"),
    "another alg": ("oidc", lambda i, k: tokens.jws(ec_key("first", "P-384"), CLAIMS), None, "its alg is"),
    "another kind of token": ("oidc", lambda i, k: tokens.jws(i.keys[0], CLAIMS, typ="at+jwt"), None, "another kind of token"),
    "junk": ("oidc", lambda i, k: "junk", None, "not one compact JWS"),
    "no object": ("oidc", lambda i, k: tokens.jws(i.keys[0], b"[]"), None, "not one compact JWS"),
    "an unknown key": ("oidc", lambda i, k: tokens.jws(ec_key("unknown"), CLAIMS), None, "no published key of the provider fits"),
    "a small key": ("oidc", lambda i, k: tokens.jws(i.key("small"), CLAIMS), None, "too small"),
    "another signature": ("oidc", lambda i, k: tokens.jws(ec_key("first", "P-256"), CLAIMS)[:-4] + "AAAA", None, "signature"),
    "another issuer": ("oidc", lambda i, k: signed(i, iss=i.url + "/"), "iss", "its iss is not the provider's issuer"),
    "iss no text": ("oidc", lambda i, k: signed(i, iss=1), "iss", "its iss has an invalid type"),
    "another audience": ("oidc", lambda i, k: signed(i, aud="another"), "aud", "its aud is not our client's id"),
    "aud no text": ("oidc", lambda i, k: signed(i, aud=[1]), "aud", "its aud has an invalid type"),
    "expired": ("oidc", lambda i, k: signed(i, exp=tokens.now() - 5), "exp", "its exp is in the past"),
    "exp no number": ("oidc", lambda i, k: signed(i, exp="soon"), "exp", "its exp has an invalid type"),
    "not yet": ("oidc", lambda i, k: signed(i, nbf=tokens.now() + 600), "nbf", "its nbf is in the future"),
    "no sub": ("oidc", lambda i, k: signed(i, sub=None), "sub", "it has no sub"),
    "another sub": ("oidc", lambda i, k: signed(i, sub="user-2"), "sub", "the UserInfo response's sub is not the ID Token's"),
    "email no text": ("oidc", lambda i, k: signed(i, email=1), "email", "the UserInfo response's email"),
    "encrypted, and no encryption": ("oidc", lambda i, k: encrypted(signed(i), k), None, "the provider's entry has no encryption"),
    "unsigned inside": ("lax", lambda i, k: encrypted(json.dumps(CLAIMS), k), None, "has no signed JWT inside"),
    "alg none inside": ("lax", lambda i, k: encrypted(unsigned(i, k), k), None, "its alg is missing, none"),
    "encrypted twice": ("lax", lambda i, k: encrypted(encrypted(signed(i), k), k), None, "another encrypted token inside"),
    "for another key": ("lax", lambda i, k: encrypted(signed(i), jwk.JWK.generate(kty="EC", crv="P-256")), None, "can't be opened"),
    "another sub inside": ("lax", lambda i, k: encrypted(signed(i, sub="user-2"), k), "sub", "the ID Token's"),
    "signed, not encrypted": ("sealed", lambda i, k: signed(i), None, "which encryption.required demands"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(service, endpoint, issuer, key, name):
    provider, made, member, words = REFUSED[name]
    response = asked(service, endpoint, issuer, made(issuer, key), provider)
    problem = refused(response, "provider_answer_invalid", True)
    assert words in problem["detail"]
    line = service.wait_for_entry(message="request", request_id=problem["request_id"])
    assert line["reason"] in problem["detail"] and line.get("member") == member


@pytest.mark.parametrize("provider, words", [("strict", "user_info.signed: required"), ("sealed", "encryption.required")])
def test_plain_claims_where_they_are_refused(service, endpoint, issuer, provider, words):
    response = asked(service, endpoint, issuer, json.dumps(CLAIMS), provider, "application/json")
    assert words in refused(response, "provider_answer_invalid", True)["detail"]


def test_the_content_type_decides(service, endpoint, issuer):
    """A JWT that is not said to be one is no JSON; claims that are said to be a JWT are none."""
    for body, media in ((signed(issuer), "application/json"), (json.dumps(CLAIMS), JWT)):
        refused(asked(service, endpoint, issuer, body, media=media), "provider_answer_invalid", True)


@pytest.mark.parametrize("as_token", [False, True])
def test_claims_of_others_are_left_out(service, endpoint, issuer, as_token):
    others = {
        "_claim_names": {"email": "src1", "address": "src1", "credit_score": "src2"},
        "_claim_sources": {"src1": {"JWT": "e30.e30.AA"}, "src2": {"endpoint": "https://other.example/", "access_token": "t"}},
        # Nobody says whether this is the provider's own.
        "email": "eve@example.com", "phone_number": "1",
    }  # fmt: skip
    body = signed(issuer, **others) if as_token else json.dumps(CLAIMS | others)
    answer = asked(service, endpoint, issuer, body, media=JWT if as_token else "application/json").json
    assert answer["unverified_claims"] == ["address", "credit_score", "email"]
    assert answer["identity"]["email"] is None and answer["identity"]["name"] == "Ada"


def test_names_of_claims_that_are_no_object(service, endpoint, issuer):
    response = asked(service, endpoint, issuer, signed(issuer, _claim_names=["email"]))
    assert "_claim_names" in refused(response, "provider_answer_invalid", True)["detail"]
    line = service.wait_for_entry(message="request", request_id=response.json["request_id"])
    assert line["member"] == "_claim_names"


def test_keys_that_cannot_be_fetched(server, endpoint, tmp_path):
    issuer = server.issuer("op", ec_key("first"))
    with Service(settings(issuer, endpoint, tmp_path, user_info=True), **ON) as service:
        service.wait_until_ready()
        issuer.jwks.status = 500
        response = asked(service, endpoint, issuer, tokens.jws(ec_key("unknown"), CLAIMS))
        refused(response, "keys_unavailable", True)


def test_nothing_of_it_is_logged(service, endpoint, issuer, key):
    token = signed(issuer, name="canary-name", email=1)
    refused(asked(service, endpoint, issuer, encrypted(token, key), "lax"), "provider_answer_invalid", True)
    service.hides("canary", token)
