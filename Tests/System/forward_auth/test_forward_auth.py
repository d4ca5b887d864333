"""Decisions for gateways: every status, header fields, sources of tokens, and a policy's requirements."""

import urllib.parse

import pytest

from harness.client import request_bytes
from harness.reload import change
from harness.service import Service, provider
from harness.tokens import jws, now, rsa_key, sha256_hex
from harness.waiting import poll

PATH = "/v1/forward-auth/"
API = "https://api.example/"
KEY = "the-gateways-own-key"
INVALID = 'Bearer error="invalid_token"'
UNREADABLE = 'Bearer error="invalid_request"'
FIELDS = ["X-Auth-Subject", "X-Auth-Issuer", "X-Auth-Email", "X-Auth-Email-Trust", "X-Auth-Scopes"]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("gateway-api", rsa_key("gateway"))


@pytest.fixture(scope="module")
def users(shared_server):
    return shared_server.issuer("gateway-users", rsa_key("users"))


@pytest.fixture(scope="module")
def down(shared_server):
    issuer = shared_server.issuer("gateway-down", rsa_key("down"))
    issuer.jwks.status = 500
    return issuer


def providers(issuer, users, down) -> list[dict]:
    access = {"tokens": "access", "audiences": [API]}
    return [provider(issuer, "api", **access), provider(users, "users"), provider(down, "down", optional=True, **access)]


POLICIES = [
    {"id": "api", "providers": ["api"]},
    {"id": "both", "providers": ["api", "users"]},
    {"id": "session", "providers": ["users"], "token": [{"header": "Authorization", "scheme": "Bearer"}, {"cookie": "session"}]},
    {"id": "assertion", "providers": ["users"], "token": [{"header": "X-Assertion"}]},
    {"id": "down", "providers": ["down"]},
    {"id": "scopes", "providers": ["api"], "require": {"scopes": ["orders:read", "orders:write"]}},
    {"id": "claims", "providers": ["users"], "require": {"claim_values": {"hd": ["example.com", "example.org"], "staff": True}}},
    {"id": "domain", "providers": ["users"], "require": {"email_domains": ["example.com"]}},
    {"id": "trusted", "providers": ["users"], "require": {"email_trust": "authoritative"}},
    {"id": "fresh", "providers": ["users"], "require": {"max_age": "1h"}},
    {"id": "groups", "providers": ["api"], "require": {"claim_values": {"groups": ["staff"]}}},
    {"id": "strip", "providers": ["api"], "strip_token": True},
    {
        "id": "all",
        "providers": ["api"],
        "headers": {
            "X-Who": "subject", "X-Who-Provider": "provider", "X-Verified": "email_verified", "X-Relay": "is_private_email", "X-Name": "name",
            "X-Login": "preferred_username", "X-Tenant": "tenant", "X-Domain": "hosted_domain", "X-Client": "client_id", "X-Roles": "roles",
            "X-Groups": "groups", "X-Entitlements": "entitlements", "X-Session": "session_id", "X-Token": "token_id", "X-Since": "auth_time",
            "X-Until": "expires_at",
        },
    },
]  # fmt: skip


@pytest.fixture(scope="module")
def service(issuer, users, down):
    with Service(*providers(issuer, users, down), forward_auth={"policies": POLICIES}) as service:
        service.wait_until_ready()
        yield service


def access_token(issuer, **claims) -> str:
    usual = {"aud": API, "client_id": "app", "jti": "a1", "scope": "orders:read"}
    return jws(issuer.keys[0], issuer.claims(**(usual | claims)), typ="at+jwt")


def bearer(token: str) -> dict:
    return {"Authorization": f"Bearer {token}"}


def ask(service, policy: str, headers: dict | None = None, method: str = "GET"):
    return service.api.request(method, PATH + policy, None, headers)


