"""Sign-ins in a browser: the authorization URL, the provider's response, and the exchange of its code."""

import base64
import hashlib
import json
import urllib.parse

import pytest

from grants.grants import with_client
from harness import client, reload
from harness.apple import Apple
from harness.service import Service
from harness.token_endpoint import USER_INFO, USER_INFO_ROWS, answered, grant

from .calls import ON, begin

REDIRECT = "https://app.example/callback"
AUTHORIZATION = "https://idp.example/authorize?tenant=1"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("browser")


def settings(issuer, endpoint, directory, id: str = "oidc", **more) -> dict:
    endpoints = {name: endpoint.endpoints[name] for name in ("token", "revocation", "user_info")}
    endpoints |= {"authorization": AUTHORIZATION}
    return with_client(issuer, endpoint, directory, id, endpoints=endpoints, **more)


@pytest.fixture(scope="module")
def service(issuer, endpoint, shared_server, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    # A provider that names its issuer in responses, and two that support neither nonce nor PKCE.
    named = shared_server.issuer("named")
    named.discovery.body = named.discovery_document(authorization_response_iss_parameter_supported=True)
    providers = [
        settings(issuer, endpoint, directory, audiences=["client", "bare"]),
        settings(named, endpoint, directory, "named"),
        settings(shared_server.issuer("unbound"), endpoint, directory, "unbound", nonce={"check": "off"}, pkce="off"),
        settings(
            shared_server.issuer("allowed"),
            endpoint,
            directory,
            "allowed",
            nonce={"check": "off"},
            pkce="off",
            allow_unbound_codes=True,
        ),
        settings(shared_server.issuer("informed"), endpoint, directory, "informed", user_info=True),
    ]
    with Service(*providers, limits={"provider_timeout": "2s"}, **ON) as service:
        service.wait_until_ready()
        service.issuers = {name: shared_server.issuer(name) for name in ("named", "allowed", "informed")} | {"oidc": issuer}
        yield service


def begun(service, provider: str = "oidc", **members) -> dict:
    return begin(service, provider, redirect_uri=REDIRECT, **members)


def parameters(begun: dict) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun["authorization_url"]).query, strict_parsing=True))


def finish(service, begun: dict, response: dict | None = None, **members) -> client.Response:
    """Sends the response that arrived at the redirect URI, by default with the sign-in's own state and a code."""
    response = {"state": begun["state"], "code": "c1"} | (response or {})
    response = {name: value for name, value in response.items() if value is not None}
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response} | members)


def refused(response: client.Response, code: str, spent: bool) -> dict:
    problem = client.contract.assert_code(response, code)
    assert problem["spent"] is spent, problem
    assert b"an access token" not in response.body and b"a refresh token" not in response.body
    return problem


def test_a_sign_in_in_the_browser_is_finished_once(service, endpoint, issuer):
    started = begun(service, scopes=["email"], login_hint="ada@example.com", context="/basket")
    url = parameters(started)
    assert started["authorization_url"].startswith(AUTHORIZATION + "&")
    assert url | {"code_challenge": "", "nonce": "", "state": ""} == {
        "tenant": "1",
        "response_type": "code",
        "client_id": "client",
        "redirect_uri": REDIRECT,
        "scope": "openid email",
        "state": "",
        "code_challenge": "",
        "code_challenge_method": "S256",
        "nonce": "",
        "login_hint": "ada@example.com",
    }
    assert url["state"] == started["state"] and url["nonce"] == started["nonce"]
    endpoint.play(grant(id_token=issuer.token(nonce=url["nonce"])))
    response = finish(service, started, {"code": "c1", "scope": "email", "iss": issuer.url}, redirect_uri=REDIRECT)
    assert response.status == 200, response
    answer = response.json
    assert answer["identity"]["subject"] == "user-1" and answer["context"] == "/basket"
    assert answer["grant"]["refresh_token"] == "a refresh token" and answer["token"]["nonce_match"] == "plain"
    form = dict(endpoint.last().form)
    verifier = form.pop("code_verifier")
    assert form == {"grant_type": "authorization_code", "code": "c1", "redirect_uri": REDIRECT}
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    assert url["code_challenge"] == challenge and verifier not in json.dumps(started)
    refused(finish(service, started), "sign_in_replayed", True)
    assert endpoint.received() == 1


