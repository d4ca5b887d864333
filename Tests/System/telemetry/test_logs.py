"""The log: one JSON object per line, one line per request, and no secrets."""

import hashlib
import json
import os
import signal

import pytest

from access_tokens.test_dpop import Client
from grants.grants import SECRET
from harness import contract
from harness.client import request_bytes
from harness.collector import Collector
from harness.collector import settings as tracing
from harness.metrics import Metrics
from harness.service import Service, apple_like, provider, run, write_config
from harness.token_endpoint import INTROSPECTION, answered
from harness.tokens import assemble, b64url, ec_key, half_hash, jws, now, parts, rsa_key, sha256_hex
from introspection.opaque import API, opaque

CANARY = "canary"
API_KEY = "canary-api-key-5150"


@pytest.fixture(scope="module")
def collector():
    with Collector() as one:
        yield one


@pytest.fixture(scope="module")
def watched(shared_server, collector, endpoint, tmp_path_factory):
    """A service for requests with canaries, with an API key and tracing of every request."""
    issuer = shared_server.issuer("watched", rsa_key("watched-key"))
    down = shared_server.issuer("watched-down", ec_key("down"))
    down.jwks.status = 500
    apple = shared_server.issuer("watched-apple", rsa_key("watched-key"))
    settings = [
        provider(
            issuer,
            max_token_age="1h",
            required_claims=["email"],
            authorized_parties=["client"],
            notifications=["logout"],
        ),
        apple_like(apple),
        provider(down, "down", optional=True),
        provider(issuer, "api", tokens="access", audiences=["canary-api"]),
        opaque(shared_server.issuer("watched-opaque", rsa_key("watched-key")), endpoint, tmp_path_factory.mktemp("clients")),
    ]
    more = {"log": {"level": "debug"}, "tracing": tracing(collector), "sign_ins": {}, "dpop": {}}
    resource = {"id": "mcp", "resource": "https://mcp.example.com", "providers": ["api"], "authorization_servers": [issuer.url]}
    more["resources"] = [resource | {"audiences": ["canary-api"]}]
    with Service(*settings, api_keys=[sha256_hex(API_KEY)], **more) as service:
        service.wait_until_ready()
        yield service, issuer, down


def canary_claims(issuer, **claims) -> dict:
    usual = {
        "sub": "canary-subject",
        "email": "canary-address@example.com",
        "email_verified": True,
        "name": "canary-name",
        "nonce": "canary-nonce",
        "jti": "canary-token-id",
        "at_hash": half_hash("canary-access-token", "RS256"),
        "c_hash": half_hash("canary-code", "RS256"),
    }
    return issuer.claims(**(usual | claims))


# Values that an explanation never shows.
SECRETS = [f"canary-{name}" for name in ("subject", "address", "name", "nonce", "token-id", "access", "code", "other")]
REQUEST = {"nonce": "canary-nonce", "access_token": "canary-access-token", "code": "canary-code"}


def cases(issuer, down) -> dict:
    """By code that a token or request can cause: the token, and changes to the request."""
    key = issuer.keys[0]
    time = now()

    def token(header=None, **claims) -> str:
        return jws(key, canary_claims(issuer, **claims), **(header or {}))

    good = token()
    header, payload, _ = parts(good)
    return {
        None: (good, {}),
        "token_malformed": (good + ".canary", {}),
        "header_unsupported": (token({"typ": "canary+jwt"}), {}),
        "algorithm_not_allowed": (assemble({"alg": "canary"}, canary_claims(issuer), b"canary"), {}),
        "key_not_found": (token({"kid": "canary-key-id"}), {"provider": "oidc"}),
        "signature_invalid": (f"{header}.{payload}." + "A" * 342, {}),
        "provider_unknown": (token(iss="https://canary.example.com"), {}),
        "issuer_mismatch": (token(iss="https://canary.example.com"), {"provider": "oidc"}),
        "audience_mismatch": (token(aud="canary-audience"), {}),
        "audience_not_configured": (good, {"audience": "canary-audience"}),
        "authorized_party_mismatch": (token(azp="canary-party"), {}),
        "token_expired": (token(exp=time - 100), {}),
        "token_not_yet_valid": (token(nbf=time + 1000), {}),
        "token_too_old": (token(iat=time - 7200), {}),
        "auth_time_too_old": (token(auth_time=time - 7200), {"max_age": 60}),
        "claim_missing": (token(email=None), {}),
        "claim_invalid": (token(email_verified="canary"), {}),
        "nonce_required": (good, {"nonce": None}),
        "nonce_missing": (token(nonce=None), {}),
        "nonce_mismatch": (good, {"nonce": "canary-other-nonce"}),
        "at_hash_missing": (token(at_hash=None), {}),
        "at_hash_mismatch": (good, {"access_token": "canary-other"}),
        "c_hash_missing": (token(c_hash=None), {}),
        "c_hash_mismatch": (good, {"code": "canary-other"}),
        "session_revoked": (token(auth_time=time - 7200), {"authenticated_after": time}),
        "subject_mismatch": (good, {"subject": "canary-other"}),
        "keys_unavailable": (jws(down.keys[0], canary_claims(down)), {}),
        "request_invalid": (good, {"canary@member": "canary", "nonse": "canary"}),
    }


