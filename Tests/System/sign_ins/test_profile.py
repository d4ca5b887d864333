"""An entry with `profile: fapi2`: what its clients send, what they refuse, and what `config check --live` says about its provider."""

import json
import urllib.parse

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwcrypto import jwk, jws

from grants.grants import with_client
from harness import client, commands, tokens
from harness.proofs import ProofEndpoint
from harness.service import Service, run, write_config
from harness.token_endpoint import answered, error
from harness.tokens import ec_key, ed_key, rsa_key

from .calls import ON, begin

PAR = "/par"
REDIRECT = "https://app.example/callback"
AUTHORIZATION = "https://idp.example/authorize"
PUSHED = answered({"request_uri": "urn:example:1", "expires_in": 60}, "201 Created")


def key_file(directory, key: jwk.JWK, name: str = "own") -> str:
    path = directory / f"{name}.pem"
    path.write_bytes(key.export_to_pem(private_key=True, password=None))
    path.chmod(0o600)
    return str(path)


@pytest.fixture(scope="module")
def own():
    return jwk.JWK.from_pyca(rsa.generate_private_key(65537, 2048))


@pytest.fixture(scope="module")
def settings(endpoint, own, tmp_path_factory):
    """Settings of an entry with the profile; `document` changes the discovery document."""
    directory = tmp_path_factory.mktemp("profile")

    def settings(issuer, document: dict = {}, id: str = "bank", **members) -> dict:
        usual = {
            "authorization_endpoint": AUTHORIZATION, "token_endpoint": endpoint.endpoints["token"],
            "pushed_authorization_request_endpoint": endpoint.url + PAR,
        }  # fmt: skip
        issuer.discovery.body = issuer.discovery_document(**{k: v for k, v in (usual | document).items() if v is not None})
        bound = {"id": "client", "auth": "private_key_jwt", "key_id": "k1", "key_file": key_file(directory, own),
                 "redirect_uris": [REDIRECT], "sender_constraint": "dpop"}  # fmt: skip
        more = {"profile": "fapi2", "endpoints": {}, "clients": [bound | members.pop("client", {})]}
        return with_client(issuer, endpoint, directory, id, **(more | members))

    return settings


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("profile", ec_key("op"), rsa_key("rsa"), ed_key("ed25519"), ed_key("ed448", "Ed448"))


@pytest.fixture(scope="module")
def service(issuer, settings):
    with Service(settings(issuer), **ON) as service:
        yield service.wait_until_ready()


@pytest.fixture
def server(endpoint):
    endpoint.forget()
    proofs = ProofEndpoint(endpoint)
    endpoint.choose(lambda call: PUSHED if call.path == PAR else proofs.act(call))
    yield proofs
    endpoint.heal()


def assertion(call, own) -> tuple[dict, dict]:
    token = jws.JWS()
    token.deserialize(call.form["client_assertion"], own)
    return token.jose_header, json.loads(token.payload)


def finish(service, begun: dict, **response) -> client.Response:
    response = {"state": begun["state"], "code": "c1"} | response
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})


def test_a_sign_in(service, server, issuer, own):
    begun = begin(service, "bank", redirect_uri=REDIRECT)
    assert dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun["authorization_url"]).query)) == {
        "client_id": "client", "request_uri": "urn:example:1"
    }  # fmt: skip
    pushed = server.endpoint.last(PAR)
    assert pushed.form["response_type"] == "code" and pushed.form["code_challenge_method"] == "S256"
    header, claims = assertion(pushed, own)
    # The key is RSA, for which RS256 is usual.
    assert header["alg"] == "PS256" and claims["aud"] == issuer.url
    server.members = {"id_token": issuer.token(nonce=begun["nonce"])}
    response = finish(service, begun, iss=issuer.url)
    assert response.status == 200 and response.json["grant"]["token_type"] == "DPoP", response
    assert assertion(server.endpoint.last("/token"), own)[1]["aud"] == issuer.url
    assert server.proofs[0].jkt == pushed.form["dpop_jkt"]


@pytest.mark.parametrize("response", [{}, {"iss": "https://attacker.example"}, {"error": "access_denied", "code": ""}])
def test_a_response_without_iss_is_refused_even_if_the_document_promises_none(service, server, response):
    begun = begin(service, "bank", redirect_uri=REDIRECT)
    server.endpoint.forget()
    problem = client.contract.assert_code(finish(service, begun, **response), "response_issuer_mismatch")
    assert problem["spent"] is False and not server.endpoint.calls


def test_a_signature_that_the_profile_does_not_allow_is_refused(service, server, issuer):
    begun = begin(service, "bank", redirect_uri=REDIRECT)
    token = tokens.jws(issuer.key("rsa"), issuer.claims(nonce=begun["nonce"]))
    server.members = {"id_token": token}
    client.contract.assert_code(finish(service, begun, iss=issuer.url), "algorithm_not_allowed")


def test_eddsa_is_ed25519_alone(service, server, issuer):
    def finished(key: str) -> client.Response:
        begun = begin(service, "bank", redirect_uri=REDIRECT)
        server.members = {"id_token": tokens.jws(issuer.key(key), issuer.claims(nonce=begun["nonce"]))}
        return finish(service, begun, iss=issuer.url)

    assert finished("ed25519").json["token"]["algorithm"] == "Ed25519"
    client.contract.assert_code(finished("ed448"), "key_not_found")


