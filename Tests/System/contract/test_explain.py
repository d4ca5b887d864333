"""`POST /v1/explain` and `assay explain`: why a token is rejected, check by check."""

import json
import os
import pathlib
import pty
import re
import socket
import threading

import pytest

from harness import commands, contract
from harness.certificates import Authority
from harness.client import request_bytes
from harness.clock import WallClock
from harness.contract import assert_code
from harness.metrics import Metrics
from harness.service import BINARY, Service, apple_like, environment, google_like, provider, run, write_config
from harness.tokens import ec_key, jws, now, rsa_key, sha256_hex
from harness.wire import reset

MEMBERS = {"valid", "provider", "code", "summary", "likely_cause", "time", "checks", "keys", "token"}
CHECK_MEMBERS = {"name", "state", "code", "expected", "found", "explanation", "fix"}
NAMES = [
    *("token_form", "provider", "header", "algorithm", "key", "signature", "issuer", "key_issuer", "audience"),
    *("authorized_party", "expiry", "not_before", "issued_at", "token_age", "auth_time"),
    *("authenticated_after", "subject", "events"),
    *("required_claims", "claim_values", "service_account", "identity", "nonce", "token_kind", "at_hash", "c_hash"),
    "expected_subject",
]


@pytest.fixture
def issuer(server):
    return server.issuer("op", ec_key("op"))


@pytest.fixture
def config(issuer, tmp_path):
    return write_config(tmp_path, {"providers": [provider(issuer)]})


def well_formed(answer: dict) -> dict:
    assert set(answer) == MEMBERS
    assert [check["name"] for check in answer["checks"]] == NAMES
    for check in answer["checks"]:
        assert set(check) == CHECK_MEMBERS
        assert check["state"] in ("passed", "failed", "not_reached", "not_asked")
        assert (check["code"] is not None) == (check["state"] == "failed")
        assert check["explanation"].endswith(".")
    failed = [check["code"] for check in answer["checks"] if check["state"] == "failed"]
    assert answer["code"] == (failed[0] if failed else None)
    assert answer["valid"] == (not failed)
    assert (answer["likely_cause"] is None) == (not failed)
    return answer


def explain(service, id_token, headers=None, **members) -> dict:
    response = service.admin.post("/v1/explain", {"id_token": id_token} | members, headers)
    assert response.status == 200, response
    return well_formed(response.json)


def check(answer: dict, name: str) -> dict:
    return next(check for check in answer["checks"] if check["name"] == name)


# over HTTP


def test_a_valid_token_is_explained_as_valid(service, apple):
    answer = explain(service, apple.token(nonce=sha256_hex("raw")), nonce="raw")
    assert answer["valid"] and answer["provider"] == "apple"
    assert "SHA-256 (hex) of your nonce" in check(answer, "nonce")["explanation"]
    assert abs(answer["time"] - now()) < 10
    keys = answer["keys"]
    assert keys["state"] == "ready" and keys["source"] == "network" and keys["last_error"] is None
    assert keys["fetched_at"] <= now() and abs(keys["clock_offset_seconds"]) <= 1


@pytest.mark.parametrize(
    ("claims", "members"),
    [
        ({}, {}),
        ({"nonce": "a"}, {"nonce": "b"}),
        ({"aud": "stranger"}, {}),
        ({"iss": "https://stranger.example.com"}, {}),
        ({}, {"audience": "stranger"}),
        ({}, {"provider": "stranger"}),
        ({}, {"provider": "apple"}),
    ],
)
def test_it_agrees_with_verify(service, oidc, claims, members):
    token = oidc.token(**claims)
    verified = service.verify(token, **members)
    if verified.code in ("audience_not_configured",) or members.get("provider") == "stranger":
        # Errors in the request itself are problems here too.
        response = service.admin.post("/v1/explain", {"id_token": token} | members)
        assert (response.status, response.code) == (verified.status, verified.code)
    else:
        answer = explain(service, token, **members)
        assert answer["code"] == verified.code
        assert answer["valid"] == (verified.status == 200)


