"""Sign-ins whose grant is bound to a key (`sender_constraint: dpop`): the authorization URL, the exchange, UserInfo, nonces, and secrecy."""

import json
import urllib.parse

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from grants.grants import SECRET, secret_file, with_client
from harness import client, reload
from harness.collector import Collector
from harness.collector import settings as traced
from harness.proofs import ProofEndpoint, demand, demand_of_resource
from harness.service import Service, run, write_config
from harness.token_endpoint import USER_INFO, answered, error, grant
from harness.tokens import ec_key, unb64url

from .calls import ON, begin

REDIRECT = "https://app.example/callback"
AUTHORIZATION = "https://idp.example/authorize"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("bound")


def settings(issuer, endpoint, directory, id: str = "oidc", **more) -> dict:
    bound = {
        "id": "client", "auth": "client_secret_basic", "secret_file": secret_file(directory),
        "redirect_uris": [REDIRECT], "sender_constraint": "dpop",
    }  # fmt: skip
    endpoints = {"authorization": AUTHORIZATION, "user_info": endpoint.url + USER_INFO} | {
        name: endpoint.endpoints[name] for name in ("token", "revocation")
    }
    return with_client(issuer, endpoint, directory, id, **({"clients": [bound], "endpoints": endpoints} | more))


@pytest.fixture(scope="module")
def service(issuer, endpoint, tmp_path_factory):
    directory = tmp_path_factory.mktemp("bound")
    with Service(settings(issuer, endpoint, directory, user_info=True), limits={"provider_timeout": "2s"}, **ON) as service:
        yield service.wait_until_ready()


@pytest.fixture
def server(endpoint):
    endpoint.forget()
    server = ProofEndpoint(endpoint)
    endpoint.choose(server.act)
    yield server
    endpoint.heal()


def begun(service, **members) -> dict:
    return begin(service, redirect_uri=REDIRECT, **members)


def parameters(begun: dict) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun["authorization_url"]).query, strict_parsing=True))


def finish(service, begun: dict, code: str = "c1") -> client.Response:
    response = {"state": begun["state"], "code": code}
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})


def refused(response: client.Response, code: str, spent: bool, error: str | None = None) -> dict:
    problem = client.contract.assert_code(response, code)
    assert problem["spent"] is spent and problem.get("provider_error") == error, problem
    assert b"an access token" not in response.body and b"a refresh token" not in response.body
    return problem


def test_a_browser_sign_in_is_bound_to_one_key_from_the_beginning_on(service, server, issuer):
    sign_in = begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
    response = finish(service, sign_in)
    assert response.status == 200, response
    assert response.json["grant"]["token_type"] == "DPoP"
    exchange, user_info = server.proofs
    assert exchange.jkt == user_info.jkt == parameters(sign_in)["dpop_jkt"]
    assert server.endpoint.last(USER_INFO).headers["authorization"] == "DPoP an access token"
    assert "ath" not in exchange.claims and exchange.nonce is None
    assert server.endpoint.last("/token").basic == ("client", SECRET)
    binding = response.json["grant"]["binding"]
    assert len(binding) < 512 and binding not in sign_in["sign_in"]


def test_each_sign_in_has_a_key_of_its_own(service):
    assert len({parameters(begun(service))["dpop_jkt"] for _ in range(5)}) == 5


