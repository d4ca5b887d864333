"""A pod's Assay as Kubernetes would run it, with its settings, variables and probes, in its own network.

It runs without the image and its limits. Keys come from a file, because no provider can be reached.
"""

import contextlib
import json
import pathlib
import subprocess

from harness.service import BINARY, environment
from harness.waiting import poll

IMAGE_BINARY = "/usr/local/bin/assay"
ADDRESS = "10.20.30.40"
DEADLINE = 20


class Pod:
    def __init__(self, container: dict, settings: str, directory: pathlib.Path, **variables: str):
        """
        - container: the one that runs Assay.
        - settings: the text of its settings file.
        - variables: overrides for what exists only in a cluster.
        """
        self.container = container
        (directory / "assay.yaml").write_text(settings)
        given = {entry["name"]: entry["value"] for entry in container.get("env", [])}
        self._environment = environment(ASSAY_CONFIG=str(directory / "assay.yaml"), **(given | variables))
        self._log = directory / "log"

    def __enter__(self) -> "Pod":
        with contextlib.ExitStack() as started:
            setup = f"ip link set lo up && ip address add {ADDRESS}/32 dev lo && echo up && exec sleep infinity"
            self._network = subprocess.Popen(["unshare", "--net", "sh", "-c", setup], stdout=subprocess.PIPE)
            started.callback(end, self._network)
            assert self._network.stdout.readline() == b"up\n"
            with open(self._log, "wb") as log:
                self._process = subprocess.Popen(
                    self._inside([BINARY, *self.container.get("args", ["serve"])]), env=self._environment, stderr=log
                )
            started.callback(end, self._process)
            self.wait_until(lambda: b"listening" in self._log.read_bytes())
            self._ending = started.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._ending.close()

    def _inside(self, command: list[str]) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._network.pid}/ns/net", "--", *command]

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """Runs a command in the pod's network."""
        return subprocess.run(
            self._inside(list(command)),
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

    def probe(self, name: str) -> bool:
        """Whether one of the container's probes succeeds."""
        probe = self.container[name]
        if "exec" in probe:
            command = probe["exec"]["command"]
            assert command[0] == IMAGE_BINARY
            return self.run(BINARY, *command[1:]).returncode == 0
        [port] = [port for port in self.container["ports"] if port["name"] == probe["httpGet"]["port"]]
        status, _ = self.ask(f"http://{ADDRESS}:{port['containerPort']}{probe['httpGet']['path']}")
        return 200 <= status < 400

    def ask(self, url: str, *options: str) -> tuple[int, str]:
        """Sends a request; returns status and body. Status 0 means no answer."""
        done = self.run("curl", "--silent", "--max-time", "5", "--write-out", "\n%{http_code}", *options, url)
        body, _, status = done.stdout.rpartition("\n")
        return int(status), body

    def verify(self, url: str, token: str, *options: str) -> tuple[int, str]:
        """Verifies a token; returns the status, and the problem's code or the subject."""
        request = json.dumps({"id_token": token, "nonce": "n-1"})
        status, body = self.ask(f"{url}/v1/verify", "--json", request, *options)
        answer = json.loads(body) if body else {}
        return status, answer.get("code") or answer.get("identity", {}).get("subject", "")

    def wait_until(self, condition) -> None:
        def seen():
            assert self._process.poll() is None, self._log.read_text()
            return condition()

        poll(seen, DEADLINE, tells=self._log.read_text)


def end(process: subprocess.Popen) -> None:
    process.terminate()
    process.wait(DEADLINE)
