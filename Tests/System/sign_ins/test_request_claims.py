"""What else an authorization request asks for: claims, an acr, resources, and a user who is known already."""

import json
import urllib.parse

import pytest
from grants.grants import with_client
from grants.test_encrypted_tokens import encrypted, write_key
from harness import tokens
from harness.client import contract
from harness.service import Service
from harness.token_endpoint import grant
from harness.tokens import ec_key, rsa_key
from jwcrypto import jwk

from .calls import ON, begin
from .connected import Connection, entry, parameters

REDIRECT = "https://app.example/callback"
AUTHORIZATION = "https://idp.example/authorize"
PAR = "/par"
CLAIMS = {"userinfo": {"email": None}, "id_token": {"nationality": {"essential": True, "value": "NL"}, "auth_time": None}}


@pytest.fixture(scope="module")
def key():
    return jwk.JWK.generate(kty="EC", crv="P-256")


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("claims", ec_key("first"), rsa_key("small", 1024))


@pytest.fixture(scope="module")
def service(shared_server, issuer, endpoint, key, tmp_path_factory):
    directory = tmp_path_factory.mktemp("claims")
    keys = [{"id": "enc", "use": "encryption", "key_file": write_key(directory, key, "enc"), "algorithms": ["ECDH-ES+A256KW"]},
            {"id": "sig", "use": "signature", "key_file": write_key(directory, jwk.JWK.generate(kty="EC", crv="P-256"), "sig"),
             "algorithm": "ES256"}]  # fmt: skip

    def some(name: str, issuer, client: dict | None = None, **more) -> dict:
        client = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT]} | (client or {})
        endpoints = {"authorization": AUTHORIZATION, "token": endpoint.endpoints["token"],
                     "pushed_authorization_request": endpoint.url + PAR}  # fmt: skip
        return with_client(issuer, endpoint, directory, name, clients=[client], endpoints=endpoints, **more)

    usual = {"authorization_parameters": {"resource": "https://usual.example", "access_type": "offline"}}
    sealed = {"encryption": {"required": ["id_token"]}}
    providers = [
        some("oidc", issuer, audiences=["client", "shop"], algorithms=["ES256", "RS256"]),
        some("usual", shared_server.issuer("claims-usual"), usual),
        some("pushed", shared_server.issuer("claims-pushed"), {"request": "pushed"}),
        some("signed", shared_server.issuer("claims-signed"), {"request": "signed"}),
        some("sealed", shared_server.issuer("claims-sealed"), **sealed),
        entry(directory),
    ]  # fmt: skip
    with Service(*providers, client_keys=keys, **ON) as service:
        service.wait_until_ready()
        yield service


def started(service, *provider: str, **members) -> dict:
    return begin(service, *provider, redirect_uri=REDIRECT, **members)


def values(begun: dict, name: str) -> list[str]:
    return urllib.parse.parse_qs(urllib.parse.urlsplit(begun["authorization_url"]).query).get(name, [])


def finish(service, endpoint, begun: dict, issuer, **claims):
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"], **claims)))
    return service.api.post(
        "/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": {"state": begun["state"], "code": "c1"}}
    )


def spent(response, code: str) -> dict:
    problem = contract.assert_code(response, code)
    assert problem["spent"] is True
    return problem


# Claims.


def test_claims_are_sent_as_they_are(service):
    assert [json.loads(text) for text in values(started(service, claims=CLAIMS), "claims")] == [CLAIMS]


def test_claims_in_a_pushed_and_in_a_signed_request(service, endpoint):
    from .test_requests import pushed

    endpoint.play(pushed(), path=PAR)
    started(service, "pushed", claims=CLAIMS, resource=["https://a.example"], max_age=60)
    form = endpoint.last(PAR).form
    assert json.loads(form["claims"]) == CLAIMS and form["resource"] == "https://a.example" and form["max_age"] == "60"
    [object] = values(started(service, "signed", claims=CLAIMS, resource=["https://a.example", "urn:b"], max_age=60), "request")
    members = json.loads(tokens.unb64url(tokens.parts(object)[1]))
    assert members["claims"] == CLAIMS and members["resource"] == ["https://a.example", "urn:b"] and members["max_age"] == 60