def test_the_key_of_a_native_sign_in_is_used_for_its_code(service, server, issuer):
    sign_in = begin(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
    response = service.api.post("/v1/sign-ins/finish", {"sign_in": sign_in["sign_in"], "code": "c1"})
    assert response.status == 200 and response.json["grant"]["binding"], response
    # Without a code, there is nothing to bind.
    other = begin(service)
    answer = service.api.post("/v1/sign-ins/finish", {"sign_in": other["sign_in"], "id_token": issuer.token(nonce=other["nonce"])}).json
    assert answer["grant"] is None and len(server.proofs) == 2


@pytest.mark.parametrize("token_type", ["Bearer", "bearer", "N_A", "DPoP "])
def test_a_token_that_is_not_bound_is_dropped(service, server, issuer, token_type):
    def dropped() -> float:
        return reload.metrics(service).value("assay_grants_dropped_total", provider="oidc", code="provider_answer_invalid")

    before, sign_in = dropped(), begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"]), "token_type": token_type}
    problem = refused(finish(service, sign_in), "provider_answer_invalid", True)
    assert service.wait_for_entry(message="request", request_id=problem["request_id"])["member"] == "token_type"
    if token_type != "DPoP ":
        assert "token_type is not DPoP" in problem["detail"] and dropped() == before + 1


def test_the_type_is_compared_without_case(service, server, issuer):
    sign_in = begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"]), "token_type": "dpop"}
    assert finish(service, sign_in).status == 200


# Nonces.


def test_a_demanded_nonce_is_sent_once_more_and_spends_nothing(service, server, issuer):
    server.nonces = True
    sign_in = begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
    assert finish(service, sign_in).status == 200
    tokens = [proof for proof in server.proofs if proof.claims["htm"] == "POST"]
    assert [proof.nonce for proof in tokens] == [None, "nonce-1"]
    assert len({proof.claims["jti"] for proof in server.proofs}) == len(server.proofs)
    assert len({proof.jkt for proof in server.proofs}) == 1
    # The same code, authenticated again.
    first, second = server.endpoint.to("/token")
    assert first.form == second.form
    metrics = reload.metrics(service)
    assert metrics.value("assay_provider_calls_total", provider="oidc", endpoint="token", outcome="provider_refused") >= 1


def test_the_second_demand_is_a_refusal(service, server):
    sign_in = begun(service)
    server.endpoint.play(demand("n1"), demand("n2"))
    refused(finish(service, sign_in), "provider_refused", True, "use_dpop_nonce")
    assert [proof.nonce for proof in server.proofs] == [None, "n1"]
    refused(finish(service, sign_in), "sign_in_replayed", True)


def test_a_demand_that_is_none_is_not_met(service, server):
    acts = {
        "no nonce": error("use_dpop_nonce"),
        "two nonces": demand("n1", **{"DPoP-Nonce": "n1\r\nDPoP-Nonce: n2"}),
        "an empty one": demand(""),
        "characters that none has": demand('a"b'),
        "a long one": demand("n" * 1025),
        "another status": demand("n1", "200 OK"),
        "a server error": demand("n1", "403 Forbidden"),
    }
    for name, act in acts.items():
        server.endpoint.forget()
        server.endpoint.play(act)
        sign_in = begun(service)
        refused(finish(service, sign_in), "provider_refused", True, "use_dpop_nonce")
        assert server.endpoint.received() == 1, name
    server.endpoint.forget()
    server.endpoint.play(error("invalid_grant", headers={"DPoP-Nonce": "n1"}))
    refused(finish(service, begun(service)), "grant_invalid", True, "invalid_grant")
    assert server.endpoint.received() == 1


def test_a_status_of_401_demands_a_nonce_too(service, server, issuer):
    sign_in = begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
    server.endpoint.play(demand("n" * 1024, "401 Unauthorized"))
    assert finish(service, sign_in).status == 200
    assert [proof.nonce for proof in server.proofs][:2] == [None, "n" * 1024]


def test_the_user_info_endpoint_may_demand_a_nonce_of_its_own(service, server, issuer):
    sign_in = begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
    server.endpoint.play(demand_of_resource("r1"), answered({"sub": "user-1", "name": "Ada"}), path=USER_INFO)
    assert finish(service, sign_in).json["identity"]["name"] == "Ada"
    assert [proof.nonce for proof in server.proofs] == [None, None, "r1"]


def test_a_second_demand_of_the_user_info_endpoint_is_a_refusal(service, server, issuer):
    sign_in = begun(service)
    server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
    server.endpoint.play(demand_of_resource("r1"), demand_of_resource("r2"), path=USER_INFO)
    refused(finish(service, sign_in), "provider_refused", True, "use_dpop_nonce")
    assert server.endpoint.received(USER_INFO) == 2


def test_an_assertion_is_not_used_twice(endpoint, issuer, tmp_path):
    """The second attempt has another `jti`, because servers remember those that they have seen."""
    key = ec_key("own")
    pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = tmp_path / "key.pem"
    file.write_bytes(pem)
    file.chmod(0o600)
    bound = {
        "id": "client", "auth": "private_key_jwt", "key_id": "own", "key_file": str(file),
        "redirect_uris": [REDIRECT], "sender_constraint": "dpop",
    }  # fmt: skip
    endpoint.forget()
    server = ProofEndpoint(endpoint, nonces=True)
    endpoint.choose(server.act)
    with Service(settings(issuer, endpoint, tmp_path, clients=[bound]), **ON) as service:
        service.wait_until_ready()
        sign_in = begun(service)
        server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
        assert finish(service, sign_in).status == 200
    forms = [call.form for call in endpoint.to("/token")]
    identifiers = {json.loads(unb64url(form["client_assertion"].split(".")[1]))["jti"] for form in forms}
    assert len(forms) == 2 and len(identifiers) == 2
    endpoint.heal()


def test_a_client_without_the_setting_sends_no_proof(endpoint, issuer, tmp_path):
    endpoint.forget()
    plain = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT]}
    with Service(settings(issuer, endpoint, tmp_path, clients=[plain]), **ON) as service:
        service.wait_until_ready()
        sign_in = begun(service)
        assert "dpop_jkt" not in parameters(sign_in)
        endpoint.play(demand("n1"))
        refused(finish(service, sign_in), "provider_refused", True, "use_dpop_nonce")
        again = begun(service)
        endpoint.play(grant(id_token=issuer.token(nonce=again["nonce"]), token_type="Bearer"))
        answer = finish(service, again).json
        assert "binding" not in answer["grant"]
        assert all("dpop" not in call.headers for call in endpoint.calls) and endpoint.received() == 2


