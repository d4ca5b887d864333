"""`caller_unauthenticated` and `caller_forbidden`: API keys, configured by their digests."""

import json

import pytest

from harness.client import request_bytes
from harness.contract import assert_code
from harness.metrics import Metrics
from harness.service import Service, provider
from harness.tokens import ec_key, sha256_hex

FIRST, SECOND = "first-key-0123456789", "second-key-9876543210"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("callers", ec_key("callers"))


@pytest.fixture(scope="module")
def guarded(issuer):
    with Service(provider(issuer), api_keys=[sha256_hex(FIRST), sha256_hex(SECOND)], log={"level": "debug"}) as service:
        yield service.wait_until_ready()


@pytest.mark.parametrize("key", [FIRST, SECOND])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_any_configured_key_is_accepted(guarded, issuer, scheme, key):
    response = guarded.verify(issuer.token(), {"Authorization": f"{scheme} {key}"})
    assert response.status == 200, response


# `Tests/ServiceTests/CallerTests.swift` tests every near miss.
@pytest.mark.parametrize("authorization", [None, "Bearer wrong", f"Bearer {FIRST}x", f"Bearer {sha256_hex(FIRST)}", f"Basic {FIRST}"])
def test_a_missing_or_wrong_key_is_refused(guarded, issuer, authorization):
    for path, body in [
        ("/v1/verify", {"id_token": issuer.token()}),
        ("/v1/verify/batch", {"items": [{"id_token": "x"}]}),
    ]:
        response = guarded.api.post(path, body, {"Authorization": authorization})
        assert_code(response, "caller_unauthenticated")
        # RFC 9110, section 15.5.2: a 401 must say how to authenticate.
        assert (response.header("WWW-Authenticate") or "").startswith("Bearer")


def test_two_keys_in_one_request_are_refused(guarded, issuer):
    body = json.dumps({"id_token": issuer.token()}).encode()
    headers = {"Authorization": f"Bearer {FIRST}", "authorization": "Bearer wrong"}
    with guarded.api.connect() as connection:
        connection.send(request_bytes("POST", "/v1/verify", body, headers))
        assert_code(connection.response("POST", "/v1/verify"), "request_invalid")


def test_an_unauthenticated_batch_is_refused_before_its_body_is_read(guarded):
    head = request_bytes("POST", "/v1/verify/batch", None, {"Content-Type": "application/json"})
    with guarded.api.connect() as connection:
        connection.send(head.replace(b"\r\n\r\n", b"\r\nContent-Length: 4000000\r\n\r\n"))
        assert_code(connection.response("POST", "/v1/verify/batch"), "caller_unauthenticated")


def test_the_key_is_checked_before_the_body(guarded):
    for body in (b"{", b"", b'{"id_token":5}'):
        assert_code(guarded.api.post("/v1/verify", body), "caller_unauthenticated")
    assert_code(guarded.api.post("/v1/verify", b"{", {"Authorization": f"Bearer {FIRST}"}), "request_invalid")


def test_health_and_metrics_need_no_key(guarded):
    for path in ("/livez", "/readyz"):
        assert guarded.api.get(path).status == 200
        assert guarded.admin.get(path).status == 200
    assert guarded.admin.get("/metrics").status == 200


EXPLAIN = {"id_token": "x"}
OPERATOR_ENDPOINTS = [
    ("GET", "/v1/providers", None),
    ("POST", "/v1/providers/oidc/refresh", None),
    ("POST", "/v1/explain", EXPLAIN),
    ("GET", "/v1/events", None),
    ("GET", "/v1/verdicts", None),
]


@pytest.mark.parametrize(("method", "path", "body"), OPERATOR_ENDPOINTS)
def test_api_keys_apply_to_operator_endpoints_too(guarded, issuer, method, path, body):
    fetches = issuer.jwks.count
    for authorization in (None, "Bearer wrong", f"Basic {FIRST}"):
        response = guarded.admin.request(method, path, body, {"Authorization": authorization})
        assert_code(response, "caller_unauthenticated")
    assert issuer.jwks.count == fetches
    for key in (FIRST, SECOND):
        assert guarded.admin.request(method, path, body, {"Authorization": f"Bearer {key}"}).status == 200


def test_an_unknown_path_or_method_is_reported_without_a_key(guarded):
    assert_code(guarded.admin.get("/v1/nothing"), "not_found")
    assert_code(guarded.admin.post("/v1/providers"), "method_not_allowed")
    assert_code(guarded.admin.post("/v1/providers/nobody/refresh"), "caller_unauthenticated")


@pytest.mark.parametrize(("method", "path", "body"), OPERATOR_ENDPOINTS)
def test_the_admin_listener_may_have_its_own_keys(issuer, method, path, body):
    operators = {"listen": "127.0.0.1:0", "api_keys": [sha256_hex(SECOND)]}
    with Service(provider(issuer), api_keys=[sha256_hex(FIRST)], admin=operators) as service:
        service.wait_until_ready()
        first, second = ({"Authorization": f"Bearer {key}"} for key in (FIRST, SECOND))
        assert service.verify(issuer.token(), first).status == 200
        assert_code(service.verify(issuer.token(), second), "caller_unauthenticated")
        assert service.admin.request(method, path, body, second).status == 200
        assert_code(service.admin.request(method, path, body, first), "caller_unauthenticated")


