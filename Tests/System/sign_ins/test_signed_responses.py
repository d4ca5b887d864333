"""Responses of the authorization endpoint that the provider signs (JARM), and ID Tokens that come with the code."""

import json

import pytest
from grants.grants import with_client
from grants.test_encrypted_tokens import encrypted, write_key
from harness import client, commands, tokens
from harness.client import contract
from harness.service import Service, run, write_config
from harness.token_endpoint import grant
from harness.tokens import ec_key, rsa_key
from jwcrypto import jwk

from .calls import ON, begin
from .connected import Connection, entry, parameters

REDIRECT = "https://app.example/callback"
AUTHORIZATION = "https://idp.example/authorize"
MODES = ["jwt", "query.jwt", "form_post.jwt"]


@pytest.fixture(scope="module")
def key():
    return jwk.JWK.generate(kty="EC", crv="P-256")


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("jarm", ec_key("first"), rsa_key("small", 1024))


@pytest.fixture(scope="module")
def sealed(shared_server):
    return shared_server.issuer("jarm-sealed", ec_key("first"))


@pytest.fixture(scope="module")
def service(shared_server, issuer, sealed, endpoint, key, tmp_path_factory):
    directory = tmp_path_factory.mktemp("jarm")
    keys = [{"id": "enc", "use": "encryption", "key_file": write_key(directory, key, "enc"), "algorithms": ["ECDH-ES+A256KW"]}]
    endpoints = {"authorization": AUTHORIZATION, "token": endpoint.endpoints["token"]}

    def some(name: str, issuer, client: dict | None = None, **more) -> dict:
        client = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT]} | (client or {})
        return with_client(issuer, endpoint, directory, name, clients=[client], endpoints=endpoints, **more)

    providers = [
        some("oidc", issuer, audiences=["client", "shop"], algorithms=["ES256", "RS256"]),
        some("sealed", sealed, encryption={"required": ["response"]}),
        some("either", shared_server.issuer("jarm-either", ec_key("first")), encryption={}),
        some("hybrid", shared_server.issuer("jarm-hybrid", ec_key("first")), {"response_type": "code id_token"}),
        entry(directory),
    ]
    with Service(*providers, client_keys=keys, **ON) as service:
        service.wait_until_ready()
        yield service


def started(service, provider: str = "oidc", **members) -> dict:
    return begin(service, provider, redirect_uri=REDIRECT, **({"response_mode": "jwt"} | members))


def signed(issuer, begun: dict, key=None, header: dict | None = None, **members) -> str:
    """The response, as the provider signs it. `None` leaves a member out."""
    usual = {"iss": issuer.url, "aud": "client", "exp": tokens.now() + 600, "state": begun["state"], "code": "c1"}
    claims = {name: value for name, value in (usual | members).items() if value is not None}
    return tokens.jws(key or issuer.keys[0], claims, **(header or {}))


def forged(issuer, begun: dict, **members) -> str:
    return signed(issuer, begun, ec_key("forger"), {"kid": "first"}, **members)


def finish(service, begun: dict, response: dict | str, **members) -> client.Response:
    response = {"response": response} if isinstance(response, str) else response
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response} | members)


def refused(response, code: str = "response_invalid", spent: bool = False) -> dict:
    problem = contract.assert_code(response, code)
    assert problem["spent"] is spent
    return problem


@pytest.mark.parametrize("mode", MODES)
def test_a_signed_response_finishes_the_sign_in(service, endpoint, issuer, mode):
    begun = started(service, response_mode=mode, context="/basket")
    assert parameters(begun)["response_mode"] == mode
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
    # What else came to the address does not matter.
    response = finish(service, begun, {"response": signed(issuer, begun), "session_state": "x", "utm": "y"})
    assert response.status == 200 and response.json["context"] == "/basket"
    assert endpoint.last().form["code"] == "c1"
    refused(finish(service, begun, signed(issuer, begun)), "sign_in_replayed", True)


