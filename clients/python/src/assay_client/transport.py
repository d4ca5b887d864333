"""HTTP over TCP, TLS or a Unix domain socket."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass, field


class NoAnswer(Exception):
    """The connection failed. `sent`: Assay may have got the request anyway. `detail`: where; unless `sent`, also why."""

    def __init__(self, sent: bool, detail: str | None = None):
        super().__init__(detail or "no answer")
        self.sent = sent
        self.detail = detail


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes = field(default=b"", repr=False)
    retry_after: int | None = None


class HTTPTransport:
    """Follows no redirect and uses no proxy: only Assay may see a token. Each thread keeps a connection of its own."""

    def __init__(self, url: str, context: ssl.SSLContext | None = None):
        self._url = urllib.parse.urlsplit(url)
        if self._url.scheme not in ("http", "https", "unix"):
            raise ValueError(f"the URL must begin with http://, https:// or unix:; found {url!r}")
        # For errors: without what a URL may have before its host, or after.
        self._place = url if self._url.scheme == "unix" else f"{self._url.scheme}://{self._url.netloc.rpartition('@')[2]}"
        self._context = context
        self._prefix = "" if self._url.scheme == "unix" else self._url.path.rstrip("/")
        self._thread = threading.local()

    def send(self, path: str, body: bytes, headers: dict[str, str], timeout: float, once: bool) -> Reply:
        """Raises `NoAnswer`. `once`: over a new connection, which nobody has closed as idle."""
        if once:
            with contextlib.closing(self._connection()) as new:
                return self._exchange(new, path, body, headers, timeout)
        connection: http.client.HTTPConnection | None = getattr(self._thread, "connection", None)
        if connection is None:
            connection = self._thread.connection = self._connection()
        return self._exchange(connection, path, body, headers, timeout)

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def _exchange(self, connection: http.client.HTTPConnection, path: str, body: bytes, headers: dict[str, str], timeout: float) -> Reply:  # fmt: skip
        sent = False
        connection.timeout = timeout
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(timeout)
            sent = True
            connection.request("POST" if body else "GET", self._prefix + path, body or None, headers)
            response = connection.getresponse()
            seconds = response.headers.get("Retry-After", "")
            after = int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 10 else None
            return Reply(response.status, response.read(), after)
        except BaseException as failure:
            # The next request opens it again.
            connection.close()
            if isinstance(failure, (OSError, http.client.HTTPException)):
                raise NoAnswer(sent, self._failed(sent, failure)) from failure
            raise

    def _failed(self, sent: bool, failure: OSError | http.client.HTTPException) -> str:
        # Once the request was sent, the failure's text may have something of it.
        if sent:
            return f"no whole answer came from {self._place}"
        return f"can't connect to {self._place}: {getattr(failure, 'strerror', None) or failure}"

    def _connection(self) -> http.client.HTTPConnection:
        if self._url.scheme == "unix":
            return _UnixConnection(self._url.path)
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(self._url.hostname or "", self._url.port, context=self._context)
        return http.client.HTTPConnection(self._url.hostname or "", self._url.port)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str):
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
