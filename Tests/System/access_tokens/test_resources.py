"""Resources: their metadata, the challenges that their clients get, and which tokens are for them."""

import hashlib
import re

import pytest

from access_tokens.test_access_tokens import PATH, access, access_token, accepted, refused, verify
from access_tokens.test_dpop import Client
from harness.client import request_bytes
from harness.service import Service, provider
from harness.tokens import jws, now, rsa_key

MCP = "https://mcp.example.com/mcp"
SCOPES = ["mcp:tools"]
METADATA = {
    "resource_name": "Tools", "resource_documentation": "https://mcp.example.com/docs", "resource_name#ja": "道具",
    "scopes_supported": ["mcp:tools", "mcp:admin"], "authorization_details_types_supported": ["payment"], "beta": True,
}  # fmt: skip
WELL_KNOWN = "/.well-known/oauth-protected-resource"
WHERE = f'resource_metadata="https://mcp.example.com{WELL_KNOWN}/mcp"'
ALGORITHMS = "RS256 PS256 ES256 ES384 ES512 EdDSA Ed25519"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("of-resources", rsa_key("of-resources"))


@pytest.fixture(scope="module")
def other(shared_server):
    return shared_server.issuer("not-of-resources", rsa_key("not-of-resources"))


@pytest.fixture(scope="module")
def strict(shared_server):
    return shared_server.issuer("of-proofs-alone", rsa_key("of-proofs-alone"))


@pytest.fixture(scope="module")
def certified(shared_server):
    return shared_server.issuer("of-certificates-alone", rsa_key("of-certificates-alone"))


def resources(issuer, strict, certified) -> list[dict]:
    def entry(id: str, resource: str, by=issuer, **members) -> dict:
        return {"id": id, "resource": resource, "providers": [by.name], "authorization_servers": [by.url]} | members

    return [
        entry("mcp", MCP, scopes=SCOPES, metadata=METADATA),
        entry("plain", "https://Plain.example.com:8443/a%2fb/"),
        entry("root", "https://api.example.com"),
        entry("slash", "https://slash.example.com/"),
        entry("local", "http://127.0.0.1:8000/mcp"),
        entry("named", "https://named.example.com", audiences=["api://named"]),
        entry("proofs", "https://proofs.example.com", by=strict, scopes=SCOPES),
        entry("certificates", "https://certificates.example.com", by=certified),
    ]


@pytest.fixture(scope="module")
def settings(issuer, other, strict, certified):
    policies = [
        {"id": "mcp", "resource": "mcp", "require": {"claim_values": {"groups": ["staff"]}}},
        {"id": "admin", "resource": "mcp", "providers": [issuer.name], "require": {"scopes": ["mcp:admin"]}},
        {"id": "plain", "providers": [issuer.name]},
    ]
    return {
        "providers": [access(issuer, issuer.name), access(other, "other"), provider(other, "ids"), access(strict, strict.name, binding="dpop"), access(certified, certified.name, binding="certificate")],
        "resources": resources(issuer, strict, certified),
        "forward_auth": {"policies": policies},
    }  # fmt: skip


def start(settings, **more):
    settings = settings | more
    return Service(*settings.pop("providers"), **settings)


@pytest.fixture(scope="module")
def service(settings):
    with start(settings, dpop={"replay": "off"}) as service:
        service.wait_until_ready()
        yield service


@pytest.fixture(scope="module")
def bearer_only(settings):
    """Without DPoP proofs."""
    providers = [{name: value for name, value in entry.items() if name != "binding"} for entry in settings["providers"]]
    with start(settings | {"providers": providers}) as service:
        service.wait_until_ready()
        yield service


def post(service, **members):
    return service.api.post(PATH, members)


def challenged(response, code: str) -> tuple[int, str]:
    challenge = refused(response, code)["challenge"]
    assert set(challenge) == {"status", "www_authenticate"}
    return challenge["status"], challenge["www_authenticate"]


# Metadata


def test_the_metadata_says_where_to_get_a_token(bearer_only, issuer):
    response = bearer_only.api.get("/v1/resources/mcp/metadata")
    assert (response.status, response.header("Content-Type")) == (200, "application/json")
    assert response.all("Cache-Control") == ["max-age=3600"]
    assert response.header("Access-Control-Allow-Origin") == "*"
    assert response.json == {
        "resource": MCP,
        "authorization_servers": [issuer.url],
        "bearer_methods_supported": ["header"],
    } | METADATA