@pytest.mark.parametrize(
    "response, members, code",
    [
        ({"state": None}, {}, "state_mismatch"),
        ({"state": "k3JvN8pQ2sXw7RzT1bYcUg"}, {}, "state_mismatch"),
        ({"state": "k3JvN8pQ2sXw7RzT1bYcUg", "error": "access_denied"}, {}, "state_mismatch"),
        ({}, {"redirect_uri": REDIRECT + "/"}, "redirect_uri_mismatch"),
        ({"iss": "https://evil.example"}, {}, "response_issuer_mismatch"),
        ({"code": None}, {}, "request_invalid"),
        ({"code": None, "error": "access_denied", "error_description": "bye"}, {}, "sign_in_denied"),
        ({"code": None, "error": "server_error"}, {}, "provider_refused"),
        ({}, {"id_token": "junk"}, "request_invalid"),
    ],
)
def test_a_refusal_before_the_exchange_uses_nothing_up(service, endpoint, issuer, response, members, code):
    started = begun(service, context="/basket")
    problem = refused(finish(service, started, response, **members), code, False)
    assert not endpoint.calls
    assert problem.get("context") == ("/basket" if code in ("sign_in_denied", "provider_refused") else None)
    assert "bye" not in json.dumps(problem)
    assert problem.get("provider_error") == ("server_error" if code == "provider_refused" else None)
    endpoint.play(grant(id_token=issuer.token(nonce=started["nonce"])))
    assert finish(service, started).status == 200


@pytest.mark.parametrize(
    "members, claims, code",
    [
        ({}, {"nonce": None}, "nonce_missing"),
        ({}, {"nonce": "another"}, "nonce_mismatch"),
        ({"max_age": 60}, {}, "claim_missing"),
        ({"subject": "user-2"}, {}, "subject_mismatch"),
    ],
)
def test_a_code_of_another_sign_in_is_refused(service, endpoint, issuer, members, claims, code):
    started = begun(service, **members)
    endpoint.play(grant(id_token=issuer.token(**({"nonce": started["nonce"]} | claims))))
    refused(finish(service, started), code, True)
    refused(finish(service, started), "sign_in_replayed", True)


def test_a_browser_cannot_finish_anothers_sign_in(service, endpoint):
    one, other = begun(service), begun(service)
    refused(finish(service, one, {"state": other["state"]}), "state_mismatch", False)
    assert not endpoint.calls


def test_iss_in_a_response_must_match_if_the_provider_sends_it(service, endpoint):
    named = service.issuers["named"]
    started = begun(service, "named")
    for response in ({}, {"iss": ""}, {"iss": service.issuers["oidc"].url}):
        refused(finish(service, started, response), "response_issuer_mismatch", False)
    endpoint.play(grant(id_token=named.token(nonce=started["nonce"])))
    assert finish(service, started, {"iss": named.url}).status == 200


def test_a_response_without_iss_says_what_to_hand_on(service, endpoint):
    """Backends hand on code and state alone; with prompt=none, providers omit it from errors."""
    for response in ({}, {"code": None, "error": "login_required"}):
        problem = refused(finish(service, begun(service, "named"), response), "response_issuer_mismatch", False)
        assert "send all parameters that the redirect URI received" in problem["detail"]
        assert "begin a new sign-in" not in problem["detail"]
    problem = refused(finish(service, begun(service, "named"), {"iss": "https://evil.example"}), "response_issuer_mismatch", False)
    assert "another provider may have sent it; begin a new sign-in" in problem["detail"]


def test_response_and_token_must_be_of_the_same_tenant(endpoint, shared_server, tmp_path):
    """The provider's issuer contains the tenant, and two tenants are allowed."""
    template, alias = "https://login.example/{tid}/v2.0", "https://old.example/{tid}/"
    tenants = shared_server.issuer("tenants")
    document = {"discovery_url": tenants.url + "/.well-known/openid-configuration", "discovery_issuer": tenants.url}
    of_tenants = {"issuer": template, "issuer_aliases": [alias], "tenants": ["one", "two"]} | document

    def finished(iss: str) -> client.Response:
        """Finishes a sign-in with a token of the first tenant."""
        started = begun(service)
        claims = {"iss": template.replace("{tid}", "one"), "tid": "one", "nonce": started["nonce"]}
        endpoint.play(grant(id_token=tenants.token(**claims)))
        return finish(service, started, {"iss": iss})

    with Service(settings(tenants, endpoint, tmp_path) | of_tenants, **ON) as service:
        service.wait_until_ready()
        for name in (template, alias):
            accepted = finished(name.replace("{tid}", "one"))
            assert accepted.json["identity"]["issuer"] == template.replace("{tid}", "one"), accepted
        refused(finished(template.replace("{tid}", "two")), "response_issuer_mismatch", True)
        assert endpoint.received() == 3
        # A tenant that is not allowed, and no tenant at all.
        for name in (template.replace("{tid}", "three"), template):
            refused(finish(service, begun(service), {"iss": name}), "response_issuer_mismatch", False)
        assert endpoint.received() == 3
        assert reload.metrics(service).value("assay_grants_dropped_total", code="response_issuer_mismatch") == 1