TOKENS = {
    "token_malformed": lambda issuer, begun: "junk",
    "token_malformed ": lambda issuer, begun: signed(issuer, begun) + "x.y",
    "header_unsupported": lambda issuer, begun: signed(issuer, begun, header={"crit": ["x"], "x": 1}),
    "header_unsupported ": lambda issuer, begun: signed(issuer, begun, header={"typ": "at+jwt"}),
    "algorithm_not_allowed": lambda issuer, begun: signed(issuer, begun, ec_key("first", "P-384")),
    "key_not_found": lambda issuer, begun: signed(issuer, begun, ec_key("unknown")),
    "key_unsuitable": lambda issuer, begun: signed(issuer, begun, issuer.key("small")),
    "signature_invalid": lambda issuer, begun: forged(issuer, begun),
    "issuer_mismatch": lambda issuer, begun: signed(issuer, begun, iss=issuer.url + "/"),
    "claim_missing": lambda issuer, begun: signed(issuer, begun, iss=None),
    "claim_missing ": lambda issuer, begun: signed(issuer, begun, aud=None),
    "claim_missing  ": lambda issuer, begun: signed(issuer, begun, exp=None),
    "audience_mismatch": lambda issuer, begun: signed(issuer, begun, aud="stranger"),
    "audience_mismatch ": lambda issuer, begun: signed(issuer, begun, aud="shop"),
    "token_expired": lambda issuer, begun: signed(issuer, begun, exp=tokens.now() - 3600),
    "token_not_yet_valid": lambda issuer, begun: signed(issuer, begun, nbf=tokens.now() + 3600),
    "claim_invalid": lambda issuer, begun: signed(issuer, begun, exp="soon"),
}


@pytest.mark.parametrize("name", TOKENS)
def test_a_response_that_is_not_the_provider_s(service, endpoint, issuer, name):
    endpoint.forget()
    begun = started(service)
    problem = refused(finish(service, begun, TOKENS[name](issuer, begun)))
    assert name.strip() in problem["detail"] and "junk" not in problem["detail"]
    assert not endpoint.calls
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
    assert finish(service, begun, signed(issuer, begun)).status == 200


@pytest.mark.parametrize("name", ["code", "state", "iss", "error", "user", "id_token"])
def test_a_plain_parameter_beside_the_signed_response(service, issuer, name):
    begun = started(service)
    value = {"state": begun["state"], "iss": issuer.url, "error": "access_denied"}.get(name, "x")
    refused(finish(service, begun, {"response": signed(issuer, begun), name: value}))
    # Without a value, it counts as absent.
    assert finish(service, begun, {"response": signed(issuer, begun, code=None), name: ""}).code == "request_invalid"


@pytest.mark.parametrize("response", [{}, {"code": "c1"}, {"error": "access_denied"}, {"response": ""}])
def test_a_plain_response_to_such_a_sign_in(service, issuer, response):
    begun = started(service)
    refused(finish(service, begun, {"state": begun["state"], "iss": issuer.url} | response))
    refused(finish(service, begun, response))


def test_a_signed_response_to_a_plain_sign_in_is_ignored(service, endpoint, issuer):
    begun = started(service, response_mode=None)
    refused(finish(service, begun, signed(issuer, begun)), "state_mismatch")
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
    assert finish(service, begun, {"state": begun["state"], "code": "c1", "response": "junk"}).status == 200


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"state": "k3JvN8pQ2sXw7RzT1bYcUg"}, "state_mismatch"),
        ({"state": None}, "state_mismatch"),
        ({"code": None}, "request_invalid"),
        ({"code": None, "error": "access_denied"}, "sign_in_denied"),
        ({"code": None, "error": "server_error"}, "provider_refused"),
        ({"code": 7}, "response_invalid"),
        ({"state": ["a"]}, "response_invalid"),
    ],
)
def test_what_is_inside_is_read_as_ever(service, issuer, members, code):
    begun = started(service, context="/basket")
    problem = refused(finish(service, begun, signed(issuer, begun, **members)), code)
    assert problem.get("context") == ("/basket" if code in ("sign_in_denied", "provider_refused") else None)


def test_a_response_of_another_sign_in(service, issuer):
    one, other = started(service), started(service)
    refused(finish(service, one, signed(issuer, other)), "state_mismatch")


def test_its_issuer_is_the_response_s(service, endpoint, issuer):
    begun = started(service)
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"], iss=issuer.url + "/")))
    refused(finish(service, begun, signed(issuer, begun)), "issuer_mismatch", True)