def ask_raw(service, lines: list[str], path: str = PATH + "api", method: str = "GET"):
    """Sends a request with exactly these header lines."""
    with service.api.connect() as connection:
        connection.send("\r\n".join([f"{method} {path} HTTP/1.1", "Host: h", *lines, "", ""]).encode("latin-1"))
        return connection.response(method, path)


def denied(response, status: int, challenge: str | None = None) -> None:
    assert (response.status, response.header("WWW-Authenticate")) == (status, challenge), response.headers


def allowed(response) -> dict:
    assert response.status == 200, (response.status, response.headers)
    return {name: value for name, value in response.headers if name.lower().startswith("x-") and name != "X-Request-Id"}


def decisions(service, policy: str) -> dict:
    counts = service.admin.get("/v1/verdicts").json["forward_auth"]
    return {each["code"]: each["count"] for each in counts if each["policy"] == policy}


def test_the_headers_identify_the_user(service, issuer):
    response = ask(service, "api", bearer(access_token(issuer, email="kim@example.com", email_verified=True)))
    assert allowed(response) == {
        "X-Auth-Subject": "user-1", "X-Auth-Issuer": issuer.url, "X-Auth-Email": "kim@example.com", "X-Auth-Email-Trust": "verified",
        "X-Auth-Scopes": "orders:read",
    }  # fmt: skip


def test_every_header_is_sent_once_even_if_empty(service, issuer):
    response = ask(service, "api", bearer(access_token(issuer, scope=None, email=None)))
    assert [response.all(name) for name in FIELDS] == [["user-1"], [issuer.url], [""], [""], [""]]


def test_every_configurable_value_is_sent(service, issuer):
    time = now()
    claims = {
        "email": "kim@example.com", "email_verified": False, "name": "Kim Müller", "preferred_username": "kim%20", "roles": ["a b", "c", ""],
        "groups": ["g"], "entitlements": [{"value": "print"}], "sid": "s", "auth_time": time - 5, "exp": time + 60,
    }  # fmt: skip
    assert allowed(ask(service, "all", bearer(access_token(issuer, **claims)))) == {
        "X-Who": "user-1", "X-Who-Provider": "api", "X-Verified": "false", "X-Relay": "", "X-Name": "Kim%20M%C3%BCller",
        "X-Login": "kim%2520", "X-Tenant": "", "X-Domain": "", "X-Client": "app", "X-Roles": "a%20b c", "X-Groups": "g",
        "X-Entitlements": "print", "X-Session": "s", "X-Token": "a1", "X-Since": str(time - 5), "X-Until": str(time + 60),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["a\r\nX-Auth-Email: evil", "tab\tand\x7fdelete", "\u2028 \u00a0", "x" * 255])
def test_claims_cannot_inject_header_lines(service, issuer, name):
    headers = allowed(ask(service, "all", bearer(access_token(issuer, name=name))))
    assert len(headers) == 16
    assert urllib.parse.unquote(headers["X-Name"]) == name
    assert all(0x21 <= ord(character) <= 0x7E for character in headers["X-Name"])


def test_values_that_are_too_long_are_refused(service, issuer):
    fits = 4096 - len("user-1") - len(issuer.url)
    assert ask(service, "api", bearer(access_token(issuer, scope="s" * fits))).status == 200
    denied(ask(service, "api", bearer(access_token(issuer, scope="s" * (fits + 1)))), 403)


def test_a_policy_may_accept_both_kinds_of_token(service, issuer, users):
    assert allowed(ask(service, "both", bearer(access_token(issuer))))["X-Auth-Issuer"] == issuer.url
    headers = allowed(ask(service, "both", bearer(users.token(nonce="of the sign-in"))))
    assert (headers["X-Auth-Issuer"], headers["X-Auth-Scopes"]) == (users.url, "")
    # Other endpoints require the nonce.
    service.reject(users.token(nonce="of the sign-in"), "nonce_required")