def test_scopes_are_supported_unless_the_metadata_names_others(service):
    supported = {id: service.api.get(f"/v1/resources/{id}/metadata").json.get("scopes_supported") for id in ("mcp", "proofs", "root")}
    assert supported == {"mcp": ["mcp:tools", "mcp:admin"], "proofs": SCOPES, "root": None}


def test_the_metadata_speaks_of_bound_tokens_where_they_are(service, bearer_only):
    names = ("dpop_signing_alg_values_supported", "dpop_bound_access_tokens_required", "tls_client_certificate_bound_access_tokens")

    def members(of, id):
        metadata = of.api.get(f"/v1/resources/{id}/metadata").json
        return [metadata.get(name) for name in names]

    algorithms = ALGORITHMS.split()
    assert members(service, "mcp") == [algorithms, None, None]
    assert members(service, "proofs") == [algorithms, True, None]
    assert members(service, "certificates") == [algorithms, None, True]
    assert members(bearer_only, "mcp") == [None, None, None]


@pytest.mark.parametrize(
    ("host", "path", "id"),
    [
        ("mcp.example.com", "/mcp", "mcp"),
        ("MCP.Example.com:443", "/mcp", "mcp"),
        ("plain.example.com:8443", "/a%2fb/", "plain"),
        ("api.example.com", "", "root"),
        ("slash.example.com", "", "slash"),
        ("127.0.0.1:8000", "/mcp", "local"),
    ],
)
def test_clients_find_the_metadata_at_the_resource_s_host(service, host, path, id):
    found = service.api.get(WELL_KNOWN + path, {"Host": host})
    assert (found.status, found.header("Cache-Control")) == (200, "max-age=3600")
    assert found.json == service.api.get(f"/v1/resources/{id}/metadata").json


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("mcp.example.com", ""),
        ("mcp.example.com", "/"),
        ("mcp.example.com", "/mcp/"),
        ("mcp.example.com", "/MCP"),
        ("mcp.example.com", "/other/../mcp"),
        ("mcp.example.com:80", "/mcp"),
        ("mcp.example.com:8443", "/mcp"),
        ("other.example.com", "/mcp"),
        ("plain.example.com", "/a%2fb/"),
        ("plain.example.com:8443", "/a/b/"),
        ("plain.example.com:8443", "/a%2fb"),
        ("api.example.com", "/"),
        ("127.0.0.1", "/mcp"),
    ],
)
def test_nothing_is_at_other_paths_and_hosts(service, host, path):
    headers = {"Host": host, "X-Forwarded-Host": "mcp.example.com"}
    assert service.api.get(WELL_KNOWN + path, headers).code == "not_found"


def test_an_unknown_resource_has_no_metadata(service):
    response = service.api.get("/v1/resources/mpc/metadata")
    assert "the nearest is mcp" in refused(response, "resource_unknown")["detail"]
    assert service.api.get("/v1/resources//metadata").code == "not_found"


@pytest.mark.parametrize("path", ["/v1/resources/mcp/metadata", WELL_KNOWN + "/mcp"])
def test_pages_of_any_origin_may_read_the_metadata(service, path):
    headers = {"Host": "mcp.example.com", "Origin": "https://page.example", "Access-Control-Request-Method": "GET"}
    response = service.api.request("OPTIONS", path, None, headers | {"Access-Control-Request-Headers": "mcp-protocol-version,x-other"})
    assert (response.status, response.body) == (204, b"")
    assert response.header("Access-Control-Allow-Origin") == "*"
    assert response.header("Access-Control-Allow-Methods") == "GET"
    assert response.header("Access-Control-Allow-Headers") == "mcp-protocol-version,x-other"
    odd = service.api.request("OPTIONS", path, None, headers | {"Access-Control-Request-Headers": 'a"b'})
    assert (odd.status, odd.header("Access-Control-Allow-Headers")) == (204, None)
    other = service.api.request("POST", path, {}, {"Host": "mcp.example.com"})
    assert (other.status, other.header("Allow")) == (405, "GET, OPTIONS")


def test_metadata_needs_no_key(settings):
    with start(settings, dpop={}, api_keys=[hashlib.sha256(b"the caller's own key").hexdigest()]) as service:
        service.wait_until_ready()
        assert service.api.get("/v1/resources/mcp/metadata").status == 200
        assert service.api.get(WELL_KNOWN + "/mcp", {"Host": "mcp.example.com"}).status == 200
        assert post(service, token=None, resource="mcp").code == "caller_unauthenticated"
        assert post(service, token=None, resource="mcp").json.get("challenge") is None


