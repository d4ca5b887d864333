"""The calls that README and `docs/getting-started.md` show run as they are pasted."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

from clients.languages import environment
from harness.commands import Dev, run_shell
from harness.issuer import KeyServer
from harness.service import BINARY, REPOSITORY, Service, apple_like, run
from harness.tokens import rsa_key, sha256_hex

NONCE = "n-0S6_WzA2Mj"
PYTHON = """
import pathlib, sys
scope = {}
exec(pathlib.Path(sys.argv[1]).read_text(), scope)
try:
    print(scope["verified_identity"](*sys.argv[2:])["subject"])
except RuntimeError as error:
    print(error)
"""
NODE = """
const { verifiedIdentity } = await import(process.argv[1]);
console.log(await verifiedIdentity(...process.argv.slice(2)).then((identity) => identity.subject, (error) => error.message));
"""


def shown(language: str) -> str:
    """The block in a language below *Call Assay from the backend*."""
    return block("docs/getting-started.md", "## 5. Call Assay from the backend", language)


def block(page: str, heading: str, language: str) -> str:
    """The last block in a language in a section."""
    section = (REPOSITORY / page).read_text().split(heading + "\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[-1]


@pytest.fixture(scope="module")
def issuer():
    with KeyServer() as key_server:
        yield key_server.issuer("readme", rsa_key("readme"))


@pytest.fixture(scope="module")
def service(issuer):
    with Service(apple_like(issuer)) as running:
        yield running.wait_until_ready()


def pasted(language: str, suffix: str, service, directory: pathlib.Path) -> str:
    """A file with the block, which asks where this test's service listens, and under no proxy of the environment's."""
    text = shown(language)
    host, port = service.api.address.split(":")
    file = directory / f"pasted{suffix}"
    file.write_text(text.replace("127.0.0.1:8080", f"{host}:{port}").replace('"127.0.0.1", 8080', f'"{host}", {port}'))
    assert file.read_text() != text
    return str(file)


@pytest.mark.parametrize(
    ("language", "suffix", "command"),
    [
        ("python", ".py", [sys.executable, "-c", PYTHON]),
        ("js", ".mjs", ["node", "--no-warnings", "--input-type=module", "--eval", NODE]),
    ],
    ids=["python", "js"],
)
def test_a_pasted_call_signs_in_and_refuses(language, suffix, command, service, issuer, tmp_path):
    file = pasted(language, suffix, service, tmp_path)
    token = issuer.token(nonce=sha256_hex(NONCE), sub="user-1")
    proxies = {"http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    for nonce, said in ((NONCE, "user-1"), ("another", "nonce_mismatch")):
        result = subprocess.run(
            [*command, file, token, nonce], env=environment(**proxies), capture_output=True, text=True, check=False
        )
        assert result.stdout.strip() == said, result.stderr


def test_the_first_token_verifies_as_pasted():
    """Against `assay dev`, whose listeners have other ports here."""
    with Dev() as dev:
        script = block("README.md", "## Verify a first token", "sh")
        pasted = script.replace("127.0.0.1:8080", dev.api.address).replace("127.0.0.1:9400", dev.issuer_address)
        assert pasted != script
        result = run_shell(pasted)
        assert result.returncode == 0, result.stderr
        answer = json.loads(result.stdout)
        assert answer["token"]["nonce_match"] == "sha256_hex", answer
        shown = json.loads(block("README.md", "## One call, one answer", "json"))
        assert [(name, [*members]) for name, members in answer.items()] == [(name, [*shown[name]]) for name in shown]


def test_the_settings_file_is_good(tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(block("docs/getting-started.md", "## 2. Configure your own client ID", "yaml"))
    assert run("config", "check", "--config", str(file)).returncode == 0


def test_the_swift_compiles(tmp_path):
    """Against the modules that the service was built with."""
    build = pathlib.Path(BINARY).resolve().parent
    file = tmp_path / "pasted.swift"
    file.write_text(shown("swift"))
    maps = [*build.glob("*.build/module.modulemap")]
    folders = {pathlib.Path(path) for map in maps for path in re.findall(r'"(/[^"]*/include)', map.read_text())}
    maps += (REPOSITORY / ".build/checkouts").glob("*/Sources/*/include/module.modulemap")
    options = [f"-fmodule-map-file={map}" for map in maps] + [f"-I{folder}" for folder in folders]
    command = ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I", str(build / "Modules")]
    command += [part for option in options for part in ("-Xcc", option)]
    result = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