def signed_in(service, issuer, authorization: dict) -> set[str]:
    """Begins and finishes a sign-in, and causes its possible errors; returns the codes."""

    def ask(path: str, name: str, **body):
        return service.api.post(path, body, {**authorization, "X-Request-Id": f"sign-in-{name}"})

    begun = ask("/v1/sign-ins", "begin", provider="oidc", context="canary-context", subject="canary-subject").json
    token = jws(issuer.keys[0], canary_claims(issuer, nonce=begun["nonce"]))
    finish = {"sign_in": begun["sign_in"], "id_token": token}
    answers = [
        ask("/v1/sign-ins", "uri", provider="oidc", redirect_uri="https://canary.example.com/canary-path"),
        ask("/v1/sign-ins/finish", "forged", **finish | {"sign_in": "canary" + begun["sign_in"]}),
        ask("/v1/sign-ins/finish", "good", **finish, access_token="canary-access-token", code="canary-code"),
        ask("/v1/sign-ins/finish", "again", **finish),
    ]
    codes = [answer.code for answer in answers]
    assert codes == ["client_not_configured", "sign_in_invalid", None, "sign_in_replayed"]
    service.hides(begun["sign_in"], begun["nonce"], begun["nonce_sha256"])
    return {*codes} - {None}


def notified(service, issuer, down, authorization: dict) -> set[str]:
    """Verifies a notification, and causes possible errors; returns the codes."""
    events = {"http://schemas.openid.net/event/backchannel-logout": {"canary": "canary-event"}}

    def ask(issuer, **claims):
        usual = {"nonce": None, "sid": "canary-session", "events": events}
        token = jws(issuer.keys[0], canary_claims(issuer, **(usual | claims)))
        return service.api.post("/v1/notifications/verify", {"token": token}, authorization)

    answers = [ask(issuer), ask(issuer, jti=None), ask(issuer, events={"canary": 1}), ask(issuer, aud="canary"), ask(down)]
    codes = [answer.code for answer in answers]
    assert codes == [None, "claim_missing", "claim_invalid", "audience_mismatch", "notifications_not_configured"]
    return {*codes} - {None}


