"""Refreshing and revoking grants that are bound to a key: what the backend keeps as `binding`, and whose it is."""

import pytest

from harness import reload
from harness.proofs import ProofEndpoint, demand
from harness.service import Service
from harness.token_endpoint import REVOCATION

from .grants import refresh, refused, revoke, secret_file, with_client

REDIRECT = "https://app.example/callback"
ON = {"sign_ins": {}}


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("bound-grants")


def bound(directory, id: str = "client", **more) -> dict:
    made = {"id": id, "auth": "client_secret_post", "secret_file": secret_file(directory), "sender_constraint": "dpop"}
    return made | {"redirect_uris": [REDIRECT]} | more


@pytest.fixture(scope="module")
def service(issuer, endpoint, shared_server, tmp_path_factory):
    directory = tmp_path_factory.mktemp("bound")
    providers = [
        with_client(issuer, endpoint, directory, clients=[bound(directory), bound(directory, "second")], audiences=["client", "second"]),
        with_client(shared_server.issuer("bound-others"), endpoint, directory, "other", clients=[bound(directory)]),
        with_client(shared_server.issuer("bound-none"), endpoint, directory, "plain"),
    ]
    with Service(*providers, limits={"provider_timeout": "2s"}, **ON) as service:
        service.wait_until_ready()
        service.issuer = issuer
        yield service


@pytest.fixture
def server(endpoint):
    endpoint.forget()
    server = ProofEndpoint(endpoint)
    endpoint.choose(server.act)
    yield server
    endpoint.heal()


@pytest.fixture
def binding(service, server) -> str:
    return signed_in(service, server)


def signed_in(service, server, audience: str = "client") -> str:
    """The binding of a new grant."""
    begun = service.api.post("/v1/sign-ins", {"provider": "oidc", "audience": audience}).json
    server.members = {"id_token": service.issuer.token(aud=audience, nonce=begun["nonce"])}
    response = service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": "c1"})
    assert response.status == 200, response
    server.members = {}
    return response.json["grant"]["binding"]


def test_a_refresh_has_the_proof_of_the_same_key(service, server, binding):
    for _ in range(3):
        response = refresh(service, audience="client", binding=binding)
        assert response.status == 200, response
        new = response.json["grant"]["binding"]
        assert new != binding and response.json["grant"]["token_type"] == "DPoP"
        binding = new
    assert len({proof.jkt for proof in server.proofs}) == 1 and len(server.proofs) == 4


def test_an_earlier_binding_stays_valid(service, server, binding):
    refresh(service, audience="client", binding=binding)
    assert refresh(service, audience="client", binding=binding).status == 200


def test_without_a_binding_nothing_is_sent(service, server):
    for more in ({}, {"binding": None}):
        for response in (
            refresh(service, audience="client", **more),
            revoke(service, audience="client", token="t1", **more),
        ):
            problem = refused(response, "request_invalid", False)
            assert "sender_constraint: dpop" in problem["detail"]
    assert not server.proofs


@pytest.mark.parametrize("members", [{"binding": ""}, {"binding": "x" * 4097}, {"binding": 7}, {"binding": ["x"]}])
def test_a_binding_of_another_form_is_no_request(service, server, members):
    refused(refresh(service, audience="client", **members), "request_invalid", False)


def test_a_binding_is_of_one_provider_and_audience(service, server, binding):
    refused(refresh(service, audience="second", binding=binding), "binding_invalid", False)
    refused(refresh(service, "other", binding=binding), "binding_invalid", False)
    refused(refresh(service, "plain", binding=binding), "binding_invalid", False)
    refused(revoke(service, audience="second", token="t1", binding=binding), "binding_invalid", False)
    assert len(server.proofs) == 1
    assert refresh(service, audience="client", binding=binding).status == 200


def test_every_character_of_it_counts(service, server, binding):
    changed = [binding[:-1], binding + "A", binding + "=", binding.swapcase(), "x", " " + binding]
    changed += [binding[:place] + ("A" if binding[place] != "A" else "B") + binding[place + 1 :] for place in range(0, len(binding) - 1, 7)]
    for text in changed:
        refused(refresh(service, audience="client", binding=text), "binding_invalid", False)
    assert len(server.proofs) == 1


