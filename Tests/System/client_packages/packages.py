"""The client packages, each built and installed as its users get it, and the conformance program of each."""

import json
import pathlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from harness.service import REPOSITORY, environment

CLIENTS = REPOSITORY / "clients"
CONFORMANCE = CLIENTS / "conformance"
# Nothing listens there, so a client that honors the environment's proxy loses its requests.
PROXY = "http://127.0.0.1:9"
DEADLINE = 120


def run(*command, directory: pathlib.Path = CLIENTS, stdin: str = "", **variables: str) -> str:
    """Runs a tool. Its output is the failure message."""
    arguments = [str(part) for part in command]
    result = subprocess.run(
        arguments, cwd=directory, env=environment(**variables), input=stdin, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def artifact(language: str, output: pathlib.Path, suffix: str) -> pathlib.Path:
    """Builds a language's package as a release does."""
    run(REPOSITORY / "scripts/clients", output / "dist", language)
    [file] = (output / "dist").glob(f"**/*{suffix}")
    return file


def python(output: pathlib.Path) -> list:
    wheel = artifact("python", output, ".whl")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", output / "site", wheel)
    return ["env", f"PYTHONPATH={output / 'site'}", sys.executable, "-B", "-W", "error", "-W", "ignore::ResourceWarning", CONFORMANCE / "python/driver.py"]


def typescript(output: pathlib.Path) -> list:
    """`npm install` of the archive does no more than this: the package has no dependencies."""
    archive = artifact("typescript", output, ".tgz")
    project = output / "project"
    shutil.copytree(CONFORMANCE / "typescript", project)
    installed = project / "node_modules/assay-client"
    installed.mkdir(parents=True)
    run("tar", "-xzf", archive, "-C", installed, "--strip-components", "1")
    # Debian has no `@types/node`. The package's types need none.
    types = project / "node_modules/@types/node"
    types.mkdir(parents=True)
    shutil.copy(CLIENTS / "typescript/types/node.d.ts", types / "index.d.ts")
    (project / "node_modules/express").symlink_to("/usr/share/nodejs/express")
    run("tsc", "--outDir", "out", directory=project)
    # There are Express's own modules.
    return ["env", "NODE_PATH=/usr/share/nodejs", "node", project / "out/driver.mjs"]


def go(output: pathlib.Path) -> list:
    """From a module proxy in a directory, as `GOPROXY` may name."""
    proxy = artifact("go", output, ".mod").parents[2]
    while proxy.name != "go-proxy":
        proxy = proxy.parent
    project = output / "project"
    shutil.copytree(CONFORMANCE / "go", project)
    variables = {"GOPROXY": f"file://{proxy}", "GOFLAGS": "-mod=mod -modcacherw", "GONOSUMDB": "*", "GOMODCACHE": str(output / "modules")}
    variables |= {"GONOSUMCHECK": "1", "GOFLAGS": "-mod=mod -modcacherw", "GOSUMDB": "off"}
    run("go", "vet", ".", directory=project, **variables)
    run("go", "build", "-o", output / "driver", ".", directory=project, **variables)
    run("go", "build", "-o", output / "site", "./site", directory=project, **variables)
    return [output / "driver"]


def ruby(output: pathlib.Path) -> list:
    gem = artifact("ruby", output, ".gem")
    run("gem", "install", "--local", "--no-document", "--install-dir", output / "gems", gem)
    return ["env", f"GEM_HOME={output / 'gems'}", "ruby", "-w", CONFORMANCE / "ruby/driver.rb"]


def rack_3() -> list:
    """Ruby's options for the Rack 3 that `scripts/bootstrap` unpacks."""
    libraries = sorted(REPOSITORY.glob(".venv/rack-3/rack*/lib"))
    assert [path.parent.name.rpartition("-")[0] for path in libraries] == ["rack", "rack-session"]
    return [part for path in libraries for part in ("-I", path)]


def php(output: pathlib.Path) -> list:
    """By Composer, from a directory of archives."""
    archive = artifact("php", output, ".zip")
    project = output / "project"
    shutil.copytree(CONFORMANCE / "php", project)
    manifest = json.loads((project / "composer.json").read_text())
    manifest["repositories"] = [{"type": "artifact", "url": str(archive.parent)}, {"packagist.org": False}]
    (project / "composer.json").write_text(json.dumps(manifest))
    run("composer", "install", "--quiet", "--no-interaction", directory=project, COMPOSER_ALLOW_SUPERUSER="1", COMPOSER_HOME=str(output / "composer"))
    return ["php", "-d", "error_reporting=-1", project / "driver.php"]


def kotlin(output: pathlib.Path) -> list:
    jar = artifact("kotlin", output, ".jar")
    # Only for the program's own lines.
    gson = "/usr/share/java/gson.jar"
    run("kotlinc", "-Werror", "-cp", f"{jar}:{gson}", "-d", output / "driver.jar", *(CONFORMANCE / "kotlin").glob("*.kt"))
    standard = "/usr/share/java/kotlin-stdlib.jar"
    # Most of its time is startup, which these options halve.
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", f"{jar}:{output / 'driver.jar'}:{gson}:{standard}", "DriverKt"]


def swift(output: pathlib.Path) -> list:
    archive = artifact("swift", output, ".tar.gz")
    project = output / "project"
    shutil.copytree(CONFORMANCE / "swift", project)
    run("tar", "-xzf", archive, "-C", project)
    run("swift", "build", "--scratch-path", output / "build", "-Xswiftc", "-warnings-as-errors", directory=project)
    return [output / "build/debug/Driver"]


class Program:
    """A running conformance program: reads one call per line and prints its result. Asserts that it prints no secrets."""

    def __init__(self, command: list):
        proxies = {"http_proxy": PROXY, "https_proxy": PROXY, "HTTP_PROXY": PROXY, "HTTPS_PROXY": PROXY, "all_proxy": PROXY}
        self._process = subprocess.Popen(
            [str(part) for part in command],
            env=environment(**proxies),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, name: str, client: dict, members: dict) -> dict:
        watchdog = threading.Timer(DEADLINE, self._process.kill)
        watchdog.start()
        self._process.stdin.write(json.dumps({"call": name, "client": client, "with": members}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise AssertionError(f"the program has ended: {self._process.stderr.read()}")
        return json.loads(line)

    def finish(self) -> None:
        """Asserts that it prints nothing unexpected, and exits at the end of its input."""
        rest, errors = self._process.communicate(timeout=DEADLINE)
        # The log of the READMEs' example.
        unexpected = [line for line in errors.splitlines() if "sign-in: " not in line]
        ended = (self._process.returncode, rest, unexpected)
        assert ended == (0, "", []), ended


@dataclass(frozen=True)
class Package:
    """A client package; `install` builds and installs it into a directory and returns the command of its conformance program."""

    name: str
    install: Callable[[pathlib.Path], list]
    has_tls: bool = True


PACKAGES = [
    Package("python", python),
    Package("typescript", typescript),
    Package("go", go),
    Package("ruby", ruby),
    Package("php", php),
    Package("kotlin", kotlin),
    Package("swift", swift, has_tls=False),
]
PACKAGES = [each for each in PACKAGES if (CONFORMANCE / each.name).exists()]

# The sites with a framework's adapter: the package of each, and how its conformance command becomes the site's.
WEB = CONFORMANCE / "web"
SITES: dict[str, tuple[str, Callable[[list], list]]] = {
    "flask": ("python", lambda command: [*command[:4], WEB / "python.py", "flask"]),
    "django": ("python", lambda command: [*command[:4], WEB / "python.py", "django"]),
    **{
        name: ("typescript", lambda command, kind=kind: [*command[:-1], pathlib.Path(command[-1]).with_name("site.mjs"), kind])
        for name, kind in (("node:http", "node"), ("Express", "express"), ("Express, with its parser of forms", "parsed"))
    },
    "PSR-15": ("php", lambda command: [*command[:-1], pathlib.Path(command[-1]).with_name("site.php")]),
    "rack": ("ruby", lambda command: [*command[:-1], CONFORMANCE / "ruby/site.rb"]),
    "Rack 3": ("ruby", lambda command: [*command[:-1], *rack_3(), CONFORMANCE / "ruby/site.rb"]),
    "net/http": ("go", lambda command: [pathlib.Path(command[0]).with_name("site")]),
    "fastapi": ("python", lambda command: [*command[:4], WEB / "python.py", "fastapi"]),
}