def test_log_and_metrics_show_which_keys_are_in_use(issuer):
    """During a rotation, they show who still uses the old key."""
    keys = [{"name": "backend-2026", "sha256": sha256_hex(FIRST)}, sha256_hex(SECOND)]
    operator = {"listen": "127.0.0.1:0", "api_keys": [{"name": "ops", "sha256": sha256_hex("operator")}]}
    with Service(provider(issuer), api_keys=keys, admin=operator) as service:
        service.wait_until_ready()
        for key, name, count in ((FIRST, "backend-2026", 2), (SECOND, "key-2", 1)):
            for number in range(count):
                headers = {"Authorization": f"Bearer {key}", "X-Request-Id": f"{name}-{number}"}
                assert service.verify(issuer.token(), headers).status == 200
                line = service.wait_for_entry(message="request", request_id=f"{name}-{number}")
                assert line["api_key"] == name
        assert service.verify(issuer.token(), {"X-Request-Id": "none"}).status == 401
        assert "api_key" not in service.wait_for_entry(message="request", request_id="none")
        assert service.admin.get("/v1/providers", {"Authorization": "Bearer operator"}).status == 200
        page = Metrics(service.admin.get("/metrics").text)
        found = {
            (dict(labels)["listener"], dict(labels)["key"]): value
            for (name, labels), value in page.samples.items()
            if name == "assay_api_key_requests_total"
        }
        assert found == {("service", "backend-2026"): 2, ("service", "key-2"): 1, ("admin", "ops"): 1}


def test_a_refused_key_is_not_logged(guarded, issuer):
    guarded.verify(issuer.token(), {"Authorization": "Bearer canary-wrong-key", "X-Request-Id": "refused-caller"})
    entry = guarded.wait_for_entry(message="request", request_id="refused-caller")
    assert (entry["status"], entry["code"]) == (401, "caller_unauthenticated")
    guarded.hides("canary-wrong-key", FIRST, sha256_hex(FIRST))


def test_without_configured_keys_any_authorization_is_ignored(service, oidc):
    assert service.verify(oidc.token(), {"Authorization": "Bearer whatever"}).status == 200
    assert service.verify(oidc.token(), {"Authorization": "nonsense"}).status == 200


# What each permission opens. Bodies are empty objects: an admitted caller gets past the key, to the next problem.
ASKED_FOR = {
    "verify": ["/v1/verify", "/v1/verify/batch"],
    "sign_ins": ["/v1/sign-ins", "/v1/sign-ins/finish", "/v1/sign-outs"],
    "grants": ["/v1/grants/refresh", "/v1/grants/revoke", "/v1/grants/proof"],
    "notifications": ["/v1/notifications/verify"],
    "access_tokens": ["/v1/access-tokens/verify"],
    "forward_auth": ["/v1/forward-auth/api"],
    "explain": ["/v1/explain"],
}


@pytest.fixture(scope="module")
def narrow(issuer, shared_server):
    """Each permission has a key of its own, named as it is; `all` and `plain` have every permission."""
    api = shared_server.issuer("narrow-api", ec_key("narrow-api"))
    keys = [{"name": word, "sha256": sha256_hex(word), "allow": [word]} for word in ASKED_FOR]
    keys += [{"name": "all", "sha256": sha256_hex("all"), "allow": list(ASKED_FOR)}, sha256_hex("plain")]
    with Service(
        provider(issuer, clients=[{"id": "client", "auth": "none"}], notifications=["logout"]),
        provider(api, "api", tokens="access"),
        api_keys=keys, sign_ins={}, forward_auth={"policies": [{"id": "api", "providers": ["api"]}]},
    ) as service:  # fmt: skip
        yield service.wait_until_ready()


@pytest.mark.parametrize("word", [*ASKED_FOR, "all", "plain"])
def test_a_key_opens_the_paths_that_it_allows_and_no_other(narrow, word):
    for permission, paths in ASKED_FOR.items():
        for path in paths:
            listener = narrow.admin if permission == "explain" else narrow.api
            field = {"X-Assay-Key": word} if permission == "forward_auth" else {"Authorization": f"Bearer {word}"}
            response = listener.post(path, {}, field)
            if permission != "forward_auth":
                # A gateway's answers have no body; the log has their codes.
                assert (response.code == "caller_forbidden") == (word not in (permission, "all", "plain")), (path, response)
            if word in (permission, "all", "plain"):
                assert response.status in (400, 401), (path, response)
            else:
                assert response.status == 403, (path, response)


@pytest.mark.parametrize(("method", "path", "body"), [each for each in OPERATOR_ENDPOINTS if each[1] != "/v1/explain"])
def test_other_paths_of_the_admin_listener_need_a_key_with_all(narrow, method, path, body):
    for word in ASKED_FOR:
        assert_code(narrow.admin.request(method, path, body, {"Authorization": f"Bearer {word}"}), "caller_forbidden")
    for word in ("all", "plain"):
        assert narrow.admin.request(method, path, body, {"Authorization": f"Bearer {word}"}).status == 200


def test_a_batch_with_a_key_for_something_else_is_refused_before_its_body_is_read(narrow):
    head = request_bytes("POST", "/v1/verify/batch", None, {"Content-Type": "application/json", "Authorization": "Bearer grants"})
    with narrow.api.connect() as connection:
        connection.send(head.replace(b"\r\n\r\n", b"\r\nContent-Length: 4000000\r\n\r\n"))
        assert_code(connection.response("POST", "/v1/verify/batch"), "caller_forbidden")


def test_the_log_names_a_key_that_was_sent_to_another_path(narrow):
    narrow.verify("x", {"Authorization": "Bearer grants", "X-Request-Id": "forbidden"})
    entry = narrow.wait_for_entry(message="request", request_id="forbidden")
    assert (entry["status"], entry["code"], entry["api_key"]) == (403, "caller_forbidden", "grants")
    narrow.api.post("/v1/forward-auth/api", {}, {"X-Assay-Key": "grants", "X-Request-Id": "gateway"})
    entry = narrow.wait_for_entry(message="request", request_id="gateway")
    assert (entry["status"], entry["code"], entry["api_key"]) == (403, "caller_forbidden", "grants")