@pytest.mark.parametrize(
    "members",
    [
        {"claims": []}, {"claims": "{}"}, {"claims": {"id_token": []}}, {"claims": {"a": "x" * 4096}},
        {"claims": {"id_token": {"acr": {"essential": True, "value": 1}}}},
        {"claims": {"id_token": {"acr": {"essential": True, "values": []}}}},
        {"claims": {"id_token": {"acr": {"essential": True, "values": ["a", 1]}}}},
        {"claims": {"id_token": {"acr": {"essential": True, "value": "a", "values": ["a"]}}}},
        {"resource": "https://a.example"}, {"resource": ["/a"]}, {"resource": ["https://a.example/#f"]},
        {"resource": ["https://a.example/" + "x" * 500]}, {"resource": ["https://a.example/ä"]}, {"resource": [1]},
        {"require_acr": True}, {"require_acr": "yes", "acr_values": "a"}, {"require_acr": True, "acr_values": " "},
        {"require_acr": True, "acr_values": "a", "claims": {"id_token": {"acr": {"essential": True, "value": "b"}}}},
        {"id_token_hint": 1},
    ],
)  # fmt: skip
def test_requests_that_make_no_sense(service, members):
    response = service.api.post("/v1/sign-ins", {"provider": "oidc", "redirect_uri": REDIRECT} | members)
    contract.assert_code(response, "request_invalid")


@pytest.mark.parametrize("name", ["claims", "resource", "require_acr", "id_token_hint"])
def test_null_is_absent_and_a_native_sign_in_has_none(service, name):
    begun = started(service, **{name: None})
    assert set(parameters(begun)) == set(parameters(started(service)))
    value = {"claims": {}, "resource": [], "require_acr": True, "id_token_hint": "x"}[name]
    contract.assert_code(service.api.post("/v1/sign-ins", {"provider": "oidc", name: value}), "request_invalid")


# acr and auth_time.

LOA = "https://loa.example/3"
ESSENTIAL = {"claims": {"id_token": {"acr": {"essential": True, "values": [LOA, "https://loa.example/4"]}}}}


@pytest.mark.parametrize(
    "members",
    [
        {"acr_values": f"https://loa.example/4 {LOA}", "require_acr": True},
        ESSENTIAL,
        {"claims": {"id_token": {"acr": {"essential": True, "value": LOA}}}},
        ESSENTIAL | {"acr_values": f"{LOA} other", "require_acr": True},
    ],
)
def test_a_demanded_acr(service, endpoint, issuer, members):
    accepted = finish(service, endpoint, started(service, **members), issuer, acr=LOA)
    assert accepted.status == 200 and accepted.json["token"]["acr"] == LOA
    for acr in ({}, {"acr": "other"}, {"acr": LOA + "/"}, {"acr": LOA.upper()}, {"acr": [LOA]}):
        spent(finish(service, endpoint, started(service, **members), issuer, **acr), "acr_mismatch")


@pytest.mark.parametrize(
    "members",
    [
        {"acr_values": LOA}, {"acr_values": LOA, "require_acr": False},
        {"claims": {"id_token": {"acr": {"values": [LOA]}}}}, {"claims": {"id_token": {"acr": {"essential": True}}}},
        {"claims": {"userinfo": {"acr": {"essential": True, "value": LOA}}}},
    ],
)  # fmt: skip
def test_an_acr_that_is_only_asked_for(service, endpoint, issuer, members):
    assert finish(service, endpoint, started(service, **members), issuer).status == 200


def test_an_essential_auth_time(service, endpoint, issuer):
    members = {"claims": {"id_token": {"auth_time": {"essential": True}}}}
    assert finish(service, endpoint, started(service, **members), issuer, auth_time=tokens.now()).status == 200
    problem = spent(finish(service, endpoint, started(service, **members), issuer, auth_time=None), "claim_missing")
    assert problem["claim"] == "auth_time"


# Resources.


def test_resources_reach_both_endpoints(service, endpoint, issuer):
    resources = ["https://api.example/a?b=c", "urn:example:cooperation"]
    begun = started(service, resource=resources)
    assert values(begun, "resource") == resources
    assert finish(service, endpoint, begun, issuer).status == 200
    assert [value for name, value in endpoint.last().parameters if name == "resource"] == resources


def test_a_request_s_resource_replaces_the_client_s(service):
    assert values(started(service, "usual"), "resource") == ["https://usual.example"]
    begun = started(service, "usual", resource=["https://a.example"])
    assert values(begun, "resource") == ["https://a.example"] and values(begun, "access_type") == ["offline"]


# A user who is known already.


def test_a_hint_names_the_user_who_must_finish_it(service, endpoint, issuer):
    hint = issuer.token(exp=1_000_000_000, iat=999_999_000, nonce="another")
    begun = started(service, id_token_hint=hint)
    assert values(begun, "id_token_hint") == [hint]
    assert finish(service, endpoint, begun, issuer).status == 200
    spent(finish(service, endpoint, started(service, id_token_hint=hint), issuer, sub="user-2"), "subject_mismatch")


def test_a_hint_beside_a_subject(service, issuer):
    hint = issuer.token()
    started(service, id_token_hint=hint, subject="user-1")
    request = {"provider": "oidc", "redirect_uri": REDIRECT, "id_token_hint": hint, "subject": "user-2"}
    contract.assert_code(service.api.post("/v1/sign-ins", request), "request_invalid")


