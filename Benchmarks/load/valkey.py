"""A Valkey server on loopback without persistence."""

import contextlib
import pathlib
import socket
import subprocess
import time

from processes import Process, Unavailable, free_port, output


class Valkey(Process):
    """A server that is ready for connections."""

    def __init__(self, directory: pathlib.Path):
        self.port = free_port()
        options = {
            "--bind": "127.0.0.1",
            "--port": self.port,
            "--save": "",
            "--dir": directory,
            "--maxmemory-policy": "noeviction",
        }
        super().__init__(
            ["valkey-server", *(word for option in options.items() for word in option)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._wait_until_ready()
        except BaseException:
            super().stop()
            raise

    @staticmethod
    def version() -> str:
        return output("valkey-server", "--version").split(" sha=")[0]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self, text: str) -> bytes:
        """Sends a command and returns the raw reply."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(f"{text}\r\n".encode())
            return connection.recv(65536)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + 10
        while True:
            if not self.is_running():
                raise Unavailable("valkey-server did not start")
            with contextlib.suppress(OSError):
                if self.command("PING") == b"+PONG\r\n":
                    return
            if time.monotonic() > deadline:
                raise Unavailable("valkey-server does not answer")
            time.sleep(0.02)
