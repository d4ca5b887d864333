"""`POST /v1/sign-outs`: the URL at which a user signs out at the provider (RP-Initiated Logout 1.0)."""

import json
import time
import urllib.parse

import pytest
from jwcrypto import jwk

from grants.grants import with_client
from grants.test_encrypted_tokens import encrypted, write_key
from harness import reload, tokens
from harness.client import contract
from harness.service import Service, provider
from harness.tokens import ec_key, rsa_key

from .connected import Connection, entry

END = "https://idp.example/logout?tenant=1"
BACK = "https://app.example/signed-out"
OTHER = "https://shop.example/bye?from=idp"


def with_end_session(issuer, endpoint: str | None = END):
    issuer.discovery.body = issuer.discovery_document(**({"end_session_endpoint": endpoint} if endpoint else {}))
    return issuer


@pytest.fixture(scope="module")
def key():
    return jwk.JWK.generate(kty="EC", crv="P-256")


@pytest.fixture(scope="module")
def issuer(shared_server):
    return with_end_session(shared_server.issuer("signing-out", ec_key("first"), rsa_key("small", 1024)))


@pytest.fixture(scope="module")
def service(shared_server, issuer, endpoint, key, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    keys = [{"id": "enc", "use": "encryption", "key_file": write_key(directory, key, "enc"), "algorithms": ["ECDH-ES+A256KW"]}]

    def client(id: str, *uris: str) -> dict:
        return {"id": id, "auth": "none", "post_logout_redirect_uris": list(uris)}

    def some(name: str, issuer, **more) -> dict:
        return with_client(issuer, endpoint, directory, name, **({"clients": [client("client", BACK)]} | more))

    def another(name: str, endpoint: str | None):
        return with_end_session(shared_server.issuer(name), endpoint)

    clients = [client("client", BACK), client("shop", BACK, OTHER)]
    sealed = {"encryption": {"required": ["id_token"]}}
    providers = [
        some("oidc", issuer, audiences=["client", "shop", "bare"], clients=clients, algorithms=["ES256", "RS256"]),
        some("without", another("without-end-session", None)),
        some("reserved", another("reserved-end-session", "https://idp.example/logout?state=fixed")),
        some("sealed", another("sealed-end-session", "https://idp.example/logout"), **sealed),
        with_client(another("bare-end-session", END), endpoint, directory, "bare", clients=[]),
        entry(directory, clients=entry(directory)["clients"] | {"post_logout_redirect_uris": [BACK + "/{connection}"]}),
    ]  # fmt: skip
    with Service(*providers, client_keys=keys) as service:
        service.wait_until_ready()
        yield service


def sign_out(service, id: str = "oidc", **members):
    return service.api.post("/v1/sign-outs", {"provider": id} | members)


def answer(service, id: str = "oidc", **members) -> dict:
    response = sign_out(service, id, **members)
    assert response.status == 200, response
    return response.json


def parameters(url: str) -> dict:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, strict_parsing=True))


def test_without_anything_only_the_client_is_named(service):
    assert answer(service) == {
        "logout_url": END + "&client_id=client", "endpoint": END, "parameters": {"client_id": "client"}, "state": None,
    }  # fmt: skip


def test_a_sign_out_with_everything(service, issuer):
    hint = issuer.token(exp=1_000_000_000, iat=999_999_000)
    more = {"logout_hint": "kim & co", "ui_locales": "de en"}
    signed_out = answer(service, id_token_hint=hint, post_logout_redirect_uri=BACK, audience="client", **more)
    expected = {
        "id_token_hint": hint, "client_id": "client", "post_logout_redirect_uri": BACK, "state": signed_out["state"], **more,
    }  # fmt: skip
    assert signed_out["parameters"] == expected
    assert signed_out["endpoint"] == END
    assert parameters(signed_out["logout_url"]) == expected | {"tenant": "1"}
    assert len(signed_out["state"]) == 32


def test_each_state_is_new(service):
    states = {answer(service, post_logout_redirect_uri=BACK)["state"] for _ in range(3)}
    assert len(states) == 3


@pytest.mark.parametrize(
    "members, client",
    [
        ({}, "client"),
        ({"post_logout_redirect_uri": BACK}, "client"),
        ({"post_logout_redirect_uri": OTHER}, "shop"),
        ({"audience": "shop"}, "shop"),
        ({"audience": "shop", "post_logout_redirect_uri": BACK}, "shop"),
    ],
)
def test_the_client(service, members, client):
    assert answer(service, **members)["parameters"]["client_id"] == client


def test_null_is_absent(service):
    names = ("audience", "id_token_hint", "post_logout_redirect_uri", "logout_hint", "ui_locales")
    assert answer(service, **dict.fromkeys(names)) == answer(service)