@pytest.mark.parametrize(
    ("shift", "code", "name", "words"),
    [
        (1000, "token_expired", "expiry", "according to this machine's clock, which is 16 min ahead of the provider's."),
        (-500, "token_not_yet_valid", "issued_at", "according to this machine's clock, which is 8 min behind the provider's."),
    ],
)
def test_a_wrong_clock_is_named_as_the_cause(issuer, tmp_path, shift, code, name, words):
    clock = WallClock(tmp_path)
    clock.shift(shift)
    with Service(provider(issuer), variables=clock.variables) as service:
        service.wait_until_ready()
        answer = explain(service, issuer.token())
        assert answer["code"] == code
        assert abs(answer["keys"]["clock_offset_seconds"] + shift) <= 2
        assert words in check(answer, name)["explanation"]
        assert "NTP" in check(answer, name)["fix"]


@pytest.mark.parametrize(
    "body",
    [b"", b'{"id_token":"x","nonse":"y"}'],
)
def test_an_invalid_request_is_refused(service, body):
    response = service.admin.post("/v1/explain", body, {"Content-Type": "application/json"})
    assert_code(response, "request_invalid")


def test_the_body_is_limited(service):
    with service.admin.connect() as connection:
        octets = request_bytes("POST", "/v1/explain", b'{"id_token":"' + b"x" * 70_000 + b'"}')
        connection.send_tolerantly(octets)
        assert_code(connection.response("POST", "/v1/explain"), "request_too_large")


def test_it_is_only_on_the_admin_listener(service, oidc):
    assert_code(service.api.post("/v1/explain", {"id_token": oidc.token()}), "not_found")
    assert_code(service.admin.get("/v1/explain"), "method_not_allowed")


def test_it_counts_as_a_request_but_not_as_a_verification(server):
    issuer = server.issuer("op", ec_key("op"))
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        explain(service, issuer.token())
        explain(service, issuer.token(exp=1), {"X-Request-Id": "explained"})
        metrics = Metrics(service.admin.get("/metrics").text)
        assert metrics.value("assay_verifications_total") == 0
        assert metrics.value("assay_http_requests_total", route="/v1/explain", status="200") == 2
        entry = service.wait_for_entry(message="request", request_id="explained")
        assert (entry["route"], entry["provider"], entry["code"]) == ("/v1/explain", "oidc", None)


# on the command line


def test_the_command_prints_the_same_explanation_as_json(config, issuer):
    good = run(*commands.explain(config, "--json"), stdin=issuer.token() + "\n")
    assert good.returncode == 0, good
    assert well_formed(json.loads(good.stdout))["valid"]
    bad = run(*commands.explain(config, "--json", "--nonce", "raw"), stdin=issuer.token(exp=1))
    assert bad.returncode == 1, bad
    answer = well_formed(json.loads(bad.stdout))
    assert answer["code"] == "token_expired"
    assert check(answer, "nonce")["code"] == "nonce_missing"


@pytest.mark.parametrize("place", ["argument", "dash", "standard input"])
def test_the_token_may_be_an_argument_or_on_stdin(config, issuer, place):
    token = issuer.token()
    arguments = {"argument": [token], "dash": ["-"], "standard input": []}[place]
    result = run(*commands.explain(config, *arguments), stdin="" if place == "argument" else token + "\n")
    assert result.returncode == 0, result
    assert result.stdout.decode().splitlines()[0] == "valid (provider oidc)"


def test_the_command_prints_the_cause_first_then_the_checks(config, issuer):
    result = run(*commands.explain(config), stdin=issuer.token(exp=now() - 100, nonce="n"))
    assert result.returncode == 1
    lines = result.stdout.decode().splitlines()
    assert "\x1b" not in result.stdout.decode()
    assert any(re.match(r"passed +signature +The signature is valid", line) for line in lines)
    assert any(re.match(r"failed +expiry +The token expired 10\d s ago according to this machine's clock.*\(token_expired\)$", line) for line in lines)
    assert any(re.match(r" +fix: +Have the user sign in again", line) for line in lines)
    assert any(re.match(r"not enabled +(key_issuer, .*|the other \d+ checks)$", line) for line in lines)
    assert lines[0] == "refused: token_expired (provider oidc)"
    assert lines[1].startswith("The token expired 10") and lines[1].endswith(", and one more check fails.")
    assert lines[2].startswith("Fix: Have the user sign in again")
    assert result.stderr == b""


