"""Access tokens over HTTP: an issuer with both kinds of token, every code of a refusal, rotated and unavailable keys."""

import base64
import hashlib
import ssl
import urllib.parse

import pytest

from harness.certificates import certificate
from harness.client import contract
from harness.reload import change
from harness.service import Service, provider
from harness.tokens import assemble, b64url, ec_key, jws, now, parts, rsa_key

PATH = "/v1/access-tokens/verify"
API = "https://api.example/"
TENANT = "11111111-2222-3333-4444-55555555aaaa"


def access(issuer, id: str = "api", **settings) -> dict:
    return provider(issuer, id, **({"tokens": "access", "audiences": [API]} | settings))


def access_token(issuer, header=None, key=None, **claims) -> str:
    usual = {"aud": API, "client_id": "app", "jti": "a1", "scope": "openid orders:read"}
    return jws(key or issuer.keys[0], issuer.claims(**(usual | claims)), **({"typ": "at+jwt"} | (header or {})))


def verify(service, token=None, **members):
    return service.api.post(PATH, ({} if token is None else {"token": token}) | members)


def accepted(service, token, **members) -> dict:
    response = verify(service, token, **members)
    assert response.status == 200, response
    return response.json


def refused(response, code: str, claim: str | None = None) -> dict:
    problem = contract.assert_code(response, code)
    assert problem.get("claim") == claim
    return problem


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("both-kinds", rsa_key("op"), rsa_key("weak", bits=1024))


@pytest.fixture(scope="module")
def keycloak(shared_server):
    return shared_server.issuer("realm", rsa_key("realm"))


@pytest.fixture(scope="module")
def cognito(shared_server):
    return shared_server.issuer("pool", rsa_key("pool"))


@pytest.fixture(scope="module")
def down(shared_server):
    issuer = shared_server.issuer("access-down", rsa_key("down"))
    issuer.jwks.status = 500
    return issuer


@pytest.fixture(scope="module")
def service(issuer, keycloak, cognito, down):
    providers = [
        provider(issuer),
        access(issuer, audiences=[API, "https://second.example/"], max_token_age="1h"),
        access(keycloak, "realm", preset="keycloak", authorization={"groups": "/resource_access/shop/roles"}),
        access(cognito, "pool", preset="cognito", pool="eu-west-1_AbCdEfGhI", jwks_uri=cognito.jwks_uri,
               audiences="none", authorized_parties=["app"]),
        access(down, "down", optional=True),
    ]  # fmt: skip
    with Service(*providers) as service:
        service.wait_until_ready()
        yield service


def test_the_answer_has_identity_and_authorization(service, issuer):
    token = access_token(issuer, roles=["clerk"], groups=["staff"], entitlements=[{"value": "print"}], azp="x")
    answer = accepted(service, token, scopes=["orders:read"], include_claims=True)
    assert answer["identity"] | {"provider": "api", "issuer": issuer.url, "subject": "user-1"} == answer["identity"]
    assert answer["authorization"] == {
        "client_id": "app", "scopes": ["openid", "orders:read"], "roles": ["clerk"], "groups": ["staff"],
        "entitlements": ["print"],
        "binding": None,
    }  # fmt: skip
    assert answer["token"]["audience"] == [API]
    assert (answer["token"]["authorized_party"], answer["token"]["nonce_match"]) == ("x", None)
    assert answer["keys"]["source"] == "network"
    assert answer["claims"]["client_id"] == "app"
    assert "claims" not in accepted(service, token)


def test_each_endpoint_uses_only_provider_entries_of_its_kind(service, issuer, keycloak):
    token = access_token(issuer)
    accepted(service, token, provider="api")
    refused(verify(service, token, provider="oidc"), "provider_unknown")
    service.reject(issuer.token(), "provider_unknown", provider="api")
    # No entry of this issuer verifies ID Tokens.
    service.reject(keycloak.token(typ="ID"), "provider_unknown")
    assert service.verify(issuer.token()).status == 200


