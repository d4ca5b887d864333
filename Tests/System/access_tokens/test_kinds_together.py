"""One resource whose tokens are of a list of issuers, or opaque; and bound tokens of both at gateways."""

import pytest

from access_tokens.test_access_tokens import access_token, refused, verify
from access_tokens.test_dpop import Client, hash_of
from harness.service import NETWORK, Service, provider
from harness.token_endpoint import INTROSPECTION, TokenEndpoint, answered
from harness.tokens import ec_key
from introspection.opaque import members, opaque, token

MCP = "https://mcp.example.com/mcp"
ORIGIN = "https://mcp.example.com"
WHERE = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'
BY_HEADERS = {"request_url": {"origin": ORIGIN, "method": {"header": "X-Forwarded-Method"}, "path": {"header": "X-Forwarded-Uri"}}}


@pytest.fixture(scope="module")
def issuers(shared_server):
    return [shared_server.issuer(f"together-{name}", ec_key(f"together-{name}")) for name in ("acme", "blob", "op", "elsewhere")]


@pytest.fixture(scope="module")
def endpoint():
    with TokenEndpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def service(issuers, endpoint, tmp_path_factory):
    acme, blob, op, elsewhere = issuers
    listed = {"id": "customers", "issuers": [acme.url, blob.url], "audiences": ["for-another-api"], "tokens": "access", "network": dict(NETWORK)}
    providers = [
        listed,
        opaque(op, endpoint, tmp_path_factory.mktemp("clients"), audiences=["for-another-api"]),
        provider(elsewhere, "elsewhere", tokens="access", audiences=[MCP]),
    ]
    resource = {"id": "mcp", "resource": MCP, "providers": ["customers", "legacy"], "scopes": ["tools"]}
    resource["authorization_servers"] = ["https://auth.example.com"]
    policy = {"id": "mcp", "resource": "mcp", "require_key": False, "headers": {"X-Sub": "subject", "X-Issuer": "issuer"}} | BY_HEADERS
    forward_auth = {"policies": [policy], "timeout": "10s", "keys_timeout": "10s", "introspection_timeout": "10s"}
    with Service(*providers, resources=[resource], forward_auth=forward_auth, dpop={}) as service:
        service.wait_until_ready()
        yield service


@pytest.fixture(autouse=True)
def healed(endpoint):
    endpoint.usually(answered(lambda call: members(aud=MCP)), INTROSPECTION)
    yield
    endpoint.heal()


def test_a_resource_s_audience_holds_for_each_listed_issuer(service, issuers):
    for issuer in issuers[:2]:
        answer = verify(service, access_token(issuer, aud=MCP), resource="mcp")
        assert answer.status == 200 and answer.json["identity"]["issuer"] == issuer.url
        problem = refused(verify(service, access_token(issuer, aud="for-another-api"), resource="mcp"), "audience_mismatch")
        assert problem["challenge"]["status"] == 401 and WHERE in problem["challenge"]["www_authenticate"]
        # Without the resource, the entry's own audiences hold.
        assert verify(service, access_token(issuer, aud="for-another-api"), provider="customers").status == 200


def test_a_resource_takes_opaque_tokens_of_its_entry(service, endpoint):
    answer = verify(service, token(), resource="mcp")
    assert answer.status == 200 and answer.json["identity"]["subject"] == "user-1"
    endpoint.usually(answered({"active": False}), INTROSPECTION)
    problem = refused(verify(service, token(), resource="mcp"), "token_inactive")
    assert 'error="invalid_token"' in problem["challenge"]["www_authenticate"]


def test_a_jwt_of_another_entry_is_not_asked_about(service, issuers, endpoint):
    endpoint.forget()
    refused(verify(service, access_token(issuers[3], aud=MCP), resource="mcp"), "issuer_mismatch")
    assert endpoint.received(INTROSPECTION) == 0


def asked(service, text, scheme="Bearer", proof=None):
    fields = {"Authorization": f"{scheme} {text}", "X-Forwarded-Method": "GET", "X-Forwarded-Uri": "/mcp"}
    return service.api.get("/v1/forward-auth/mcp", fields | ({"DPoP": proof} if proof else {}))


def proof(client, text) -> str:
    return str(client.key.proof(htm="GET", htu=MCP, ath=hash_of(text)))


def test_bound_tokens_of_both_kinds_pass_a_gateway_once(service, issuers, endpoint):
    client = Client(issuers[0])
    of_list = access_token(issuers[0], aud=MCP, cnf={"jkt": client.key.dpop_jkt})
    unreadable = token()
    endpoint.usually(answered(lambda call: members(aud=MCP, token_type="DPoP", cnf={"jkt": client.key.dpop_jkt})), INTROSPECTION)
    for text in (of_list, unreadable):
        once = proof(client, text)
        assert asked(service, text, "DPoP", once).status == 200
        again = asked(service, text, "DPoP", once)
        assert again.status == 401 and 'error="invalid_dpop_proof"' in again.header("WWW-Authenticate")
        assert WHERE in again.header("WWW-Authenticate")
        bare = asked(service, text)
        assert bare.status == 401 and bare.header("WWW-Authenticate").startswith("DPoP ")


def test_opaque_tokens_are_explained_for_a_resource(service, issuers):
    explained = service.admin.post("/v1/explain", {"token": token(), "resource": "mcp"}).json
    assert explained["valid"] is True and explained["provider"] == "legacy"
    explained = service.admin.post("/v1/explain", {"token": access_token(issuers[1], aud=MCP), "resource": "mcp"}).json
    assert explained["valid"] is True and explained["provider"] == "customers"