def test_the_members_of_a_native_finish_are_refused_first(service, issuer):
    begun = started(service)
    refused(finish(service, begun, "junk", code="c1"), "request_invalid")
    refused(finish(service, begun, "junk", id_token="x"), "request_invalid")


def test_encrypted_responses(service, endpoint, issuer, sealed, key, shared_server):
    for name, own in (("sealed", sealed), ("either", shared_server.issuer("jarm-either"))):
        begun = started(service, name)
        endpoint.play(grant(id_token=own.token(nonce=begun["nonce"])))
        assert finish(service, begun, encrypted(signed(own, begun), key)).status == 200
    begun = started(service, "either")
    endpoint.play(grant(id_token=own.token(nonce=begun["nonce"])))
    assert finish(service, begun, signed(own, begun)).status == 200
    begun = started(service, "sealed")
    assert "encryption_required" in refused(finish(service, begun, signed(sealed, begun)))["detail"]
    stranger = jwk.JWK.generate(kty="EC", crv="P-256")
    assert "decryption_failed" in refused(finish(service, begun, encrypted(signed(sealed, begun), stranger)))["detail"]
    twice = encrypted(encrypted(signed(sealed, begun), key), key)
    assert "header_unsupported" in refused(finish(service, begun, twice))["detail"]
    assert "signature_invalid" in refused(finish(service, begun, encrypted(forged(sealed, begun), key)))["detail"]
    # Without encryption in the settings, an encrypted response is none.
    begun = started(service)
    assert "has no encryption" in refused(finish(service, begun, encrypted(signed(issuer, begun), key)))["detail"]


def test_keys_that_are_new_or_unknown(service, shared_server, endpoint, tmp_path):
    issuer = shared_server.issuer("jarm-rotated", ec_key("first"))
    named = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT]}
    endpoints = {"authorization": AUTHORIZATION, "token": endpoint.endpoints["token"]}
    with Service(with_client(issuer, endpoint, tmp_path, clients=[named], endpoints=endpoints), **ON) as service:
        service.wait_until_ready()
        new = ec_key("new")
        issuer.rotate(*issuer.keys, new)
        begun = started(service)
        endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
        assert finish(service, begun, signed(issuer, begun, new)).status == 200
        issuer.jwks.status = 500
        begun = started(service)
        refused(finish(service, begun, signed(issuer, begun, ec_key("newer"))), "keys_unavailable")


def test_a_connection_s_signed_response(service, endpoint, issuer, shared_server):
    customer = Connection("acme", shared_server.issuer("jarm-acme", ec_key("acme")), endpoint)
    begun = customer.begun(service, response_mode="form_post.jwt")
    customer.sign_in(begun)
    response = {"response": signed(customer.issuer, begun)}
    assert customer.finish(service, begun, response).status == 200
    begun = customer.begun(service, response_mode="jwt")
    other = {"response": signed(issuer, begun)}
    refused(customer.finish(service, begun, other))


def test_nothing_of_it_is_logged(service, issuer):
    begun = started(service)
    token = forged(issuer, begun, code="canary-code")
    refused(finish(service, begun, token))
    service.wait_for_entry(route="/v1/sign-ins/finish", code="response_invalid")
    service.hides("canary", token, begun["state"])


# ID Tokens that come with the code.


@pytest.fixture(scope="module")
def hybrid(shared_server):
    return shared_server.issuer("jarm-hybrid")


def front(issuer, begun: dict, code: str = "c1", **claims) -> str:
    usual = {"nonce": begun["nonce"], "c_hash": tokens.half_hash(code, "ES256"),
             "s_hash": tokens.half_hash(begun["state"], "ES256")}  # fmt: skip
    return issuer.token(**(usual | claims))


def hybrid_begun(service, **members) -> dict:
    return begin(service, "hybrid", redirect_uri=REDIRECT, **members)


