"""The service as a process: writes settings, starts the binary on free ports, reads the log, and stops it with SIGTERM."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable

from . import client, yaml
from .waiting import DEADLINE, poll

TESTS = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parents[1]
BINARY = os.environ.get("ASSAY_BINARY", str(REPOSITORY / ".build/release/assay"))
NETWORK = {"allow_http": True, "allow_private_addresses": True}


def provider(issuer, id: str = "oidc", **settings) -> dict:
    """Settings of a provider that trusts an issuer of the tests' key server; `None` removes a setting."""
    usual = {"id": id, "issuer": issuer.url, "audiences": ["client"], "network": dict(NETWORK)}
    return {name: value for name, value in (usual | settings).items() if value is not None}


def apple_like(issuer, id: str = "apple", **settings) -> dict:
    return provider(issuer, id, preset="apple", jwks_uri=issuer.jwks_uri, **settings)


def google_like(issuer, id: str = "google", **settings) -> dict:
    return provider(issuer, id, preset="google", **settings)


def environment(**variables: str) -> dict:
    """The tests' environment, without variables that would change the service's settings."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ASSAY_") and not name.lower().endswith("_proxy")
    }
    return inherited | variables


class Process:
    """A long-running subcommand. A thread reads its log."""

    def __init__(self, *arguments: str, variables: dict | None = None, binary: str = BINARY):
        self.log: list[str] = []
        self._secrets: list[str] = []
        self._condition = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            [binary, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**(variables or {})),
        )
        self.output: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stderr, self.log), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stdout, self.output), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, lines: list[str]) -> None:
        for line in stream:
            with self._condition:
                lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self._condition.notify_all()
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    def wait_for(self, found, timeout: float = DEADLINE):
        """Waits for a true result of `found()`, which is called after each new line of output."""
        with self._condition:
            result = self._condition.wait_for(lambda: found() or self._ended, timeout) and found()
        assert result, "not seen in time:\n" + "\n".join(self.log[-20:])
        return result

    def entries(self, **members) -> list[dict]:
        """The log entries with these members that were read so far; all of them only after the process has ended."""
        found = []
        for line in list(self.log):
            entry = json.loads(line)
            if members.items() <= entry.items():
                found.append(entry)
        return found

    def wait_for_entry(self, **members) -> dict:
        return self.wait_for(lambda: self.entries(**members))[0]

    def hides(self, *secrets: str) -> None:
        """Asserts that none of these is logged until the process has been stopped."""
        assert all(secrets)
        self._secrets += secrets

    def listening(self, listener: str) -> str:
        return self.wait_for_entry(message="listening", listener=listener)["address"]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout: float = DEADLINE) -> int:
        code = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return code

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def resident(self) -> int:
        """The resident memory of the process in bytes."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


class Service(Process):
    """`assay serve`, in its own directory."""

    def __init__(
        self,
        *providers: dict,
        variables: dict | None = None,
        context=None,
        admin_context=None,
        binary: str = BINARY,
        **settings,
    ):
        """The contexts are for clients of listeners with TLS."""
        # Called before the service ends: whoever asks it by itself, such as a page in a browser, leaves first.
        self.guests: list[Callable[[], None]] = []
        # Not pytest's directory, because a Unix socket's path must be short.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-"))
        usual = {"service": {"listen": "127.0.0.1:0"}, "admin": {"listen": "127.0.0.1:0"}}
        self.config = write_config(self.directory, usual | settings | {"providers": list(providers)})
        super().__init__("serve", "--config", str(self.config), variables=variables, binary=binary)
        try:
            self.api = client.Client(self.listening("service"), context)
            self.admin = client.Client(self.listening("admin"), admin_context)
        except BaseException:
            self.kill()
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def verify(self, id_token, headers: dict | None = None, **members) -> client.Response:
        return self.api.post("/v1/verify", {"id_token": id_token} | members, headers)

    def accept(self, id_token, **members) -> dict:
        """Verifies a token that must be accepted; returns the answer."""
        response = self.verify(id_token, **members)
        assert response.status == 200, response
        return response.json

    def reject(self, id_token, *codes: str, **members) -> dict:
        """Verifies a token that must be rejected with one of these codes; returns the problem."""
        return client.contract.assert_code(self.verify(id_token, **members), *codes)

    def wait_until(self, condition, timeout: float = DEADLINE):
        """Polls for a true result of a function, while the service works in the background."""
        return poll(condition, timeout)

    def wait_until_ready(self) -> "Service":
        self.wait_until(lambda: self.api.get("/readyz").status == 200)
        return self

    def provider_state(self, id: str) -> dict:
        return next(entry for entry in self.admin.get("/v1/providers").json["providers"] if entry["id"] == id)

    def stop(self) -> None:
        """Stops the service, and asserts that it exits cleanly."""
        self.api.close()
        self.admin.close()
        self.terminate()
        code = self.wait()
        assert code == 0, f"exit code {code}:\n" + "\n".join(self.log[-20:])
        assert [line for line in self.log if any(secret in line for secret in self._secrets)] == []

    def __enter__(self):
        return self

    def __exit__(self, exception, *_):
        for leave in self.guests:
            leave()
        try:
            if exception is None and self.process.poll() is None:
                self.stop()
        finally:
            self.kill()
            shutil.rmtree(self.directory, ignore_errors=True)


def with_console(*providers: dict, **admin) -> Service:
    """A service with the console enabled."""
    return Service(*providers, admin={"listen": "127.0.0.1:0", "console": True} | admin)


def write_config(directory: pathlib.Path, settings: dict) -> pathlib.Path:
    file = directory / "assay.yaml"
    file.write_text(yaml.dump(settings) + "\n", encoding="utf-8")
    return file


def run(*arguments: str, stdin: str | bytes = "", variables: dict | None = None) -> subprocess.CompletedProcess:
    """Runs a subcommand that ends by itself."""
    return subprocess.run(
        [BINARY, *arguments],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env=environment(**(variables or {})),
        timeout=DEADLINE,
        check=False,
    )