def changed(client: dict, **members) -> dict:
    return {"clients": [client | members]}


# What a reload changes between begin and finish, and whether the sign-in can then be finished.
RELOADS = {
    "more is allowed": (lambda c: {"audiences": ["client", "new"]} | changed(c, redirect_uris=[REDIRECT, REDIRECT + "/2"]), True),
    "another authentication": (lambda c: changed(c, auth="client_secret_post", scopes=["email"]), True),
    "another redirect URI": (lambda c: changed(c, redirect_uris=[REDIRECT + "/"]), False),
    "no redirect URI": (lambda c: changed(c, redirect_uris=[]), False),
    "no clients": (lambda c: {"clients": None, "endpoints": None}, False),
    "another audience": (lambda c: {"audiences": ["new"]} | changed(c, id="new"), False),
    "another name": (lambda c: {"id": "renamed"}, False),
    "another issuer": (lambda c: {"issuer": "https://new.example", "jwks_uri": "http://127.0.0.1:9/keys"}, False),
}  # fmt: skip


@pytest.mark.parametrize("name", RELOADS)
def test_a_reload_may_invalidate_a_sign_in(issuer, endpoint, tmp_path, name):
    change, is_kept = RELOADS[name]
    before = settings(issuer, endpoint, tmp_path)
    after = {member: value for member, value in (before | change(before["clients"][0])).items() if value is not None}
    with Service(before, **ON) as service:
        service.wait_until_ready()
        started = begun(service)
        endpoint.play(grant(id_token=issuer.token(nonce=started["nonce"])))
        reload.change(service, after, **ON)
        response = finish(service, started, redirect_uri=REDIRECT)
        if not is_kept:
            refused(response, "sign_in_invalid", False)
            assert not endpoint.calls
            # Nothing was used up, so the sign-in can be finished with the former settings.
            reload.change(service, before, **ON)
            service.wait_until_ready()
            response = finish(service, started, redirect_uri=REDIRECT)
        assert response.status == 200, response


def test_codes_without_nonce_and_pkce_need_permission(service, endpoint):
    body = {"provider": "unbound", "redirect_uri": REDIRECT}
    client.contract.assert_code(service.api.post("/v1/sign-ins", body), "sign_in_not_supported")
    started = begun(service, "allowed")
    assert started["nonce"] is None and started["nonce_sha256"] is None
    assert not parameters(started).keys() & {"nonce", "code_challenge", "code_challenge_method"}
    endpoint.play(grant(id_token=service.issuers["allowed"].token()))
    assert finish(service, started).status == 200
    assert "code_verifier" not in endpoint.last().form
    assert any("allow_unbound_codes" in line for line in service.log)


@pytest.mark.parametrize(
    "members, code",
    [
        ({"redirect_uri": REDIRECT + "/"}, "redirect_uri_not_configured"),
        ({"redirect_uri": REDIRECT, "audience": "bare"}, "client_not_configured"),
        ({"redirect_uri": REDIRECT, "audience": "elsewhere"}, "audience_not_configured"),
        ({"redirect_uri": REDIRECT, "response_mode": "fragment"}, "request_invalid"),
        ({"redirect_uri": REDIRECT, "scopes": ["two scopes"]}, "request_invalid"),
        ({"redirect_uri": REDIRECT, "scopes": None}, "request_invalid"),
        ({"prompt": "login"}, "request_invalid"),
    ],
)
def test_an_invalid_begin_is_refused(service, members, code):
    client.contract.assert_code(service.api.post("/v1/sign-ins", {"provider": "oidc"} | members), code)


def test_the_authorization_endpoint_comes_from_discovery(issuer, endpoint, shared_server, tmp_path):
    late = shared_server.issuer("late")
    late.discovery.status = 503
    provider = with_client(late, endpoint, tmp_path)
    with Service(provider, **ON) as service:
        response = service.api.post("/v1/sign-ins", {"provider": "oidc", "redirect_uri": REDIRECT})
        client.contract.assert_code(response, "provider_unavailable")
    late.discovery.status = 200
    with Service(provider, **ON) as service:
        service.wait_until_ready()
        assert begun(service)["authorization_url"].startswith(late.url + "/authorize?response_type=code&")


