"""The subcommands other than `serve`: verify, config check, healthcheck, version, help."""

import json
import re
import socket

import pytest

from harness import commands
from harness.contract import check_problem, check_success
from harness.service import Service, apple_like, provider, run, write_config
from harness.tokens import ec_key, sha256_hex


@pytest.fixture
def issuer(server):
    return server.issuer("op", ec_key("op"))


@pytest.fixture
def config(issuer, tmp_path):
    return write_config(tmp_path, {"providers": [provider(issuer)]})


# verify


def test_verify_prints_the_identity(config, issuer):
    result = run(*commands.verify(config), stdin=issuer.token())
    assert result.returncode == 0, result
    answer = json.loads(result.stdout)
    check_success(answer)
    assert answer["identity"]["subject"] == "user-1"


def test_verify_accepts_a_token_with_a_line_end(config, issuer):
    assert run(*commands.verify(config), stdin=issuer.token() + "\n").returncode == 0


def test_verify_accepts_a_nonce_and_a_provider(server, tmp_path):
    apple = server.issuer("apple", ec_key("apple"))
    config = write_config(tmp_path, {"providers": [apple_like(apple, algorithms=["ES256"])]})
    token = apple.token(nonce=sha256_hex("raw"))
    result = run(*commands.verify(config, nonce="raw", provider="apple"), stdin=token)
    assert result.returncode == 0, result
    assert json.loads(result.stdout)["token"]["nonce_match"] == "sha256_hex"
    assert run(*commands.verify(config, nonce="other"), stdin=token).returncode == 1


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"exp": 1}, "token_expired"),
        ({"aud": "stranger"}, "audience_mismatch"),
        ({"nonce": "n"}, "nonce_required"),
        ({"iss": "https://x"}, "provider_unknown"),
        ({"sub": None}, "claim_missing"),
    ],
)
def test_verify_prints_the_problem_and_fails(config, issuer, claims, code):
    result = run(*commands.verify(config), stdin=issuer.token(**claims))
    assert result.returncode == 1, result
    problem = json.loads(result.stdout)
    assert problem["code"] == code
    check_problem(problem)


@pytest.mark.parametrize("token", ["", "\n", "not a token", "a.b.c", "x" * 100_000])
def test_verify_refuses_a_malformed_token(config, token):
    result = run(*commands.verify(config), stdin=token)
    assert result.returncode == 1, result
    assert json.loads(result.stdout)["code"] in ("token_malformed", "provider_unknown")


def test_verify_refuses_invalid_utf_8(config):
    result = run(*commands.verify(config), stdin=b"\xff\xfe.\x80.\x00")
    assert result.returncode == 1, result
    assert json.loads(result.stdout)["code"] in ("token_malformed", "request_invalid")


def test_verify_reports_unavailable_keys(config, issuer):
    issuer.discovery.status = 500
    result = run(*commands.verify(config), stdin=issuer.token())
    assert result.returncode == 1, result
    assert json.loads(result.stdout)["code"] == "keys_unavailable"


def test_verify_never_prints_the_token(config, issuer):
    token = issuer.token(sub=None, nonce="canary-nonce", email="canary@example.com")
    result = run(*commands.verify(config, nonce="canary-other"), stdin=token)
    assert result.returncode == 1
    for part in token.split("."):
        assert part.encode() not in result.stdout + result.stderr
    assert b"canary" not in result.stdout + result.stderr


# healthcheck


def test_healthcheck_distinguishes_running_ready_and_absent(issuer):
    issuer.discovery.status = 500
    with Service(provider(issuer)) as service:
        for address in (service.api.address, service.admin.address):
            assert run(*commands.healthcheck(address)).returncode == 0
            assert run(*commands.healthcheck(address, ready=True)).returncode == 1
        issuer.discovery.status = 200
        service.wait_until_ready()
        for address in (service.api.address, service.admin.address):
            result = run(*commands.healthcheck(address, ready=True))
            assert result.returncode == 0, result
    assert run(*commands.healthcheck(service.api.address)).returncode == 1


