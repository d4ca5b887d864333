"""A provider of access tokens as an authorization server: metadata, registration, codes with PKCE and a resource."""

import base64
import hashlib
import json
import urllib.parse

import pytest
from requests_oauth2client import DPoPKey

from harness.commands import Dev
from harness.service import run, write_config
from harness.tokens import unb64url

API = "https://api.example/"
MCP = "http://127.0.0.1:8000/mcp"
BACK = "http://127.0.0.1:9/back"
VERIFIER = "a" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    settings = {
        "providers": [
            {"id": "auth", "issuer": "https://auth.example.com", "tokens": "access", "audiences": [API]},
            {"id": "login", "issuer": "https://auth.example.com", "audiences": ["client"]},
        ],
        "resources": [{"id": "mcp", "resource": MCP, "providers": ["auth"], "scopes": ["use"]}],
        "dpop": {},
    }
    with Dev("--config", str(write_config(tmp_path_factory.mktemp("dev"), settings)), "--listen", "127.0.0.1:0") as dev:
        yield dev


def metadata(dev) -> dict:
    response = dev.ask_issuer("GET", "/.well-known/oauth-authorization-server/auth")
    assert response.status == 200
    return response.json


def register(dev, **members):
    return dev.ask_issuer("POST", "/auth/register", {"redirect_uris": [BACK]} | members, {"Content-Type": "application/json"})


def code(dev, client: str, **parameters) -> dict:
    """What the authorization endpoint adds to the redirect URI."""
    usual = {"client_id": client, "redirect_uri": BACK, "response_type": "code", "prompt": "none", "scope": "use more", "resource": MCP}
    usual |= {"code_challenge": CHALLENGE, "code_challenge_method": "S256", "state": "s"}
    response = dev.ask_issuer("GET", "/auth/authorize?" + urllib.parse.urlencode({k: v for k, v in (usual | parameters).items() if v is not None}))
    assert response.status == 303, response
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(response.header("Location")).query))


def exchange(dev, client: str, given: str, **fields):
    usual = {"grant_type": "authorization_code", "code": given, "redirect_uri": BACK, "client_id": client, "code_verifier": VERIFIER, "resource": MCP}
    form = urllib.parse.urlencode({name: value for name, value in (usual | fields).items() if value is not None})
    return dev.ask_issuer("POST", "/auth/token", form.encode(), {"Content-Type": "application/x-www-form-urlencoded"})


def claims(token: str) -> dict:
    return json.loads(unb64url(token.split(".")[1]))


def test_the_metadata_is_at_all_three_places(dev):
    found = metadata(dev)
    assert found["issuer"] == f"http://{dev.issuer_address}/auth"
    assert found["registration_endpoint"] == found["issuer"] + "/register"
    assert found["code_challenge_methods_supported"] == ["S256"]
    for path in ("/.well-known/openid-configuration/auth", "/auth/.well-known/openid-configuration"):
        assert dev.ask_issuer("GET", path).json == found
    assert dev.ask_issuer("GET", "/.well-known/oauth-authorization-server/nobody").status == 404
    assert "registration_endpoint" not in dev.ask_issuer("GET", "/login/.well-known/openid-configuration").json


def test_a_client_registers_and_gets_a_token_for_a_resource(dev):
    response = register(dev, client_name="Tests", token_endpoint_auth_method="client_secret_basic")
    assert response.status == 201
    client = response.json["client_id"]
    assert (response.json["token_endpoint_auth_method"], response.json["client_name"]) == ("none", "Tests")
    answer = code(dev, client)
    assert (answer["state"], answer["iss"]) == ("s", metadata(dev)["issuer"])
    granted = exchange(dev, client, answer["code"]).json
    assert (granted["token_type"], granted["scope"]) == ("Bearer", "use more")
    assert "id_token" not in granted
    found = claims(granted["access_token"])
    assert (found["aud"], found["client_id"], found["scope"]) == (MCP, client, "use more")
    verified = dev.api.post("/v1/access-tokens/verify", {"resource": "mcp", "token": granted["access_token"], "scopes": ["more"]})
    assert verified.status == 200, verified
    form = urllib.parse.urlencode({"grant_type": "refresh_token", "refresh_token": granted["refresh_token"], "client_id": client})
    fresh = dev.ask_issuer("POST", "/auth/token", form.encode(), {"Content-Type": "application/x-www-form-urlencoded"}).json
    assert claims(fresh["access_token"])["aud"] == MCP


def test_the_resource_names_the_development_provider(dev):
    found = dev.api.get("/v1/resources/mcp/metadata").json
    assert found["authorization_servers"] == [metadata(dev)["issuer"]]
    assert "dpop_signing_alg_values_supported" in found


def test_without_a_resource_the_token_is_for_the_first_audience(dev):
    client = register(dev).json["client_id"]
    granted = exchange(dev, client, code(dev, client, resource=None)["code"], resource=None).json
    assert claims(granted["access_token"])["aud"] == API