def test_a_grant_that_is_not_bound_is_dropped(service, server, issuer):
    begun = begin(service, "bank", redirect_uri=REDIRECT)
    server.members = {"id_token": issuer.token(nonce=begun["nonce"]), "token_type": "Bearer"}
    client.contract.assert_code(finish(service, begun, iss=issuer.url), "provider_answer_invalid")


def test_a_native_sign_in_has_no_profile(service, server):
    response = service.api.post("/v1/sign-ins", {"provider": "bank"})
    assert "redirect_uri" in client.contract.assert_code(response, "request_invalid")["detail"]


def test_a_key_that_can_t_sign_so_is_refused(settings, shared_server, tmp_path):
    other = key_file(tmp_path, jwk.JWK.generate(kty="EC", crv="P-384"))
    config = write_config(tmp_path, {"providers": [settings(shared_server.issuer("profile-key"), client={"key_file": other})]} | ON)
    result = run(*commands.config_check(config))
    text = result.stdout.decode() + result.stderr.decode()
    assert result.returncode == 1 and "the key can't sign with PS256, ES256 and EdDSA, as the client's profile demands" in text, text


def test_a_key_of_client_keys_on_ed448_is_refused(settings, shared_server, tmp_path):
    own = {"id": "client", "auth": "private_key_jwt", "redirect_uris": [REDIRECT], "sender_constraint": "dpop"}
    entry = settings(shared_server.issuer("profile-448"), clients=[own])
    for curve, refused in (("Ed25519", False), ("Ed448", True)):
        file = key_file(tmp_path, jwk.JWK.generate(kty="OKP", crv=curve), curve)
        keys = [{"id": "sig", "use": "signature", "algorithm": "EdDSA", "key_file": file}]
        result = run(*commands.config_check(write_config(tmp_path, {"providers": [entry], "client_keys": keys} | ON)))
        text = result.stdout.decode() + result.stderr.decode()
        assert (result.returncode == 1 and "the key is on Ed448" in text) == refused, text


# `config check --live`


PROMISED = {
    "authorization_response_iss_parameter_supported": True,
    "code_challenge_methods_supported": ["S256"],
    "dpop_signing_alg_values_supported": ["ES256"],
    "token_endpoint_auth_methods_supported": ["private_key_jwt"],
    "token_endpoint_auth_signing_alg_values_supported": ["PS256", "ES256"],
}


@pytest.fixture
def check(settings, server, endpoint, tmp_path):
    """The findings about the document, but for the usual one: level and message."""
    endpoint.always(error("invalid_grant"))

    def findings(issuer, document: dict, **members) -> tuple[int, list[tuple[str, str]]]:
        config = write_config(tmp_path, {"providers": [settings(issuer, document, **members)]} | ON)
        result = run(*commands.config_check(config), "--live", "--json")
        found = json.loads(result.stdout)["providers"][0]["findings"]
        return result.returncode, [
            (item["level"], item["message"]) for item in found
            if item["subject"] == "discovery" and "has the configured issuer" not in item["message"]
        ]  # fmt: skip

    return findings


@pytest.fixture
def live_issuer(shared_server):
    return shared_server.issuer("profile-live", ec_key("op"))


def test_a_document_that_promises_everything(check, endpoint, live_issuer):
    status, found = check(live_issuer, PROMISED)
    assert status == 0 and found == [("ok", f"authorization requests are pushed to {endpoint.url}{PAR}")]


def test_a_document_that_promises_nothing(check, live_issuer):
    status, found = check(live_issuer, {})
    assert status == 0
    warned = [message for level, message in found if level == "warning"]
    assert {name for name in PROMISED if any(name in message for message in warned)} == set(PROMISED)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"pushed_authorization_request_endpoint": None}, "names no pushed_authorization_request_endpoint"),
        ({"code_challenge_methods_supported": ["plain"]}, "code_challenge_methods_supported of the document is \"plain\""),
        ({"dpop_signing_alg_values_supported": ["RS256"]}, "the client \"client\" has sender_constraint: dpop, which needs ES256"),
        ({"token_endpoint_auth_methods_supported": ["client_secret_basic"]}, "which needs private_key_jwt"),
        ({"token_endpoint_auth_signing_alg_values_supported": ["RS256"]}, "which needs one of PS256, ES256, EdDSA, Ed25519"),
        ({"id_token_signing_alg_values_supported": ["RS256"]}, "id_token_signing_alg_values_supported"),
        ({"response_types_supported": ["id_token"]}, "response_types_supported"),
        ({"require_signed_request_object": True}, "has request: pushed: remove request"),
    ],
)
def test_a_document_that_can_t_do_it(check, live_issuer, document, text):
    status, found = check(live_issuer, PROMISED | document)
    assert status == 1 and [level for level, message in found if text in message] == ["failure"], found


def test_pushed_requests_of_any_client(check, live_issuer, endpoint):
    none = {"pushed_authorization_request_endpoint": None}
    plain = {"profile": None, "client": {"sender_constraint": "dpop", "request": "pushed"}}
    status, found = check(live_issuer, none, **plain)
    assert status == 1 and "set endpoints.pushed_authorization_request, or change request" in found[0][1], found
    status, found = check(live_issuer, none | {"require_pushed_authorization_requests": True}, profile=None)
    assert status == 1 and "but it requires pushed requests" in found[0][1], found
    status, found = check(live_issuer, {"require_pushed_authorization_requests": True}, profile=None, client={"request": "plain"})
    assert status == 1 and "the client \"client\" has request: plain: remove request" in found[0][1], found
    status, found = check(live_issuer, {}, profile=None)
    assert (status, found) == (0, [])
