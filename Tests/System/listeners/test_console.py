"""The console over HTTP: when it is served, what its page may load, and who may access it.

Tests/System/console tests it in a browser.
"""

import json
import re

import pytest

from harness.certificates import Authority
from harness.client import request_bytes
from harness.contract import assert_code
from harness.metrics import Metrics
from harness.service import Service, provider, with_console, write_config
from harness.tokens import ec_key, sha256_hex

KEY = "operator-key-0123456789"
FILES = {
    "/console": "text/html; charset=utf-8",
    "/console/console.css": "text/css; charset=utf-8",
    "/console/console.js": "text/javascript; charset=utf-8",
}
DATA = ["/v1/providers", "/v1/events", "/v1/verdicts"]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("console", ec_key("console"))


@pytest.fixture(scope="module")
def console(issuer):
    with with_console(provider(issuer)) as service:
        yield service.wait_until_ready()


@pytest.fixture(scope="module")
def guarded(issuer):
    with with_console(provider(issuer), api_keys=[sha256_hex(KEY)]) as service:
        yield service.wait_until_ready()


# MARK: The page


@pytest.mark.parametrize("path", FILES)
def test_the_console_is_off_by_default(service, path):
    assert_code(service.admin.get(path), "not_found")
    assert_code(service.admin.post(path), "not_found")


@pytest.mark.parametrize("path", FILES)
def test_the_console_is_only_on_the_admin_listener(console, path):
    assert console.admin.get(path).status == 200
    assert_code(console.api.get(path), "not_found")
    assert_code(console.admin.post(path), "method_not_allowed")


def test_the_root_redirects_to_the_console(console, service):
    response = console.admin.get("/")
    assert (response.status, response.header("Location")) == (302, "console")
    assert_code(console.admin.get("/", {"Host": "evil.example"}), "request_invalid")
    assert_code(console.api.get("/"), "not_found")
    assert_code(service.admin.get("/"), "not_found")


def test_the_admin_listeners_404_lists_paths_that_exist(service):
    problem = assert_code(service.admin.get("/nothing"), "not_found")
    assert "/openapi.yaml" not in problem["detail"]
    for path in re.findall(r"/[a-z0-9/]+\b(?!/?\{)", problem["detail"].replace("/v1/providers/{id}/refresh", "")):
        assert service.admin.get(path).status != 404, path
    assert "admin.console" in assert_code(service.admin.get("/console"), "not_found")["detail"]


@pytest.mark.parametrize("path", ["/console/", "/console/index.html", "/console/../console", "/Console", "/console.js"])
def test_similar_paths_are_not_found(console, path):
    assert_code(console.admin.get(path), "not_found")


@pytest.mark.parametrize(("path", "content_type"), FILES.items())
def test_each_file_has_its_content_type_and_a_strict_policy(console, path, content_type):
    response = console.admin.get(path)
    assert response.header("Content-Type") == content_type
    assert response.header("X-Content-Type-Options") == "nosniff"
    assert response.header("Referrer-Policy") == "no-referrer"
    assert response.header("X-Frame-Options") == "DENY"
    assert response.header("Cross-Origin-Resource-Policy") == "same-origin"
    (policy,) = response.all("Content-Security-Policy")
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


def test_the_page_loads_only_its_own_files_and_has_no_inline_code(console):
    page = console.admin.get("/console").text
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert {link for link in links if not link.startswith("#")} == {"data:,", "console/console.css", "console/console.js"}
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for path in FILES:
        assert not re.search(r"https?://|//\w+\.\w+", console.admin.get(path).text)


def test_a_reload_turns_the_console_on_and_off(issuer):
    with Service(provider(issuer)) as service:
        for is_on in (True, False):
            admin = {"listen": "127.0.0.1:0", "console": is_on}
            settings = {"service": {"listen": "127.0.0.1:0"}, "admin": admin, "providers": [provider(issuer)]}
            write_config(service.directory, settings)
            service.wait_until(lambda on=is_on: (service.admin.get("/console").status == 200) == on)


# MARK: Access control


@pytest.mark.parametrize("path", FILES)
def test_the_page_itself_needs_no_key(guarded, path):
    assert guarded.admin.get(path).status == 200


