"""`assay.yaml`: what is accepted, what is refused and at which line, and variables of the environment."""

import json
import re

import pytest

from harness import commands
from harness.contract import assert_code
from harness.service import Process, Service, apple_like, provider, run
from harness.tokens import ec_key, now, sha256_hex

EXAMPLE = """\
service: { listen: "127.0.0.1:8080" }
admin:   { listen: "127.0.0.1:9090" }
clock_skew: 60s
cache_directory: /var/lib/assay
keys: { stale_for: 24h }
limits: { max_body: 64KiB, max_connections: 10000, max_in_flight: 1024 }
verified_token_cache: { entries: 10000 }
api_keys: []
providers:
  - id: apple
    preset: apple
    audiences: [com.example.app, com.example.web]
  - id: google
    preset: google
    audiences: [client.apps.googleusercontent.com]
  - id: oidc.example
    issuer: https://auth.example.com
    audiences: [my-client-id]
    algorithms: [RS256, ES256]
    nonce: { match: [plain], required: true }
    clock_skew: 30s
    max_token_age: 1h
    required_claims: [email]
    optional: true
    trusted_audiences: [partner]
    authorized_parties: [my-client-id]
    private_email_domains: [relay.example.com]
    issuer_aliases: [https://old.example.com]
  - id: keys-by-address
    preset: oidc
    issuer: https://keys.example.com
    jwks_uri: https://keys.example.com/jwks
    audiences: [x]
    nonce: { check: off }
    network: { allow_http: false, allow_private_addresses: true }
  - id: discovery-elsewhere
    issuer: https://elsewhere.example.com
    discovery_url: https://discovery.example.com/openid-configuration
    audiences: [x]
  - id: keys-by-file
    issuer: https://file.example.com
    jwks_file: /etc/assay/keys.json
    audiences: [x]
shutdown_grace: 10s
log: { level: info, requests: true }
"""
# `config check` requires the file to exist, so this test file takes its place.
EXAMPLE = EXAMPLE.replace("/etc/assay/keys.json", __file__)
SOME_LIMITS = "{ max_body: 64KiB, max_connections: 10000, max_in_flight: 1024 }"
ALL_LIMITS = (
    "{ max_body: 64KiB, max_batch_body: 4MiB, max_header: 16KiB, max_connections: 10000, max_in_flight: 1024, "
    "request_timeout: 10s, keys_timeout: 5s }"
)


@pytest.fixture
def check(tmp_path):
    """Runs `assay config check` on a text."""

    def check_text(text: str | bytes, variables: dict | None = None):
        file = tmp_path / "assay.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return run(*commands.config_check(file), variables=variables)

    return check_text


def assert_refused(result, line: int | None = None, *words: str) -> None:
    assert result.returncode not in (0, -4, -5, -6, -11), result
    text = (result.stderr + result.stdout).decode()
    if line is not None:
        assert re.search(rf"(line |assay\.yaml:){line}\b", text), f"line {line} expected: {text}"
    for word in words:
        assert word in text, text


def test_the_contracts_example_is_accepted(check):
    result = check(EXAMPLE)
    assert result.returncode == 0, result


def test_every_limit_is_configurable(check):
    result = check(EXAMPLE.replace(SOME_LIMITS, ALL_LIMITS))
    assert result.returncode == 0, result


def test_minimal_settings_are_accepted(check):
    result = check("providers:\n  - id: apple\n    preset: apple\n    audiences: [com.example.app]\n")
    assert result.returncode == 0, result


LINES = EXAMPLE.splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


