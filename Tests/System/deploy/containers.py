"""Containers with podman and runc. Images, volumes and state are in a temporary directory, so nothing is left behind."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import client, service
from harness.waiting import free_port, poll

STORAGE = """[storage]
driver = "overlay"
graphroot = "{0}/images"
runroot = "{0}/run"
"""
# Settings that need neither capabilities nor systemd.
CONTAINERS = """[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{0}/tmp"
"""
# As few privileges as possible.
HARDENED = (
    "--network=host",
    "--user=65532:65532",
    "--read-only",
    "--read-only-tmpfs=false",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--pids-limit=64",
    "--memory=64m",
    "--memory-swap=64m",
)


def lock(directory: pathlib.Path):
    """Takes an engine's directory for this process while it lives; `None` if another process has it."""
    file = (directory / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


class Engine:
    def __init__(self):
        self._remove_abandoned()
        # Not pytest's directory, because socket paths must be short.
        self._use(pathlib.Path(tempfile.mkdtemp(prefix="pod-")))

    @classmethod
    def _remove_abandoned(cls) -> None:
        """Removes what runs that were killed have left: containers, and on this machine networks, rules and a name server."""
        for file in pathlib.Path(tempfile.gettempdir()).glob("pod-*/containers.conf"):
            if held := lock(file.parent):
                held.close()
                engine = cls.__new__(cls)
                engine._use(file.parent)
                engine.close()

    def _use(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self._lock = lock(directory)
        (self.directory / "storage.conf").write_text(STORAGE.format(self.directory))
        (self.directory / "containers.conf").write_text(CONTAINERS.format(self.directory))
        self.environment = os.environ | {
            "ASSAY_STATIC_BINARY": os.environ.get("ASSAY_STATIC_BINARY", service.BINARY),
            "CONTAINERS_STORAGE_CONF": str(self.directory / "storage.conf"),
            "CONTAINERS_CONF": str(self.directory / "containers.conf"),
        }

    def run(self, *command: str, timeout: float = 120) -> subprocess.CompletedProcess:
        return subprocess.run(
            command, env=self.environment, cwd=service.REPOSITORY, capture_output=True, text=True, timeout=timeout
        )

    def output(self, *command: str, timeout: float = 120) -> str:
        """Runs a command that must succeed; returns its standard output."""
        result = self.run(*command, timeout=timeout)
        assert result.returncode == 0, f"{command}:\n{result.stdout}\n{result.stderr}"
        return result.stdout.strip()

    def inspect(self, *what: str) -> dict:
        return json.loads(self.output("podman", *what))[0]

    def image(self) -> str:
        """Builds an image with the binary under test; returns its name."""
        return self.output("scripts/container")

    def image_of_programs(self, name: str, *paths: str, more: str = "") -> None:
        """Builds a stand-in for an image from a registry, from programs of this machine and the libraries they need.

        `more` has additional lines for its Containerfile.
        """
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for path in paths:
                copy(pathlib.Path(path), root)
            (root / "tmp").mkdir()
            (root / "Containerfile").write_text(f"FROM scratch\nCOPY . /\n{more}")
            self.output("buildah", "build", "--quiet", f"--tag={name}", directory)

    def clear(self) -> None:
        """Removes containers and networks. The name server's list of a network is in no directory of the engine."""
        self.run("podman", "rm", "--all", "--force", "--time=0")
        self.run("podman", "network", "prune", "--force")

    def close(self) -> None:
        self.clear()
        self.run("podman", "system", "reset", "--force")
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Container:
    """The service in a container on the host's network, with as few privileges as possible."""

    def __init__(self, engine: Engine, image: str, *providers: dict, options: tuple = (), **settings):
        self.engine = engine
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-"))
        # Fixed, because the health check reads them from the settings.
        usual = {name: {"listen": f"127.0.0.1:{free_port()}"} for name in ("service", "admin")}
        file = service.write_config(self.directory, usual | settings | {"providers": list(providers)})
        self.directory.chmod(0o755)
        mount = f"--volume={file}:/etc/assay/assay.yaml:ro"
        self.id = engine.output("podman", "run", "--detach", *HARDENED, mount, *options, image)
        try:
            self.api = client.Client(usual["service"]["listen"])
            self.admin = client.Client(usual["admin"]["listen"])
            poll(lambda: self.answers("/readyz"))
        except BaseException:
            print(engine.run("podman", "logs", self.id).stderr)
            self.remove()
            raise

    def answers(self, path: str) -> bool:
        try:
            return self.api.get(path).status == 200
        except ConnectionRefusedError:
            return False

    @property
    def state(self) -> dict:
        return self.engine.inspect("inspect", self.id)["State"]

    def signal(self, name: str) -> None:
        self.engine.output("podman", "kill", f"--signal={name}", self.id)

    def wait(self) -> int:
        """Waits for the container's end; returns its exit code."""
        return int(self.engine.output("podman", "wait", self.id))

    def remove(self) -> None:
        self.engine.output("podman", "rm", "--force", "--time=0", self.id)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.api.close()
        self.admin.close()
        self.remove()


def copy(path: pathlib.Path, root: pathlib.Path) -> None:
    """Copies a file or a directory, and the libraries its programs need, to the same path below `root`."""
    if path.is_dir():
        shutil.copytree(path, root / path.relative_to("/"), ignore=shutil.ignore_patterns("__pycache__", "test"))
        programs = [str(library) for library in path.rglob("*.so")]
    else:
        programs = [str(path)]
        copy_file(path, root)
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=30).stdout
    for library in set(re.findall(r"(/\S+) \(0x", said)):
        copy_file(pathlib.Path(library), root)


def copy_file(path: pathlib.Path, root: pathlib.Path) -> None:
    place = root / path.relative_to("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, place)