def test_a_policy_accepts_only_its_own_providers(service, issuer, users):
    denied(ask(service, "api", bearer(users.token())), 401, INVALID)
    denied(ask(service, "session", bearer(access_token(issuer))), 401, INVALID)
    # An ID Token with a valid signature and the right audience.
    denied(ask(service, "api", bearer(issuer.token(aud=API, client_id="app", jti="1"))), 401, INVALID)


@pytest.mark.parametrize("token", ["x", "a.b.c", "2YotnFZFEjr1zCsicMWpAA", "a" * 17_000])
def test_a_malformed_token_is_denied(service, token):
    with service.api.connect() as connection:
        connection.send(request_bytes("GET", PATH + "api", None, bearer(token)))
        response = connection.response("GET", PATH + "api")
    if len(token) < 16_000:
        denied(response, 401, INVALID)
    else:
        assert response.code == "headers_too_large"


def test_an_invalid_token_is_denied(service, issuer):
    denied(ask(service, "api", bearer(access_token(issuer, exp=1))), 401, INVALID)
    denied(ask(service, "api", bearer(access_token(issuer, aud="https://other.example/"))), 401, INVALID)
    header, payload, _ = access_token(issuer).split(".")
    denied(ask(service, "api", bearer(f"{header}.{payload}.{'A' * 342}")), 401, INVALID)


def test_an_access_token_does_not_pass_for_an_id_token(service, users):
    """Any API that receives an access token could replay it. Without a nonce, only the claims distinguish the kinds."""
    access = {"scope": "openid email", "client_id": "client"}
    denied(ask(service, "session", bearer(users.token(**access))), 401, INVALID)
    assert ask(service, "session", bearer(users.token(**access, auth_time=now()))).status == 200
    assert ask(service, "session", bearer(users.token(nonce="n"))).status == 200


@pytest.mark.parametrize("lines", [[], ["Authorization: Basic dXNlcjpwYXNz"], ["Authorization: Bearerx"], ["Cookie: session=x"]])
def test_a_request_without_a_token_is_challenged(service, lines):
    denied(ask_raw(service, lines), 401, "Bearer")


@pytest.mark.parametrize(
    "lines",
    [
        ["Authorization: Bearer GOOD", "authorization: Bearer GOOD"],
        ["Authorization: Basic x", "Authorization: Bearer GOOD"],
        ["Authorization: Bearer"],
        ["Authorization: Bearer\tGOOD"],
        ["Authorization: Bearer  "],
        ["Authorization: Bearer GOOD, Bearer GOOD"],
        ["Authorization: Bearer GOOD GOOD"],
        ["Authorization: Bearer caf\xe9"],
        ['Authorization: Bearer "GOOD"'],
    ],
)
def test_duplicate_or_unreadable_tokens_are_denied(service, issuer, lines):
    token = access_token(issuer)
    denied(ask_raw(service, [line.replace("GOOD", token) for line in lines]), 401, UNREADABLE)


def test_header_and_scheme_are_case_insensitive(service, issuer):
    assert ask_raw(service, [f"AUTHORIZATION: bEARER   {access_token(issuer)}"]).status == 200


def test_a_policy_may_read_a_header_without_a_scheme(service, users):
    assert ask(service, "assertion", {"X-Assertion": users.token()}).status == 200
    denied(ask(service, "assertion", {"X-Assertion": f"Bearer {users.token()}"}), 401, UNREADABLE)
    # Duplicates of headers that the policy does not read have no effect.
    token = users.token()
    lines = [f"X-Assertion: {token}", "Authorization: a", "Authorization: b", "Content-Type: a", "Content-Type: b"]
    assert ask_raw(service, lines, PATH + "assertion").status == 200
    denied(ask_raw(service, [f"X-Assertion: {token}", f"x-assertion: {token}"], PATH + "assertion"), 401, UNREADABLE)


