"""`assay dev` as a command: its output and options, and tokens, notifications and grants for scripts."""

import json
import re
import urllib.parse

import pytest

from harness import commands
from harness.commands import DEV_PROVIDERS, ROTATE, Dev, run_shell
from harness.contract import assert_code
from harness.service import Process, run


@pytest.fixture(scope="module")
def dev():
    with Dev() as process:
        yield process


def verify(dev, token: dict, **members):
    return dev.api.post("/v1/verify", {"id_token": token["id_token"], "nonce": token["nonce"]} | members)


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_issued_tokens_verify(dev, provider):
    token = dev.token(provider, nonce="raw nonce")
    assert token["nonce"] == "raw nonce"
    answer = verify(dev, token)
    assert answer.status == 200, answer
    assert answer.json["identity"]["provider"] == provider
    tenant = "/00000000-0000-4000-8000-000000000001/v2.0" if provider == "microsoft" else ""
    assert answer.json["identity"]["issuer"] == f"http://{dev.issuer_address}/{provider}{tenant}"
    assert answer.json["token"]["nonce_match"] == ("sha256_hex" if provider == "apple" else "plain")
    assert_code(verify(dev, token, nonce="other"), "nonce_mismatch")


@pytest.mark.parametrize(("claims", "code"), [({"exp": 1}, "token_expired"), ({"sub": ""}, "claim_missing")])
def test_claims_can_be_overridden(dev, claims, code):
    assert_code(verify(dev, dev.token("google", nonce="n", claims=claims)), code)


def test_keys_rotate_on_demand(dev):
    before = {provider: dev.ask_issuer("GET", f"/{provider}/keys").json for provider in DEV_PROVIDERS}
    assert dev.ask_issuer("POST", ROTATE).status in (200, 204)
    for provider in DEV_PROVIDERS:
        assert dev.ask_issuer("GET", f"/{provider}/keys").json != before[provider]
        token = dev.token(provider, nonce="n")
        assert verify(dev, token).status == 200


def test_the_printed_command_works(dev):
    (command,) = dev.printed_commands()
    result = run_shell(command)
    assert result.returncode == 0, result
    assert json.loads(result.stdout)["identity"]["provider"] == "apple"


@pytest.mark.parametrize(
    ("provider", "type", "expected"),
    [
        ("apple", "account-deleted", "account_deleted"), ("google", "logout", "logged_out"),
        ("google", "sessions-revoked", "sessions_revoked"),
    ],
)  # fmt: skip
def test_issued_notifications_verify(dev, provider, type, expected):
    sent = dev.ask_issuer("POST", f"/{provider}/notification", {"type": type})
    answer = dev.api.post("/v1/notifications/verify", sent.json)
    assert answer.status == 200, answer
    assert [event["type"] for event in answer.json["events"]] == [expected]
    assert answer.json["notification"]["provider"] == provider


def test_the_authorization_code_flow_works(dev):
    query = "client_id=example-client-id.apps.example.com&redirect_uri=http://localhost/back&response_type=code&nonce=n"
    redirect = dev.ask_issuer("GET", f"/google/authorize?{query}&state=a%26b&prompt=none&login_hint=alex")
    assert redirect.status == 303
    back = urllib.parse.urlsplit(redirect.header("Location"))
    parameters = dict(urllib.parse.parse_qsl(back.query, strict_parsing=True))
    assert parameters["state"] == "a&b" and parameters["iss"] == f"http://{dev.issuer_address}/google"
    form = {
        "grant_type": "authorization_code", "code": parameters["code"], "redirect_uri": "http://localhost/back",
        "client_id": "example-client-id.apps.example.com", "client_secret": "dev-client-secret",
    }  # fmt: skip
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    body = urllib.parse.urlencode(form).encode()
    tokens = dev.ask_issuer("POST", "/google/token", body, headers).json
    answer = dev.api.post("/v1/verify", {"id_token": tokens["id_token"], "nonce": "n"})
    assert answer.status == 200, answer
    nobody = dev.ask_issuer("GET", f"/google/authorize?{query}&prompt=none&login_hint=nobody")
    assert "error=login_required" in nobody.header("Location")
    again = dev.ask_issuer("POST", "/google/token", body, headers)
    assert (again.status, again.json) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_clients_can_exchange_refresh_and_revoke(dev, provider):
    begun = dev.api.post("/v1/sign-ins", {"provider": provider}).json
    token = dev.token(provider, nonce=begun["nonce"], code=True)
    # Apps send Apple's code together with the ID Token.
    more = {"id_token": token["id_token"]} if provider == "apple" else {}
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": token["code"]} | more)
    assert finished.status == 200, finished
    grant, subject = finished.json["grant"], finished.json["identity"]["subject"]
    refresh = {"provider": provider, "refresh_token": grant["refresh_token"], "subject": subject}
    if provider == "microsoft":
        refresh["issuer"] = finished.json["identity"]["issuer"]
    refreshed = dev.api.post("/v1/grants/refresh", refresh)
    assert refreshed.status == 200 and refreshed.json["identity"]["subject"] == subject, refreshed
    if refreshed.json["grant"]["refresh_token"]:
        # A used refresh token is replaced by a new one.
        assert provider in ("microsoft", "oidc")
        assert_code(dev.api.post("/v1/grants/refresh", refresh), "grant_invalid")
        refresh["refresh_token"] = refreshed.json["grant"]["refresh_token"]
    revoked = dev.api.post("/v1/grants/revoke", {"provider": provider, "token": refresh["refresh_token"]})
    if provider == "microsoft":
        # Microsoft has no revocation endpoint, so users revoke grants in their account.
        assert_code(revoked, "revocation_not_supported")
        assert dev.ask_issuer("POST", "/people", {"provider": provider, "revoke": "kim"}).status == 200
    else:
        assert revoked.status == 204
    # Apple answers invalid_request, which means the same.
    assert_code(dev.api.post("/v1/grants/refresh", refresh), "grant_invalid")