def test_without_resources_their_paths_are_absent(issuer):
    with Service(access(issuer)) as service:
        service.wait_until_ready()
        for path in ("/v1/resources/mcp/metadata", WELL_KNOWN, WELL_KNOWN + "/mcp"):
            response = service.api.get(path)
            assert (response.code, "add resources" in response.json["detail"]) == ("not_found", True)
        refused(verify(service, "a.b.c", resource="mcp"), "resource_unknown")


# Tokens


def test_a_token_must_be_for_the_resource(service, issuer):
    answer = accepted(service, access_token(issuer, aud=MCP), resource="mcp")
    assert answer["identity"]["provider"] == issuer.name
    # That of the provider's settings is another API's.
    refused(verify(service, access_token(issuer), resource="mcp"), "audience_mismatch")
    refused(verify(service, access_token(issuer, aud=MCP + "/"), resource="mcp"), "audience_mismatch")
    refused(verify(service, access_token(issuer, aud=MCP)), "audience_mismatch")
    accepted(service, access_token(issuer, aud="api://named"), resource="named")
    refused(verify(service, access_token(issuer, aud="https://named.example.com"), resource="named"), "audience_mismatch")


@pytest.mark.parametrize("id", ["root", "slash"])
def test_an_empty_path_has_two_spellings(service, issuer, id):
    host = {"root": "api", "slash": "slash"}[id]
    for audience in (f"https://{host}.example.com", f"https://{host}.example.com/", ["x", f"https://{host}.example.com/"]):
        accepted(service, access_token(issuer, aud=audience), resource=id)
    for audience in (f"https://{host}.example.com//", f"http://{host}.example.com", f"https://{host}.example.com/a"):
        refused(verify(service, access_token(issuer, aud=audience), resource=id), "audience_mismatch")


def test_a_token_of_no_issuer_of_the_resource(service, other, issuer):
    for token in (access_token(other, aud=MCP), access_token(other), other.token(), jws(issuer.keys[0], {"sub": "x"}), "opaque-token~1", "a.b.c"):
        challenge = challenged(verify(service, token, resource="mcp"), "issuer_mismatch")
        assert challenge[0] == 401 and 'error="invalid_token"' in challenge[1]
        for members in ({"resource": "mcp"}, {"policy": "mcp"}):
            explained = service.admin.post("/v1/explain", {"token": token} | members).json
            assert (explained["valid"], explained["code"]) == (False, "issuer_mismatch"), members
    # As ever without a resource.
    refused(verify(service, other.token(iss="https://x.example")), "provider_unknown")
    refused(verify(service, "opaque-token~1"), "token_malformed")


@pytest.mark.parametrize("token", ["", "no token", "access?token", "eyJhbGciOiJSUzI1NiJ9.%.x", "é"])
def test_what_is_no_token_is_malformed(service, token):
    assert challenged(verify(service, token, resource="mcp"), "token_malformed")[0] == 401


def test_a_request_names_a_resource_or_a_provider(service, issuer):
    token = access_token(issuer, aud=MCP)
    assert "the nearest is mcp" in refused(verify(service, token, resource="mcq"), "resource_unknown")["detail"]
    for members in ({"provider": issuer.name}, {"audience": MCP}):
        refused(verify(service, token, resource="mcp", **members), "request_invalid")
    for resource in (None, "", 1, "x" * 256):
        refused(verify(service, token, resource=resource), "request_invalid")
    accepted(service, token, resource="mcp", provider=None, audience=None)
    refused(verify(service, None, resource="mcp"), "request_invalid")
    refused(post(service, token=None), "request_invalid")
    refused(post(service, token=5, resource="mcp"), "request_invalid")
    # Before anything about the token.
    refused(post(service, token=None, resource="nothing"), "resource_unknown")


def test_explain_explains_by_the_resource_s_rules(service, issuer):
    def explain(token, **members):
        return service.admin.post("/v1/explain", {"token": token} | members)

    assert explain(access_token(issuer, aud=MCP), resource="mcp").json["valid"]
    answer = explain(access_token(issuer), resource="mcp").json
    assert (answer["code"], answer["valid"]) == ("audience_mismatch", False)
    assert explain("x.y.z", resource="nothing").code == "resource_unknown"
    assert explain(None, resource="mcp").code == "request_invalid"
    assert explain(access_token(issuer, aud=MCP, groups=["staff"]), policy="mcp").json["valid"]
    assert explain(access_token(issuer, groups=["staff"]), policy="mcp").json["code"] == "audience_mismatch"


