"""The examples of `docs/testing.md`, run as pasted with the tools of their languages, and its tables."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from clients.test_readme import block, blocks
from harness import service
from harness.commands import Dev, run_shell

PAGE = "docs/testing.md"


@pytest.fixture
def path(tmp_path):
    """A PATH on which `assay` is the tested binary."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "assay").symlink_to(service.BINARY)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def run(command: list[str], folder, path: str, **variables) -> str:
    result = subprocess.run(
        command, cwd=folder, env=service.environment(PATH=path, **variables), capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_pytest(tmp_path, path):
    (tmp_path / "test_example.py").write_text(block(PAGE, "### pytest", "python"))
    assert "2 passed" in run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."], tmp_path, path)


def test_go(tmp_path, path):
    (tmp_path / "sign_in_test.go").write_text(block(PAGE, "### Go", "go"))
    (tmp_path / "go.mod").write_text("module backend\n\ngo 1.18\n")
    home = {"GOCACHE": str(tmp_path / "cache"), "GOPATH": str(tmp_path / "path"), "GOFLAGS": "-mod=mod"}
    assert "PASS" in run(["go", "test", "-v", "./..."], tmp_path, path, **home)


# What the example uses of Jest, by Node's own test runner: Debian has no Jest.
JEST = """
const { test, before, after, afterEach } = require("node:test");
const assert = require("node:assert");
const expect = (value) => ({ toBe: (other) => assert.strictEqual(value, other) });
Object.assign(globalThis, { test, beforeAll: before, afterAll: after, afterEach, expect });
"""


def test_jest(tmp_path, path):
    (tmp_path / "jest.cjs").write_text(JEST)
    (tmp_path / "sign_in.test.cjs").write_text(block(PAGE, "### Jest", "js"))
    assert "# pass 1" in run(["node", "--require", "./jest.cjs", "--test", "sign_in.test.cjs"], tmp_path, path)


@pytest.mark.skipif(not shutil.which("swiftc"), reason="no Swift here")
def test_xctest_compiles(tmp_path, path):
    (tmp_path / "SignInTests.swift").write_text(block(PAGE, "### XCTest", "swift"))
    libraries = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swiftc")))), "lib/swift/linux")
    run(["swiftc", "-typecheck", "-I", libraries, "SignInTests.swift"], tmp_path, path, HOME=str(tmp_path))


def test_the_workflow_is_one(tmp_path, path):
    (tmp_path / "workflow.yaml").write_text(block(PAGE, "### GitHub Actions", "yaml"))
    command = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", "workflow.yaml"]
    run([sys.executable, *command], tmp_path, path)


def test_a_sign_in_without_a_browser():
    """`prompt=none`, and the page's form sent by curl."""
    script = next(each for each in blocks(PAGE, "## Sign in through the browser", "sh"))
    redirect = "http://localhost:8000/callback/google"
    with Dev() as dev:
        begun = dev.api.post("/v1/sign-ins", {"provider": "google", "redirect_uri": redirect}).json
        answer = run_shell(f"authorization_url='{begun['authorization_url']}'\n{script}")
    assert answer.returncode == 0 and f"Location: {redirect}?code=" in answer.stdout, answer


def test_the_ready_line_is_as_shown():
    process = service.Process("dev", "--listen", "127.0.0.1:0", "--json")
    try:
        process.wait_for(lambda: process.output)
        ready = json.loads(process.output[0])
    finally:
        process.kill()
    shown = json.loads(block(PAGE, "## Start it from a test", "json"))
    assert [*shown] == [*ready] and [*shown["providers"][0]] == [*ready["providers"][0]]


def test_the_table_has_every_fault_with_the_codes_it_causes():
    section = (service.REPOSITORY / PAGE).read_text().split("## Make it fail")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]+\| ([^|]+) \|$", section, re.MULTILINE))
    with Dev() as dev:
        faults = dev.ask_issuer("GET", "/faults").json
    assert [fault["fault"] for fault in faults] == [*rows]
    for fault in faults:
        named = set(re.findall(r"\b[a-z]+_[a-z_]+\b|\bAssay\w+", fault["causes"])) - {"clock_skew", "provider_unknown"}
        assert named == set(re.findall(r"`(\w+)`", rows[fault["fault"]])), fault
