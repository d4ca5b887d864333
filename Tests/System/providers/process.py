"""A provider's own server, as a child process for the duration of a `with` block."""

import os
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from harness.waiting import poll

START_SECONDS = 20
STOP_SECONDS = 5


class Process:
    """A server that is ready once `url` answers. It leaves only its log behind."""

    def __init__(
        self, command: list[str], url: str, log: Path, environment: dict[str, str] | None = None,
        context: ssl.SSLContext | None = None,
    ):  # fmt: skip
        self._command = command
        self._url = url
        self._log = log
        self._environment = os.environ | (environment or {})
        self._context = context
        self._child: subprocess.Popen | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment
            )
        try:
            poll(lambda: self._child.poll() is not None or self._answers(), START_SECONDS)
            assert self._child.poll() is None, f"{self._command[0]} has ended"
        except AssertionError as error:
            self.stop()
            raise RuntimeError(f"{self._command[0]} did not start:\n{self._log.read_text(errors='replace')}") from error

    def stop(self) -> None:
        if self._child is None:
            return
        self._child.terminate()
        try:
            self._child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = None

    def _answers(self) -> bool:
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._context)
        )
        try:
            with opener.open(self._url, timeout=1):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