# Challenges


def test_a_request_without_a_token_is_asked_for_one(service, bearer_only):
    response = post(bearer_only, token=None, resource="mcp")
    assert challenged(response, "token_missing") == (401, f'Bearer scope="mcp:tools", {WHERE}')
    response = post(bearer_only, token=None, resource="root")
    assert challenged(response, "token_missing") == (401, f'Bearer resource_metadata="https://api.example.com{WELL_KNOWN}"')
    response = post(service, token=None, resource="mcp", scopes=["mcp:admin", "x"])
    assert challenged(response, "token_missing") == (401, f'Bearer scope="mcp:admin x", {WHERE}, DPoP algs="{ALGORITHMS}"')


def test_a_refused_token_has_the_resource_s_challenge(service, bearer_only, issuer):
    def ask(of, code, scopes=None, **claims):
        members = {} if scopes is None else {"scopes": scopes}
        return challenged(verify(of, access_token(issuer, **({"aud": MCP} | claims)), resource="mcp", **members), code)

    expired = ask(bearer_only, "token_expired", exp=now() - 3600, iat=now() - 7200)
    assert expired == (401, f'Bearer error="invalid_token", scope="mcp:tools", {WHERE}')
    expired = ask(service, "token_expired", exp=now() - 3600, iat=now() - 7200)
    assert expired == (401, f'Bearer error="invalid_token", scope="mcp:tools", {WHERE}, DPoP algs="{ALGORITHMS}"')
    missing = ask(bearer_only, "scope_missing", ["mcp:admin"], scope="mcp:tools")
    assert missing == (403, f'Bearer error="insufficient_scope", scope="mcp:admin", {WHERE}')
    assert ask(bearer_only, "token_expired", [], exp=1, iat=1)[1].count('scope="mcp:tools"') == 1
    other = verify(bearer_only, access_token(issuer, aud=MCP), resource="mcp", subject="user-2")
    assert challenged(other, "subject_mismatch") == (403, f'Bearer scope="mcp:tools", {WHERE}')


def test_a_proof_is_asked_for_where_one_is_needed(service, issuer):
    client = Client(issuer)
    token = access_token(issuer, aud=MCP, cnf={"jkt": client.key.dpop_jkt})
    proof = client.request(token)
    accepted(service, token, resource="mcp", dpop=proof)

    def dpop(error):
        return 401, f'DPoP error="{error}", scope="mcp:tools", {WHERE}, algs="{ALGORITHMS}"'

    assert challenged(verify(service, token, resource="mcp"), "binding_required") == dpop("invalid_token")
    assert challenged(verify(service, token, resource="mcp", dpop=proof | {"scheme": "Bearer"}), "binding_required") == dpop("invalid_token")
    assert challenged(verify(service, token, resource="mcp", dpop=proof | {"method": "PUT"}), "dpop_proof_invalid") == dpop("invalid_dpop_proof")
    assert challenged(verify(service, token, resource="mcp", dpop=Client(issuer).request(token)), "binding_mismatch") == dpop("invalid_token")
    unbound = access_token(issuer, aud=MCP)
    assert challenged(verify(service, unbound, resource="mcp", dpop=client.request(unbound)), "binding_missing") == dpop("invalid_token")
    either = access_token(issuer, aud=MCP, cnf={})
    assert challenged(verify(service, either, resource="mcp"), "binding_required") == dpop("invalid_token")


def test_a_certificate_is_asked_for_as_a_bearer_token(service, issuer, certified):
    of_certificate = access_token(issuer, aud=MCP, cnf={"x5t#S256": "A" * 43})
    bearer = (401, f'Bearer error="invalid_token", scope="mcp:tools", {WHERE}, DPoP algs="{ALGORITHMS}"')
    assert challenged(verify(service, of_certificate, resource="mcp"), "binding_required") == bearer
    assert challenged(verify(service, of_certificate, resource="mcp", certificate="B" * 42 + "A"), "binding_mismatch") == bearer
    unbound = access_token(certified, aud="https://certificates.example.com")
    status, field = challenged(verify(service, unbound, resource="certificates"), "binding_missing")
    assert (status, field.split(" ")[0]) == (401, "Bearer")