@pytest.mark.parametrize("mode", [None, "form_post", "form_post.jwt"])
@pytest.mark.parametrize("claims", [{}, {"s_hash": None}])
def test_an_id_token_that_comes_with_the_code(service, endpoint, hybrid, mode, claims):
    begun = hybrid_begun(service, response_mode=mode)
    asked = parameters(begun)
    assert asked["response_type"] == "code id_token" and asked["response_mode"] == (mode or "form_post")
    token = front(hybrid, begun, email="first@example.com", email_verified=True, **claims)
    endpoint.play(grant(id_token=hybrid.token(nonce=begun["nonce"])))
    response = {"state": begun["state"], "code": "c1", "id_token": token}
    if mode == "form_post.jwt":
        response = {"response": signed(hybrid, begun, id_token=token)}
    finished = finish(service, begun, response)
    assert finished.status == 200 and finished.json["grant"]["access_token"]
    assert finished.json["identity"]["email"] == "first@example.com"


FRONT = {
    "c_hash_missing": {"c_hash": None},
    "c_hash_mismatch": {"c_hash": tokens.half_hash("another", "ES256")},
    "claim_invalid": {"s_hash": tokens.half_hash("another", "ES256")},
    "claim_invalid ": {"s_hash": 7},
    "nonce_missing": {"nonce": None},
    "nonce_mismatch": {"nonce": "another"},
    "token_expired": {"exp": 1_000_000_000, "iat": 999_999_000},
    "audience_mismatch": {"aud": "stranger"},
    "issuer_mismatch": {"iss": "https://evil.example"},
}


@pytest.mark.parametrize("code", FRONT)
def test_a_front_token_that_is_refused_uses_nothing_up(service, endpoint, hybrid, code):
    endpoint.forget()
    begun = hybrid_begun(service)
    response = {"state": begun["state"], "code": "c1"}
    refused(finish(service, begun, response | {"id_token": front(hybrid, begun, **FRONT[code])}), code.strip())
    assert not endpoint.calls
    endpoint.play(grant(id_token=hybrid.token(nonce=begun["nonce"])))
    assert finish(service, begun, response | {"id_token": front(hybrid, begun)}).status == 200


def test_a_front_token_must_be_there(service, hybrid):
    begun = hybrid_begun(service)
    refused(finish(service, begun, {"state": begun["state"], "code": "c1"}), "request_invalid")


def test_both_tokens_are_the_same_user_s(service, endpoint, hybrid):
    begun = hybrid_begun(service)
    endpoint.play(grant(id_token=hybrid.token(nonce=begun["nonce"], sub="user-2")))
    response = {"state": begun["state"], "code": "c1", "id_token": front(hybrid, begun)}
    refused(finish(service, begun, response), "subject_mismatch", True)


def test_a_demanded_acr_is_checked_before_the_code_is_used_up(service, endpoint, hybrid):
    endpoint.forget()
    begun = hybrid_begun(service, acr_values="gold", require_acr=True)
    response = {"state": begun["state"], "code": "c1"}
    refused(finish(service, begun, response | {"id_token": front(hybrid, begun, acr="silver")}), "acr_mismatch")
    assert not endpoint.calls
    endpoint.play(grant(id_token=hybrid.token(nonce=begun["nonce"])))
    assert finish(service, begun, response | {"id_token": front(hybrid, begun, acr="gold")}).status == 200


@pytest.mark.parametrize("mode", ["query", "jwt", "query.jwt"])
def test_a_front_token_never_comes_in_a_query(service, mode):
    request = {"provider": "hybrid", "redirect_uri": REDIRECT, "response_mode": mode}
    contract.assert_code(service.api.post("/v1/sign-ins", request), "request_invalid")


def test_a_front_token_that_nobody_asked_for_is_ignored(service, endpoint, issuer):
    begun = started(service, response_mode=None)
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
    assert finish(service, begun, {"state": begun["state"], "code": "c1", "id_token": "junk"}).status == 200


def test_a_front_token_needs_a_nonce(shared_server, endpoint, tmp_path):
    named = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT], "response_type": "code id_token"}
    entry = with_client(shared_server.issuer("jarm-refused"), endpoint, tmp_path, clients=[named], nonce={"check": "off"})
    result = run(*commands.config_check(write_config(tmp_path, {"providers": [entry]} | ON)))
    assert result.returncode != 0 and b"response_type: code id_token needs a nonce" in result.stdout + result.stderr


def test_modes_are_named(service):
    request = {"provider": "oidc", "redirect_uri": REDIRECT, "response_mode": "fragment.jwt"}
    contract.assert_code(service.api.post("/v1/sign-ins", request), "request_invalid")