@pytest.mark.parametrize(
    "cookies", ["session=GOOD", "a=b; session=GOOD", " session=GOOD ;b=c", 'session="GOOD"', "a=session=x; session=GOOD", "Session=x; session=GOOD"]
)
def test_a_policy_may_read_a_cookie(service, users, cookies):
    assert ask(service, "session", {"Cookie": cookies.replace("GOOD", users.token())}).status == 200


@pytest.mark.parametrize(
    ("cookies", "challenge"),
    [
        (["Session=GOOD"], "Bearer"),
        (["session"], "Bearer"),
        (["xsession=GOOD"], "Bearer"),
        (["session=GOOD; session=GOOD"], UNREADABLE),
        (["session=GOOD", "session=other"], UNREADABLE),
        (["session =other; session=GOOD"], UNREADABLE),
        (["session="], UNREADABLE),
        (["session=caf\xe9"], UNREADABLE),
        (["session=a b"], UNREADABLE),
        (["session=GOODx"], INVALID),
    ],
)
def test_missing_or_ambiguous_cookies_are_denied(service, users, cookies, challenge):
    token = users.token()
    denied(ask_raw(service, ["Cookie: " + each.replace("GOOD", token) for each in cookies], PATH + "session"), 401, challenge)


def test_only_the_first_source_in_the_request_counts(service, users):
    good = users.token()
    denied(ask(service, "session", bearer("bad") | {"Cookie": f"session={good}"}), 401, INVALID)
    assert ask(service, "session", bearer(good) | {"Cookie": "session=bad"}).status == 200
    assert ask(service, "session", {"Authorization": "Basic x", "Cookie": f"session={good}"}).status == 200


def test_a_policy_can_require_scopes(service, issuer):
    assert ask(service, "scopes", bearer(access_token(issuer, scope="orders:write orders:read x"))).status == 200
    challenge = 'Bearer error="insufficient_scope", scope="orders:read orders:write"'
    denied(ask(service, "scopes", bearer(access_token(issuer))), 403, challenge)
    # An invalid token is reported first.
    denied(ask(service, "scopes", bearer(access_token(issuer, exp=1))), 401, INVALID)


@pytest.mark.parametrize(
    ("policy", "claims", "status"),
    [
        ("claims", {"hd": "example.org", "staff": True}, 200),
        ("claims", {"hd": "example.org"}, 403),
        ("claims", {"hd": "example.net", "staff": True}, 403),
        ("claims", {"hd": ["example.net", "example.org"], "staff": True}, 200),
        ("claims", {"hd": ["example.net"], "staff": True}, 403),
        ("domain", {"email": "kim@EXAMPLE.com", "email_verified": True}, 200),
        ("domain", {"email": "kim@example.com", "email_verified": False}, 403),
        ("domain", {"email": "kim@example.com", "email_verified": None}, 403),
        ("domain", {"email": "kim@sub.example.com", "email_verified": True}, 403),
        ("domain", {"email": "kim@evil.example@example.com", "email_verified": True}, 403),
        ("domain", {"email": None}, 403),
        ("trusted", {"email": "kim@example.com", "email_verified": True}, 403),
        ("fresh", {"auth_time": -3590}, 200),
        ("fresh", {"auth_time": -3670}, 403),
        ("fresh", {"auth_time": 600}, 403),
        ("fresh", {"iat": -3670}, 403),
        ("fresh", {"iat": -10}, 200),
    ],
)
def test_a_policy_can_require_claims_emails_and_age(service, users, policy, claims, status):
    times = {name: now() + value for name, value in claims.items() if name in ("auth_time", "iat")}
    denied(ask(service, policy, bearer(users.token(**(claims | times)))), status)


METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "PURGE", "QUERY", "MKCALENDAR"]


@pytest.mark.parametrize("method", [*METHODS, "X", "get", "!#$%&'*+-.^_`|~", "X" * 32])
def test_the_method_does_not_matter(service, issuer, method):
    assert ask(service, "api", bearer(access_token(issuer)), method).status == 200
    denied(ask(service, "api", None, method), 401, "Bearer")