def test_a_resource_of_proofs_alone_asks_for_nothing_else(service, strict):
    where = f'resource_metadata="https://proofs.example.com{WELL_KNOWN}"'
    missing = challenged(post(service, token=None, resource="proofs"), "token_missing")
    assert missing == (401, f'DPoP scope="mcp:tools", {where}, algs="{ALGORITHMS}"')
    unbound = access_token(strict, aud="https://proofs.example.com")
    missing = challenged(verify(service, unbound, resource="proofs"), "binding_missing")
    assert missing == (401, f'DPoP error="invalid_token", scope="mcp:tools", {where}, algs="{ALGORITHMS}"')


def test_a_replayed_proof_is_answered_with_a_challenge(settings, issuer):
    with start(settings, dpop={}) as service:
        service.wait_until_ready()
        client = Client(issuer)
        token = access_token(issuer, aud=MCP, cnf={"jkt": client.key.dpop_jkt})
        proof = client.request(token)
        accepted(service, token, resource="mcp", dpop=proof)
        status, field = challenged(verify(service, token, resource="mcp", dpop=proof), "dpop_proof_replayed")
        assert (status, field.startswith('DPoP error="invalid_dpop_proof", ')) == (401, True)


def test_only_problems_of_the_token_have_a_challenge(service, issuer):
    token = access_token(issuer, aud=MCP)
    for response in (verify(service, token, resource="x"), verify(service, token, resource="mcp", scopes=None), verify(service, "a.b.c")):
        assert "challenge" not in response.json


# Gateways


def gateway(service, policy, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    connection = service.api.connect()
    connection.send(request_bytes("GET", f"/v1/forward-auth/{policy}", None, headers))
    response = connection.response("GET", f"/v1/forward-auth/{policy}")
    connection.close()
    return response.status, response.header("WWW-Authenticate")


def test_a_gateway_s_policy_has_the_resource_s_challenges(service, issuer, other):
    assert gateway(service, "mcp") == (401, f'Bearer scope="mcp:tools", {WHERE}')
    assert gateway(service, "admin") == (401, f'Bearer scope="mcp:admin", {WHERE}')
    assert gateway(service, "mcp", "a b") == (401, f'Bearer error="invalid_request", scope="mcp:tools", {WHERE}')
    invalid = (401, f'Bearer error="invalid_token", scope="mcp:tools", {WHERE}')
    for token in (access_token(issuer), access_token(other, aud=MCP), "opaque", access_token(issuer, aud=MCP, cnf={"jkt": "x"})):
        assert gateway(service, "mcp", token) == invalid
    assert gateway(service, "mcp", access_token(issuer, aud=MCP)) == (403, f'Bearer scope="mcp:tools", {WHERE}')
    overage = access_token(issuer, aud=MCP, _claim_names={"groups": "src1"})
    assert gateway(service, "mcp", overage) == (403, f'Bearer scope="mcp:tools", {WHERE}')
    assert gateway(service, "mcp", access_token(issuer, aud=MCP, groups=["staff"])) == (200, None)
    missing = f'Bearer error="insufficient_scope", scope="mcp:admin", {WHERE}'
    assert gateway(service, "admin", access_token(issuer, aud=MCP)) == (403, missing)
    assert gateway(service, "admin", access_token(issuer, aud=MCP, scope="mcp:admin")) == (200, None)
    # Without a resource, as before.
    assert gateway(service, "plain") == (401, "Bearer")
    assert gateway(service, "plain", access_token(issuer)) == (200, None)


def test_challenges_are_well_formed(service, issuer):
    """One field: challenges separated by commas, each a scheme and parameters (RFC 9110, section 11.6.1)."""
    parameter = r'[a-z_]+="[\x20-\x21\x23-\x5b\x5d-\x7e]*"'
    challenge = rf"(Bearer|DPoP) {parameter}(, {parameter})*"
    for token in (None, "opaque", access_token(issuer, aud=MCP, cnf={})):
        field = post(service, token=token, resource="mcp").json["challenge"]["www_authenticate"]
        assert re.fullmatch(rf"{challenge}(, {challenge})?", field), field


def test_a_certificate_proves_the_key_of_a_resource_s_token(service, certified):
    token = access_token(certified, aud="https://certificates.example.com", cnf={"x5t#S256": "A" * 43})
    accepted(service, token, resource="certificates", certificate="A" * 43)
