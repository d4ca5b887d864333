"""`assay dev`: a service and an issuer for trying it out, on loopback only."""

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
def test_its_tokens_verify(dev, provider):
    token = dev.token(provider, nonce="raw nonce")
    assert token["nonce"] == "raw nonce"
    answer = verify(dev, token)
    assert answer.status == 200, answer
    assert answer.json["identity"]["provider"] == provider
    assert answer.json["identity"]["issuer"] == f"http://{dev.issuer_address}/{provider}"
    assert answer.json["token"]["nonce_match"] == ("sha256_hex" if provider == "apple" else "plain")
    assert_code(verify(dev, token, nonce="other"), "nonce_mismatch")


@pytest.mark.parametrize(("claims", "code"), [({"exp": 1}, "token_expired"), ({"sub": ""}, "claim_missing")])
def test_claims_can_be_overridden_to_see_a_refusal(dev, claims, code):
    assert_code(verify(dev, dev.token("google", nonce="n", claims=claims)), code)


def test_keys_rotate_on_demand(dev):
    before = {provider: dev.ask_issuer("GET", f"/{provider}/keys").json for provider in DEV_PROVIDERS}
    assert dev.ask_issuer("POST", ROTATE).status in (200, 204)
    for provider in DEV_PROVIDERS:
        assert dev.ask_issuer("GET", f"/{provider}/keys").json != before[provider]
        token = dev.token(provider, nonce="n")
        assert verify(dev, token).status == 200


def test_the_printed_commands_work_when_pasted(dev):
    commands_shown = dev.printed_commands()
    assert len(commands_shown) >= 2
    result = run_shell("\n".join(commands_shown))
    assert result.returncode == 0, result
    # An identity, and the rejection of another sign-in's nonce.
    assert '"identity"' in result.stdout, result
    assert "nonce_mismatch" in result.stdout, result


@pytest.mark.parametrize(
    ("provider", "type", "expected"),
    [
        ("apple", "account-deleted", "account_deleted"), ("google", "logout", "logged_out"),
        ("google", "sessions-revoked", "sessions_revoked"),
    ],
)  # fmt: skip
def test_its_notifications_verify(dev, provider, type, expected):
    sent = dev.ask_issuer("POST", f"/{provider}/notification", {"type": type})
    answer = dev.api.post("/v1/notifications/verify", sent.json)
    assert answer.status == 200, answer
    assert [event["type"] for event in answer.json["events"]] == [expected]
    assert answer.json["notification"]["provider"] == provider


def test_a_browser_gets_a_code_and_the_backend_tokens_for_it(dev):
    query = "client_id=example-client-id.apps.example.com&redirect_uri=http://localhost/back&response_type=code&nonce=n"
    redirect = dev.ask_issuer("GET", f"/google/authorize?{query}&state=a%26b")
    assert redirect.status == 302
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
    again = dev.ask_issuer("POST", "/google/token", body, headers)
    assert (again.status, again.json) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_its_clients_exchange_refresh_and_revoke(dev, provider):
    begun = dev.api.post("/v1/sign-ins", {"provider": provider}).json
    token = dev.token(provider, nonce=begun["nonce"], code=True)
    # The code alone, and with the ID Token, as apps of Apple's send both.
    more = {"id_token": token["id_token"]} if provider == "apple" else {}
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": token["code"]} | more)
    assert finished.status == 200, finished
    grant, subject = finished.json["grant"], finished.json["identity"]["subject"]
    refresh = {"provider": provider, "refresh_token": grant["refresh_token"], "subject": subject}
    refreshed = dev.api.post("/v1/grants/refresh", refresh)
    assert refreshed.status == 200 and refreshed.json["identity"]["subject"] == subject, refreshed
    assert dev.api.post("/v1/grants/revoke", {"provider": provider, "token": grant["refresh_token"]}).status == 204
    # Apple calls it invalid_request, which means the same.
    assert_code(dev.api.post("/v1/grants/refresh", refresh), "grant_invalid")


@pytest.mark.parametrize("option", ["--listen", "--admin-listen", "--issuer-listen"])
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_an_address_that_others_can_reach_is_refused(option, address):
    arguments = list(commands.DEV)
    arguments[arguments.index(option) + 1] = address
    result = run(*arguments)
    assert result.returncode not in (0, -4, -5, -6, -11), result
    assert b"loopback" in result.stderr
    assert b'"listening"' not in result.stderr


@pytest.mark.parametrize("origin", ["", "localhost:8000", "http://", "http://localhost:8000/", "ftp://localhost", "http://a b"])
def test_an_origin_that_is_none_is_refused(origin):
    result = run(*commands.DEV, "--origin", origin)
    assert result.returncode not in (0, -4, -5, -6, -11), result
    assert b"--origin must be" in result.stderr


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_a_sign_in_in_the_browser_begins(dev, provider):
    redirect = f"http://localhost:8000/callback/{provider}"
    begun = dev.api.post("/v1/sign-ins", {"provider": provider, "redirect_uri": redirect})
    assert begun.status == 201, begun
    assert begun.json["authorization_url"].startswith(f"http://{dev.issuer_address}/{provider}/authorize?")
    assert ("response_mode=form_post" in begun.json["authorization_url"]) == (provider == "apple")
    another = dev.api.post("/v1/sign-ins", {"provider": provider, "redirect_uri": redirect + "/"})
    assert_code(another, "redirect_uri_not_configured")


def test_it_has_a_console(dev):
    assert dev.admin.get("/console").status == 200
    assert any(f"http://{dev.admin.address}/console" in line for line in dev.output)


def test_it_opens_with_how_to_use_it_and_says_nothing_else():
    process = Process(*commands.DEV)
    try:
        process.wait_for(lambda: any("/rotate" in line for line in process.output))
        assert process.output[0].startswith("Assay is running")
        assert "/console" in "\n".join(process.output[:4])
        token = next(line for line in process.output if line.startswith("token="))
        ask = next(line for line in process.output if "/v1/verify" in line and line.startswith("curl"))
        assert '"identity"' in run_shell(f"{token}\n{ask}").stdout
        process.terminate()
        assert process.wait() == 0
        assert process.log == []
    finally:
        process.kill()


def test_its_log_has_no_warnings_of_what_it_must_be(dev):
    assert dev.entries(level="warning") == []