def test_id_tokens_and_access_tokens_are_not_interchangeable(service, issuer, keycloak):
    for claims in ({}, {"aud": API, "client_id": "app", "jti": "1"}):
        problem = refused(verify(service, issuer.token(**claims)), "header_unsupported")
        assert "not the ID Token" in problem["detail"]
    id_token = keycloak.token(aud=API, azp="shop", typ="ID")
    refused(verify(service, id_token), "claim_invalid", "typ")
    refused(verify(service, keycloak.token(aud=API, azp="shop", typ="Bearer", at_hash="x")), "claim_invalid", "at_hash")
    service.reject(access_token(issuer), "header_unsupported")
    problem = service.reject(access_token(issuer, {"typ": "JWT"}, aud="client"), "claim_invalid")
    assert problem["claim"] == "scope"


def test_a_token_without_a_declared_type_is_recognized_by_its_claims(service, keycloak):
    claims = {"aud": [API, "account"], "azp": "shop", "typ": "Bearer", "nonce": "old", "scope": "orders"}
    token = keycloak.token(**claims, realm_access={"roles": ["clerk"]}, resource_access={"shop": {"roles": ["a", "b"]}})
    authorization = accepted(service, token)["authorization"]
    assert authorization == {"client_id": "shop", "scopes": ["orders"], "roles": ["clerk"], "groups": ["a", "b"], "entitlements": [], "binding": None}


def test_a_token_without_an_audience_is_matched_by_its_client(service, cognito):
    token = cognito.token(aud=None, client_id="app", token_use="access", scope="orders/read")
    assert accepted(service, token, scopes=["orders/read"])["token"]["audience"] == []
    refused(verify(service, cognito.token(aud=None, client_id="x", token_use="access")), "authorized_party_mismatch")
    refused(verify(service, cognito.token(aud="app", client_id="app", token_use="access")), "audience_mismatch")
    refused(verify(service, cognito.token(aud=None, client_id="app", token_use="id")), "claim_invalid", "token_use")


def test_a_machines_subject_may_be_its_client_id(service, issuer):
    answer = accepted(service, access_token(issuer, sub="app"))
    assert answer["identity"]["subject"] == answer["authorization"]["client_id"] == "app"


