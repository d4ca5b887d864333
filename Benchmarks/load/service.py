"""The measured Assay process."""

import http.client
import json
import pathlib
import shutil
import subprocess
import threading
import time

from processes import Process, free_port

QUIET = {"requests": False}
LIMITS = {"max_connections": 12000}
NO_CACHE = {"entries": 0}
NETWORK = {"allow_http": True, "allow_private_addresses": True}


def settings(providers: list[dict], **members) -> dict:
    """Settings with the request log and the verified-token cache off. `members` override them; a member that is `None`
    keeps the service's default."""
    usual = {
        "service": {"listen": "127.0.0.1:0"},
        "admin": {"listen": "127.0.0.1:0"},
        "log": QUIET,
        "verified_token_cache": NO_CACHE,
        "limits": LIMITS,
    }
    return {name: value for name, value in (usual | members | {"providers": providers}).items() if value is not None}


def apple(**keys) -> dict:
    """The provider that issued the pools' tokens; `keys` are the settings that locate its keys."""
    return {"id": "apple", "preset": "apple", "algorithms": ["RS256", "ES256"], "audiences": ["com.example.app"]} | keys


class Assay(Process):
    """A service that is ready: it listens and has the keys of all providers."""

    def __init__(self, binary: pathlib.Path, directory: pathlib.Path, content: dict, cores: list[int] | None = None):
        self.file = directory / f"assay-{free_port()}.yaml"
        self.file.write_text(json.dumps(content))  # JSON is YAML
        super().__init__(
            [binary, "serve", "--config", self.file], cores=cores, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        ports: dict[str, int] = {}
        try:
            while len(ports) < 2:
                text = self.process.stderr.readline()
                if not text:
                    raise RuntimeError(f"assay exited with status {self.process.wait()}")
                line = json.loads(text)
                if line["message"] == "listening":
                    ports[line["listener"]] = int(line["address"].rsplit(":", 1)[1])
                elif line["level"] == "error":
                    raise RuntimeError(f"assay logged an error: {text.decode()}")
            self.port, self.admin_port = ports["service"], ports["admin"]
            # This process no longer reads the log, so another one drains the pipe, as a log collector would.
            self.collector = subprocess.Popen(
                [shutil.which("cat")], stdin=self.process.stderr, stdout=subprocess.DEVNULL
            )
            self._wait_until_ready()
        except BaseException:
            super().stop()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + 120
        while self.admin("GET", "/readyz")[0] != 200:
            if time.monotonic() > deadline:
                raise RuntimeError("assay is not ready after 120 s")
            time.sleep(0.05)

    def admin(self, method: str, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=20)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def metric(self, name: str) -> float:
        """A metric's sum over all labels."""
        lines = self.admin("GET", "/metrics")[1].decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((name + " ", name + "{")))

    def stop(self) -> None:
        super().stop()
        self.collector.wait(timeout=20)


class Refreshing:
    """Makes the service refresh its keys every second during a block of code."""

    def __init__(self, service: Assay):
        self._service, self._stop, self._done, self._error = service, threading.Event(), 0, ""
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(1):
            try:
                status, body = self._service.admin("POST", "/v1/providers/apple/refresh")
            except OSError as error:
                status, body = 0, str(error).encode()
            if status != 200:
                self._error = f"a refresh was answered with {status}: {body[:200]!r}"
                return
            self._done += 1

    def completed(self) -> int:
        """The number of refreshes; raises if one failed."""
        if self._error:
            raise RuntimeError(self._error)
        return self._done

    def __enter__(self) -> "Refreshing":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._thread.join()