@pytest.mark.parametrize("path", DATA)
def test_the_pages_data_needs_a_key(guarded, path):
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert_code(guarded.admin.get(path, headers), "caller_unauthenticated")
    assert guarded.admin.get(path, {"Authorization": f"Bearer {KEY}"}).status == 200


@pytest.mark.parametrize("path", [*DATA, *FILES])
def test_an_unknown_host_name_is_refused(console, path):
    """DNS rebinding: a name that resolves to an attacker's server and then to ours gives their page the console's origin."""
    for host in ("evil.example", "evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.example", "[::1].x", "1.2"):
        assert_code(console.admin.get(path, {"Host": host}), "request_invalid")
    for host in ("127.0.0.1", "127.0.0.1:9090", "[::1]:9090", "localhost", "LocalHost:80", "10.0.0.7:9090"):
        assert console.admin.get(path, {"Host": host}).status == 200


@pytest.mark.parametrize("console", [True, False])
def test_an_admin_listener_without_keys_accepts_only_its_own_names(issuer, console):
    admin = {"listen": "127.0.0.1:0", "console": console, "hosts": ["Assay.Internal", "ops"]}
    with Service(provider(issuer), admin=admin) as service:
        for path in (*DATA, "/livez", "/readyz", "/metrics", "/nothing"):
            for host in ("evil.example", "assay.internal.evil.example", "localhost.", "op"):
                assert_code(service.admin.get(path, {"Host": host}), "request_invalid")
            for host in ("assay.internal", "ASSAY.internal:9090", "ops", "localhost:9090", "127.0.0.1", "[::1]:1"):
                assert service.admin.get(path, {"Host": host}).code != "request_invalid"


def test_any_name_is_accepted_if_a_key_is_required(guarded):
    headers = {"Host": "ops.example.com", "Authorization": f"Bearer {KEY}"}
    for path in ("/v1/providers", "/console", "/livez", "/metrics"):
        assert guarded.admin.get(path, headers).status == 200


def test_any_name_is_accepted_with_tls_or_on_a_socket(issuer, tmp_path):
    """DNS rebinding fails there: with TLS, a name needs a certificate, and browsers don't open Unix sockets."""
    authority = Authority(tmp_path, "Servers")
    certificate = str(authority.server_file())
    context = authority.client_context()
    tls = {"certificate_file": certificate, "key_file": certificate}
    with Service(
        provider(issuer), admin={"listen": "127.0.0.1:0", "console": True, "tls": tls}, admin_context=context
    ) as service:
        assert service.admin.get("/v1/providers", {"Host": "ops.example.com"}).status == 200
    with with_console(provider(issuer), listen=f"unix:{tmp_path}/admin") as service:
        assert service.admin.get("/console", {"Host": "ops.example.com"}).status == 200


CROSS_SITE = [
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "127.0.0.1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "Same-Origin"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1"},
]


@pytest.mark.parametrize("headers", CROSS_SITE, ids=str)
def test_requests_from_other_sites_are_refused(console, service, world, issuer, headers):
    fetches = issuer.jwks.count
    assert_code(console.admin.post("/v1/providers/oidc/refresh", b"", headers), "request_invalid")
    assert issuer.jwks.count == fetches
    assert_code(console.admin.post("/v1/explain", {"id_token": issuer.token()}, headers), "request_invalid")
    # The same without the console.
    fetches = world.oidc.jwks.count
    assert_code(service.admin.post("/v1/providers/oidc/refresh", b"", headers), "request_invalid")
    assert world.oidc.jwks.count == fetches


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://ops.example.com"},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
def test_requests_from_the_console_and_other_programs_are_accepted(console, headers):
    assert console.admin.post("/v1/providers/oidc/refresh", b"", headers).status == 200


def test_two_origin_headers_are_refused(console):
    request = request_bytes("POST", "/v1/providers/oidc/refresh", b"", {"Origin": "http://127.0.0.1"})
    with console.admin.connect() as connection:
        connection.send(request.replace(b"\r\n\r\n", b"\r\nOrigin: https://evil.example\r\n\r\n"))
        assert_code(connection.response("POST", "/v1/providers/oidc/refresh"), "request_invalid")