def test_a_proof_that_the_provider_repeats_is_not_logged(service, server):
    def act(call):
        return error("invalid_client", error_description=f"I do not like {call.headers['dpop']} of yours")(call)

    act.keeps = True
    server.endpoint.play(act)
    refused(finish(service, begun(service)), "client_rejected", True, "invalid_client")
    entry = service.wait_for_entry(message="provider rejects the client", provider="oidc")
    assert entry["provider_description"].startswith("I do not like [removed]"), entry
    assert server.proofs[-1].text[-20:] not in str(entry)


def test_the_private_key_is_nowhere(issuer, endpoint, tmp_path):
    """The only texts that could have it are the handle and the binding, which are encrypted."""
    endpoint.forget()
    server = ProofEndpoint(endpoint, nonces=True)
    endpoint.choose(server.act)
    with Collector() as collector:
        tracing = traced(collector)
        with Service(
            settings(issuer, endpoint, tmp_path), tracing=tracing, log={"level": "debug"}, **ON
        ) as service:
            service.wait_until_ready()
            sign_in = begun(service)
            server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
            response = finish(service, sign_in)
            assert response.status == 200, response
            binding = response.json["grant"]["binding"]
            served = [page.body.decode() for page in (service.admin.get(path) for path in ("/metrics", "/v1/providers", "/v1/events"))]
            collector.wait_for(3, kind="client")
        shown = "\n".join([*service.log, *served, *map(repr, collector.spans)])
    assert "binding" in response.json["grant"] and binding not in shown and sign_in["sign_in"] not in shown
    # A JWK with a private key has `d`.
    for text in (shown, json.dumps(response.json), json.dumps(sign_in), *(proof.text for proof in server.proofs)):
        assert '"d":' not in text and "PRIVATE KEY" not in text
    for proof in server.proofs:
        assert proof.text not in shown and proof.jkt not in shown
    # Encrypted, its octets are as random as the rest: the public key is not among them either.
    for coordinate in ("x", "y"):
        octets = unb64url(server.proofs[0].header["jwk"][coordinate])
        for sealed in (binding, sign_in["sign_in"]):
            assert octets not in unb64url(sealed)
    endpoint.heal()


def test_keys_that_are_turned_off_meanwhile_finish_their_sign_ins(endpoint, issuer, tmp_path):
    """The provider has bound the code to the key, so only a proof redeems it."""
    handles = tmp_path / "handles"
    handles.write_text("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=\n")
    handles.chmod(0o600)
    on = {"sign_ins": {"key_files": [str(handles)]}}
    endpoint.forget()
    server = ProofEndpoint(endpoint)
    plain = {"id": "client", "auth": "client_secret_basic", "secret_file": secret_file(tmp_path), "redirect_uris": [REDIRECT]}
    with Service(settings(issuer, endpoint, tmp_path), **on) as service:
        service.wait_until_ready()
        sign_in = begun(service)
        reload.change(service, settings(issuer, endpoint, tmp_path, clients=[plain]), **on)
        late = begun(service)
        endpoint.choose(server.act)
        server.members = {"id_token": issuer.token(nonce=sign_in["nonce"])}
        answer = finish(service, sign_in)
        assert answer.status == 200 and server.proofs[0].jkt == parameters(sign_in)["dpop_jkt"]
        endpoint.heal()
        # And one that began without a key gets one if the setting is on at its finish.
        reload.change(service, settings(issuer, endpoint, tmp_path), **on)
        endpoint.choose(server.act)
        server.members = {"id_token": issuer.token(nonce=late["nonce"])}
        assert finish(service, late).json["grant"]["binding"]
    endpoint.heal()


# The settings.


def test_the_setting_needs_sign_ins(endpoint, issuer, tmp_path):
    file = write_config(tmp_path, {"providers": [settings(issuer, endpoint, tmp_path)]})
    checked = run("config", "check", "--config", str(file))
    assert checked.returncode != 0 and "sender_constraint: dpop, which needs sign_ins" in (checked.stdout + checked.stderr).decode()
    file = write_config(tmp_path, {"providers": [settings(issuer, endpoint, tmp_path)], **ON})
    checked = run("config", "check", "--config", str(file))
    assert checked.returncode == 0 and "a restart makes every binding invalid" in (checked.stdout + checked.stderr).decode()
