"""The examples in README and `docs` run as pasted."""

import json
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys

import pytest

from clients.languages import environment
from harness.client import Client
from harness.commands import Dev, run_shell
from harness.issuer import KeyServer
from harness.pages import shell_blocks
from harness.service import BINARY, REPOSITORY, Service, apple_like, run, write_config
from harness.tokens import rsa_key
from harness.waiting import free_port, poll

# Begins a sign-in, prints what the app receives, and finishes with each token on stdin.
PYTHON = """
import json, pathlib, sys
scope = {}
exec(pathlib.Path(sys.argv[1]).read_text(), scope)
begun = scope["begin"]()
print(json.dumps(begun), flush=True)
for line in sys.stdin:
    try:
        print(scope["finish"](begun["sign_in"], line.strip())["subject"], flush=True)
    except RuntimeError as error:
        print(error, flush=True)
"""
NODE = """
import { createInterface } from "node:readline";
const { begin, finish } = await import(process.argv[1]);
const begun = await begin();
console.log(JSON.stringify(begun));
for await (const line of createInterface({ input: process.stdin }))
  console.log(await finish(begun.sign_in, line).then((identity) => identity.subject, (error) => error.message));
"""


def shown(language: str) -> str:
    """The block in a language below *Call Assay from the backend*."""
    return block("docs/getting-started.md", "## 3. Call Assay from the backend", language)


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
    with Service(apple_like(issuer), sign_ins={}) as running:
        yield running.wait_until_ready()


