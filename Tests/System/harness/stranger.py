"""Servers that are not Assay, or a broken Assay."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable

from .contract import minimal_identity

IDENTITY = minimal_identity("https://op.example")


def answer(status: int, body, *, chunked: bool = False, **headers: str) -> bytes:
    """A complete response; a body other than a string is sent as JSON."""
    octets = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(octets))}
    if chunked:
        parts = [octets[:20], octets[20:], b""]
        fields = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        octets = b"".join(b"%x;a=b\r\n%b\r\n" % (len(part), part) for part in parts)
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Stranger", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + octets


class Stranger:
    """A server that answers each request with the same bytes, or with a function's result for its path.

    `None` means that it never answers, and empty bytes that it closes the connection instead. With `closes`, it closes
    silently after each answer; with `drops`, once the next request has arrived. It counts connections and requests,
    also by path, and keeps the members of each request.
    """

    def __init__(
        self, octets: bytes | None | Callable[[str], bytes | None], *, closes: bool = False, drops: bool = False
    ):
        self._octets = octets
        self._closes = closes
        self._drops = drops
        self._closed = threading.Semaphore(0)
        self.connections = self.requests = 0
        self.paths: dict[str, int] = {}
        self.members: list[dict] = []
        # For each unanswered request: its path, and how many seconds the client waited.
        self.waits: list[tuple[str, float]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._open.append(connection)
                threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            while path := self._read_request(stream):
                self.requests += 1
                self.paths[path] = self.paths.get(path, 0) + 1
                octets = self._octets(path) if callable(self._octets) else self._octets
                if octets is None:
                    self._see_how_long_it_waits(path, stream)
                    return
                connection.sendall(octets)
                if self._drops:
                    self._read_request(stream)
                if self._drops or self._closes or not octets:
                    connection.shutdown(socket.SHUT_RDWR)
                    self._closed.release()
                    return

    def _see_how_long_it_waits(self, path: str, stream) -> None:
        begun = time.monotonic()
        try:
            stream.read(1)
        finally:
            self.waits.append((path, time.monotonic() - begun))

    def _read_request(self, stream) -> str | None:
        """Reads a request and keeps its members; returns its path, or `None` at the end of the connection."""
        length, first = 0, stream.readline()
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if line == b"" or len(body := stream.read(length)) != length:
            return None
        if body:
            self.members.append(json.loads(body))
        return first.split(b" ")[1].decode()

    def wait_until_closed(self) -> None:
        """Waits until the server has closed another connection after its answer."""
        assert self._closed.acquire(timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def nowhere() -> str:
    """A URL on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