def test_user_info_completes_the_identity(service, endpoint):
    started = begun(service, "informed")
    endpoint.play(grant(id_token=service.issuers["informed"].token(nonce=started["nonce"], locale="de")))
    claims = {"sub": "user-1", "email": "ada@example.com", "email_verified": True, "name": "Ada", "locale": "en"}
    endpoint.play(answered(claims), path=USER_INFO)
    answer = finish(service, started).json
    identity = answer["identity"]
    assert identity["email"] == "ada@example.com" and identity["email_verified"] is True
    assert identity["email_trust"] == "verified"
    assert identity["name"] == "Ada" and identity["name_source"] == "user_info"
    assert identity["locale"] == "de"
    assert endpoint.last(USER_INFO).headers["authorization"] == "Bearer an access token"
    assert reload.metrics(service).value(
        "assay_provider_calls_total", provider="informed", endpoint="user_info", outcome="ok"
    )


@pytest.mark.parametrize("name", [name for name, row in USER_INFO_ROWS.items() if row.code])
def test_a_grant_is_dropped_if_user_info_fails(service, endpoint, name):
    started = begun(service, "informed")
    endpoint.play(grant(id_token=service.issuers["informed"].token(nonce=started["nonce"])))
    endpoint.play(USER_INFO_ROWS[name].act, path=USER_INFO)
    refused(finish(service, started), USER_INFO_ROWS[name].code, True)
    refused(finish(service, started), "sign_in_replayed", True)


@pytest.fixture(scope="module")
def apple():
    with Apple() as apple:
        yield apple


@pytest.fixture(scope="module")
def apple_service(apple, tmp_path_factory):
    team = apple.team("com.example.web", redirect_uris=[REDIRECT])
    key = tmp_path_factory.mktemp("apple") / "AuthKey.p8"
    key.write_bytes(team.pem)
    web = {"id": "com.example.web", "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(key)}
    web |= {"redirect_uris": [REDIRECT], "scopes": ["name", "email"]}
    with Service(apple.settings(audiences=["com.example.web"], clients=[web]), **ON) as service:
        service.wait_until_ready()
        yield service


def test_apples_posted_response_has_the_name(apple, apple_service):
    started = begun(apple_service, "apple")
    url = parameters(started)
    assert url["scope"] == "name email" and url["response_mode"] == "form_post"
    assert url["nonce"] == started["nonce_sha256"]
    came_to, response = apple.web_sign_in(started["authorization_url"], apple.user("Ada"))
    answered = finish(apple_service, started, response, redirect_uri=came_to)
    assert answered.status == 200, answered
    identity = answered.json["identity"]
    assert identity["given_name"] == "Ada" and identity["name_source"] == "client"
    assert not apple.secret_faults


def test_apples_cancellation_is_a_denial(apple, apple_service):
    started = begun(apple_service, "apple")
    _, response = apple.web_sign_in(started["authorization_url"], None)
    refused(finish(apple_service, started, response | {"code": None}), "sign_in_denied", False)


def test_apple_sends_a_query_without_scopes(apple_service):
    url = parameters(begun(apple_service, "apple", scopes=[]))
    assert "scope" not in url and "response_mode" not in url
    body = {"provider": "apple", "redirect_uri": REDIRECT, "response_mode": "query"}
    client.contract.assert_code(apple_service.api.post("/v1/sign-ins", body), "request_invalid")


def test_secrets_of_a_sign_in_are_never_logged(service, endpoint, issuer):
    started = begun(service, context="a context to look for", login_hint="a-hint-to-look-for")
    refused(finish(service, started, {"error": "access_denied"}), "sign_in_denied", False)
    refused(finish(service, started, {"state": started["nonce"]}), "state_mismatch", False)
    endpoint.play(grant(access_token="an-access-token-to-look-for", id_token=issuer.token(nonce=started["nonce"])))
    assert finish(service, started, {"code": "a-code-to-look-for"}).status == 200
    secrets = [started["sign_in"], started["nonce"], started["state"], "a-code-to-look-for", "-to-look-for"]
    secrets += [endpoint.last().form["code_verifier"], "a refresh token", "a context to look for"]
    service.wait_for_entry(route="/v1/sign-ins/finish")
    service.hides(*secrets)
