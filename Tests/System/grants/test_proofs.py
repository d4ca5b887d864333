"""`POST /v1/grants/proof`: DPoP proofs for the backend's own calls, and for no endpoint where they would be worth a token."""

import hashlib

import pytest

from access_tokens.test_access_tokens import access, access_token
from harness import client
from harness.proofs import Proof, ProofEndpoint
from harness.service import Service, provider
from harness.token_endpoint import REVOCATION, TOKEN, USER_INFO

from .grants import with_client
from .test_bound import bound, signed_in

ON = {"sign_ins": {}}
API = "https://api.example.com"
ACCESS_TOKEN = "an access token"


@pytest.fixture(scope="module")
def issuer(shared_server, endpoint):
    issuer = shared_server.issuer("proofs")
    more = {
        "introspection_endpoint": endpoint.url + "/introspect",
        "pushed_authorization_request_endpoint": endpoint.url + "/par",
        "device_authorization_endpoint": endpoint.url + "/device",
        "userinfo_endpoint": endpoint.url + USER_INFO,
        "mtls_endpoint_aliases": {"token_endpoint": endpoint.url + "/mtls/token", "userinfo_endpoint": endpoint.url + "/mtls/userinfo"},
    }
    issuer.discovery.body = issuer.discovery_document(**more)
    return issuer


def settings(issuer, endpoint, directory, id: str = "oidc", **more) -> dict:
    endpoints = {"token": endpoint.url + TOKEN, "revocation": endpoint.url + REVOCATION, "authorization": endpoint.url + "/authorize"}
    # The endpoints are of an origin that is allowed.
    one = bound(directory, dpop_origins=[API, endpoint.url, "http://localhost:9999"])
    usual = {"clients": [one, bound(directory, "second")], "audiences": ["client", "second"], "endpoints": endpoints}
    return with_client(issuer, endpoint, directory, id, **(usual | more))


@pytest.fixture(scope="module")
def service(issuer, endpoint, shared_server, tmp_path_factory):
    directory = tmp_path_factory.mktemp("proofs")
    api = shared_server.issuer("proofs-api")
    providers = [
        settings(issuer, endpoint, directory),
        settings(shared_server.issuer("proofs-other"), endpoint, directory, "other"),
        with_client(shared_server.issuer("proofs-plain"), endpoint, directory, "plain"),
        provider(shared_server.issuer("proofs-none"), "none"),
        access(api, "api"),
    ]
    with Service(*providers, dpop={}, **ON) as service:
        service.wait_until_ready()
        service.issuer, service.api_issuer = issuer, api
        yield service


@pytest.fixture(scope="module")
def binding(service, endpoint) -> str:
    endpoint.forget()
    server = ProofEndpoint(endpoint)
    endpoint.choose(server.act)
    binding = signed_in(service, server)
    service.jkt = server.proofs[0].jkt
    endpoint.heal()
    return binding


def prove(service, kept, provider: str = "oidc", **members) -> client.Response:
    usual = {"provider": provider, "binding": kept, "access_token": ACCESS_TOKEN, "method": "GET", "url": API + "/accounts"}
    body = {name: value for name, value in (usual | members).items() if value is not ...}
    return service.api.post("/v1/grants/proof", body)


def refused(response: client.Response, code: str) -> dict:
    problem = client.contract.assert_code(response, code)
    assert "spent" not in problem and ACCESS_TOKEN not in str(problem)
    return problem


def proof(response: client.Response, url: str, method: str = "GET") -> Proof:
    assert response.status == 200 and set(response.json) == {"dpop"}, response
    return Proof.of(response.json["dpop"], method, url, ACCESS_TOKEN)


def test_a_proof_is_by_the_key_of_the_grant(service, binding):
    made = [proof(prove(service, binding), API + "/accounts") for _ in range(3)]
    assert {one.jkt for one in made} == {service.jkt} and len({one.claims["jti"] for one in made}) == 3
    assert all(one.nonce is None for one in made)
    assert proof(prove(service, binding, nonce="n-1"), API + "/accounts").nonce == "n-1"
    assert proof(prove(service, binding, method="PATCH", audience="client"), API + "/accounts", "PATCH")


def test_an_api_accepts_it(service, binding):
    """Here the API asks Assay itself, which knows nothing of the grant but the thumbprint in the token."""
    token = access_token(service.api_issuer, cnf={"jkt": service.jkt})
    made = prove(service, binding, access_token=token, url=API + "/accounts?page=2").json["dpop"]
    evidence = {"proof": made, "method": "GET", "url": API + "/accounts?page=2", "scheme": "DPoP"}
    answer = service.api.post("/v1/access-tokens/verify", {"provider": "api", "token": token, "dpop": evidence})
    assert answer.status == 200, answer
    assert answer.json["authorization"]["binding"] == {"method": "dpop", "thumbprint": service.jkt}
    other = service.api.post("/v1/access-tokens/verify", {"provider": "api", "token": token, "dpop": evidence | {"method": "POST"}})
    assert client.contract.assert_code(other, "dpop_proof_invalid")


def test_the_user_info_endpoint_is_allowed(service, endpoint, binding):
    assert proof(prove(service, binding, url=endpoint.url + USER_INFO), endpoint.url + USER_INFO)


