"""`assay dev --config` stands in for the providers in a team's own settings, whatever their presets."""

import os
import urllib.parse

import pytest

from harness import yaml
from harness.commands import Dev
from harness.contract import assert_code
from harness.service import Service, provider, run

TENANT = "6f2e1a90-1d3b-4c5e-8f70-112233445566"
# By preset: settings of a provider with the preset's parameters. The files don't exist.
PROVIDERS = {
    "apple": {
        "clients": [
            {
                "id": "mine", "auth": "apple", "team_id": "ABCDE12345", "key_id": "XYZ123ABCD", "key_file": "/nowhere/key.p8",
                "redirect_uris": ["https://example.com/cb"],
            }
        ],
        "notifications": ["apple"],
    },
    "google": {
        "nonce": {"single_use": True}, "claim_values": {"hd": ["example.org"]},
        "clients": [{"id": "mine", "auth": "client_secret_post", "secret_file": "/nowhere/secret"}],
    },
    "microsoft": {
        "tenant": TENANT,
        "clients": [{"id": "mine", "auth": "private_key_jwt", "key_id": "k", "key_file": "/nowhere/key.pem"}],
    },
    "entra-external": {"tenant": TENANT, "subdomain": "contoso"},
    "authentik": {"issuer": "https://sso.example.com/application/o/shop/"},
    "azure-b2c": {"tenant": TENANT, "subdomain": "contoso", "policy": "B2C_1_sign_in"},
    "auth0": {"domain": "example.eu.auth0.com"},
    "okta": {"domain": "example.okta.com"},
    "keycloak": {
        "issuer": "https://sso.example.com/realms/staff", "jwks_file": "/nowhere/keys.json",
        "endpoints": {"token": "https://sso.example.com/token"},
        "clients": [{"id": "mine", "auth": "client_secret_basic", "secret_file": "/nowhere/secret"}],
    },
    "cognito": {"pool": "eu-west-1_AbCdEfGhI"},
    "firebase": {"project": "my-project", "audiences": None},
    "github-actions": {"claim_values": {"repository_id": ["42"]}},
    "line": {}, "slack": {}, "linkedin": {}, "twitch": {}, "yahoo-japan": {}, "login.gov": {}, "kakao": {},
    "singpass": {}, "itsme": {}, "esignet": {"issuer": "https://esignet.example.org/v1/esignet"}, "proconnect": {},
    "oidc": {
        "issuer": "https://id.example.com/", "required_claims": ["acr"], "algorithms": ["ES384"],
        "identity": {"tenant": "/org/id"},
        "clients": [{"id": "mine", "auth": "none", "redirect_uris": ["com.example.app:/cb"]}],
    },
}  # fmt: skip


def settings(tmp_path, **more):
    providers = []
    for preset, own in PROVIDERS.items():
        each = {"id": preset, "preset": preset, "audiences": ["mine", "other"]} | own
        providers.append({name: value for name, value in each.items() if value is not None})
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.dump({"providers": providers} | more))
    return file


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    path = tmp_path_factory.mktemp("dev")
    # Opening a pipe without a writer would block forever.
    os.mkfifo(path / "pipe")
    api_keys = [{"name": "a", "sha256": "0" * 64}]
    with Dev("--config", str(settings(path, sign_ins={"key_files": [str(path / "pipe")]}, api_keys=api_keys))) as running:
        yield running


@pytest.mark.parametrize("preset", PROVIDERS)
def test_tokens_pass_the_rules_of_the_settings(dev, preset):
    token = dev.token(preset)
    answer = dev.api.post("/v1/verify", {"provider": preset} | token)
    assert answer.status == 200, answer
    audience = "my-project" if preset == "firebase" else "mine"
    assert answer.json["token"]["audience"] == [audience]
    assert answer.json["identity"]["issuer"].startswith(f"http://{dev.issuer_address}/{preset}")
    assert answer.json["token"]["key_id"].startswith("assay-dev-")