def granted(service, issuer, authorization: dict) -> set[str]:
    """Verifies an access token, and causes possible errors; returns the codes."""

    def access_token(**claims) -> str:
        usual = {"nonce": None, "aud": "canary-api", "client_id": "canary-client", "scope": "canary-scope"}
        return jws(issuer.keys[0], canary_claims(issuer, **(usual | claims)), typ="at+jwt")

    def ask(scopes: list[str], members: dict | None = None, token: str | None = None, **claims):
        body = {"token": token or access_token(**claims), "scopes": scopes} | (members or {})
        return service.api.post("/v1/access-tokens/verify", body, authorization)

    answers = [ask(["canary-scope"]), ask(["canary-other"]), ask([], client_id=None), ask([], aud="canary-other")]
    dpop = {"proof": "canary-proof.canary.x", "method": "GET", "url": "https://canary.example.com/canary-path", "scheme": "DPoP"}
    certificate = {"certificate": b64url(hashlib.sha256(b"canary").digest())}
    answers += [
        ask([], cnf={"jkt": "canary-other"}),
        ask([], {"dpop": dpop}, cnf={"jkt": "canary-other"}),
        ask([], {"dpop": dpop}),
        ask([], certificate, cnf={"x5t#S256": "canary-other"}),
    ]
    client = Client(issuer)
    bound = access_token(cnf={"jkt": client.key.dpop_jkt})
    proof = client.request(bound, url="https://canary.example.com/canary-path")
    answers += [ask([], {"dpop": proof}, bound), ask([], {"dpop": proof}, bound)]
    answers += [ask([], {"resource": "mcp", "token": None}), ask([], {"resource": "canary-resource"}), ask([], {"resource": "mcp"}, "canary")]
    codes = [answer.code for answer in answers]
    assert codes == [
        None, "scope_missing", "claim_missing", "audience_mismatch",
        "binding_required", "dpop_proof_invalid", "binding_missing", "binding_mismatch", None, "dpop_proof_replayed",
        "token_missing", "resource_unknown", "issuer_mismatch",
    ]  # fmt: skip
    service.hides(certificate["certificate"], proof["proof"], client.key.dpop_jkt)
    return {*codes} - {None}


def asked(service, endpoint, authorization: dict) -> set[str]:
    """Verifies an opaque token, and causes possible errors; returns the codes."""
    token = "canary-opaque-token"
    said = {"active": True, "aud": API, "sub": "canary-subject", "client_id": "canary-client", "scope": "canary-scope"}
    acts = [answered(said), answered(said | {"aud": "canary-other"}), answered(said | {"exp": "canary"}), answered({"active": False})]
    codes = []
    for act in acts:
        endpoint.play(act, path=INTROSPECTION)
        body = {"token": token, "provider": "legacy"}
        codes.append(service.api.post("/v1/access-tokens/verify", body, authorization).code)
    assert codes == [None, "audience_mismatch", "provider_answer_invalid", "token_inactive"]
    service.hides(token, SECRET)
    return {*codes} - {None}