def test_healthcheck_can_use_a_unix_socket(issuer, tmp_path_factory):
    path = f"unix:{tmp_path_factory.mktemp('h')}/a.sock"
    with Service(provider(issuer), service={"listen": path}) as service:
        service.wait_until_ready()
        result = run(*commands.healthcheck(path, ready=True))
        assert result.returncode == 0, result


def test_healthcheck_uses_the_default_address_without_settings():
    result = run("healthcheck")
    # Another program may listen there, but no settings are required.
    assert b"assay.yaml" not in result.stdout + result.stderr
    assert result.stdout.startswith(b"unhealthy") == (result.returncode == 1)


def test_healthcheck_reads_the_address_from_the_settings(issuer, tmp_path):
    with Service(provider(issuer)) as service:
        settings = {"admin": {"listen": service.admin.address}, "providers": [provider(issuer)]}
        config = write_config(tmp_path, settings)
        result = run("healthcheck", "--config", str(config))
        assert result.returncode == 0, result


# other subcommands


def test_the_version_is_printed():
    result = run("--version")
    assert result.returncode == 0
    assert re.fullmatch(rb"assay \d+\.\d+\.\d+\S*( \(.+\))?\n", result.stdout), result


@pytest.mark.parametrize(
    "arguments", [["--help"], ["help"], ["serve", "--help"], ["config", "--help"], ["verify", "--help"]]
)
def test_help_is_printed(arguments):
    result = run(*arguments)
    assert result.returncode == 0
    assert b"USAGE" in result.stdout.upper()


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["serve", "--nonsense"], ["config", "nonsense"], ["serve", "--config"]]
)
def test_a_wrong_argument_is_a_usage_error(arguments):
    result = run(*arguments)
    assert result.returncode not in (0, 1) or result.returncode == 64, result
    assert result.stderr and not result.stdout


def test_a_port_in_use_is_reported(issuer, tmp_path):
    with Service(provider(issuer)) as service:
        settings = {
            "service": {"listen": service.api.address},
            "admin": {"listen": "127.0.0.1:0"},
            "providers": [provider(issuer)],
        }
        result = run("serve", "--config", str(write_config(tmp_path, settings)))
        assert result.returncode not in (0, -6, -11), result
        assert service.api.address.encode() in result.stderr


# Without a settings file, and with an address that is taken


@pytest.mark.parametrize("command", [["serve"], ["config", "check"], ["config", "show"]], ids=" ".join)
def test_without_a_settings_file_it_says_what_to_do(command):
    result = run(*command)
    assert result.returncode == 1
    text = result.stderr.decode()
    assert text.startswith("Error: there is no settings file at /etc/assay/assay.yaml: ")
    assert all(word in text for word in ("--config", "ASSAY_CONFIG", "assay dev"))


def test_the_file_that_is_shown_is_enough(tmp_path):
    example = re.search(r"providers: \[.*\]", run("serve").stderr.decode())
    file = tmp_path / "assay.yaml"
    file.write_text(example[0])
    assert run("config", "check", "--config", str(file)).returncode == 0


def test_an_address_that_is_taken_is_named_with_what_sets_it(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        free = "127.0.0.1:0"
        provider = {"id": "a", "preset": "apple", "audiences": ["a"]}
        cases = {
            "service.listen": (address, free),
            "admin.listen": (free, address),
        }
        for setting, (service, admin) in cases.items():
            file = write_config(tmp_path, {"service": {"listen": service}, "admin": {"listen": admin}, "providers": [provider]})
            cases[setting] = run("serve", "--config", str(file))
        for option in ("--listen", "--admin-listen", "--issuer-listen"):
            others = [part for name in ("--listen", "--admin-listen", "--issuer-listen") if name != option for part in (name, free)]
            cases[option] = run("dev", *others, option, address)
        for name, result in cases.items():
            assert result.returncode == 1
            assert f"Error: {name}: can't listen on {address}: the address is in use" in result.stderr.decode()
