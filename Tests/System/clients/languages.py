"""The clients in `docs/clients`: how each language's example is built and run."""

import json
import pathlib
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass

from harness.service import REPOSITORY, environment

CLIENTS = REPOSITORY / "docs" / "clients"
API_KEY = "the-backend's-0123456789"
# Programs that post notifications to the receivers.
FILES = pathlib.Path(__file__).with_name("receivers")
# Nothing listens there, so a client that honors the environment's proxy loses its requests.
PROXY = "http://127.0.0.1:9"
DEADLINE = 120


def run(*command, directory: pathlib.Path = CLIENTS) -> None:
    """Runs a compiler. Its output is the failure message."""
    result = subprocess.run(
        [str(part) for part in command], cwd=directory, env=environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def typescript(output: pathlib.Path) -> list:
    """As on the page, but with the needed parts of `@types/node` in place of `npm install`."""
    project = output / "typescript"
    shutil.copytree(CLIENTS / "typescript", project)
    types = project / "node_modules/@types/node"
    types.mkdir(parents=True)
    shutil.copy(pathlib.Path(__file__).with_name("node.d.ts"), types / "index.d.ts")
    run("tsc", "--outDir", "out", directory=project)
    # Debian has version 18, which warns that its `fetch` is experimental.
    return ["node", "--no-warnings", project / "out/example.mjs"]


def go(output: pathlib.Path) -> list:
    run("go", "vet", "./...", directory=CLIENTS / "go")
    run("go", "build", "-o", output / "example", ".", directory=CLIENTS / "go")
    run("go", "build", "-o", output / "web", "./web", directory=CLIENTS / "go")
    return [output / "example"]


def kotlin(output: pathlib.Path) -> list:
    """The receiver, with the package's JAR. Only the tests need Gson."""
    run(REPOSITORY / "scripts/clients", output, "kotlin")
    [jar] = output.glob("*.jar")
    gson, standard = "/usr/share/java/gson.jar", "/usr/share/java/kotlin-stdlib.jar"
    sources = [CLIENTS / "kotlin/Receiver.kt", FILES / "Receive.kt"]
    run("kotlinc", "-Werror", "-cp", f"{jar}:{gson}", "-d", output / "receive.jar", *sources)
    # The program runs for a second, most of which is startup. These options halve the time.
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", f"{jar}:{output / 'receive.jar'}:{gson}:{standard}", "ReceiveKt"]


def swift(output: pathlib.Path) -> list:
    """The receiver, with the package's archive."""
    run(REPOSITORY / "scripts/clients", output, "swift")
    [archive] = output.glob("*.tar.gz")
    project = output / "project"
    shutil.copytree(FILES / "swift", project)
    shutil.copy(CLIENTS / "swift/Receiver.swift", project / "Sources/Receive")
    run("tar", "-xzf", archive, "-C", project)
    run("swift", "build", "--scratch-path", output / "build", "-Xswiftc", "-warnings-as-errors", directory=project)
    return [output / "build/debug/Receive"]


def script(*command: str) -> Callable[[pathlib.Path], list]:
    """Nothing to build."""
    return lambda _: list(command)


class Program:
    """A running example: reads one call per line and prints its result. Asserts that error texts contain no secrets."""

    def __init__(self, command: list, variables: dict[str, str]):
        proxies = {"http_proxy": PROXY, "https_proxy": PROXY, "all_proxy": PROXY}
        variables = proxies | {"PYTHONDONTWRITEBYTECODE": "1"} | variables
        self._process = subprocess.Popen(
            [str(part) for part in command],
            cwd=CLIENTS,
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._secrets: list[str] = []
        self._watchdog = threading.Timer(DEADLINE, self._process.kill)
        self._watchdog.start()

    def send(self, **request) -> None:
        """Sends a call with its members."""
        self._secrets += [text for members in request.values() for text in texts(members)]
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def said(self) -> dict:
        """The next line, without members that are `null`, which some languages omit."""
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the program has ended: {self._process.stderr.read()}")
        said = without_nulls(json.loads(line))
        if "error" not in said:
            return said
        log = said.pop("log")
        assert log and not [secret for secret in self._secrets if len(secret) > 8 and secret in log], log
        return {name: member for name, member in said.items() if member != ""}

    def verify(self, **sign_in) -> dict:
        self.send(verify=sign_in)
        said = self.said()
        assert said.pop("spent", False) is False
        return said

    def begin_sign_in(self, provider: str, **members) -> dict:
        self.send(begin={"provider": provider} | members)
        return self.said()

    def finish_sign_in(self, sign_in: str, id_token: str, **members) -> dict:
        self.send(finish={"sign_in": sign_in, "id_token": id_token} | members)
        return self.said()

    def call(self, name: str, **members) -> dict:
        """Makes a call by its name; returns its result."""
        self.send(**{name: members})
        return self.said()

    def receive(self, content_type: str, body: str) -> tuple[int, list[str]]:
        """The receiver's response to the sender, and the types of the events that it acted on."""
        self.send(receive={"content_type": content_type, "body": body})
        said = self.said()
        assert set(said) == {"answered", "done"}, said
        return said["answered"], said["done"]

    def finish(self) -> None:
        """Asserts that it prints nothing unexpected, and exits at the end of its input."""
        rest, errors = self._process.communicate()
        self._watchdog.cancel()
        assert (self._process.returncode, rest, errors) == (0, "", "")


def texts(value) -> list[str]:
    """The scalars in a JSON value, without `null` and empty ones."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts(member)]
    if isinstance(value, list):
        return [text for element in value for text in texts(element)]
    return [str(value)] if value else []


def without_nulls(value):
    if isinstance(value, list):
        return [without_nulls(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {name: without_nulls(member) for name, member in value.items() if member is not None}


@dataclass(frozen=True)
class Language:
    """A client and its example; `build` writes into a directory and returns the command."""

    name: str
    build: Callable[[pathlib.Path], list]
    speaks_unix: bool = False
    # If false, a finish may use a pooled connection that the server is just closing.
    finishes_over_new_connections: bool = True

    def start(self, command: list, url: str, api_key: str | None = None) -> Program:
        key = {"ASSAY_API_KEY": api_key} if api_key is not None else {}
        return Program(command, key | {"ASSAY_URL": url})


LANGUAGES = [
    Language("python", script("python3", "python/example.py"), speaks_unix=True),
    Language("typescript", typescript, finishes_over_new_connections=False),
    Language("go", go, speaks_unix=True),
]
# Languages whose page shows the package of `clients`, which has tests of its own, and a receiver.
WITH_PACKAGES = [
    Language("ruby", script("ruby", "-w", "-I", str(REPOSITORY / "clients/ruby/lib"), str(FILES / "receive.rb"))),
    Language("php", script("php", "-d", "error_reporting=-1", str(FILES / "receive.php"))),
    Language("kotlin", kotlin),
    Language("swift", swift),
]
