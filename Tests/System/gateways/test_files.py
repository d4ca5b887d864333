"""The other files of `deploy/gateways`: the example with Docker Compose, and the untried configurations."""

import contextlib
import http.client
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from gateways.gateways import FILES, FOLDER, Gateway
from gateways.site import IDENTITY, KEY, token
from harness.client import Connection
from harness.service import environment, run

COMPOSE = FOLDER / "compose.yaml"
SERVICES = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
UNTRIED = sorted((FOLDER / "untried").iterdir())


@contextlib.contextmanager
def example_backend():
    """Runs the example's backend; yields its address."""
    command = [sys.executable, str(FOLDER / "backend.py")]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment(LISTEN="127.0.0.1:0"), **pipes) as process:
        try:
            yield process.stdout.readline().decode().split()[-1]
        finally:
            process.kill()


def ask(address: str, **headers: str) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection(address, timeout=10)) as connection:
        connection.request("GET", "/", headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.read().decode()


def test_the_example_shows_the_identity(issuer, service, tmp_path):
    with example_backend() as backend, Gateway("nginx", service.api.address, backend, tmp_path, KEY) as nginx:
        status, text = ask(nginx.address, Authorization=f"Bearer {token(issuer)}")
        assert (status, text) == (200, f"You are user-1 of {issuer.url}.\n")
        assert ask(nginx.address)[0] == 401


def test_a_missing_or_empty_identity_header_is_refused():
    with example_backend() as backend:
        assert ask(backend)[0] == 401
        assert ask(backend, X_Auth_Subject="a", X_Auth_Issuer="")[0] == 401
        assert ask(backend, X_Auth_Issuer="a")[0] == 401


def test_a_body_is_not_parsed_as_the_next_request():
    """Otherwise, a client could hide a request with any identity in the body of one that the gateway allows."""
    forged = b"GET / HTTP/1.1\r\nHost: a\r\nX-Auth-Subject: admin\r\nX-Auth-Issuer: a\r\n\r\n"
    head = f"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nContent-Length: {len(forged)}\r\n\r\n"
    with example_backend() as backend, Connection(backend) as connection:
        connection.send(head.encode() + forged)
        assert connection.socket.makefile("rb").read().count(b"You are") == 1


def test_the_compose_file_is_valid():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_hardened_and_published_only_on_loopback(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    for volume in service.get("volumes", []):
        assert (FOLDER / volume.split(":")[0]).exists(), volume


def test_the_settings_are_valid():
    result = run("config", "check", "--config", str(FOLDER / "assay.yaml"))
    assert result.returncode == 0, result


@pytest.mark.parametrize("file", UNTRIED, ids=lambda file: file.name)
def test_an_untried_file_says_so(file: pathlib.Path):
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Untried: nobody has run this with Assay.")
    assert all(yaml.safe_load_all(text))


def test_the_gateway_api_removes_the_clients_identity_headers():
    (route,) = yaml.safe_load_all((FOLDER / "untried/gateway-api.yaml").read_text(encoding="utf-8"))
    tunnels, rule = route["spec"]["rules"]
    assert "backendRefs" not in tunnels
    strip, ask = rule["filters"]
    assert set(strip["requestHeaderModifier"]["remove"]) == {name.lower() for name in IDENTITY}
    assert set(ask["externalAuth"]["http"]["allowedResponseHeaders"]) == set(strip["requestHeaderModifier"]["remove"])


def test_traefik_removes_the_clients_identity_headers():
    (file,) = yaml.safe_load_all((FOLDER / "untried/traefik.yaml").read_text(encoding="utf-8"))
    first, second = file["http"]["routers"]["api"]["middlewares"]
    removed = file["http"]["middlewares"][first]["headers"]["customRequestHeaders"]
    assert removed == dict.fromkeys(file["http"]["middlewares"][second]["forwardAuth"]["authResponseHeaders"], "")


def test_istio_removes_the_clients_identity_headers():
    provider, *_, filters = yaml.safe_load_all((FOLDER / "untried/istio.yaml").read_text(encoding="utf-8"))
    *_, patch = filters["spec"]["configPatches"]
    assert patch["patch"]["operation"] == "INSERT_FIRST"
    (removal,) = patch["patch"]["value"]["typed_config"]["mutations"]["request_mutations"]
    pattern = removal["remove_on_match"]["key_matcher"]["safe_regex"]["regex"]
    copied = provider["extensionProviders"][0]["envoyExtAuthzHttp"]["headersToUpstreamOnAllow"]
    assert [name for name in copied if not re.fullmatch(pattern, name)] == []


@pytest.mark.parametrize("file", [*(FOLDER / name for name in FILES.values()), *UNTRIED], ids=lambda file: file.name)
def test_a_configuration_handles_every_default_header(file: pathlib.Path):
    """By name, or by a pattern."""
    text = file.read_text(encoding="utf-8").lower()
    names = set(re.findall(r"x-auth-[a-z-]+", text.replace("_", "-")))
    assert names >= {name.lower() for name in IDENTITY} or "prefix: x-auth- " in text or "x-auth- -m beg" in text