@pytest.mark.parametrize(("variables", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_the_output_is_coloured_on_a_terminal(config, issuer, variables, is_coloured):
    output = on_terminal([BINARY, *commands.explain(config, issuer.token(exp=1))], environment(**variables))
    assert ("\x1b[1;31mfailed" in output) == is_coloured
    assert ("\x1b[32mpassed" in output) == is_coloured
    assert ("\x1b" in output) == is_coloured
    assert "token_expired" in output


def on_terminal(arguments: list[str], variables: dict) -> str:
    """What a program writes to a terminal."""
    process, terminal = pty.fork()
    if process == 0:
        os.execve(arguments[0], arguments, variables)
    timer = threading.Timer(15, os.kill, (process, 9))
    timer.start()
    output = b""
    try:
        while piece := os.read(terminal, 65536):
            output += piece
    except OSError:
        # The process has ended.
        pass
    finally:
        timer.cancel()
        os.close(terminal)
        os.waitpid(process, 0)
    return output.decode()


def test_the_command_reports_errors_in_the_request(config, issuer):
    result = run(*commands.explain(config, "--provider", "nobody"), stdin=issuer.token())
    assert result.returncode == 1
    assert b"(provider_unknown)" in result.stdout
    result = run(*commands.explain(config, "--json", "--provider", "nobody"), stdin=issuer.token())
    assert result.returncode == 1
    contract.check_problem(json.loads(result.stdout))


@pytest.mark.parametrize("token", [b"", b"\n", b"not a token", b"\xff\xfe.\x80.\x00", b"x" * 100_000, b"\x1b]0;x\x07.a.b"])
def test_the_command_accepts_any_input(config, token):
    for arguments in ([], ["--json"]):
        result = run(*commands.explain(config, *arguments), stdin=token)
        assert result.returncode == 1, result
        assert b"\x1b" not in result.stdout and b"\x07" not in result.stdout


def test_the_command_prints_no_secret(config, issuer):
    token = issuer.token(sub="canary-subject", nonce="canary-nonce", email="canary@example.com", at_hash="canary")
    options = ["--nonce", "canary-other", "--access-token", "canary-access", "--code", "canary-code"]
    for arguments in ([], ["--json"]):
        result = run(*commands.explain(config, *options, *arguments), stdin=token)
        assert result.returncode == 1
        assert b"canary" not in result.stdout + result.stderr
        assert all(part.encode() not in result.stdout + result.stderr for part in token.split("."))


def test_verify_accepts_an_access_token_or_a_code(config, issuer):
    for option, code in (("access-token", "at_hash_missing"), ("code", "c_hash_missing")):
        result = run(*commands.verify(config, **{option: "x"}), stdin=issuer.token())
        assert json.loads(result.stdout)["code"] == code


def test_a_named_provider_explains_tokens_with_its_issuers_alias(server):
    google = server.issuer("google", rsa_key("google-1"))
    with Service(google_like(google)) as service:
        service.wait_until_ready()
        answer = explain(service, google.token(iss="https://accounts.google.com", nonce="n"), nonce="n", provider="google")
        assert answer["provider"] == "google"


def test_a_token_of_another_provider_is_reported_as_such(server):
    apple, google = server.issuer("apple", rsa_key("apple-1")), server.issuer("google", rsa_key("google-1"))
    with Service(apple_like(apple), google_like(google)) as service:
        service.wait_until_ready()
        answer = explain(service, google.token(), provider="apple")
        assert answer["code"] == "key_not_found"
        assert answer["likely_cause"]["check"] == "issuer"
        assert answer["summary"].startswith("The token is from another configured provider: its iss is google's, but")


def test_personal_claims_are_masked(service, oidc):
    answer = explain(service, oidc.token(sub="canary-subject", email="canary@example.com", email_verified=True, hd="example.com"))
    claims = {member["name"]: (member["value"], member["masked"]) for member in answer["token"]["claims"]}
    assert claims["email"] == ("18 characters", True)
    assert claims["sub"][1] and claims["hd"] == ("example.com", False) and claims["email_verified"] == ("true", False)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(in \d+ \w+\)", claims["exp"][0])
    assert "canary" not in json.dumps(answer)


def test_the_command_waits_for_keys_even_if_the_header_is_refused(config, issuer):
    """Unlike the service, the command has only just started its first fetch."""
    token = jws(issuer.keys[0], issuer.claims(), typ="at+jwt")
    result = run(*commands.explain(config, "--json"), stdin=token)
    answer = well_formed(json.loads(result.stdout))
    assert answer["code"] == "header_unsupported" and answer["keys"]["state"] == "ready"
    assert check(answer, "signature")["state"] == "passed"


def test_fetch_errors_do_not_mix_with_the_output(config, issuer):
    issuer.discovery.status = 500
    token = issuer.token()
    explained = run(*commands.explain(config), stdin=token)
    assert explained.returncode == 1 and explained.stderr == b""
    assert b"The last fetch failed (http): the server answered with status 500." in explained.stdout
    verified = run(*commands.verify(config), stdin=token)
    assert json.loads(verified.stdout)["code"] == "keys_unavailable"
    assert verified.stderr == b"The keys of oidc can't be fetched (http): the server answered with status 500.\n"


def test_the_command_shows_personal_values_only_on_request(config, issuer):
    token = issuer.token(email="ada@example.com", phone="555", exp=now() - 7200)
    masked = run(*commands.explain(config), stdin=token).stdout.decode()
    assert "ada@example.com" not in masked and re.search(r"^  email +\[15 characters\]$", masked, re.M)
    assert re.search(r"^  exp +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(2 h ago\)$", masked, re.M)
    assert "--show-values" in masked
    shown = run(*commands.explain(config, "--show-values"), stdin=token).stdout.decode()
    assert re.search(r"^  email +ada@example.com$", shown, re.M) and "--show-values" not in shown
    answer = json.loads(run(*commands.explain(config, "--show-values", "--json"), stdin=token).stdout)
    assert {"name": "email", "value": "ada@example.com", "masked": False} in well_formed(answer)["token"]["claims"]


def test_a_preset_needs_no_settings_file(server):
    token = server.issuer("google", rsa_key("google-1")).token(iss="https://accounts.google.com", aud="client")
    # The proxy does not exist, so Apple is not contacted.
    options = ("explain", "--preset", "apple", "--audience", "com.example.app")
    result = run(*options, stdin=token, variables={"HTTPS_PROXY": "http://127.0.0.1:1"})
    lines = result.stdout.decode().splitlines()
    assert result.returncode == 1 and lines[0] == "refused: keys_unavailable (provider apple)"
    assert lines[1].startswith("The token is from another provider: its iss is that of the preset google,")
    assert any(re.match(r"failed +audience ", line) for line in lines)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--preset", "aple", "--audience", "a"], b"there is no preset aple"),
        (["--preset", "apple"], b"--preset needs --audience"),
        (["--preset", "apple", "--config", "x", "--audience", "a"], b"--preset and --config are mutually exclusive"),
        (["--preset", "apple", "--audience", "a", "--provider", "b"], b"omit --provider"),
        (["--preset", "apple", "--audience", "a", "--preset-parameter", "x=y"], b"preset apple takes no parameter"),
        (["--server", "http://127.0.0.1:1", "--preset", "apple"], b"omit --config and --preset"),
        (["--server", "127.0.0.1:9090"], b"--server must be http://"),
        (["--server", "http://user@127.0.0.1:9090"], b"--server must be http://"),
        (["--api-key-file", "x"], b"need --server"),
        (["--server", "http://127.0.0.1:1", "--api-key-env", "NOT_THERE"], b"there is no such variable"),
        (["--server", "http://127.0.0.1:1"], b"http://127.0.0.1:1: the connection was refused"),
    ],
)
def test_incompatible_options_are_reported(arguments, text):
    result = run("explain", *arguments, stdin="x")
    assert result.returncode != 0 and text in result.stderr and result.stdout == b"", result


