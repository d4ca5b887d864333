"""The console over HTTP: when it is enabled, what it may request, and who may access it.

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
def test_it_is_off_unless_it_is_asked_for(service, path):
    assert_code(service.admin.get(path), "not_found")
    assert_code(service.admin.post(path), "not_found")


@pytest.mark.parametrize("path", FILES)
def test_it_is_on_the_admin_listener_only(console, path):
    assert console.admin.get(path).status == 200
    assert_code(console.api.get(path), "not_found")
    assert_code(console.admin.post(path), "method_not_allowed")


def test_the_root_leads_to_it(console, service):
    response = console.admin.get("/")
    assert (response.status, response.header("Location")) == (302, "console")
    assert_code(console.admin.get("/", {"Host": "evil.example"}), "request_invalid")
    assert_code(console.api.get("/"), "not_found")
    assert_code(service.admin.get("/"), "not_found")


def test_the_admin_listeners_404_leads_to_what_is_there(service):
    problem = assert_code(service.admin.get("/nothing"), "not_found")
    assert "/openapi.yaml" not in problem["detail"]
    for path in re.findall(r"/[a-z0-9/]+\b(?!/?\{)", problem["detail"].replace("/v1/providers/{id}/refresh", "")):
        assert service.admin.get(path).status != 404, path
    assert "admin.console" in assert_code(service.admin.get("/console"), "not_found")["detail"]


@pytest.mark.parametrize("path", ["/console/", "/console/index.html", "/console/../console", "/Console", "/console.js"])
def test_there_is_nothing_beside_it(console, path):
    assert_code(console.admin.get(path), "not_found")


@pytest.mark.parametrize(("path", "content_type"), FILES.items())
def test_its_files_say_what_they_are_and_what_they_may(console, path, content_type):
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


def test_it_needs_nothing_from_elsewhere_and_has_nothing_inline(console):
    page = console.admin.get("/console").text
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert {link for link in links if not link.startswith("#")} == {"data:,", "console/console.css", "console/console.js"}
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for path in FILES:
        assert not re.search(r"https?://|//\w+\.\w+", console.admin.get(path).text)


def test_a_reload_turns_it_on_and_off(issuer):
    with Service(provider(issuer)) as service:
        for is_on in (True, False):
            admin = {"listen": "127.0.0.1:0", "console": is_on}
            settings = {"service": {"listen": "127.0.0.1:0"}, "admin": admin, "providers": [provider(issuer)]}
            write_config(service.directory, settings)
            service.wait_until(lambda on=is_on: (service.admin.get("/console").status == 200) == on)


# MARK: Access control


@pytest.mark.parametrize("path", FILES)
def test_the_page_needs_no_key_since_a_browser_has_none_yet(guarded, path):
    assert guarded.admin.get(path).status == 200


@pytest.mark.parametrize("path", DATA)
def test_what_it_shows_needs_one(guarded, path):
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert_code(guarded.admin.get(path, headers), "caller_unauthenticated")
    assert guarded.admin.get(path, {"Authorization": f"Bearer {KEY}"}).status == 200


@pytest.mark.parametrize("path", [*DATA, *FILES])
def test_a_foreign_host_name_gets_no_data(console, path):
    """If an attacker's name resolves first to their own server and then to ours, their page has the console's origin."""
    for host in ("evil.example", "evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.example", "[::1].x", "1.2"):
        assert_code(console.admin.get(path, {"Host": host}), "request_invalid")
    for host in ("127.0.0.1", "127.0.0.1:9090", "[::1]:9090", "localhost", "LocalHost:80", "10.0.0.7:9090"):
        assert console.admin.get(path, {"Host": host}).status == 200


@pytest.mark.parametrize("console", [True, False])
def test_a_keyless_admin_listener_answers_its_own_names_alone(issuer, console):
    admin = {"listen": "127.0.0.1:0", "console": console, "hosts": ["Assay.Internal", "ops"]}
    with Service(provider(issuer), admin=admin) as service:
        for path in (*DATA, "/livez", "/readyz", "/metrics", "/nothing"):
            for host in ("evil.example", "assay.internal.evil.example", "localhost.", "op"):
                assert_code(service.admin.get(path, {"Host": host}), "request_invalid")
            for host in ("assay.internal", "ASSAY.internal:9090", "ops", "localhost:9090", "127.0.0.1", "[::1]:1"):
                assert service.admin.get(path, {"Host": host}).code != "request_invalid"


def test_names_are_answered_where_a_key_is_asked_for(guarded):
    headers = {"Host": "ops.example.com", "Authorization": f"Bearer {KEY}"}
    for path in ("/v1/providers", "/console", "/livez", "/metrics"):
        assert guarded.admin.get(path, headers).status == 200


def test_names_are_answered_where_no_browser_is_led_by_one(issuer, tmp_path):
    """With TLS, a name needs a certificate; a Unix socket has no name."""
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
def test_another_sites_page_may_cause_nothing(console, service, world, issuer, headers):
    fetches = issuer.jwks.count
    assert_code(console.admin.post("/v1/providers/oidc/refresh", b"", headers), "request_invalid")
    assert issuer.jwks.count == fetches
    assert_code(console.admin.post("/v1/explain", {"id_token": issuer.token()}, headers), "request_invalid")
    # Whether the console is enabled or not.
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
def test_its_own_page_and_other_programs_may(console, headers):
    assert console.admin.post("/v1/providers/oidc/refresh", b"", headers).status == 200


def test_two_origins_are_none(console):
    request = request_bytes("POST", "/v1/providers/oidc/refresh", b"", {"Origin": "http://127.0.0.1"})
    with console.admin.connect() as connection:
        connection.send(request.replace(b"\r\n\r\n", b"\r\nOrigin: https://evil.example\r\n\r\n"))
        assert_code(connection.response("POST", "/v1/providers/oidc/refresh"), "request_invalid")


@pytest.mark.parametrize("path", [*DATA, *FILES])
def test_no_other_origin_may_read_it(console, path):
    for method in ("GET", "OPTIONS"):
        response = console.admin.request(method, path, None, {"Origin": "https://evil.example"})
        assert not [name for name, _ in response.headers if name.lower().startswith("access-control")]


# MARK: Contents


def test_verdicts_are_those_of_the_metrics(server):
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


def test_events_tell_of_fetches_rotations_and_failures(server):
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

        # Repetitions count as one event.
        service.admin.post("/v1/providers/oidc/refresh")
        service.admin.post("/v1/providers/oidc/refresh")
        assert events(service, "oidc") == begun + rotated + [event("fetched", 3)]

        issuer.jwks.status = 500
        service.admin.post("/v1/providers/oidc/refresh")
        failure = events(service, "oidc")[-1]
        assert (failure["event"], failure["phase"]) == ("fetch_failed", "http")
        assert failure["message"] == service.provider_state("oidc")["last_error"]["message"]


def test_events_are_of_the_providers_that_there_are(server):
    kept, gone = server.issuer("kept"), server.issuer("gone")
    with Service(provider(kept), provider(gone, "gone")) as service:
        service.wait_until_ready()
        assert events(service, "gone")
        listeners = {name: {"listen": "127.0.0.1:0"} for name in ("service", "admin")}
        write_config(service.directory, listeners | {"providers": [provider(kept)]})
        service.wait_until(lambda: len(service.admin.get("/v1/providers").json["providers"]) == 1)
        assert not events(service, "gone")
        assert events(service, "oidc")


def test_a_provider_that_lists_many_long_kids_makes_no_long_events(server):
    issuer = server.issuer("chatty", *(ec_key(f"{number:03}" + "é" * 500) for number in range(40)))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        added = next(each for each in events(service, "oidc") if each["event"] == "keys_changed")["added"]
        assert added["count"] == 40
        assert len(added["kids"]) == 20
        assert {len(kid) for kid in added["kids"]} == {128}
        assert len(json.dumps(added)) < 20_000