def pasted(language: str, suffix: str, service, directory: pathlib.Path) -> str:
    """A file with the block, changed to this test's service, and run without the environment's proxies."""
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
def test_pasted_calls_accept_and_refuse_tokens(language, suffix, command, service, issuer, tmp_path):
    file = pasted(language, suffix, service, tmp_path)
    variables = environment(http_proxy="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, file], env=variables, **pipes) as process:
        begun = json.loads(process.stdout.readline())
        assert list(begun) == ["sign_in", "nonce", "nonce_sha256"]
        good, bad = [issuer.token(nonce=nonce, sub="user-1") for nonce in (begun["nonce_sha256"], begun["nonce"])]
        said, _ = process.communicate("\n".join([bad, good, good]), timeout=60)
    assert said.split() == ["nonce_mismatch", "user-1", "sign_in_replayed"]


def test_the_readmes_first_screen_has_two_commands():
    """`scripts/bare --readme` runs them on a new machine."""
    screen = "\n".join((REPOSITORY / "README.md").read_text().splitlines()[:20])
    [commands] = re.findall(r"^```sh\n(.*?)^```$", screen, re.MULTILINE | re.DOTALL)
    assert [line.split("#")[0].strip() for line in commands.splitlines()] == ["scripts/demo", "scripts/test"]


def test_the_demo_verifies_tokens_and_can_keep_running():
    options = [part for name in ("listen", "admin-listen", "issuer-listen") for part in (f"--{name}", "127.0.0.1:0")]
    command = [REPOSITORY / "scripts/demo", "--keep", *options]
    variables = environment(ASSAY_BINARY=str(BINARY))
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as demo:
        try:
            said, addresses = [], {}
            for line in demo.stdout:
                said.append(line)
                if match := re.match(r"(Sign in|Console|Your backend) +http://([0-9.:]+)", line):
                    addresses[match[1]] = match[2]
                if len(addresses) == 3:
                    break
            assert "(HTTP 200)\n" in said and "(HTTP 422)\n" in said, said
            pages = {"Sign in": "/", "Console": "/console", "Your backend": "/openapi.yaml"}
            assert {name: Client(addresses[name]).get(path).status for name, path in pages.items()} == dict.fromkeys(pages, 200)
        finally:
            demo.terminate()
    with pytest.raises(OSError):
        Client(addresses["Your backend"]).get("/openapi.yaml")


def test_the_first_token_verifies_as_pasted():
    """With `assay dev`, whose listeners use other ports here."""
    with Dev() as dev:
        script = block("README.md", "## Verify a first token", "sh")
        pasted = script.replace("127.0.0.1:8080", dev.api.address).replace("127.0.0.1:9400", dev.issuer_address)
        assert pasted != script
        result = run_shell(pasted)
        assert result.returncode == 0, result.stderr
        answer = json.loads(result.stdout)
        assert answer["token"]["nonce_match"] == "sha256_hex", answer
        shown = json.loads(block("README.md", "## One call, one response", "json"))
        assert [(name, [*members]) for name, members in answer.items()] == [(name, [*shown[name]]) for name in shown]


@pytest.mark.parametrize(("page", "heading"), [("README.md", "## Verify a first token"), ("docs/installing.md", "## Verify a first token")])
def test_the_first_token_verifies_although_pasted_together_with_the_start(page, heading):
    """A container listens seconds after `docker run --detach` has returned: here, 2 s."""
    service, admin, issuer = ports = [free_port() for _ in range(3)]
    assert len(set(ports)) == 3
    listen = f"--listen 127.0.0.1:{service} --admin-listen 127.0.0.1:{admin} --issuer-listen 127.0.0.1:{issuer}"
    script = block(page, heading, "sh").replace("127.0.0.1:8080", f"127.0.0.1:{service}").replace("127.0.0.1:9400", f"127.0.0.1:{issuer}")
    start = f"(sleep 2; exec {BINARY} dev {listen}) > /dev/null 2>&1 & started=$!; trap 'kill $started; wait $started' EXIT\n"
    result = run_shell(start + script)
    assert json.loads(result.stdout)["identity"]["provider"] == "apple", result


def blocks(page: str, heading: str, language: str) -> list[str]:
    """All blocks in a language in a section."""
    section = (REPOSITORY / page).read_text().split(heading + "\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_pasted_sign_in_finishes_once():
    """With `assay dev`, whose listeners use other ports here."""
    page, heading = "docs/sign-ins.md", "## Try it"
    begin, finish, again = blocks(page, heading, "sh")
    assert again == finish.split("\n", 1)[1]
    begun, problem = map(json.loads, blocks(page, heading, "json"))
    with Dev() as dev:
        script = begin + 'echo "$begun"\n' + finish + "echo\n" + again
        pasted = script.replace("127.0.0.1:8080", dev.api.address).replace("127.0.0.1:9400", dev.issuer_address)
        result = run_shell(pasted)
    assert result.returncode == 0, result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [*answers[0]] == [*begun]
    assert answers[1]["context"] == "/basket" and answers[1]["grant"] is None
    assert answers[2] | {"request_id": problem["request_id"]} == problem


def test_the_pasted_notification_is_verified():
    """With `assay dev`, whose listeners use other ports here."""
    page = "docs/notifications.md"
    with Dev() as dev:
        script = block(page, "## Try it", "sh")
        pasted = script.replace("127.0.0.1:8080", dev.api.address).replace("127.0.0.1:9400", dev.issuer_address)
        result = run_shell(pasted)
    assert result.returncode == 0, result.stderr
    answer, shown = json.loads(result.stdout), json.loads(block(page, "## Receive one", "json"))
    assert [*answer] == [*shown]
    for part in ("notification", "keys"):
        assert [*answer[part]] == [*shown[part]]
    assert [*answer["events"][0]] == [*shown["events"][0]]
    assert answer["events"][0]["type"] == shown["events"][0]["type"]


def test_the_pasted_grant_is_refreshed_and_revoked():
    """With `assay dev`, whose listeners use other ports here."""
    with Dev() as dev:
        script = block("docs/grants.md", "## Try it", "sh") + 'echo "$finished"\n'
        pasted = script.replace("127.0.0.1:8080", dev.api.address).replace("127.0.0.1:9400", dev.issuer_address)
        result = run_shell(pasted)
        assert result.returncode == 0, result.stderr
        # A revocation has an empty response, so the other two share a line.
        refreshed, end = json.JSONDecoder().raw_decode(result.stdout)
        finished = json.loads(result.stdout[end:])
        assert refreshed["identity"]["subject"] == finished["identity"]["subject"]
        assert refreshed["grant"]["access_token"] != finished["grant"]["access_token"]
        token = finished["grant"]["refresh_token"]
        again = dev.api.post(
            "/v1/grants/refresh",
            {"provider": "google", "refresh_token": token, "subject": finished["identity"]["subject"]},
        )
    assert again.json["code"] == "grant_invalid"


def test_the_tables_in_the_docs_are_valid_sql():
    database = sqlite3.connect(":memory:")
    database.executescript((REPOSITORY / "docs/clients/users.sql").read_text())
    database.executescript((REPOSITORY / "docs/clients/notifications.sql").read_text())
    database.executescript((REPOSITORY / "docs/clients/grants.sql").read_text())
    database.executescript(block("docs/notifications.md", "## Process each notification once", "sql"))
    database.executescript(block("docs/moving-teams.md", "## At a sign-in", "sql"))
    database.executescript(block("docs/anonymized-people.md", "## How to recognize a relay address", "sql"))


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("docs/getting-started.md", "## 2. Configure your own client ID"),
        ("docs/sign-ins.md", "## Turn it on"),
        ("docs/sign-ins.md", "## Doing it yourself"),
        ("docs/notifications.md", "## Turn it on"),
    ],
)
def test_the_settings_in_the_docs_are_valid(tmp_path, page, heading):
    file = tmp_path / "assay.yaml"
    file.write_text(block(page, heading, "yaml"))
    assert run("config", "check", "--config", str(file)).returncode == 0