def test_the_rules_of_the_settings_apply(dev):
    assert_code(dev.api.post("/v1/verify", dev.token("google", claims={"hd": "example.net"})), "claim_invalid")
    token = dev.token("google")
    assert dev.api.post("/v1/verify", token).status == 200
    assert_code(dev.api.post("/v1/verify", token), "nonce_replayed")
    assert dev.api.post("/v1/verify", dev.token("apple", audience="other")).json["token"]["audience"] == ["other"]
    stranger = dev.token("microsoft", person={"name": "Ada", "tenant": "0" * 8 + TENANT[8:]})
    assert_code(dev.api.post("/v1/verify", {"provider": "microsoft"} | stranger), "issuer_mismatch")


@pytest.mark.parametrize("preset", ["apple", "google", "microsoft", "keycloak"])
def test_clients_exchange_codes_without_their_credential_files(dev, preset):
    begun = dev.api.post("/v1/sign-ins", {"provider": preset}).json
    code = dev.token(preset, nonce=begun["nonce"], code=True)["code"]
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": code})
    assert finished.status == 200, finished
    assert finished.json["grant"]["refresh_token"]


def test_grants_are_bound_where_the_settings_say_so(tmp_path):
    """And a client with a certificate needs none here, because the development provider has no TLS."""
    file = tmp_path / "mine.yaml"
    bound = {"id": "mine", "auth": "none", "sender_constraint": "dpop", "dpop_origins": ["https://api.example"]}
    files = {"certificate_file": "/nowhere/a.crt", "key_file": "/nowhere/a.key"}
    certified = {"id": "mine", "auth": "tls_client_auth", "sender_constraint": "certificate"} | files
    providers = [
        {"id": id, "issuer": f"https://{id}.example", "audiences": ["mine"], "clients": [client], "user_info": True}
        for id, client in {"bound": bound, "certified": certified}.items()
    ]
    file.write_text(yaml.dump({"providers": providers, "sign_ins": {}}))
    with Dev("--config", str(file)) as dev:
        for id in ("bound", "certified"):
            begun = dev.api.post("/v1/sign-ins", {"provider": id}).json
            code = dev.token(id, nonce=begun["nonce"], code=True)["code"]
            finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": code})
            assert finished.status == 200, finished
            grant, subject = finished.json["grant"], finished.json["identity"]["subject"]
            binding = {"binding": grant["binding"]} if id == "bound" else {}
            assert grant["token_type"] == ("DPoP" if binding else "Bearer")
            request = {"provider": id, "refresh_token": grant["refresh_token"], "subject": subject} | binding
            assert dev.api.post("/v1/grants/refresh", request).status == 200
            revoked = dev.api.post("/v1/grants/revoke", {"provider": id, "token": grant["refresh_token"]} | binding)
            assert revoked.status == 204, revoked
        assert dev.entries(level="warning") == [] and dev.entries(level="error") == []


def test_a_public_client_may_use_a_custom_url_scheme(dev):
    begun = dev.api.post("/v1/sign-ins", {"provider": "oidc", "redirect_uri": "com.example.app:/cb", "prompt": "none"})
    path = begun.json["authorization_url"].split(dev.issuer_address)[1]
    location = dev.ask_issuer("GET", path).header("Location")
    assert location.startswith("com.example.app:/cb?code=")
    response = dict(pair.split("=", 1) for pair in location.split("?", 1)[1].split("&"))
    response["iss"] = f"http://{dev.issuer_address}/oidc"
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun.json["sign_in"], "response": response})
    assert finished.status == 200, finished
    assert finished.json["token"]["algorithm"] == "ES384"


def test_there_are_no_warnings(dev):
    assert dev.entries(level="warning") == [] and dev.entries(level="error") == []


@pytest.mark.parametrize("name", ["faults", "reset", "rotate"])
def test_a_provider_cannot_have_the_name_of_a_page(tmp_path, name):
    file = tmp_path / "a.yaml"
    file.write_text(yaml.dump({"providers": [{"id": name, "preset": "apple", "audiences": ["a"]}]}))
    result = run("dev", "--config", str(file), "--listen", "127.0.0.1:0")
    assert result.returncode == 1 and b"rename it" in result.stderr