def test_a_handle_is_no_binding_and_a_binding_no_handle(service, server, binding):
    begun = service.api.post("/v1/sign-ins", {"provider": "oidc", "audience": "client"}).json
    refused(refresh(service, audience="client", binding=begun["sign_in"]), "binding_invalid", False)
    finished = service.api.post("/v1/sign-ins/finish", {"sign_in": binding, "code": "c1"})
    refused(finished, "sign_in_invalid", False)


def test_a_bearer_token_in_place_of_a_bound_one_is_dropped(service, server, binding):
    def dropped() -> float:
        return reload.metrics(service).value("assay_grants_dropped_total", provider="oidc", code="provider_answer_invalid")

    before = dropped()
    server.members = {"token_type": "Bearer"}
    problem = refused(refresh(service, audience="client", binding=binding), "provider_answer_invalid", True)
    assert "token_type is not DPoP" in problem["detail"] and dropped() == before + 1


def test_a_nonce_costs_no_refresh_token(service, server, binding):
    server.nonces = True
    assert refresh(service, audience="client", binding=binding).status == 200
    assert [proof.nonce for proof in server.proofs] == [None, None, "nonce-1"]


def test_the_second_demand_may_have_spent_it(service, server, binding):
    server.endpoint.play(demand("n1"), demand("n2"))
    refused(refresh(service, audience="client", binding=binding), "provider_refused", True, "use_dpop_nonce")
    assert [proof.nonce for proof in server.proofs] == [None, None, "n1"]


def test_a_revocation_has_a_proof_too(service, server, binding):
    assert revoke(service, audience="client", token="a refresh token", token_type_hint="refresh_token", binding=binding).status == 204
    assert server.proofs[-1].jkt == server.proofs[0].jkt and "ath" not in server.proofs[-1].claims
    server.nonces = True
    assert revoke(service, audience="client", token="a refresh token", binding=binding).status == 204
    assert server.endpoint.received(REVOCATION) == 3


def test_the_tokens_of_a_code_are_bound_before_they_are_revoked(service, server):
    server.members = {"id_token": service.issuer.token(nonce=None)}
    response = revoke(service, audience="client", code="c1")
    assert response.status == 204, response
    assert [call.path for call in server.endpoint.calls] == ["/token", "/revoke"]
    assert len({proof.jkt for proof in server.proofs}) == 1
    refused(revoke(service, audience="client", code="c1", binding="x"), "request_invalid", False)


def test_where_nothing_is_bound_no_binding_is_expected(service, endpoint):
    endpoint.forget()
    response = refresh(service, "plain")
    assert response.status == 200 and "binding" not in response.json["grant"]
    assert "dpop" not in endpoint.last().headers
    refused(refresh(service, "plain", binding="x"), "binding_invalid", False)


def test_a_binding_outlives_the_setting_and_the_process(issuer, endpoint, tmp_path):
    """The provider refuses to refresh a bound grant without its proof, whatever the settings say today."""
    handles = tmp_path / "handles"
    handles.write_text("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=\n")
    handles.chmod(0o600)
    on = {"sign_ins": {"key_files": [str(handles)]}}
    endpoint.forget()
    server = ProofEndpoint(endpoint)
    endpoint.choose(server.act)
    with Service(with_client(issuer, endpoint, tmp_path, clients=[bound(tmp_path)]), **on) as service:
        service.wait_until_ready()
        service.issuer = issuer
        binding = signed_in(service, server)
    plain = {name: value for name, value in bound(tmp_path).items() if name != "sender_constraint"}
    with Service(with_client(issuer, endpoint, tmp_path, clients=[plain]), **on) as service:
        service.wait_until_ready()
        answer = refresh(service, binding=binding)
        assert answer.status == 200 and answer.json["grant"]["binding"]
        assert server.proofs[-1].jkt == server.proofs[0].jkt
    with Service(with_client(issuer, endpoint, tmp_path, clients=[plain])) as service:
        service.wait_until_ready()
        refused(refresh(service, binding=binding), "binding_invalid", False)
    endpoint.heal()