@pytest.mark.parametrize(
    "path", ["/", "/a/b?c=/d", "/../scopes", "/%2e%2e/scopes", "//scopes", "?policy=scopes", "/..;/scopes", "/v1/verify"]
)
def test_the_rest_of_the_path_has_no_effect(service, issuer, path):
    """The token would fail any other policy."""
    headers = bearer(access_token(issuer)) | {"X-Forwarded-Uri": "/scopes", "X-Original-URL": "/scopes", "X-Forwarded-Method": "DELETE"}
    assert ask(service, "api" + path, headers).status == 200
    denied(ask(service, "scopes/../api" + path, headers), 403, 'Bearer error="insufficient_scope", scope="orders:read orders:write"')


@pytest.mark.parametrize("policy", ["", "/", "/api", "apis", "ap", "API", "%61pi", "api%2f", "api;x", "apiorders.v1.Orders/Get"])
def test_an_unknown_policy_denies(service, issuer, policy):
    assert ask(service, policy, bearer(access_token(issuer))).code == "not_found"


@pytest.mark.parametrize("body", ["Content-Length: 1000000", "Transfer-Encoding: chunked", "Content-Length: 10\r\nExpect: 100-continue"])
@pytest.mark.parametrize("good", [True, False])
def test_the_decision_does_not_wait_for_a_body(service, issuer, body, good):
    """The response precedes the body, and the connection is closed."""
    token = access_token(issuer) if good else "bad"
    with service.api.connect() as connection:
        connection.send(f"POST {PATH}api HTTP/1.1\r\nHost: h\r\n{body}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        response = connection.unchecked_response()
        assert (response.status, response.header("Connection")) == (200 if good else 401, "close")
        connection.send_tolerantly(b"GET /livez HTTP/1.1\r\nHost: h\r\n\r\n")
        assert connection.closed()


def test_a_connection_without_bodies_is_kept_alive(service, issuer):
    request = request_bytes("GET", PATH + "api", None, bearer(access_token(issuer)) | {"Content-Length": "0"})
    with service.api.connect() as connection:
        connection.send(request * 20)
        assert [connection.response("GET", PATH + "api").status for _ in range(20)] == [200] * 20


def test_unavailable_keys_are_reported_at_once(service, down):
    response = ask(service, "down", bearer(access_token(down)))
    assert response.code == "keys_unavailable"
    assert int(response.header("Retry-After")) >= 1
    # No key could make this token valid.
    denied(ask(service, "down", bearer(down.token())), 401, INVALID)


def test_a_gateway_waits_for_keys_only_as_long_as_keys_timeout(server):
    """The provider sends its keys only after the decision."""
    issuer = server.issuer("hangs", rsa_key("hangs"))
    issuer.jwks.hold()
    policy = {"keys_timeout": "50ms", "policies": [{"id": "api", "providers": ["api"]}]}
    try:
        with Service(provider(issuer, "api", tokens="access", audiences=[API], optional=True), forward_auth=policy) as service:
            assert ask(service, "api", bearer(access_token(issuer))).code == "keys_unavailable"
            issuer.jwks.release()
            service.wait_until_ready()
            poll(lambda: ask(service, "api", bearer(access_token(issuer))).status == 200)
    finally:
        issuer.jwks.release()


def test_max_in_flight_limits_decisions_that_wait_for_keys(server):
    issuer = server.issuer("gateway-crowd", rsa_key("crowd"))
    issuer.jwks.hold()
    policy = {"keys_timeout": "10s", "policies": [{"id": "api", "providers": ["api"]}]}
    access = provider(issuer, "api", tokens="access", audiences=[API], optional=True)
    with Service(access, forward_auth=policy, limits={"max_in_flight": 1}) as service, service.api.connect() as waiting:
        request = request_bytes("GET", PATH + "api", None, bearer(access_token(issuer)))
        waiting.send(request)
        service.wait_until(lambda: b"assay_requests_in_flight 1" in service.admin.get("/metrics").body)
        assert ask(service, "api", bearer(access_token(issuer))).code == "overloaded"
        issuer.jwks.release()
        assert waiting.response("GET", PATH + "api").status == 200


def test_a_rotated_key_is_found_for_a_gateway(server):
    issuer = server.issuer("gateway-rotating", rsa_key("old"))
    policies = {"keys_timeout": "5s", "policies": [{"id": "api", "providers": ["api"]}]}
    with Service(provider(issuer, "api", tokens="access", audiences=[API]), forward_auth=policies) as service:
        service.wait_until_ready()
        issuer.rotate(rsa_key("new"), rsa_key("old"))
        assert ask(service, "api", bearer(access_token(issuer))).status == 200


def test_strip_token_tells_envoy_to_remove_the_token(service, issuer):
    assert ask(service, "strip", bearer(access_token(issuer))).header("x-envoy-auth-headers-to-remove") == "Authorization"
    assert ask(service, "api", bearer(access_token(issuer))).header("x-envoy-auth-headers-to-remove") is None


def test_a_gateway_authenticates_with_its_own_key(server):
    issuer = server.issuer("keyed", rsa_key("keyed"))
    policies = [{"id": "api", "providers": ["api"]}, {"id": "open", "providers": ["api"], "require_key": False}]
    with Service(
        provider(issuer, "api", tokens="access", audiences=[API]),
        api_keys=[{"name": "edge", "sha256": sha256_hex(KEY)}], forward_auth={"policies": policies},
    ) as service:  # fmt: skip
        service.wait_until_ready()
        token = access_token(issuer)
        assert ask(service, "api", bearer(token) | {"X-Assay-Key": KEY}).status == 200
        for lines in ([], ["X-Assay-Key: wrong"], ["X-Assay-Key:"], [f"X-Assay-Key: {KEY}", "X-Assay-Key: x"], [f"X-Assay-Key: Bearer {KEY}"]):
            denied(ask_raw(service, [f"Authorization: Bearer {token}", *lines]), 403)
        # The key is not a token, and the user's token is not a key.
        denied(ask(service, "api", bearer(KEY)), 403)
        assert ask(service, "open", bearer(token)).status == 200
        assert service.api.post("/v1/access-tokens/verify", {"token": token}, {"X-Assay-Key": KEY}).code == "caller_unauthenticated"
        service.stop()
        line = service.entries(route=PATH + "{policy}", status=200, policy="api")[0]
        assert (line["api_key"], line["provider"]) == ("edge", "api")


def test_decisions_are_counted_and_logged_by_policy(server):
    issuer = server.issuer("counted", rsa_key("counted"))
    policies = [{"id": "api", "providers": ["api"], "require": {"scopes": ["orders:read"]}}]
    access = provider(issuer, "api", tokens="access", audiences=[API])
    with Service(access, log={"level": "debug", "requests": True}, forward_auth={"policies": policies}) as service:
        service.wait_until_ready()
        secret = access_token(issuer, sub="somebody", email="kim@example.com")
        ask(service, "api", bearer(secret) | {"X-Request-Id": "one"})
        ask(service, "api")
        ask(service, "api", bearer(access_token(issuer, scope="x")))
        ask(service, "api", bearer(access_token(issuer, exp=1)))
        ask(service, "nobody")
        assert decisions(service, "api") == {"ok": 1, "token_missing": 1, "scope_missing": 1, "token_expired": 1}
        assert 'assay_forward_auth_total{policy="api",code="scope_missing"} 1' in service.admin.get("/metrics").text
        service.stop()
        lines = service.entries(route=PATH + "{policy}")
        assert [(each.get("policy"), each["status"], each.get("code")) for each in lines] == [
            ("api", 200, None), ("api", 401, "token_missing"), ("api", 403, "scope_missing"), ("api", 401, "token_expired"),
            (None, 404, "not_found"),
        ]  # fmt: skip
        assert lines[0]["request_id"] == "one"
        for hidden in (secret, secret.split(".")[2], "somebody", "kim@example.com"):
            assert not any(hidden in line for line in service.log)


def test_a_token_that_is_bound_to_a_key_is_invalid(server):
    issuer = server.issuer("gateway-bound", rsa_key("bound"))
    access = provider(issuer, "api", tokens="access", audiences=[API])
    policies = {"policies": [{"id": "api", "providers": ["api"]}]}
    with Service(access, forward_auth=policies) as service:
        service.wait_until_ready()
        token = access_token(issuer, cnf={"jkt": "x"})
        for _ in range(2):
            denied(ask(service, "api", bearer(token)), 401, INVALID)
        assert decisions(service, "api") == {"binding_required": 2}
        change(service, access | {"unchecked_bindings": True}, forward_auth=policies)
        allowed(ask(service, "api", bearer(token)))
        service.stop()
        assert len(service.entries(message="access token bound to a key refused", provider="api")) == 1


def test_groups_that_are_too_many_to_list_are_told_from_the_wrong_ones(service, issuer):
    allowed(ask(service, "groups", bearer(access_token(issuer, groups=["others", "staff"]))))
    denied(ask(service, "groups", bearer(access_token(issuer, groups=["others"]))), 403)
    denied(ask(service, "groups", bearer(access_token(issuer, hasgroups=True))), 403)
    assert decisions(service, "groups") == {"ok": 1, "requirement_not_met": 1, "groups_overage": 1}


def test_a_rule_of_the_provider_for_groups_denies_as_the_policys(server):
    issuer = server.issuer("gateway-overage", rsa_key("overage"))
    access = provider(issuer, "api", tokens="access", audiences=[API], claim_values={"groups": ["staff"]})
    with Service(access, forward_auth={"policies": [{"id": "api", "providers": ["api"]}]}) as service:
        service.wait_until_ready()
        denied(ask(service, "api", bearer(access_token(issuer, hasgroups=True))), 403)
        denied(ask(service, "api", bearer(access_token(issuer, groups=["others"]))), 401, INVALID)
        assert decisions(service, "api") == {"groups_overage": 1, "claim_invalid": 1}


def test_denied_requests_cannot_flood_the_log(server):
    issuer = server.issuer("gateway-noise", rsa_key("noise"))
    access = provider(issuer, "api", tokens="access", audiences=[API])
    with Service(access, forward_auth={"policies": [{"id": "api", "providers": ["api"]}]}) as service:
        service.wait_until_ready()
        for _ in range(100):
            ask(service, "api", bearer("bad"))
        service.stop()
        lines = service.entries(route=PATH + "{policy}")
        assert len(lines) < 60
        assert sum(each.get("suppressed", 1) for each in lines) == 100


def test_policies_can_be_added_changed_and_removed_by_reloads(server):
    issuer = server.issuer("gateway-reloaded", rsa_key("reloaded"))
    access = provider(issuer, "api", tokens="access", audiences=[API])
    with Service(access) as service:
        service.wait_until_ready()
        token = access_token(issuer)
        assert ask(service, "api", bearer(token)).code == "not_found"
        assert "forward_auth" not in service.admin.get("/v1/verdicts").json
        assert "assay_forward_auth_total" not in service.admin.get("/metrics").text
        change(service, access, forward_auth={"policies": [{"id": "api", "providers": ["api"]}]})
        assert ask(service, "api", bearer(token)).status == 200
        assert decisions(service, "api") == {"ok": 1}
        change(service, access, forward_auth={"policies": [{"id": "other", "providers": ["api"]}]})
        assert ask(service, "api", bearer(token)).code == "not_found"
        assert ask(service, "other", bearer(token)).status == 200
        change(service, access)
        assert ask(service, "other", bearer(token)).code == "not_found"