HINTS = {
    "token_malformed": lambda issuer: "junk",
    "header_unsupported": lambda issuer: tokens.jws(issuer.keys[0], issuer.claims(), crit=["x"], x=1),
    "algorithm_not_allowed": lambda issuer: tokens.jws(ec_key("first", "P-384"), issuer.claims()),
    "key_not_found": lambda issuer: tokens.jws(ec_key("unknown"), issuer.claims()),
    "key_unsuitable": lambda issuer: tokens.jws(issuer.key("small"), issuer.claims()),
    "signature_invalid": lambda issuer: tokens.jws(ec_key("forger"), issuer.claims(), kid="first"),
    "issuer_mismatch": lambda issuer: issuer.token(iss=issuer.url + "/"),
    "audience_mismatch": lambda issuer: issuer.token(aud="stranger"),
    "audience_mismatch ": lambda issuer: issuer.token(aud="shop"),
    "authorized_party_mismatch": lambda issuer: issuer.token(aud=["client", "b"], azp="stranger"),
    "token_not_yet_valid": lambda issuer: issuer.token(iat=tokens.now() + 3600),
    "claim_missing": lambda issuer: issuer.token(sub=None),
    "claim_invalid": lambda issuer: issuer.token(events={"http://schemas.openid.net/event/backchannel-logout": {}}),
}


def hinted(service, hint: str, provider: str = "oidc"):
    return service.api.post("/v1/sign-ins", {"provider": provider, "redirect_uri": REDIRECT, "id_token_hint": hint})


@pytest.mark.parametrize("code", HINTS)
def test_hints_that_are_refused(service, issuer, code):
    problem = contract.assert_code(hinted(service, HINTS[code](issuer)), code.strip())
    assert "spent" not in problem


def test_an_encrypted_hint_is_not_put_into_a_url(service, shared_server, key):
    hint = shared_server.issuer("claims-sealed").token()
    problem = contract.assert_code(hinted(service, encrypted(hint, key), "sealed"), "request_invalid")
    assert "pushed" in problem["detail"]
    contract.assert_code(hinted(service, hint, "sealed"), "encryption_required")
    stranger = jwk.JWK.generate(kty="EC", crv="P-256")
    contract.assert_code(hinted(service, encrypted(hint, stranger), "sealed"), "decryption_failed")


def test_a_hint_before_there_are_keys(shared_server, endpoint, tmp_path):
    issuer = shared_server.issuer("claims-keyless", ec_key("first"))
    client = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT]}
    endpoints = {"authorization": AUTHORIZATION, "token": endpoint.endpoints["token"]}
    with Service(with_client(issuer, endpoint, tmp_path, clients=[client], endpoints=endpoints), **ON) as service:
        service.wait_until_ready()
        issuer.jwks.status = 500
        contract.assert_code(hinted(service, tokens.jws(ec_key("unknown"), issuer.claims())), "keys_unavailable")


def test_a_connection_s_sign_in_keeps_what_it_checks(service, endpoint, issuer, shared_server):
    customer = Connection("acme", shared_server.issuer("claims-acme", ec_key("acme")), endpoint)
    begun = customer.begun(
        service, id_token_hint=customer.issuer.token(), resource=["https://a.example"], **ESSENTIAL
    )
    response = customer.sign_in(begun, acr=LOA)
    assert customer.finish(service, begun, response).status == 200
    assert endpoint.last().form["resource"] == "https://a.example"
    begun = customer.begun(service, id_token_hint=customer.issuer.token(), **ESSENTIAL)
    spent(customer.finish(service, begun, customer.sign_in(begun, acr="other")), "acr_mismatch")
    contract.assert_code(customer.begin(service, id_token_hint=issuer.token()), "key_not_found")


def test_a_handle_that_would_be_too_long(service):
    values = " ".join("v" * 10 + str(number) for number in range(20))
    request = {"provider": "oidc", "redirect_uri": REDIRECT, "context": "c" * 512, "subject": "s" * 255,
               "resource": ["https://a.example/" + "r" * 490], "require_acr": True, "acr_values": values}  # fmt: skip
    response = service.api.post("/v1/sign-ins", request)
    contract.assert_code(response, "request_invalid")


def test_nothing_of_it_is_logged(service, issuer):
    hint = issuer.token(sub="canary-subject")
    begun = started(service, id_token_hint=hint, claims={"id_token": {"canary": None}}, resource=["https://canary.example"])
    contract.assert_code(hinted(service, "canary.junk.token"), "token_malformed")
    service.wait_for_entry(route="/v1/sign-ins", code="token_malformed")
    service.hides("canary", hint, begun["state"], begun["nonce"])
