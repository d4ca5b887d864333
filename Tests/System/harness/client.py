"""A thin HTTP/1.1 client on sockets, which can send any bytes and read pipelined responses one by one."""

import contextlib
import json
import socket
import ssl
import threading

from . import contract


class ConnectionClosed(Exception):
    """The service closed the connection instead of answering."""


class Response:
    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes):
        self.status = status
        self.headers = headers
        self.body = body

    def all(self, name: str) -> list[str]:
        return [value for header, value in self.headers if header.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        values = self.all(name)
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def code(self) -> str | None:
        """The problem's code; `None` if the response is not a problem."""
        if (self.header("Content-Type") or "").startswith("application/problem+json"):
            return self.json["code"]
        return None

    def __repr__(self) -> str:
        return f"<{self.status} {self.body[:300]!r}>"


class Connection:
    """A connection to `host:port` or `unix:/path`. With a context, it uses TLS."""

    def __init__(self, address: str, timeout: float = 15, context: ssl.SSLContext | None = None):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(address.removeprefix("unix:"))
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self._buffer = b""

    def send(self, octets: bytes) -> None:
        self.socket.sendall(octets)

    def send_tolerantly(self, octets: bytes) -> None:
        """Sends as much as the service accepts, which may respond and close before it has read everything."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(octets)

    def finish_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def response(self, method: str = "POST", path: str = "", *, request_id: str | None = None) -> Response:
        """Reads the next response, and checks it against the contract."""
        response = self.unchecked_response(method)
        contract.check(method, path, response, request_id)
        return response

    def unchecked_response(self, method: str = "POST") -> Response:
        head = self._until(b"\r\n\r\n").decode("latin-1")
        status_line, *lines = head.split("\r\n")
        version, status, _ = (status_line + " ").split(" ", 2)
        assert version == "HTTP/1.1", status_line
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        response = Response(int(status), headers, b"")
        if response.status == 100:
            return self.unchecked_response(method)
        if method != "HEAD" and response.status not in (204, 304):
            response.body = self._body(response)
        return response

    def _body(self, response: Response) -> bytes:
        if (response.header("Transfer-Encoding") or "").lower() == "chunked":
            body = b""
            while size := int(self._until(b"\r\n").split(b";")[0], 16):
                body += self._exactly(size)
                self._exactly(2)
            self._until(b"\r\n")
            return body
        lengths = response.all("Content-Length")
        assert len(lengths) == 1, f"one Content-Length expected: {response.headers}"
        return self._exactly(int(lengths[0]))

    def closed(self) -> bool:
        """Whether the service closes the connection without sending anything else."""
        try:
            return self._buffer == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _receive(self) -> None:
        try:
            octets = self.socket.recv(65536)
        except ConnectionResetError:
            octets = b""
        if not octets:
            raise ConnectionClosed(self._buffer[:200])
        self._buffer += octets

    def _until(self, delimiter: bytes) -> bytes:
        while delimiter not in self._buffer:
            self._receive()
        found, _, self._buffer = self._buffer.partition(delimiter)
        return found

    def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._receive()
        found, self._buffer = self._buffer[:count], self._buffer[count:]
        return found

    def close(self) -> None:
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request_bytes(method: str, path: str, body: bytes | None = None, headers: dict | None = None) -> bytes:
    """A well-formed request. A header that is `None` is omitted."""
    fields = {"Host": "127.0.0.1"}
    if body is not None:
        fields |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    fields |= headers or {}
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1") + (body or b"")


class Client:
    """Requests to one listener. Each thread has a connection, kept alive, and reopened after the service has closed it."""

    def __init__(self, address: str, context: ssl.SSLContext | None = None):
        self.address = address
        self.context = context
        self._connections: dict[int, Connection] = {}

    def connect(self, timeout: float = 15) -> Connection:
        """Opens a separate connection."""
        return Connection(self.address, timeout, self.context)

    def request(self, method: str, path: str, body=None, headers: dict | None = None) -> Response:
        """Sends a request; a body other than bytes is sent as JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        octets = request_bytes(method, path, body, headers)
        request_id = (headers or {}).get("X-Request-Id")
        # Out of the dictionary while in use: what a failed request has left unread must not answer the next one.
        kept = self._connections.pop(threading.get_ident(), None)
        if kept is not None:
            try:
                return self._exchange(kept, octets, method, path, request_id)
            except (ConnectionClosed, BrokenPipeError, ConnectionResetError):
                pass
        return self._exchange(self.connect(), octets, method, path, request_id)

    def _exchange(self, connection: Connection, octets: bytes, method: str, path: str, request_id: str | None) -> Response:
        try:
            connection.send(octets)
            response = connection.response(method, path, request_id=request_id)
        except BaseException:
            connection.close()
            raise
        if (response.header("Connection") or "").lower() == "close":
            connection.close()
        else:
            self._connections[threading.get_ident()] = connection
        return response

    def get(self, path: str, headers: dict | None = None) -> Response:
        return self.request("GET", path, None, headers)

    def post(self, path: str, body=b"", headers: dict | None = None) -> Response:
        return self.request("POST", path, body, headers)

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()