def test_an_error_in_the_file_is_reported_with_its_line(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("providers:\n  - id: apple\n    preset: aple\n    audiences: [a]\n")
    result = run("dev", "--config", str(file), "--listen", "127.0.0.1:0")
    assert result.returncode == 1 and b"line 3" in result.stderr


def test_a_service_rejects_keys_of_a_development_provider(dev):
    """A service whose settings trust a development provider skips its keys, and says why."""
    issuer = type("Issuer", (), {"url": f"http://{dev.issuer_address}/auth0"})
    with Service(provider(issuer, optional=True)) as service:
        service.wait_until(lambda: service.provider_state("oidc")["last_error"])
        message = service.provider_state("oidc")["last_error"]["message"]
        assert "it is a key of assay dev" in message
        token = dev.token("auth0", audience="mine")["id_token"]
        assert service.api.post("/v1/verify", {"id_token": token}).status == 503


# By preset: settings of a provider whose access tokens are verified.
APIS = {
    "auth0": {"domain": "example.eu.auth0.com"},
    "azure-b2c": {"tenant": TENANT, "subdomain": "contoso", "policy": "B2C_1_sign_in"},
    "cognito": {"pool": "eu-west-1_AbCdEfGhI"},
    "keycloak": {"issuer": "https://sso.example.com/realms/staff"},
    "kinde": {"domain": "example.kinde.com"},
    "kubernetes": {
        "issuer": "https://kubernetes.default.svc.cluster.local", "claim_values": {"/kubernetes.io/namespace": ["shop"]},
    },
    "microsoft": {"tenant": TENANT},
    "microsoft-v1": {"tenant": TENANT},
    "oidc": {"issuer": "https://id.example.com"},
    "okta": {"domain": "example.okta.com", "authorization_server": "default"},
    "spring-authorization-server": {"issuer": "https://auth.example.com"},
    "supabase": {"project": "abcdefgh", "audiences": None},
    "workos-authkit": {"client": "client_01", "audiences": None},
    "zitadel": {"issuer": "https://zitadel.example.com"},
}  # fmt: skip


def test_access_tokens_pass_the_rules_of_every_preset(tmp_path):
    providers = [
        {"id": preset, "preset": preset, "tokens": "access", "audiences": ["https://api.example.com"]} | own
        for preset, own in APIS.items()
    ]
    for each in providers:
        if each["audiences"] is None:
            del each["audiences"]
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.dump({"providers": providers}))
    with Dev("--config", str(file)) as dev:
        for preset in APIS:
            token = dev.token(preset)
            answer = dev.api.post("/v1/access-tokens/verify", {"provider": preset} | token)
            assert answer.status == 200, (preset, answer)
            expired = dev.token(preset, claims={"exp": 1})
            assert_code(dev.api.post("/v1/access-tokens/verify", {"provider": preset} | expired), "token_expired")


def test_policies_of_the_settings_apply_to_gateways(tmp_path):
    providers = [
        {"id": "api", "issuer": "https://id.example.com", "audiences": ["https://api.example/"], "tokens": "access"},
        {"id": "google", "preset": "google", "audiences": ["mine"]},
    ]
    policies = [
        {"id": "web", "providers": ["api"], "require": {"scopes": ["read"]}},
        {"id": "users", "providers": ["google"], "headers": {"X-Who": "subject"}},
    ]
    file = tmp_path / "gateways.yaml"
    key = {"name": "gateway", "sha256": "0" * 64}
    file.write_text(yaml.dump({"providers": providers, "forward_auth": {"policies": policies}, "api_keys": [key]}))
    with Dev("--config", str(file)) as dev:
        token = dev.token("google")["id_token"]
        answer = dev.api.get("/v1/forward-auth/users", {"Authorization": f"Bearer {token}"})
        assert answer.status == 200 and answer.header("X-Who")
        assert dev.api.get("/v1/forward-auth/web", {"Authorization": f"Bearer {token}"}).status == 401