@pytest.mark.parametrize("uris", [None, [], "x", [1], ["https://app.example.com/back"], [BACK, "https://app.example.com"], [BACK] * 17])
def test_redirect_uris_lead_to_this_machine(dev, uris):
    response = register(dev, redirect_uris=uris)
    assert (response.status, response.json["error"]) == (400, "invalid_redirect_uri")


def test_what_does_not_fit_the_code_is_refused(dev):
    client, other = (register(dev).json["client_id"] for _ in range(2))
    for fields, error in (
        ({"resource": "https://other.example"}, "invalid_target"),
        ({"code_verifier": "b" * 43}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_grant"),
        ({"client_id": other}, "invalid_grant"),
        ({"client_id": "nobody"}, "invalid_client"),
    ):
        response = exchange(dev, client, code(dev, client)["code"], **fields)
        assert response.json["error"] == error, fields
    for parameters in ({"code_challenge": None}, {"client_id": "nobody"}, {"resource": "api"}, {"resource": MCP + "#f"}):
        query = {"client_id": client, "redirect_uri": BACK, "response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        query = {name: value for name, value in (query | parameters).items() if value is not None}
        assert dev.ask_issuer("GET", "/auth/authorize?" + urllib.parse.urlencode(query)).status == 400, parameters


def test_a_reset_forgets_registrations(dev):
    client = register(dev).json["client_id"]
    assert dev.ask_issuer("POST", "/reset").status == 200
    query = {"client_id": client, "redirect_uri": BACK, "response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    assert dev.ask_issuer("GET", "/auth/authorize?" + urllib.parse.urlencode(query)).status == 400


# DPoP


def test_a_token_comes_with_a_proof(dev):
    members = dev.token("auth", claims={"aud": MCP, "scope": "use"}, dpop={"method": "POST", "url": MCP + "?a=b"})
    assert members["dpop"].keys() == {"proof", "method", "url", "scheme"}
    answer = dev.api.post("/v1/access-tokens/verify", members | {"resource": "mcp"})
    assert answer.status == 200, answer
    assert answer.json["authorization"]["binding"]["method"] == "dpop"
    assert dev.api.post("/v1/access-tokens/verify", members | {"resource": "mcp"}).code == "dpop_proof_replayed"
    assert dev.api.post("/v1/access-tokens/verify", {"token": members["token"], "resource": "mcp"}).code == "binding_required"
    response = dev.ask_issuer("POST", "/login/token", {"dpop": {"url": MCP}})
    assert (response.status, "only for access tokens" in response.json["error"]) == (400, True)
    assert dev.ask_issuer("POST", "/auth/token", {"dpop": {}}).status == 400


def test_a_client_s_proof_binds_its_tokens(dev):
    key = DPoPKey.generate(alg="ES256")
    url = f"http://{dev.issuer_address}/auth/token"

    def ask(proof):
        client = register(dev).json["client_id"]
        form = {"grant_type": "authorization_code", "code": code(dev, client)["code"], "redirect_uri": BACK, "client_id": client, "code_verifier": VERIFIER}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "DPoP": str(proof)}
        return dev.ask_issuer("POST", "/auth/token", urllib.parse.urlencode(form).encode(), headers)

    granted = ask(key.proof(htm="POST", htu=url)).json
    assert granted["token_type"] == "DPoP"
    assert claims(granted["access_token"])["cnf"] == {"jkt": key.dpop_jkt}
    for proof in ("x", key.proof(htm="GET", htu=url), key.proof(htm="POST", htu=url + "s"), key.proof(htm="POST", htu=url, ath="x")):
        assert ask(proof).json["error"] == "invalid_dpop_proof"


def test_the_command_prints_a_token_with_its_proof(dev):
    origin = f"http://{dev.issuer_address}"

    def token(*options: str):
        return run("dev", "token", "--at", origin, *options)

    bound = token("--provider", "auth", "--dpop", "--url", API + "orders")
    assert bound.returncode == 0, bound
    answer = dev.api.post("/v1/access-tokens/verify", json.loads(bound.stdout))
    assert answer.json["authorization"]["binding"]["method"] == "dpop"
    lines = token("--provider", "auth", "--dpop", "--url", API, "--method", "PUT", "--headers").stdout.decode().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["Authorization:", "DPoP:"] and lines[0].startswith("Authorization: DPoP ey")
    assert token("--provider", "auth", "--headers").stdout.decode().startswith("Authorization: Bearer ey")
    assert "id_token" in json.loads(token("--provider", "login", "--person", "alex").stdout)
    for options, text in (
        (["--provider", "login", "--headers"], "tokens: access"),
        (["--provider", "auth", "--dpop"], "--dpop needs --url"),
        (["--provider", "nobody"], "there is no such page"),
        (["--provider", "auth", "--person", "nobody"], "there is no person nobody"),
    ):
        result = token(*options)
        assert result.returncode != 0 and text in result.stderr.decode(), result