# on a running instance


def ask_instance(address: str, token: str, *options: str, **variables) -> dict:
    result = run("explain", "--server", address, "--json", *options, stdin=token, variables=variables)
    assert result.stdout, result
    return well_formed(json.loads(result.stdout))


def test_the_command_can_ask_a_running_instance_with_a_key(issuer, tmp_path):
    key = tmp_path / "key"
    key.write_text("s3cret\n")
    with Service(provider(issuer), admin={"listen": "127.0.0.1:0", "api_keys": [sha256_hex("s3cret")]}) as service:
        service.wait_until(lambda: service.api.get("/readyz").status == 200)
        address = "http://" + service.admin.address
        answer = ask_instance(address, issuer.token(nonce="n"), "--nonce", "n", "--api-key-file", str(key))
        assert answer["valid"] and answer["keys"]["source"] == "network"
        assert ask_instance(address, issuer.token(), "--api-key-env", "KEY", KEY="s3cret")["valid"]
        text = run("explain", "--server", address, "--api-key-file", str(key), stdin=issuer.token(exp=1))
        assert text.returncode == 1 and text.stdout.startswith(b"refused: token_expired (provider oidc)\n")
        refused = run("explain", "--server", address, stdin=issuer.token())
        assert refused.returncode == 1 and b"pass --api-key-file" in refused.stderr
        wrong = run("explain", "--server", "http://" + service.api.address, stdin=issuer.token())
        assert b"use the admin listener's address" in wrong.stderr
        tls = run("explain", "--server", "https://" + service.admin.address, stdin=issuer.token())
        assert tls.returncode == 1 and b"plain HTTP" in tls.stderr, tls