def test_no_secret_is_ever_logged_exported_or_repeated(watched, collector, endpoint):
    service, issuer, down = watched
    authorization = {"Authorization": f"Bearer {API_KEY}"}
    seen = set()
    start = len(contract.recording)
    seen |= notified(service, issuer, down, authorization)
    seen |= granted(service, issuer, authorization)
    seen |= asked(service, endpoint, authorization)
    for code, (token, changes) in cases(issuer, down).items():
        request = {name: value for name, value in (REQUEST | changes).items() if value is not None}
        response = service.verify(token, {**authorization, "X-Request-Id": f"case-{code}"}, **request)
        assert response.code == code, f"{code}: {response}"
        batch = {"items": [{"id_token": token} | request]}
        service.api.post("/v1/verify/batch", batch, {**authorization, "X-Request-Id": f"batch-{code}"})
        # An explanation shows the token's issuer and audience to operators, but must not log them.
        explanation = {"id_token": token} | request
        service.admin.post("/v1/explain", explanation, {**authorization, "X-Request-Id": f"explain-{code}"})
        seen.add(code)
    seen |= signed_in(service, issuer, authorization)
    # grants/test_clients.py, grants/test_bound.py and sign_ins/test_browser.py cover these.
    of_grants = {
        "state_mismatch", "redirect_uri_mismatch", "acr_mismatch", "response_invalid", "response_issuer_mismatch", "sign_in_denied",
        "redirect_uri_not_configured", "revocation_not_supported", "sign_out_not_supported", "url_not_allowed", "binding_invalid", "grant_invalid", "provider_refused", "client_rejected",
        "provider_answer_invalid", "provider_unavailable",
    }  # fmt: skip
    assert contract.STATUS.keys() - seen - of_grants <= {
        "key_unsuitable",
        "groups_overage",
        "decryption_failed",
        "encryption_required",
        "nonce_replayed",
        "dpop_nonce_required",
        "request_unknown",
        "sign_in_expired",
        "sign_in_not_supported",
        "store_unavailable",
        "not_found",
        "method_not_allowed",
        "request_timeout",
        "request_too_large",
        "headers_too_large",
        "content_type_unsupported",
        "caller_unauthenticated",
        "caller_forbidden",
        "overloaded",
        "shutting_down",
    }

    # These requests contain no token, but their data must not be logged, either.
    for method, path, headers, body in [
        ("GET", "/canary-path?canary=query", {}, None),
        ("PUT", "/v1/verify?canary=query", {}, b"{}"),
        ("POST", "/v1/verify", {"Content-Type": "text/canary"}, b"canary"),
        (
            "POST",
            "/v1/verify",
            {"Authorization": "Bearer canary-wrong-key", "Cookie": "canary", "User-Agent": "canary"},
            b"{}",
        ),
        ("POST", "/v1/verify", authorization, b'{"canary'),
        ("POST", "/v1/verify", authorization, b"canary" * 20_000),
        ("POST", "/v1/verify/batch", authorization, b'{"canary-0123456789":1}'),
        ("POST", "/v1/verify", authorization | {"X-Canary": "canary" * 10_000}, b"{}"),
    ]:
        with service.api.connect() as connection:
            connection.send_tolerantly(request_bytes(method, path, body, headers))
            connection.response(method, path.split("?")[0])
    service.wait_for_entry(message="request", request_id="explain-request_invalid")
    last = service.wait_for_entry(message="request", request_id="batch-request_invalid")
    collector.wait_for(span_id=last["span_id"])
    assert {span.attributes.get("assay.code") for span in collector.spans} >= {code or "ok" for code in seen}
    for body in collector.bodies:
        assert CANARY not in body.decode().lower() and sha256_hex(API_KEY) not in body.decode()

    for line in service.log + service.output:
        assert CANARY not in line.lower(), line
        assert sha256_hex(API_KEY) not in line
    for entry in contract.recording[start:]:
        if entry["status"] >= 400:
            assert CANARY not in entry["body"].lower(), entry
        elif entry["path"] == "/v1/explain":
            assert not any(secret in entry["body"] for secret in SECRETS), entry
    for path in ("/metrics", "/v1/providers", "/readyz"):
        assert CANARY not in service.admin.get(path).text.lower()


def test_each_request_has_one_log_line(watched):
    service, issuer, _ = watched
    authorization = {"Authorization": f"Bearer {API_KEY}"}
    expected = {
        "line-good": (
            service.verify(issuer.token(email="a@b"), authorization | {"X-Request-Id": "line-good"}),
            None,
            "oidc",
        ),
        "line-expired": (
            service.verify(issuer.token(exp=1), authorization | {"X-Request-Id": "line-expired"}),
            "token_expired",
            "oidc",
        ),
        "line-unknown": (
            service.verify("x", authorization | {"X-Request-Id": "line-unknown"}),
            "token_malformed",
            None,
        ),
    }
    for request_id, (response, code, provider_id) in expected.items():
        entry = service.wait_for_entry(message="request", request_id=request_id)
        assert entry["level"] == "info"
        assert (entry["route"], entry["status"], entry["code"]) == ("/v1/verify", response.status, code)
        assert entry["provider"] == provider_id
        assert type(entry["duration_us"]) is int and 0 <= entry["duration_us"] < 10_000_000
        assert len(service.entries(message="request", request_id=request_id)) == 1


def test_other_requests_have_a_log_line_too(watched):
    service, _, _ = watched
    for listener, path, status in [
        (service.api, "/nowhere", 404),
        (service.api, "/v1/verify", 405),
    ]:
        request_id = f"other{path.replace('/', '-')}"
        assert listener.get(path, {"X-Request-Id": request_id}).status == status
        entry = service.wait_for_entry(message="request", request_id=request_id)
        assert entry["status"] == status
        assert "nowhere" not in entry["route"]


def test_each_log_line_is_a_json_object(watched):
    service, _, _ = watched
    assert service.log
    for line in list(service.log):
        entry = contract.strict_json(line.encode())
        assert {"time", "level", "message"} <= set(entry), line
        assert entry["level"] in ("trace", "debug", "info", "notice", "warning", "error", "critical")
        assert entry["time"].endswith("Z") and entry["time"][10] == "T", line