@pytest.mark.parametrize("path", [*DATA, *FILES])
def test_no_other_origin_may_read_responses(console, path):
    for method in ("GET", "OPTIONS"):
        response = console.admin.request(method, path, None, {"Origin": "https://evil.example"})
        assert not [name for name, _ in response.headers if name.lower().startswith("access-control")]


# MARK: Contents


def test_verdicts_agree_with_the_metrics(server):
    issuer = server.issuer("counted", ec_key("counted"))
    with Service(provider(issuer, "one"), provider(server.issuer("other"), "two")) as service:
        service.wait_until_ready()
        assert service.admin.get("/v1/verdicts").json == {"verdicts": []}
        for _ in range(3):
            service.accept(issuer.token())
        service.reject(issuer.token(exp=1), "token_expired")
        service.reject("x", "token_malformed")
        counted = {(each["provider"], each["code"]): each["count"] for each in service.admin.get("/v1/verdicts").json["verdicts"]}
        assert counted == {("one", "ok"): 3, ("one", "token_expired"): 1, (None, "token_malformed"): 1}
        metrics = Metrics(service.admin.get("/metrics").text)
        for (id, code), count in counted.items():
            assert metrics.value("assay_verifications_total", provider=id or "", code=code) == count


def events(service: Service, id: str) -> list[dict]:
    """A provider's events without their times, oldest first."""
    listed = [each for each in service.admin.get("/v1/events").json["events"] if each["provider"] == id]
    assert all(each["since"] <= each["at"] for each in listed)
    assert [each["at"] for each in listed] == sorted((each["at"] for each in listed), reverse=True)
    return [{name: value for name, value in each.items() if name not in ("at", "since")} for each in reversed(listed)]


def event(name: str, count: int = 1, **members) -> dict:
    usual = dict.fromkeys(["added", "removed", "state", "phase", "message"])
    return {"provider": "oidc", "event": name, "count": count} | usual | members


def named(*kids: str) -> dict:
    return {"count": len(kids), "kids": list(kids)}


def test_fetches_rotations_and_failures_are_events(server):
    first, second = ec_key("first"), ec_key("second")
    issuer = server.issuer("told", first)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        begun = [
            event("keys_changed", added=named("first"), removed=named()),
            event("fetched"),
            event("state_changed", state="ready"),
        ]
        assert events(service, "oidc") == begun

        issuer.rotate(second)
        service.admin.post("/v1/providers/oidc/refresh?drop_omitted=true")
        rotated = [event("keys_changed", added=named("second"), removed=named("first"))]
        assert events(service, "oidc") == begun + rotated + [event("fetched")]

        # Repetitions are one event with a count.
        service.admin.post("/v1/providers/oidc/refresh")
        service.admin.post("/v1/providers/oidc/refresh")
        assert events(service, "oidc") == begun + rotated + [event("fetched", 3)]

        issuer.jwks.status = 500
        service.admin.post("/v1/providers/oidc/refresh")
        failure = events(service, "oidc")[-1]
        assert (failure["event"], failure["phase"]) == ("fetch_failed", "http")
        assert failure["message"] == service.provider_state("oidc")["last_error"]["message"]


def test_events_of_a_removed_provider_disappear(server):
    kept, gone = server.issuer("kept"), server.issuer("gone")
    with Service(provider(kept), provider(gone, "gone")) as service:
        service.wait_until_ready()
        assert events(service, "gone")
        listeners = {name: {"listen": "127.0.0.1:0"} for name in ("service", "admin")}
        write_config(service.directory, listeners | {"providers": [provider(kept)]})
        service.wait_until(lambda: len(service.admin.get("/v1/providers").json["providers"]) == 1)
        assert not events(service, "gone")
        assert events(service, "oidc")


def test_events_with_many_long_kids_are_truncated(server):
    issuer = server.issuer("chatty", *(ec_key(f"{number:03}" + "é" * 500) for number in range(40)))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        added = next(each for each in events(service, "oidc") if each["event"] == "keys_changed")["added"]
        assert added["count"] == 40
        assert len(added["kids"]) == 20
        assert {len(kid) for kid in added["kids"]} == {128}
        assert len(json.dumps(added)) < 20_000