@pytest.mark.parametrize(
    "id, members, code",
    [
        ("oidc", {"audience": "client", "post_logout_redirect_uri": OTHER}, "redirect_uri_not_configured"),
        ("oidc", {"post_logout_redirect_uri": BACK + "/"}, "redirect_uri_not_configured"),
        ("oidc", {"audience": "nobody"}, "audience_not_configured"),
        ("oidc", {"audience": "bare"}, "client_not_configured"),
        ("oidc", {"id_token": "x"}, "request_invalid"),
        ("oidc", {"logout_hint": "x" * 256}, "request_invalid"),
        ("oidc", {"id_token_hint": 1}, "request_invalid"),
        ("oidc", {"connection": "c"}, "request_invalid"),
        ("oidc", {"issuer": "https://idp.example"}, "request_invalid"),
        ("without", {}, "sign_out_not_supported"),
        ("without", {"id_token_hint": "junk"}, "sign_out_not_supported"),
        ("reserved", {}, "sign_out_not_supported"),
        ("bare", {}, "client_not_configured"),
        ("nobody", {}, "provider_unknown"),
    ],
)
def test_refusals(service, id, members, code):
    problem = contract.assert_code(sign_out(service, id, **members), code)
    assert "spent" not in problem


def test_the_provider_is_required(service):
    contract.assert_code(service.api.post("/v1/sign-outs", {}), "request_invalid")


HINTS = {
    "token_malformed": lambda issuer: "junk",
    "header_unsupported": lambda issuer: tokens.jws(issuer.keys[0], issuer.claims(), crit=["x"], x=1),
    "algorithm_not_allowed": lambda issuer: tokens.jws(ec_key("first", "P-384"), issuer.claims()),
    "key_not_found": lambda issuer: tokens.jws(ec_key("unknown"), issuer.claims()),
    "key_unsuitable": lambda issuer: tokens.jws(issuer.key("small"), issuer.claims()),
    # Another key of this name.
    "signature_invalid": lambda issuer: tokens.jws(ec_key("first", "P-256"), issuer.claims()),
    "issuer_mismatch": lambda issuer: issuer.token(iss=issuer.url + "/"),
    "audience_mismatch": lambda issuer: issuer.token(aud="stranger"),
    "authorized_party_mismatch": lambda issuer: issuer.token(aud=["client", "another"], azp="stranger"),
    "token_not_yet_valid": lambda issuer: issuer.token(iat=tokens.now() + 3600),
    "claim_missing": lambda issuer: issuer.token(sub=None),
    # A logout token is no ID Token.
    "claim_invalid": lambda issuer: issuer.token(events={"http://schemas.openid.net/event/backchannel-logout": {}}),
}


@pytest.mark.parametrize("code", HINTS)
def test_hints_that_are_refused(service, issuer, code):
    problem = contract.assert_code(sign_out(service, id_token_hint=HINTS[code](issuer)), code)
    assert "spent" not in problem


def test_another_client_s_hint_needs_its_audience(service, issuer):
    hint = issuer.token(aud="shop")
    contract.assert_code(sign_out(service, id_token_hint=hint), "audience_mismatch")
    assert answer(service, id_token_hint=hint, audience="shop")["parameters"]["id_token_hint"] == hint


def test_a_long_url_needs_the_form(service, issuer):
    claims = {"padding": "x"}
    url = answer(service, id_token_hint=issuer.token(**claims))["logout_url"]
    # The length of a token grows in steps of its encoding.
    while len(url) < 1995:
        claims["padding"] += "x"
        if (longer := answer(service, id_token_hint=issuer.token(**claims)))["logout_url"] is None:
            break
        url = longer["logout_url"]
    assert len(url) <= 2000
    hint = issuer.token(padding="x" * 2000)
    signed_out = answer(service, id_token_hint=hint, post_logout_redirect_uri=BACK)
    assert signed_out["logout_url"] is None and signed_out["parameters"]["id_token_hint"] == hint
    assert signed_out["endpoint"] == END and signed_out["state"] == signed_out["parameters"]["state"]


def test_an_encrypted_hint_is_opened_and_not_put_into_a_url(service, shared_server, key):
    hint = shared_server.issuer("sealed-end-session").token(exp=tokens.now() - 86_400)
    signed_out = answer(service, "sealed", id_token_hint=encrypted(hint, key))
    assert signed_out["logout_url"] is None and signed_out["parameters"]["id_token_hint"] == hint
    contract.assert_code(sign_out(service, "sealed", id_token_hint=hint), "encryption_required")
    stranger = jwk.JWK.generate(kty="EC", crv="P-256")
    contract.assert_code(sign_out(service, "sealed", id_token_hint=encrypted(hint, stranger)), "decryption_failed")
    contract.assert_code(sign_out(service, "sealed", id_token_hint=encrypted(encrypted(hint, key), key)), "header_unsupported")
    # Where no encryption is configured, an encrypted token is none.
    contract.assert_code(sign_out(service, "oidc", id_token_hint=encrypted(hint, key)), "token_malformed")