# A part of the example, its replacement, and what the error must name, at the line of this part.
# `Tests/SettingsTests` tests all errors of settings.
FAULTS = {
    "unknown key at the top": ("clock_skew: 60s\n", "clock_skw: 60s\n", "clock_skw"),
    "unknown key in a provider": ("    required_claims", "    require_claims", "require_claims"),
    "a duration without a unit": ("clock_skew: 60s", "clock_skew: 60", "clock_skew"),
    "too much skew of a provider": ("clock_skew: 30s", "clock_skew: 301s", "clock_skew"),
    "a symmetric algorithm": ("[RS256, ES256]", "[HS256]", "algorithms"),
    "an API key in the clear": ("api_keys: []", "api_keys: [my-secret-key]", "api_keys"),
    "a key twice": ("clock_skew: 60s\n", "clock_skew: 60s\nclock_skew: 30s\n", "clock_skew"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_error_is_reported_with_its_line(check, name):
    piece, fault, word = FAULTS[name]
    assert piece in EXAMPLE
    line = EXAMPLE[: EXAMPLE.index(piece)].count("\n") + 1
    # If a key occurs twice, either line may be named. Secrets must not be printed.
    result = check(EXAMPLE.replace(piece, fault, 1))
    assert_refused(result, None if name == "a key twice" else line, word)
    assert b"my-secret-key" not in result.stderr + result.stdout


@pytest.mark.parametrize("text", [b"", b"[]", b"providers: []\n", b"a:\n\t- b\n", b"\xff\xfe", b"a: &a [*a]\n"], ids=repr)
def test_a_file_that_is_not_a_configuration_is_refused(check, text):
    assert_refused(check(text))


def test_all_errors_are_reported_at_once(check):
    faulty = EXAMPLE.replace("127.0.0.1:8080", "127.0.0.1:99999").replace("preset: apple", "preset: aple")
    result = check(faulty, {"ASSAY_API_KYES": "my-secret-key"})
    assert_refused(result, line_of("127.0.0.1:8080"), "99999", "0 to 65535")
    assert_refused(result, line_of("preset: apple"), "did you mean apple?")
    assert_refused(result, None, "ASSAY_API_KYES", "did you mean ASSAY_API_KEYS?")
    assert b"my-secret-key" not in result.stderr + result.stdout


@pytest.mark.parametrize("setting", ["jwks_file: {}", "network: {{ ca_file: {} }}"])
def test_a_providers_missing_file_is_refused(check, tmp_path, setting):
    line = "    " + setting.format(tmp_path / "absent.pem")
    result = check(EXAMPLE.replace(f"    jwks_file: {__file__}", line + "\n    discovery_url: https://x.example/d"))
    assert_refused(result, line_of("jwks_file:"), "absent.pem: there is no such file")


def test_a_directory_is_refused_as_a_settings_file(tmp_path):
    result = run(*commands.config_check(tmp_path))
    assert result.returncode == 1
    assert b"it is a directory" in result.stderr and b"to mount" in result.stderr


def test_invalid_tls_files_are_refused_at_their_lines(check, tmp_path):
    (tmp_path / "empty.pem").touch()
    lines = [
        "service:",
        "  listen: 127.0.0.1:8080",
        "  tls:",
        f"    certificate_file: {tmp_path}/absent.pem",
        f"    key_file: {tmp_path}/empty.pem",
        f"    client_ca_file: {tmp_path}",
    ]
    first, rest = EXAMPLE.split("\n", 1)
    assert first.startswith("service:")
    result = check("\n".join([*lines, rest]))
    assert_refused(result, 4, "service.tls.certificate_file: ", "absent.pem: there is no such file")
    assert_refused(result, 5, "service.tls.key_file: ", "empty.pem: it contains no PEM private key")
    assert_refused(result, 6, "service.tls.client_ca_file: ")


def test_invalid_files_for_the_collector_are_refused_at_their_lines(check, tmp_path):
    (tmp_path / "headers").write_text("no header\n")
    (tmp_path / "empty.pem").touch()
    lines = [
        "tracing:",
        "  otlp_endpoint: http://127.0.0.1:4318",
        f"  headers_file: {tmp_path}/headers",
        f"  ca_file: {tmp_path}/empty.pem",
    ]
    result = check("\n".join([*lines, EXAMPLE]))
    assert_refused(result, 3, "tracing.headers_file: ", "headers: line 1 is not of the form name: value")
    assert_refused(result, 4, "tracing.ca_file: ", "empty.pem: it contains no PEM certificate")
    assert check("\n".join([*lines, EXAMPLE]), {"OTEL_SDK_DISABLED": "true"}).returncode == 0


def test_key_files_of_sign_ins_are_checked(check, tmp_path):
    good, copy, short, other = (tmp_path / name for name in ("good.key", "copy.key", "short.key", "other.key"))
    good.write_bytes(run("key", "new").stdout)
    copy.write_bytes(good.read_bytes())
    short.write_text("c2hvcnQ=\n")
    other.write_text("-----BEGIN PRIVATE KEY-----\n")
    for file in (good, copy, short, other):
        file.chmod(0o600)

    def result(*files, store: str = "url: 'unix:/run/valkey.sock'"):
        names = ", ".join(map(str, files))
        return check("\n".join([f"sign_ins:\n  key_files: [{names}]\n  store: {{ {store} }}", EXAMPLE]))

    accepted = result(good)
    assert accepted.returncode == 0 and b"sign_ins" not in accepted.stdout, accepted.stdout
    made = "create one with assay key new"
    for files, told in [
        ([good, tmp_path / "absent"], "absent: there is no such file"),
        ([good, short], f"short.key: the key has 5 bytes instead of 32; {made}"),
        ([other], f"other.key: the file is not a key, 32 bytes in base64; {made}"),
        ([good, copy], "copy.key: the file has the same key as an earlier one; list each key once"),
    ]:
        refused = result(*files)
        assert_refused(refused, 2, "sign_ins.key_files: ", told)
        assert good.read_bytes().strip() not in refused.stdout + refused.stderr
    (tmp_path / "password").write_text("\n")
    password = f"url: 'unix:/run/valkey.sock', password_file: {tmp_path}/password"
    assert_refused(result(good, store=password), 3, "sign_ins.store.password_file: ", "password: the file is empty")
    good.chmod(0o644)
    exposed = result(good)
    assert exposed.returncode == 0
    told = f"warning: sign_ins.key_files: {good}: other users, or a group that this process is not in, can read it (mode 644)"
    assert told.encode() in exposed.stdout


def test_missing_files_are_reported_with_all_other_errors(check, tmp_path):
    lines = [
        'service: { listen: "127.0.0.1:8080", tls: { certificate_file: /absent/crt, key_file: /absent/key } }',
        "tracing: { otlp_endpoint: 5, headers_file: /absent/headers }",
        "clock_skew: 5",
        "providers:",
        "  - { id: a, preset: aple, audiences: [a], jwks_file: /absent/keys }",
        "  - { id: b, issuer: https://b.example, audiences: [b], network: { ca_file: /absent/ca } }",
    ]
    text = check("\n".join(lines)).stderr.decode()
    faults = re.findall(r"line (\d+): (.*)", text)
    assert [int(line) for line, _ in faults] == [1, 1, 2, 2, 3, 5, 5, 6], text
    assert [message for _, message in faults if "/absent/" in message] == [
        "service.tls.certificate_file: /absent/crt: there is no such file",
        "service.tls.key_file: /absent/key: there is no such file",
        "tracing.headers_file: /absent/headers: there is no such file",
        "provider a: jwks_file: /absent/keys: there is no such file",
        "provider b: network.ca_file: /absent/ca: there is no such file",
    ]


def test_missing_files_prevent_the_start(tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(f"tracing: {{ otlp_endpoint: 'http://127.0.0.1:4318', ca_file: /absent/ca }}\n{EXAMPLE}clock_skw: 5s")
    result = run("serve", "--config", str(file))
    assert_refused(result, 1, "tracing.ca_file: /absent/ca: there is no such file", "did you mean clock_skew?")


def test_effective_settings_are_shown_with_their_origin(tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(EXAMPLE)
    result = run("config", "show", "--config", str(file), variables={"ASSAY_LOG_LEVEL": "debug"})
    assert result.returncode == 0, result
    shown = [" ".join(line.split()) for line in result.stdout.decode().splitlines()]
    assert 'listen: "127.0.0.1:8080" # line 1' in shown
    assert "level: debug # ASSAY_LOG_LEVEL" in shown
    assert "max_batch_body: 4MiB # default" in shown
    assert 'issuer: "https://appleid.apple.com" # preset apple' in shown
    file.write_bytes(result.stdout)
    assert run(*commands.config_check(file)).returncode == 0


def test_the_environments_proxy_is_shown_without_its_password(tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(EXAMPLE)
    variables = {"HTTPS_PROXY": "http://user:secret@proxy.example:3129", "NO_PROXY": ".corp.example,localhost"}
    shown = run("config", "show", "--config", str(file), variables=variables).stdout.decode()
    line = next(line for line in shown.splitlines() if "HTTPS_PROXY" in line)
    assert line.startswith("# ") and "proxy.example:3129" in line and "corp.example, localhost (NO_PROXY)" in line
    assert "secret" not in shown


def test_a_missing_file_is_refused(tmp_path):
    result = run(*commands.config_check(tmp_path / "absent.yaml"))
    assert_refused(result)
    assert b"absent.yaml" in result.stderr + result.stdout


def test_serve_refuses_an_invalid_configuration_too(tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(EXAMPLE.replace("clock_skew: 60s", "clock_skw: 60s"))
    result = run("serve", "--config", str(file))
    assert_refused(result, line_of("clock_skew: 60s"), "clock_skw")
    assert b"listening" not in result.stderr


# the environment


def test_environment_variables_are_checked_like_settings(check):
    assert check(EXAMPLE, {"ASSAY_CLOCK_SKEW": "30s"}).returncode == 0
    assert_refused(check(EXAMPLE, {"ASSAY_CLOCK_SKEW": "301s"}), None, "ASSAY_CLOCK_SKEW")
    assert_refused(check(EXAMPLE, {"ASSAY_LIMITS_MAX_BODY": "much"}), None, "ASSAY_LIMITS_MAX_BODY")
    assert_refused(check(EXAMPLE, {"ASSAY_SERVICE_LISTEN": "nowhere"}), None, "ASSAY_SERVICE_LISTEN")


def test_environment_variables_override_settings(server):
    issuer = server.issuer("op", ec_key("op"))
    with Service(
        provider(issuer), clock_skew="60s", variables={"ASSAY_CLOCK_SKEW": "0s", "ASSAY_LIMITS_MAX_BODY": "2KiB"}
    ) as service:
        service.wait_until_ready()
        service.reject(issuer.token(exp=now() - 5, iat=now() - 100), "token_expired")
        assert_code(service.api.post("/v1/verify", b" " * 2049), "request_too_large")


def test_the_environment_may_name_the_settings_file(server, tmp_path):
    issuer = server.issuer("op", ec_key("op"))
    with Service(provider(issuer)) as service:
        process = Process("serve", variables={"ASSAY_CONFIG": str(service.config)})
        try:
            process.listening("service")
            process.terminate()
            assert process.wait() == 0
        finally:
            process.kill()
        result = run("config", "check", variables={"ASSAY_CONFIG": str(tmp_path / "absent.yaml")})
        assert_refused(result, None, "absent.yaml")


# effects of settings that no other test covers


def test_risky_settings_cause_warnings(server):
    issuer = server.issuer("risky", ec_key("op"))
    settings = apple_like(issuer, algorithms=["ES256"], nonce={"match": ["sha256_hex", "plain"]})
    with Service(settings) as service:
        service.wait_until_ready()
        warnings = [json.dumps(entry) for entry in service.entries(level="warning")]
        assert any("plain" in warning for warning in warnings), service.log
        assert any("http" in warning for warning in warnings), service.log


@pytest.mark.parametrize("entries", [0, 10])
def test_the_verified_token_cache_changes_no_answer(server, entries):
    issuer = server.issuer("op", ec_key("op"))
    with Service(provider(issuer), verified_token_cache={"entries": entries}) as service:
        service.wait_until_ready()
        token = issuer.token(nonce="n", auth_time=now() - 100)
        for _ in range(3):
            assert service.accept(token, nonce="n")["token"]["nonce_match"] == "plain"
            service.reject(token, "nonce_mismatch", nonce="m")
            service.reject(token, "nonce_required")
            service.reject(token, "auth_time_too_old", nonce="n", max_age=5)
            service.reject(token, "at_hash_missing", nonce="n", access_token="x")
            assert "claims" in service.accept(token, nonce="n", include_claims=True)
            service.reject(
                token[:-2] + ("AA" if token[-2:] != "AA" else "BA"), "signature_invalid", "token_malformed", nonce="n"
            )


def test_a_cached_token_does_not_outlive_its_keys(server):
    old, new = ec_key("old"), ec_key("new")
    issuer = server.issuer("op", old)
    with Service(provider(issuer), verified_token_cache={"entries": 100}) as service:
        service.wait_until_ready()
        token = issuer.token()
        for _ in range(3):
            service.accept(token)
        issuer.rotate(new)
        for _ in range(3):
            service.admin.post("/v1/providers/oidc/refresh")
        service.reject(token, "key_not_found")


def test_a_cached_token_does_not_outlive_its_expiry(server):
    issuer = server.issuer("op", ec_key("op"))
    with Service(provider(issuer), clock_skew="0s", verified_token_cache={"entries": 100}) as service:
        service.wait_until_ready()
        token = issuer.token(exp=now() + 2, iat=now() - 10)
        service.accept(token)
        service.wait_until(lambda: service.verify(token).code == "token_expired", timeout=5)


def test_a_trailing_slash_is_part_of_the_issuer(server):
    """Discovery uses the same URL with and without it, but the issuer must match exactly."""
    issuer = server.issuer("op", ec_key("op"))
    issuer.url += "/"
    issuer.discovery.body = issuer.discovery_document(jwks_uri=issuer.url + "keys")
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        service.reject(issuer.token(iss=issuer.url[:-1]), "provider_unknown")


def test_the_discovery_document_may_be_at_another_url(server):
    issuer = server.issuer("op", ec_key("op"))
    elsewhere = server.document("/custom/configuration", issuer.discovery_document())
    with Service(provider(issuer, discovery_url=server.url + "/custom/configuration")) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        assert (elsewhere.count, issuer.discovery.count) == (1, 0)


def test_apples_discovery_document_is_not_fetched(server):
    issuer = server.issuer("apple-op", ec_key("op"))
    with Service(apple_like(issuer, algorithms=["ES256"])) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        assert issuer.discovery.count == 0


def test_digests_of_api_keys_are_case_insensitive(server):
    issuer = server.issuer("op", ec_key("op"))
    with Service(provider(issuer), api_keys=[sha256_hex("key").upper()]) as service:
        service.wait_until_ready()
        assert service.verify(issuer.token(), {"Authorization": "Bearer key"}).status == 200
        assert_code(service.verify(issuer.token()), "caller_unauthenticated")