def test_a_request_id_cannot_break_the_log(watched):
    service, _, _ = watched
    value = '"},{"level":"error\\","x":"'
    service.api.get("/livez", {"X-Request-Id": value})
    service.api.post("/v1/verify", b"{}", {"X-Request-Id": value})
    entry = service.wait_for_entry(message="request", request_id=value)
    assert entry["level"] == "info"


def test_a_rejected_token_logs_no_warning(watched):
    service, issuer, _ = watched
    service.verify(issuer.token(exp=1), {"Authorization": f"Bearer {API_KEY}", "X-Request-Id": "no-warning"})
    service.wait_for_entry(message="request", request_id="no-warning")
    assert not service.entries(level="error")
    assert not [entry for entry in service.entries(level="warning") if entry.get("request_id")]


def test_request_logging_can_be_turned_off(shared_server):
    issuer = shared_server.issuer("quiet", ec_key("quiet"))
    with Service(provider(issuer), log={"requests": False}) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        service.reject(issuer.token(exp=1), "token_expired")
        service.stop()
        assert not service.entries(message="request")


def test_log_lines_of_refused_requests_are_rate_limited_and_counted(shared_server):
    issuer = shared_server.issuer("refused", ec_key("refused"))
    with Service(provider(issuer), log={"requests": "refused"}) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        refused = 500
        for _ in range(refused):
            service.reject("x", "token_malformed")
        service.reject(issuer.token(exp=1), "token_expired")
        page = Metrics(service.admin.get("/metrics").text)
        assert page.value("assay_verifications_total", code="token_malformed") == refused
        service.stop()
    lines = [line for line in service.entries(message="request") if line["route"] == "/v1/verify"]
    malformed = [line for line in lines if line["code"] == "token_malformed"]
    written = [line for line in malformed if "suppressed" not in line]
    # Each event loop has its own limit of ten.
    assert 10 <= len(written) <= 10 * os.cpu_count()
    assert len(written) + sum(line.get("suppressed", 0) for line in malformed) == refused
    assert all("request_id" in line for line in written)
    assert [line["code"] for line in lines if line not in malformed] == ["token_expired"]


def test_unauthenticated_requests_cannot_flood_the_log(shared_server):
    """The limit applies by default."""
    issuer = shared_server.issuer("strangers", ec_key("strangers"))
    many = 300
    with Service(provider(issuer), api_keys=[sha256_hex(API_KEY)]) as service:
        service.wait_until_ready()
        for _ in range(many):
            assert service.api.get("/nowhere").status == 404
            assert service.verify("x").status == 401
            assert service.api.get("/v1/verify").status == 405
            with service.api.connect() as connection:
                connection.send(b"nonsense\r\n\r\n")
                assert connection.response("GET", "/").status == 400
        for _ in range(many):
            service.verify("x", {"Authorization": f"Bearer {API_KEY}"})
        service.stop()
    lines = service.entries(message="request")
    for status in (404, 401, 405, 400):
        found = [line for line in lines if line.get("status") == status]
        written = [line for line in found if "suppressed" not in line]
        assert 10 <= len(written) <= 10 * os.cpu_count(), status
        assert len(written) + sum(line.get("suppressed", 0) for line in found) == many
    # Refusals for a caller with an API key are always logged.
    assert len([line for line in lines if line["status"] == 422]) == many


def test_one_line_describes_the_start(shared_server):
    issuer, second = (shared_server.issuer(name, ec_key(name)) for name in ("started", "started-second"))
    with Service(provider(issuer), provider(second, "second", optional=True)) as service:
        entry = service.wait_for_entry(message="started")
        assert entry["settings"] == str(service.config)
        assert (entry["service"], entry["admin"]) == (service.api.address, service.admin.address)
        assert entry["providers"] == ["oidc", "second"]
        assert entry["version"] in run("--version").stdout.decode()