def test_a_new_key_of_the_provider(service, issuer):
    """A hint under a key that was published since is not refused before the keys are read again."""
    new = ec_key("rotated-in")
    issuer.rotate(*issuer.keys, new)
    assert answer(service, id_token_hint=tokens.jws(new, issuer.claims()))["logout_url"]


def test_a_connection_of_an_open_entry(service, shared_server, endpoint):
    row = Connection("acme", shared_server.issuer("acme-end-session", ec_key("acme")), endpoint)
    row.issuer.discovery.body = row.issuer.discovery.body | {"end_session_endpoint": END}
    back = BACK + "/acme"
    hint = row.issuer.token()
    signed_out = answer(service, "connections", id_token_hint=hint, post_logout_redirect_uri=back, **row.named)
    assert signed_out["parameters"]["id_token_hint"] == hint and signed_out["parameters"]["client_id"] == "client"
    contract.assert_code(
        sign_out(service, "connections", post_logout_redirect_uri=BACK + "/rival", **row.named), "redirect_uri_not_configured"
    )
    contract.assert_code(sign_out(service, "connections"), "request_invalid")
    other = row.issuer.token(iss=row.issuer.url + "/")
    contract.assert_code(sign_out(service, "connections", id_token_hint=other, **row.named), "issuer_mismatch")
    gone = Connection("gone", shared_server.issuer("gone-end-session"), endpoint)
    gone.issuer.discovery.status = 500
    contract.assert_code(sign_out(service, "connections", **gone.named), "provider_unavailable")


def test_before_the_provider_s_document_has_been_read(shared_server, endpoint, tmp_path):
    issuer = with_end_session(shared_server.issuer("late-end-session"))
    issuer.discovery.status = 500
    late = with_client(issuer, endpoint, tmp_path, "late", clients=[{"id": "client", "auth": "none"}])
    with Service(late) as service:
        service.wait_until(lambda: sign_out(service, "late").code == "provider_unavailable")
        issuer.discovery.status = 200
        service.admin.post("/v1/providers/late/refresh")
        service.wait_until(lambda: sign_out(service, "late").status == 200)


def test_keys_that_cannot_be_fetched(shared_server, endpoint, tmp_path):
    issuer = with_end_session(shared_server.issuer("keyless-end-session", ec_key("first")))
    keyless = with_client(issuer, endpoint, tmp_path, "keyless", clients=[{"id": "client", "auth": "none"}])
    with Service(keyless) as service:
        service.wait_until_ready()
        issuer.jwks.status = 500
        hint = tokens.jws(ec_key("unknown"), issuer.claims())
        contract.assert_code(sign_out(service, "keyless", id_token_hint=hint), "keys_unavailable")


def test_the_endpoint_is_kept_on_disk(shared_server, endpoint, tmp_path):
    issuer = with_end_session(shared_server.issuer("kept-end-session"))
    entry = with_client(issuer, endpoint, tmp_path, "kept", clients=[{"id": "client", "auth": "none"}])
    (tmp_path / "keys").mkdir(mode=0o700)
    kept = {"cache_directory": str(tmp_path / "keys")}
    with Service(entry, **kept) as service:
        service.wait_until_ready()
    issuer.discovery.status = issuer.jwks.status = 500
    with Service(entry, **kept) as service:
        service.wait_until(lambda: sign_out(service, "kept").status == 200)


def test_without_clients_there_is_no_such_path(shared_server):
    with Service(provider(shared_server.issuer("no-clients"))) as service:
        service.wait_until_ready()
        contract.assert_code(sign_out(service), "not_found")


def test_nothing_of_it_is_logged(service, issuer):
    hint = issuer.token(sub="canary-subject")
    signed_out = answer(service, id_token_hint=hint, logout_hint="canary-hint", post_logout_redirect_uri=BACK)
    contract.assert_code(sign_out(service, id_token_hint="canary.junk.token", logout_hint="canary-hint"), "token_malformed")
    service.wait_for_entry(route="/v1/sign-outs", code="token_malformed")
    service.hides("canary", hint, signed_out["state"], BACK)


def test_it_changes_with_the_settings(shared_server, endpoint, tmp_path):
    issuer = with_end_session(shared_server.issuer("changing-end-session"))

    def settings(*uris: str) -> dict:
        client = {"id": "client", "auth": "none", "post_logout_redirect_uris": list(uris)}
        return with_client(issuer, endpoint, tmp_path, "changing", clients=[client])

    with Service(settings(BACK)) as service:
        service.wait_until_ready()
        assert answer(service, "changing", post_logout_redirect_uri=BACK)["logout_url"]
        reload.change(service, settings(OTHER))
        service.wait_until(lambda: sign_out(service, "changing", post_logout_redirect_uri=OTHER).status == 200)
        contract.assert_code(sign_out(service, "changing", post_logout_redirect_uri=BACK), "redirect_uri_not_configured")