# By code: changes to a valid token, and the claim that the problem names.
REFUSALS = {
    "header_unsupported": ({"header": {"typ": "logout+jwt"}}, None),
    "key_not_found": ({"header": {"kid": "another"}}, None),
    "key_unsuitable": ({"header": {"kid": "weak"}}, None),
    "issuer_mismatch": ({"iss": "https://elsewhere.example"}, None),
    "audience_mismatch": ({"aud": ["another"]}, None),
    "token_expired": ({"exp": 1}, None),
    "token_not_yet_valid": ({"iat": 1 << 40}, None),
    "token_too_old": ({"iat": now() - 4000}, None),
    "claim_missing": ({"client_id": None}, "client_id"),
    "claim_invalid": ({"scope": 5}, "scope"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_each_refusal_has_its_code(service, issuer, code):
    claims, claim = REFUSALS[code]
    refused(verify(service, access_token(issuer, **claims), provider="api"), code, claim)


def test_malformed_or_unsigned_tokens_are_refused(service, issuer):
    good = access_token(issuer)
    header, payload, _ = parts(good)
    problem = refused(verify(service, "2YotnFZFEjr1zCsicMWpAA", provider="api"), "token_malformed")
    assert "opaque" in problem["detail"]
    refused(verify(service, good + "." + good), "token_malformed")
    refused(verify(service, assemble({"alg": "none", "typ": "at+jwt"}, issuer.claims(), b"")), "algorithm_not_allowed")
    refused(verify(service, f"{header}.{payload}.{b64url(bytes(256))}"), "signature_invalid")


def test_members_of_the_request_add_requirements(service, issuer):
    token = access_token(issuer, auth_time=now() - 100)
    refused(verify(service, token, scopes=["orders:read", "orders:write"]), "scope_missing")
    accepted(service, token, scopes=[])
    accepted(service, token, subject="user-1", issuer=issuer.url)
    refused(verify(service, token, subject="user-2"), "subject_mismatch")
    refused(verify(service, token, subject="user-2", scopes=["x"]), "subject_mismatch")
    refused(verify(service, token, authenticated_after=now() - 99), "session_revoked")
    accepted(service, token, authenticated_after=now() - 101)
    accepted(service, token, audience=API)
    refused(verify(service, token, audience="https://second.example/"), "audience_mismatch")
    refused(verify(service, token, audience="https://third.example/"), "audience_not_configured")
    accepted(service, token, audience=None, provider=None, include_claims=None)


def test_a_token_that_is_bound_to_a_key_is_refused_unless_the_settings_accept_it(server):
    issuer = server.issuer("binding", rsa_key("bound"))
    with Service(access(issuer)) as service:
        service.wait_until_ready()
        bound = access_token(issuer, cnf={"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"})
        for token in (bound, access_token(issuer, cnf={})):
            problem = refused(verify(service, token), "binding_required")
            assert "unchecked_bindings" in problem["detail"]
        refused(verify(service, access_token(issuer, cnf="x")), "claim_invalid", "cnf")
        assert 'assay_access_tokens_total{provider="api",code="binding_required"} 2' in service.admin.get("/metrics").text
        change(service, access(issuer, unchecked_bindings=True))
        assert accepted(service, bound)["authorization"]["binding"] == {"method": "unchecked", "thumbprint": None}
        refused(verify(service, access_token(issuer, cnf="x")), "claim_invalid", "cnf")
        service.stop()
    # The first is logged, and the setting that accepts such tokens.
    lines = service.entries(message="access token bound to a key refused")
    assert [(line["level"], line["provider"], line["setting"]) for line in lines] == [("warning", "api", "unchecked_bindings")]
    assert any("unchecked_bindings" in line["setting"] for line in service.entries(message="configuration warning"))


def test_a_certificate_proves_the_key_of_a_token_that_is_bound_to_it(server):
    issuer, demanding = server.issuer("certificates", rsa_key("bound")), server.issuer("demanding", rsa_key("demanding"))
    own, other = certificate(ec_key("own")), certificate(ec_key("other"))
    der = ssl.PEM_cert_to_DER_cert(own)
    thumbprint = b64url(hashlib.sha256(der).digest())
    with Service(access(issuer), access(demanding, "demanding", binding="certificate")) as service:
        service.wait_until_ready()
        bound = access_token(issuer, cnf={"x5t#S256": thumbprint})
        for form in (own, urllib.parse.quote(own, safe=""), base64.b64encode(der).decode(), thumbprint):
            answer = accepted(service, bound, certificate=form)
            assert answer["authorization"]["binding"] == {"method": "certificate", "thumbprint": thumbprint}
        for missing in ({}, {"certificate": None}, {"certificate": ""}):
            refused(verify(service, bound, **missing), "binding_required")
        refused(verify(service, bound, certificate=other), "binding_mismatch")
        refused(verify(service, bound, certificate=other, scopes=["orders:write"]), "binding_mismatch")
        refused(verify(service, bound, certificate=own, scopes=["orders:write"]), "scope_missing")
        for wrong in ("x", own + other, 5, thumbprint[:-1]):
            assert "certificate" in refused(verify(service, bound, certificate=wrong), "request_invalid")["detail"]
        assert accepted(service, access_token(issuer), certificate=own)["authorization"]["binding"] is None
        explained = service.admin.post("/v1/explain", {"token": bound, "certificate": other}).json
        assert [check["code"] for check in explained["checks"] if check["name"] == "binding"] == ["binding_mismatch"]
        refused(verify(service, access_token(demanding), certificate=own), "binding_missing")
        accepted(service, access_token(demanding, cnf={"x5t#S256": thumbprint}), certificate=own)


@pytest.mark.parametrize("overage", [{"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "x"}}}, {"hasgroups": True}])
def test_groups_that_are_too_many_to_list_are_not_the_same_as_none(server, overage):
    issuer, staff = server.issuer("overage", rsa_key("overage")), server.issuer("staff", rsa_key("staff"))
    with Service(access(issuer), access(staff, "staff", claim_values={"groups": ["staff"]})) as service:
        service.wait_until_ready()
        assert accepted(service, access_token(issuer))["authorization"]["groups"] == []
        assert accepted(service, access_token(issuer, **overage))["authorization"]["groups"] is None
        accepted(service, access_token(staff, groups=["others", "staff"]))
        refused(verify(service, access_token(staff, groups=["others"])), "claim_invalid", "groups")
        refused(verify(service, access_token(staff)), "claim_missing", "groups")
        refused(verify(service, access_token(staff, **overage)), "groups_overage")


def test_the_algorithms_of_id_tokens_say_nothing_of_access_tokens(server):
    elliptic = ec_key("ec")
    issuer = server.issuer("algorithms", rsa_key("rsa"), elliptic)
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=["RS256"])
    with Service(provider(issuer), access(issuer)) as service:
        service.wait_until_ready()
        accepted(service, access_token(issuer, key=elliptic))
        service.reject(jws(elliptic, issuer.claims()), "algorithm_not_allowed")


def test_the_subject_of_a_workload_may_be_longer_than_a_users(server):
    cluster = server.issuer("cluster", rsa_key("cluster"))
    settings = access(cluster, "pods", preset="kubernetes", claim_values="any", audiences=[API])
    long = "system:serviceaccount:" + "n" * 63 + ":" + "s" * 253
    with Service(settings) as service:
        service.wait_until_ready()
        answer = accepted(service, cluster.token(aud=API, sub=long), subject=long)
        assert answer["identity"]["subject"] == long
        refused(verify(service, cluster.token(aud=API, sub="s" * 513)), "claim_invalid", "sub")


def test_an_invalid_request_is_refused(service, issuer):
    """`AccessTokenRequestTests` tests every member."""
    refused(verify(service, access_token(issuer), scopes=None), "request_invalid")
    refused(service.api.post(PATH, b'{"token": "a", "token": "b"}'), "request_invalid")
    refused(service.api.post(PATH, b"{}", {"Content-Type": "text/plain"}), "content_type_unsupported")
    refused(service.api.post(PATH, b" " * 70_000), "request_too_large")
    assert service.api.get(PATH).code == "method_not_allowed"


def test_an_unknown_provider_or_issuer_is_refused(service, issuer):
    refused(verify(service, access_token(issuer), provider="nobody"), "provider_unknown")
    refused(verify(service, access_token(issuer, iss="https://elsewhere.example")), "provider_unknown")


def test_unavailable_keys_are_retryable(service, down):
    response = verify(service, access_token(down))
    refused(response, "keys_unavailable")
    assert int(response.header("Retry-After")) >= 1
    # No key could make this token valid.
    refused(verify(service, down.token()), "header_unsupported")


def test_only_a_plausible_token_causes_a_fetch_after_a_rotation(server):
    issuer = server.issuer("rotating", rsa_key("old"))
    with Service(access(issuer)) as service:
        service.wait_until_ready()
        accepted(service, access_token(issuer))
        fetched = issuer.jwks.count
        issuer.rotate(rsa_key("new"), rsa_key("old"))
        refused(verify(service, access_token(issuer, client_id=None), provider="api"), "key_not_found")
        assert issuer.jwks.count == fetched
        accepted(service, access_token(issuer))
        assert issuer.jwks.count == fetched + 1


def test_the_endpoint_exists_once_an_entry_verifies_access_tokens(server):
    issuer = server.issuer("turning-on", rsa_key("on"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        assert verify(service, access_token(issuer)).code == "not_found"
        assert "access_tokens" not in service.admin.get("/v1/verdicts").json
        assert "assay_access_tokens_total" not in service.admin.get("/metrics").text
        change(service, provider(issuer), access(issuer))
        accepted(service, access_token(issuer))
        refused(verify(service, access_token(issuer), scopes=["x"]), "scope_missing")
        counts = {(each["provider"], each["code"]): each["count"] for each in service.admin.get("/v1/verdicts").json["access_tokens"]}
        assert counts == {("api", "ok"): 1, ("api", "scope_missing"): 1}
        assert 'assay_access_tokens_total{provider="api",code="ok"} 1' in service.admin.get("/metrics").text
        # ID Tokens are verified as before.
        assert service.verify(issuer.token()).status == 200
        assert service.admin.get("/v1/verdicts").json["verdicts"] == [{"provider": "oidc", "code": "ok", "count": 1}]


def test_an_entry_for_access_tokens_does_not_support_sign_ins(server):
    issuer = server.issuer("no-sign-in", rsa_key("none"))
    with Service(access(issuer), sign_ins={}) as service:
        service.wait_until_ready()
        for members in ({}, {"redirect_uri": "https://example.com/callback"}):
            assert service.api.post("/v1/sign-ins", {"provider": "api"} | members).code == "sign_in_not_supported"


def test_nothing_of_a_token_is_logged(server):
    issuer = server.issuer("logged", rsa_key("logged"))
    with Service(access(issuer), log={"level": "debug", "requests": True}) as service:
        service.wait_until_ready()
        token = access_token(issuer, sub="somebody", scope="secret:scope")
        accepted(service, token)
        refused(verify(service, token, scopes=["other"]), "scope_missing")
        service.stop()
    assert [entry.get("code") for entry in service.entries(route=PATH)] == [None, "scope_missing"]
    for secret in (token, token.split(".")[2], "somebody", "secret:scope"):
        assert not any(secret in line for line in service.log)


# Tokens that follow no specification


@pytest.fixture(scope="module")
def loose(shared_server):
    """Its tokens have no type, and name their client in another claim, or in none."""
    return shared_server.issuer("loose", rsa_key("loose"))


def test_settings_describe_tokens_that_follow_no_specification(loose):
    names = {"token_types": ["at+jwt", "JWT", ""], "client_claims": ["cid", "azp"], "access_token_claim": "scope"}
    with Service(provider(loose), access(loose, **names)) as service:
        service.wait_until_ready()
        for header in ({"typ": "JWT"}, {"typ": None}, {"typ": "at+jwt"}):
            header = {name: value for name, value in header.items() if value is not None}
            token = jws(loose.keys[0], loose.claims(aud=API, scope="a b", azp="app"), **header)
            answer = accepted(service, token)
            assert (answer["authorization"]["client_id"], answer["authorization"]["scopes"]) == ("app", ["a", "b"])
        # An ID Token for this audience lacks the claim.
        id_token = jws(loose.keys[0], loose.claims(aud=API, azp="app"), typ="JWT")
        refused(verify(service, id_token), "claim_missing", "scope")
        explained = service.admin.post("/v1/explain", {"token": id_token}).json
        assert "access_token_claim" in str(explained["checks"])
        accepted(service, jws(loose.keys[0], loose.claims(aud=API, azp="app"), typ="at+jwt"))
        refused(verify(service, jws(loose.keys[0], loose.claims(aud=API, scope="a"), typ="JWT")), "claim_missing", "cid")
        refused(verify(service, jws(loose.keys[0], loose.claims(aud=API, scope="a", azp="app"), typ="x")), "header_unsupported")


def test_a_token_may_name_no_client(loose):
    with Service(access(loose, client_claims=[])) as service:
        service.wait_until_ready()
        answer = accepted(service, jws(loose.keys[0], loose.claims(aud=API, jti="1", client_id="app"), typ="at+jwt"))
        assert answer["authorization"]["client_id"] is None


def test_authkit_s_tokens_need_no_audience_but_the_client_s_keys(loose, shared_server):
    other = shared_server.issuer("other-customer", rsa_key("other-customer"))
    entry = access(loose, "workos", preset="workos-authkit", client="client_01", audiences=None, jwks_uri=loose.jwks_uri)
    del entry["issuer"]
    with Service(entry) as service:
        service.wait_until_ready()
        for issuer in ("https://api.workos.com/user_management/client_01", "https://api.workos.com"):
            claims = {"iss": issuer, "aud": None, "sid": "session_1", "roles": ["member"], "permissions": ["posts:read"]}
            answer = accepted(service, jws(loose.keys[0], loose.claims(**claims), typ="JWT"))
            assert answer["authorization"]["entitlements"] == ["posts:read"]
            refused(verify(service, jws(other.keys[0], other.claims(**claims), typ="JWT")), "key_not_found")
            refused(verify(service, jws(loose.keys[0], loose.claims(**(claims | {"sid": None})))), "claim_missing", "sid")
            refused(verify(service, jws(loose.keys[0], loose.claims(**(claims | {"aud": "x"})))), "audience_mismatch")
        refused(verify(service, jws(loose.keys[0], loose.claims(aud=None, sid="1"))), "provider_unknown")


def test_a_long_token_passes_where_the_settings_allow_it(loose):
    def token(length: int) -> str:
        """A token of about this length."""
        return access_token(loose, groups=["x" * (length * 3 // 4)])

    with Service(access(loose), limits={"max_token": "48KiB"}, forward_auth={"policies": [{"id": "api", "providers": ["api"], "headers": {"X-Who": "subject"}}]}) as service:
        service.wait_until_ready()
        long = token(46 * 1024)
        accepted(service, long)
        assert service.api.get("/v1/forward-auth/api", {"Authorization": f"Bearer {long}"}).status == 200
        assert "limits.max_token" in refused(verify(service, token(49 * 1024)), "token_malformed")["detail"]
    with Service(access(loose)) as service:
        service.wait_until_ready()
        accepted(service, token(15 * 1024))
        refused(verify(service, token(17 * 1024)), "token_malformed")


# Metadata of authorization servers (RFC 8414)


def test_keys_are_found_by_the_metadata_of_an_authorization_server(server):
    """An issuer with a path, whose OpenID document does not exist."""
    issuer = server.issuer("oauth/tenant", rsa_key("oauth"))
    path = "/.well-known/oauth-authorization-server/oauth/tenant"
    metadata = server.document(path, {"issuer": issuer.url, "jwks_uri": issuer.jwks_uri})
    for status in (400, 401, 403, 404, 410):
        issuer.discovery.status = status
        with Service(access(issuer)) as service:
            service.wait_until_ready()
            accepted(service, access_token(issuer))
    asked = issuer.discovery.count
    with Service(access(issuer, discovery="oauth")) as service:
        service.wait_until_ready()
        accepted(service, access_token(issuer))
    assert issuer.discovery.count == asked
    # So are those of an issuer on a list.
    issuer.discovery.status = 404
    listed = {name: value for name, value in access(issuer).items() if name != "issuer"} | {"issuers": [issuer.url]}
    for members in ({}, {"discovery": "oauth"}):
        with Service(listed | members) as service:
            accepted(service, access_token(issuer))
    # The last place is that of OpenID's document by RFC 8414.
    metadata.status = 404
    server.document("/.well-known/openid-configuration/oauth/tenant", {"issuer": issuer.url, "jwks_uri": issuer.jwks_uri})
    issuer.discovery.status = 404
    with Service(access(issuer)) as service:
        service.wait_until_ready()
        accepted(service, access_token(issuer))


def test_other_documents_are_tried_only_where_the_first_is_refused(server):
    issuer = server.issuer("oauth-not", rsa_key("oauth-not"))
    metadata = server.document("/.well-known/oauth-authorization-server/oauth-not", {"issuer": issuer.url, "jwks_uri": issuer.jwks_uri})
    for status in (429, 500, 503):
        issuer.discovery.status = status
        before = issuer.discovery.count
        with Service(access(issuer, optional=True)) as service:
            issuer.discovery.wait_for(before + 1)
            service.wait_until(lambda: service.provider_state("api")["last_error"])
            assert f"status {status}" in service.provider_state("api")["last_error"]["message"]
    assert metadata.count == 0
    # ID Tokens come from OpenID Providers.
    issuer.discovery.status = 404
    with Service(provider(issuer, optional=True)) as service:
        service.wait_until(lambda: service.provider_state("oidc")["last_error"])
    assert metadata.count == 0
    # The issuer must be the configured one there, too.
    metadata.body = {"issuer": issuer.url + "/", "jwks_uri": issuer.jwks_uri}
    with Service(access(issuer, optional=True)) as service:
        service.wait_until(lambda: service.provider_state("api")["last_error"])
        assert "issuer is not the configured one" in service.provider_state("api")["last_error"]["message"]
    assert metadata.count >= 1
