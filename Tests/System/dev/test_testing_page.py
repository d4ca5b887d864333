"""`docs/testing.md`: its examples run as pasted, and its tables are complete."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from clients.languages import LANGUAGES, WITH_PACKAGES
from clients.test_readme import block, blocks
from harness import service
from harness.commands import Dev, run_shell
from harness.waiting import poll

PAGE = "docs/testing.md"


@pytest.fixture
def path(tmp_path):
    """A PATH on which `assay` is the binary under test. Waits after the test until all of its processes have ended."""
    folder, started = tmp_path / "bin", tmp_path / "started"
    folder.mkdir()
    (folder / "assay").write_text(f'#!/bin/sh\necho $$ >> "{started}"\nexec "{os.path.abspath(service.BINARY)}" "$@"\n')
    (folder / "assay").chmod(0o755)
    yield f"{folder}{os.pathsep}{os.environ['PATH']}"
    if started.exists():
        poll(lambda: not any(pathlib.Path("/proc", pid).exists() for pid in started.read_text().split()))


def run(command: list[str], folder, path: str, **variables) -> str:
    result = subprocess.run(
        command, cwd=folder, env=service.environment(PATH=path, **variables), capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_the_python_example_passes(tmp_path, path):
    (tmp_path / "test_example.py").write_text(block(PAGE, "### Python: pytest", "python"))
    assert "2 passed" in run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."], tmp_path, path)


def test_the_go_example_passes(tmp_path, path):
    (tmp_path / "sign_in_test.go").write_text(block(PAGE, "### Go: testing", "go"))
    (tmp_path / "go.mod").write_text("module backend\n\ngo 1.18\n")
    home = {"GOCACHE": str(tmp_path / "cache"), "GOPATH": str(tmp_path / "path"), "GOFLAGS": "-mod=mod"}
    assert "PASS" in run(["go", "test", "-v", "./..."], tmp_path, path, **home)


def test_the_typescript_example_passes(tmp_path, path):
    (tmp_path / "sign-in.test.mts").write_text(block(PAGE, "### TypeScript: Node's test runner", "ts"))
    (tmp_path / "node.d.ts").write_text(NODE)
    options = ["--strict", "--target", "es2022", "--module", "node16", "--lib", "es2022,dom"]
    run(["tsc", *options, "sign-in.test.mts", "node.d.ts"], tmp_path, path)
    assert "# pass 2" in run(["node", "--test", "--test-reporter=tap", "sign-in.test.mjs"], tmp_path, path)


# Declares what the example uses of Node, because Debian has no @types/node.
NODE = """
declare module "node:assert/strict" { const assert: { deepEqual(a: unknown, b: unknown): void }; export default assert; }
declare module "node:child_process" {
  export interface ChildProcess { kill(): boolean; }
  export function spawn(command: string, parameters: string[], options: object): ChildProcess & { stdout: object };
}
declare module "node:events" { export function once(emitter: object, event: string): Promise<any[]>; }
declare module "node:readline" { export function createInterface(options: { input: object }): object; }
declare module "node:test" {
  type Body = () => unknown;
  export function before(body: Body): void;
  export function after(body: Body): void;
  export function afterEach(body: Body): void;
  export function test(name: string, body: Body): void;
}
"""


def test_the_kotlin_example_passes(tmp_path, path):
    java = pathlib.Path("/usr/share/java")
    (tmp_path / "SignInTest.kt").write_text(block(PAGE, "### Kotlin: JUnit 5", "kotlin"))
    libraries = ["gson", "junit-jupiter-api", "junit-jupiter-engine", "junit-platform-commons", "junit-platform-console"]
    libraries += ["junit-platform-engine", "junit-platform-launcher", "junit-platform-reporting", "opentest4j", "apiguardian-api"]
    libraries += ["picocli", "open-test-reporting-events", "open-test-reporting-schema"]
    found = ":".join(str(java / f"{name}.jar") for name in libraries)
    run(["kotlinc", "SignInTest.kt", "-jvm-target", "1.8", "-cp", found, "-include-runtime", "-d", "tests.jar"], tmp_path, path)
    console = ["org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--scan-classpath=tests.jar"]
    assert "1 tests successful" in run(["java", "-cp", f"tests.jar:{found}", *console], tmp_path, path)


def test_the_ruby_example_passes(tmp_path, path):
    (tmp_path / "sign_in_test.rb").write_text(block(PAGE, "### Ruby: Minitest", "ruby"))
    assert "1 runs, 1 assertions, 0 failures, 0 errors" in run(["ruby", "-w", "sign_in_test.rb"], tmp_path, path)


def test_the_php_example_passes(tmp_path, path):
    (tmp_path / "SignInTest.php").write_text(block(PAGE, "### PHP: PHPUnit", "php"))
    assert "OK (1 test, 1 assertion)" in run(["phpunit", "--no-configuration", "SignInTest.php"], tmp_path, path)


PACKAGE = """// swift-tools-version:6.0
import PackageDescription
let package = Package(name: "Backend", targets: [.testTarget(name: "SignInTests")])
"""


def test_the_swift_example_passes(tmp_path, path):
    (tmp_path / "Tests/SignInTests").mkdir(parents=True)
    (tmp_path / "Package.swift").write_text(PACKAGE)
    (tmp_path / "Tests/SignInTests/SignInTests.swift").write_text(block(PAGE, "### Swift: XCTest", "swift"))
    assert "Executed 2 tests, with 0 failures" in run(["swift", "test"], tmp_path, path, HOME=str(tmp_path))


def test_the_page_has_every_language_with_a_client():
    section = (service.REPOSITORY / PAGE).read_text().split("## In your test suite")[1].split("\n## ")[0]
    shown = {name.lower() for name in re.findall(r"^### (\w+): ", section, re.MULTILINE)}
    assert shown == {language.name for language in LANGUAGES + WITH_PACKAGES}


def test_the_workflow_is_valid(tmp_path, path):
    (tmp_path / "workflow.yaml").write_text(block(PAGE, "### GitHub Actions, with the container", "yaml"))
    command = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", "workflow.yaml"]
    run([sys.executable, *command], tmp_path, path)


def test_the_sign_in_without_a_browser_works():
    """The page's commands send its form with curl."""
    script = next(each for each in blocks(PAGE, "## Sign in through the browser", "sh"))
    redirect = "http://localhost:8000/callback/google"
    with Dev() as dev:
        begun = dev.api.post("/v1/sign-ins", {"provider": "google", "redirect_uri": redirect}).json
        answer = run_shell(f"authorization_url='{begun['authorization_url']}'\n{script}")
    assert answer.returncode == 0 and f"Location: {redirect}?code=" in answer.stdout, answer


def test_the_ready_line_has_the_members_in_the_docs():
    process = service.Process("dev", "--listen", "127.0.0.1:0", "--json")
    try:
        process.wait_for(lambda: process.output)
        ready = json.loads(process.output[0])
    finally:
        process.kill()
    shown = json.loads(block(PAGE, "## Start it from a test", "json"))
    assert [*shown] == [*ready] and [*shown["providers"][0]] == [*ready["providers"][0]]


def test_the_table_has_every_fault_with_its_codes():
    section = (service.REPOSITORY / PAGE).read_text().split("## Make it fail")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]+\| ([^|]+) \|$", section, re.MULTILINE))
    with Dev() as dev:
        faults = dev.ask_issuer("GET", "/faults").json
    assert [fault["fault"] for fault in faults] == [*rows]
    for fault in faults:
        named = set(re.findall(r"\b[a-z]+_[a-z_]+\b|\bAssay\w+", fault["causes"])) - {"clock_skew", "provider_unknown"}
        assert named == set(re.findall(r"`(\w+)`", rows[fault["fault"]])), fault