@pytest.mark.parametrize(
    "url, signed",
    [
        (API, API + "/"),
        ("HTTPS://API.example.com:443/a/../b?x=1#y", API + "/b"),
        (API + "/%61ccounts", API + "/accounts"),
        ("http://localhost:9999/x", "http://localhost:9999/x"),
    ],
)
def test_a_url_is_signed_as_it_is_compared(service, binding, url, signed):
    assert proof(prove(service, binding, url=url), signed)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com.evil.example/accounts", "https://evil.example/https://api.example.com/", "https://api.example.com:8443/accounts",
        "http://localhost/x", "https://localhost:9999/x",
    ],
)  # fmt: skip
def test_other_origins_are_not(service, binding, url):
    refused(prove(service, binding, url=url), "url_not_allowed")


@pytest.mark.parametrize(
    "path",
    [
        TOKEN, REVOCATION, "/authorize", "/introspect", "/par", "/device", "/mtls/token", "/token?x=1", "/token#x", "/./token", "/x/../token",
        "/%74oken", "/token/", "//token", "/TOKEN", "/PAR", "/mtls/../token",
    ],
)  # fmt: skip
def test_the_endpoints_are_not_though_their_origin_is(service, endpoint, binding, path):
    refused(prove(service, binding, url=endpoint.url + path), "url_not_allowed")


def test_other_urls_of_the_provider_are(service, endpoint, binding):
    assert proof(prove(service, binding, url=endpoint.url + "/token/orders"), endpoint.url + "/token/orders")


@pytest.mark.parametrize(
    "members",
    [
        {"binding": ...}, {"binding": None}, {"binding": ""}, {"binding": 1}, {"access_token": ...}, {"access_token": "ü"}, {"access_token": ""},
        {"method": ...}, {"method": ""}, {"method": "GET /"}, {"method": "G" * 33}, {"method": 1}, {"url": ...}, {"url": ""}, {"url": "/accounts"},
        {"url": "ftp://api.example.com/"}, {"url": "http://api.example.com/"}, {"url": "https://user@api.example.com/"}, {"url": API + "/%zz"},
        {"url": API + "/" + "x" * 2048}, {"nonce": ""}, {"nonce": "a b"}, {"nonce": 'a"b'}, {"nonce": "n" * 1025}, {"nonce": None},
        {"provider": ...}, {"subject": "user-1"}, {"connection": "c1"}, {"refresh_token": "r1"},
    ],
    ids=str,
)  # fmt: skip
def test_the_form(service, binding, members):
    refused(prove(service, binding, **members), "request_invalid")


def test_a_binding_is_of_one_provider_and_audience(service, binding):
    refused(prove(service, binding, "other"), "binding_invalid")
    refused(prove(service, binding, "plain"), "binding_invalid")
    refused(prove(service, binding, audience="second"), "binding_invalid")
    refused(prove(service, binding[:-2] + "AA"), "binding_invalid")
    refused(prove(service, binding, "nobody"), "provider_unknown")
    refused(prove(service, binding, "none"), "client_not_configured")
    refused(prove(service, binding, audience="third"), "audience_not_configured")


def test_a_client_has_origins_of_its_own(service, endpoint):
    server = ProofEndpoint(endpoint)
    endpoint.choose(server.act)
    second = signed_in(service, server, "second")
    endpoint.heal()
    refused(prove(service, second), "url_not_allowed")
    assert proof(prove(service, second, url=endpoint.url + USER_INFO), endpoint.url + USER_INFO)


def test_nothing_is_sent(service, endpoint, binding):
    endpoint.forget()
    assert prove(service, binding).status == 200
    assert not endpoint.calls


def test_without_the_document_no_endpoint_is_known(endpoint, shared_server, tmp_path):
    """Until then, the URL may be any of them."""
    handles = tmp_path / "handles"
    handles.write_text("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=\n")
    handles.chmod(0o600)
    on = {"sign_ins": {"key_files": [str(handles)]}}
    issuer = shared_server.issuer("proofs-late")
    server = ProofEndpoint(endpoint)
    with Service(settings(issuer, endpoint, tmp_path), **on) as service:
        service.wait_until_ready()
        service.issuer = issuer
        endpoint.choose(server.act)
        binding = signed_in(service, server)
        endpoint.heal()
    body, issuer.discovery.body = issuer.discovery.body, b"{}"
    with Service(settings(issuer, endpoint, tmp_path), **on) as service:
        refused(prove(service, binding), "provider_unavailable")
    issuer.discovery.body = body


def test_it_is_off_until_a_provider_has_clients(shared_server, endpoint, tmp_path):
    with Service(provider(shared_server.issuer("proofs-off")), **ON) as service:
        refused(prove(service, "x"), "not_found")
    with Service(with_client(shared_server.issuer("proofs-unbound"), endpoint, tmp_path), **ON) as service:
        refused(prove(service, "x"), "binding_invalid")


def test_only_keys_for_grants_may_ask(shared_server, endpoint, tmp_path, issuer):
    def key(name: str, *allow: str) -> dict:
        return {"name": name, "sha256": hashlib.sha256(name.encode()).hexdigest(), "allow": list(allow)}

    keys = [key("for-grants", "grants"), key("for-sign-ins", "sign_ins")]
    with Service(settings(issuer, endpoint, tmp_path), api_keys=keys, **ON) as service:
        def ask(headers: dict) -> client.Response:
            return service.api.post("/v1/grants/proof", {}, headers)

        refused(ask({}), "caller_unauthenticated")
        refused(ask({"Authorization": "Bearer for-sign-ins"}), "caller_forbidden")
        refused(ask({"Authorization": "Bearer for-grants"}), "request_invalid")
