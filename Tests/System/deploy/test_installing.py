"""The commands of `docs/installing.md` install a release, as pasted: on this machine's engine, and on bare Debian installations.

With ASSAY_DEEP=1, as in `scripts/deep`, the binary and the package are tried on every release of Debian that the page names.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from deploy.containers import Engine
from deploy.released import VERSION, deep, output
from deploy.roots import Root, blocks
from deploy.test_compose import PIPES
from harness.service import REPOSITORY
from harness.waiting import free_port, poll

# Runs Docker's commands with podman.
DOCKER = """#!/bin/sh
if [ "$1" = compose ]; then shift; exec docker-compose "$@"; fi
exec podman "$@"
"""


def test_the_pasted_sums_are_those_of_the_files(dist):
    [script] = blocks("Check the files")
    assert output("bash", "-euc", f"cd {dist}; {script}") == ""


# With an engine.


class Pasted:
    """Runs the page's commands in a copy of dist, with podman as Docker, and with other ports of this machine."""

    def __init__(self, dist: pathlib.Path, directory: pathlib.Path):
        self.directory = directory / "dist"
        shutil.copytree(dist, self.directory)
        directory.chmod(0o755)
        self.ports = {port: free_port() for port in (8080, 9090, 9400)}
        compose = self.directory / "compose.yaml"
        compose.write_text(self.moved(compose.read_text()))
        docker = directory / "bin/docker"
        docker.parent.mkdir()
        docker.write_text(DOCKER)
        docker.chmod(0o755)
        self.engine = Engine()
        socket = self.engine.directory / "podman.sock"
        path = f"{docker.parent}:{REPOSITORY}/.venv/bin:{os.environ['PATH']}"
        self.environment = self.engine.environment | {"PATH": path, "DOCKER_HOST": f"unix://{socket}", "COMPOSE_PROJECT_NAME": "released"}
        command = ["podman", "system", "service", "--time=0", f"unix://{socket}"]
        self.podman = subprocess.Popen(command, env=self.engine.environment, **PIPES)
        poll(socket.exists)

    def moved(self, text: str) -> str:
        """The text with other ports, on this machine's side."""
        return re.sub(r"127\.0\.0\.1:(\d+)", lambda match: f"127.0.0.1:{self.ports[int(match[1])]}", text)

    def run(self, script: str) -> str:
        command = ["bash", "-euc", self.moved(script)]
        done = subprocess.run(command, cwd=self.directory, env=self.environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def verified(self) -> dict:
        """The identity of the first token. Waits until the container listens."""
        [script] = blocks("Verify a first token")

        def identity():
            command = ["bash", "-c", self.moved(script)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
            with contextlib.suppress(ValueError):
                return json.loads(done.stdout).get("identity")

        return poll(identity, timeout=60)

    def remove(self) -> None:
        self.engine.run("podman", "rm", "--all", "--force", "--time=0")

    def close(self) -> None:
        self.remove()
        self.podman.terminate()
        self.podman.communicate(timeout=15)
        self.engine.close()


@pytest.fixture(scope="module")
def engine(dist, tmp_path_factory):
    pasted = Pasted(dist, tmp_path_factory.mktemp("pasted"))
    yield pasted
    pasted.close()


@pytest.fixture
def pasted(engine):
    yield engine
    engine.remove()


def test_the_pasted_image_verifies_a_first_token(pasted):
    pasted.run(blocks("Container image")[0])
    assert pasted.verified()["provider"] == "apple"


def test_the_pasted_container_serves_with_settings_beside_a_backend(pasted):
    pasted.run("docker load --input assay-image-linux-amd64.tar")
    backend = "dev --listen 127.0.0.1:1080 --admin-listen 127.0.0.1:1090"
    pasted.engine.output("podman", "run", "--detach", "--name=backend", "--network=none", f"localhost/assay:{VERSION}", *backend.split())
    pasted.run(blocks("Container image")[1])
    poll(lambda: '"listener":"service"' in pasted.run("docker logs assay 2>&1"), timeout=60)
    assert pasted.engine.inspect("inspect", "assay")["State"]["Running"]


def test_compose_as_pasted_verifies_a_first_token(pasted):
    pasted.run("docker load --input assay-image-linux-amd64.tar")
    pasted.run(blocks("Compose")[0])
    assert pasted.verified()["provider"] == "apple"


def test_helm_renders_what_the_pasted_command_installs(pasted):
    """There is no cluster."""
    [values] = blocks("Kubernetes", "yaml")
    (pasted.directory / "values.yaml").write_text(values.replace("<digest from `assay api-key`>", "5a" * 32))
    [script] = blocks("Kubernetes")
    rendered = pasted.run(script.replace("helm upgrade --install", "helm template"))
    assert f"image: registry.example.net/assay:{VERSION}" in rendered.replace('"', "")


# Without one.

# Starts the stand-ins, verifies a token as the page says, and ends them.
WALK = """
assay dev > /tmp/dev.log 2>&1 & started=$!
for attempt in $(seq 100); do curl -sf -o /dev/null http://127.0.0.1:8080/readyz && break; sleep 0.2; done
{}
kill $started; wait $started
"""


def walk(root: Root, dist: pathlib.Path) -> None:
    [install] = blocks("Binary")
    [verify] = blocks("Verify a first token")
    printed = root.run(dist, install + WALK.format(verify), alone=True)
    assert printed.startswith(f"assay {VERSION} ")
    assert json.loads(printed[printed.index("{") :])["identity"]["provider"] == "apple"


def apt(root: Root, dist: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Installs the package as the page says, upgrades it, goes back, and removes it."""
    [install] = blocks("Debian package")
    successor = tmp_path / "apt-dist"
    [package] = dist.glob("apt/pool/main/a/assay/*.deb")
    tree = tmp_path / "tree"
    output("dpkg-deb", "--raw-extract", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub("^Version: .*", "Version: 99-1", control.read_text(), flags=re.MULTILINE))
    output("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, tmp_path / "assay_99-1_amd64.deb")
    output("scripts/apt-repository", package, tmp_path / "assay_99-1_amd64.deb", successor)
    shutil.copytree(successor / "apt", dist_with(tmp_path, dist) / "newer")
    version = "dpkg-query --show --showformat='${Version}\\n' assay"
    script = f"""
{install}
assay --version
{version}
cp -r newer/. /srv/assay-apt && apt-get update && apt-get upgrade --yes && {version}
apt-get install --yes --allow-downgrades assay={VERSION}-1 && {version}
apt-get remove --yes assay && test ! -e /usr/bin/assay && test -e /etc/assay/assay.yaml
apt-get purge --yes assay && test ! -e /etc/assay/assay.yaml && echo purged
"""
    printed = root.run(dist_with(tmp_path, dist), script)
    assert [line for line in printed.splitlines() if re.fullmatch(r"\d[\d.]*-1|purged", line)] == [
        f"{VERSION}-1",
        "99-1",
        f"{VERSION}-1",
        "purged",
    ]


def dist_with(tmp_path: pathlib.Path, dist: pathlib.Path) -> pathlib.Path:
    """A copy of dist, to which files may be added."""
    copied = tmp_path / "dist"
    if not copied.exists():
        shutil.copytree(dist, copied)
    return copied


def test_debian_12_runs_the_binary_and_installs_the_package(dist, tmp_path):
    with Root("bookworm", "curl") as root:
        walk(root, dist)
        root.run(dist, "rm /usr/local/bin/assay")
        apt(root, dist, tmp_path)


@deep
def test_debian_13_runs_the_binary_and_installs_the_package(dist, tmp_path):
    with Root("trixie", "curl") as root:
        walk(root, dist)
        root.run(dist, "rm /usr/local/bin/assay")
        apt(root, dist, tmp_path)


@deep
def test_debian_11_runs_the_binary(dist):
    with Root("bullseye", "curl") as root:
        walk(root, dist)
