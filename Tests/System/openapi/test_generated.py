"""Clients that are generated from openapi.yaml are complete, compile, and can call the service."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from harness.service import environment
from openapi.documented import FILE, document
from openapi.test_service import access_token, batch, begin, notification, renewed, verify

PROGRAMS = pathlib.Path(__file__).with_name("generated")
DEADLINE = 180
# The only response that is neither JSON nor text.
NOT_GENERATED = ("application/yaml",)


def run(*command, directory: pathlib.Path, **variables: str) -> str:
    """Runs a program; returns its output, which is also the failure message."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def python_client(folder: pathlib.Path) -> list:
    """openapi-python-client."""
    tool = pathlib.Path(sys.executable).with_name("openapi-python-client")
    said = run(tool, "generate", "--path", FILE, "--output-path", folder / "client", "--meta", "none", directory=folder)
    left_out = re.findall(r"Unable to .*|Cannot parse .*|Invalid .*", said)
    assert [line for line in left_out if not any(reason in line for reason in NOT_GENERATED)] == []
    shutil.move(folder / "client", folder / "assay_client")
    run(sys.executable, "-m", "compileall", "-q", folder / "assay_client", directory=folder)
    shutil.copy(PROGRAMS / "call.py", folder)
    return [sys.executable, "call.py"]


def typescript_client(folder: pathlib.Path) -> list:
    """openapi-generator, typescript-fetch."""
    tool = pathlib.Path(sys.executable).with_name("openapi-generator-cli")
    said = run(tool, "generate", "-g", "typescript-fetch", "-i", FILE, "-o", folder, directory=folder)
    assert [line for line in said.splitlines() if " ERROR " in line] == []
    shutil.copy(PROGRAMS / "call.ts", folder)
    options = ("--target", "es2020", "--lib", "es2020,dom", "--module", "commonjs", "--outDir", "out")
    run("tsc", *options, "index.ts", "call.ts", directory=folder)
    return ["node", "--no-warnings", "out/call.js"]


@pytest.mark.parametrize("generate", [python_client, typescript_client], ids=lambda generate: generate.__doc__)
def test_a_generated_client_calls_the_service(generate, examples, tmp_path):
    command = generate(tmp_path)
    signed_in, _ = renewed(verify.request.examples["google"], examples)
    oidc = access_token.request.examples["oidc"]
    bearer, _ = renewed({"id_token": oidc["token"]}, examples)
    apple, _ = renewed({"id_token": notification.request.examples["apple"]["payload"]}, examples)
    requests = {
        "verify": signed_in,
        "refused": signed_in | {"nonce": "another"},
        "batch": {"items": [renewed(item, examples)[0] for item in batch.request.examples["two"]["items"]]},
        "begin": begin.request.examples["apple"],
        "notification": {"payload": apple["id_token"]},
        "access_token": oidc | {"token": bearer["id_token"]},
    }
    addresses = {name: f"http://{examples.service.listening(name)}" for name in ("service", "admin")}
    said = run(*command, json.dumps(addresses | {"requests": requests}), directory=tmp_path)
    assert json.loads(said) == {
        "email": ["ada@example.com", "authoritative"],
        "refused": "nonce_mismatch",
        "batch": [batch.responses[200].content.examples["two"]["results"][0]["identity"]["subject"], "nonce_mismatch"],
        "begun": [True, None],
        "notified": ["email_relay_disabled"],
        "scopes": ["orders:read", "orders:write"],
        "explained": "nonce",
        "providers": ["apple", "google", "api", "bank"],
    }


def test_the_document_has_no_yaml_aliases():
    """Many tools do not support them."""
    text = FILE.read_text(encoding="utf-8")
    assert re.findall(r"^(?:[^\"'#|]*[\s\[{])?[&*]\w+", text, re.M) == []


def test_unquoted_text_with_a_comma_does_not_become_a_keyword():
    """In YAML's flow style, unquoted text ends at a comma."""
    for pointer, value in document().walk():
        if isinstance(value, dict) and not re.search(r"/(value|example|examples|properties)(/|$)", pointer):
            assert [name for name in value if " " in str(name)] == [], pointer


def test_the_document_has_the_services_version(examples):
    running = examples.service.admin.get("/v1/providers").json["service"]["version"]
    assert document().tree["info"]["version"] == running