@pytest.mark.parametrize("option", ["--listen", "--admin-listen", "--issuer-listen"])
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_an_address_that_other_machines_can_reach_is_refused(option, address):
    arguments = list(commands.DEV)
    arguments[arguments.index(option) + 1] = address
    result = run(*arguments)
    assert result.returncode not in (0, -4, -5, -6, -11), result
    assert b"loopback" in result.stderr and b"--allow-remote" in result.stderr
    assert b'"listening"' not in result.stderr


def test_an_option_that_cannot_be_read_is_quoted():
    result = run("dev", "--listen", "localhost")
    assert result.returncode == 64
    assert b'--listen must be an address such as 127.0.0.1:8080; found "localhost"' in result.stderr
    assert b"Usage: assay dev " in result.stderr


@pytest.mark.parametrize("origin", ["", "localhost:8000", "http://", "http://localhost:8000/", "ftp://localhost", "http://a b"])
def test_an_invalid_origin_is_refused(origin):
    result = run(*commands.DEV, "--origin", origin)
    assert result.returncode not in (0, -4, -5, -6, -11), result
    assert b"--origin must be" in result.stderr


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_a_sign_in_in_the_browser_can_begin(dev, provider):
    redirect = f"http://localhost:8000/callback/{provider}"
    begun = dev.api.post("/v1/sign-ins", {"provider": provider, "redirect_uri": redirect})
    assert begun.status == 201, begun
    assert begun.json["authorization_url"].startswith(f"http://{dev.issuer_address}/{provider}/authorize?")
    assert ("response_mode=form_post" in begun.json["authorization_url"]) == (provider == "apple")
    another = dev.api.post("/v1/sign-ins", {"provider": provider, "redirect_uri": redirect + "/"})
    assert_code(another, "redirect_uri_not_configured")


def test_the_console_is_on(dev):
    assert dev.admin.get("/console").status == 200
    assert any(f"http://{dev.admin.address}/console" in line for line in dev.output)


def test_the_output_is_the_page_the_console_and_a_command():
    process = Process(*commands.DEV)
    try:
        process.wait_for(lambda: len(process.output) == 4)
        page, console, clients, command = process.output
        assert re.fullmatch(r"Sign in +http://127.0.0.1:\d+/", page)
        assert re.fullmatch(r"Console +http://127.0.0.1:\d+/console", console)
        assert re.fullmatch(r"Clients +apple com\.example\.app, google .+, oidc \S+; for a backend at http://localhost:8000", clients)
        assert command.startswith("Try") and command.count("curl") == 2
        process.terminate()
        assert process.wait() == 0
        assert process.log == []
    finally:
        process.kill()


def test_the_log_has_no_warnings(dev):
    assert dev.entries(level="warning") == []


def test_json_prints_one_line_when_ready():
    process = Process("dev", "--listen", "127.0.0.1:0", "--json")
    try:
        process.wait_for(lambda: process.output)
        ready = json.loads(process.output[0])
        ports = {ready[name].rsplit(":", 1)[1].strip("/") for name in ("service", "admin", "provider")}
        assert len(ports) == 3 and not ports & {"0", "8080", "9090", "9400"}
        assert ready["page"] == ready["provider"] + "/" and ready["console"] == ready["admin"] + "/console"
        assert [each["id"] for each in ready["providers"]] == DEV_PROVIDERS
        apple = ready["providers"][0]
        assert apple == {
            "id": "apple", "preset": "apple", "issuer": ready["provider"] + "/apple", "url": ready["provider"] + "/apple",
            "audiences": ["com.example.app"],
        }  # fmt: skip
        process.terminate()
        assert process.wait() == 0
        assert len(process.output) == 1 and process.log == []
    finally:
        process.kill()


def test_allow_remote_permits_other_machines():
    process = Process("dev", "--allow-remote", "--listen", "0.0.0.0:0", "--json", "--log")
    try:
        process.wait_for(lambda: process.output)
        ready = json.loads(process.output[0])
        assert process.listening("issuer").startswith("0.0.0.0:")
        # The issuers still have addresses of this machine.
        assert all(each["issuer"].startswith("http://127.0.0.1:") for each in ready["providers"])
    finally:
        process.kill()


@pytest.mark.parametrize(
    "origin", ["https://idp.test", "http://accounts.google.com", "http://localhost:9400", "http://idp.test/x", ""]
)
def test_an_issuer_that_could_be_real_is_refused(origin):
    result = run(*commands.DEV, "--issuer-origin", origin)
    assert result.returncode not in (0, -4, -5, -6, -11), result
    assert b"--issuer-origin must be" in result.stderr


@pytest.mark.parametrize("host", ["evil.example", "192.0.2.1", "127.0.0.1.evil.example"])
def test_other_host_names_are_refused(dev, host):
    assert dev.ask_issuer("POST", "/apple/token", {}, {"Host": host}).status == 421
    assert dev.ask_issuer("POST", "/apple/token", {}, {"Host": "idp.test"}).status == 200