def test_the_pasted_commands_check_the_settings_and_serve(issuer, tmp_path):
    """With a provider of this machine, because the check asks the providers."""
    port = free_port()
    write_config(tmp_path, {"service": {"listen": f"127.0.0.1:{port}"}, "admin": {"listen": "127.0.0.1:0"}, "providers": [apple_like(issuer)]})
    [script] = [each for each in shell_blocks("docs/getting-started.md") if "config check" in each]
    (tmp_path / "assay").symlink_to(pathlib.Path(BINARY).resolve())
    variables = environment(PATH=f"{tmp_path}:{os.environ['PATH']}")
    # The last command replaces the shell, so that it is the one to end.
    check, serve = script.splitlines()
    with subprocess.Popen(["bash", "-euc", f"{check}\nexec {serve}"], cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True) as running:
        try:
            poll(lambda: listens(port))
            poll(lambda: Client(f"127.0.0.1:{port}").get("/readyz").status == 200)
        finally:
            running.terminate()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_settings_of_a_client_are_valid(tmp_path):
    """With the path of an existing secret file."""
    secret, file = tmp_path / "secret", tmp_path / "assay.yaml"
    secret.write_text("secret\n")
    secret.chmod(0o600)
    settings = block("docs/clients/browser.md", "## Before you begin", "yaml")
    file.write_text(settings.replace("/run/secrets/google", str(secret)))
    result = run("config", "check", "--config", str(file))
    assert result.returncode == 0, result


def test_the_settings_for_several_instances_are_valid(tmp_path):
    """With the key that the page's commands generate."""
    page, heading = "docs/sign-ins.md", "## Several instances"
    folder = pathlib.Path(BINARY).resolve().parent
    script = f'cd "{tmp_path}"\nPATH="{folder}:$PATH"\n' + block(page, heading, "sh")
    assert run_shell(script).returncode == 0
    key, password, file = (tmp_path / name for name in ("sign-ins.key", "password", "assay.yaml"))
    assert key.stat().st_mode & 0o777 == 0o600
    password.write_text("of the store\n")
    password.chmod(0o600)
    settings = blocks(page, heading, "yaml")[0]
    settings = settings.replace("/run/secrets/sign-ins.key", str(key)).replace("/run/secrets/valkey-password", str(password))
    file.write_text(settings + block(page, "## Doing it yourself", "yaml"))
    result = run("config", "check", "--config", str(file))
    warnings = [line for line in result.stdout.decode().splitlines() if "warning" in line and "only an example" not in line]
    assert (result.returncode, warnings) == (0, []), result


def test_the_swift_example_compiles(tmp_path):
    sources = (REPOSITORY / "clients/swift/Sources/AssayClient").glob("*.swift")
    file = tmp_path / "main.swift"
    file.write_text(shown("swift"))
    module = tmp_path / "AssayClient.swiftmodule"
    options = ["-swift-version", "6", "-warnings-as-errors"]
    emit = ["swiftc", "-emit-module", "-module-name", "AssayClient", "-emit-module-path", module, *options, *sources]
    for command in (emit, ["swiftc", "-typecheck", "-I", tmp_path, *options, file]):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