def test_the_command_can_use_a_unix_socket_or_tls(issuer, tmp_path_factory):
    path = f"unix:{tmp_path_factory.mktemp('s')}/admin.sock"
    with Service(provider(issuer), admin={"listen": path}) as service:
        service.wait_until(lambda: service.api.get("/readyz").status == 200)
        assert ask_instance(path, issuer.token())["valid"]
    authority = Authority(tmp_path_factory.mktemp("authority"), "Servers")
    file = str(authority.server_file())
    listener = {"listen": "127.0.0.1:0", "tls": {"certificate_file": file, "key_file": file}}
    with Service(provider(issuer), admin=listener, admin_context=authority.client_context()) as service:
        service.wait_until(lambda: service.api.get("/readyz").status == 200)
        address = "https://" + service.admin.address
        assert ask_instance(address, issuer.token(), "--server-ca", str(authority.certificate_file))["valid"]
        untrusted = run("explain", "--server", address, stdin=issuer.token())
        assert untrusted.returncode == 1 and b"the certificate is not trusted; see --server-ca" in untrusted.stderr
        plain = run("explain", "--server", "http://" + service.admin.address, stdin=issuer.token())
        assert plain.returncode == 1 and b"if the listener uses TLS, use https://" in plain.stderr, plain


def test_a_reset_connection_is_reported_as_closed(issuer):
    """A TLS listener may reset the connection when it receives plain HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def reset_after_the_first_byte():
            connection, _ = listener.accept()
            connection.recv(1)
            reset(connection)

        threading.Thread(target=reset_after_the_first_byte).start()
        port = listener.getsockname()[1]
        result = run("explain", "--server", f"http://127.0.0.1:{port}", stdin=issuer.token())
    assert result.returncode == 1 and b"if the listener uses TLS, use https://" in result.stderr, result


@pytest.mark.skipif(pathlib.Path("/etc/assay/assay.yaml").exists(), reason="this machine has settings of its own")
def test_without_settings_the_command_names_the_alternatives():
    result = run("explain", stdin=b"")
    assert result.returncode == 1
    for words in (b"--config", b"--preset apple --audience", b"--server URL"):
        assert words in result.stderr, result.stderr
    verify = run("verify", stdin=b"")
    assert b"--preset apple --audience" in verify.stderr and b"--server" not in verify.stderr, verify.stderr