def test_a_reload_logs_what_has_changed(shared_server):
    issuer, new = (shared_server.issuer(name, ec_key(name)) for name in ("changed", "changed-new"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        settings = {
            "service": {"listen": "127.0.0.1:0"},
            "admin": {"listen": "127.0.0.1:0", "hosts": ["ops"]},
            "log": {"requests": "refused"},
            "providers": [provider(issuer, audiences=["other"]), provider(new, "new")],
        }
        write_config(service.directory, settings)
        service.process.send_signal(signal.SIGHUP)
        entry = service.wait_for_entry(message="configuration reloaded")
        assert entry["changed"] == ["admin.hosts", "log.requests", "providers.oidc", "providers.new (new)"]


def test_the_log_has_the_duration_of_a_timeout(shared_server):
    issuer = shared_server.issuer("slow", ec_key("slow"))
    with Service(provider(issuer), limits={"request_timeout": "1s"}) as service:
        service.wait_until_ready()
        for sent in (b"POST /v1/verify HTTP/1.1\r\nHost: x", request_bytes("POST", "/v1/verify", b"{}")[:-1]):
            with service.api.connect() as connection:
                connection.send(sent)
                assert connection.response("POST", "/v1/verify").status == 408
        service.wait_for(lambda: len(service.entries(message="request", status=408)) == 2)
        for entry in service.entries(message="request", status=408):
            # The listener checks timeouts four times per second.
            assert 1_000_000 <= entry["duration_us"] < 10_000_000


def test_probes_and_scrapes_are_logged_on_request(shared_server):
    issuer = shared_server.issuer("probes", ec_key("probes"))
    for probes in (False, True):
        with Service(provider(issuer), log={"probes": probes}) as service:
            service.wait_until_ready()
            for listener in (service.api, service.admin):
                for path in ("/livez", "/readyz", "/metrics"):
                    listener.get(path)
            service.stop()
        answered = {line["route"] for line in service.entries(message="request") if line["status"] in (200, 503)}
        assert answered == ({"/livez", "/readyz", "/metrics"} if probes else set())


def test_at_level_debug_each_refused_request_is_logged(shared_server):
    issuer = shared_server.issuer("refused-debug", ec_key("refused"))
    with Service(provider(issuer), log={"requests": "refused", "level": "debug"}) as service:
        service.wait_until_ready()
        for _ in range(100):
            service.reject("x", "token_malformed")
        service.accept(issuer.token())
        service.stop()
    lines = [line for line in service.entries(message="request") if line["route"] == "/v1/verify"]
    assert [line["code"] for line in lines] == ["token_malformed"] * 100


def test_a_repeated_warning_is_rate_limited_and_counted(shared_server):
    issuer = shared_server.issuer("again", ec_key("again"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        broken = service.config.read_text() + "nonsense: true\n"
        service.config.write_text(broken)
        for count in range(1, 31):
            service.process.send_signal(signal.SIGHUP)
            service.wait_until(lambda: refusals(service) >= count)  # noqa: B023
        seen = refusals(service)
        service.stop()
    message = "configuration rejected, still using the previous one"
    lines = service.entries(message=message)
    written = [line for line in lines if "suppressed" not in line]
    assert len(written) == 10
    (held_back,) = [line for line in lines if "suppressed" in line]
    assert held_back["level"] == "warning" and held_back["reason"] == written[0]["reason"]
    assert held_back["suppressed"] == seen - 10


def refusals(service) -> int:
    page = Metrics(service.admin.get("/metrics").text)
    return int(page.value("assay_configuration_reloads_total", result="failure"))


def test_the_log_at_level_debug_is_valid_json(shared_server):
    issuer = shared_server.issuer("warnings", ec_key("warnings"))
    with Service(provider(issuer), log={"level": "debug"}) as service:
        service.wait_until_ready()
    assert all(json.loads(line) for line in service.log)


def test_repeated_fetch_failures_are_logged_once(server):
    issuer = server.issuer("op", ec_key("old"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        lines = len(service.log)
        issuer.jwks.status = 500
        for _ in range(5):
            service.admin.post("/v1/providers/oidc/refresh")
        service.stop()
        warnings = [line for line in service.log[lines:] if json.loads(line)["level"] == "warning"]
        assert len(warnings) == 1, warnings
        assert "oidc" in warnings[0]
